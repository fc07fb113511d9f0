#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# rvtrace gdbserver with data trace: registers and memory of the past are those
# that a plugin has seen, at many instructions, or unavailable. Speaks TAP.
#
# run.sh [--all] [PATTERN]    only tests whose name matches the glob pattern;
#                             --all: more of them, at 3000 instructions each
#
# QEMU, RVTRACE, RETIRED, OUT: as for tests-tcg-riscv64/run.sh
set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
tests=$(cd "$here/../../../../tests-tcg-riscv64" && pwd)
# shellcheck source=../../../../tests-tcg-riscv64/guests/guest.sh
. "$tests/guests/guest.sh" rvtrace-state

have_qemu
need "$RETIRED"
make -s -f "$here/plugin.mk" OUT="$OUT" >&2 || bail "cannot build the observer"
make_guests "$guest_dir"
make_guests "$tests/data/guests"
make_guest dhry-50 "$guest_dir/dhry.c" rv64gc -DROUNDS=50
make_guest dhry-50.rv32 "$guest_dir/dhry.c" rv32gc -DROUNDS=50
make_guest dhry-zb "$guest_dir/dhry.c" rv64gc -DROUNDS=50 \
    -march=rv64gc_zba_zbb_zbs
make_guest gap "$here/gap.S" rv64gc
exec python3 "$here/state.py" "$@"
