#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Random programs of user mode, with threads that come and go, signals at any
# time, faults, code that is written, made, and mapped at other places: what is
# decoded of each thread is what it began to execute, by a plugin, but for what
# trapped. Speaks TAP.
#
# run.sh [--all] [OPTION...]      options of programs.py; --all: more and longer
#
# QEMU_USER, RVTRACE, OUT: as for tests-tcg-riscv64/run.sh
# XLEN=32                         qemu-riscv32
set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
tests=$(cd "$here/../../../tests-tcg-riscv64" && pwd)
# shellcheck source=../../../tests-tcg-riscv64/guests/guest.sh
. "$tests/guests/guest.sh" "rvtrace-user-random${XLEN-}"

export XLEN=${XLEN:-64} GUESTS=$tests
export QEMU_USER=${QEMU_USER:-$build/qemu-riscv64}
QEMU_USER=${QEMU_USER%64}$XLEN
[ -e "$QEMU_USER" ] || skip_all "there is no qemu-riscv$XLEN: make build"
need "$RVTRACE"
# shellcheck disable=SC2046     # words
gcc -shared -fPIC -O2 -Wall -I "${QEMU_INCLUDE:-$build/qemu/include/qemu}" \
    -o "$OUT/libexecuted.so" "$here/../user/executed.c" \
    $(pkg-config --cflags --libs glib-2.0 gmodule-2.0) ||
    bail "the plugin cannot be built"
gcc -O2 -Wall -Wextra -o "$OUT/compare" "$here/compare.c" ||
    bail "compare.c cannot be built"

options=(--count 16)
if [ "${1-}" = --all ]; then
    options=(--from 101 --count 200 --long 10)
    shift
fi
export PYTHONPATH=$PYTHONPATH:$tests/random
# a file for each thread
ulimit -n 4096
exec python3 "$here/programs.py" "${options[@]}" "$@"
