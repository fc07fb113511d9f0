#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# -device riscv-trace: harts of boards that have no trace components of their
# own. What is decoded is what retired, to the last instruction, also where the
# guest ends QEMU by semihosting. Speaks TAP.
#
# run.sh [PATTERN]        only tests whose name matches the glob pattern
#
# QEMU, RVTRACE, RETIRED, OUT: as for tests-tcg-riscv64/run.sh
set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
tests=$(cd "$here/../../../../tests-tcg-riscv64" && pwd)
# shellcheck source=../../../../tests-tcg-riscv64/guests/guest.sh
. "$tests/guests/guest.sh" rvtrace-boards

have_qemu
need "$RETIRED"
for harts in 1 2 5; do
    "${CROSS:-riscv64-linux-gnu-}gcc" -nostdlib -static -march=rv64imac_zicsr \
        -mabi=lp64 -mcmodel=medany -DHARTS=$harts -Wl,--build-id=none \
        -Wl,-Ttext=0x80000000 -o "$OUT/$harts.elf" "$here/boards.S" ||
        bail "boards.S cannot be built"
done

exec python3 "$here/boards.py" "${1:-*}"
