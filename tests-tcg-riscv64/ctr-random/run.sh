#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Random programs on the hart against a model of CTR written from the text.
#
#   QEMU=qemu-system-riscv64 run.sh [TRANSFERS]             TAP output
#
# TRANSFERS is for each of 12 runs (default 500000). Then every mutant
# of the model, each with one rule wrong, must be found out, and every kind
# of outcome must have been seen.
#
# WRONG=BITS (default 0) runs a model that has those rules wrong from the
# start, to learn what another implementation does: QEMU 10.0 without the
# series agrees with WRONG=3 (mutants 0 and 1) and with no other.
set -u

: "${QEMU:?path of qemu-system-riscv64}"
WRONG=${WRONG:-0}
transfers=${1:-500000}
here=$(dirname "$(readlink -f "$0")")
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# shellcheck source=../harness/tap.sh
. "$here/../harness/tap.sh"

make -s -C "$here" OUT="$tmp" > "$tmp/make.log" 2>&1 ||
    { cat "$tmp/make.log"; bail "the guest cannot be built"; }

ctr=smctr=on,ssctr=on,smcsrind=on,sscsrind=on
stateen=1
zcm=2
stop=4

# run MUTANTS CPU FLAGS SEED TRANSFERS: the guest's output in $tmp/out
run() {
    timeout 120 "$QEMU" -M virt -cpu "$2,$ctr" -smp 1 -bios none \
        -display none -serial stdio -monitor none \
        -kernel "$tmp/ctr-random.elf" \
        -device loader,addr=0x82000000,data="$4",data-len=8 \
        -device loader,addr=0x82000008,data="$5",data-len=8 \
        -device loader,addr=0x82000010,data="$3",data-len=8 \
        -device loader,addr=0x82000018,data="$1",data-len=8 \
        > "$tmp/out" 2> "$tmp/err" < /dev/null
}

# Fails unless the run came to its end.
summary() { grep -a '^transfers=' "$tmp/out"; }

# QEMU 10.0 does not let mstateen0.JVT be set, so CM.JT and CM.JALT need a
# hart without Smstateen.
total=0
seed=0
while read -r name flags cpu; do
    for _ in 1 2; do
        seed=$((seed + 1))
        run "$WRONG" "$cpu" "$flags" "$seed" "$transfers"
        status=$?
        grep -a '^seen ' "$tmp/out" >> "$tmp/seen"
        if sum=$(summary) && [ $status = 0 ] && [[ $sum = *differences=0 ]]
        then
            result ok "$name, seed $seed: $sum"
        else
            grep -a '^#' "$tmp/out" | head -8
            head -3 "$tmp/err" | sed 's/^/# /'
            result "not ok" "$name, seed $seed: ${sum:-exit status $status}"
        fi
        [ -z "$sum" ] ||
            total=$((total + $(sed 's/transfers=//; s/ .*//' <<< "$sum")))
    done
done << END
hypervisor $stateen rv64,h=on,smstateen=on,sscofpmf=on
no-stateen 0 rv64,h=on,smstateen=off,sscofpmf=on
no-hypervisor $stateen rv64,h=off,smstateen=on,sscofpmf=on
not-compressed $stateen rv64,c=off,h=on,smstateen=on,sscofpmf=on
zcmp-zcmt $zcm rv64,h=on,d=off,zcmp=on,zcmt=on,smstateen=off,sscofpmf=on
no-sscofpmf $stateen rv64,h=on,smstateen=on,sscofpmf=off
END
echo "# $total transfers"

# What must have happened somewhere, or the agreement says nothing about it
missing=
must() { # OUTCOME WHAT...
    local outcome=$1
    shift
    for what; do
        grep -q "^seen $outcome $what=" "$tmp/seen" ||
            missing="$missing $outcome:$what"
    done
}
jumps="indirect-call direct-call indirect-jump direct-jump swap return
    other-indirect other-direct"
all="exception interrupt trap-return not-taken taken $jumps"
to_lower="M>S M>U M>VS M>VU S>U S>VS S>VU VS>VU"
to_higher="U>S U>M S>M VU>VS VU>S VU>M VS>S VS>M"
must disabled $all $to_lower $to_higher
must while-frozen $all
must filtered $all $to_lower $to_higher
must recorded $all $to_lower $to_higher
must no-source exception interrupt $to_higher
must no-target trap-return $to_lower
must external exception interrupt $to_higher
must external-off exception interrupt $to_higher
must ras-call indirect-call direct-call
must ras-return return
must ras-swap swap
must ras-ignored exception interrupt trap-return not-taken taken \
    indirect-jump direct-jump other-indirect other-direct $to_lower $to_higher
must freezes exception interrupt $to_higher
[ -z "$missing" ] &&
    result ok "every outcome of every type and mode was seen" ||
    result "not ok" "every outcome of every type and mode was seen, but$missing"

# Each mutant on its own, on the variant that has most
for mutant in {0..31}; do
    bits=$((WRONG ^ 1 << mutant))
    run $bits rv64,h=on,smstateen=on,sscofpmf=on \
        $((stateen + stop)) 99 500000
    if ! sum=$(summary); then
        result "not ok" "mutant $mutant: no result"
    elif [[ $sum = *differences=0 ]]; then
        result "not ok" "mutant $mutant is not found out: $sum"
    else
        result ok "mutant $mutant: $sum"
    fi
done

plan
