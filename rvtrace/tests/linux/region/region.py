#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# region.py PATTERN: see run.sh
#
# A function's first instruction begins a translation block, so the log has a
# line for each time that it was called.

import collections
import csv
import os
import re
import subprocess
import sys

import tap
from symbols import table
from tap import need

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)),
                             '..', '..', 'edges'))

import edgemap                      # noqa: E402  # pylint: disable=C0413

RVTRACE, OUT, RUN = (os.environ[n] for n in ('RVTRACE', 'OUT', 'run'))
PROGRAM = f'{OUT}/root/bin/region'
# instructions of each, none of which is a jump within it
FUNCTIONS = {'inside': 6, 'leaf': 2, 'outside': 3, 'begun': 2, 'ending': 2}
LINE = re.compile(r'(Trace|Stopped).*\[(?:[0-9a-f]+/)?([0-9a-f]{16})[/\]]')


def entries():
    """Functions by address"""
    return {s.address: s.name for s in table(PROGRAM) if s.name in FUNCTIONS}


def called(run=RUN):
    """The functions that were called, in order, by QEMU's log"""
    names = entries()
    need(len(names) == len(FUNCTIONS), f'only {names}')
    calls = []
    with open(f'{run}/pcs', encoding='ascii') as file:
        for line in file:
            match = LINE.match(line)
            name = match and names.get(int(match[2], 16))
            if name and match[1] == 'Trace':
                calls.append(name)
            elif name:
                # an interrupt came first
                need(calls.pop() == name, f'another block stopped: {line}')
    return calls


def between(calls, number=3):
    """What was called in each part from begun to ending, both included"""
    parts, part = [], None
    for name in calls:
        if name == 'begun':
            need(part is None, 'begun twice')
            part = []
            parts.append(part)
        if part is not None:
            part.append(name)
        if name == 'ending':
            part = None
    need(len(parts) == number and part is None, f'{len(parts)} parts')
    return parts


def report(*options, run=RUN):
    """(own instructions, calls) by function of the program"""
    done = subprocess.run(
        [RVTRACE, 'report', '--trace', f'{run}/trace', '--sideband',
         f'{run}/side', '--elf', PROGRAM, '--sort', 'sym', '--format', 'tsv',
         '--strict', *options], capture_output=True, text=True, timeout=600,
        check=False)
    need(done.returncode == 0, done.stderr)
    head, *lines = [line.split('\t') for line in done.stdout.splitlines()]
    rows = (dict(zip(head, line)) for line in lines)
    return {row['sym']: (int(row['own']), int(row['calls'])) for row in rows
            if row['sym'] in FUNCTIONS}


def same(calls, seen):
    want = {name: (FUNCTIONS[name] * n, n)
            for name, n in collections.Counter(calls).items()}
    need(seen == want, f'report: {seen}, by the log {want}')


def everything(folder):
    same(called(), report())


def by_the_program(folder):
    first, second, _ = between(called())
    need(first.count('inside') == 5000 and second.count('inside') == 700,
         f'the log: {collections.Counter(first + second)}')
    same(first + second, report('--region', 'of interest'))


def by_the_shell(folder):
    third = between(called())[2]
    need((third.count('inside'), third.count('outside')) == (900, 50),
         f'the log: {collections.Counter(third)}')
    same(third, report('--region', 'by the shell'))


def both(folder):
    same(sum(between(called()), []),
         report('--region', 'by the shell', '--region', 'of interest'))


def edges(folder):
    """A map for each time, of what the program ran in it"""
    program = edgemap.Program(PROGRAM)
    streams = ['--trace', f'{RUN}/trace', '--sideband', f'{RUN}/side']
    subprocess.run(
        [RVTRACE, 'edges', *streams, '--elf', PROGRAM, '--dso', 'region',
         '--exact-counts', '--each', 'region:of interest', '-o',
         f'{folder}/maps'], check=True, capture_output=True, timeout=600)
    with open(f'{folder}/maps/maps.tsv', encoding='utf-8') as file:
        rows = list(csv.DictReader(file, delimiter='\t'))
    need(len(rows) == 2, f'{rows}')
    for row, calls in zip(rows, between(called())):
        done = subprocess.run(
            [RVTRACE, 'decode', *streams, '--hart', row['hart'], '--from',
             row['from'], '--to', row['to'], '--emit', 'pc'],
            capture_output=True, text=True, check=True, timeout=600)
        pcs = [int(line, 16) for line in done.stdout.split()]
        pcs = [pc for pc in pcs if pc in program.size]
        need(pcs.count(program.at['inside']) == calls.count('inside') > 500,
             f'{row}: {collections.Counter(calls)}')
        with open(f'{folder}/maps/{row["file"]}', encoding='ascii') as file:
            got = dict(map(int, line.split(':')) for line in file)
        want = edgemap.edges(program, pcs)
        need(got == dict(want), f'{got} instead of {want}')


def switched(folder):
    """Of five that ran, the second and the fourth are in the trace."""
    parts = between(called(f'{OUT}/switch'), 5)
    same(parts[1] + parts[3], report(run=f'{OUT}/switch'))


def not_there(folder):
    """A machine without trace says so, and the port goes on."""
    with open(f'{OUT}/none/console', encoding='utf-8') as file:
        said = file.read()
    need(said.count('rvtrace-guest: QEMU: ') == 2, said[-300:])


tap.run(f'{OUT}/tests', (
    ('everything', everything),
    ('a region that the program marks', by_the_program),
    ('a region that rvtrace-guest marks', by_the_shell),
    ('both', both),
    ('edges', edges),
    ('rvtrace-guest start and stop', switched),
    ('nothing to start', not_there),
))
