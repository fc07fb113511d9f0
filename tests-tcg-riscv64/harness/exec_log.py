#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# exec_log.py LOG PCS 32|64 [no-self]
#
# Compare the observer's list of retired pcs with QEMU's log of the same run,
# made with -d exec,nochain,int -accel tcg,one-insn-per-tb=on. For one hart.
# As a module: what such a log says of any number of harts.
#
# The log has a "Trace" line for each instruction that is about to execute.
# It did not retire if a synchronous exception follows with that epc, unless
# it is one of the next instruction's fetch. no-self: no instruction jumps to
# itself, so that there is no such exception (but of a jump's table, Zcmt).

import re
import sys

TRACE = re.compile(r'^Trace (\d+): \S+ \[[0-9a-f]+/([0-9a-f]+)/')
STOPPED = 'Stopped execution of TB chain'
TRAP = re.compile(r'riscv_cpu_do_interrupt: hart:(\d+), async:(\d), '
                  r'cause:([0-9a-f]+), epc:0x([0-9a-f]+)')
FETCH = (1, 12, 20)     # access, page and guest page fault


def executed(path, mask=2 ** 64 - 1, standing=False):
    """
    The pcs of the instructions that began to execute, in lists by hart.
    standing: and the one before which the machine was stopped last, if the
    log ends there
    """
    pcs = {}
    last = []           # of the hart that the log is at
    before = []         # what it did not execute
    with open(path, encoding='utf-8', errors='replace') as log:
        for line in log:
            trace = TRACE.match(line)
            if trace:
                last = pcs.setdefault(int(trace[1]), [])
                last.append(int(trace[2], 16) & mask)
                before = []
            elif line.startswith(STOPPED):
                before = [last.pop()]
    if standing:
        last += before
    return pcs


def retired(path, mask, fetch, order=None):
    """
    The pcs of the instructions that retired, in lists by hart. fetch: causes of
    exceptions that are of the next instruction. order: a list, which gets the
    hart of each instruction
    """
    order = [] if order is None else order
    pcs = {}
    began = {}          # by hart: the last one, with nothing after it yet
    last = 0            # the hart that the log is at
    with open(path, encoding='utf-8', errors='replace') as log:
        for line in log:
            trace = TRACE.match(line)
            if trace:
                last = int(trace[1])
                pcs.setdefault(last, []).append(int(trace[2], 16) & mask)
                order.append(last)
                began[last] = True
                continue
            if line.startswith(STOPPED):
                pcs[last].pop()
                order.pop()
                began[last] = False
                continue
            trap = TRAP.search(line)
            if not trap:
                continue
            hart = int(trap[1])
            epc = int(trap[4], 16) & mask
            if (trap[2] == '0' and int(trap[3], 16) not in fetch and
                    began.get(hart) and pcs[hart][-1] == epc):
                pcs[hart].pop()
                order.pop()
            began[hart] = False
    return pcs


def main():
    if len(sys.argv) not in (4, 5):
        sys.exit('usage: exec_log.py LOG PCS 32|64 [no-self]')
    expected = retired(sys.argv[1], (1 << int(sys.argv[3])) - 1,
                       () if sys.argv[4:] == ['no-self'] else FETCH).get(0, [])
    with open(sys.argv[2], encoding='ascii') as pcs:
        seen = [int(line.split()[1], 16) for line in pcs]
    for i, (a, b) in enumerate(zip(expected, seen)):
        if a != b:
            sys.exit(f'instruction {i + 1}: log {a:x}, observer {b:x}')
    if len(expected) != len(seen):
        sys.exit(f'log {len(expected)} instructions, observer {len(seen)}')
    if len(seen) < 1000:
        sys.exit(f'only {len(seen)} instructions')
    print(f'{len(seen)} instructions are the same')


if __name__ == '__main__':
    main()
