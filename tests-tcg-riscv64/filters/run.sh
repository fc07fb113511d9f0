#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Filters, comparators and triggers of the trace encoder on running guests:
# what is decoded is what the observer saw, filtered. Speaks TAP.
#
# run.sh [PATTERN]        only tests whose name matches the glob pattern
#
# QEMU, RVTRACE, RETIRED, OUT: as for ../run.sh
set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../guests/guest.sh
. "$here/../guests/guest.sh" filters

need "$QEMU" "$RVTRACE" "$RETIRED"
make_guests "$guest_dir"

exec python3 "$here/filters.py" "${1:-*}"
