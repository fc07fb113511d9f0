#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The trace devices and whatever a guest, a monitor or a migration may do to
# them: at random, from a seed, on machines that are traced meanwhile. Nothing
# may crash or hang, and QEMU still answers and ends. Speaks TAP.
#
# run.sh [PATTERN]        only tests whose name matches the glob pattern
#
# SEED=N                  another run than the usual one
# TIMES=N                 so many times as many rounds
# QEMU, OUT: as for ../run.sh
set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../guests/guest.sh
. "$here/../guests/guest.sh" fuzz

need "$QEMU"
make_guest endless "$here/../slow-reader/long.c" rv64gc -DROUNDS=2000000000

exec python3 "$here/fuzz.py" "${1:-*}"
