#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What the hart signals to its encoder beside instructions: context, time,
# triggers. The values in the packets are those of the guest. Speaks TAP.
#
# run.sh [PATTERN]        only tests whose name matches the glob pattern
#
# QEMU, RVTRACE, OUT: as for tests-tcg-riscv64/run.sh
set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
tests=$(cd "$here/../../../../tests-tcg-riscv64" && pwd)
# shellcheck source=../../../../tests-tcg-riscv64/guests/guest.sh
. "$tests/guests/guest.sh" rvtrace-signals

have_qemu
make_guest signals "$here/signals.S" rv64gc
make_guest scontext "$here/scontext.S" rv64gc
make_guest times "$here/times.S" rv64gc

exec python3 "$here/signals.py" "${1:-*}"
