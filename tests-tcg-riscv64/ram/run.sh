#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Traces in a RAM sink, decoded and compared with what an independent observer
# saw retire. Speaks TAP.
#
# run.sh [PATTERN]        only tests whose name matches the glob pattern
#
# QEMU, ETRACE, RETIRED   qemu-system-riscv64, qemu-etrace, libretired.so
# OUT                     where the guests and the files of failed runs go
set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
guests=$here/../guests
build=$here/../../build
export QEMU=${QEMU:-$build/qemu-system-riscv64}
export ETRACE=${ETRACE:-$build/qemu-etrace}
export OUT=${OUT:-$build/check/tcg-ram}
export RETIRED=${RETIRED:-$build/plugins/libretired.so}
cross=${CROSS:-riscv64-linux-gnu-}

bail() {
    echo "Bail out! $1"
    exit 1
}

for file in "$QEMU" "$ETRACE" "$RETIRED"; do
    [ -e "$file" ] || bail "$file is missing: make build"
done
mkdir -p "$OUT"
make -s -j 2 -C "$guests" OUT="$OUT" >&2 || bail "cannot build the guests"

# build NAME SOURCE ARCH ABI OPTION...
build() {
    local name=$1 source=$2 arch=$3 abi=$4
    shift 4
    "${cross}gcc" -march="$arch" -mabi="$abi" -O2 -g -Wall -Wextra -Werror \
        -ffreestanding -fno-pic -fno-stack-protector -mcmodel=medany \
        -mno-relax -nostdlib -static -no-pie -Wl,-T,"$guests/guest.ld" \
        -Wl,--build-id=none -Wl,-z,norelro -I"$guests" "$@" \
        -o "$OUT/$name.elf" "$source" "$guests/start.S" >&2 ||
        bail "cannot build $name"
}

for xlen in 64 32; do
    arch=rv${xlen}gc
    [ $xlen = 64 ] && abi=lp64d || abi=ilp32d
    build "rvtrace-$xlen" "$here/rvtrace.c" $arch "$abi"
    build "rvtrace-rounds-$xlen" "$here/rvtrace.c" $arch "$abi" -DROUNDS=7
    build "rvtrace-wrap-$xlen" "$here/rvtrace.c" $arch "$abi" \
        -DRING_SIZE=0x2000 -DWORK=20000
    build "rvtrace-stop-$xlen" "$here/rvtrace.c" $arch "$abi" \
        -DRING_SIZE=0x1000 -DWORK=20000 -DSTOP_ON_WRAP=1
    build "rvtrace-resume-$xlen" "$here/rvtrace.c" $arch "$abi" \
        -DRING_SIZE=0x1000 -DWORK=20000 -DSTOP_ON_WRAP=1 -DRESUME=1
done
build rvtrace-long "$here/rvtrace.c" rv64gc lp64d -DRING_SIZE=0x2000000 \
    -DWORK=2000000
build dhry-long "$guests/dhry.c" rv64gc lp64d -DROUNDS=1200

exec python3 "$here/ram.py" "${1:-*}"
