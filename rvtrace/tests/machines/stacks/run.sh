#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Guests that leave functions in other ways than by returning from them, or in
# which stacks are switched: call stacks are those that their source says.
# Speaks TAP.
#
# run.sh [PATTERN]        only tests whose name matches the glob pattern
#
# QEMU, RVTRACE, OUT: as for tests-tcg-riscv64/run.sh
set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
tests=$(cd "$here/../../../../tests-tcg-riscv64" && pwd)
# shellcheck source=../../../../tests-tcg-riscv64/guests/guest.sh
. "$tests/guests/guest.sh" rvtrace-stacks

have_qemu
for source in "$here"/*.S; do
    name=$(basename "$source" .S)
    [ "$name" = recursion ] ||
        make_guest "$name" "$source" rv64gc "-I$here" "-I$guest_dir"
done
for depth in 600 100000; do
    make_guest "recursion-$depth" "$here/recursion.S" rv64gc "-I$here" \
        "-I$guest_dir" "-DDEPTH=$depth"
done
exec python3 "$here/stacks.py" "$here" "${1:-*}"
