#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# questions.py PATTERN: see run.sh

import re
from collections import Counter

import hung
import module
import tap
import windows
from asked import (CALL, HERE, INFO, INTERRUPT, OUT, SHIFT, STEP, TICK, TICKS, TIMES,
                   Guest, rows, same)
from tap import need


def calls(folder, *options):
    guest = Guest(folder, 'measured', *options)
    got = guest.answer('calls', '--sym', 'target')
    want = [number - 2 for kind, number in guest.notes if kind == CALL]
    of = {'alpha': 3, 'beta': 5, 'handler': 6, 'main': 1}
    same(Counter(r['caller'] for r in got['rows']), of)
    same([r['insns'] for r in got['rows'] if r['caller'] in ('alpha', 'beta')],
         want)
    same([r['to'] - r['from'] for r in got['rows']],
         [r['insns'] for r in got['rows']])
    # Another count: where its first instruction was not jumped to by itself
    same([r['from'] for r in got['rows']],
         [i for i in guest.begins('target')
          if guest.pcs[i - 1] != guest.at['target'] + 4])
    same(got['calls'], len(got['rows']))
    recursive = guest.answer('calls', '--sym', 'again')
    same(rows(recursive, 'from', 'to'), guest.calls('again'))
    same([r['caller'] for r in recursive['rows']], ['main'] + 3 * ['again'])
    return got, guest


def test_calls(folder):
    """Without times, there are none."""
    got, _ = calls(folder)
    same(got['clock'], 'instructions')
    need('ns' not in got['rows'][0], 'there are times')


def test_times(folder):
    got, guest = calls(folder, *TIMES)
    same(got['clock'], 'virtual time, ns')
    first = got['rows'][0]
    for row in got['rows']:
        passed = (row['from'] - first['from']) << SHIFT
        need(abs(row['time'] - first['time'] - passed) <= 2 * STEP,
             f'{row["time"] - first["time"]} ns, not {passed}')
    ns = [r['ns'] for r in got['rows'] if r['caller'] in ('alpha', 'beta')]
    for i, ticks in enumerate(n for kind, n in guest.notes if kind == TICKS):
        need(abs(ns[i] - ticks * TICK) <= STEP,
             f'{ns[i]} ns, where the guest saw {ticks} ticks')


def test_callers(folder):
    guest = Guest(folder, 'measured')
    got = guest.answer('calls', '--sym', 'target', '--callers')
    same({r['caller']: r['calls'] for r in got['rows']},
         {'alpha': 3, 'beta': 5, 'handler': 6, 'main': 1})
    one = {r['caller']: r['insns'] for r in got['rows']}
    same(one['alpha'] + one['beta'],
         sum(number - 2 for kind, number in guest.notes if kind == CALL))
    text = guest.ask('calls', '--sym', 'target', '--callers', '--format', 'tsv')
    head, *lines = [line.split('\t') for line in text.splitlines()]
    same([dict(zip(head, line))['calls'] for line in lines],
         [str(r['calls']) for r in got['rows']])
    # Places are those of --from and --to.
    row = guest.answer('calls', '--sym', 'beta')['rows'][1]
    part = guest.answer('calls', '--sym', '*', '--from', str(row['from']),
                        '--to', str(row['to']))
    same([(r['sym'], r['from']) for r in part['rows']],
         [('beta', row['from']), ('target', row['from'] + 5)])
    few = guest.answer('calls', '--sym', 'target', '--rows', '2')
    same((few['calls'], few['left_out'], len(few['rows'])), (15, 13, 2))


# What the handler runs behind its second look at minstret
HANDLER_END = 6
LOAD_FAULT, ILLEGAL, SYSCALL = 5, 2, 8


def handled(guest, cause):
    """Instructions of each trap with that cause, by what the guest noted"""
    return [n + HANDLER_END for kind, n in guest.notes if kind == cause]


def near(got, want):
    """A percentile"""
    need(want <= got <= want * 33 // 32, f'{got} instead of {want}')


def test_latency(folder):
    guest = Guest(folder, 'measured')
    got = guest.answer('latency')
    same(got['clock'], 'instructions')
    row = {(r['kind'], r['name'], r['number']): r for r in got['rows']}
    want = {
        ('interrupt', 'machine software interrupt', None):
            handled(guest, INTERRUPT | 3),
        ('exception', 'load access fault', None): handled(guest, LOAD_FAULT),
        ('syscall', 'write', 64): handled(guest, SYSCALL)[::2],
        ('syscall', 'read', 63): handled(guest, SYSCALL)[1::2],
    }
    for key, values in want.items():
        values.sort()
        same([row[key][c] for c in ('count', 'min', 'max', 'total')],
             [len(values), values[0], values[-1], sum(values)])
        near(row[key]['p50'], values[(len(values) - 1) // 2])
        near(row[key]['p90'], values[-(-len(values) * 9 // 10) - 1])
        same(sorted((r['insns'] for r in got['worst']
                     if (r['kind'], r['name'], r['number']) == key),
                    reverse=True), values[:-6:-1])
        same(sum(r['count'] for r in got['histogram']
                 if (r['kind'], r['name'], r['number']) == key), len(values))
    same({r['name']: r['count'] for r in got['rows']
          if r['name'] == 'illegal instruction'}, {'illegal instruction': 1500})
    same(len(row), 5)
    for r in got['worst']:
        same(guest.pcs[r['from']], guest.at['handler'])


def test_latency_times(folder):
    guest = Guest(folder, 'measured', *TIMES)
    got = guest.answer('latency', '--worst', '100')
    for r in got['worst']:
        if r['name'] != 'illegal instruction':
            need(abs(r['ns'] - (r['insns'] << SHIFT)) <= STEP,
                 f'{r["ns"]} ns of {r["insns"]} instructions')
    rows_of = [r for r in guest.answer('latency', '--sym', 'beta')['rows']]
    same([(r['kind'], r['name'], r['count']) for r in rows_of],
         [('function', 'beta', 5)])
    ticks = [n * TICK for kind, n in guest.notes if kind == TICKS][3:]
    need(abs(rows_of[0]['max_ns'] - max(ticks)) <= STEP,
         f'{rows_of[0]} where the guest saw {ticks} ns')


def test_between(folder):
    guest = Guest(folder, 'measured')
    begins = guest.begins('handler')
    want = [(i, min(k for k in begins if k > i))
            for i in guest.begins('raise')]
    got = guest.answer('latency', '--between', 'raise..handler', '--worst',
                       '100')
    same(sorted((r['from'], r['to']) for r in got['worst']), want)
    same(got['rows'][0]['name'], 'raise..handler')
    # The same by the trap's name, and as a table of that alone
    text = guest.ask('latency', '--between', 'raise..*software interrupt*',
                     '--format', 'tsv', '--table', 'worst', '--worst', '100')
    head, *lines = [line.split('\t') for line in text.splitlines()]
    lines = [dict(zip(head, line)) for line in lines]
    same(sorted((int(r['from']), int(r['to'])) for r in lines), want)


def test_faults(folder):
    guest = Guest(folder, 'measured')
    got = guest.answer('faults')
    # In the order in which the guest takes them, behind its interrupts
    taken = [('load access fault', 'fault_7', 7, '0x8', '0x38', 'main'),
             ('load access fault', 'fault_2', 2, '0x100', '0x100', 'other'),
             ('illegal instruction', 'fault_storm', 1500, '0x0', '0x0',
              'storm')]
    begins = guest.begins('handler')[6:]
    want = []
    for cause, label, count, least, most, sym in taken:
        want.append((cause, hex(guest.at[label]), count, count, least, most,
                     sym, begins[0], begins[count - 1]))
        begins = begins[count:]
    # The storm is first.
    same(rows(got, 'cause', 'epc', 'count', 'in_row', 'tval_min', 'tval_max',
              'sym', 'first', 'last'), [want[2], *want[:2]])
    same(len(begins), 4)
    same((got['exceptions'], got['left_out']), (1509, 0))
    few = guest.answer('faults', '--rows', '1')
    same((few['left_out'], len(few['rows'])), (9, 1))
    one = guest.answer('faults', '--sym', 'oth*')
    same(rows(one, 'count'), [(2,)])


# As switched.S has them
TIDS = {'swapper/0': 0, 'a': 100, 'b': 200}


def switched(folder, *options):
    """The guest, and (comm, why) of each run, as its source has them"""
    guest = Guest(folder, 'switched', *options, machine=INFO)
    with open(f'{HERE}/switched.S', encoding='utf-8') as source:
        return guest, [tuple(line.split()) for line in
                       re.findall(r'^ \* run (.*)$', source.read(), re.M)]


def test_switches(folder):
    guest, want = switched(folder)
    got = guest.answer('switches', '--list')
    # Nobody's task runs in M-mode first.
    first, *runs = got['rows']
    same(first['comm'], '[no task]')
    same([(r['comm'], r['why']) for r in runs], want)
    places = [i + 1 for i, pc in enumerate(guest.pcs)
              if pc == guest.at['switched']]
    same([r['from'] for r in runs[1:]], places)
    same([r['to'] for r in runs], [*places, len(guest.pcs)])
    same([r['what'] for r in runs if r['comm'] != 'swapper/0'],
         ['[supervisor timer interrupt]', 'pause', 'pause', 'exit', 'exit'])
    same({r['in'] for r in runs if r['why'] == 'syscall'}, {'wait_for_it'})
    same([r['next'] for r in runs[:-1]], [comm for comm, _ in want[1:]])
    sums = guest.answer('switches')
    same(sums['switches'], len(want))
    by_comm = {r['comm']: r for r in sums['rows']}
    for comm, tid in TIDS.items():
        own = [r for r in runs if r['comm'] == comm]
        row = by_comm[comm]
        same([row[c] for c in ('tid', 'runs', 'insns', 'longest')],
             [tid, len(own), sum(r['insns'] for r in own),
              max(r['insns'] for r in own)])
        waits = [(b['from'] - a['to'], a['why'] == 'preempted')
                 for a, b in zip(own, own[1:])]
        same((row['ready'], row['waited'], row['longest_wait']),
             (sum(n for n, ready in waits if ready),
              sum(n for n, ready in waits if not ready),
              max(n for n, _ in waits)))
    same([[by_comm[c][k] for k in ('preempted', 'blocked', 'exited')]
          for c in 'ab'], [[1, 1, 1], [0, 1, 1]])
    # A system call has the time that other tasks have in it.
    pauses = [r for r in guest.answer('latency')['worst']
              if r['name'] == 'pause']
    same({r['number'] for r in pauses}, {34})
    same(len(pauses), 2)
    for row in pauses:
        need(any(row['from'] < r['to'] < row['to'] for r in runs
                 if r['comm'] == row['comm']), f'{row} has no switch in it')
    # ... which a function's own instructions are without.
    own = guest.answer('calls', '--sym', 'wait_for_it')['rows']
    need(len(own) == 2 and
         all(r['insns'] < r['to'] - r['from'] for r in own), f'{own}')


def test_switch_times(folder):
    guest, want = switched(folder, *TIMES)
    runs = guest.answer('switches', '--list')['rows'][1:]
    same([(r['comm'], r['why']) for r in runs], want)
    for r in runs:
        need(abs(r['ns'] - (r['insns'] << SHIFT)) <= STEP,
             f'{r["ns"]} ns of {r["insns"]} instructions')
    few = guest.answer('switches', '--list', '--comm', 'a', '--rows', '2')
    same([(r['comm'], r['why']) for r in few['rows']],
         [('a', 'preempted'), ('a', 'syscall')])
    same(few['left_out'], 1)


tests = [
    ('calls', test_calls),
    ('calls, with times', test_times),
    ('calls by caller', test_callers),
    ('latency', test_latency),
    ('latency, with times', test_latency_times),
    ('latency between', test_between),
    ('faults', test_faults),
    ('switches', test_switches),
    ('switches, with times', test_switch_times),
]
tap.run(OUT, tests + hung.tests + windows.tests + module.tests)
