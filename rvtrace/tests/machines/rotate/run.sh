#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# listen --rotate: a trace in pieces, each of which is decoded by itself and
# compared with what the plugin saw retire. Speaks TAP.
#
# run.sh [PATTERN]        only tests whose name matches the glob pattern
#
# QEMU, RVTRACE, RETIRED, OUT: as for tests-tcg-riscv64/run.sh
set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
tests=$(cd "$here/../../../../tests-tcg-riscv64" && pwd)
# shellcheck source=../../../../tests-tcg-riscv64/guests/guest.sh
. "$tests/guests/guest.sh" rvtrace-rotate

have_qemu
need "$RETIRED"
make_guest short "$tests/slow-reader/long.c" rv64gc -DROUNDS=100000
make_guest patching "$here/../live/patching.S" rv64gc

exec python3 "$here/rotate.py" "${1:-*}"
