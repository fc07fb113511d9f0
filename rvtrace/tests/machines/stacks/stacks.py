#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# stacks.py FOLDER PATTERN: see run.sh
#
# The guests' sources say what is right: lines "row STACK [COUNT]" are all that
# there is, but for stacks that end in a function of a line "free FUNCTION" or
# in what all guests share; "calls FUNCTION COUNT" is how often it begins;
# "trace PROPERTY" is one of the encoder.

import glob
import os
import re
import subprocess
import sys

import tap
from symbols import addresses
from tap import LIMIT, need

QEMU, RVTRACE, OUT = (os.environ[n] for n in ('QEMU', 'RVTRACE', 'OUT'))
SHARED = ('[unknown]', '[firmware]', '_start', 'pass')


def run(*command):
    """What a command writes, and what it says"""
    done = subprocess.run(command, check=False, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=LIMIT)
    need(done.returncode == 0, f'{" ".join(command)}: {done.stderr}')
    return done.stdout, done.stderr


def folded(folder, name, props=()):
    """{stack: instructions} of the guest, and warnings"""
    elf = f'{OUT}/{name}.elf'
    args = [arg for prop in props
            for arg in ('-global', f'riscv-trace-encoder.{prop}')]
    run(QEMU, '-M', 'virt,trace=on,trace-chardev=tr,trace-sideband=sb,'
        'trace-autostart=on', '-chardev', f'file,id=tr,path={folder}/trace',
        '-chardev', f'file,id=sb,path={folder}/sideband', '-cpu', 'rv64',
        '-m', '128M', '-bios', 'none', '-display', 'none', '-monitor', 'none',
        '-serial', 'null', '-kernel', elf, *args)
    text, said = run(RVTRACE, 'folded', '--trace', f'{folder}/trace',
                     '--sideband', f'{folder}/sideband', '--elf', elf)
    rows = (line.rsplit(' ', 1) for line in text.splitlines())
    return {stack: int(count) for stack, count in rows}, said


def calls(folder, name):
    """{function: calls} of the same run"""
    text, _ = run(RVTRACE, 'report', '--trace', f'{folder}/trace',
                  '--sideband', f'{folder}/sideband', '--elf',
                  f'{OUT}/{name}.elf', '--sort', 'sym', '--format', 'tsv')
    head, *lines = (line.split('\t') for line in text.splitlines())
    return {line[head.index('sym')]: line[head.index('calls')]
            for line in lines}


def without(rows, functions):
    """... less those that end in one of the functions"""
    return {stack: count for stack, count in rows.items()
            if stack.rsplit(';', 1)[-1] not in functions}


def words(source, word):
    """The rest of each line that begins with the word"""
    with open(source, encoding='utf-8') as lines:
        text = lines.read()
    return re.findall(rf'^ \* {word} (.*)$', text, re.M)


def test_guest(folder, name, source):
    symbols = addresses(f'{OUT}/{name}.elf')
    props = [re.sub(r'\bmain(_end)?\b', lambda m: hex(symbols[m[0]]), prop)
             for prop in words(source, 'trace')]
    want = {}
    for row in words(source, 'row'):
        *stack, last = row.split(' ')
        if stack and last.isdigit():
            want[' '.join(stack)] = int(last)
        else:
            want[row] = None
    need(want, f'{source} has no rows')
    rows, _ = folded(folder, name, props)
    rows = without(rows, (*SHARED, *words(source, 'free')))
    wrong = [f'{stack} {rows.get(stack)}, not {want.get(stack)}'
             for stack in sorted({*want, *rows})
             if (stack in rows) != (stack in want) or
             want[stack] not in (None, rows[stack])]
    need(not wrong, '\n'.join(wrong))
    want = dict(line.split() for line in words(source, 'calls'))
    got = calls(folder, name) if want else {}
    wrong = [f'{function}: {got.get(function)} calls, not {count}'
             for function, count in want.items() if got.get(function) != count]
    need(not wrong, '\n'.join(wrong))


def test_recursion(folder):
    """All of its 600 frames"""
    rows, said = folded(folder, 'recursion-600')
    rows = without(rows, SHARED)
    want = {'main;' + ';'.join(['f'] * n): 7 for n in range(1, 600)}
    want['main'] = rows['main']
    want['main;after'] = 3
    want['main;' + ';'.join(['f'] * 600)] = 7
    want['main;' + ';'.join(['f'] * 600) + ';work'] = 3
    for stack, count in rows.items():
        depth = stack.count(';')
        need(stack in want, f'{depth} frames: {stack[-80:]} {count}')
    need(rows.keys() == want.keys(), f'{len(rows)} stacks, not {len(want)}')
    need(not said, said)


def test_deep_recursion(folder):
    """More than anyone can look at: folded, and said"""
    rows, said = folded(folder, 'recursion-100000')
    rows = without(rows, SHARED)
    need('recursion is more than 1024 frames deep' in said, f'not said: {said}')
    need(all(stack.split(';')[0] == 'main' for stack in rows),
         'there are stacks without main')
    need(max(stack.count(';') for stack in rows) < 1100, 'it is not folded')
    work = [count for stack, count in rows.items()
            if stack.endswith(';f;work')]
    need(work == [3], f'work: {work}')
    need(rows['main;after'] == 3, 'main is not returned to')


HERE = sys.argv.pop(1)
GUESTS = {os.path.basename(source)[:-2]: source
          for source in sorted(glob.glob(f'{HERE}/*.S'))}
del GUESTS['recursion']

tests = [(name, test_guest, name, source) for name, source in GUESTS.items()]
tests += [
    ('recursion', test_recursion),
    ('deep recursion', test_deep_recursion),
]
tap.run(OUT, tests)
