#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Filters, comparators and triggers of the trace encoder on running guests:
# what is decoded is what the observer saw, filtered. Speaks TAP.
#
# run.sh [PATTERN]        only tests whose name matches the glob pattern
#
# QEMU, RVTRACE, RETIRED, OUT: as for ../run.sh
set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
build=${RVTRACE_BUILD:-$here/../../build}
export QEMU=${QEMU:-$build/qemu-system-riscv64}
export RVTRACE=${RVTRACE:-$build/rvtrace}
export OUT=${OUT:-$build/check/tcg-filters}
export RETIRED=${RETIRED:-$build/plugins/libretired.so}

mkdir -p "$OUT"
make -s -j 2 -C "$here/../guests" OUT="$OUT" >&2 || {
    echo "Bail out! cannot build the guests"
    exit 1
}
exec python3 "$here/filters.py" "${1:-*}"
