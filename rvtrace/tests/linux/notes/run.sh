#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Notes that a running Linux takes by rvtrace-guest and the device rvtrace-port,
# as they are decoded. Speaks TAP.
#
#   QEMU=qemu-system-riscv64 RVTRACE=rvtrace run.sh
set -uo pipefail

here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd -P)
# shellcheck source=../linux.sh
. "$here/../linux.sh" rvtrace-linux-notes

linux_initrd

# notes HART GREP...: kind and text of each that grep selects, in order
notes() {
    local hart=$1
    shift
    timeout 300 "$RVTRACE" decode --trace "$dir/trace" \
        --sideband "$dir/side" --hart "$hart" --emit note 2>> "$dir/log" |
        cut -d ' ' -f 2- | grep -a "$@"
}

if begin "notes of a Linux guest"; then
    reason=
    timeout 300 "$QEMU" \
        -M virt,trace=on,trace-autostart=on,trace-chardev=tr,trace-sideband=sb \
        -chardev "file,id=tr,path=$dir/trace" \
        -chardev "file,id=sb,path=$dir/side" \
        -cpu rv64 -smp 2 -m 512M -bios "$guest/fw_dynamic.bin" \
        -kernel "$guest/Image" -initrd "$OUT/initrd" \
        -append "console=ttyS0 panic=-1 cryptomgr.notests" \
        -device virtio-serial-pci -device rvtrace-port \
        -display none -monitor none -no-reboot \
        -serial "file:$dir/console" < /dev/null > "$dir/log" 2>&1 ||
        reason="QEMU: status $?"
    tr -d '\r' < "$dir/console" | sed -n 's/^notes: //p' > "$dir/said"
    [ "$(cat "$dir/said")" = finished ] ||
        reason="the guest: $(head -n 1 "$dir/said")"
    # what is longer than 1024 bytes is cut off, "mark " included
    cat > "$dir/want" <<WANT
mark two words
begin sh
end sh
begin of its own
end of its own
mark $(printf '%02000d' 7 | head -c 1019)
mark end
WANT
    for hart in 0 1; do
        notes $hart -v '^text ' > "$dir/notes.$hart"
        [ -n "$reason" ] || cmp "$dir/want" "$dir/notes.$hart" \
            >> "$dir/log" 2>&1 || reason="other notes of hart $hart"
    done
    notes 0 '^text ' > "$dir/texts"
    for text in 'text maps 1 .*/bin/busybox' 'text a' 'text anything else' \
                'text '; do
        [ -n "$reason" ] || grep -qx "$text" "$dir/texts" ||
            reason="there is no '$text'"
    done
    # A line that was not ended when the port was closed is none.
    [ -n "$reason" ] || ! grep -q 'text last' "$dir/texts" ||
        reason="a line that has no end"
    finish "$reason"
fi

# The machine may have no port.
if begin "no port"; then
    reason=
    PATH=$PATH "$top/guest-linux/rvtrace-guest" mark x > "$dir/log" 2>&1
    status=$?
    { [ $status = 125 ] && grep -q 'device rvtrace-port' "$dir/log"; } ||
        reason="status $status"
    finish "$reason"
fi

plan
