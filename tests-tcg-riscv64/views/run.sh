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
# shellcheck source=../guests/guest.sh
. "$here/../guests/guest.sh" tcg-views

need "$QEMU" "$RVTRACE"
make -s -C "$guest_dir" OUT="$OUT" "$OUT/dhry.rv64gc.elf" \
    "$OUT/vm.rv64gc.elf" >&2 || bail "cannot build the guests"
export PYTHONPATH=$here/..
exec python3 "$here/views.py" "$@"
