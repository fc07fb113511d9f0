#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# rvtrace live: what runs while the machine runs, from its sockets, on a
# terminal and without one. Speaks TAP.
#
# run.sh [PATTERN]        only tests whose name matches the glob pattern
#
# QEMU, RVTRACE, OUT: as for tests-tcg-riscv64/run.sh
set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
tests=$(cd "$here/../../../../tests-tcg-riscv64" && pwd)
# shellcheck source=../../../../tests-tcg-riscv64/guests/guest.sh
. "$tests/guests/guest.sh" rvtrace-live

have_qemu
make_guest short "$tests/slow-reader/long.c" rv64gc -DROUNDS=1000000
make_guest endless "$tests/slow-reader/long.c" rv64gc -DROUNDS=0x7fffffff
make_guest patching "$here/patching.S" rv64gc

exec python3 "$here/live.py" "${1:-*}"
