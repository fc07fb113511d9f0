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

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=guests/guest.sh
. "$here/guests/guest.sh" off-costs-nothing
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
make_guests "$here/guests"

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

# same_blocks: as same, by block instead of in order. With -icount QEMU cuts a
# block where a timer of the host's is due, and goes on with the other hart: so
# compares the longest block at each address where both have one.
same_blocks() {
    lines=$(python3 - "$tmp/stock" "$tmp/ours" << 'PYTHON'
import re, sys
def blocks(path):
    found = {}
    for text in re.split(r'^OP.*$', open(path).read(), flags=re.M)[1:]:
        start = re.search(r'^ ---- (\S+)', text, re.M)[1]
        found[start] = max(found.get(start, ''), text, key=len)
    return found
stock, ours = map(blocks, sys.argv[1:])
both = stock.keys() & ours.keys()
print(sum(ours[start].count('\n') for start in both))
sys.exit(len(both) < 0.9 * min(len(stock), len(ours)) or
         any(stock[start] != ours[start] for start in both))
PYTHON
    ) && [ "$lines" -gt 200 ]
}

# alike NAME GUEST: are the listings of both the same?
alike() {
    local which
    : > "$tmp/ours"
    CPU= listing "$QEMU_STOCK" "$2" "$tmp/stock" &&
        listing "$QEMU" "$2" "$tmp/ours" || return 1
    case $1 in
    zc.*)
        for which in stock ours; do
            without_popret_fix "$tmp/$which" > "$tmp/masked"
            mv "$tmp/masked" "$tmp/$which"
        done
        ;;
    esac
    case $1 in
    off.*) same_blocks ;;
    *) same ;;
    esac
}

for guest in "$OUT"/*.rv64gc.elf "$OUT"/*.rv32g.elf; do
    name=$(basename "$guest" .elf)
    case $name in smp*) continue ;; esac
    # without CTR, and with CTR that records nothing
    for CPU in "" ,smctr=on,ssctr=on; do
        # this one records, if it can
        case $name$CPU in ctr-mix.*,*) continue ;; esac
        if alike "$name" "$guest"; then
            result ok "$name$CPU: $lines lines of ops are stock's"
        elif [ -s "$tmp/ours" ]; then
            diff "$tmp/stock" "$tmp/ours" | head -20 | sed 's/^/# /'
            result 'not ok' "$name$CPU: ops differ from stock's"
        else
            sed 's/^/# /' "$tmp"/*.err
            result 'not ok' "$name$CPU: no listing"
        fi
    done
done
CPU=

# Traced guests have no timers, so that they need no instruction counting. It
# would cut a block short whenever the host's time has come to write trace.
CLOCK=

# The comparison must be able to fail: a traced run has other ops.
guest=$OUT/calls.rv64gc.elf
MACHINE=,trace=on,trace-autostart=on,trace-chardev=tr \
    listing "$QEMU" "$guest" "$tmp/traced" -chardev "file,id=tr,path=$tmp/trace.bin" &&
    listing "$QEMU" "$guest" "$tmp/ours" &&
    ! cmp -s "$tmp/traced" "$tmp/ours" &&
    grep -q trace_exit "$tmp/traced" &&
    ! grep -q trace_exit "$tmp/ours" &&
    result ok "with trace on the listing is another one" ||
    result 'not ok' "with trace on the listing is another one"

# Blocks for an encoder that counts half-words; for others branch history
MACHINE=,trace=on,trace-autostart=on,trace-chardev=tr \
    listing "$QEMU" "$guest" "$tmp/ours" -chardev "file,id=tr,path=$tmp/trace.bin" \
    -global riscv-trace-encoder.sync-mode=3 &&
    grep -q trace_branches "$tmp/traced" &&
    ! grep -q trace_branches "$tmp/ours" &&
    result ok "branch history, but blocks where half-words are counted" ||
    result 'not ok' "branch history, but blocks where half-words are counted"

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
make_guest return "$tmp/return.S" rv64gc
modes=trace-modes=sequential-jump+implicit-return
blocks=
MACHINE=,trace=on,trace-autostart=on,trace-chardev=tr,$modes \
    listing "$QEMU" "$OUT/return.elf" "$tmp/ours" \
    -chardev "file,id=tr,path=$tmp/trace.bin" &&
    [ "$(grep -c trace_branches "$tmp/ours")" -ge 200 ] &&
    blocks=$(grep -c trace_exit "$tmp/ours") &&
    [ "$blocks" -ge 1 ] && [ "$blocks" -lt 10 ] &&
    result ok "branch history again soon behind a return ($blocks blocks)" ||
    result 'not ok' "branch history again soon behind a return ($blocks blocks)"

# Data trace that is off costs nothing, either: an encoder that could trace
# data leaves the ops of instruction trace as they are.
guest=$OUT/dhry.rv64gc.elf
MACHINE=,trace=on,trace-autostart=on,trace-chardev=tr
set -- -chardev "file,id=tr,path=$tmp/trace.bin"
could=riscv-trace-encoder.data-width=64
if listing "$QEMU" "$guest" "$tmp/stock" "$@" &&
   listing "$QEMU" "$guest" "$tmp/ours" "$@" -global $could; then
    if same; then
        result ok "data trace off: $lines lines of ops are instruction trace's"
    else
        diff "$tmp/stock" "$tmp/ours" | head -20 | sed 's/^/# /'
        result 'not ok' "data trace off: ops differ from instruction trace's"
    fi
else
    result 'not ok' "data trace off: no listing"
fi
# That the comparison can fail: each load and store of an encoder that takes
# blocks, with and without data, is followed by stores into the ring.
stores() { grep -c '^ *st_i64 ' "$1"; }
listing "$QEMU" "$guest" "$tmp/blocks" "$@" \
    -global riscv-trace-encoder.sync-mode=3 &&
    listing "$QEMU" "$guest" "$tmp/traced" "$@" -global $could \
        -global riscv-trace-encoder.data=on &&
    [ "$(stores "$tmp/traced")" -gt "$(stores "$tmp/blocks")" ] &&
    result ok "with data trace on the listing is another one" ||
    result 'not ok' "with data trace on the listing is another one"

# Tasks that are not looked for cost nothing, either, nor does looking for them
# where no instruction moves anything to tp in S mode.
make_guest tasks "$here/../rvtrace/tests/machines/tasks/tasks.S" rv64gc
tasks=,trace-sideband=sb,trace-guest-info=linux:pid=8:tgid=12:comm=20
set -- -chardev "file,id=tr,path=$tmp/trace.bin" \
    -chardev "file,id=sb,path=$tmp/sideband.bin"
MACHINE=$MACHINE listing "$QEMU" "$OUT/tasks.elf" "$tmp/ours" "$@" &&
    MACHINE=$MACHINE$tasks listing "$QEMU" "$OUT/tasks.elf" "$tmp/traced" \
        "$@" &&
    grep -q trace_task "$tmp/traced" &&
    ! grep -q trace_task "$tmp/ours" &&
    result ok "tasks are looked for if that is wanted only" ||
    result 'not ok' "tasks are looked for if that is wanted only"
# The key, which differs, is an argument where a TB must not be interrupted.
guest=$OUT/calls.rv64gc.elf
if MACHINE=$MACHINE,trace-sideband=sb listing "$QEMU" "$guest" "$tmp/stock" \
       "$@" &&
   MACHINE=$MACHINE$tasks listing "$QEMU" "$guest" "$tmp/ours" "$@" &&
   sed -i -E '/call trace_start/s/0x[0-9a-f]{12,16},/KEY,/' "$tmp/stock" \
       "$tmp/ours" &&
   lines=$(cat "$tmp/stock" "$tmp/ours" | wc -l) &&
   [ "$lines" -gt 4000 ] &&
   ! cmp "$tmp/stock" "$tmp/ours" 2> /dev/null | grep -q differ; then
    result ok "no move to tp in S mode: $lines lines of ops are the same"
else
    diff "$tmp/stock" "$tmp/ours" | head -20 | sed 's/^/# /'
    result 'not ok' "no move to tp in S mode: ops differ"
fi

plan
