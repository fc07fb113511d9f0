#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# rvtrace ctr-sample on machines that run: what it has sampled is what QEMU's
# own log of executed pcs says. Speaks TAP.
#
# run.sh [PATTERN]        only tests whose name matches the glob pattern
#
# QEMU                    qemu-system-riscv64
# RVTRACE                 rvtrace
# OUT                     where the guests and the files of failed tests go
set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
tests=$(cd "$here/../../../../tests-tcg-riscv64" && pwd)
# shellcheck source=../../../../tests-tcg-riscv64/guests/guest.sh
. "$tests/guests/guest.sh" rvtrace-ctr-sample

have_qemu
guests=()
for name in calls exceptions tables priv baton; do
    guests+=("$name.rv64gc" "$name.rv32gc")
done
make_guests "$guest_dir" "${guests[@]}"
make_guest records "$tests/btrace/records.S" rv64gc
exec python3 "$here/ctr_sample.py" "${1:-*}"
