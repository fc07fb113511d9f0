#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A traced guest moves to another QEMU in the middle of the trace, or goes back
# to a snapshot: the parts are decoded as one. Speaks TAP.
#
# run.sh [PATTERN]        only tests whose name matches the glob pattern
#
# QEMU, RVTRACE, RETIRED, OUT: as for ../run.sh
set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
guests=$here/../guests
build=${RVTRACE_BUILD:-$here/../../build}
export QEMU=${QEMU:-$build/qemu-system-riscv64}
export RVTRACE=${RVTRACE:-$build/rvtrace}
export OUT=${OUT:-$build/check/tcg-migrate}
export RETIRED=${RETIRED:-$build/plugins/libretired.so}
export ACCESSES=$OUT/libaccesses.so

bail() {
    echo "Bail out! $1"
    exit 1
}

for file in "$QEMU" "$RVTRACE" "$RETIRED"; do
    [ -e "$file" ] || bail "$file is missing: make build"
done
mkdir -p "$OUT"
make -s -f "$here/../data/plugin.mk" OUT="$OUT" >&2 ||
    bail "cannot build the observer of accesses"

# build NAME SOURCE OPTION...: as in the guests' Makefile
build() {
    local name=$1 source=$2
    shift 2
    "${CROSS:-riscv64-linux-gnu-}gcc" -march=rv64gc -mabi=lp64d -O2 -g -Wall \
        -Wextra -Werror -ffreestanding -fno-pic -fno-strict-aliasing \
        -fno-stack-protector -mcmodel=medany -mno-relax -nostdlib -static \
        -no-pie -Wl,-T,"$guests/guest.ld" -Wl,--build-id=none -Wl,-z,norelro \
        -I"$guests" "$@" -o "$OUT/$name.elf" "$here/$source" \
        "$guests/start.S" >&2 || bail "cannot build $name"
}

build middle middle.c
build triggers triggers.c
# The observer of accesses knows only one address of an instruction.
build middle-data middle.c -DALIAS=MEMORY

exec python3 "$here/migrate.py" "${1:-*}"
