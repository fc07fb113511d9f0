# SPDX-License-Identifier: GPL-2.0-or-later
#
# The Python module says of these guests what the command does, with times and
# without; see run.sh. Its tables without times are compared column by column in
# ../../cli/test-python.py.

import os
import sys
import warnings

from asked import HERE, INFO, RVTRACE, TIMES, Guest, rows, same

sys.path.insert(0, os.path.join(HERE, *3 * ['..'], 'python'))

import rvtrace                      # noqa: E402  # pylint: disable=C0413


def columns(table, *names):
    return [tuple(getattr(row, name) for name in names) for row in table]


def of(guest):
    # of the storm, which is meant
    warnings.simplefilter('ignore', rvtrace.RvtraceWarning)
    return rvtrace.Run(command=RVTRACE, options=[
        '--trace', f'{guest.folder}/trace', '--sideband',
        f'{guest.folder}/sideband', '--elf', guest.elf])


def measured(folder, ns, *options):
    guest = Guest(folder, 'measured', *options)
    run = of(guest)
    calls = run.calls('again')
    same(columns(calls, 'start', 'end'), guest.calls('again'))
    same([row.caller for row in calls], ['main'] + 3 * ['again'])
    for row in calls:
        same(run.during(row).summary().selected, row.end - row.start)
    callers = run.callers('target')
    same({row.caller: row.calls for row in callers},
         {'alpha': 3, 'beta': 5, 'handler': 6, 'main': 1})
    answer = guest.answer('calls', '--callers', '--sym', 'target')
    same(columns(callers, 'caller', 'longest', 'insns'),
         rows(answer, 'caller', f'longest{ns}', 'insns'))
    answer = guest.answer('latency')
    latencies = run.latencies()
    names = 'min', 'p50', 'p90', 'p99', 'max', 'total'
    same(columns(latencies, 'kind', 'name', 'number', 'count', *names),
         rows(answer, 'kind', 'name', 'number', 'count',
              *(name + ns for name in names)))
    same({row.number for row in latencies if row.kind == 'syscall'}, {63, 64})
    same(columns(latencies.histogram, 'name', 'start', 'count'),
         [(row['name'], row[f'from{ns}'], row['count'])
          for row in answer['histogram']])
    for row in latencies.worst:
        same(guest.pcs[row.start], guest.at['handler'])
    faults = run.faults()
    same(columns(faults, 'cause', 'epc', 'count', 'tval_min', 'tval_max'), [
        ('illegal instruction', guest.at['fault_storm'], 1500, 0, 0),
        ('load access fault', guest.at['fault_7'], 7, 8, 0x38),
        ('load access fault', guest.at['fault_2'], 2, 0x100, 0x100)])
    same(faults.totals['exceptions'], 1509)
    functions = {row.sym: row for row in run.functions()}
    same([functions[name].addr for name in ('alpha', 'main')],
         [guest.at['alpha'], guest.at['main']])
    same(run.summary().instructions, len(guest.pcs))
    return guest, run, calls


def test_measured(folder):
    _, run, calls = measured(folder, '')
    same([calls.totals['clock'], calls[0].ns, calls[0].time],
         ['instructions', None, None])
    same(run.summary().ns, None)


def test_times(folder):
    guest, run, calls = measured(folder, '_ns', *TIMES)
    same(calls.totals['clock'], 'virtual time, ns')
    same(columns(calls, 'time', 'ns', 'away'),
         rows(guest.answer('calls', '--sym', 'again'), 'time', 'ns', 'away_ns'))
    same(run.summary().ns, guest.answer('summary')['ns'])
    timed = run.only('--weight=time')
    want = guest.answer('report', '--weight', 'time')['rows']
    same(columns(timed.functions(), 'own', 'total', 'sym'),
         [(row['own_ns'], row['total_ns'], row['sym']) for row in want])
    same({row.difference for row in timed.diff(timed)}, {0})
    same(columns(run.privileges('50us'), 'start', 'instructions'), rows(
        guest.answer('privilege', '--every', '50us'), 'from_ns', 'instructions'))


def switched(folder, ns, waited, *options):
    guest = Guest(folder, 'switched', *options, machine=INFO)
    run = of(guest)
    names = 'longest', 'ready', 'longest_wait'
    same(columns(run.switches(), 'comm', 'tid', 'ns', 'waited', *names),
         [(row['comm'], row['tid'], row.get('ns'), row[waited],
           *(row[name + ns] for name in names))
          for row in guest.answer('switches')['rows']])
    runs = run.task_runs(comm='a')
    places = [i + 1 for i, pc in enumerate(guest.pcs)
              if pc == guest.at['switched']]
    same({row.start for row in runs} <= set(places), True)
    same({row.inside for row in runs if row.why == 'syscall'}, {'wait_for_it'})
    same([row.time is None for row in runs], [not ns] * len(runs))


def test_switched(folder):
    switched(folder, '', 'waited')


def test_switch_times(folder):
    switched(folder, '_ns', 'blocked_ns', *TIMES)


tests = [
    ('Python: calls, latency and faults', test_measured),
    ('Python: calls and latency, with times', test_times),
    ('Python: switches', test_switched),
    ('Python: switches, with times', test_switch_times),
]
