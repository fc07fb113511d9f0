# SPDX-License-Identifier: GPL-2.0-or-later
#
# Windows in front of events and behind them: what is selected, against the pcs
# that retired

import subprocess

from asked import INFO, RVTRACE, SHIFT, STEP, TIMES, Guest, same
from tap import LIMIT, need


def selected(guest, *options):
    """The pcs that are left"""
    return [int(line, 16) for line in
            guest.ask('decode', '--emit', 'pc', *options).split()]


def refused(guest, *options):
    done = subprocess.run(
        [RVTRACE, 'report', '--trace', f'{guest.folder}/trace', '--sideband',
         f'{guest.folder}/sideband', '--elf', guest.elf, *options],
        capture_output=True, text=True, timeout=LIMIT, check=False)
    same((done.returncode, done.stdout), (2, ''))
    return done.stderr


def longest_first(calls):
    return sorted(calls, key=lambda call: call[0] - call[1])


def test_instructions(folder):
    guest = Guest(folder, 'measured')
    target = guest.calls('target')
    slow = longest_first(target)
    for n, (begin, end) in enumerate(slow[:3]):
        event = f'slowest:target#{n + 1}'
        same(selected(guest, '--window', '60', '--before', event),
             guest.pcs[end - 60:end])
        same(selected(guest, '--window', '60', '--after', event),
             guest.pcs[begin:begin + 60])
    limit = slow[3][1] - slow[3][0]
    long = sorted((end, begin) for begin, end in target if end - begin > limit)
    need(2 <= len(long) <= 3, f'{long}')
    for n, (end, begin) in enumerate(long):
        same(selected(guest, '--window', '1k', '--after',
                      f'slower:tar*>{limit}#{n + 1}'),
             guest.pcs[begin:begin + 1000])
    second = guest.begins('beta')[1]
    same(selected(guest, '--window', '9', '--before', 'sym:beta#2'),
         guest.pcs[second - 9:second])
    # The six interrupts and nine faults are before the storm.
    storm = guest.begins('handler')[15 + 2]
    same(selected(guest, '--window', '9', '--after', 'trap:illegal*#3'),
         guest.pcs[storm:storm + 9])
    same(selected(guest, '--window', '9', '--before', 'trap:illegal*#3'),
         guest.pcs[storm - 9:storm])
    # A window may be longer than what is there.
    first = guest.begins('alpha')[0]
    same(selected(guest, '--window', '1G', '--before', 'sym:alpha'),
         guest.pcs[:first])
    same(selected(guest, '--window', '1G', '--after', 'sym:alpha'),
         guest.pcs[first:])


def test_traps(folder):
    """As call stacks name them, and those that latency says took longest"""
    guest = Guest(folder, 'measured')
    worst = [r for r in guest.answer('latency')['worst']
             if r['kind'] == 'interrupt']
    need(len(worst) > 2, f'{worst}')
    for n, row in enumerate(worst):
        same(selected(guest, '--window', str(row['insns']), '--after',
                      f'slowest:[machine software interrupt]#{n + 1}'),
             guest.pcs[row['from']:row['to']])
        # ... whose places are borders as they stand
        same(selected(guest, '--hart', str(row['hart']), '--from',
                      str(row['from']), '--to', str(row['to'])),
             guest.pcs[row['from']:row['to']])


def test_times(folder):
    """By -icount, an instruction has always taken as long."""
    guest = Guest(folder, 'measured', *TIMES)
    begin, end = longest_first(guest.calls('target'))[0]
    event = f'slower:target>{((end - begin) << SHIFT) - STEP}ns'
    for length in (40_000, 500_000, 1_200_000):
        got = selected(guest, '--window', f'{length}ns', '--before', event)
        first = end - len(got)
        same(got, guest.pcs[first:end])
        near_length(guest, first, end, length)
        got = selected(guest, '--window', f'{length}ns', '--after', event)
        same(got, guest.pcs[begin:begin + len(got)])
        near_length(guest, begin, begin + len(got), length)
    # Any view has the same part.
    text = guest.ask('report', '--format', 'json', '--window', '40us',
                     '--before', event)
    need('"target"' in text, text)


def near_length(guest, begin, end, ns):
    """... but for what is not there"""
    if 0 < begin and end < len(guest.pcs):
        need(abs(((end - begin) << SHIFT) - ns) <= 2 * STEP,
             f'{(end - begin) << SHIFT} ns instead of {ns}')


def test_index(folder):
    """What an index spares changes nothing."""
    guest = Guest(folder, 'measured', *TIMES)
    windows = [['--window', length, option, f'slower:target>250us#{n}']
               for length in ('1000', '300us')
               for option in ('--before', '--after') for n in (1, 3)]
    without = [guest.ask('calls', '--sym', '*', *w) for w in windows]
    guest.ask('index', '--every', '1000')
    same([guest.ask('calls', '--sym', '*', *w) for w in windows], without)
    need(len(set(without)) > 2, f'{without}')


def test_processes(folder):
    """Events of others do not count."""
    guest = Guest(folder, 'switched', machine=INFO)
    calls = guest.answer('calls', '--sym', 'wait_for_it')['rows']
    need({c['comm'] for c in calls} == {'a', 'b'}, f'{calls}')
    for call in calls:
        want = guest.answer('calls', '--sym', '*', '--process', call['comm'],
                            '--from', str(call['from']),
                            '--to', str(call['from'] + 50))
        same(guest.answer('calls', '--sym', '*', '--process', call['comm'],
                          '--window', '50', '--after', 'sym:wait_for_it'),
             want)


def test_refusals(folder):
    guest = Guest(folder, 'measured')
    need('there is none' in refused(guest, '--window', '10', '--before',
                                    'slower:target>100M'), 'no reason')
    need('only 15' in refused(guest, '--window', '10', '--before',
                              'sym:target#16'), 'no number')
    need('does not report the time' in refused(
        guest, '--window', '10ms', '--before', 'sym:target'), 'no reason')
    need('does not report the time' in refused(
        guest, '--window', '10', '--after', 'slower:target>1us'), 'no reason')
    for options in (['--window', '10'], ['--before', 'sym:target'],
                    ['--window', '10', '--before', 'sym:a', '--after',
                     'sym:b'],
                    ['--window', '10', '--before', 'sym:a', '--from', '3']):
        need('--window LENGTH goes with' in refused(guest, *options),
             f'{options}')
    for event in ('target', 'sym:', 'sym:target#0', 'slower:target',
                  'slower:target>', 'slower:target>0', 'slower:>1ms',
                  'slowest:target#101', 'mark:', 'trap:#1'):
        need('must be sym:FUNCTION' in refused(
            guest, '--window', '10', '--before', event), event)
    need('must be a time' in refused(guest, '--window', '0', '--before',
                                     'sym:target'), '0')


tests = [
    ('windows of instructions', test_instructions),
    ('windows at traps', test_traps),
    ('windows of time', test_times),
    ('windows, with an index', test_index),
    ('windows of a process', test_processes),
    ('windows that are refused', test_refusals),
]
