#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Code that a Linux program makes at run time has the names that the program
# gives it, and each is called as often as it was. Speaks TAP.
#
#   QEMU=qemu-system-riscv64 RVTRACE=rvtrace run.sh
set -uo pipefail

here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd -P)
# shellcheck source=../linux.sh
. "$here/../linux.sh" rvtrace-linux-jit

"${CROSS:-riscv64-linux-gnu-}gcc" -O1 -static -o "$OUT/root/bin/jit" \
    "$here/jit.c" || bail "jit.c cannot be built"
cp "$OUT/root/bin/jit" "$OUT/root/bin/jit-silent"
linux_initrd

# machine: the guest runs, in $dir
machine() {
    local info
    info=$("$RVTRACE" guest-info "$guest/Image") || return 1
    timeout 500 "$QEMU" -M "virt,trace=on,trace-autostart=on,trace-chardev=tr,\
trace-sideband=sb,trace-guest-info=$info" \
        -chardev "file,id=tr,path=$dir/trace" \
        -chardev "file,id=sb,path=$dir/side" \
        -cpu rv64 -smp 1 -m 512M -bios "$guest/fw_dynamic.bin" \
        -kernel "$guest/Image" -initrd "$OUT/initrd" \
        -append "console=ttyS0 panic=-1 cryptomgr.notests" \
        -device virtio-serial-pci -device rvtrace-port \
        -display none -monitor none -no-reboot \
        -serial "file:$dir/console" < /dev/null > "$dir/log" 2>&1
}

# rows NAME OPTION...: a table of what ran, as "$dir/NAME"
rows() {
    local name=$1
    shift
    timeout 500 "$RVTRACE" report --trace "$dir/trace" \
        --sideband "$dir/side" --format tsv "$@" \
        > "$dir/$name" 2>> "$dir/log"
}

if begin "code made at run time"; then
    reason=
    machine || reason="QEMU: status $?"
    tr -d '\r' < "$dir/console" | sed -n 's/^jit: //p' > "$dir/said"
    [ "$(cat "$dir/said")" = finished ] ||
        reason="the guest: $(head -n 1 "$dir/said")"
    [ -n "$reason" ] ||
        rows with --sysroot "$OUT/root" --sysroot "$guest/Image" \
        --sort comm,dso,sym,priv ||
        reason="rvtrace report: status $?"
    [ -n "$reason" ] || rows without --sort comm,dso,sym,priv ||
        reason="rvtrace report without a sysroot: status $?"
    [ -n "$reason" ] || python3 "$here/check.py" "$OUT/root/bin/jit" \
        "$dir/with" "$dir/without" >> "$dir/log" 2>&1 ||
        reason="names are wrong"
    finish "$reason"
fi

plan
