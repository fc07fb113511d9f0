#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Traces in a RAM sink, decoded and compared with what an independent observer
# saw retire. Speaks TAP.
#
# run.sh [PATTERN]        only tests whose name matches the glob pattern
#
# QEMU, RVTRACE, RETIRED   qemu-system-riscv64, rvtrace, libretired.so
# OUT                     where the guests and the files of failed runs go
set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../guests/guest.sh
. "$here/../guests/guest.sh" ram

need "$QEMU" "$RVTRACE" "$RETIRED"
if [ -z "${ACCESSES:-}" ]; then
    make -s -f "$here/../data/plugin.mk" OUT="$OUT" >&2 ||
        bail "cannot build the observer of accesses"
    ACCESSES=$OUT/libaccesses.so
fi
export ACCESSES
make_guests "$guest_dir"

rvtrace=$here/rvtrace.c
for xlen in 64 32; do
    arch=rv${xlen}gc
    make_guest "rvtrace-$xlen" "$rvtrace" $arch
    make_guest "rvtrace-rounds-$xlen" "$rvtrace" $arch -DROUNDS=7
    make_guest "rvtrace-rounds-own-$xlen" "$rvtrace" $arch -DROUNDS=7 \
        -DPER_HART=1
    for harts in 2 4; do
        make_guest "rvtrace-shared$harts-$xlen" "$rvtrace" $arch \
            -DROUNDS=3 -DHARTS=$harts
        make_guest "rvtrace-own$harts-$xlen" "$rvtrace" $arch \
            -DROUNDS=3 -DHARTS=$harts -DPER_HART=1
    done
    for harts in 1 2; do
        make_guest "gtrace$harts-$xlen" "$rvtrace" $arch -DGTRACE=1 \
            -DROUNDS=9 -DHARTS=$harts -DPER_HART=1 -DRING_SIZE=0x2000 \
            -DMORE=40 -DASYNC_FREQ=1
    done
    make_guest "rvtrace-pieces-$xlen" "$rvtrace" $arch -DROUNDS=7 \
        -DWORK=1500 -DASYNC_FREQ=1 -DPATCH=1
    make_guest "rvtrace-polled-$xlen" "$rvtrace" $arch -DPOLLED=1 -DWORK=20000
    make_guest "rvtrace-stamped-$xlen" "$rvtrace" $arch -DPOLLED=1 -DWORK=20000 \
        -DSTAMPS=1
    make_guest "rvtrace-wrap-$xlen" "$rvtrace" $arch \
        -DRING_SIZE=0x2000 -DWORK=20000
    make_guest "rvtrace-stop-$xlen" "$rvtrace" $arch \
        -DRING_SIZE=0x1000 -DWORK=20000 -DSTOP_ON_WRAP=1
    make_guest "rvtrace-resume-$xlen" "$rvtrace" $arch \
        -DRING_SIZE=0x1000 -DWORK=20000 -DSTOP_ON_WRAP=1 -DRESUME=1
done
make_guest rvtrace-long "$rvtrace" rv64gc -DRING_SIZE=0x2000000 -DWORK=1200000
make_guest rvtrace-some "$rvtrace" rv64gc -DRING_SIZE=0x2000000 -DWORK=400000
make_guest dhry-long "$guest_dir/dhry.c" rv64gc -DROUNDS=1200
make_guest endless "$here/../slow-reader/long.c" rv64gc -DROUNDS=0x7fffffff
make_guest smp-long "$guest_dir/smp.S" rv64gc -DROUNDS=100000000
make_guest baton-long "$guest_dir/baton.S" rv64gc -DTURNS=1000

exec python3 "$here/ram.py" "${1:-*}"
