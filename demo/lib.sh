# SPDX-License-Identifier: GPL-2.0-or-later
#
# Boot the demo's Linux, traced or not, and never leave anything behind:
# shared by demo/run and demo/linux-verify.sh. Source it after scripts/lib.sh.

cd "$top"

# as people type it: build, or build/10.2
built=${build#"$top"/}
qemu=$built/qemu-system-riscv64
[ -z "$sanitize" ] || qemu=$obj/qemu-system-riscv64
etrace=$built/rvtrace
observer=$built/plugins/libretired.so

# Children are put into the background and waited for, so that a signal ends
# the wait at once; whatever the reason for leaving, they end before us.
children=()
start() {
    "$@" < /dev/null &
    started=$!
    children+=("$started")
}
end_children() {
    local pid status=$?
    trap - EXIT
    for pid in "${children[@]}"; do
        kill "$pid" 2>/dev/null || true
    done
    for pid in "${children[@]}"; do
        wait "$pid" 2>/dev/null || true
    done
    exit $status
}
trap end_children EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# machine SMP: everything about the machine except how it is traced
machine() {
    args=(
        -cpu rv64,smctr=on,ssctr=on,sscofpmf=on,smcntrpmf=on
        -smp "$1" -m 512M
        -bios "$built/guest/fw_dynamic.bin"
        -kernel "$built/guest/Image" -initrd "$built/guest/initrd"
        -drive "file=$built/guest/disk,format=raw,readonly=on,if=none,id=disk"
        -device virtio-blk-pci,drive=disk
        -display none -monitor none -no-reboot
    )
}

# Where the kernel keeps its tasks (rvtrace guest-info); empty: do not look
guest_info=

# qemu_args DIR SMP WORK [traced]: the whole command line, in $command
qemu_args() {
    local dir=$1 smp=$2 work=$3 traced=${4-} options=virt chardevs=() append
    append="console=ttyS0 panic=-1 cryptomgr.notests rvtrace.work=$work"
    if [ -n "$traced" ]; then
        options+=,trace=on,trace-autostart=on,trace-chardev=tr,trace-sideband=sb
        [ -z "$guest_info" ] || options+=,trace-guest-info=$guest_info
        chardevs=(
            -chardev "socket,id=tr,path=$dir/trace.sock,server=on"
            -chardev "socket,id=sb,path=$dir/sideband.sock,server=on"
        )
    fi
    machine "$smp"
    command=("$qemu" -M "$options" "${chardevs[@]}" "${args[@]}"
             -serial "file:$dir/console.log" -append "$append")
}

# listen_args DIR TRACE SIDEBAND: the collector's command line, in $listener
listen_args() {
    listener=("$etrace" listen --timeout=60
              --trace="unix:$1/trace.sock" --trace-out="$2"
              --sideband="unix:$1/sideband.sock" --sideband-out="$3")
}

# finished_well CONSOLE: did the guest run all its work?
finished_well() {
    grep -q '^rvtrace: finished, status 0,' "$1"
}

# boot DIR LIMIT: run $command, and with it $listener unless that is empty. If
# there is a $starter, it sees to it that the machine begins to run.
starter=()
boot() {
    local dir=$1 limit=$2 machine_pid listener_pid=
    rm -f "$dir"/*.sock "$dir/console.log"
    start timeout --foreground -k 5 "$limit" "${command[@]}"
    machine_pid=$started
    if [ ${#listener[@]} -gt 0 ]; then
        start timeout --foreground -k 5 "$limit" "${listener[@]}"
        listener_pid=$started
    fi
    if [ ${#starter[@]} -gt 0 ]; then
        start "${starter[@]}"
        wait "$started" || kill "$machine_pid"
    fi
    wait "$machine_pid" ||
        { echo "QEMU: exit status $? (124: not finished in $limit s)"
          tail -n 5 "$dir/console.log"; return 1; }
    finished_well "$dir/console.log" ||
        { echo "the guest did not finish its work:"
          tail -n 5 "$dir/console.log"; return 1; }
    # QEMU is gone, the sockets are closed: the collector ends by itself
    [ -z "$listener_pid" ] || wait "$listener_pid" ||
        { echo "rvtrace listen: exit status $?"; return 1; }
    rm -f "$dir"/*.sock
}

# seconds_of CONSOLE: how long the guest was up until it had finished
seconds_of() {
    sed -nE 's/^rvtrace: finished.* up ([0-9.]+) s.*/\1/p' "$1"
}
