#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A traced guest moves to another QEMU in the middle of the trace, or goes back
# to a snapshot: the parts are decoded as one. Speaks TAP.
#
# run.sh [PATTERN]        only tests whose name matches the glob pattern
#
# QEMU, RVTRACE, RETIRED, OUT: as for ../run.sh
set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../guests/guest.sh
. "$here/../guests/guest.sh" migrate
export ACCESSES=$OUT/libaccesses.so

need "$QEMU" "$RVTRACE" "$RETIRED"
make -s -f "$here/../data/plugin.mk" OUT="$OUT" >&2 ||
    bail "cannot build the observer of accesses"
make_guest middle "$here/middle.c" rv64gc
make_guest triggers "$here/triggers.c" rv64gc
# The observer of accesses knows only one address of an instruction.
make_guest middle-data "$here/middle.c" rv64gc -DALIAS=MEMORY

exec python3 "$here/migrate.py" "${1:-*}"
