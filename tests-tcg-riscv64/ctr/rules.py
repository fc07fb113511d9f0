#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# rules.py TABLE NAMES
#
# Compares the table of rules and tests (riscv-ctr-rules.rst) with the names of
# the tests that were run: each of the table's tests must have been, and each
# test must be in the table. Prints what is missing.

import re
import sys

# The same program on another hart has the same rules.
AGAIN = re.compile(
    r'(-rv32|-no-count)?(@(no-h|icount|host-count|host-ring))?$')


def pattern(text):
    parts = {'*': '.*', '?': '.'}
    return re.compile(''.join(parts.get(c) or re.escape(c) for c in text) + '$')


def main():
    with open(sys.argv[1], encoding='utf-8') as table:
        texts = re.findall(r'\| ``(.*)``', table.read())
    with open(sys.argv[2], encoding='utf-8') as file:
        names = file.read().splitlines()
    missing = 0
    seen = set()
    for text in texts:
        hits = {name for name in names if pattern(text).match(name)}
        if not hits:
            print(f'in the table, but not run: {text}')
            missing += 1
        seen |= hits
    for name in names:
        program, _, rule = name.partition(':')
        first = AGAIN.sub('', program) + ':' + rule
        if name not in seen and not any(pattern(text).match(first)
                                        for text in texts):
            print(f'run, but not in the table: {name}')
            missing += 1
    sys.exit(missing != 0)


main()
