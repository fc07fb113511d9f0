# SPDX-License-Identifier: GPL-2.0-or-later
#
# What views.py says of the range of time that a report in a browser shows

import os
import re
import sys
from collections import Counter

from tap import need

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)),
                             *['..'] * 2, 'cli'))

from htmldata import Report     # noqa: E402


def differences(got, want):
    """
    How much stacks differ that are shown: those that are too small are in
    "others" of their callers.
    """
    return sum(abs(n - want[stack]) for stack, n in got.items()
               if stack[-1] != 'others')


def test_ranges(folder, guest, run, stacks):
    """
    An instruction takes 1 ns (-icount shift=0): a range of time has as many as
    it has ns, and of each call stack what --from and --to give, but for what
    ran between two timestamps.
    """
    report = Report(guest.view(folder, 'html'))
    axis, width = report.axis, report.width
    text = run(folder, os.environ['RVTRACE'], 'decode', *guest.files(),
               '--emit', 'packets')
    stamps = [int(ts, 16) for ts in re.findall(r' ts=0x([0-9a-f]+)', text)]
    need(axis['unit'] == 'ns' and axis['to'] == stamps[-1], f'{axis}')
    layers = '--layers=hart,comm,process,thread,priv'

    def folded(*options):
        return Counter({tuple(stack.split(';')): n for stack, n in
                        stacks(folder, guest, layers, *options).items()})

    whole = report.stacks()
    need(len(whole) > 20 and whole.total() == len(guest.pcs) and
         not differences(whole, folded()), 'all bins')
    need(sum(report.hart(0, 'times')) == axis['to'] - axis['from'],
         'times of tasks')
    # Times that are closer than this are taken together.
    near = 10000 + max(b - a for a, b in zip(stamps[1:], stamps[2:]))
    # The clock ran before the machine did, up to the second one.
    begin, last = stamps[2] // width + 1, axis['nodeBins'] - 1
    need(last - begin > 50, f'{last} - {begin}')
    for first, end in ((begin, last - 20), (begin + 9, begin + 30),
                       (last - 40, last)):
        start, stop = (axis['start'] + n * width for n in (first, end))
        got = report.stacks(first, end)
        want = folded('--from', f'{start}ns', '--to', f'{stop}ns')
        need(abs(got.total() - (stop - start)) <= 2 * near,
             f'{got.total()} instructions in {stop - start} ns')
        differ = differences(got, want)
        need(differ <= 4 * near, f'{start} to {stop} ns: {differ} differ')
    return f'{axis["nodeBins"]} bins of {width} ns'
