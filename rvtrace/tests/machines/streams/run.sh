#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What the two streams of a run say of themselves: files of different runs are
# refused, and timestamps are what QEMU's clock was, or said not to be.
# Speaks TAP.
#
# run.sh [PATTERN]        only tests whose name matches the glob pattern
#
# QEMU, RVTRACE, OUT: as for tests-tcg-riscv64/run.sh
set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
tests=$(cd "$here/../../../../tests-tcg-riscv64" && pwd)
# shellcheck source=../../../../tests-tcg-riscv64/guests/guest.sh
. "$tests/guests/guest.sh" rvtrace-streams

have_qemu
make_guest idle "$here/idle.S" rv64gc

exec python3 "$here/streams.py" "${1:-*}"
