#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# check.py PROGRAM WITH WITHOUT
#
# Are the functions that jit.c makes at run time there, with as many calls and
# instructions as they have? WITH and WITHOUT are tables of rvtrace report, with
# and without the program's file. PROGRAM has no jumps in what it copies.

import csv
import os
import subprocess
import sys

CALLS = {'jit_first': 1111, 'jit other, with spaces': 333,
         'jit_second': 2222 + 5, 'jit_left': 50, 'jit_right': 100}
COPIED = {'jit_first': 'sum', 'jit other, with spaces': 'mix',
          'jit_second': 'mix', 'jit_left': 'sum', 'jit_right': 'mix'}


def need(condition, why):
    if not condition:
        sys.exit(f'check.py: {why}')


def instructions(program, function):
    tool = os.environ.get('CROSS', 'riscv64-linux-gnu-') + 'objdump'
    text = subprocess.run([tool, '-d', '--no-show-raw-insn',
                           f'--disassemble={function}', program],
                          capture_output=True, check=True, text=True).stdout
    lines = [line for line in text.splitlines()
             if line.startswith(' ') and ':\t' in line]
    need(lines and lines[-1].split()[1] == 'ret', f'{function} has no end')
    return len(lines)


def table(path):
    with open(path, newline='', encoding='utf-8') as file:
        return list(csv.DictReader(file, delimiter='\t'))


def check(rows, length):
    made = [row for row in rows if row['dso'].startswith('perf-')]
    need({row['sym'] for row in made} == set(CALLS),
         f'other functions: {made}')
    for row in made:
        name = row['sym']
        want = CALLS[name]
        need(row['comm'] == 'jit', f'{name}: {row}')
        need(int(row['calls']) == want, f'{name}, not {want} calls: {row}')
        need(int(row['own']) == want * length[name],
             f'{name}, not {want * length[name]} instructions: {row}')


def main():
    program, with_file, without_file = sys.argv[1:]
    length = {name: instructions(program, copied)
              for name, copied in COPIED.items()}
    rows, bare = table(with_file), table(without_file)
    check(rows, length)
    check(bare, length)

    # What a process does not speak of has no name, and nothing else has none.
    silent = sum(int(row['own']) for row in rows
                 if row['comm'] == 'jit-silent' and row['priv'] == 'U-mode' and
                 row['dso'] == '[unknown]')
    want = sum(CALLS[name] * length[name] for name in CALLS)
    need(silent == want,
         f'{silent} instructions without a name, not {want}')
    for comm in 'jit', 'jit-silent':
        need(any(row['comm'] == row['dso'] == comm and row['sym'] == 'main'
                 for row in rows), f'{comm} is not there')
        other = [row for row in rows if row['comm'] == comm and
                 row['dso'] in ('jit', 'jit-silent') and row['dso'] != comm]
        need(not other, f'{other}')

    # Programs have memory that was the kernel's, but do not run the kernel.
    for row in rows + bare:
        need(row['priv'] != 'U-mode' or row['dso'] != '[kernel]',
             f'the kernel in U-mode: {row}')

    # The kernel, by what it says itself; it begins at other addresses.
    kernel = [row for row in bare if row['priv'] == 'S-mode']
    known = sum(int(row['own']) for row in kernel
                if row['dso'] == '[kernel]')
    both = sum(int(row['own']) for row in kernel)
    need(known > 0.9 * both, f'{known} of {both} in the kernel are known')


main()
