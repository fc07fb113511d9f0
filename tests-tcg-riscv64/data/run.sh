#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Runs guests with data trace, and compares the accesses that rvtrace
# decodes with what an independent observer (accesses.c) saw: pc, type, size,
# address, data, order. Speaks TAP.
#
# run.sh [--some] [PATTERN]   only tests whose name matches the glob pattern;
#                         --some: each guest, and each way to run it and to
#                         write accesses down, but few guests in all ways
#
# QEMU, RVTRACE, ACCESSES  qemu-system-riscv64, rvtrace, libaccesses.so
# OUT                     where the guests and the files of failed runs go
set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../guests/guest.sh
. "$here/../guests/guest.sh" data
ACCESSES=${ACCESSES:-$OUT/libaccesses.so}
some=
if [ "${1-}" = --some ]; then
    some=1
    shift
fi
pattern=${1:-*}

need "$QEMU" "$RVTRACE"
if [ "$ACCESSES" = "$OUT/libaccesses.so" ]; then
    make -s -f "$here/plugin.mk" OUT="$OUT" >&2 ||
        bail "cannot build the observer"
fi
make_guests "$here/guests"
make_guests "$guest_dir"

cpu_of() {
    case $1 in
    vector.* | fpvec.*) echo rv64,v=on ;;
    rv64.*) echo rv64,zacas=on ;;
    push.* | zc.*) echo rv64,d=off,zcmp=on,zcmt=on ;;
    *.rv32*) echo rv32 ;;
    *) echo rv64 ;;
    esac
}

# qemu GUEST PROPERTIES PLUGIN-ARGUMENTS [QEMU-OPTION...]: a run in $dir.
# Properties of the encoder, separated by commas, besides data trace
qemu() {
    local guest=$1 plugin=$3 properties=() p
    for p in data-width=64 data=on ${2//,/ }; do
        properties+=(-global "riscv-trace-encoder.$p")
    done
    shift 3
    timeout 120 "$QEMU" "${properties[@]}" \
        -M virt,trace=on,trace-chardev=tr,trace-sideband=sb,trace-autostart=on \
        -chardev "${chardev:-file,id=tr,path=$dir/trace}" \
        -chardev file,id=sb,path="$dir/sideband" \
        -cpu "$(cpu_of "$guest")" -m 128M -display none -monitor none \
        -serial file:"$dir/uart" -bios none -kernel "$OUT/$guest.elf" \
        -plugin "$ACCESSES,out=$dir/observed$plugin" "$@" \
        </dev/null >>"$dir/log" 2>&1 || {
        echo "the guest failed: $(tail -n 1 "$dir/uart")"
        return
    }
    [ ! -s "$dir/log" ] || echo "QEMU complained"
}

# decode HART WHAT [OPTION...]
decode() {
    local hart=$1 what=$2
    shift 2
    timeout 120 "$RVTRACE" decode --trace "$dir/trace" \
        --sideband "$dir/sideband" --hart "$hart" --emit "$what" "$@" \
        >"$dir/$what.$hart" 2>>"$dir/log"
}

# compare HART [OPTION...]
compare() {
    local hart=$1
    shift
    decode "$hart" data --strict &&
        python3 "$here/compare.py" "$dir/observed" "$hart" "$dir/data.$hart" \
            "$@" >>"$dir/log" 2>&1
}

# check NAME GUEST PROPERTIES COMPARE-OPTIONS [QEMU-OPTION...]
check() {
    local guest=$2 properties=$3 options=$4 reason
    begin "$1" || return
    shift 4
    case $guest in
    csr.*)
        case $guest in
        *.rv32*) ones=ffffffff ;;
        *) ones=ffffffffffffffff ;;
        esac
        sed "s/ONES/$ones/" "$here/csr.expected" >"$dir/csr"
        options+=" --csr $dir/csr"
        ;;
    hlv.*) options+=" --unseen 2" ;;
    esac
    reason=$(qemu "$guest" "$properties" "" "$@")
    # shellcheck disable=SC2086  # several options
    if [ -z "$reason" ] && ! compare 0 $options; then
        reason=$(tail -n 1 "$dir/log")
    fi
    finish "$reason"
}

# Every kind of access, in every way to run
for guest in {scalar,csr}.rv{64,32}gc {vector,rv64,hlv,push}.rv64gc \
             {calls,exceptions,branches,tables,vm}.rv{64,32}gc \
             {smc,priv,hyp,fpvec,zc,dhry,irq}.rv64gc; do
    check "$guest" "$guest" "" ""
    case $some$guest in
    1scalar.rv64gc | 1exceptions.rv32gc | 1vm.rv64gc | 1irq.rv64gc) ;;
    1*) continue ;;
    esac
    check "$guest, one insn per tb" "$guest" "" "" \
        -accel tcg,one-insn-per-tb=on
    check "$guest, icount" "$guest" "" "" -icount shift=0
done

# Every way to write it down
guests=(scalar.rv64gc vector.rv64gc)
[ -n "$some" ] || guests+=(scalar.rv32gc dhry.rv64gc)
for guest in "${guests[@]}"; do
    for compress in 0 1 2; do
        check "$guest, trTeDataAddrCompress $compress" "$guest" \
            data-compress=$compress ""
    done
    check "$guest, no values" "$guest" data-no-value=on --novalue
    check "$guest, syncs" "$guest" sync-mode=1,sync-max=0 ""
    # vl was set ahead of the synchronisation
    check "$guest, syncs by half-words" "$guest" sync-mode=3,sync-max=0 "" \
        -accel tcg,one-insn-per-tb=on
    check "$guest, times" "$guest" time-width=64 "" \
        -accel tcg,one-insn-per-tb=on
    check "$guest, timestamps, srcID of 3 bits" "$guest" \
        timestamp-width=40,timestamp-mode=2,src-bits=3,src-id=5 ""
    check "$guest, 2.1-draft" "$guest" wire-format=2.1-draft ""
    check "$guest, 1.1.1" "$guest" wire-format=1.1.1 ""
done
# Without addresses, nothing says where one vector ends.
for guest in scalar.rv64gc scalar.rv32gc dhry.rv64gc; do
    check "$guest, no addresses" "$guest" data-no-addr=on --noaddr
done

# Several harts
for guest in baton.rv64gc; do
    begin "$guest, 2 harts" || continue
    reason=$(qemu $guest "" "" -smp 2)
    for hart in 0 1; do
        if [ -z "$reason" ] && ! compare $hart; then
            reason="hart $hart: $(tail -n 1 "$dir/log")"
        fi
    done
    finish "$reason"
done

# A filter by address traces the accesses of what is in its range, and those
# are put to their instructions. The range begins and ends in the middle of TBs.
for guest in calls dhry; do
    begin "$guest, filter by address" || continue
    case $guest in
    calls) first=fib+2 last=deep-2 ;;
    dhry) first=copy+2 last=insert+20 ;;
    esac
    for end in first last; do
        at=${!end}
        base=$(riscv64-linux-gnu-nm "$OUT/$guest.rv64gc.elf" |
            awk -v name="${at%[+-]*}" '$3 == name { print $1 }')
        printf -v $end %x $((16#$base + ${at#"${at%[+-]*}"}))
    done
    reason=$(qemu "$guest.rv64gc" "filter=pc=0x$first-0x$last" "")
    if [ -z "$reason" ] && ! compare 0 --within "$first-$last"; then
        reason=$(tail -n 1 "$dir/log")
    fi
    finish "$reason"
done

# pcs are those of instruction trace alone
if begin "pcs beside data"; then
    reason=$(qemu vm.rv64gc "" "")
    if [ -z "$reason" ] && ! {
        decode 0 pc && decode 0 pc,data && decode 0 data &&
            cmp <(grep -v ' ' "$dir/pc,data.0") "$dir/pc.0" &&
            cmp <(grep ' ' "$dir/pc,data.0") "$dir/data.0"
    } >>"$dir/log" 2>&1; then
        reason="they differ"
    fi
    finish "$reason"
fi

# trTeInstSyncMode 2 counts cycles whatever else is traced: as many
# synchronizations with data trace as without, give or take one in a hundred.
if begin "synchronization by cycles beside data"; then
    reason='' syncs=()
    for data in off on; do
        [ -n "$reason" ] || reason=$(qemu dhry.rv64gc \
            "sync-mode=2,sync-max=4,data=$data" "" -icount shift=0)
        syncs[${#syncs[@]}]=$("$RVTRACE" decode --trace "$dir/trace" \
            --sideband "$dir/sideband" --emit packets 2>>"$dir/log" |
            grep -c '^inst format=3 subformat=0')
    done
    difference=$((syncs[0] > syncs[1] ? syncs[0] - syncs[1]
                                      : syncs[1] - syncs[0]))
    [ -n "$reason" ] || [ "${syncs[0]}" -gt 1000 ] ||
        reason="${syncs[0]} synchronizations only"
    [ -n "$reason" ] || [ $((100 * difference)) -le "${syncs[0]}" ] ||
        reason="${syncs[0]} synchronizations without data, ${syncs[1]} with"
    finish "$reason"
fi

# Data trace alone, data filters, on and off
if begin "registers and filters"; then
    reason=$(qemu control.rv64gc "" "")
    if [ -z "$reason" ] && ! decode 0 data; then
        reason="decode failed"
    fi
    if [ -z "$reason" ] &&
       ! awk '$4 ~ /^801000/ { sub(/^[0-9a-f]+/, "pc"); print }' \
           "$dir/data.0" |
           diff - <(grep -v '^#' "$here/control.expected") >>"$dir/log"; then
        reason="other accesses"
    fi
    finish "$reason"
fi

# A reader that does not keep up: packets are lost, and that is said; or only
# those of data, before the hart is stalled. What can still be put to
# instructions is right.
for how in stall=off data-drop=on; do
    begin "slow reader, $how" || continue
    # the name of a socket must be short
    sockets=$(mktemp -d)
    python3 "$here/slow-reader.py" "$sockets" "$dir/trace" \
        >"$dir/ready" 2>>"$dir/log" &
    reader=$!
    while [ ! -s "$dir/ready" ] && kill -0 $reader 2>>"$dir/log"; do
        sleep 0.1
    done
    reason=$(chardev=socket,id=tr,path=$sockets/tr qemu dhry.rv64gc "$how" "" \
        -qtest "unix:$sockets/qtest,server=on,wait=off" -qtest-log /dev/null)
    wait $reader || reason+="; the reader: $(tail -n 1 "$dir/log")"
    rm -r "$sockets"
    : >"$dir/log"
    if [ -z "$reason" ] && decode 0 data --strict; then
        reason="nothing was lost"
    elif [ -z "$reason" ] && ! grep -q dloss "$dir/log"; then
        reason="it is not said that data was lost"
    elif [ -z "$reason" ] && [ "$how" = data-drop=on ] &&
         grep -q trace_lost "$dir/log"; then
        reason="instructions were lost"
    elif [ -z "$reason" ] &&
         ! { python3 "$here/compare.py" "$dir/observed" 0 "$dir/data.0" \
             --lossy >>"$dir/log" 2>&1 &&
             [ "$(grep -vc '^-' "$dir/data.0")" -gt 1000 ]; }; then
        reason=$(tail -n 1 "$dir/log")
    fi
    finish "$reason"
done

# A comparison that cannot fail proves nothing.
for place in 1 100 5000; do
    begin "injected: accesses $place exchanged" || continue
    reason=$(qemu calls.rv64gc "" ",swap=$place")
    if [ -z "$reason" ] && compare 0; then
        reason="not noticed"
    fi
    finish "$reason"
done

plan
