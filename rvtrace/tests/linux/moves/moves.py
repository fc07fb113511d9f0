#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# moves.py PERIOD KERNEL-PERIOD [PATTERN]: see run.sh; chains.py and kernel.py
# say what is compared

import filecmp
import os
import re
import subprocess
import sys
from collections import Counter, defaultdict

import tap
from chains import Names, compare, true_stacks_of_harts
from kernel import Kernel, compare_kernel, kernel_stacks
from tap import LIMIT, need

RVTRACE, OUT, GUEST = (os.environ[n] for n in ('RVTRACE', 'OUT', 'guest'))
PERIOD = int(sys.argv.pop(1))
KERNEL_PERIOD = int(sys.argv.pop(1))
PROGRAM = f'{OUT}/root/bin/wander'
HARTS = 2

# Of the moments, these have to be right.
SHARE = 0.999
SHOWN = 5

# Where the C library, which has no call frame information, begins a thread
ROOT = 'start_thread'
KERNEL = 1 << 63    # from there on
FIRMWARE = range(0x80000000, 0x80200000)    # takes illegal instructions first

INPUT = ['--trace', f'{OUT}/trace', '--sideband', f'{OUT}/side',
         '--sysroot', f'{OUT}/root', '--sysroot', f'{GUEST}/Image']


def our_stacks(period, first=None):
    """
    (hart, instruction, program, task, addresses) of each from the first one on, a
    hart's in turn
    """
    first = first or period
    numbers, head, chain = defaultdict(lambda: first - period), None, []

    def sample():
        program, tid, cpu = re.match(r'(.+?)\s+(-?\d+) \[(\d+)\]', head).groups()
        numbers[int(cpu)] += period
        return int(cpu), numbers[int(cpu)], program, int(tid), chain

    with subprocess.Popen([RVTRACE, 'script', *INPUT, '--period', str(period),
                           '--branches', '0', '--from', str(first - period)],
                          stdout=subprocess.PIPE, text=True) as child:
        for line in child.stdout:
            if line.startswith('\t'):
                chain.append(int(line.split()[0], 16))
            elif line.strip():
                if head:
                    yield sample()
                head, chain = line, []
        yield sample()
    need(child.returncode == 0, f'rvtrace script: {child.returncode}')


def thread(chain, names):
    """A chain up to where the thread begins"""
    ends = [i for i, address in enumerate(chain) if names.at(address) == ROOT]
    return chain[:ends[0] + 1] if ends else chain


def test_program(_):
    """Stacks of the threads and child processes"""
    true = true_stacks_of_harts(f'{OUT}/frames')
    ours, harts_of = defaultdict(dict), defaultdict(set)
    first = min(min(stacks) for stacks in true.values())
    for hart, number, program, tid, chain in our_stacks(PERIOD, first):
        if program == 'wander' and chain[0] < KERNEL and \
                chain[0] not in FIRMWARE:
            ours[hart][number] = chain
            harts_of[tid].add(hart)
    need(sum(len(harts) == HARTS for harts in harts_of.values()) >= 5,
         f'of {len(harts_of)} threads, few have moved')
    kinds, examples = Counter(), []
    names = Names(PROGRAM, {ROOT})
    for hart in range(HARTS):
        both = ours[hart].keys() & true[hart].keys()
        wrong = [n for n in both if ours[hart][n][0] != true[hart][n][0][0]]
        # one that has trapped retires later, or never
        need(len(wrong) <= len(both) / 1000,
             f'{len(wrong)} instructions are not the same')
        some, shown = compare(
            {n: thread(ours[hart][n], names) for n in both - set(wrong)},
            {n: (thread(chain, names), traps,
                 'end' if names.at(chain[-1]) == ROOT else why)
             for n, (chain, traps, why) in true[hart].items()}, names)
        kinds += some
        examples += shown
    note = ', '.join(f'{kind}: {many}' for kind, many in kinds.most_common())
    with open(f'{OUT}/different-program', 'w', encoding='utf-8') as file:
        print(*examples, sep='\n', file=file)
    need(kinds['compared'] > 2000, f'too few are compared: {note}')
    need(len(examples) <= (1 - SHARE) * kinds['compared'] and
         not kinds['below another task'],
         '\n'.join([note, *examples[:SHOWN]]))
    return note


def test_kernel(folder):
    """Stacks of the kernel, in the whole boot"""
    kernel = Kernel(RVTRACE, f'{GUEST}/Image', f'{folder}/kernel.elf')
    ours = defaultdict(list)
    for hart, number, _, _, chain in our_stacks(KERNEL_PERIOD):
        ours[hart].append((number, chain))
    notes = []
    for hart in range(HARTS):
        kinds, examples = compare_kernel(
            ours[hart], kernel_stacks(f'{OUT}/kernel-frames', hart), kernel)
        with open(f'{OUT}/different-{hart}', 'w', encoding='utf-8') as file:
            print(*examples, sep='\n', file=file)
        notes.append(', '.join(f'{kind}: {many}' for kind, many in
                               kinds.most_common()))
        compared = kinds['same'] + kinds['different']
        need(compared > kinds.total() / 2 and
             kinds['different'] <= (1 - SHARE) * compared,
             '\n'.join([notes[-1], *examples[:SHOWN]]))
    return '; '.join(notes)


def run(*command):
    """What a command writes"""
    done = subprocess.run([RVTRACE, *command], check=False, text=True,
                          capture_output=True, timeout=LIMIT)
    need(done.returncode == 0, f'{command[0]}: {done.stderr}')
    return done.stdout


def test_piece(folder):
    """What is decoded from the middle on, by an index, has the same stacks."""
    index = f'{folder}/index'
    with open(f'{OUT}/kernel-frames', encoding='utf-8') as lines:
        last = {hart: int(number, 16) for hart, number, *_ in
                map(str.split, lines)}
    insns = min(last.values())
    limits = ['--from', str(insns // 4), '--to', str(insns // 2)]
    whole = run('folded', *INPUT, *limits)
    alone = run('folded', *INPUT, *limits, '-j', '1')
    need(whole == alone and whole, 'one processor gives something else')
    run('index', '-o', index, *INPUT)
    piece = run('folded', *INPUT, '--index', index, *limits)
    need(piece == whole, 'the index gives something else')
    # Threads have their last name, in whatever order names are found.
    files = [f'{folder}/whole.pftrace', f'{folder}/piece.pftrace']
    run('timeline', '-o', files[0], *INPUT, *limits)
    run('timeline', '-o', files[1], *INPUT, *limits, '--index', index)
    need(filecmp.cmp(*files, shallow=False), 'the timelines are not the same')
    # The first piece is decoded with the index, too, from the beginning on.
    shards = [f'{folder}/shard-{k}' for k in (1, 2)]
    for k, path in enumerate(shards):
        run('folded', '-o', path, '--index', index, '--shard', f'{k + 1}/2',
            *INPUT)
    need(run('merge', *shards, '--output', 'folded') ==
         run('folded', *INPUT), 'two pieces are not the whole')
    return f'{len(whole.splitlines())} stacks'


tap.run(f'{OUT}/tests', [('program', test_program), ('kernel', test_kernel),
                         ('piece', test_piece)])
