#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# fuzz.py PATTERN: see run.sh
#
# Round N of seed S does the same each time, as far as QEMU's threads let it;
# what a round did is left in its folder if it fails.

import fnmatch
import os
import random
import shutil
import subprocess
import sys
import time

import registers
import streams
from machine import OUT, Problem

SEED = os.environ.get('SEED', '1')
EACH = float(os.environ['SECONDS_EACH'])

TESTS = (
    ('registers', registers.fuzz),
    ('migration streams that are no good', streams.directed),
    ('migration streams that are damaged', streams.fuzz),
)


def main():
    number = failed = 0
    for name, test in TESTS:
        if not fnmatch.fnmatch(name, sys.argv[1]):
            continue
        number += 1
        folder = f'{OUT}/{name.replace(" ", "-")}'
        end = time.monotonic() + EACH
        rounds = 0
        try:
            more = True
            while more:
                shutil.rmtree(folder, ignore_errors=True)
                os.makedirs(folder)
                more = test(folder, random.Random(f'{SEED}/{rounds}'),
                            end) and time.monotonic() < end
                rounds += 1
            print(f'ok {number} - {name}\n# {rounds} rounds, seed {SEED}',
                  flush=True)
        except (Problem, OSError, ValueError,
                subprocess.TimeoutExpired) as error:
            why = repr(error).replace('\\n', '\n# ')
            print(f'not ok {number} - {name}\n# SEED={SEED}, round {rounds}: '
                  f'{why}\n# see {folder}', flush=True)
            failed += 1
    print(f'1..{number}')
    sys.exit(failed > 0)


main()
