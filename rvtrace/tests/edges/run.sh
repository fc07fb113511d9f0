#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# rvtrace edges: the map of each input of a function, on bare metal and in user
# mode, is what a plugin's log of the same run and objdump give. Speaks TAP.
#
# run.sh [PATTERN]        only tests whose name matches the glob pattern
#
# QEMU, QEMU_USER, RVTRACE, RETIRED, OUT: as for tests-tcg-riscv64/run.sh
set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
tests=$(cd "$here/../../../tests-tcg-riscv64" && pwd)
# shellcheck source=../../../tests-tcg-riscv64/guests/guest.sh
. "$tests/guests/guest.sh" rvtrace-edges

have_qemu
need "$RETIRED"
export QEMU_USER=${QEMU_USER:-$build/qemu-riscv64}
[ -e "$QEMU_USER" ] || skip_all "there is no qemu-riscv64: make build"
gcc=${CROSS:-riscv64-linux-gnu-}gcc
command -v "$gcc" >/dev/null ||
    bail "$gcc is missing (package gcc-riscv64-linux-gnu)"
"$gcc" -g -O1 -DBARE -march=rv64gc -mabi=lp64d -mcmodel=medany -mno-relax \
    -ffreestanding -fno-pic -nostdlib -static -Wl,--build-id=none \
    -Wl,--no-warn-rwx-segments -Wl,-Ttext=0x80000000 -o "$OUT/fuzzed.elf" "$here/fuzzed.c" || bail "fuzzed.elf cannot be built"
"$gcc" -g -O1 -static -o "$OUT/fuzzed" "$here/fuzzed.c" ||
    bail "fuzzed cannot be built"
"$gcc" -g -O1 -static -o "$OUT/crashing" "$here/crashing.c" ||
    bail "crashing cannot be built"
# shellcheck disable=SC2046     # words
gcc -shared -fPIC -O2 -Wall -I "${QEMU_INCLUDE:-$build/qemu/include/qemu}" \
    -o "$OUT/libexecuted.so" "$here/../user/executed.c" \
    $(pkg-config --cflags --libs glib-2.0 gmodule-2.0) ||
    bail "the plugin of executed instructions cannot be built"
exec python3 "$here/edges.py" "${1:-*}"
