#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# check.py [PATTERN]: see run.sh. SYSROOTS: folders, with a colon between them

import csv
import os
import re
import subprocess

import tap
from tap import need
from truth import Truth

RVTRACE, OUT, SYSROOTS = (os.environ[n] for n in
                          ('RVTRACE', 'OUT', 'SYSROOTS'))
RUN = f'{OUT}/boot'
FILES = ['--trace', f'{RUN}/trace', '--sideband', f'{RUN}/side']
for root in SYSROOTS.split(':'):
    FILES += ['--sysroot', root]
KEPT = os.path.realpath(SYSROOTS.split(':', maxsplit=1)[0]) + '.rvmodules'

# Bars. Seconds of a processor are measured where others work beside, and two
# threads share a core: twice what it takes alone.
NAMES_SECONDS, NAMES_MB, FIRST_SECONDS = 10, 200, 40
# Some four million call stacks in each hart, of samples
ALL_MB = 1800
SAMPLES = 1000


def measured(*command):
    """Seconds of a processor, MB, and what it said"""
    with open(f'{OUT}/said', 'w+', encoding='utf-8') as said:
        with subprocess.Popen([RVTRACE, *command], stderr=said,
                              stdout=subprocess.DEVNULL) as child:
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = status
        said.seek(0)
        text = said.read()
    need(status == 0, f'status {status}: {text}')
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, text


def said_modules():
    with open(f'{RUN}/said', encoding='utf-8') as file:
        return {line.split()[1] for line in file if line.startswith('module ')}


def test_boot(folder):
    with open(f'{RUN}/said', encoding='utf-8') as file:
        found = re.search(r'^finished, (\d+) programs, status 0$', file.read(),
                          re.M)
    need(found and int(found[1]) >= 20, 'see its console')
    return f'{found[1]} programs, {len(said_modules())} modules'


def test_cost(folder):
    """Of names alone, when modules are unpacked, and later"""
    if os.path.exists(KEPT):
        os.remove(KEPT)
    names = ('report', *FILES, '--limit', '1000', '-o', '/dev/null')
    first, first_mb, said = measured(*names)
    need('unpacking' in said and KEPT in said, said)
    need(os.path.exists(KEPT), f'{KEPT} is not there')
    later, later_mb, said = measured(*names)
    need('unpacking' not in said, said)
    note = (f'{first:.1f} s, {first_mb:.0f} MB; '
            f'later {later:.1f} s, {later_mb:.0f} MB')
    need(first <= FIRST_SECONDS, note)
    need(later <= NAMES_SECONDS and later_mb <= NAMES_MB, note)
    return note


def decode():
    """All at once: it takes minutes."""
    return measured('decode', *FILES, '--output', f'report={OUT}/rows',
                    '--output', f'script={OUT}/samples', '--format', 'tsv',
                    '--sort', 'comm,dso,sym,priv', '--no-demangle',
                    '--period', '200003', '--branches', '0')


def test_decode(folder):
    seconds, megabytes, _ = decode()
    note = f'{seconds:.0f} s, {megabytes:.0f} MB'
    need(megabytes <= ALL_MB, note)
    return note


def is_named(row):
    return not re.search(r'^\[|\+0x|^0x', row['sym'])


def is_bounded(row):
    """A function without a name, of which it is known where it begins"""
    return row['dso'][0] != '[' and '+0x' in row['sym']


def test_shares(folder):
    """Which share has a name: of files with symbols, and of everything"""
    with open(f'{OUT}/rows', newline='', encoding='utf-8') as file:
        rows = list(csv.DictReader(file, delimiter='\t',
                                   quoting=csv.QUOTE_NONE))
    at_hand = re.compile(r'\[kernel\]|libc\.so\.6|ld-linux-.*|libm\.so\.6|'
                         r'own|.*\.ko|\[vdso\]')
    modules = said_modules()
    total = named = bounded = known = known_named = 0
    for row in rows:
        own = int(row['own'])
        total += own
        named += own * is_named(row)
        bounded += own * is_bounded(row)
        if at_hand.fullmatch(row['dso']) or row['dso'] in modules:
            known += own
            known_named += own * is_named(row)
    shares = [100 * known_named / known, 100 * (named + bounded) / total,
              100 * named / total]
    note = ('with symbols at hand {:.2f} %; all: to the function {:.2f} %, '
            'by name {:.2f} %'.format(*shares))
    need(shares[0] >= 97 and shares[1] >= 90, note)
    return note


def samples():
    """(pid, pc, name, object) of each"""
    head = re.compile(r'\S.* (\d+) +\[\d+\] ')
    frame = re.compile(r'\t *([0-9a-f]+) (.+) \((.*)\)$')
    pid = None
    with open(f'{OUT}/samples', encoding='utf-8') as file:
        for line in file:
            if found := frame.match(line):
                if pid is not None:
                    yield (pid, int(found[1], 16),
                           re.sub(r'\+0x[0-9a-f]+$', '', found[2]), found[3])
                pid = None
            elif found := head.match(line):
                pid = int(found[1])


def spread(items, most):
    step = max(1, len(items) // most)
    return items[::step][:most]


def wrong_names(got):
    """The samples with a wrong name, and how many were looked at"""
    wrong, looked = [], 0
    for (pid, pc, name, dso), true in got:
        names, sure = true
        if '+0x' in name or name.startswith(('[', '0x')):
            # what has no name here has none there
            looked += sure
            if sure:
                wrong.append(f'{pid} {pc:x}: {name} ({dso}), not {names}')
        elif names:
            looked += 1
            if name not in names:
                wrong.append(f'{pid} {pc:x}: {name} ({dso}), not {names}')
    return wrong, looked


def test_wrong(folder):
    truth = Truth(f'{RUN}/truth', SYSROOTS.split(':'))
    programs, kernel, objects = [], [], []
    for sample in samples():
        pid, pc, _, dso = sample
        if pc >> 63:
            true = truth.kernel.at(pc)
            kernel.append((sample, true))
        elif true := truth.user(pid, pc):
            programs.append((sample, true[1:]))
            # one that was stripped is of the file of the same build
            path = true[0].removesuffix('-stripped')
            if os.path.basename(path) != os.path.basename(dso):
                objects.append(f'{pid} {pc:x}: {dso}, not {true[0]}')
    wrong, looked = [], 0
    for some in (spread(programs, SAMPLES), spread(kernel, SAMPLES)):
        more, number = wrong_names(some)
        wrong += more
        looked += number
    note = f'{len(wrong)} of {looked} are wrong; ' \
        f'{len(objects)} of {len(programs)} objects'
    need(not wrong and not objects, '\n'.join([note] + wrong + objects))
    need(looked >= SAMPLES, note)
    return note


tap.run(f'{OUT}/tests', (
    ('it boots, and programs run', test_boot),
    ('what names cost', test_cost),
    ('a report and samples of all', test_decode),
    ('how much has a name', test_shares),
    ('names are right', test_wrong),
))
