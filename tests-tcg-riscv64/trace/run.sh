#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# trace/run.sh [PATTERN]: trace bare-metal guests, decode what comes with the
# decoder of the unit tests (etrace-pcs), and compare it, instruction by
# instruction, with what a plugin saw retire. Speaks TAP.
#
# QEMU, ETRACE_PCS, RETIRED  qemu-system-riscv64, etrace-pcs, libretired.so
# OUT                        where guests and the files of failed runs go
set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
pattern=${1:-*}
number=0
failed=0
machine=virt,trace=on,trace-chardev=tr,trace-sideband=sb
machine+=,trace-autostart=on

mkdir -p "$OUT"
make -s -C "$here/../guests" OUT="$OUT" >&2 || {
    echo "Bail out! cannot build the guests"
    exit 1
}

result() {
    number=$((number + 1))
    if [ -z "$2" ]; then
        echo "ok $number - $1"
        rm -rf "$dir"
    else
        echo "not ok $number - $1"
        echo "# $2; see $dir"
        failed=1
    fi
}

# compare HART: is the list of pcs that is decoded the plugin's?
compare() {
    "$ETRACE_PCS" "$dir/trace" "$dir/sideband" "$1" >"$dir/decoded" \
        2>"$dir/log" || { tail -n 1 "$dir/log"; return; }
    sed -n "s/^$1 //p" "$dir/pcs" >"$dir/retired"
    cmp "$dir/retired" "$dir/decoded" 2>&1
    [ "$(wc -l <"$dir/decoded")" -gt 300 ] || echo "it is next to nothing"
}

# check NAME GUEST VARIANT HARTS [QEMU-OPTION...]
check() {
    local name=$1 guest=$2 variant=$3 harts=$4 cpu=${3%g*} hart reason=
    shift 4
    # shellcheck disable=SC2254  # it is a pattern
    case $name in $pattern) ;; *) return ;; esac
    case $variant in *g) cpu+=,c=off ;; esac
    [ "$guest" != fpvec ] || cpu+=,v=on
    dir=$OUT/runs/${name//[^A-Za-z0-9-]/_}
    rm -rf "$dir"
    mkdir -p "$dir"
    timeout 120 "$QEMU" \
        -M "$machine" \
        -chardev file,id=tr,path="$dir/trace" \
        -chardev file,id=sb,path="$dir/sideband" \
        -cpu "$cpu" -smp "$harts" -m 128M -display none -monitor none \
        -serial file:"$dir/uart" -bios none \
        -kernel "$OUT/$guest.$variant.elf" \
        -plugin "$RETIRED,out=$dir/truth,pcs=$dir/pcs" "$@" \
        </dev/null >"$dir/log" 2>&1 || reason="QEMU or the guest failed"
    for ((hart = 0; hart < harts; hart++)); do
        [ -n "$reason" ] || reason=$(compare "$hart")
    done
    result "$name" "$reason"
}

for guest in branches calls exceptions hyp irq loops priv reserved smc \
        tables; do
    for variant in rv64gc rv64g rv32gc; do
        [ -f "$OUT/$guest.$variant.elf" ] || continue
        check "$guest $variant" $guest $variant 1
    done
    check "$guest rv64gc, baseline" $guest rv64gc 1 \
        -global riscv-trace-encoder.autostart-modes=baseline
    check "$guest rv64gc, one insn per tb" $guest rv64gc 1 \
        -accel tcg,one-insn-per-tb=on
done
check "baton rv64gc, 2 harts" baton rv64gc 2

# A comparison that cannot fail proves nothing.
dir=$OUT/runs/other
mkdir -p "$dir"
case "another run's trace" in
$pattern)
    for guest in calls tables; do
        rm -f "$dir/trace.kept"
        [ ! -f "$dir/trace" ] || mv "$dir/trace" "$dir/trace.kept"
        timeout 120 "$QEMU" \
            -M "$machine" \
            -chardev file,id=tr,path="$dir/trace" \
            -chardev file,id=sb,path="$dir/sideband" -cpu rv64 -m 128M \
            -display none -monitor none -serial null -bios none \
            -kernel "$OUT/$guest.rv64gc.elf" \
            -plugin "$RETIRED,out=$dir/truth,pcs=$dir/pcs" </dev/null \
            >"$dir/log" 2>&1
    done
    mv "$dir/trace.kept" "$dir/trace"
    reason=
    [ -n "$(compare 0)" ] || reason="that was not noticed"
    result "another run's trace" "$reason"
    ;;
esac

echo "1..$number"
[ $failed -eq 0 ]
