#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The counts by time in reports: test-report.py RVTRACE SYNTH-WRITE
#
# What a report has of a range is what other views say of --from and --to; in
# all, it is what they say of the whole trace. Speaks TAP.

import collections
import os
import subprocess
import sys
import tempfile

from checks import check, tap
from htmldata import Report

LAYERS = '--layers=hart,comm,process,thread,priv'


class Program:
    """rvtrace on the trace of a folder"""

    def __init__(self, program, folder):
        self.program = program
        self.folder = folder

    def __call__(self, command, *args):
        done = subprocess.run(
            [self.program, command, '--trace', f'{self.folder}/trace',
             '--sideband', f'{self.folder}/sideband', *args],
            capture_output=True, check=False)
        if done.returncode:
            raise RuntimeError(done.stderr.decode())
        return done.stdout.decode()

    def report(self, *args):
        path = os.path.join(self.folder, 'report.html')
        self('html', '-o', path, *args)
        return Report(path)

    def folded(self, *args):
        """Call stacks as another view has them, like Report.stacks()"""
        sums = collections.Counter()
        for line in self('folded', LAYERS, *args).splitlines():
            stack, count = line.rsplit(' ', 1)
            sums[tuple(stack.split(';'))] += int(count)
        return sums


def first_difference(got, want):
    for key in sorted(set(got) | set(want)):
        if got[key] != want[key]:
            return f'{";".join(key)}: {got[key]}, not {want[key]}'
    return ''


def same(name, got, want):
    check(name, got == want and want, first_difference(got, want) or 'nothing')


def whole(run, harts):
    report = run.report()
    axis = report.axis
    check('the axis is instructions', axis['unit'] == 'instructions', axis)
    check('there are enough bins, and not too many',
          100 < axis['nodeBins'] <= 257 and axis['bins'] ==
          axis['nodeBins'] * axis['per'], axis)
    same('all bins are the whole profile', report.stacks(), run.folded())
    for hart in range(harts):
        insns = report.data['harts'][hart]['insns']
        check(f'hart {hart}: tasks have all instructions',
              sum(report.hart(hart, 'tasks')) == insns, insns)
    return report


def ranges(run, report):
    bins = report.axis['nodeBins']
    for first, last in ((0, 1), (0, bins // 3), (bins // 3, bins // 2),
                        (bins - 5, bins)):
        start, end = first * report.width, last * report.width
        same(f'bins {first} to {last} are --from {start} --to {end}',
             report.stacks(first, last),
             run.folded('--from', str(start), '--to', str(end)))


def traps(run, report, harts):
    """As many as another view counts, in all bins and by their names"""
    hart, want = None, collections.Counter()
    for line in run('stat').splitlines():
        words = line.split()
        if line[:1] not in ('', ' '):
            hart = int(words[1]) if words[0] == 'hart' else None
        elif words and words[0] in ('exceptions', 'interrupts'):
            want[hart, words[0]] += int(words[1])
    names = report.data['traps']
    for hart in range(harts):
        got = collections.Counter()
        for name, count in zip(names, report.hart(hart, 'traps')):
            got['interrupts' if 'interrupt' in name else
                'exceptions'] += count
        check(f'hart {hart}: all traps are there',
              got['interrupts'] == want[hart, 'interrupts'] > 0 and
              got['exceptions'] == want[hart, 'exceptions'] > 0,
              f'{got}, not {want}')


def notes(report, folder):
    """Each note stands where the program that made the trace took it."""
    with open(f'{folder}/notes', encoding='ascii') as f:
        taken = [int(line.split()[1]) for line in f if line[0] == '0']
    # that program takes two notes at each place, these four in turns
    texts = [['mark a', 'begin work'], ['mark b', 'end work']]
    want = [(at, text) for i, at in enumerate(taken) for text in texts[i % 2]]
    kinds = ['lost', 'begin', 'end', 'mark']
    got = [(at, f'{kinds[kind]} {text}')
           for at, kind, text in report.data['harts'][0]['marks'] if kind]
    check('notes are where they were taken', got == want, f'{got}, not {want}')


def main():
    program, synth = map(os.path.realpath, sys.argv[1:3])
    with tempfile.TemporaryDirectory() as folder:
        # so few instructions that no stack is too small to be shown
        subprocess.run([synth, '5', '2', '9000', folder, 'notes'],
                       check=True)
        run = Program(program, folder)
        report = whole(run, 2)
        ranges(run, report)
        traps(run, report, 2)
        notes(report, folder)
        part = run.report('--from', '3000', '--to', '9000')
        same('a report of a selection has that', part.stacks(),
             run.folded('--from', '3000', '--to', '9000'))
    tap.end()


if __name__ == '__main__':
    main()
