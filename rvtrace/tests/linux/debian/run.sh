#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Debian with systemd, 3,100 modules and 15,000 files as the sysroot: it boots,
# runs more than twenty programs, and what ran has the names that the guest's
# own maps and symbol tables give it; what that costs is bounded. Speaks TAP.
#
#   QEMU=qemu-system-riscv64 RVTRACE=rvtrace run.sh [PATTERN]
#
# KEEP=1: if a trace is there, from before, it is used again.
set -uo pipefail

here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd -P)
# shellcheck source=../linux.sh
. "$here/../linux.sh" rvtrace-linux-debian

debian=$("$top/demo/make-debian") ||
    skip_all "the packages of Debian cannot be had"
cc="${CROSS:-riscv64-linux-gnu-}gcc"

# The modules that the disk needs, in their order, as the initrd has them. ext4
# asks for crc32c by the name of an algorithm.
disk_modules() {
    local kernel name file
    kernel=$(echo "$debian"/root/usr/lib/modules/*-riscv64)
    mkdir -p "$OUT/root/lib/modules"
    for name in crypto/crc32c_generic fs/ext4/ext4 drivers/block/virtio_blk; do
        sed -n "s,^kernel/$name.ko.xz:,kernel/$name.ko.xz ,p" \
            "$kernel/modules.dep" | tr ' ' '\n' | grep . | tac
    done | awk '!seen[$1]++' > "$OUT/modules" || return 1
    while read -r file; do
        name=$(basename "$file" .xz)
        xz -dc "$kernel/$file" > "$OUT/root/lib/modules/$name" || return 1
        echo "$name"
    done < "$OUT/modules" > "$OUT/root/lib/modules/order"
    [ -s "$OUT/modules" ]
}

# What the guest gets beside Debian, at /opt/test
test_files() {
    local to=$OUT/root/test
    mkdir -p "$to"
    install -m 755 "$here/programs" "$top/guest-linux/rvtrace-guest" "$to/"
    install -m 644 "$here/test.service" "$to/"
    "$cc" -O1 -static -o "$to/watch" "$here/watch.c" || return 1
    "$cc" -O1 -g -o "$to/own" "$here/own.c" || return 1
    "${cc%gcc}strip" -o "$to/own-stripped" "$to/own" || return 1
    rm -rf "$OUT/sysroot"
    mkdir -p "$OUT/sysroot/opt"
    cp -r "$to" "$OUT/sysroot/opt/"
}

# boot: the run, in $run
boot() {
    local info
    rm -rf "$run"
    mkdir -p "$run"
    info=$("$RVTRACE" guest-info "$guest/Image") || return 1
    timeout 1500 "$QEMU" -M "virt,trace=on,trace-chardev=tr,\
trace-sideband=sb,trace-guest-info=$info" \
        -chardev "file,id=tr,path=$run/trace" \
        -chardev "file,id=sb,path=$run/side" \
        -cpu rv64 -smp 2 -m 2G -bios "$guest/fw_dynamic.bin" \
        -kernel "$guest/Image" -initrd "$OUT/initrd" \
        -append "root=/dev/vda rw console=ttyS0 panic=-1 cryptomgr.notests \
quiet systemd.show_status=no" \
        -drive "file=$debian/disk,format=raw,snapshot=on,if=none,id=disk" \
        -device virtio-blk-pci,drive=disk -device virtio-rng-pci \
        -device virtio-serial-pci -device rvtrace-port \
        -chardev "file,id=truth,path=$run/truth" \
        -device virtserialport,chardev=truth,name=truth \
        -display none -monitor none -no-reboot \
        -serial "file:$run/console" < /dev/null > "$run/log" 2>&1 ||
        { echo "QEMU: status $?; see $run" >> "$run/log"; return 1; }
    tr -d '\r' < "$run/console" | sed -n 's/.*debian: //p' > "$run/said"
    grep -q '^finished, .* status 0$' "$run/said"
}

disk_modules || bail "the disk's modules cannot be found"
test_files || bail "the guest's programs cannot be built"
linux_initrd
run=$OUT/boot
if [ -z "${KEEP-}" ] || ! grep -q ^finished "$run/said" 2> /dev/null; then
    boot || bail "Debian has not finished its programs; see $run"
fi
export SYSROOTS=$debian/root:$OUT/sysroot:$guest/sysroot/bin
exec python3 "$here/check.py" "${1:-*}"
