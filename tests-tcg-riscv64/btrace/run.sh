#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# gdb's "record btrace bts" on a guest that was stopped: what gdb shows of the
# past is the end of QEMU's own log of executed pcs. Speaks TAP.
#
# run.sh [--all] [PATTERN]    only tests whose name matches the glob pattern;
#                         --all: the longest histories, too
#
# QEMU                    qemu-system-riscv64
# OUT                     where the guests and the files of failed tests go
set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../guests/guest.sh
. "$here/../guests/guest.sh" btrace

need "$QEMU"
command -v gdb-multiarch >/dev/null || skip_all "gdb-multiarch is not installed"
guests=()
for name in calls exceptions irq tables priv baton; do
    guests+=("$name.rv64gc" "$name.rv32gc")
done
make_guests "$guest_dir" "${guests[@]}" zc.rv64gc
make_guest records "$here/records.S" rv64gc
make_guest spaces "$here/spaces.S" rv64gc
exec python3 "$here/btrace.py" "$@"
