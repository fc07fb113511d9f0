#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Regions of interest that a Linux program, and rvtrace-guest, mark by
# rvtrace-port: views of a region show what QEMU's log of executed pcs has
# between the marks. Speaks TAP.
#
#   QEMU=qemu-system-riscv64 RVTRACE=rvtrace run.sh
set -uo pipefail

here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd -P)
# shellcheck source=../linux.sh
. "$here/../linux.sh" rvtrace-linux-region
base=0x123450000

"${CROSS:-riscv64-linux-gnu-}gcc" -nostdlib -static -no-pie -mcmodel=medany \
    -Wl,--build-id=none -Wl,-Ttext-segment=$base -o "$OUT/root/bin/region" \
    "$here/region.S" || bail "cannot build region"

linux_initrd

# boot NAME MACHINE WORDS ARG...: a run in $OUT/NAME
boot() {
    local run=$OUT/$1 machine=$2 words=$3
    shift 3
    rm -rf "$run"
    mkdir -p "$run"
    timeout 600 "$QEMU" -M "virt$machine" \
        -chardev "file,id=tr,path=$run/trace" \
        -chardev "file,id=sb,path=$run/side" \
        -cpu rv64 -m 512M -bios "$guest/fw_dynamic.bin" \
        -kernel "$guest/Image" -initrd "$OUT/initrd" \
        -append "console=ttyS0 panic=-1 cryptomgr.notests $words" \
        -device virtio-serial-pci -device rvtrace-port \
        -display none -monitor none -no-reboot "$@" \
        -serial "file:$run/console" < /dev/null > "$run/log" 2>&1 ||
        bail "QEMU: status $?; see $run"
    tr -d '\r' < "$run/console" | sed -n 's/^region: //p' > "$run/said"
    [ "$(cat "$run/said")" = finished ] ||
        bail "the guest: $(head -n 1 "$run/said"); see $run"
}

trace=,trace=on,trace-chardev=tr,trace-sideband=sb
# blocks that are chained are not logged
log=(-d exec,nochain -dfilter "$base+0x10000" -D)
boot run "$trace,trace-autostart=on" "" "${log[@]}" "$OUT/run/pcs"
boot switch "$trace" region.switch "${log[@]}" "$OUT/switch/pcs"
boot none "" region.none
run=$OUT/run
export run
exec python3 "$here/region.py" "${1:-*}"
