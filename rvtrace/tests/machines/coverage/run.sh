#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Coverage of a program that was traced against gcov's of the same program,
# and what lcov's own programs make of it. Speaks TAP.
#
# run.sh [PATTERN]        only tests whose name matches the glob pattern
set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
tests=$(cd "$here/../../../../tests-tcg-riscv64" && pwd)
# shellcheck source=../../../../tests-tcg-riscv64/guests/guest.sh
. "$tests/guests/guest.sh" rvtrace-coverage
pattern=${1:-*}

have_qemu
source=$here/covered.c

# traced NAME: run $OUT/NAME.elf; the trace is in $dir
traced() {
    timeout 60 "$QEMU" \
        -M virt,trace=on,trace-chardev=tr,trace-sideband=sb,trace-autostart=on \
        -chardev file,id=tr,path="$dir/trace" \
        -chardev file,id=sb,path="$dir/sideband" \
        -m 128M -display none -monitor none -serial file:"$dir/uart" \
        -bios none -kernel "$OUT/$1.elf" </dev/null >>"$dir/log" 2>&1
}

# coverage NAME [OPTION...]: of $OUT/NAME.elf, to $dir/info
coverage() {
    local name=$1
    shift
    "$RVTRACE" coverage --trace "$dir/trace" --sideband "$dir/sideband" \
        --elf "$OUT/$name.elf" -o "$dir/info" "$@" >>"$dir/log" 2>&1
}

gcov_says() {
    (cd "$dir" && cp "$source" . &&
        gcc -O0 --coverage -DHOST -o host covered.c &&
        ./host && gcov ./*.gcno) >>"$dir/log" 2>&1
}

# same NAME OPTIMISATION [--optimised]
same() {
    make_guest "$1" "$source" rv64gc "$2" -Wno-unused-function
    traced "$1" || { echo "the guest failed"; return; }
    coverage "$1" --include '*/covered.c' ||
        { echo "rvtrace failed"; return; }
    gcov_says || { echo "gcov failed"; return; }
    "$here/lines.py" "$dir/covered.c.gcov" "$dir/info" covered.c ${3-} \
        >>"$dir/log" || { echo "lines differ"; return; }
    if [ -n "${3-}" ]; then
        # inlined or not: only one of the functions never runs
        awk -F'[:,]' '/^FNDA/ && !$2 { print $3 }' "$dir/info" |
            cmp -s - <(echo never) || echo "other functions ran"
        return
    fi
    # as many directions of branches as gcov has, and as many taken
    gcov=$(cd "$dir" && gcov -b ./*.gcno | awk '/^Taken at least once/ {
        split($0, f, /[:% ]+/); print f[5], f[7]; exit }')
    ours=$(awk -F: '/^BRF/ { n = $2 } /^BRH/ { h = $2 }
                    END { printf "%.2f %d\n", 100 * h / n, n }' "$dir/info")
    [ "$gcov" = "$ours" ] || echo "branches: gcov $gcov, trace $ours"
}

if begin "lines, counts and branches are gcov's"; then
    finish "$(same covered-O0 -O0)"
fi

if begin "functions and lines that ran, optimised"; then
    finish "$(same covered-O2 -O2 --optimised)"
fi

if begin "lcov and genhtml read it"; then
    reason=
    make_guest covered "$source" rv64gc -O2 -Wno-unused-function
    if ! command -v genhtml >/dev/null; then
        reason="genhtml is missing (package lcov)"
    elif ! traced covered || ! coverage covered; then
        reason="the run failed"
    else
        # what lcov counts is what the file says of itself
        said=$(awk -F: '/^LF/ { n += $2 } /^LH/ { h += $2 }
                        END { print h " of " n }' "$dir/info")
        lcov --rc lcov_branch_coverage=1 --rc branch_coverage=1 \
            --summary "$dir/info" >"$dir/summary" 2>&1 ||
            reason="lcov does not read it"
        grep -q "lines.*(${said/ of / of } lines)" "$dir/summary" ||
            reason="lcov counts other lines than $said"
        # as genhtml of lcov 2 wants it
        awk -F '[:,]' '/^(FN|BRDA):/ { named[$2] = 1 } /^DA:/ { code[$2] = 1 }
                       END { for (l in named) { if (!(l in code)) exit 1 } }' \
            "$dir/info" || reason="a function or branch is where no code is"
        genhtml --branch-coverage -o "$dir/html" "$dir/info" \
            >>"$dir/log" 2>&1 || reason="genhtml does not read it"
        [ -f "$dir/html/index.html" ] || reason="genhtml wrote nothing"
    fi
    finish "$reason"
fi

if begin "--fail-under"; then
    reason=
    make_guest covered-O0 "$source" rv64gc -O0 -Wno-unused-function
    traced covered-O0 || reason="the guest failed"
    coverage covered-O0 --include '*/covered.c' --fail-under 50 ||
        reason="status $? above the limit"
    coverage covered-O0 --include '*/covered.c' --fail-under 99.9
    status=$?
    [ $status = 1 ] || reason="status $status below the limit"
    grep -q -- '--fail-under asks for 99.9 %' "$dir/log" ||
        reason="no message"
    finish "$reason"
fi

if begin "drcov has what ran"; then
    reason=
    make_guest covered-O0 "$source" rv64gc -O0 -Wno-unused-function
    traced covered-O0 || reason="the guest failed"
    "$RVTRACE" coverage --format drcov-text --trace "$dir/trace" \
        --sideband "$dir/sideband" --elf "$OUT/covered-O0.elf" \
        -o "$dir/drcov" >>"$dir/log" 2>&1 || reason="rvtrace failed"
    "$RVTRACE" decode --trace "$dir/trace" --sideband "$dir/sideband" \
        --hart 0 --emit pc | sort -u >"$dir/pcs"
    python3 - "$dir/drcov" "$dir/pcs" <<'PYTHON' || reason="other addresses"
import re, sys
text = open(sys.argv[1]).read()
base = int(re.search(r'^ *0, 0x([0-9a-f]+),', text, re.M)[1], 16)
ran = set()
for start, size in re.findall(r'^module\[ *0\]: 0x([0-9a-f]+), *(\d+)$', text,
                              re.M):
    first = base + int(start, 16)
    ran.update(range(first, first + int(size), 2))
# below are those of the machine's reset code
pcs = {int(line, 16) for line in open(sys.argv[2])
       if int(line, 16) >= 0x80000000}
# an instruction of 4 bytes has a half-word where none begins
sys.exit(0 if pcs and pcs <= ran and
         ran <= pcs | {pc + 2 for pc in pcs} else 1)
PYTHON
    finish "$reason"
fi

if begin "decode --output writes the same"; then
    reason=
    make_guest covered "$source" rv64gc -O2 -Wno-unused-function
    traced covered || reason="the guest failed"
    files=(--trace "$dir/trace" --sideband "$dir/sideband"
           --elf "$OUT/covered.elf")
    outputs=()
    for kind in lcov drcov drcov-text pgo-llvm pgo-bolt pgo-gcov; do
        case $kind in
        pgo-*) command=pgo ;;
        *) command=coverage ;;
        esac
        "$RVTRACE" $command --format "${kind#pgo-}" "${files[@]}" \
            -o "$dir/alone.$kind" >>"$dir/log" 2>&1 || reason="$kind failed"
        [ -s "$dir/alone.$kind" ] || reason="$kind is empty"
        outputs+=(--output "$kind=$dir/one.$kind")
    done
    "$RVTRACE" decode "${files[@]}" "${outputs[@]}" >>"$dir/log" 2>&1 ||
        reason="decode failed"
    for kind in lcov drcov drcov-text pgo-llvm pgo-bolt pgo-gcov; do
        cmp -s "$dir/alone.$kind" "$dir/one.$kind" ||
            reason="$kind is another one"
    done
    "$RVTRACE" decode "${files[@]}" --output lcov=/dev/null \
        --fail-under 99.9 >>"$dir/log" 2>&1
    status=$?
    [ $status = 1 ] || reason="status $status below --fail-under"
    finish "$reason"
fi

plan
