#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The Python module rvtrace: test-python.py RVTRACE SYNTH-WRITE
#
# Its rows are those that the command writes as TSV, column by column; what ran is
# what SYNTH-WRITE says; what goes wrong is said in the command's words. Tables
# with times are compared in tests/machines/questions. Speaks TAP.

import json
import os
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from dataclasses import fields, replace

from checks import check, tap

TOP = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.realpath(__file__))))
sys.path.insert(0, os.path.join(TOP, 'python'))

import rvtrace                              # noqa: E402  # pylint: disable=C0413

TOOL, SYNTH = (os.path.abspath(path) for path in sys.argv[1:3])
HARTS, INSNS = 2, 20000
# Columns that have another name in Python
NAMES = {'from': 'start', 'to': 'end', 'in': 'inside'}


def command(*words):
    return subprocess.run([TOOL, *words], capture_output=True, timeout=120,
                          check=False, text=True)


def value_of(text, kind):
    """A cell of TSV as a value of Python, of the type's annotation"""
    if text == '-':
        return None
    if 'int' in str(kind):
        return int(text, 16 if text.startswith('0x') else 10)
    return text


def same_as_tsv(name, got, cls, streams, *words):
    """All rows, and all columns: those that TSV lacks are None."""
    done = command(*words, *streams, '--format', 'tsv')
    head, *lines = [line.split('\t') for line in done.stdout.splitlines()]
    types = {f.name: f.type for f in fields(cls)}
    columns = [NAMES.get(column, column) for column in head]
    unknown = [column for column in columns if column not in types]
    want = [{**dict.fromkeys(types),
             **{c: value_of(text, types[c]) for c, text in zip(columns, line)}}
            for line in lines] if not unknown else unknown
    rows = [{f: getattr(row, f) for f in types} for row in got]
    check(name, rows == want and rows and {type(row) for row in got} == {cls},
          f'{rows[:2]} instead of {want[:2]}')


def tables(run, streams):
    """Of every method that has one"""
    busy = run.functions()[0].sym
    for name, got, cls, words in (
            ('functions', run.functions(), rvtrace.Function, ['report']),
            ('functions of a name', run.functions(sym=busy), rvtrace.Function,
             ['report', '--sym', busy]),
            ('functions of a task', run.functions(comm='*', dso='*'),
             rvtrace.Function, ['report', '--comm', '*', '--dso', '*']),
            ('report', run.report('comm', 'pid', 'priv', 'hart'),
             rvtrace.ReportRow, ['report', '--sort', 'comm,pid,priv,hart']),
            ('report by functions', run.report('sym', 'tid'),
             rvtrace.ReportRow, ['report', '--sort', 'sym,tid']),
            ('report by lines', run.report('srcline', 'srcfile'),
             rvtrace.ReportRow, ['report', '--sort', 'srcline,srcfile']),
            ('calls', run.calls('*'), rvtrace.Call, ['calls', '--sym', '*']),
            ('callers', run.callers('*'), rvtrace.Caller,
             ['calls', '--callers', '--sym', '*']),
            ('latencies', run.latencies(), rvtrace.Latency, ['latency']),
            ('the longest ones', run.latencies(worst=7).worst, rvtrace.Slow,
             ['latency', '--table', 'worst', '--worst', '7']),
            ('a histogram', run.latencies(sym='*').histogram, rvtrace.Bin,
             ['latency', '--table', 'histogram', '--sym', '*']),
            ('switches', run.switches(), rvtrace.TaskTime, ['switches']),
            ('runs of tasks', run.task_runs(comm='*'), rvtrace.TaskRun,
             ['switches', '--list']),
            ('faults', run.faults(), rvtrace.Fault, ['faults']),
            ('a part', run.only('--from=3k', '--to=9k').functions(),
             rvtrace.Function, ['report', '--from', '3k', '--to', '9k'])):
        same_as_tsv(name, got, cls, streams, *words)
    same_as_tsv('ways from A to B', run.latencies(between='[*..[*'),
                rvtrace.Latency, streams, 'latency', '--between', '[*..[*')
    done = command('stat', *streams, '--format', 'json')
    want = json.loads(done.stdout)
    check('any command', run.json('stat') == want, want)


def truth(run, folder):
    """How many instructions each hart ran in each level"""
    names = {'0': 'U-mode', '1': 'S-mode', '3': 'M-mode', '5': 'VU-mode',
             '6': 'VS-mode'}
    with open(f'{folder}/privs', encoding='ascii') as file:
        harts = file.read().split()
    want = Counter(names[priv] for privs in harts for priv in privs)
    insns = want.total()
    summary = run.summary()
    check('summary: what ran',
          (summary.harts, summary.instructions, summary.selected,
           summary.losses, summary.ns) ==
          (HARTS, insns, insns, 0, None), summary)
    got = {share.name: share.instructions for share in summary.privileges}
    check('summary: levels', got == want, f'{got}, not {want}')
    check('functions: have all that ran', insns == sum(
        function.own for function in run.functions()))
    rows = run.privileges('3k')
    check('privileges: intervals', [row.start for row in rows] ==
          [*range(0, max(map(len, harts)), 3000)] and rows.totals['interval'] == 3000, rows)
    for row in rows:
        part = Counter(names[priv] for privs in harts for priv in
                       privs[row.start:row.start + 3000])
        check(f'privileges: from {row.start}', row.instructions == part.total()
              and part == {mode: n for mode, n in row.modes.items() if n}, row)


def parts(run):
    """What a row names is what it counts."""
    calls = run.calls('*')
    ended = [call for call in calls if call.end is not None]
    call = max(ended, key=lambda row: row.end - row.start)
    check('during: a call', run.during(call).summary().selected ==
          call.end - call.start > 1, call)
    # A part of a part, by an event: its rows have the hart's own places.
    for name, window in (
            ('a window', ('--window=4k', '--before=sym:*#90')),
            ('a window in two words', ('--window', '4k', '--after', 'sym:*'))):
        part = run.only(*window)
        some = [row for row in part.calls('*') if row.end is not None]
        call = max(some, key=lambda row: row.end - row.start)
        check(f'during: a call in {name}',
              part.during(call).summary().selected ==
              call.end - call.start > 1 and
              part.only('--process=*').during(call).options ==
              [*run.options, '--process=*', f'--hart={call.hart}',
               f'--from={call.start}', f'--to={call.end}'], call)
    [lasting] = [row for row in calls if row.end is None][:1]
    try:
        run.during(lasting)
        check('during: a call without an end', False)
    except ValueError as error:
        check('during: a call without an end', 'not known' in str(error))
    empty = replace(call, end=call.start)
    try:
        run.during(empty)
        check('during: nothing', False)
    except ValueError as error:
        check('during: nothing', 'no instruction' in str(error), error)
    check('calls: how many', calls.totals['calls'] == len(calls) and
          calls.totals['left_out'] == 0 and
          calls.totals['clock'] == 'instructions', calls.totals)


def difference(run):
    """By function, as the two reports have it"""
    a, b = run.only('--to=9k'), run.only('--from=9k')
    own = [Counter(), Counter()]
    for sums, part in zip(own, (a, b)):
        for row in part.report('sym', 'dso'):
            sums[row.dso, row.sym] += row.own
    want = {key: (own[0][key], own[1][key], own[1][key] - own[0][key])
            for key in own[0] | own[1]}
    rows = a.diff(b)
    got = {(row.dso, row.sym): (row.own_a, row.own_b, row.difference)
           for row in rows}
    check('diff', got == want and len(rows) == len(want) > 1,
          f'{got}, not {want}')
    [row] = a.diff(b, 'priv')[:1]
    check('diff: by other keys', row.priv and not row.sym and
          abs(row.difference) >= 1, row)


def failure(function):
    """The error that it raises"""
    try:
        return None, f'no error: {function()}'
    except rvtrace.RvtraceError as error:
        return error.status, str(error)


def fails(name, function, *words):
    """As the command does, with its sentence"""
    done = command(*words)
    status, text = failure(function)
    check(name, status == done.returncode != 0 and
          done.stderr == f'rvtrace: error: {text}\n', f'{status}: {text}')


def errors(run, streams, folder):
    here = dict(command=TOOL)
    fails('no such folder', lambda: rvtrace.Run('nowhere', **here).summary(),
          'summary', 'nowhere')
    fails('a folder like an option',
          lambda: rvtrace.Run('--x', **here).summary(), 'summary', '--', '--x')
    fails('no such key', lambda: run.report('nothing'), 'report', *streams,
          '--sort', 'nothing')
    fails('an option of other commands',
          lambda: run.only('--weight=time').calls('*'), 'calls', *streams,
          '--sym', '*', '--weight=time')
    fails('no times', lambda: run.privileges('1ms'), 'privilege', *streams,
          '--every', '1ms')
    with open(f'{folder}/empty', 'wb'):
        pass
    empty = ['--trace', f'{folder}/empty', '--sideband', f'{folder}/empty']
    fails('nothing in it',
          lambda: rvtrace.Run(options=empty, **here).functions(), 'report',
          *empty)
    status, text = failure(rvtrace.Run(command='/no/rvtrace').summary)
    check('no command', status is None and
          text.startswith('/no/rvtrace cannot be started (No such file'), text)


def verdict(run, folder):
    """That two runs differ is an answer, not an error."""
    os.mkdir(f'{folder}/other')
    subprocess.run([SYNTH, '8', str(HARTS), str(INSNS), f'{folder}/other'],
                   check=True)
    for where, want in (('', 'identical'), ('/other', 'different')):
        answer = run.json('verify', '--truth', f'{folder}{where}/truth')
        check(f'verify: {want}', [row['verdict'] for row in answer['rows']] ==
              [want] * HARTS, answer)
    status, text = failure(lambda: run.json('verify', '--truth', '/no/truth'))
    check('verify: no truth', status == 2 and '/no/truth' in text, text)


def others(folder):
    """Programs that are not this rvtrace"""
    def other(script):
        path = f'{folder}/program'
        with open(path, 'w', encoding='ascii') as file:
            file.write(f'#!/bin/sh\n{script}\n')
        os.chmod(path, 0o755)
        return failure(rvtrace.Run('.', command=path).functions)

    for name, script, status, text in (
            ('a newer schema', 'echo \'{"schema": 2, "rows": []}\'', None,
             'writes JSON of schema 2, and this module reads schema 1'),
            ('no schema', 'echo \'{"rows": []}\'', None, 'does not write'),
            ('not an object', 'echo 1', None, 'does not write'),
            ('cut off', 'echo \'{"schema": 1, "rows": [\'', None,
             'does not write'),
            ('no rows', 'echo \'{"schema": 1}\'', None, 'does not write'),
            ('no such columns', 'echo \'{"schema": 1, "rows": [{"own": 1}]}\'',
             None, "does not write the JSON of rvtrace: KeyError('total')"),
            ('nothing', ':', None, 'does not write'),
            ('a status alone', 'exit 3', 3, 'ended with status 3'),
            ('a signal', 'kill -9 $$', -9, 'ended with status -9')):
        got = other(script)
        check(f'another program: {name}', got[0] == status and text in got[1],
              got)


def warned(run):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter('always')
        rows = run.calls('nothing')
    check('a warning is one of Python, of the line that asked', rows == [] and
          {(w.category, w.filename) for w in caught} ==
          {(rvtrace.RvtraceWarning, __file__)} and
          any(str(w.message).startswith('--sym nothing: no such function')
              for w in caught), caught)


def main():
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([SYNTH, '7', str(HARTS), str(INSNS), folder], check=True)
        streams = ['--trace', f'{folder}/trace',
                   '--sideband', f'{folder}/sideband']
        run = rvtrace.Run(options=streams, command=TOOL)
        # Nothing of these traces has a name.
        warnings.simplefilter('ignore', rvtrace.RvtraceWarning)
        tables(run, streams)
        truth(run, folder)
        parts(run)
        difference(run)
        errors(run, streams, folder)
        verdict(run, folder)
        others(folder)
        warned(run)
    tap.end()


if __name__ == '__main__':
    main()
