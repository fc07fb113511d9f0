#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# fuzz.py PATTERN: see run.sh
#
# Round N of seed S does the same each time, as far as QEMU's threads let it;
# what a round did is left in its folder if it fails.

import os
import random
import shutil
import subprocess

import registers
import streams
from traced import OUT
import tap
from tap import Problem

SEED = os.environ.get('SEED', '1')
TIMES = float(os.environ.get('TIMES', '1'))

# the last: rounds with TIMES=1
TESTS = (
    ('registers', registers.fuzz, 12),
    ('migration streams that are no good', streams.directed, 1),
    ('migration streams that are damaged', streams.fuzz, 4),
)


def rounds(folder, test, number):
    """One after the other"""
    for i in range(round(number * TIMES) or 1):
        shutil.rmtree(folder)
        os.makedirs(folder)
        try:
            test(folder, random.Random(f'{SEED}/{i}'))
        except (Problem, OSError, ValueError,
                subprocess.TimeoutExpired) as error:
            raise Problem(f'SEED={SEED}, round {i}: {error!r}') from error
    return f'{i + 1} rounds, seed {SEED}'


tap.run(OUT, [(name, rounds, *rest) for name, *rest in TESTS])
