#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Debian's Linux, from the reset vector to the power-off, with work in
# between: what rvtrace decodes from the trace that went through a socket
# is what an independent observer saw retire, instruction for instruction, on
# one hart and on more harts than there are processors, with every mode of the
# encoder, while control transfers are recorded in all modes, and with filters
# to U-mode and to a range of addresses, where the observer looks at nothing
# else either. And a collector that dies in the middle harms nobody.
# Speaks TAP.
#
# linux-verify.sh             three boots
# linux-verify.sh --all       the others, too
# linux-verify.sh HARTS BOOTS
#                             nothing but so many boots with so many harts
set -euo pipefail
. "$(dirname "$0")/../scripts/lib.sh"
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/../tests-tcg-riscv64/harness/tap.sh"


out=$built/check/linux
rm -rf "$out"

demo/make-guest || bail "the guest cannot be made"

# What is special about a run, apart from its name:
properties=()   # of the encoders, NAME=VALUE
registers=()    # of the first encoder, written before the guest starts, and
                # CSRs of every hart
selection=      # what the observer writes down, if not everything

# tasks NAME SMP DIR: are those of this guest reported, by their names and pids?
tasks() {
    local name=$1 smp=$2 dir=$3 status=ok hart idle idles= wrong=
    rm -f "$dir/tasks"
    for ((hart = 0; hart < smp; hart++)); do
        start timeout --foreground 1200 "$etrace" decode \
            --trace="$dir/trace.bin" --sideband="$dir/sideband.bin" \
            --hart=$hart --emit=task > "$dir/tasks.$hart"
        wait "$started" ||
            wrong+="# the trace of hart $hart is not decoded"$'\n'
        # Each hart idles, as a task of its own. The kernel's processor 0 is the
        # hart that boots, which is OpenSBI's choice: the first to come.
        idle=$(awk '$3 == 0 && $5 ~ /\// { print $5 }' "$dir/tasks.$hart" |
                   sort -u)
        [ "$(wc -w <<< "$idle")" = 1 ] ||
            wrong+="# hart $hart idles as: ${idle//$'\n'/, }"$'\n'
        idles+=$idle$'\n'
        cat "$dir/tasks.$hart" >> "$dir/tasks"
    done
    for ((hart = 0; hart < smp; hart++)); do
        grep -qx "swapper/$hart" <<< "$idles" ||
            wrong+="# no hart idles as swapper/$hart"$'\n'
    done
    # instructions, pointer, pid, tgid, name: what each of the workload's
    # programs is called, and that it is a process of its own, without threads
    wrong+=$(awk '
         { tgid[$5] = $4 }
         $3 == 1 && $5 == "init" { init = 1 }
         # the first tasks are called as the one that made them
         $3 != $4 || ($3 == 0 && $5 !~ /^swapper(\/[0-9]+)?$/) {
             print "# not a process of its own: " $0
         }
         END {
             n = split("workload dd sort gzip gunzip awk sha512sum", want)
             for (i = 1; i <= n; i++) {
                 if (tgid[want[i]] <= 1) {
                     print "# no process " want[i]
                 }
             }
             if (!init) {
                 print "# no init"
             }
         }' "$dir/tasks")
    [ -z "$wrong" ] || status='not ok'
    result "$status" \
           "its tasks are known, $name: $(wc -l < "$dir/tasks") switches"
    [ "$status" = ok ] || head -n 12 <<< "$wrong"
    [ "$status" = ok ]
}

# How often a hart's mappings were forgotten in this sideband
forgotten() {
    PYTHONPATH=tests-tcg-riscv64/harness python3 - "$1" <<'EOF'
import sys

from sideband import FORGET, records

with open(sys.argv[1], 'rb') as file:
    print(sum(record[0] == FORGET for record in records(file.read())))
EOF
}

# run NAME SMP WORK LEAST: trace it, and compare it with what was observed;
# that has to be so many instructions at least
run() {
    local name=$1 smp=$2 work=$3 least=$4 dir=$out/${1//[ ,]/-}
    local status=ok property count others forgets
    mkdir -p "$dir"
    qemu_args "$dir" "$smp" "$work" traced
    command+=(-plugin "$observer,out=$dir/truth$selection")
    for property in "${properties[@]}"; do
        command+=(-global "riscv-trace-encoder.$property")
    done
    listen_args "$dir" "$dir/trace.bin" "$dir/sideband.bin"
    if [ ${#registers[@]} != 0 ]; then
        command+=(-S -qtest "unix:$dir/qtest,server=on,wait=off"
                  -qtest-log /dev/null
                  -qmp "unix:$dir/qmp,server=on,wait=off"
                  -gdb "unix:$dir/gdb,server=on,wait=off")
        starter=(demo/write-registers "$dir" "$smp" "${registers[@]}")
    fi
    boot "$dir" 1200 || status='not ok'
    starter=()
    result "$status" "Linux runs, $name"
    [ "$status" = ok ] || return 0

    start timeout --foreground 1200 "$etrace" verify --trace="$dir/trace.bin" \
        --sideband="$dir/sideband.bin" --truth="$dir/truth" > "$dir/verify"
    wait "$started" || status='not ok'
    cat "$dir/verify"
    # agreeing on less would be too easy
    count=$(awk '$1 == "E" { n += $3 } END { printf "%.0f", n }' "$dir/truth")
    if [ "$(grep -c ': identical$' "$dir/verify")" != "$smp" ] ||
       [ "$count" -lt "$least" ]; then
        status='not ok'
    fi
    if [ -n "$selection" ]; then
        others=$(awk '$5 == "others" { n += $4 } END { printf "%.0f", n }' \
                     "$dir/truth")
        echo "# $others others retired"
        [ "$others" -ge "$least" ] || status='not ok'
    fi
    if [ "$work" != 0 ] && [ -z "$selection" ]; then
        # programs come and go, and with them more mappings than are kept
        forgets=$(forgotten "$dir/sideband.bin")
        echo "# mappings forgotten $forgets times"
        [ "$forgets" -gt 0 ] || status='not ok'
    fi
    result "$status" "decoded equals retired, $name: $count instructions"
    if [ -n "$guest_info" ]; then
        tasks "$name" "$smp" "$dir" || status='not ok'
        pieces "$name" "$dir" || status='not ok'
    fi
    if [ "$status" = ok ]; then
        rm -rf "$dir"
    fi
}

# known VIEW FILE: what does not depend on where pieces begin. Code that no file
# has is counted where a range of it begins, and a piece begins a range.
known() {
    case $1 in
    report) grep -v "rows left out" "$2" ;;
    callgrind) grep "^summary: " "$2" ;;
    esac
}

# pieces NAME FOLDER: with an index, and in pieces, the trace is the same. Its
# beginning is enough.
pieces() {
    local name=$1 dir=$2 status=ok view piece
    local some=(--trace="$dir/begin.bin" --sideband="$dir/sideband.bin"
                --sysroot="$built/guest/sysroot")
    head -c 8000000 "$dir/trace.bin" > "$dir/begin.bin"
    {
        for view in report callgrind; do
            "$etrace" $view "${some[@]}" > "$dir/whole.$view" &&
                "$etrace" $view "${some[@]}" --from=30M --to=70M \
                    > "$dir/selected.$view" || status='not ok'
        done
        "$etrace" index "${some[@]}" || status='not ok'
        for piece in 1 2 3; do
            "$etrace" report "${some[@]}" --shard=$piece/3 \
                > "$dir/piece.$piece" || status='not ok'
        done
        for view in report callgrind; do
            "$etrace" merge "$dir"/piece.? -o "$view=$dir/merged.$view" &&
                cmp <(known $view "$dir/whole.$view") \
                    <(known $view "$dir/merged.$view") || status='not ok'
            "$etrace" $view "${some[@]}" --from=30M --to=70M \
                > "$dir/found.$view" &&
                cmp "$dir/selected.$view" "$dir/found.$view" || status='not ok'
        done
    } > "$dir/pieces" 2>&1
    result "$status" "pieces add up to the whole, $name"
    sed 's/^/# /' "$dir/pieces"
    [ "$status" = ok ]
}

memory_of() { awk '/^VmRSS/ { print $2 }' "/proc/$1/status"; }

# runs_for PID SECONDS: until the process has had so much more of a processor,
# however busy the machine is
runs_for() {
    local ticks end
    ticks=$(getconf CLK_TCK)
    end=$(($(time_of "$1") + $2 * ticks))
    while [ "$(time_of "$1")" -lt $end ]; do
        sleep 0.1
    done
}

time_of() {
    sed 's/.*) //' "/proc/$1/stat" | awk '{ print $12 + $13 }'
}

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
    # that what the trace takes can be measured
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
    runs_for "$pid" 2
    before=$(memory_of "$pid")
    runs_for "$pid" 5
    after=$(memory_of "$pid")
    echo "# memory of QEMU without collector: $before kB, 5 s later $after kB"
    listen_args "$dir" "$dir/second.trace" "$dir/second.sideband"
    start timeout --foreground -k 5 900 "${listener[@]}"
    if wait "$machine_pid" && finished_well "$dir/console.log"; then
        status=ok
    fi
    result "$status" "the guest survives the death of its collector"
    # the trace of five seconds is several times as much
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

every_mode=(
    implicit-exception=on sequential-jump=on implicit-return=on
    branch-prediction=on jump-target-cache=on
    context-width=30 context=on time-width=64
)

# trTeFilter0: enabled, MatchPrivilege, U of its choice; trTeInstFilters: it
user_mode=(0x404=0x1 0x400=0x3 0x00c=0x1)

# trTeComp0: iaddr >= P and iaddr <= S; trTeFilter0: enabled, MatchComp1.
# Whole pages, because blocks are traced as a whole and end with their page.
from=0xffffffff80200000 to=0xffffffff803fffff
kernel_range=(
    "0x610=0x${from:10}" "0x614=${from:0:10}"
    "0x618=0x${to:10}" "0x61c=${to:0:10}"
    0x600=0x1350 0x404=0 0x400=0x11 0x00c=0x1
)

# CTR records in every mode of every hart, as deep as it can
recording=(sctrdepth=4 mctrctl=7)

if [ $# = 2 ]; then
    for ((boot = 1; boot <= $2; boot++)); do
        registers=()
        [ $((boot % 2)) = 1 ] || registers=("${recording[@]}")
        run "$1 harts, boot $boot${registers:+, recording}" "$1" 0 500000000
    done
    plan
fi

# a boot is a billion instructions, the work several
all=
[ "${1-}" != --all ] || all=yes
[ -z "$all" ] || run 'one hart' 1 1 1000000000
properties=("${every_mode[@]}")
guest_info=$("$etrace" guest-info "$built/guest/Image") ||
    result 'not ok' "the kernel says where its tasks are"
run 'two harts, every mode' 2 1 1000000000
guest_info=
properties=()
[ -z "$all" ] || run 'four harts' 4 0 500000000
registers=("${recording[@]}")
run 'eight harts, recording' 8 0 500000000
registers=("${user_mode[@]}") selection=,priv=0
[ -z "$all" ] || run 'filter to U-mode' 1 1 1000000000
registers=("${kernel_range[@]}") selection=,from=$from,to=$to
properties=("${every_mode[@]}")
run 'filter to a range of the kernel, every mode' 1 0 10000000
[ -z "$all" ] || lost_collector
[ $failed != 0 ] || rm -rf "$out"
plan
