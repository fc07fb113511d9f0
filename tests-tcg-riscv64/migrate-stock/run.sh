#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Machines that come from, or go to, the same QEMU without the series. Speaks
# TAP.
#
# run.sh [PATTERN]        only tests whose name matches the glob pattern
#
# QEMU, QEMU_STOCK, OUT: the two of them, and a folder for files
set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../guests/guest.sh
. "$here/../guests/guest.sh" migrate-stock
export QEMU_STOCK=${QEMU_STOCK:-$build/stock/qemu-system-riscv64}

need "$QEMU"
[ -e "$QEMU_STOCK" ] || bail "$QEMU_STOCK is missing: make stock"
make -s -C "$here/../ctr" OUT="$OUT" "$OUT/migrate.elf" >&2 ||
    bail "cannot build the guest"

exec python3 "$here/stock.py" "${1:-*}"
