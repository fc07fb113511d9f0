#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Debian's Linux, from the reset vector to the power-off, with work in
# between: what qemu-etrace decodes from the trace that went through a socket
# is what an independent observer saw retire, instruction for instruction, on
# one hart and on two. And a collector that dies in the middle harms nobody.
# Speaks TAP.
set -euo pipefail
. "$(dirname "$0")/../scripts/lib.sh"
. "$(dirname "$0")/lib.sh"

number=0 failed=0
result() { # STATUS TEXT
    number=$((number + 1))
    [ "$1" = ok ] || failed=1
    echo "$1 $number - $2"
}

out=build/check/linux
rm -rf "$out"

demo/make-guest || { echo "Bail out! the guest cannot be made"; exit 1; }

# whole_run SMP: trace all of it, compare all of it
whole_run() {
    local smp=$1 dir=$out/$1 line count
    mkdir -p "$dir"
    qemu_args "$dir" "$smp" 1 traced
    command+=(-plugin "$observer,out=$dir/truth")
    listen_args "$dir" "$dir/trace.bin" "$dir/sideband.bin"
    if boot "$dir" 1200; then
        result ok "Linux runs, traced, on $smp harts"
    else
        result 'not ok' "Linux runs, traced, on $smp harts"
        return
    fi
    start timeout --foreground 1200 "$etrace" verify --trace="$dir/trace.bin" \
        --sideband="$dir/sideband.bin" --truth="$dir/truth" > "$dir/verify"
    if wait "$started"; then line=ok; else line='not ok'; fi
    cat "$dir/verify"
    # a boot is a billion instructions: agreeing on less would be too easy
    count=$(awk '$1 == "E" { n += $3 } END { printf "%.0f", n }' "$dir/truth")
    if [ "$(grep -c ': identical$' "$dir/verify")" != "$smp" ] ||
       [ "$count" -lt 1000000000 ]; then
        line='not ok'
    fi
    result "$line" "decoded equals retired on $smp harts: $count instructions"
    if [ "$line" = ok ]; then
        rm -rf "$dir"
    fi
}

memory_of() { awk '/^VmRSS/ { print $2 }' "/proc/$1/status"; }

# How much of the trace has been collected?
grown_to() { # FILE BYTES SECONDS
    local i
    for ((i = 0; i < $3 * 10; i++)); do
        [ "$(stat -c %s "$1" 2>/dev/null || echo 0)" -lt "$2" ] || return 0
        sleep 0.1
    done
    return 1
}

# The collector is killed, the machine goes on without one, another comes
lost_collector() {
    local dir=$out/lost machine_pid pid before after count status='not ok'
    mkdir -p "$dir"
    qemu_args "$dir" 1 2 traced
    # all of the guest's memory at once and little for translated code, so
    # that what the trace takes can be told
    command+=(-accel tcg,tb-size=32
              -object memory-backend-ram,id=ram,size=512M,prealloc=on
              -machine memory-backend=ram)
    listen_args "$dir" "$dir/first.trace" "$dir/first.sideband"
    start timeout --foreground -k 5 900 "${command[@]}"
    machine_pid=$started
    start "${listener[@]}"
    if ! grown_to "$dir/first.trace" 20000000 120; then
        result 'not ok' "there is a trace to collect"
        return
    fi
    pid=$(tr -d " " < "/proc/$machine_pid/task/$machine_pid/children")
    kill -KILL "$started"
    wait "$started" 2>/dev/null || true
    sleep 2
    before=$(memory_of "$pid")
    sleep 5
    after=$(memory_of "$pid")
    echo "# memory of QEMU without collector: $before kB, 5 s later $after kB"
    listen_args "$dir" "$dir/second.trace" "$dir/second.sideband"
    start timeout --foreground -k 5 900 "${listener[@]}"
    if wait "$machine_pid" && finished_well "$dir/console.log"; then
        status=ok
    fi
    result "$status" "the guest survives the death of its collector"
    # five seconds of trace are several times as much
    status='not ok'
    [ $((after - before)) -gt $((16 * 1024)) ] || status=ok
    result "$status" "memory stays flat without a collector"
    wait "$started" || true
    status='not ok'
    if timeout --foreground 600 "$etrace" stat --trace="$dir/second.trace" \
           --sideband="$dir/second.sideband" > "$dir/stat"; then
        status=ok
    fi
    cat "$dir/stat"
    count=$(awk '$1 == "instructions" { print $2; exit }' "$dir/stat")
    [ "${count:-0}" -gt 10000000 ] || status='not ok'
    result "$status" "the next collector's trace decodes: $count instructions"
}

whole_run 1
whole_run 2
lost_collector
echo "1..$number"
[ $failed != 0 ] || rm -rf "$out"
exit $failed
