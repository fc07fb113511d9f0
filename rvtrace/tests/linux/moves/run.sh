#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Tasks that go from hart to hart, in one boot on two harts: at many
# instructions, call stacks are those that a debugger would see, of a program
# and of the kernel; and a piece of the trace has the same ones. Speaks TAP.
#
# run.sh [PATTERN]
#
# KEEP=1: what the tests read stays
# QEMU, RVTRACE, RETIRED: as for tests-tcg-riscv64/run.sh
set -uo pipefail

here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd -P)
# shellcheck source=../linux.sh
. "$here/../linux.sh" rvtrace-linux-moves
machines=$top/rvtrace/tests/machines
need "$RETIRED"
make -s -f "$machines/unwind/plugin.mk" OUT="$OUT" >&2 ||
    bail "cannot build the observer"

unwind=$machines/unwind
"${CROSS:-riscv64-linux-gnu-}gcc" -O2 -static -pthread -Wall \
    -Wno-unused-parameter -fasynchronous-unwind-tables -I"$here/../unwind" \
    -I"$unwind" -I"$unwind/../stacks" -I"$top/tests-tcg-riscv64/guests" \
    -o "$OUT/root/bin/wander" "$here/wander.c" "$unwind/walk.c" \
    "$unwind/context.S" || bail "cannot build the program"
echo 800 > "$OUT/root/rounds"
linux_initrd

info=$("$RVTRACE" guest-info "$guest/Image") || bail "no guest-info"
period=97
plugin=$OUT/libframes.so,out=$OUT/frames,retired=$RETIRED,every=$period,priv=0
plugin+=,libraries=$OUT/root/lib,elf=$OUT/root/bin/wander
# A second one, with variables of its own, for the kernel
cp "$OUT/libframes.so" "$OUT/libkernel.so"
kernel_period=9973
kernel=$OUT/libkernel.so,out=$OUT/kernel-frames,retired=$RETIRED,priv=1
kernel+=,every=$kernel_period,kernel=on
timeout 900 "$QEMU" \
    -M "virt,trace=on,trace-autostart=on,trace-chardev=tr,trace-sideband=sb,\
trace-guest-info=$info" \
    -chardev "file,id=tr,path=$OUT/trace" \
    -chardev "file,id=sb,path=$OUT/side" \
    -cpu rv64 -smp 2 -m 512M -bios "$guest/fw_dynamic.bin" \
    -kernel "$guest/Image" -initrd "$OUT/initrd" \
    -append "console=ttyS0 panic=-1 cryptomgr.notests norandmaps" \
    -plugin "$RETIRED,out=$OUT/truth" -plugin "$plugin" -plugin "$kernel" \
    -display none -monitor none -no-reboot \
    -serial "file:$OUT/console" < /dev/null > "$OUT/log" 2>&1 ||
    bail "QEMU: status $?; see $OUT"
# The other hart's message may come before the line's end.
said=$(tr -d '\r' < "$OUT/console" |
    sed -n 's/^moves: \([^[]*\).*/\1/p')
[ "$said" = finished ] || bail "the guest: $(head -n 1 <<< "$said"); see $OUT"
export guest PYTHONPATH=$PYTHONPATH:$unwind:$here/../unwind
python3 "$here/moves.py" "$period" "$kernel_period" "$@"
status=$?
[ $status != 0 ] || [ -n "${KEEP-}" ] ||
    rm -f "$OUT"/{trace,side,frames,kernel-frames,initrd}
exit $status
