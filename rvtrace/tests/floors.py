#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The floors of rvtrace: a file includes files of its own directory and of
# directories that are listed before it in meson.build, and no others; and no
# directory has more than 40 files. TAP.

import os
import re
import sys

TOP = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
MOST_FILES = 40


def main():
    with open(os.path.join(TOP, 'meson.build'), encoding='utf-8') as f:
        build = f.read()
    floors = re.findall(r"^  '([\w/]+)': \[", build, re.M)
    wrong, crowded = [], []
    for folder, _, files in os.walk(TOP):
        here = os.path.relpath(folder, TOP)
        if len(files) > MOST_FILES and 'seeds' not in here:
            crowded.append(f'{here} has {len(files)} files')
        if here not in floors:
            continue
        for name in files:
            with open(os.path.join(folder, name), encoding='utf-8') as f:
                included = re.findall(r'^#include "(.*)/[^/]*"', f.read(), re.M)
            wrong += [f'{here}/{name} includes a file of {room}'
                      for room in included if room in floors and
                      floors.index(room) > floors.index(here)]
    for number, (name, found) in enumerate(
            [('every include goes down', wrong),
             ('no directory is crowded', crowded)], 1):
        print(f"{'not ok' if found else 'ok'} {number} - {name}")
        for line in found:
            print(f'# {line}')
    print('1..2')
    return 1 if wrong or crowded else 0


if __name__ == '__main__':
    sys.exit(main())
