#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# unwind.py FOLDER [--all] [PATTERN]: see run.sh
#
# What is compared: `rvtrace script --period N` has the call chain at every N-th
# instruction, and the plugin frames.c unwound the stack at the same ones.
#
# Not compared is what the plugin cannot know: "switching" is code that has
# registers of two stacks, "millicode" functions of libgcc of which it has not
# all information, and "not known" stacks of which it did not find the end: with
# -msave-restore, GCC 12 says something wrong behind the body of some functions.
# That is why a few of the others are different there, too.

import bisect
import os
import subprocess
import sys
from collections import Counter

import generate
import tap
from symbols import table
from tap import LIMIT, need

QEMU, RVTRACE, RETIRED, OUT = (os.environ[n] for n in
                              ('QEMU', 'RVTRACE', 'RETIRED', 'OUT'))
GUESTS = os.path.join(os.path.dirname(tap.__file__), '..', 'guests')

HERE = sys.argv.pop(1)
ALL = '--all' in sys.argv
if ALL:
    sys.argv.remove('--all')

# of rvtrace's chains
MAX_CHAIN = 127
# Of the moments, these have to be right.
SHARE = 0.999
SHOWN = 5

# Functions that nothing calls: a stack that has two of them is one of two tasks
ROOTS = {'begin', 'run_program', *(f'member_{i}' for i in range(5)),
         *(f'coroutine_{i}' for i in range(4))}

MILLICODE = ['-Os', '-msave-restore']


def run(*command):
    """What a command writes"""
    done = subprocess.run(command, check=False, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=LIMIT)
    need(done.returncode == 0 and not done.stderr,
         f'{" ".join(command[:6])}: {done.returncode} {done.stderr}')
    return done.stdout


class Names:
    """Functions of a guest by address"""

    def __init__(self, elf):
        symbols = sorted((s for s in table(elf) if s.kind in 'tTwW'),
                         key=lambda s: s.address)
        self.starts = [s.address for s in symbols]
        self.names = [s.name for s in symbols]

    def at(self, address):
        """The label in front of the address"""
        i = bisect.bisect(self.starts, address)
        return self.names[i - 1] if i else '?'

    def text(self, chain):
        """The functions of a chain"""
        return ' < '.join(f'{self.at(a)}:{a:x}' for a in chain[:12])


def copies(folder, source, n):
    """Files that are the code of a task or coroutine each; see walk.h"""
    paths = [f'{folder}/copy-{i}.c' for i in range(n)]
    for i, path in enumerate(paths):
        with open(path, 'w', encoding='ascii') as text:
            text.write(f'#define COPY {i}\n#include "walk.c"\n'
                       f'#include "{source}"\n')
    return paths


def make(folder, sources, variant, options):
    """A guest"""
    elf = f'{folder}/guest.elf'
    if isinstance(sources[-1], int):
        *sources, seed = sources
        with open(f'{folder}/program.S', 'w', encoding='ascii') as text:
            text.write(generate.Program(seed).text())
        sources = [*sources, f'{folder}/program.S']
    if sources[-1] in ('task.c', 'coroutine.c'):
        *sources, member = sources
        sources = sources + copies(folder, member,
                                   1 if '-DSHARED' in options else 5)
    # guest.ld leaves out .eh_frame, which libgcc's functions have.
    frames = f'{folder}/frames.ld'
    with open(frames, 'w', encoding='utf-8') as script:
        script.write('SECTIONS { .eh_frame 0x87000000 (INFO) : { *(.eh_frame) } }\n')
    options = [f'-I{HERE}', f'-I{HERE}/../stacks',
               '-fno-asynchronous-unwind-tables', *options,
               f'-Wl,-T,{frames}']
    run('make', '-s', '-C', GUESTS, 'guest', f'OUT={folder}', 'NAME=guest',
        'SOURCE=' + ' '.join([*(os.path.join(HERE, name) for name in sources),
                              *(['-lgcc'] if variant[:4] == 'rv64' else [])]),
        f'VARIANT={variant}', 'OPTIONS=' + ' '.join(options))
    return elf


def true_stacks(path):
    """{instruction: (addresses, those that a trap interrupted, why)}"""
    stacks = {}
    with open(path, encoding='utf-8') as lines:
        for line in lines:
            hart, number, why, *chain = line.split()
            need(hart == '0', 'there is one hart')
            traps = [int(a[1:], 16) for a in chain if a[0] == '!']
            stacks[int(number, 16)] = (
                [int(a.lstrip('!'), 16) for a in chain], traps, why)
    return stacks


def our_stacks(text, period):
    """{instruction: addresses}"""
    stacks = {}
    chain = None
    for line in text.splitlines():
        if line.startswith('\t'):
            chain.append(int(line.split()[0], 16))
        elif line:
            chain = stacks[(len(stacks) + 1) * period] = []
    return stacks


def difference(ours, true, names):
    """What kind of difference there is; None: none"""
    if ours == true:
        return None
    roots = [a for a in ours if names.at(a) in ROOTS]
    if len(roots) > 1:
        return 'below another task'
    if ours == true[:len(ours)]:
        return 'outer functions are missing'
    if true == ours[:len(true)]:
        return 'too many outer functions'
    if ours[-1:] == true[-1:]:
        return 'different, with the same outermost function'
    return 'different'


def compare(ours, true, names):
    """Says how many moments there were, how many are wrong, and how"""
    kinds, examples = Counter(), []
    for number in sorted(ours.keys() & true.keys()):
        chain, traps, why = true[number]
        mine = ours[number]
        if any(names.at(a).endswith('_switching') for a in [chain[0], *traps]):
            kinds['switching'] += 1
            continue
        if any(names.at(a).startswith('__riscv_save_') and
               names.at(a) != '__riscv_save_0' for a in [chain[0], *traps]):
            # of which libgcc does not tell all
            kinds['millicode'] += 1
            continue
        if why not in ('end', 'deep') or names.at(chain[-1]) not in ROOTS:
            # The compiler's information is not complete.
            kinds['not known'] += 1
            continue
        if len(chain) > MAX_CHAIN:
            kinds['deep'] += 1
            chain = chain[:MAX_CHAIN]
        wrong = difference(mine, chain, names)
        kinds['compared'] += 1
        if wrong:
            kinds[wrong] += 1
            examples.append(f'{wrong} at instruction {number}:\n'
                            f'  rvtrace  {names.text(mine)}\n'
                            f'  true     {names.text(chain)}')
    return kinds, examples


def test(folder, sources, variant, options, rounds, period, share=SHARE):
    elf = make(folder, sources, variant,
               [*options, f'-DROUNDS={rounds if ALL else rounds // 10}'])
    run(QEMU, '-M', 'virt,trace=on,trace-chardev=tr,trace-sideband=sb,'
        'trace-autostart=on', '-icount', 'shift=4,sleep=off',
        '-chardev', f'file,id=tr,path={folder}/trace',
        '-chardev', f'file,id=sb,path={folder}/sideband',
        '-cpu', variant[:4], '-m', '128M', '-bios', 'none',
        '-display', 'none', '-monitor', 'none',
        '-serial', f'file:{folder}/uart', '-kernel', elf,
        '-plugin', f'{RETIRED},out={folder}/truth',
        '-plugin', f'{OUT}/libframes.so,out={folder}/frames,elf={elf},'
        f'retired={RETIRED},every={period}')
    with open(f'{folder}/uart', encoding='utf-8') as uart:
        said = uart.read()
    need(not said, f'the guest says {said}')
    true = true_stacks(f'{folder}/frames')
    ours = our_stacks(run(RVTRACE, 'script', '--trace', f'{folder}/trace',
                          '--sideband', f'{folder}/sideband', '--elf', elf,
                          '--period', str(period)), period)
    names = Names(elf)
    need(all(ours[n][0] == true[n][0][0] for n in ours.keys() & true.keys()),
         'the instructions are not the same')
    need(len(ours) and abs(len(ours) - len(true)) <= 1,
         f'rvtrace has {len(ours)} stacks, the plugin {len(true)}')
    kinds, examples = compare(ours, true, names)
    wrong = len(examples)
    note = ', '.join(f'{kind}: {many}' for kind, many in kinds.most_common())
    need(kinds['compared'] > len(ours) / 2, f'too few are compared: {note}')
    need(wrong <= (1 - share) * kinds['compared'] and
         not kinds['below another task'],
         '\n'.join([f'{100 - 100 * wrong / kinds["compared"]:.3f} % equal; '
                    f'{note}', *examples[:SHOWN]]))
    return note


COMMON = ['entry.S', 'walk.c']
CALLS = [*COMMON, 'calls.c']
COROUTINES = [*COMMON, 'coroutines.c', 'coroutine.c']
RANDOM = [*COMMON, 'random.S', 'random.c', 'handlers.S']
TASKS = [*COMMON, 'tasks.c', 'handlers.S', 'task.c']


def switches(*kinds):
    return ['-DSWITCHES=' + ','.join(f'switch_{kind}_switching'
                                     for kind in kinds)]


def tasks(level, period):
    return [f'-DLEVEL={level}', f'-DPERIOD={period}']


tests = [
    ('calls', test, CALLS, 'rv64gc', [], 10000, 199),
    ('calls unoptimised', test, CALLS, 'rv64gc', ['-O0'], 10000, 199),
    ('calls frame pointers', test, CALLS, 'rv64g',
     ['-fno-omit-frame-pointer'], 10000, 199),
    ('calls millicode', test, CALLS, 'rv64gc', MILLICODE, 10000, 199),
    ('calls rv32', test, CALLS, 'rv32gc', [], 10000, 199),
    ('coroutines', test, COROUTINES, 'rv64gc', switches('ret'), 10000, 199),
    ('coroutines by jumps', test, COROUTINES, 'rv64gc',
     switches('t1', 'a5', 't0', 'ret'), 10000, 199),
    ('coroutines millicode', test, COROUTINES, 'rv64gc',
     [*MILLICODE, *switches('ret', 'a5')], 10000, 199),
    ('tasks of M-mode', test, TASKS, 'rv64gc', tasks(3, 100), 10000, 199),
    ('tasks of S-mode', test, TASKS, 'rv64gc', tasks(1, 100), 10000, 199),
    ('tasks of U-mode', test, TASKS, 'rv64gc', tasks(0, 100), 10000, 199),
    ('tasks often', test, TASKS, 'rv64gc', tasks(3, 10), 10000, 199),
    ('tasks millicode', test, TASKS, 'rv64gc', [*MILLICODE, *tasks(0, 50)],
     10000, 199),
    ('tasks rv32', test, TASKS, 'rv32gc', tasks(1, 50), 10000, 199),
]
tests += [
    (f'random {seed}', test, [*RANDOM, seed], 'rv64gc' if seed % 2 else 'rv64g',
     ['-DLEVEL=3', '-DPERIOD=100', f'-DSEED={seed + 1}'], 4000, 97)
    for seed in range(50 if ALL else 3)
]
# Of tasks that wait at the same address, a trace does not say which one goes
# on; rvtrace knows no better until it returns to somewhere else.
tests += [
    ('one code: coroutines', test, COROUTINES, 'rv64gc',
     ['-DSHARED', *switches('ret')], 10000, 199, .98),
    ('one code: tasks of M-mode', test, TASKS, 'rv64gc',
     ['-DSHARED', *tasks(3, 100)], 10000, 199, .6),
    ('one code: tasks of U-mode', test, TASKS, 'rv64gc',
     ['-DSHARED', *tasks(0, 100)], 10000, 199, .5),
]
# What the others cover, too, is for the long run.
LONG = ('one code: coroutines', 'one code: tasks of U-mode',
        'calls unoptimised', 'calls frame pointers', 'calls rv32', 'coroutines',
        'coroutines millicode', 'tasks often', 'tasks millicode')
tap.run(OUT, [t for t in tests if ALL or t[0] not in LONG])
