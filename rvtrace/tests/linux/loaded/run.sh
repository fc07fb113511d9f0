#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A Linux with modules of Debian's, whose files lie among all that Debian has:
# the ones that were loaded have names, and no others. Handlers of signals are
# called as often as they begin, the firmware is found, and where it is not, the
# report says what is missing. Speaks TAP.
#
#   QEMU=qemu-system-riscv64 RVTRACE=rvtrace run.sh [PATTERN]
set -uo pipefail

here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd -P)
# shellcheck source=../linux.sh
. "$here/../linux.sh" rvtrace-linux-loaded

"${CROSS:-riscv64-linux-gnu-}gcc" -O1 -static -o "$OUT/root/bin/signals" \
    "$here/signals.c" || bail "signals.c cannot be built"

rm -rf "$OUT/sysroot"
mkdir -p "$OUT/sysroot" "$OUT/root/lib/modules"
kernel_modules "$OUT/sysroot"
python3 "$here/loaded.py" --choose "$OUT/sysroot" "$OUT/root/lib/modules" ||
    bail "there are other modules than there were"
cp "$guest/Image" "$OUT/sysroot/"
linux_initrd

# boot NAME WORDS: a run in $OUT/NAME
boot() {
    local run=$OUT/$1 info
    rm -rf "$run"
    mkdir -p "$run"
    info=$("$RVTRACE" guest-info "$guest/Image") || bail "no guest-info"
    timeout 600 "$QEMU" -M "virt,trace=on,trace-autostart=on,trace-chardev=tr,\
trace-sideband=sb,trace-guest-info=$info" \
        -chardev "file,id=tr,path=$run/trace" \
        -chardev "file,id=sb,path=$run/side" \
        -cpu rv64 -smp 1 -m 512M -bios "$guest/fw_dynamic.bin" \
        -kernel "$guest/Image" -initrd "$OUT/initrd" \
        -append "console=ttyS0 panic=-1 cryptomgr.notests $2" \
        -drive "file=$guest/disk,format=raw,readonly=on,if=none,id=disk" \
        -device virtio-blk-pci,drive=disk \
        -device virtio-serial-pci -device rvtrace-port \
        -display none -monitor none -no-reboot \
        -serial "file:$run/console" < /dev/null > "$run/log" 2>&1 ||
        bail "QEMU: status $?; see $run"
    tr -d '\r' < "$run/console" | sed -n 's/^loaded: //p' > "$run/said"
    grep -qx finished "$run/said" || bail "the guest did not finish; see $run"
}

boot silent ""
boot said loaded.say
export guest
exec python3 "$here/loaded.py" "${1:-*}"
