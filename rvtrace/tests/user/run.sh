#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Programs of user mode: -cpu CPU,etrace=FILE and rvtrace run -- qemu-riscv64.
# What is decoded of each thread is what it began to execute, by a plugin, but
# for what trapped. Speaks TAP.
#
# run.sh [PATTERN]        only tests whose name matches the glob pattern
#
# QEMU_USER, RVTRACE, OUT: as for tests-tcg-riscv64/run.sh
# XLEN=32                 qemu-riscv32, with programs that need no library
set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
tests=$(cd "$here/../../../tests-tcg-riscv64" && pwd)
# shellcheck source=../../../tests-tcg-riscv64/guests/guest.sh
. "$tests/guests/guest.sh" "rvtrace-user${XLEN-}"

export XLEN=${XLEN:-64}
export QEMU_USER=${QEMU_USER:-$build/qemu-riscv64}
QEMU_USER=${QEMU_USER%64}$XLEN
[ -e "$QEMU_USER" ] || skip_all "there is no qemu-riscv$XLEN: make build"
need "$RVTRACE"
cross=${CROSS:-riscv64-linux-gnu-}
for tool in gcc g++; do
    command -v "$cross$tool" >/dev/null ||
        bail "$cross$tool is missing (package $tool-riscv64-linux-gnu)"
done

# program NAME TOOL [OPTION...]: $OUT/NAME of NAME.c, .cc or .S
program() {
    local name=$1 tool=$2
    shift 2
    "$cross$tool" -g -O1 -Wall -o "$OUT/$name" "$here/$name".* "$@" ||
        bail "$name cannot be built"
}
if [ "$XLEN" = 64 ]; then
    program signals gcc -static
    program threads gcc -static -pthread
    program dynamic g++ -ldl
    program child gcc -static
    program reads gcc -static
    program steady gcc -static
    program null gcc -fno-builtin -fno-optimize-sibling-calls
    program kernel gcc -static -fno-strict-aliasing -Wno-unused-result
    program shares gcc -static -pthread
    program rounds gcc -static
    program deadlock gcc -static -pthread
    program fatal gcc -static
    program crowd gcc -static -pthread
    program forks gcc -static -pthread
else
    # what the headers of the C library for RV64 lack
    mkdir -p "$OUT/include/gnu"
    : > "$OUT/include/gnu/stubs-ilp32d.h"
    for name in signals threads child reads kernel; do
        program $name gcc -march=rv32gc -mabi=ilp32d -I "$OUT/include" \
            -static -nostdlib "$here/libc32.c"
    done
fi
# plugin NAME: $OUT/libNAME.so of NAME.c
plugin() {
    # shellcheck disable=SC2046     # words
    gcc -shared -fPIC -O2 -Wall -I "${QEMU_INCLUDE:-$build/qemu/include/qemu}" \
        -o "$OUT/lib$1.so" "$here/$1.c" \
        $(pkg-config --cflags --libs glib-2.0 gmodule-2.0) ||
        bail "the plugin $1 cannot be built"
}
plugin executed
plugin moments
make -s -f "$tests/data/plugin.mk" OUT="$OUT" >&2 ||
    bail "the plugin of accesses cannot be built"
OBSERVER=$OUT/libexecuted.so
ACCESSES=$tests/data/compare.py
LIBRARIES=/usr/${cross%-}
[ -d "$LIBRARIES/lib" ] || LIBRARIES=$("${cross}gcc" -print-sysroot)
SYSCALLS=$build/qemu/linux-user/riscv/syscall.tbl
export OBSERVER ACCESSES LIBRARIES SYSCALLS

exec python3 "$here/user.py" "${1:-*}"
