#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# rvtrace gdbserver: gdb walks through a traced run, forth and back. Speaks TAP.
#
# run.sh [PATTERN]        only tests whose name matches the glob pattern
#
# QEMU, RVTRACE           qemu-system-riscv64, rvtrace
# OUT                     where the guests and the files of failed tests go
set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../guests/guest.sh
. "$here/../guests/guest.sh" tcg-gdbserver

need "$QEMU" "$RVTRACE"
command -v gdb-multiarch >/dev/null ||
    { echo "1..0 # SKIP gdb-multiarch is not installed"; exit 0; }
guests=()
for name in baton calls exceptions irq loops priv; do
    guests+=("$OUT/$name.rv64gc.elf" "$OUT/$name.rv32gc.elf")
done
make -s -j 2 -C "$guest_dir" OUT="$OUT" "${guests[@]}" "$OUT/zc.rv64gc.elf" \
    >&2 || bail "cannot build the guests"
make_guest dhry-50 "$guest_dir/dhry.c" rv64gc -DROUNDS=50
make_guest dhry-100 "$guest_dir/dhry.c" rv64gc -DROUNDS=100
make_guest rounds "$here/rounds.S" rv64gc
export PYTHONPATH=$here/..
exec python3 "$here/gdbserver.py" "${1:-*}"
