#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A reader that does not read for a while: harts stall, or packets are lost,
# data packets before instruction packets if so wanted. Speaks TAP.
#
# run.sh [PATTERN]        only tests whose name matches the glob pattern
#
# QEMU, RVTRACE, RETIRED, OUT: as for ../run.sh
set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../guests/guest.sh
. "$here/../guests/guest.sh" slow-reader

need "$QEMU" "$RVTRACE" "$RETIRED"
make_guest long "$here/long.c" rv64gc
make_guest timed "$here/long.c" rv64gc -DTIMED

exec python3 "$here/slow.py" "${1:-*}"
