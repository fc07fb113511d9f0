#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A program of Linux that counts and measures what it does: the commands that
# answer questions say the same. Speaks TAP.
#
# run.sh [--all] [PATTERN]        on one hart; --all: in a boot on two, too
#
# KEEP=1: what the tests read stays
# QEMU, RVTRACE: as for tests-tcg-riscv64/run.sh
set -uo pipefail

here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd -P)
# shellcheck source=../linux.sh
. "$here/../linux.sh" rvtrace-linux-questions

"${CROSS:-riscv64-linux-gnu-}gcc" -O2 -static -pthread -Wall -Wextra \
    -Wno-unused-result -D_GNU_SOURCE -o "$OUT/root/bin/asker" \
    "$here/asker.c" || bail "cannot build the program"
linux_initrd
HARTS=1
if [ "${1-}" = --all ]; then
    HARTS='1 2'
    shift
fi

info=$("$RVTRACE" guest-info "$guest/Image") || bail "no guest-info"
# Times pass by instructions on one hart, and by the clock on two.
options=(-icount shift=3,sleep=off)
for harts in $HARTS; do
    mkdir -p "$OUT/$harts"
    timeout 600 "$QEMU" \
        -M "virt,trace=on,trace-autostart=on,trace-chardev=tr,\
trace-sideband=sb,trace-guest-info=$info" \
        -global riscv-trace-encoder.time-width=64 \
        -chardev "file,id=tr,path=$OUT/$harts/trace" \
        -chardev "file,id=sb,path=$OUT/$harts/side" \
        -cpu rv64 -smp $harts "${options[@]}" -m 512M -bios "$guest/fw_dynamic.bin" \
        -kernel "$guest/Image" -initrd "$OUT/initrd" \
        -append "console=ttyS0 panic=-1 cryptomgr.notests quiet" \
        -display none -monitor none -no-reboot \
        -serial "file:$OUT/$harts/console" < /dev/null > "$OUT/log" 2>&1 ||
        bail "QEMU: status $?; see $OUT"
    grep -q 'asker: finished' "$OUT/$harts/console" ||
        bail "the guest has not finished; see $OUT/$harts/console"
    options=()
done
export guest HARTS
python3 "$here/asker.py" "$@"
status=$?
[ $status != 0 ] || [ -n "${KEEP-}" ] ||
    rm -f "$OUT"/[12]/{trace,side} "$OUT/initrd"
exit $status
