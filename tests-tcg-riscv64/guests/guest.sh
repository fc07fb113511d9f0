# SPDX-License-Identifier: GPL-2.0-or-later
#
# What tests with guests share: where things are, guests of their own, TAP. To
# be sourced by bash scripts, with the name of $OUT below build/check:
#
#     . "$here/../guests/guest.sh" tcg-example

guest_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=${RVTRACE_BUILD:-$guest_dir/../../build}
export QEMU=${QEMU:-$build/qemu-system-riscv64}
export RVTRACE=${RVTRACE:-$build/rvtrace}
export RETIRED=${RETIRED:-$build/plugins/libretired.so}
export OUT=${OUT:-$build/check/$1}
mkdir -p "$OUT"

# Names of tests are matched with it.
shopt -s extglob
pattern='*'
number=0
failed=0

bail() {
    echo "Bail out! $1"
    exit 1
}

# need FILE...: what 'make build' makes
need() {
    local file
    for file; do
        [ -e "$file" ] || bail "$file is missing: make build"
    done
}

# make_guests FOLDER: in $OUT
make_guests() {
    local gcc=${CROSS:-riscv64-linux-gnu-}gcc
    command -v "$gcc" >/dev/null ||
        bail "$gcc is missing (package gcc-riscv64-linux-gnu)"
    make -s -j 2 -C "$1" OUT="$OUT" >&2 ||
        bail "cannot build the guests"
}

# make_guest NAME SOURCE VARIANT [OPTION...]: $OUT/NAME.elf, as the others
make_guest() {
    local name=$1 source=$2 variant=$3
    shift 3
    make -s -C "$guest_dir" guest NAME="$name" SOURCE="$source" \
        VARIANT="$variant" OPTIONS="$*" OUT="$OUT" >&2 ||
        bail "cannot build $name"
}

ok() {
    number=$((number + 1))
    echo "ok $number - $1"
}

# not_ok NAME REASON: says why and shows the end of the run's log
not_ok() {
    number=$((number + 1))
    failed=$((failed + 1))
    echo "not ok $number - $1"
    echo "# $2"
    if [ -s "$dir/log" ]; then
        tail -n 15 "$dir/log" | sed 's/^/# /'
    fi
}

# begin NAME: false if $pattern does not want the test; else makes its folder,
# $dir
begin() {
    # shellcheck disable=SC2254  # it is a pattern
    case $1 in
    $pattern) ;;
    *) return 1 ;;
    esac
    name=$1
    dir=$OUT/runs/${name//[^A-Za-z0-9-]/_}
    rm -rf "$dir"
    mkdir -p "$dir"
}

# finish REASON: the test's result; an empty reason is success
finish() {
    if [ -n "$1" ]; then
        not_ok "$name" "$1; see $dir"
    else
        ok "$name"
        rm -rf "$dir"
    fi
}
