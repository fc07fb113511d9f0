#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# rvtrace gdbserver: gdb walks through a traced run, forth and back. Speaks TAP.
#
# run.sh [--all] [PATTERN]
#                         only tests whose name matches the glob pattern;
#                         --all: with four times as many steps
#
# QEMU, RVTRACE           qemu-system-riscv64, rvtrace
# OUT                     where the guests and the files of failed tests go
set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
tests=$(cd "$here/../../../../tests-tcg-riscv64" && pwd)
# shellcheck source=../../../../tests-tcg-riscv64/guests/guest.sh
. "$tests/guests/guest.sh" rvtrace-gdbserver

have_qemu
command -v gdb-multiarch >/dev/null || skip_all "gdb-multiarch is not installed"
guests=()
for name in baton calls exceptions irq loops priv; do
    guests+=("$name.rv64gc" "$name.rv32gc")
done
make_guests "$guest_dir" "${guests[@]}" zc.rv64gc
make_guest dhry-50 "$guest_dir/dhry.c" rv64gc -DROUNDS=50
make_guest dhry-300 "$guest_dir/dhry.c" rv64gc -DROUNDS=300
make_guest dhry-1500 "$guest_dir/dhry.c" rv64gc -DROUNDS=1500
make_guest dhry-400 "$guest_dir/dhry.c" rv64gc -DROUNDS=400
make_guest dhry-lines "$guest_dir/dhry.c" rv64gc -DROUNDS=20 -g
for bits in 64 32; do
    make_guest "returns.rv$bits" "$here/returns.c" "rv${bits}gc"
done
make_guest shared "$here/shared.c" rv64gc
make_guest shared-back "$here/shared.c" rv64gc -DTIME_GOES_BACK
make_guest vectors "$here/vectors.S" rv64gc
make_guest rounds "$here/rounds.S" rv64gc
export STEPS=300
if [ "${1-}" = --all ]; then
    STEPS=1200
    shift
fi
exec python3 "$here/gdbserver.py" "${1:-*}"
