#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares a tracefile of lcov's with what gcov says of the same source.

lines.py SOURCE.gcov TRACEFILE SOURCE [--optimised]

Says which lines differ, and fails if one does: how often it ran, or, with
--optimised, if it ran by gcov and did not by the trace. (The other way round
it may: compilers move instructions to where they always run.) gcov has lines
of functions' names and labels; line tables have those of their braces. So what
only one of the two has is no difference, but most lines must be in both.
"""

import sys


def gcov_lines(path):
    lines = {}
    with open(path, encoding='utf-8') as file:
        for text in file:
            fields = text.split(':', 2)
            if len(fields) < 3:
                continue
            count, number = fields[0].strip().rstrip('*'), int(fields[1])
            if number and count != '-':
                lines[number] = 0 if count[0] in '#=' else int(count)
    return lines


def lcov_lines(path, source):
    lines, here = {}, False
    with open(path, encoding='utf-8') as file:
        for text in file:
            key, _, value = text.strip().partition(':')
            if key == 'SF':
                here = value.endswith('/' + source)
            elif key == 'DA' and here:
                number, count = value.split(',')
                lines[int(number)] = int(count)
    return lines


def main():
    gcov = gcov_lines(sys.argv[1])
    ours = lcov_lines(sys.argv[2], sys.argv[3])
    optimised = '--optimised' in sys.argv
    both = sorted(set(gcov) & set(ours))
    wrong = [n for n in both if (gcov[n] and not ours[n] if optimised else
                                 gcov[n] != ours[n])]
    print(f'# gcov has {len(gcov)} lines, the trace {len(ours)}, '
          f'both {len(both)}')
    for number in wrong:
        print(f'# line {number}: gcov {gcov[number]}, trace {ours[number]}')
    least = 0.4 if optimised else 0.6
    return 1 if wrong or len(both) < least * len(gcov) or \
        not any(ours[n] == 0 for n in both) else 0


sys.exit(main())
