#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Every way to end a trace: what is missing at its end is reported, by QEMU and
# by the decoder, and what is complete is not complained about. Speaks TAP.
#
# run.sh [PATTERN]        only tests whose name matches the glob pattern
#
# QEMU, RVTRACE, RETIRED, OUT: as for tests-tcg-riscv64/run.sh
set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
tests=$(cd "$here/../../../../tests-tcg-riscv64" && pwd)
# shellcheck source=../../../../tests-tcg-riscv64/guests/guest.sh
. "$tests/guests/guest.sh" rvtrace-ends

have_qemu
need "$RETIRED"
make_guest long "$tests/slow-reader/long.c" rv64gc
make_guest endless "$tests/slow-reader/long.c" rv64gc -DROUNDS=2000000000

exec python3 "$here/ends.py" "${1:-*}"
