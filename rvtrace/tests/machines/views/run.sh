#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Traces a guest, and lets the tools that rvtrace writes files for read them:
# perf, callgrind_annotate, go tool pprof, protoc, uftrace; what they say is
# what was executed. A tool that is not there is a skipped test. Speaks TAP.
#
# run.sh [PATTERN]        only tests whose name matches the glob pattern
#
# QEMU, RVTRACE           qemu-system-riscv64, rvtrace
# OUT                     where the guest and the files of failed tests go
set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
tests=$(cd "$here/../../../../tests-tcg-riscv64" && pwd)
# shellcheck source=../../../../tests-tcg-riscv64/guests/guest.sh
. "$tests/guests/guest.sh" rvtrace-views

have_qemu
make_guests "$guest_dir" dhry.rv64gc vm.rv64gc
make_guest relocs.rv64gc "$guest_dir/dhry.c" rv64gc -Wl,--emit-relocs
exec python3 "$here/views.py" "$@"
