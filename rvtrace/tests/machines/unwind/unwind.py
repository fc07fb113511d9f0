#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# unwind.py FOLDER [--all] [PATTERN]: see run.sh
#
# chains.py says what is compared. The stacks are those of `rvtrace script`, and
# of gdb's bt.

import os
import random
import shutil
import subprocess
import sys

import generate
import tap
from backtraces import backtraces
from chains import Names, compare, our_samples, true_pointers, true_stacks
from symbols import table
from tap import LIMIT, need

QEMU, RVTRACE, RETIRED, OUT = (os.environ[n] for n in
                              ('QEMU', 'RVTRACE', 'RETIRED', 'OUT'))
GUESTS = os.path.join(os.path.dirname(tap.__file__), '..', 'guests')

HERE = sys.argv.pop(1)
ALL = '--all' in sys.argv
if ALL:
    sys.argv.remove('--all')

# Of the moments, these have to be right.
SHARE = 0.999
SHOWN = 5

# Functions that nothing calls
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


# Variables of the systems in rtos.h
CURRENT = ('pxCurrentTCB', '_kernel', '_tx_thread_current_ptr',
           'g_running_tasks', 'rt_current_thread')


def guest_info(elf, options):
    """What a machine is told of tasks.c: what guest-info finds, and all of it"""
    said = run(RVTRACE, 'guest-info', elf).strip()
    symbols = {s.name: s.address for s in table(elf)}
    want = {name[5:].replace('_', '-'): value
            for name, value in symbols.items() if name[:5] == 'want_'}
    want['current'] = want.pop('at') + next(symbols[name] for name in CURRENT
                                            if name in symbols)
    system, *members = said.split(':')
    got = {name: int(value, 0)
           for name, value in (member.split('=') for member in members)}
    need(system == 'rtos' and got == want, f'{said}, not {want}')
    return (f',trace-guest-info={said}:'
            f'priv={3 if "-DLEVEL=3" in options else 1}')


def need_tasks(folder, elf, samples):
    """
    Every instruction is the task's whose stack sp points to, from when it does,
    as tasks.c has them. On the stack of M-mode's handlers nobody knows.
    """
    size = 32 << 10
    stacks = [s.address for s in table(elf) if s.name in ('stacks', 'kernel')]
    pointers = true_pointers(f'{folder}/frames')
    seen = 0
    for number, line, _ in samples:
        # Until the first task begins, its stack may be in use.
        if number not in pointers or (not seen and '[no task]' in line):
            continue
        for stack in stacks:
            # a stack that is empty ends where the next one begins
            i = (pointers[number] - 1 - stack) // size
            if 0 <= i < 5:
                seen += 1
                need(line.startswith(f'task {i} '),
                     f'instruction {number} is of task {i}: {line}')
    need(seen > len(samples) / 2, f'{seen} instructions are of tasks')


def record(folder, elf, variant, period, info=''):
    """Run a guest: the stacks that the plugin unwound"""
    run(QEMU, '-M', 'virt,trace=on,trace-chardev=tr,trace-sideband=sb,'
        f'trace-autostart=on{info}',
        '-icount', 'shift=4,sleep=off',
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
    return true_stacks(f'{folder}/frames')


def test(folder, sources, variant, options, rounds, period, share=SHARE,
         known=False):
    elf = make(folder, sources, variant,
               [*options, f'-DROUNDS={rounds if ALL else rounds // 10}'])
    true = record(folder, elf, variant, period,
                  guest_info(elf, options) if known else '')
    text = run(RVTRACE, 'script', '--trace', f'{folder}/trace', '--sideband',
               f'{folder}/sideband', '--elf', elf, '--period', str(period))
    samples = list(our_samples(text.splitlines(), period, period))
    ours = {number: chain for number, _, chain in samples}
    if known:
        need_tasks(folder, elf, samples)
    need(len(ours) and abs(len(ours) - len(true)) <= 1,
         f'rvtrace has {len(ours)} stacks, the plugin {len(true)}')
    return judge(elf, ours, true, share)


def judge(elf, ours, true, share):
    """Are they the same, as far as they can be?"""
    need(all(ours[n][0] == true[n][0][0] for n in ours.keys() & true.keys()),
         'the instructions are not the same')
    kinds, examples = compare(ours, true, Names(elf, ROOTS))
    wrong = len(examples)
    note = ', '.join(f'{kind}: {many}' for kind, many in kinds.most_common())
    need(kinds['compared'] > len(ours) / 2, f'too few are compared: {note}')
    need(wrong <= (1 - share) * kinds['compared'] and
         not kinds['below another task'],
         '\n'.join([f'{100 - 100 * wrong / kinds["compared"]:.3f} % equal; '
                    f'{note}', *examples[:SHOWN]]))
    return note


def test_gdb(folder, sources, variant, options, rounds, period):
    """gdb's own `bt`, at random moments"""
    need(shutil.which('gdb-multiarch'), 'gdb-multiarch is not installed')
    elf = make(folder, sources, variant,
               [*options, f'-DROUNDS={rounds if ALL else rounds // 10}'])
    true = record(folder, elf, variant, period)
    moments = random.Random(1).sample(sorted(true), 1000 if ALL else 200)
    ours = backtraces(folder, [
        RVTRACE, 'gdbserver', '--listen', 'stdio', '--elf', elf, '--trace',
        f'{folder}/trace', '--sideband', f'{folder}/sideband'], moments, elf)
    return judge(elf, ours, true, SHARE)


def test_run(folder, system):
    """`rvtrace run` finds the tasks by itself."""
    elf = make(folder, TASKS, 'rv64gc', ['-DSHARED', '-g', '-DROUNDS=300',
                                         f'-DRTOS={system}', *tasks(3, 100)])
    out = f'{folder}/rvtrace.out'
    shutil.rmtree(out, ignore_errors=True)
    done = subprocess.run([RVTRACE, 'run', '--keep', out, '--', QEMU, '-M',
                           'virt', '-bios', 'none', '-display', 'none',
                           '-monitor', 'none', '-serial', 'none', '-kernel',
                           elf], check=True, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=LIMIT)
    names = [f'task {i}' for i in range(5)]
    need('by task: task ' in done.stdout, done.stdout)
    rows = [line.split('\t') for line in run(
        RVTRACE, 'report', '--sort', 'comm', '--format', 'tsv',
        out).splitlines()]
    column = rows[0].index('comm')
    got = {row[column] for row in rows[1:]}
    need(got == {*names, '[no task]'}, f'{got}')


COMMON = ['entry.S', 'context.S', 'walk.c']
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
# ... unless it is told where the system keeps the task that runs.
tests += [
    (f'known tasks of {system} {variant}', test, TASKS, variant,
     ['-DSHARED', '-g', f'-DRTOS={system}', *tasks(level, 100)], 10000, 199,
     SHARE, True)
    for system, variant, level in (
        ('FREERTOS', 'rv64gc', 3), ('FREERTOS', 'rv32gc', 3),
        ('ZEPHYR', 'rv64gc', 0), ('THREADX', 'rv32gc', 3),
        ('NUTTX', 'rv64gc', 1), ('RT_THREAD', 'rv64g', 3))
]
tests += [('run knows tasks', test_run, 'FREERTOS')]
tests += [
    ('gdb: calls', test_gdb, CALLS, 'rv64gc', [], 10000, 199),
    ('gdb: calls rv32', test_gdb, CALLS, 'rv32gc', [], 10000, 199),
    ('gdb: coroutines by jumps', test_gdb, COROUTINES, 'rv64gc',
     switches('t1', 'a5', 't0', 'ret'), 10000, 199),
    ('gdb: tasks of U-mode', test_gdb, TASKS, 'rv64gc', tasks(0, 100), 10000,
     199),
]
# What the others cover, too, is for the long run.
LONG = ('one code: coroutines', 'one code: tasks of U-mode',
        'calls unoptimised', 'calls frame pointers', 'calls rv32', 'coroutines',
        'coroutines millicode', 'tasks often', 'tasks millicode',
        'gdb: calls', 'gdb: coroutines by jumps')
tap.run(OUT, [t for t in tests if ALL or t[0] not in LONG])
