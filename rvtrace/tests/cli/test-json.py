#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# JSON of every command that has it: test-json.py RVTRACE SYNTH-WRITE
#
# It is an object with the version of the schema and the command's name, its
# rows are those of TSV, and their numbers are in the text, too. Speaks TAP.

import json
import os
import re
import subprocess
import sys
import tempfile

from checks import check, tap

TOOL, SYNTH = (os.path.abspath(path) for path in sys.argv[1:3])
SCHEMA = 1
# Options that a command needs, and those that make its text complete
MORE = {'calls': ['--sym', '*'], 'report': ['--percent-limit', '0']}
# Tables that are in the JSON besides the rows, and how to have them as TSV
TABLES = {'latency': {'worst': ['--table', 'worst'],
                      'histogram': ['--table', 'histogram']}}


def run(*words):
    done = subprocess.run([TOOL, *words], capture_output=True, timeout=120,
                          check=False, text=True)
    return done.stdout if done.returncode == 0 else done.stderr


def with_json():
    """Commands with --format=text|tsv|json, but those that write others' views"""
    names = re.findall(r'^  ([a-z][a-z-]*) +', run('--help'), re.M)
    return [name for name in names if name not in ('decode', 'merge', 'run', 'ctr-sample')
            and re.search(r'--format=text\|tsv\|json',
                          run(name, '--help-all'))]


def parsed(text):
    """No name is there twice in an object."""
    def unique(pairs):
        assert len(dict(pairs)) == len(pairs), pairs
        return dict(pairs)
    return json.loads(text, object_pairs_hook=unique)


def as_tsv(rows):
    def cell(value):
        return '-' if value is None else str(value)
    return [{key: cell(value) for key, value in row.items()} for row in rows]


def read_tsv(text):
    head, *lines = [line.split('\t') for line in text.splitlines()]
    assert all(len(line) == len(head) for line in lines)
    return [dict(zip(head, line)) for line in lines]


def figures(rows):
    """The numbers that text has of each row; shares are of its own."""
    return [[value for value in row.values() if isinstance(value, int) and
             not isinstance(value, bool)] for row in rows]


def shown(rows, text, note):
    """Are the numbers of each row in a line, without its decoration?"""
    lines = [re.findall(r'\d+', re.sub(r'(?<=\d),(?=\d{3})', '', line))
             for line in text.splitlines()]
    for numbers in figures(rows):
        some = [line for line in lines
                if all(str(number) in line for number in numbers)]
        if not some:
            return f'{note}: no line has {numbers}'
    return ''


def look_at(name, files):
    words = [name, *files, *MORE.get(name, [])]
    text = run(*words, '--format', 'json')
    try:
        answer = parsed(text)
    except (ValueError, AssertionError) as err:
        check(f'{name}: is JSON', False, f'{err}: {text[:300]}')
        return
    check(f'{name}: says what it is',
          (answer.get('schema'), answer.get('command')) == (SCHEMA, name) and
          list(answer)[:2] == ['schema', 'command'], list(answer))
    check(f'{name}: ends as a line does', text.endswith('}\n'))
    tables = {'rows': [], **TABLES.get(name, {})}
    for table, options in tables.items():
        rows = as_tsv(answer[table])
        got = read_tsv(run(*words, '--format', 'tsv', *options))
        check(f'{name}: {table} are those of TSV', got == rows,
              f'{got[:2]} instead of {rows[:2]}')
        check(f'{name}: {table} have null for unknown values', not any(
            value in ('', '-') for row in answer[table]
            for value in row.values()), answer[table][:2])
    plain = run(*words)
    if name == 'stat':
        # A line for each of them, in the part of the hart
        parts = re.split(r'^(?:hart \d+|total|stream)\n', plain, flags=re.M)
        wrong = [row for row, part in zip(answer['rows'], parts[1:])
                 for key, value in row.items() if value and key != 'hart' and
                 str(value) not in re.findall(r'\d+', part)]
        check('stat: the same numbers as text', not wrong, wrong)
    elif name == 'summary':
        numbers = re.findall(r'\d+', plain.replace(',', ''))
        wrong = [key for key in ('instructions', 'exceptions', 'interrupts')
                 if str(answer[key]) not in numbers]
        check('summary: the same numbers as text', not wrong, wrong)
        check('summary: all of it has a privilege level', answer['selected'] ==
              sum(r['instructions'] for r in answer['privileges']))
    elif name == 'privilege':
        check('privilege: all of it is in a row', answer['instructions'] ==
              sum(r['instructions'] for r in answer['rows']), answer)
    else:
        note = shown(answer['rows'], plain, name)
        check(f'{name}: the same numbers as text', not note, note)
    check(f'{name}: refuses other formats',
          'must be text, tsv or json' in run(*words, '--format', 'xml'))


def compare(folder, files):
    """diff, which reads two reports"""
    for name, part in ('a', '9k'), ('b', '12k'):
        with open(f'{folder}/{name}', 'w', encoding='utf-8') as f:
            f.write(run('report', *files, '--format', 'tsv', '--to', part))
    look_at('diff', [f'{folder}/a', f'{folder}/b'])


with tempfile.TemporaryDirectory() as top:
    subprocess.run([SYNTH, '7', '2', '20000', top], check=True)
    streams = ['--trace', f'{top}/trace', '--sideband', f'{top}/sideband']
    names = with_json()
    check('commands have JSON', {'report', 'stat', 'summary', 'calls',
                                 'latency', 'switches', 'faults', 'why-hung',
                                 'privilege', 'diff'} == set(names), names)
    for command in names:
        if command == 'diff':
            compare(top, streams)
        else:
            look_at(command, streams)
sys.exit(tap.end())
