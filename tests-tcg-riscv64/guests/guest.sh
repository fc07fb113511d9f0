# SPDX-License-Identifier: GPL-2.0-or-later
#
# What tests with guests share: where things are, guests of their own, TAP. To
# be sourced by bash scripts, with the name of $OUT below build/check:
#
#     . "$here/../guests/guest.sh" example

guest_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=${RVTRACE_BUILD:-$guest_dir/../../build}
export QEMU=${QEMU:-$build/qemu-system-riscv64}
export RVTRACE=${RVTRACE:-$build/rvtrace}
export RETIRED=${RETIRED:-$build/plugins/libretired.so}
export OUT=${OUT:-$build/check/$1}
# As `meson test` does, for tests that are run by hand: freed memory is not what
# it was.
export MALLOC_PERTURB_=${MALLOC_PERTURB_:-165}
export PYTHONPATH=$guest_dir/../harness PYTHONDONTWRITEBYTECODE=1
mkdir -p "$OUT"
# shellcheck source=../harness/tap.sh
. "$guest_dir/../harness/tap.sh"

# need FILE...: what 'make build' makes
need() {
    local file
    for file; do
        [ -e "$file" ] || bail "$file is missing: make build"
    done
}

# have_qemu: for tests of rvtrace, which is built without one
have_qemu() {
    need "$RVTRACE"
    [ -e "$QEMU" ] || skip_all "there is no QEMU: make build"
}

# make_guests FOLDER [NAME...]: all of its guests, or those (GUEST.VARIANT), in
# $OUT. Those in $GUESTS are compiled once for all tests, which may run at a
# time.
make_guests() {
    local folder=$1 gcc=${CROSS:-riscv64-linux-gnu-}gcc elves=() name
    local shared=$OUT
    [ -z "${GUESTS-}" ] || shared=$GUESTS/$(basename "$(dirname "$folder")")
    shift
    command -v "$gcc" >/dev/null ||
        bail "$gcc is missing (package gcc-riscv64-linux-gnu)"
    mkdir -p "$shared"
    for name; do
        elves+=("$shared/$name.elf")
    done
    flock "$shared" make -s -j 2 -C "$folder" OUT="$shared" "${elves[@]}" >&2 ||
        bail "cannot build the guests"
    [ "$shared" = "$OUT" ] || ln -sf "$shared"/*.elf "$OUT/"
}

# make_guest NAME SOURCE VARIANT [OPTION...]: $OUT/NAME.elf, as the others
make_guest() {
    local name=$1 source=$2 variant=$3
    shift 3
    make -s -C "$guest_dir" guest NAME="$name" SOURCE="$source" \
        VARIANT="$variant" OPTIONS="$*" OUT="$OUT" >&2 ||
        bail "cannot build $name"
}
