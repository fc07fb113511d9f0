#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Runs bare-metal guests with the trace on, and compares what rvtrace
# decodes with what an independent observer (plugin/retired.c) saw retire.
# Speaks TAP.
#
# run.sh [--some] [PATTERN]   only tests whose name matches the glob pattern;
#                         --some: programs without compressed instructions run
#                         in one way only
#
# QEMU, RVTRACE, RETIRED   qemu-system-riscv64, rvtrace, libretired.so
# OUT                     where the guests and the files of failed runs go
set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=guests/guest.sh
. "$here/guests/guest.sh" guests
some=
if [ "${1-}" = --some ]; then
    some=1
    shift
fi
pattern=${1:-*}

need "$QEMU" "$RVTRACE"
if [ ! -f "$RETIRED" ]; then
    make -s -C "$here/plugin" OUT="$OUT" >&2 || bail "cannot build the observer"
    RETIRED=$OUT/libretired.so
fi
make_guests "$guest_dir"
guests=$(make -s -C "$here/guests" list) || bail "cannot list the guests"

# cpu_of GUEST VARIANT
cpu_of() {
    local cpu=${2%g*}
    case $2 in
    *g) cpu+=,c=off ;;
    esac
    case $1 in
    fpvec) cpu+=,v=on ;;
    zc) cpu+=,d=off,zcmp=on,zcmt=on ;;
    ctr-*) cpu+=,smctr=on,ssctr=on,smcsrind=on,sscsrind=on,smstateen=on ;;
    esac
    echo "$cpu"
}

# qemu GUEST VARIANT PLUGIN-ARGUMENTS [QEMU-OPTION...]: a traced run in $dir
qemu() {
    local guest=$1 variant=$2 plugin=$3
    shift 3
    timeout 120 "$QEMU" \
        -M virt,trace=on,trace-chardev=tr,trace-sideband=sb,trace-autostart=on \
        -chardev file,id=tr,path="$dir/trace" \
        -chardev file,id=sb,path="$dir/sideband" \
        -cpu "$(cpu_of "$guest" "$variant")" -m 128M \
        -display none -monitor none -serial file:"$dir/uart" -bios none \
        -kernel "$OUT/$guest.$variant.elf" \
        -plugin "$RETIRED,out=$dir/truth$plugin" "$@" \
        </dev/null >>"$dir/log" 2>&1
}

# what went wrong in the run that just ended with that status, if anything
guest_result() {
    case $1 in
    0) ;;
    124) echo "the guest did not finish" ;;
    *) echo "the guest failed: $(tail -n 1 "$dir/uart" 2>/dev/null)" ;;
    esac
    # the observer's doubts, errors of QEMU
    if [ "$1" = 0 ] && [ -s "$dir/log" ]; then
        echo "QEMU or the observer complained"
    fi
}

verify() {
    timeout 120 "$RVTRACE" verify --trace "$dir/trace" \
        --sideband "$dir/sideband" --truth "$dir/truth" >>"$dir/log" 2>&1
}

# same_pcs HART: is the decoded list of pcs the observer's, literally?
same_pcs() {
    timeout 120 "$RVTRACE" decode --trace "$dir/trace" \
        --sideband "$dir/sideband" --hart "$1" --emit pc \
        >"$dir/decoded.$1" 2>>"$dir/log" &&
        sed -n "s/^$1 //p" "$dir/pcs" | cmp - "$dir/decoded.$1" \
            >>"$dir/log" 2>&1
}

# check_run NAME GUEST VARIANT HARTS [QEMU-OPTION...]
check_run() {
    local guest=$2 variant=$3 harts=$4 reason hart pcs
    begin "$1" || return
    shift 4
    # harts that wait for each other retire millions
    case $guest-$harts in
    smp-[2-9]|fresh-*) pcs= ;;
    *) pcs=",pcs=$dir/pcs" ;;
    esac
    qemu "$guest" "$variant" "$pcs" -smp "$harts" "$@"
    reason=$(guest_result $?)
    if [ -z "$reason" ] && ! verify; then
        reason="verify: $(tail -n 1 "$dir/log")"
    fi
    for ((hart = 0; hart < harts; hart++)); do
        if [ -z "$reason" ] && [ -n "$pcs" ] && ! same_pcs "$hart"; then
            reason="the pcs of hart $hart differ"
        fi
        # every hart must have had its part
        if [ -z "$reason" ] &&
           ! awk -v h="$hart" '$1 == "E" && $2 == h && $3 > 300 { found = 1 }
                               END { exit !found }' "$dir/truth"; then
            reason="hart $hart did next to nothing"
        fi
    done
    finish "$reason"
}

# As check_run with two harts, of which hart 1 switches its tracing off, and on
# again: what is decoded of it is how it began and how it ended.
check_off() {
    local guest=$2 variant=$3 reason lines first
    begin "$1" || return
    shift 3
    qemu "$guest" "$variant" ",pcs=$dir/pcs" -smp 2 "$@"
    reason=$(guest_result $?)
    if [ -z "$reason" ] && ! same_pcs 0; then
        reason="the pcs of hart 0 differ"
    fi
    if [ -z "$reason" ]; then
        same_pcs 1
        sed -n 's/^1 //p' "$dir/pcs" >"$dir/retired.1"
        lines=$(wc -l <"$dir/decoded.1")
        first=$(cmp "$dir/retired.1" "$dir/decoded.1" | sed 's/.* line //')
        lines=$((lines - ${first:-0} + 1))
        if [ "${first:-0}" -lt 500 ] || [ "$lines" -lt 500 ] ||
           ! cmp <(tail -n "$lines" "$dir/retired.1") \
               <(tail -n "$lines" "$dir/decoded.1") >>"$dir/log" 2>&1; then
            reason="hart 1 did not retire what is decoded (${first:-0} pcs, $lines pcs)"
        fi
    fi
    finish "$reason"
}

# An updiscon into a run of more than 4 GiB: the decoder stops at its target
# too early, and the next packet has an address (not an index) to go on by.
check_far() {
    local guest=$2 variant=$3 reason
    begin "$1" || return
    qemu "$guest" "$variant" ""
    reason=$(guest_result $?)
    if [ -z "$reason" ] &&
       ! timeout 120 "$RVTRACE" decode --trace "$dir/trace" \
           --sideband "$dir/sideband" --emit packets >"$dir/packets" \
           2>>"$dir/log"; then
        reason=$(tail -n 1 "$dir/log")
    fi
    if [ -z "$reason" ] && grep -q 'jump target index' "$dir/packets"; then
        reason="it is an index"
    fi
    finish "$reason"
}

# Every guest in every mode
while read -r guest variant; do
    label="$guest $variant"
    case $guest in
    smp)
        for n in 1 2 4; do
            check_run "$label, $n harts" "$guest" "$variant" $n
            check_run "$label, $n harts, one insn per tb" "$guest" "$variant" \
                $n -accel tcg,one-insn-per-tb=on
        done
        ;;
    baton)
        for n in 1 2 4; do
            check_run "$label, $n harts" "$guest" "$variant" $n
            check_run "$label, $n harts, icount" "$guest" "$variant" $n \
                -icount shift=0
            check_run "$label, $n harts, one thread" "$guest" "$variant" $n \
                -accel tcg,thread=single
        done
        ;;
    fresh)
        for n in 3 4 8; do
            check_run "$label, $n harts" "$guest" "$variant" $n
        done
        ;;
    off)
        check_off "$label" "$guest" "$variant"
        check_off "$label, one thread" "$guest" "$variant" \
            -accel tcg,thread=single
        ;;
    *)
        check_run "$label" "$guest" "$variant" 1
        if [[ -z $some || $variant = *c ]]; then
            check_run "$label, icount" "$guest" "$variant" 1 -icount shift=0
            check_run "$label, one insn per tb" "$guest" "$variant" 1 \
                -accel tcg,one-insn-per-tb=on
        fi
        ;;
    esac
    if [ "$guest" = far ]; then
        check_far "$label, the packet behind it" "$guest" "$variant"
    fi
done <<<"$guests"

# The observer against QEMU's own log of blocks, traps and restarts
for guest in calls exceptions irq priv wfi vm cross hyp reserved; do
    for variant in rv64gc rv32gc; do
        [ -f "$OUT/$guest.$variant.elf" ] || continue
        begin "observer against the log, $guest $variant" || continue
        qemu "$guest" "$variant" ",pcs=$dir/pcs" \
            -accel tcg,one-insn-per-tb=on -d exec,nochain,int -D "$dir/exec"
        reason=$(guest_result $?)
        if [ -z "$reason" ] &&
           ! python3 "$here/harness/exec_log.py" "$dir/exec" "$dir/pcs" \
               "${variant:2:2}" >>"$dir/log" 2>&1; then
            reason=$(tail -n 1 "$dir/log")
        fi
        finish "$reason"
    done
done

# Guests that do not depend on time retire the same in every mode, until the
# last loop, which QEMU ends some time.
for guest in calls exceptions branches tables priv smc vm hyp dhry fpvec; do
    begin "observer in two modes, $guest" || continue
    reason=
    for mode in off on; do
        qemu "$guest" rv64gc ",pcs=$dir/pcs.$mode" \
            -accel tcg,one-insn-per-tb=$mode
        reason+=$(guest_result $?)
    done
    if [ -z "$reason" ]; then
        length=$(stat -c %s "$dir"/pcs.* | sort -n | head -n 1)
        cmp -n "$length" "$dir/pcs.on" "$dir/pcs.off" >>"$dir/log" 2>&1 ||
            reason="they differ"
    fi
    finish "$reason"
done

# A comparison that cannot fail proves nothing: wrong, missing and additional
# instructions in the record, early, late, and behind a checkpoint.
for guest in calls exceptions dhry; do
    case $guest in
    dhry) places='1 1048576 1048577 3000000' ;;
    *) places='1 7 1500' ;;
    esac
    for kind in wrong missing extra; do
        for place in $places; do
            begin "injected: $kind instruction $place, $guest" || continue
            qemu "$guest" rv64gc ",inject=$kind@$place"
            reason=$(guest_result $?)
            if [ -z "$reason" ]; then
                verify
                status=$?
                [ $status -eq 1 ] || reason="verify said $status, not 1"
            fi
            finish "$reason"
        done
    done
done
# The same with the files of two runs mixed
for what in trace sideband truth; do
    begin "another run's $what" || continue
    reason=
    for guest in calls tables; do
        qemu $guest rv64gc ""
        reason+=$(guest_result $?)
        [ $guest = tables ] || mv "$dir/$what" "$dir/kept"
    done
    mv "$dir/kept" "$dir/$what"
    if [ -z "$reason" ] && verify; then
        reason="verify did not notice"
    fi
    finish "$reason"
done

# A debugger steps, looks at every pc, then lets go.
for guest in calls exceptions irq vm smc; do
    for variant in rv64gc rv32g; do
        begin "single steps by gdb, $guest $variant" || continue
        # the name of a socket must be short
        sockets=$(mktemp -d)
        qemu "$guest" "$variant" ",pcs=$dir/pcs" -S \
            -chardev socket,id=gdb,path="$sockets/gdb",server=on,wait=off \
            -gdb chardev:gdb &
        timeout 100 python3 "$here/harness/gdb_step.py" "$sockets" 400 \
            >"$dir/stepped" 2>"$dir/gdb.log"
        stepped=$?
        wait $!
        reason=$(guest_result $?)
        rm -r "$sockets"
        if [ -z "$reason" ] && [ $stepped -ne 0 ]; then
            reason="gdb: $(tail -n 1 "$dir/gdb.log")"
        fi
        if [ -z "$reason" ] && ! { verify && same_pcs 0; }; then
            reason="verify: $(tail -n 1 "$dir/log")"
        fi
        # nothing traps that early in this guest: gdb has seen what retired
        if [ -z "$reason" ] && [ "$guest" = calls ]; then
            cmp <(sed -n 's/^0 //p' "$dir/pcs" | head -n 400) \
                "$dir/stepped" >>"$dir/log" 2>&1 ||
                reason="gdb saw other pcs than the observer"
        fi
        finish "$reason"
    done
done

plan
