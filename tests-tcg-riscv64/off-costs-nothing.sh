#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# "Off costs nothing": with CTR absent and trace off, the translator emits
# exactly the ops of a QEMU without the series. Runs each guest on both
# binaries and compares the "-d op" listings, but for host addresses.
#
#   QEMU=ours STOCK=stock off-costs-nothing.sh GUEST.elf...      TAP output
set -u

: "${QEMU:?path of our qemu-system-riscv64}"
: "${STOCK:?path of the qemu-system-riscv64 built without the series}"
[ $# -gt 0 ] || { echo "usage: QEMU=.. STOCK=.. $0 GUEST.elf..." >&2; exit 2; }

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# listing BINARY GUEST OUT [OPTION...]: the ops of every TB, host addresses
# masked. One thread and instruction counting make both runs the same.
listing() {
    local bin=$1 guest=$2 out=$3 cpu=rv64
    shift 3
    case $guest in *rv32*) cpu=rv32 ;; esac
    timeout 120 "$bin" -M virt"${MACHINE-}" -cpu $cpu -smp 1 -bios none \
        -display none -serial none -monitor none -kernel "$guest" \
        -icount shift=0,sleep=off -d op -D "$out.raw" "$@" \
        > "$out.err" 2>&1 < /dev/null
    # what follows the address in its low digit is the exit's number
    sed -E 's/\$0x[5-7][0-9a-f]{10}([0-9a-f])/HOST.\1/g' "$out.raw" > "$out"
    [ -s "$out" ]
}

n=0
fail=0
say() { # STATUS TEXT
    n=$((n + 1))
    [ "$1" = ok ] || fail=1
    echo "$1 $n - $2"
}

for guest; do
    name=$(basename "$guest" .elf)
    if listing "$STOCK" "$guest" "$tmp/stock" &&
       listing "$QEMU" "$guest" "$tmp/ours"; then
        if cmp -s "$tmp/stock" "$tmp/ours"; then
            say ok "$name: $(wc -l < "$tmp/ours") lines of ops are stock's"
        else
            diff "$tmp/stock" "$tmp/ours" | head -20 | sed 's/^/# /'
            say "not ok" "$name: ops differ from stock's"
        fi
    else
        sed 's/^/# /' "$tmp"/*.err
        say "not ok" "$name: no listing"
    fi
done

# The comparison must be able to fail: a traced run has other ops.
guest=$1
MACHINE=,trace=on,trace-autostart=on,trace-chardev=tr \
    listing "$QEMU" "$guest" "$tmp/traced" -chardev null,id=tr &&
    listing "$QEMU" "$guest" "$tmp/ours" &&
    ! cmp -s "$tmp/traced" "$tmp/ours" &&
    grep -q trace_drain "$tmp/traced" &&
    ! grep -q trace_drain "$tmp/ours" &&
    say ok "with trace on the listing is another one" ||
    say "not ok" "with trace on the listing is another one"

echo "1..$n"
exit $fail
