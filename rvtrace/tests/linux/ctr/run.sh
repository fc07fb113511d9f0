#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The control transfer records of a running Linux kernel: Debian's kernel with
# a module of ours that reads them, compared with the code that was there.
#
#   QEMU=qemu-system-riscv64 run.sh                         TAP output
#
# The guest is made of the same parts as that of `make demo`.
set -euo pipefail

here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd -P)
# shellcheck source=../linux.sh
. "$here/../linux.sh" rvtrace-linux-ctr
out=$OUT

# The headers are those of the kernel that is booted
kernel=$(cat "$guest/kernel-package")
headers=${kernel/image/headers}
flavour=$("$top/scripts/fetch" binary trixie "$headers") &&
    common=$("$top/scripts/fetch" binary trixie \
        "${headers%-riscv64}-common") ||
    bail "no headers of $kernel: if Debian has a newer kernel by now," \
        "make distclean and make demo get that one"
"$top/guest-linux/make-module" "$out/ctr_entries.ko" "$here/ctr_entries.c" \
    -- "$flavour" "$common" > "$out/make.log" 2>&1 ||
    {
        sed 's/^/# /' "$out/make.log"
        bail "the module cannot be compiled"
    }

mkdir -p "$out/root/lib/modules"
cp "$out/ctr_entries.ko" "$out/root/lib/modules/"
linux_initrd
(cd "$out" && cpio --quiet -i --to-stdout bin/busybox < "$guest/initrd" \
    > busybox)

# boot later|boot: one run in $out/$1
boot() {
    local dir=$out/$1
    mkdir -p "$dir"
    python3 "$here/guest.py" "$dir" 600 "$1" "$QEMU" \
        -M virt -smp 2 -m 512M -cpu rv64,smctr=on,ssctr=on \
        -bios "$guest/fw_dynamic.bin" \
        -kernel "$guest/Image" -initrd "$out/initrd" \
        -append "console=ttyS0 panic=-1 cryptomgr.notests ctr.$1" \
        -drive "file=$guest/disk,format=raw,readonly=on,if=none,id=disk" \
        -device virtio-blk-pci,drive=disk \
        -device virtio-serial-pci \
        -chardev "file,id=ctr,path=$dir/guest.txt" \
        -device virtserialport,chardev=ctr,name=ctr \
        -display none -monitor none -serial stdio -no-reboot \
        2> "$dir/machine.log" < /dev/null
}

for when in later boot; do
    case $when in
    later) text="Linux runs with CTR, with and without the module" ;;
    boot) text="Linux runs while every mode is recorded since reset" ;;
    esac
    if boot $when &&
       grep -q '^ctr-linux: finished, status 0, answer seen' \
           "$out/$when/console.log"; then
        result ok "$text"
    else
        sed 's/^/# /' "$out/$when/machine.log"
        grep -a '^ctr-linux: failed' "$out/$when/console.log" ||
            tail -n 20 "$out/$when/console.log" | sed 's/^/# /'
        result 'not ok' "$text"
    fi
done
python3 "$here/check.py" "$number" "$guest/Image" "$out/busybox" "$out/later" \
    "$out/boot" || failed=1
[ $failed != 0 ] || rm -rf "$out"
exit $((failed > 0))
