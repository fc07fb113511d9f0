#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# perf record -b in Debian's Linux, with the module guest-linux/ctr-perf: every
# branch stack against the trace of the same run, on one hart and on two.
# Speaks TAP.
#
#   QEMU=qemu-system-riscv64 RVTRACE=rvtrace run.sh [--all]
#
# --all records for longer: four times as many samples.
set -uo pipefail

here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd -P)
# shellcheck source=../linux.sh
. "$here/../linux.sh" rvtrace-linux-perf
"$top/demo/make-perf" || bail "perf cannot be made"

"${CROSS:-riscv64-linux-gnu-}gcc" -O2 -g -static -no-pie \
    -Wl,-Ttext-segment=0x40000000 -o "$OUT/root/bin/paths" "$here/paths.c" ||
    bail "cannot build paths"
gcc -O2 -Wall -o "$OUT/follow" "$here/follow.c" || bail "cannot build follow"
linux_initrd "$guest/perf-initrd"
programs=$OUT/root/bin/paths,$guest/sysroot/bin/busybox
tasks=$("$RVTRACE" guest-info "$guest/Image") || bail "cannot find tasks"

# boot NAME HARTS WORD...: with these on the kernel's command line; what the
# guest recorded is in $OUT/NAME/files afterwards.
boot() {
    local dir=$OUT/$1 harts=$2
    shift 2
    rm -rf "$dir"
    mkdir -p "$dir/files"
    # -icount: an event each N instructions, whatever the host does meanwhile
    timeout 900 "$QEMU" -icount shift=0 -smp "$harts" -m 1G \
        -M "virt,trace=on,trace-chardev=tr,\
trace-sideband=sb,trace-guest-info=$tasks" \
        -chardev "file,id=tr,path=$dir/trace" \
        -chardev "file,id=sb,path=$dir/side" \
        -cpu rv64,smctr=on,ssctr=on,sscofpmf=on,smcntrpmf=on \
        -bios "$guest/fw_dynamic.bin" -kernel "$guest/Image" \
        -initrd "$OUT/initrd" \
        -append "console=ttyS0 panic=-1 quiet cryptomgr.notests $*" \
        -device virtio-serial-pci -device rvtrace-port \
        -chardev "file,id=out,path=$dir/files.tar" \
        -device virtserialport,chardev=out,name=perf \
        -display none -monitor none -no-reboot \
        -serial "file:$dir/console" < /dev/null > "$dir/log" 2>&1 ||
        bail "QEMU: status $?; see $dir"
    tar -x -C "$dir/files" -f "$dir/files.tar" ||
        bail "the guest left no files; see $dir/console"
    rm "$dir/files.tar"
    if grep -q '^perf-linux: finished, failed 0' "$dir/console" &&
       ! grep -E '^perf-linux: dmesg: .*(WARN|Oops|BUG)' "$dir/console"; then
        result ok "$harts harts: perf record -b works with the module alone"
    else
        grep -a '^perf-linux: ' "$dir/console" | sed 's/^/# /'
        result 'not ok' \
            "$harts harts: perf record -b works with the module alone" "see $dir"
    fi
}

# check NAME HARTS RECORDING...: numbers of tests go on
check() {
    local dir=$OUT/$1 harts=$2 tests
    shift 2
    tests=$(python3 "$here/check.py" "$number" "$dir" "$harts" \
            "$programs" "$guest/Image" "$OUT/follow" "$@") ||
        failed=$((failed + 1))
    printf '%s\n' "$tests"
    number=$((number + $(grep -cE '^(not )?ok ' <<< "$tests")))
}

# profile NAME RECORDING...: rvtrace's profiles of them
profile() {
    local dir=$OUT/$1 tests
    shift
    tests=$(python3 "$here/profile.py" "$number" "$dir" "$OUT/root" "$@") ||
        failed=$((failed + 1))
    printf '%s\n' "$tests"
    number=$((number + $(grep -cE '^(not )?ok ' <<< "$tests")))
}

dir=
share=4
[ "${1-}" != --all ] || share=1
boot one 1 perf.rounds=$((20000 / share))
check one 1 sleep pair any types calls returns kernel stack
profile one any types
boot two 2 perf.rounds=$((15000 / share)) perf.many
check two 2 sleep many
profile two many
echo "1..$number"
[ $failed != 0 ] || rm -rf "${OUT:?}"/{one,two}
exit $((failed > 0))
