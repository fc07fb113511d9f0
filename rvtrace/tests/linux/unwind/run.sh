#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Programs of Linux, in one boot: at many instructions, call stacks are those
# that a debugger would see, also where pages are read from a disk when they are
# called; and so are the kernel's. Speaks TAP.
#
# run.sh [--all] [PATTERN]    --all: at 10,000 instructions of each program
#
# KEEP=1: what the tests read stays
# QEMU, RVTRACE, RETIRED: as for tests-tcg-riscv64/run.sh
set -uo pipefail

here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd -P)
# shellcheck source=../linux.sh
. "$here/../linux.sh" rvtrace-linux-unwind
machines=$top/rvtrace/tests/machines
need "$RETIRED"
make -s -f "$machines/unwind/plugin.mk" OUT="$OUT" >&2 ||
    bail "cannot build the observer"


rounds=1
backtraces=150
if [ "${1-}" = --all ]; then
    rounds=10
    backtraces=1000
    shift
fi

make -s -j 2 -f "$here/programs.mk" OUT="$OUT/programs" >&2 ||
    bail "cannot build the programs"
# program, rounds, how often it is run
cat > "$OUT/root/programs" << END
signals $((100 * rounds)) 1
signals-os $((100 * rounds)) 1
contexts $((400 * rounds)) 1
contexts-os $((400 * rounds)) 1
exceptions $((128 * rounds)) 1
exceptions-os $((128 * rounds)) 1
lazy 1 $((2 * rounds))
pages 1 $((2 * rounds))
END

# The disk has the programs; the libraries are in memory. They are Debian's,
# which have call frame information throughout.
rm -rf "$OUT/sysroot" "$OUT/disk"
mkdir -p "$OUT/root/lib/modules" "$OUT/sysroot" "$OUT/files"
for package in libc6 libstdc++6 libgcc-s1; do
    deb=$("$top/scripts/fetch" binary trixie $package) ||
        bail "there is no $package"
    dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$OUT/sysroot" || bail "$deb"
done
for file in ld-linux-riscv64-lp64d.so.1 libc.so.6 libm.so.6 libgcc_s.so.1 \
        libstdc++.so.6; do
    cp -L "$OUT/sysroot/usr/lib/riscv64-linux-gnu/$file" "$OUT/root/lib/" ||
        bail "there is no $file"
done
for name in libmany.so $(cut -d ' ' -f 1 "$OUT/root/programs"); do
    cp "$OUT/programs/$name" "$OUT/files/" || bail "there is no $name"
done
truncate -s 16M "$OUT/disk"
/sbin/mke2fs -q -t ext4 -d "$OUT/files" "$OUT/disk" >&2 ||
    bail "cannot make a disk"

# The kernel's modules for that disk
kernel_modules "$OUT/sysroot"
python3 "$here/../loaded/loaded.py" --choose "$OUT/sysroot" \
    "$OUT/root/lib/modules" virtio_blk crc32c_generic ext4 test_bpf ||
    bail "there are other modules than there were"
linux_initrd

info=$("$RVTRACE" guest-info "$guest/Image") || bail "no guest-info"
period=199
plugin=$OUT/libframes.so,out=$OUT/frames,retired=$RETIRED,every=$period,priv=0
plugin+=,libraries=$OUT/root/lib,libraries=$OUT/programs
for name in $(cut -d ' ' -f 1 "$OUT/root/programs"); do
    plugin+=,elf=$OUT/programs/$name
done
# A second one, with variables of its own, for the kernel
cp "$OUT/libframes.so" "$OUT/libkernel.so"
kernel_period=9973
kernel=$OUT/libkernel.so,out=$OUT/kernel-frames,retired=$RETIRED,priv=1
kernel+=,every=$kernel_period,kernel=on
# -icount: the same instructions in each run
timeout 900 "$QEMU" -icount shift=4,sleep=off \
    -M "virt,trace=on,trace-autostart=on,trace-chardev=tr,trace-sideband=sb,\
trace-guest-info=$info" \
    -chardev "file,id=tr,path=$OUT/trace" \
    -chardev "file,id=sb,path=$OUT/side" \
    -cpu rv64 -smp 1 -m 512M -bios "$guest/fw_dynamic.bin" \
    -kernel "$guest/Image" -initrd "$OUT/initrd" \
    -append "console=ttyS0 panic=-1 cryptomgr.notests norandmaps" \
    -drive "file=$OUT/disk,format=raw,readonly=on,if=none,id=disk" \
    -device virtio-blk-pci,drive=disk \
    -device virtio-serial-pci -device rvtrace-port \
    -plugin "$RETIRED,out=$OUT/truth" -plugin "$plugin" -plugin "$kernel" \
    -display none -monitor none -no-reboot \
    -serial "file:$OUT/console" < /dev/null > "$OUT/log" 2>&1 ||
    bail "QEMU: status $?; see $OUT"
said=$(tr -d '\r' < "$OUT/console" | sed -n 's/^unwind: //p')
[ "$said" = finished ] || bail "the guest: $(head -n 1 <<< "$said"); see $OUT"
export guest PYTHONPATH=$PYTHONPATH:$machines/unwind
python3 "$here/unwind.py" "$period" "$kernel_period" "$backtraces" "$@"
status=$?
[ $status != 0 ] || [ -n "${KEEP-}" ] || rm -f "$OUT"/{trace,side,frames,kernel-frames,disk,initrd}
exit $status
