#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Guests in which functions are left in all ways, and stacks are switched: at
# many instructions, call stacks are those that a debugger would see. Speaks
# TAP.
#
# run.sh [--all] [PATTERN]    only tests whose name matches the glob pattern;
#                             --all: at 10,000 instructions of each guest
#
# QEMU, RVTRACE, RETIRED, OUT: as for tests-tcg-riscv64/run.sh
set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
tests=$(cd "$here/../../../../tests-tcg-riscv64" && pwd)
# shellcheck source=../../../../tests-tcg-riscv64/guests/guest.sh
. "$tests/guests/guest.sh" rvtrace-unwind

have_qemu
need "$RETIRED"
make -s -f "$here/plugin.mk" OUT="$OUT" >&2 || bail "cannot build the observer"
exec python3 "$here/unwind.py" "$here" "$@"
