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
import sys
import time

import registers
import streams
import tap
from machine import OUT
from tap import Problem

SEED = os.environ.get('SEED', '1')
EACH = float(os.environ['SECONDS_EACH'])

TESTS = (
    ('registers', registers.fuzz),
    ('migration streams that are no good', streams.directed),
    ('migration streams that are damaged', streams.fuzz),
)


def rounds(folder, test):
    """One after the other, until the time is over"""
    end = time.monotonic() + EACH
    number = 0
    try:
        more = True
        while more:
            shutil.rmtree(folder)
            os.makedirs(folder)
            more = test(folder, random.Random(f'{SEED}/{number}'),
                        end) and time.monotonic() < end
            number += 1
    except (Problem, OSError, ValueError,
            subprocess.TimeoutExpired) as error:
        raise Problem(f'SEED={SEED}, round {number}: {error!r}') from error
    return f'{number} rounds, seed {SEED}'


tap.run(OUT, [(name, rounds, test) for name, test in TESTS])
