# SPDX-License-Identifier: GPL-2.0-or-later
#
# What views.py says of privilege levels by time

import json
import os
import re

from tap import need


def test_levels(folder, guest, run):
    """
    An instruction takes 1 ns (-icount shift=0): an interval of time has as many
    as it has ns, but for what ran between two timestamps. dhry never leaves
    M-mode.
    """
    rvtrace = os.environ['RVTRACE']
    text = run(folder, rvtrace, 'decode', *guest.files(), '--emit', 'packets')
    stamps = [int(ts, 16) for ts in re.findall(r' ts=0x([0-9a-f]+)', text)]
    near = max(b - a for a, b in zip(stamps[1:], stamps[2:]))
    width = 4 * near
    table = json.loads(run(folder, rvtrace, 'privilege', *guest.files(),
                           '--format', 'json', '--every', f'{width}ns'))
    rows = table['rows']
    need(table['interval_ns'] == width and table['instructions'] ==
         len(guest.pcs) == sum(row['M-mode'] for row in rows),
         f'{len(guest.pcs)} instructions: {table}')
    need([row['from_ns'] for row in rows] ==
         list(range(rows[0]['from_ns'], stamps[-1] + 1, width)), f'{rows}')
    # The clock stood at 0 until the machine ran. The last one is not full.
    late = sorted(set(stamps))[1]
    full = [row for row in rows[:-1] if row['from_ns'] >= late]
    need(len(full) > 5 and all(abs(row['M-mode'] - width) <= near
                               for row in full), f'{near}: {rows}')
    by_insns = json.loads(run(folder, rvtrace, 'privilege', *guest.files(),
                              '--format', 'json', '--time', 'instructions',
                              '--every', '10k'))['rows']
    need([row['M-mode'] for row in by_insns[:-1]] ==
         [10000] * (len(guest.pcs) // 10000), f'{by_insns}')
    text = run(folder, rvtrace, 'privilege', *guest.files())
    need('in intervals of 1s of virtual time' in text, text)
    return f'{len(rows)} intervals of {width} ns'
