#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What the hart tells its encoder beside instructions: context, time, triggers.
# The values in the packets are those of the guest. Speaks TAP.
#
# run.sh [PATTERN]        only tests whose name matches the glob pattern
#
# QEMU, ETRACE, OUT: as for ../run.sh
set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
guests=$here/../guests
build=$here/../../build
export QEMU=${QEMU:-$build/qemu-system-riscv64}
export ETRACE=${ETRACE:-$build/qemu-etrace}
export OUT=${OUT:-$build/check/tcg-signals}

bail() {
    echo "Bail out! $1"
    exit 1
}

for file in "$QEMU" "$ETRACE"; do
    [ -e "$file" ] || bail "$file is missing: make build"
done
mkdir -p "$OUT"
# as in the guests' Makefile
"${CROSS:-riscv64-linux-gnu-}gcc" -march=rv64gc -mabi=lp64d -O2 -g -Wall \
    -Wextra -Werror -ffreestanding -fno-pic -mcmodel=medany -mno-relax \
    -nostdlib -static -no-pie -Wl,-T,"$guests/guest.ld" -Wl,--build-id=none \
    -Wl,-z,norelro -I"$guests" -o "$OUT/signals.elf" "$here/signals.S" \
    "$guests/start.S" >&2 || bail "cannot build the guest"

exec python3 "$here/signals.py" "${1:-*}"
