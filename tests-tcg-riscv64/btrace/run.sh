#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# gdb's "record btrace bts" on a guest that was stopped: what gdb shows of the
# past is the end of QEMU's own log of executed pcs. Speaks TAP.
#
# run.sh [PATTERN]        only tests whose name matches the glob pattern
#
# QEMU                    qemu-system-riscv64
# OUT                     where the guests and the files of failed tests go
set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../guests/guest.sh
. "$here/../guests/guest.sh" tcg-btrace

need "$QEMU"
command -v gdb-multiarch >/dev/null ||
    { echo "1..0 # SKIP gdb-multiarch is not installed"; exit 0; }
guests=()
for name in calls exceptions irq tables priv baton; do
    guests+=("$OUT/$name.rv64gc.elf" "$OUT/$name.rv32gc.elf")
done
make -s -j 2 -C "$guest_dir" OUT="$OUT" "${guests[@]}" "$OUT/zc.rv64gc.elf" \
    >&2 || bail "cannot build the guests"
make_guest records "$here/records.S" rv64gc
make_guest spaces "$here/spaces.S" rv64gc
export PYTHONPATH=$here/..
exec python3 "$here/btrace.py" "${1:-*}"
