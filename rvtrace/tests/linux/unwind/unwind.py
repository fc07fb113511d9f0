#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# unwind.py PERIOD KERNEL-PERIOD GDB [PATTERN]: see run.sh; chains.py and
# kernel.py say what is compared. GDB: that many stacks of gdb's

import bisect
import collections
import os
import random
import re
import shutil
import subprocess
import sys

import tap
from backtraces import backtraces
from chains import Names, compare, our_samples, true_stacks
from kernel import Kernel, compare_kernel, kernel_stacks
from programs import CHILDREN, PAGES
from tap import need

RVTRACE, OUT, GUEST = (os.environ[n] for n in ('RVTRACE', 'OUT', 'guest'))
PERIOD = int(sys.argv.pop(1))
KERNEL_PERIOD = int(sys.argv.pop(1))
GDB_MOMENTS = int(sys.argv.pop(1))
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
FIRMWARE = range(0x80000000, 0x80200000)    # takes illegal instructions first

INPUT = ['--trace', f'{OUT}/trace', '--sideband', f'{OUT}/side',
         '--sysroot', FOLDER, '--sysroot', f'{OUT}/root/lib',
         '--sysroot', f'{GUEST}/Image']


def our_chains(period, first, *limits):
    """(instruction, program, addresses) of each from the first one on"""
    command = [RVTRACE, 'script', *INPUT, '--period', str(period), '--branches',
               '0', *limits]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        for number, line, chain in our_samples(child.stdout, period, first):
            yield number, line.split()[0], chain
    need(child.returncode == 0, f'rvtrace script: {child.returncode}')


def our_stacks(first, last):
    """{program: {instruction: addresses}}, of the ones from first to last"""
    stacks = collections.defaultdict(dict)
    for number, program, chain in our_chains(
            PERIOD, first, '--from', str(first - PERIOD), '--to',
            str(last + 1)):
        stacks[program][number] = chain
    return stacks


class Moments:
    """What the plugin has seen in the boot, and what rvtrace has"""

    def __init__(self):
        self.true = true_stacks(f'{OUT}/frames')
        need(self.true, 'the plugin has seen no program')
        self.ours = our_stacks(min(self.true), max(self.true))


MOMENTS = Moments()


def test(_, name):
    return judge([name], MOMENTS.ours)


def test_gdb(folder):
    """gdb's own `bt`, at random moments of all programs"""
    need(shutil.which('gdb-multiarch'), 'gdb-multiarch is not installed')
    program = {number: name for name, _ in PROGRAMS
               for number in MOMENTS.ours[name].keys() & MOMENTS.true.keys()}
    moments = sorted(random.Random(1).sample(sorted(program), GDB_MOMENTS))
    ours = collections.defaultdict(dict)
    for number, chain in backtraces(folder, [
            RVTRACE, 'gdbserver', '--listen', 'stdio', *INPUT],
            moments).items():
        ours[program[number]][number] = chain
    return judge(sorted(ours), ours)


def judge(names, ours):
    """Are the stacks of these programs those that the plugin has seen?"""
    kinds, examples = collections.Counter(), []
    for name in names:
        more, differ = differences(name, ours[name])
        kinds += more
        examples += differ
    note = ', '.join(f'{kind}: {many}' for kind, many in kinds.most_common())
    need(len(examples) <= (1 - SHARE) * kinds['compared'] and
         not kinds['below another task'],
         '\n'.join([f'{100 - 100 * len(examples) / kinds["compared"]:.3f} % '
                    f'equal; {note}', *examples[:SHOWN]]))
    return note


def differences(name, ours):
    """What compare() says of the stacks of a program"""
    # Where there is the kernel or the firmware, an instruction of the program
    # has trapped.
    true = {n: MOMENTS.true[n] for n in ours.keys() & MOMENTS.true.keys()
            if ours[n][0] < KERNEL and ours[n][0] not in FIRMWARE}
    wrong = [n for n in true if ours[n][0] != true[n][0][0]]
    need(not wrong, f'{len(wrong)} instructions are not the same')
    kinds, examples = compare(ours, true,
                              Names(f'{FOLDER}/{name}', ROOTS, HANDLERS,
                                    FAULTS))
    need(kinds['compared'] > len(true) / 2,
         f'too few are compared: {kinds.most_common()}')
    return kinds, examples


def test_kernel(folder):
    """Stacks of the kernel, in the whole boot"""
    kernel = Kernel(RVTRACE, f'{GUEST}/Image', f'{folder}/kernel.elf')
    path = f'{OUT}/kernel-frames'
    ours = ((number, chain) for number, _, chain in
            our_chains(KERNEL_PERIOD, KERNEL_PERIOD))
    kinds, examples = compare_kernel(ours, kernel_stacks(path), kernel)
    with open(f'{OUT}/different', 'w', encoding='utf-8') as file:
        print(*examples, sep='\n', file=file)
    note = ', '.join(f'{kind}: {many}' for kind, many in kinds.most_common())
    compared = kinds['same'] + kinds['different']
    need(compared > kinds.total() / 2 and
         kinds['different'] <= (1 - SHARE) * compared,
         '\n'.join([note, *examples[:SHOWN]]))
    return note


def sizes(program):
    """{function: how many instructions it has}, of a program"""
    def lines(*command):
        return subprocess.run(command, stdout=subprocess.PIPE, text=True,
                              check=True).stdout.splitlines()

    addresses = [int(line.split(':')[0], 16) for line in
                 lines('riscv64-linux-gnu-objdump', '-d', program)
                 if re.match(r' *[0-9a-f]+:\t', line)]
    found = {}
    for line in lines('riscv64-linux-gnu-nm', '-S', program):
        symbol = re.fullmatch(r'([0-9a-f]+) ([0-9a-f]+) [tT] (\S+)', line)
        if symbol:
            first, size = int(symbol[1], 16), int(symbol[2], 16)
            found[symbol[3]] = (bisect.bisect_left(addresses, first + size) -
                                bisect.bisect_left(addresses, first))
    return found


def folded(program):
    """(frames, instructions) of each stack of a program"""
    with subprocess.Popen([RVTRACE, 'folded', *INPUT, '--process', program],
                          stdout=subprocess.PIPE, text=True) as child:
        for line in child.stdout:
            stack, insns = line.rsplit(' ', 1)
            yield stack.split(';'), int(insns)
    need(child.returncode == 0, f'rvtrace folded: {child.returncode}')


def caller(name):
    """The only function of "pages" that calls this one; None: it is main()"""
    number = name.rpartition('_')[2]
    return (None if name == 'main' else 'main' if number == '0' else
            f'page_{(int(number) - 1) // CHILDREN}')


def test_totals(_, times):
    """
    Each function of "pages" runs from its beginning to its end, once in each
    run of the program, and has one caller. None is there when it is called
    first: an instruction page fault comes before it has a name.
    """
    size = {name: insns for name, insns in sizes(f'{FOLDER}/pages').items()
            if re.fullmatch(r'main|page_\d+', name)}
    need(len(size) == PAGES + 1, f'{len(size)} functions')
    own, total, faults = (collections.Counter() for _ in range(3))
    for stack, insns in folded('pages'):
        traps = [i for i, name in enumerate(stack) if name.startswith('[') and
                 ' ' in name]
        program = stack[:traps[0]] if traps else stack
        known = [name for name in program if name in size]
        if not known:
            continue
        need(program[-len(known):] == known and known[0] == 'main',
             f'not of functions alone: {";".join(stack)}')
        need(all(caller(name) == above for name, above in
                 zip(known[1:], known)), f'wrong: {";".join(stack)}')
        total.update({name: insns for name in known})
        (faults if traps else own)[known[-1]] += insns
    wrong = [f'{name}: {own[name]}, not {insns * times}'
             for name, insns in size.items() if own[name] != insns * times]
    need(not wrong, '\n'.join(wrong[:SHOWN]))
    below = collections.Counter()
    for name in size:
        below[caller(name)] += total[name]
    wrong = [name for name in size
             if total[name] != own[name] + below[name] + faults[name]]
    need(not wrong, f'totals: {" ".join(wrong[:SHOWN])}')
    need(faults.total() > own.total(), 'there were no faults')
    return f'{total["main"]} instructions'


PROGRAMS = re.findall(r'^(\S+) \d+ (\d+)$', open(
    f'{OUT}/root/programs', encoding='utf-8').read(), re.MULTILINE)
tap.run(f'{OUT}/tests',
        [(name, test, name) for name, _ in PROGRAMS] +
        [('totals', test_totals, int(dict(PROGRAMS)['pages'])),
         ('kernel', test_kernel), ('gdb', test_gdb)])
