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
import shutil
import subprocess
import sys
import tempfile

from checks import check, skip, tap

TOOL, SYNTH = (os.path.abspath(path) for path in sys.argv[1:3])
SCHEMA = 1
# Options that a command needs, and those that make its text complete
MORE = {'calls': ['--sym', '*'], 'report': ['--percent-limit', '0'],
        'annotate': ['--percent-limit', '0'], 'index': ['--list']}
# Tables that are in the JSON besides the rows, and how to have them as TSV
TABLES = {'latency': {'worst': ['--table', 'worst'],
                      'histogram': ['--table', 'histogram']}}


def run(*words):
    done = subprocess.run([TOOL, *words], capture_output=True, timeout=120,
                          check=False, text=True)
    return done.stdout if done.returncode == 0 else done.stderr


def annotated(rows, text):
    """Is each instruction in a line, with all of its figures that are not 0?"""
    lines = {}
    for line in text.splitlines():
        if match := re.match(r'\s*(?:[\d.]+%)?\s+(\d+)\s+([0-9a-f]+):  (.*)', line):
            lines[f'0x{match[2]}', int(match[1])] = match[3]
    for row in rows:
        rest = lines.get((row['addr'], row['count']))
        if rest is None or row['insn'] not in rest or \
                (row['notes'] or '') not in rest or any(
                str(row[key]) not in re.findall(r'\d+', row['notes'])
                for key in ('taken', 'not_taken', 'not_known', 'exceptions',
                            'interrupts')
                if row[key]):
            return f'annotate: {row} is not in the text'
    return '' if len(lines) == len(rows) else \
        f'{len(rows)} rows of {len(lines)} lines'


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
    elif name == 'index':
        # Behind the places of each hart, the text has how much it ran in all.
        totals = {int(hart): int(insns) for hart, insns in
                  re.findall(r'^ *(\d+) +(\d+)  in all$', plain, re.M)}
        check('index: what each hart ran in all', totals and totals == {
            row['hart']: row['instructions'] for row in answer['harts']},
            f'{answer["harts"]}, not {totals}')
        check('index: the same numbers as text',
              not shown(answer['rows'], plain, name))
    elif name == 'annotate':
        note = annotated(answer['rows'], plain)
        check('annotate: the same figures as text', not note, note)
        wrong = [row for row in answer['rows'] if row['taken'] is not None and
                 row['count'] != sum(row[key] for key in (
                     'taken', 'not_taken', 'not_known'))]
        check('annotate: how branches went on', not wrong, wrong)
        names = [{(row['dso'], row['sym']) for row in rows} for rows in
                 (answer['rows'], json.loads(run(
                     'report', *files, '--format', 'json'))['rows'])]
        check('annotate: the names of report', names[0] == names[1], names)
    else:
        check(f'{name}: a level is "priv"', 'privilege' not in
              answer['rows'][0], answer['rows'][0])
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


def different(folder, files):
    """verify with what retired in another run"""
    os.mkdir(f'{folder}/other')
    subprocess.run([SYNTH, '8', '2', '20000', f'{folder}/other'], check=True)
    done = subprocess.run([TOOL, 'verify', *files, '--truth',
                           f'{folder}/other/truth', '--format', 'json'],
                          capture_output=True, check=False)
    row = json.loads(done.stdout)['rows'][0]
    check('verify: what differs', done.returncode == 1 and
          row['verdict'] == 'different' and row['checkpoints_differing'] and
          row['instructions_right'] == 0, row)


def loop(folder):
    """The options of a trace of a loop of three rounds with its program"""
    with open(f'{folder}/loop.S', 'w', encoding='ascii') as f:
        f.write('''.globl _start
                .type _start, @function
                _start: li a0, 3
                1: addi a0, a0, -1
                bnez a0, 1b
                j .
                .size _start, . - _start
                ''')
    subprocess.run(['riscv64-linux-gnu-gcc', '-g', '-nostdlib', '-static',
                    '-no-pie', '-march=rv64g', '-Wl,-Ttext=0x10000',
                    f'{folder}/loop.S', '-o', f'{folder}/loop'], check=True)
    with open(f'{folder}/packets', 'w', encoding='ascii') as f:
        f.write('params\n'
                'inst format=3 subformat=0 branch=1 privilege=3 '
                'address=0x10000\n'
                'inst format=1 branches=3 branch_map=4 address=0xc\n')
    run('encode', '--packets', f'{folder}/packets', '--output',
        f'{folder}/loop.trace')
    return ['--trace', f'{folder}/loop.trace', '--elf', f'{folder}/loop']


with tempfile.TemporaryDirectory() as top:
    subprocess.run([SYNTH, '7', '2', '20000', top], check=True)
    streams = ['--trace', f'{top}/trace', '--sideband', f'{top}/sideband']
    names = with_json()
    check('commands have JSON', {'report', 'stat', 'summary', 'calls',
                                 'latency', 'switches', 'faults', 'why-hung',
                                 'privilege', 'diff', 'verify', 'index',
                                 'annotate'} == set(names), names)
    run('index', *streams, '--every', '1000')
    MORE['verify'] = ['--truth', f'{top}/truth']
    for command in names:
        if command == 'diff':
            compare(top, streams)
        elif command == 'annotate':
            if shutil.which('riscv64-linux-gnu-gcc'):
                look_at('annotate', loop(top))
            else:
                skip('annotate', 'there is no riscv64-linux-gnu-gcc')
        elif command == 'verify':
            look_at('verify', streams)
            different(top, streams)
        else:
            look_at(command, streams)
sys.exit(tap.end())
