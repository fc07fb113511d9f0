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
# shellcheck source=../guests/guest.sh
. "$here/../guests/guest.sh" tcg-ctr-sample

need "$QEMU" "$RVTRACE"
guests=()
for name in calls exceptions tables priv baton; do
    guests+=("$OUT/$name.rv64gc.elf" "$OUT/$name.rv32gc.elf")
done
make -s -j 2 -C "$guest_dir" OUT="$OUT" "${guests[@]}" >&2 ||
    bail "cannot build the guests"
make_guest records "$here/../btrace/records.S" rv64gc
export PYTHONPATH=$here/..
exec python3 "$here/ctr_sample.py" "${1:-*}"
