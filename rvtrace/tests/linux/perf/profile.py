#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# profile.py NUMBER DIR SYSROOT RECORDING...
#
# What rvtrace makes of the guest's own branch stacks, against what it makes of
# the trace of the same run: no jump and no instruction that did not run. Speaks
# TAP; NUMBER tests were before these.

import os
import re
import subprocess
import sys

from tap import Tap

RVTRACE = os.environ['RVTRACE']


def run(*words):
    done = subprocess.run([RVTRACE, *words], capture_output=True, check=False,
                          encoding='utf-8')
    if done.returncode:
        tap.say(False, ' '.join(words[:3]), *done.stderr.splitlines())
    return done.stdout


def bolt(text):
    """Jumps and how often, and the instructions' ranges"""
    jumps = {}
    ranges = set()
    for line in text.splitlines():
        words = line.split()
        if words[0] == 'B':
            jumps[int(words[1], 16), int(words[2], 16)] = int(words[3])
        elif words[0] in 'Ff':
            ranges.add((int(words[1], 16), int(words[2], 16)))
    return jumps, ranges


def check(folder, name, exact, sysroot):
    """Of one recording"""
    known, ran = exact
    options = (f'--trace={folder}/files/{name}', f'--sysroot={sysroot}')
    jumps, ranges = bolt(run('pgo', '--format=bolt', '--object=paths',
                             *options))
    wrong = [jump for jump in jumps if jump not in known]
    often = [jump for jump in jumps if jump in known and
             jumps[jump] > 256 * known[jump]]
    starts = {start for start, _ in ran}
    strange = [piece for piece in ranges if piece[0] not in starts]
    tap.say(len(jumps) > 20 and not wrong and not often,
           f'{name}: the profile has only jumps of the trace',
           f'{len(jumps)} of {len(known)} jumps, {len(wrong)} did not happen',
           *(f'{a:x} to {b:x}' for a, b in (wrong + often)[:5]))
    tap.say(len(ranges) > 20 and not strange,
           f'{name}: and only pieces of code',
           f'{len(ranges)} pieces, {len(strange)} begin elsewhere',
           *(f'{a:x}-{b:x}' for a, b in strange[:5]))
    for kind in 'llvm', 'gcov':
        path = f'{folder}/{name}.{kind}'
        run('pgo', f'--format={kind}', '--object=paths', *options,
            f'--output={path}')
        tap.say(os.path.getsize(path) > 100, f'{name}: pgo for {kind}')
    check_samples(folder, name, options)


def check_samples(folder, name, options):
    """perf-data and script have the guest's samples, all of them"""
    made = f'{folder}/{name}.data'
    run('perf-data', *options, f'--output={made}')
    first = run('script', *options)
    # it has the paths of this machine
    again = run('script', f'--trace={made}', '--sysroot=/')
    count = len(re.findall(r'^\S.* [a-z-]+: $', first, re.M))
    named = len(re.findall(r'^\t +[0-9a-f]+ [a-z]\S+\+0x', first, re.M))
    tap.say(count >= 10 and named > count / 2 and first == again,
           f'{name}: perf-data and script',
           f'{count} samples, {named} with a name')


def main():
    global tap
    tap = Tap(before=int(sys.argv[1]))
    folder, sysroot, *names = sys.argv[2:]
    exact = bolt(run('pgo', '--format=bolt', '--object=paths',
                     f'--trace={folder}/trace', f'--sideband={folder}/side',
                     f'--sysroot={sysroot}'))
    for name in names:
        check(folder, name, exact, sysroot)
    tap.end(plan=False)


main()
