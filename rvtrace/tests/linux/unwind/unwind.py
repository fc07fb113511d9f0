#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# unwind.py PERIOD [PATTERN]: see run.sh; chains.py says what is compared

import collections
import os
import re
import subprocess
import sys

import tap
from chains import Names, compare, true_stacks
from tap import need

RVTRACE, OUT, GUEST = (os.environ[n] for n in ('RVTRACE', 'OUT', 'guest'))
PERIOD = int(sys.argv.pop(1))
FOLDER = f'{OUT}/programs'

# Of the moments, these have to be right.
SHARE = 0.999
SHOWN = 5

# Functions that nothing calls: a stack that has two of them is one of two tasks
ROOTS = {'_start', 'start_thread', *(f'member_{i}' for i in range(5))}

# of signals.c
HANDLERS = {'on_signal', 'on_own_stack', 'on_tick', 'on_jump', 'on_fault'}
FAULTS = {f'fault_{kind}' for kind in ('first', 'last', 'break', 'load')}
KERNEL = 1 << 63    # from there on

INPUT = ['--trace', f'{OUT}/trace', '--sideband', f'{OUT}/side',
         '--sysroot', FOLDER, '--sysroot', f'{OUT}/root/lib',
         '--sysroot', f'{GUEST}/Image']


def our_stacks(first, last):
    """{program: {instruction: addresses}}, of the ones from first to last"""
    stacks = collections.defaultdict(dict)
    command = [RVTRACE, 'script', *INPUT, '--period', str(PERIOD), '--branches',
               '0', '--from', str(first - PERIOD), '--to', str(last + 1)]
    number, chain = first - PERIOD, None
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        for line in child.stdout:
            if line.startswith('\t'):
                chain.append(int(line.split()[0], 16))
            elif line != '\n':
                number += PERIOD
                chain = stacks[line.split()[0]][number] = []
    need(child.returncode == 0, f'rvtrace script: {child.returncode}')
    return stacks


class Moments:
    """What the plugin has seen in the boot, and what rvtrace has"""

    def __init__(self):
        self.true = true_stacks(f'{OUT}/frames')
        need(self.true, 'the plugin has seen no program')
        self.ours = our_stacks(min(self.true), max(self.true))


MOMENTS = Moments()


def test(_, name):
    ours = MOMENTS.ours[name]
    # Where there is the kernel, an instruction of the program has trapped.
    true = {n: MOMENTS.true[n] for n in ours.keys() & MOMENTS.true.keys()
            if ours[n][0] < KERNEL}
    wrong = [n for n in true if ours[n][0] != true[n][0][0]]
    need(not wrong, f'{len(wrong)} instructions are not the same')
    kinds, examples = compare(ours, true,
                              Names(f'{FOLDER}/{name}', ROOTS, HANDLERS,
                                    FAULTS))
    note = ', '.join(f'{kind}: {many}' for kind, many in kinds.most_common())
    need(kinds['compared'] > len(true) / 2, f'too few are compared: {note}')
    need(len(examples) <= (1 - SHARE) * kinds['compared'] and
         not kinds['below another task'],
         '\n'.join([f'{100 - 100 * len(examples) / kinds["compared"]:.3f} % '
                    f'equal; {note}', *examples[:SHOWN]]))
    return note


NAMES = re.findall(r'^(\S+)', open(f'{OUT}/root/programs',
                                   encoding='utf-8').read(), re.MULTILINE)
tap.run(f'{OUT}/tests', [(name, test, name) for name in NAMES])
