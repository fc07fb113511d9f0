#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# loaded.py PATTERN: see run.sh
# loaded.py --choose SYSROOT FOLDER [NAME...]: put the modules that the guest
# loads into the folder, or these, and their order into FOLDER/order

import collections
import csv
import glob
import io
import lzma
import os
import re
import subprocess
import sys

# By file. Large ones and small ones, with and without others below them
WANTED = ('virtio_blk', 'ext4', 'loop', 'dummy', 'tun', 'zram', 'isofs', 'vfat',
          'dm-mod', 'ip_tables', 'veth', 'bridge', 'sch_fq', 'md4', 'nls_utf8')


# Of these more runs than some instructions when they are loaded
ENOUGH = {'virtio_blk', 'ext4', 'jbd2', 'loop', 'dummy', 'tun', 'zram',
          'dm_mod', 'x_tables', 'bridge', 'llc', 'stp', 'sch_fq'}


def files(sysroot):
    """{name: path}, by the files' names"""
    paths = glob.glob(f'{sysroot}/**/*.ko.xz', recursive=True)
    return {os.path.basename(path)[:-len('.ko.xz')].replace('-', '_'): path
            for path in paths}


def modinfo(data, key):
    """As modinfo has it"""
    found = re.search(rb'\0' + key.encode() + rb'=([^\0]*)\0', data)
    return found[1].decode() if found else ''


def unsigned(data):
    """Without the signature: checking that takes most of the guest's time."""
    magic = b'~Module signature appended~\n'
    if data.endswith(magic):
        behind = len(data) - len(magic)
        data = data[:behind - 12 - int.from_bytes(data[behind - 4:behind],
                                                  'big')]
    return data


def choose(sysroot, folder, wanted):
    paths, order = files(sysroot), []

    def add(name):
        if name in order:
            return
        with lzma.open(paths[name]) as file:
            data = file.read()
        for needed in filter(None, modinfo(data, 'depends').split(',')):
            add(needed.replace('-', '_'))
        with open(f'{folder}/{name}.ko', 'wb') as file:
            file.write(unsigned(data))
        order.append(name)

    for name in wanted:
        if name.replace('-', '_') in paths:
            add(name.replace('-', '_'))
    with open(f'{folder}/order', 'w', encoding='utf-8') as file:
        file.writelines(f'{name}.ko\n' for name in order)
    return 0 if len(order) >= len(wanted) - 3 else 1


if sys.argv[1] == '--choose':
    sys.exit(choose(sys.argv[2], sys.argv[3], sys.argv[4:] or WANTED))

import tap                  # noqa: E402
from tap import need        # noqa: E402

RVTRACE, OUT, GUEST = (os.environ[n] for n in ('RVTRACE', 'OUT', 'guest'))
FILES = files(f'{OUT}/sysroot')


def said(run):
    """What the guest said: {word: lines}"""
    lines = collections.defaultdict(list)
    with open(f'{OUT}/{run}/said', encoding='utf-8') as file:
        for line in file:
            word, _, rest = line.strip().partition(' ')
            lines[word].append(rest)
    return lines


def rows(run, *options, sysroots=('sysroot/Image', 'root/bin')):
    """Rows of a report, and what is said with it"""
    done = subprocess.run(
        [RVTRACE, 'report', '--trace', f'{OUT}/{run}/trace', '--sideband',
         f'{OUT}/{run}/side', '--format', 'tsv', '--strict', *options,
         *(word for root in sysroots
           for word in ('--sysroot', f'{OUT}/{root}'))],
        capture_output=True, text=True, timeout=1200, check=False)
    need(done.returncode == 0, done.stderr)
    return list(csv.DictReader(io.StringIO(done.stdout),
                               delimiter='\t')), done.stderr


def modules_of(run):
    """Instructions by module"""
    own = collections.Counter()
    for row in rows(run, '--sort', 'dso', sysroots=('sysroot', 'root/bin'))[0]:
        if row['dso'] in FILES:
            own[row['dso']] += int(row['own'])
    return own


def check_modules(run):
    loaded = set(said(run)['module'])
    own = modules_of(run)
    need(len(loaded) > 10 and len(FILES) > 1000, f'{loaded} of {len(FILES)}')
    wrong = {name: own[name] for name in own.keys() - loaded}
    need(not wrong, f'never loaded: {wrong}')
    lost = ENOUGH - own.keys()
    need(ENOUGH <= loaded and not lost, f'without a name: {lost}')
    return f'{len(own)} of {len(loaded)}, among {len(FILES)}'


def test_modules(folder):
    return check_modules('silent')


def test_said(folder):
    """The guest has said which ones it has."""
    return check_modules('said')


def test_calls(folder):
    """By the program's own count"""
    want = {name: int(count) for name, count in
            (line.split() for line in said('silent')['calls'])}
    need(len(want) == 5, f'the guest: {want}')
    all_rows, _ = rows('silent', '--sort', 'comm,dso,sym')
    got = {row['sym']: int(row['calls']) for row in all_rows
           if row['comm'] == row['dso'] == 'signals' and row['sym'] in want}
    need(got == want, f'{got}, not {want}')
    return f'{want}'


def test_vdso(folder):
    """By the symbols of the file in the kernel's Image"""
    all_rows, _ = rows('silent', '--sort', 'comm,dso,sym')
    names = {row['sym'] for row in all_rows if row['dso'] == '[vdso]'}
    need('__vdso_clock_gettime' in names and '__vdso_rt_sigreturn' in names,
         f'{names}')


def test_firmware(folder):
    """It is found beside what is built, whatever the sysroot."""
    all_rows, text = rows('silent', '--sort', 'dso,priv')
    machine = {row['dso'] for row in all_rows if row['priv'] == 'M-mode'}
    need('fw_dynamic.elf' in machine, f'{machine}')
    need('M-mode' not in text, text)


def test_nothing_known(folder):
    """A copy of the program, elsewhere, does not find it, and says so."""
    program = f'{folder}/rvtrace'
    with open(RVTRACE, 'rb') as source, open(program, 'wb') as copy:
        copy.write(source.read())
    os.chmod(program, 0o755)
    done = subprocess.run(
        [program, 'report', '--trace', f'{OUT}/silent/trace', '--sideband',
         f'{OUT}/silent/side', '--sort', 'dso,priv', '--format', 'tsv',
         '--sysroot', f'{OUT}/root/bin'], capture_output=True, text=True,
        timeout=1200, check=True)
    all_rows = list(csv.DictReader(io.StringIO(done.stdout), delimiter='\t'))
    by_priv = collections.Counter()
    for row in all_rows:
        by_priv[row['priv']] += int(row['own'])
    machine = {row['dso'] for row in all_rows if row['priv'] == 'M-mode'}
    need(machine == {'[firmware]'}, f'{machine}')
    need('[firmware]' not in {row['dso'] for row in all_rows
                              if row['priv'] != 'M-mode'}, 'in other modes')
    share = 100 * by_priv['M-mode'] / sum(by_priv.values())
    need(share >= 1, f'{share} % in M-mode')
    line = re.search(rf'{share:.0f} % .*M-mode .*fw_dynamic.elf', done.stderr)
    need(line, f'{share:.0f} %: {done.stderr}')
    kernel = re.search(r'([0-9.]+) % ran in S-mode .*Image', done.stderr)
    need(kernel, done.stderr)
    return line[0]


tap.run(f'{OUT}/tests', (
    ('modules', test_modules),
    ('modules that the guest said it has', test_said),
    ('calls of signal handlers', test_calls),
    ('the vDSO', test_vdso),
    ('the firmware', test_firmware),
    ('no file is known', test_nothing_known),
))
