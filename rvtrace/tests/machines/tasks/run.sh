#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A guest that switches tasks: the tasks that the sideband reports, and the
# instructions behind which they change, are those that the guest switched.
# Speaks TAP.
#
# run.sh [PATTERN]        only tests whose name matches the glob pattern
#
# QEMU, RVTRACE, RETIRED, OUT: as for tests-tcg-riscv64/run.sh
set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
tests=$(cd "$here/../../../../tests-tcg-riscv64" && pwd)
# shellcheck source=../../../../tests-tcg-riscv64/guests/guest.sh
. "$tests/guests/guest.sh" rvtrace-tasks

have_qemu
need "$RETIRED"
for variant in rv64gc rv64g rv32gc; do
    make_guest "tasks.$variant" "$here/tasks.S" $variant
done

exec python3 "$here/tasks.py" "${1:-*}"
