#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Privilege levels by intervals: test-levels.py RVTRACE SYNTH-WRITE
#
# SYNTH-WRITE says in which level each instruction ran. Its traces have no times.
# Speaks TAP.

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter

from checks import check, tap

TOOL, SYNTH = (os.path.abspath(path) for path in sys.argv[1:3])
INSNS = 20000
# ETracePriv, as SYNTH-WRITE has it
NAMES = {'0': 'U-mode', '1': 'S-mode', '3': 'M-mode', '5': 'VU-mode',
         '6': 'VS-mode'}


def wanted(privs, interval):
    """A row for each interval: how many instructions of each level"""
    return [{'from': at, 'instructions': len(privs[at:at + interval]),
             **Counter(NAMES[priv] for priv in privs[at:at + interval])}
            for at in range(0, len(privs), interval)]


def some(rows):
    """Without what is 0"""
    return [{key: value for key, value in row.items()
             if value or key == 'from'} for row in rows]


class Traced:
    def __init__(self, folder, harts):
        self.folder = folder
        os.mkdir(folder)
        subprocess.run([SYNTH, '7', str(harts), str(INSNS), folder],
                       check=True)
        self.input = ['--trace', f'{folder}/trace', '--sideband',
                      f'{folder}/sideband']

    def run(self, command, *options):
        done = subprocess.run([TOOL, command, *self.input, *options],
                              capture_output=True, timeout=300, check=False,
                              text=True)
        return done.returncode, done.stdout, done.stderr

    def rows(self, *options):
        """Of JSON, without what is 0"""
        status, out, err = self.run('privilege', '--format', 'json', *options)
        return some(json.loads(out)['rows']) if not status else err

    def privs(self):
        """A string for each hart, with a digit for each instruction"""
        with open(f'{self.folder}/privs', encoding='ascii') as f:
            return f.read().split()


def numbers(one):
    [privs] = one.privs()
    check('a trace of all levels', set(privs) == set(NAMES), set(privs))
    for interval in 1, 7, 1000, 1 << 40:
        got = one.rows('--every', str(interval))
        check(f'in intervals of {interval}', got == wanted(privs, interval),
              str(got)[:300])
    got = one.rows('--every', '2k')
    check('in intervals of 2k', got == wanted(privs, 2000), got)
    got = one.rows()
    check('of a million, if nobody says', got == wanted(privs, 1000000), got)
    got = one.rows('--every', '1000', '--from', '5500', '--to', '9k')
    check('of a part', got == wanted(privs[5500:9000], 1000), got)


def formats(one):
    status, out, _ = one.run('privilege', '--every', '5k', '--format', 'tsv')
    head, *lines = [line.split('\t') for line in out.splitlines()]
    check('tsv', status == 0 and
          some(dict(zip(head, map(int, line))) for line in lines) ==
          one.rows('--every', '5k'), out)
    status, out, _ = one.run('privilege', '--every', '5k')
    rows = [line.split() for line in out.splitlines()[2:]]
    insns = len(one.privs()[0])
    check('text', status == 0 and f'# {insns} instructions, in intervals of '
          '5000 instructions of each hart\n' in out and
          [row[0] for row in rows] == [str(at) for at in range(0, insns, 5000)], out)
    check('shares are of all of a row',
          all(abs(sum(float(share.strip('%')) for share in row[2:]) - 100) < .1
              for row in rows), out)
    both = f'{one.folder}/both'
    status, _, err = one.run('decode', '--output', f'privilege={both}',
                             '--output', f'report={both}.report', '--format',
                             'json', '--every', '3k', '--layers', 'thread')
    with open(both, encoding='utf-8') as f:
        check('beside another view', status == 0 and
              some(json.load(f)['rows']) == one.rows('--every', '3k'), err)


def harts(two):
    sums = {}
    for hart, privs in enumerate(two.privs()):
        got = two.rows('--every', '3k', '--hart', str(hart))
        check(f'hart {hart}', got == wanted(privs, 3000), got)
        for row in got:
            sums.setdefault(row['from'], Counter()).update(row)
    want = [{**row, 'from': at} for at, row in sorted(sums.items())]
    got = two.rows('--every', '3k')
    check('both harts', got == want, f'{got}, not {want}')


def refused(one):
    for options, text in (
            (['--every', '0'], 'must be a time, as in 100ms, or a number'),
            (['--every', '0ns'], 'must be a time'),
            (['--every', '-1'], 'must be a time'),
            (['--every', '1x'], 'must be a time'),
            (['--every', '1ms'], 'the trace does not report the time'),
            (['--every', '1ms', '--time', 'instructions'],
             'there is --time instructions'),
            (['--format', 'csv'], 'must be text, tsv or json'),
            (['--shard', '1/2'], 'cannot be added up')):
        status, out, err = one.run('privilege', *options)
        check(f'privilege {" ".join(options)}', status == 2 and not out and
              text in err, f'{status}: {err}')


def main():
    with tempfile.TemporaryDirectory() as folder:
        one = Traced(f'{folder}/one', 1)
        numbers(one)
        formats(one)
        harts(Traced(f'{folder}/two', 2))
        refused(one)
    tap.end()


if __name__ == '__main__':
    sys.exit(main())
