#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Guests that measure and count what they do: the commands that answer questions
# say the same. Speaks TAP.
#
# run.sh [PATTERN]        only tests whose name matches the glob pattern
#
# QEMU, RVTRACE, RETIRED, OUT: as for tests-tcg-riscv64/run.sh
set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
tests=$(cd "$here/../../../../tests-tcg-riscv64" && pwd)
# shellcheck source=../../../../tests-tcg-riscv64/guests/guest.sh
. "$tests/guests/guest.sh" rvtrace-questions

have_qemu
need "$RETIRED"
for name in measured switched; do
    make_guest $name "$here/$name.S" rv64gc "-I$guest_dir"
done
for kind in 1 2 3; do
    make_guest hung.$kind "$here/hung.S" rv64gc "-I$guest_dir" -DKIND=$kind
done
for kind in 1 2 3 4; do
    make_guest deadlock.$kind "$here/deadlock.S" rv64gc "-I$guest_dir" \
        -DKIND=$kind
done
exec python3 "$here/questions.py" "${1:-*}"
