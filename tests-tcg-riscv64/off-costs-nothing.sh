#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# "Off costs nothing": with CTR absent or idle and trace off, the translator
# emits exactly the ops of a QEMU without the series. Runs each guest on both
# binaries and compares the "-d op" listings, but for host addresses.
#
#   QEMU=ours QEMU_STOCK=stock off-costs-nothing.sh       TAP output
set -u

: "${QEMU:?path of our qemu-system-riscv64}"
: "${QEMU_STOCK:?path of the qemu-system-riscv64 built without the series}"

here=$(dirname "$(readlink -f "$0")")
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
# make_guests ARGUMENT...: what guests/Makefile makes of them
make_guests() {
    make -s -C "$here/guests" "$@" > "$tmp/make.log" 2>&1 ||
        { cat "$tmp/make.log"; echo "Bail out! guests cannot be built"; exit 1; }
}
make_guests OUT="$tmp/guests"

# listing BINARY GUEST OUT [OPTION...]: the ops of every TB, host addresses
# masked. CPU is added to the hart's properties. One thread and CLOCK make both
# runs the same.
CLOCK="-icount shift=0,sleep=off"
listing() {
    local bin=$1 guest=$2 out=$3 cpu=rv64 harts=1
    shift 3
    case $(basename "$guest") in
    off.*) harts=2 ;;           # it waits for the other one
    zc.*) cpu=rv64,d=off,zcmp=on,zcmt=on ;;
    *.rv32*) cpu=rv32 ;;
    esac
    # shellcheck disable=SC2086
    timeout 120 "$bin" -M virt"${MACHINE-}" -cpu "$cpu${CPU-}" -smp $harts \
        -accel tcg,thread=single $CLOCK -bios none -display none -serial none \
        -monitor none -kernel "$guest" -d op -D "$out.raw" "$@" \
        > "$out.err" 2>&1 < /dev/null
    # what follows the address in its low digit is the exit's number
    sed -E 's/\$0x[5-7][0-9a-f]{10}([0-9a-f])/HOST.\1/g' "$out.raw" > "$out"
    [ -s "$out" ]
}

# A return of Zcmp clears bit 0 of ra, which QEMU 10.0 forgets (a patch of the
# series): the listing without that, and so without numbers of temporaries.
without_popret_fix() {
    sed -E 's/\b(loc|tmp)[0-9]+/\1/g' "$1" | awk '
        held != "" {
            if ($0 ~ /^ *mov_i64 pc,loc$/) {
                sub(/loc/, "x1/ra")
            } else {
                print held
            }
            held = ""
        }
        /^ *and_i64 loc,x1\/ra,\$0xfffffffffffffffe$/ { held = $0; next }
        { print }'
}

n=0
fail=0
say() { # STATUS TEXT
    n=$((n + 1))
    [ "$1" = ok ] || fail=1
    echo "$1 $n - $2"
}

# A guest ends by asking for it and spins until it happens: how many blocks
# that takes is left to chance. So the shorter listing must be the beginning
# of the longer one, which may have a little more.
same() {
    local a b
    a=$(wc -l < "$tmp/stock")
    b=$(wc -l < "$tmp/ours")
    lines=$((a < b ? a : b))
    [ $((a > b ? a - b : b - a)) -le 60 ] && [ "$lines" -gt 200 ] &&
        cmp -s <(head -n "$lines" "$tmp/stock") <(head -n "$lines" "$tmp/ours")
}

# alike NAME GUEST: are the listings of both the same? With -icount QEMU cuts a
# block where a timer of the host's is due, and goes on with the other hart: on
# a busy machine that makes 5 in 100 listings of stock QEMU, too, another one.
# What the series changed would be another one each time. So where there is
# another hart, it is tried again.
alike() {
    local which
    for _ in 1 2 3 4 5; do
        : > "$tmp/ours"
        CPU= listing "$QEMU_STOCK" "$2" "$tmp/stock" &&
            listing "$QEMU" "$2" "$tmp/ours" || continue
        case $1 in
        zc.*)
            for which in stock ours; do
                without_popret_fix "$tmp/$which" > "$tmp/masked"
                mv "$tmp/masked" "$tmp/$which"
            done
            ;;
        esac
        ! same || return 0
        case $1 in off.*) ;; *) return 1 ;; esac
    done
    return 1
}

for guest in "$tmp"/guests/*.elf; do
    name=$(basename "$guest" .elf)
    case $name in *.rv64g|*.rv32gc|smp*) continue ;; esac
    # without CTR, and with CTR that records nothing
    for CPU in "" ,smctr=on,ssctr=on; do
        # this one records, if it can
        case $name$CPU in ctr-mix.*,*) continue ;; esac
        if alike "$name" "$guest"; then
            say ok "$name$CPU: $lines lines of ops are stock's"
        elif [ -s "$tmp/ours" ]; then
            diff "$tmp/stock" "$tmp/ours" | head -20 | sed 's/^/# /'
            say "not ok" "$name$CPU: ops differ from stock's"
        else
            sed 's/^/# /' "$tmp"/*.err
            say "not ok" "$name$CPU: no listing"
        fi
    done
done
CPU=

# Traced guests have no timers, so that they need no instruction counting. It
# would cut a block short whenever the host's time has come to write trace.
CLOCK=

# The comparison must be able to fail: a traced run has other ops.
guest=$tmp/guests/calls.rv64gc.elf
MACHINE=,trace=on,trace-autostart=on,trace-chardev=tr \
    listing "$QEMU" "$guest" "$tmp/traced" -chardev "file,id=tr,path=$tmp/trace.bin" &&
    listing "$QEMU" "$guest" "$tmp/ours" &&
    ! cmp -s "$tmp/traced" "$tmp/ours" &&
    grep -q trace_exit "$tmp/traced" &&
    ! grep -q trace_exit "$tmp/ours" &&
    say ok "with trace on the listing is another one" ||
    say "not ok" "with trace on the listing is another one"

# Blocks for an encoder that counts half-words; for others branch history
MACHINE=,trace=on,trace-autostart=on,trace-chardev=tr \
    listing "$QEMU" "$guest" "$tmp/ours" -chardev "file,id=tr,path=$tmp/trace.bin" \
    -global riscv-trace-encoder.sync-mode=3 &&
    grep -q trace_branches "$tmp/traced" &&
    ! grep -q trace_branches "$tmp/ours" &&
    say ok "branch history, but blocks where half-words are counted" ||
    say "not ok" "branch history, but blocks where half-words are counted"

# A block behind which branch history cannot begin costs no more than a block.
# Here that is one that ends in a return: the encoder does not know yet whether
# it is implicit. It is a block because what is before it, in another page,
# ends in lui. What follows it has 200 TBs.
cat > "$tmp/return.S" << EOF
#include "macros.inc"
	.globl	main
main:
	li	s0, 0
	call	f
	.rept	200
	beqz	s0, 1f
1:	nop
	.endr
	PASS
	.option	norvc
	.balign	4096
	.skip	4096 - 4
f:	lui	t1, 1
	ret
EOF
make_guests guest OUT="$tmp" NAME=return VARIANT=rv64gc SOURCE="$tmp/return.S"
modes=trace-modes=sequential-jump+implicit-return
blocks=
MACHINE=,trace=on,trace-autostart=on,trace-chardev=tr,$modes \
    listing "$QEMU" "$tmp/return.elf" "$tmp/ours" \
    -chardev "file,id=tr,path=$tmp/trace.bin" &&
    [ "$(grep -c trace_branches "$tmp/ours")" -ge 200 ] &&
    blocks=$(grep -c trace_exit "$tmp/ours") &&
    [ "$blocks" -ge 1 ] && [ "$blocks" -lt 10 ] &&
    say ok "branch history again soon behind a return ($blocks blocks)" ||
    say "not ok" "branch history again soon behind a return ($blocks blocks)"

# Data trace that is off costs nothing, either: an encoder that could trace
# data leaves the ops of instruction trace as they are.
guest=$tmp/guests/dhry.rv64gc.elf
MACHINE=,trace=on,trace-autostart=on,trace-chardev=tr
set -- -chardev "file,id=tr,path=$tmp/trace.bin"
could=riscv-trace-encoder.data-width=64
if listing "$QEMU" "$guest" "$tmp/stock" "$@" &&
   listing "$QEMU" "$guest" "$tmp/ours" "$@" -global $could; then
    if same; then
        say ok "data trace off: $lines lines of ops are instruction trace's"
    else
        diff "$tmp/stock" "$tmp/ours" | head -20 | sed 's/^/# /'
        say "not ok" "data trace off: ops differ from instruction trace's"
    fi
else
    say "not ok" "data trace off: no listing"
fi
# That the comparison can fail: each load and store of an encoder that takes
# blocks, with and without data, is followed by stores into the ring.
stores() { grep -c '^ *st_i64 ' "$1"; }
listing "$QEMU" "$guest" "$tmp/blocks" "$@" \
    -global riscv-trace-encoder.sync-mode=3 &&
    listing "$QEMU" "$guest" "$tmp/traced" "$@" -global $could \
        -global riscv-trace-encoder.data=on &&
    [ "$(stores "$tmp/traced")" -gt "$(stores "$tmp/blocks")" ] &&
    say ok "with data trace on the listing is another one" ||
    say "not ok" "with data trace on the listing is another one"

# Tasks that are not looked for cost nothing, either, nor does looking for them
# where no instruction moves anything to tp in S mode.
make_guests guest OUT="$tmp" NAME=tasks VARIANT=rv64gc \
    SOURCE="$here/tasks/tasks.S"
tasks=,trace-sideband=sb,trace-guest-info=linux:pid=8:tgid=12:comm=20
set -- -chardev "file,id=tr,path=$tmp/trace.bin" \
    -chardev "file,id=sb,path=$tmp/sideband.bin"
MACHINE=$MACHINE listing "$QEMU" "$tmp/tasks.elf" "$tmp/ours" "$@" &&
    MACHINE=$MACHINE$tasks listing "$QEMU" "$tmp/tasks.elf" "$tmp/traced" \
        "$@" &&
    grep -q trace_task "$tmp/traced" &&
    ! grep -q trace_task "$tmp/ours" &&
    say ok "tasks are looked for if that is wanted only" ||
    say "not ok" "tasks are looked for if that is wanted only"
# The key, which differs, is an argument where a TB must not be interrupted.
guest=$tmp/guests/calls.rv64gc.elf
if MACHINE=$MACHINE,trace-sideband=sb listing "$QEMU" "$guest" "$tmp/stock" \
       "$@" &&
   MACHINE=$MACHINE$tasks listing "$QEMU" "$guest" "$tmp/ours" "$@" &&
   sed -i -E '/call trace_start/s/0x[0-9a-f]{12,16},/KEY,/' "$tmp/stock" \
       "$tmp/ours" &&
   lines=$(cat "$tmp/stock" "$tmp/ours" | wc -l) &&
   [ "$lines" -gt 4000 ] &&
   ! cmp "$tmp/stock" "$tmp/ours" 2> /dev/null | grep -q differ; then
    say ok "no move to tp in S mode: $lines lines of ops are the same"
else
    diff "$tmp/stock" "$tmp/ours" | head -20 | sed 's/^/# /'
    say "not ok" "no move to tp in S mode: ops differ"
fi

echo "1..$n"
exit $fail
