#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# asker.py [PATTERN]: see run.sh; asker.c says what the program does

import functools
import json
import os
import re
import shutil
import subprocess
from collections import Counter

import tap
from tap import LIMIT, need

RVTRACE, OUT, GUEST = (os.environ[n] for n in ('RVTRACE', 'OUT', 'guest'))
# A tick of rdtime, and what timestamps may be apart, ns
TICK, STEP = 100, 20000

# By their numbers: what asker.c does, in both threads together
CALLS = {173: 137, 124: 62, 115: 12}        # getppid, sched_yield, nanosleep
NAMES = {173: 'getppid', 124: 'sched_yield', 115: 'clock_nanosleep'}
PAGES = 77


@functools.lru_cache(None)
def answer(harts, command, *options):
    """Of the run with so many harts"""
    done = subprocess.run(
        [RVTRACE, command, '--trace', f'{OUT}/{harts}/trace', '--sideband',
         f'{OUT}/{harts}/side', '--sysroot', f'{OUT}/root', '--sysroot',
         f'{GUEST}/Image', '--format', 'json', *options],
        capture_output=True, text=True, timeout=LIMIT, check=False)
    need(done.returncode == 0, done.stderr)
    return json.loads(done.stdout)


def same(got, want):
    need(got == want, f'{got} instead of {want}')


class Said:
    """What the program has printed, of the run with so many harts"""

    def __init__(self, harts):
        with open(f'{OUT}/{harts}/console', encoding='utf-8') as f:
            text = f.read()
        self.threads = {
            name: dict(zip(('tid', 'voluntary', 'other', 'minor', 'major'),
                           map(int, numbers.split())))
            for name, numbers in
            re.findall(r'asker: (main|answerer) ((?:-?\d+ ?){5})', text)}
        self.ns = [(int(a) * TICK, int(b) * TICK) for a, b in
                   re.findall(r'asker: ticks (\d+) (\d+)', text)]
        need(len(self.threads) == 2 and len(self.ns) == 12, text)


def test_syscalls(harts):
    """As many as the program makes, with their numbers and names"""
    rows = answer(harts, 'latency', '--comm', 'a*er')['rows']
    calls = [r for r in rows if r['kind'] == 'syscall']
    got = {n: sum(r['count'] for r in calls if r['number'] == n)
           for n in CALLS}
    same(got, CALLS)
    for number, name in NAMES.items():
        same({r['name'] for r in calls if r['number'] == number}, {name})


def looks(harts, function):
    """tid: the two calls of a function of the kernel that counts"""
    found = {}
    for row in answer(harts, 'calls', '--sym', function, '--comm',
                      'a*er')['rows']:
        found.setdefault(row['tid'], []).append(row)
    return found


def test_switches(harts):
    """As the kernel counts them, from one look to the other"""
    at, said = looks(harts, 'proc_pid_status'), Said(harts)
    runs = answer(harts, 'switches', '--list', '--comm', 'a*er')['rows']
    for name, thread in said.threads.items():
        # The counters are the last ones that the kernel writes.
        first, last = (row['time'] + row['ns'] for row in at[thread['tid']])
        why = [r['why'] for r in runs if r['tid'] == thread['tid'] and
               first < r['time'] + r['ns'] < last]
        blocked = [w for w in why if w in ('syscall', 'fault', 'kernel')]
        same((name, len(blocked)), (name, thread['voluntary']))
        same((name, why.count('preempted')), (name, thread['other']))
        same(len(blocked) + why.count('preempted'), len(why))
    if harts == 1:
        # They have yielded to each other.
        need(all(t['other'] >= 10 for t in said.threads.values()),
             f'{said.threads}')


def test_exits(harts):
    """Once in a life, and last"""
    said = Said(harts)
    runs = answer(harts, 'switches', '--list', '--comm', 'a*er')['rows']
    for thread in said.threads.values():
        own = sorted((r for r in runs if r['tid'] == thread['tid']),
                     key=lambda r: r['time'])
        same([r['why'] for r in own].count('exited'), 1)
        same(own[-1]['why'], 'exited')
    sums = answer(1, 'switches', '--comm', 'a*er')['rows']
    same([r['exited'] for r in sums], [1, 1])


def test_faults(harts):
    """One of each page; and as getrusage() counts them, from look to look"""
    rows = answer(harts, 'faults', '--comm', 'asker', '--sym', 'touch')['rows']
    same([(r['cause'], r['count']) for r in rows],
         [('store page fault', PAGES)])
    same(int(rows[0]['tval_max'], 16) - int(rows[0]['tval_min'], 16),
         (PAGES - 1) * 4096)
    if harts == 1:
        main = Said(harts).threads['main']
        first, last = looks(harts, '__do_sys_getrusage')[main['tid']]
        some = answer(harts, 'faults', '--comm', 'asker', '--from',
                      str(first['to']), '--to', str(last['from']))['rows']
        count = sum(r['count'] for r in some if 'page fault' in r['cause'])
        same(count, main['minor'] + main['major'])


def events(harts):
    """(ns, event, cpu, rest of the line) of what babeltrace2 reads"""
    folder = f'{OUT}/{harts}/ctf'
    shutil.rmtree(folder, ignore_errors=True)
    done = subprocess.run(
        [RVTRACE, 'ctf', '--trace', f'{OUT}/{harts}/trace', '--sideband',
         f'{OUT}/{harts}/side', '--sysroot', f'{OUT}/root', '--sysroot',
         f'{GUEST}/Image', '-o', folder], capture_output=True, text=True,
        timeout=LIMIT, check=False)
    need(done.returncode == 0, done.stderr)
    text = subprocess.run(['babeltrace2', '--clock-cycles', folder], check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    return [(int(ns), name, int(cpu), rest) for ns, name, cpu, rest in
            re.findall(r'^\[(\d+)\] \(.*?\) (\w+): { cpu_id = (\d+) }(.*)$', text,
                       re.M)], len(text.splitlines())


def test_ctf(harts):
    """Who runs on each hart is known by its switches; then as above"""
    if not shutil.which('babeltrace2'):
        raise tap.Skip('there is no babeltrace2')
    got, lines = events(harts)
    same(len(got), lines)
    said = Said(harts)
    tids = {thread['tid'] for thread in said.threads.values()}
    now, called, returned, switches = {}, Counter(), Counter(), 0
    for _, name, cpu, rest in got:
        if name == 'sched_switch':
            was, to = map(int, re.findall(r'_tid = (\d+)', rest))
            need(now.get(cpu, 0) == was, f'{now} runs, not {rest}')
            switches += 1
            now[cpu] = to
        elif now.get(cpu) in tids and name.startswith('syscall_'):
            (called if name.startswith('syscall_entry_') else
             returned)[name.split('_', 2)[2]] += 1
    same({n: called[NAMES[n]] for n in CALLS}, CALLS)
    same({n: returned[NAMES[n]] for n in CALLS}, CALLS)
    need(called['exit'] == 1 and not returned['exit'], f'{called["exit"]}')
    same(switches, answer(harts, 'switches')['switches'])


def test_times(harts):
    """By -icount, as long as the program has measured by rdtime"""
    said = Said(harts)
    for i, function in enumerate(('spin', 'nap')):
        rows = answer(harts, 'calls', '--sym', function, '--comm',
                      'asker')['rows']
        same(len(rows), len(said.ns))
        for row, measured in zip(rows, said.ns):
            need(abs(row['ns'] - measured[i]) <= STEP,
                 f'{function}: {row["ns"]} ns instead of {measured[i]}')
        worst = answer(harts, 'latency', '--sym', function, '--comm', 'asker')
        same(worst['rows'][0]['max_ns'], max(r['ns'] for r in rows))


tests = [(f'{name}, {harts} hart{"s" * (harts > 1)}',
          lambda folder, harts=harts, test=test: test(harts))
         for harts in map(int, os.environ['HARTS'].split())
         for name, test in (('system calls', test_syscalls),
                            ('switches', test_switches),
                            ('exits', test_exits),
                            ('faults', test_faults),
                            ('CTF', test_ctf),
                            ('times', test_times))
         if harts == 1 or test is not test_times]
tap.run(OUT, tests)
