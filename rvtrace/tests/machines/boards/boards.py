#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# boards.py PATTERN: see run.sh

import csv
import io
import os
import subprocess

import tap
from tap import LIMIT, need

QEMU, RVTRACE, RETIRED, OUT = (
    os.environ[n] for n in ('QEMU', 'RVTRACE', 'RETIRED', 'OUT'))

ROUNDS = 1000               # of boards.S
CALLS = {'outer': ROUNDS, 'inner': 2 * ROUNDS, 'handle': ROUNDS}
MACHINES = {                # how many harts, and what else they need
    'sifive_e': (1, []),
    'sifive_u': (2, []),
    'spike': (2, []),
    # newer versions want a kernel where there is no firmware
    'microchip-icicle-kit': (5, ['-m', '2G', '-kernel', f'{OUT}/5.elf']),
    'amd-microblaze-v-generic': (1, []),
    'virt': (2, []),
}


def qemu(machine, harts, *words):
    """Its status, and what it says"""
    done = subprocess.run(
        [QEMU, '-M', machine, '-smp', str(harts), '-display', 'none',
         '-monitor', 'none', '-serial', 'none', '-bios', 'none', *words],
        capture_output=True, text=True, timeout=LIMIT, check=False,
        stdin=subprocess.DEVNULL)
    # newer versions say so of a board whose device tree nobody here reads
    said = [line for line in done.stderr.splitlines()
            if 'does not generate a device tree' not in line]
    return done.returncode, '\n'.join(said)


def rvtrace(command, folder, *words):
    done = subprocess.run(
        [RVTRACE, command, '--trace', f'{folder}/trace', '--sideband',
         f'{folder}/sideband', '--strict', *words], capture_output=True,
        text=True, timeout=LIMIT, check=False)
    need(done.returncode == 0,
         f'{command}: {done.returncode}: {done.stdout}{done.stderr}')
    return done.stdout


def run(folder, machine, *words, device='', icount=True):
    """The guest, traced to its end"""
    harts, more = MACHINES[machine]
    loaders = [word for i in range(harts) for word in
               ('-device', f'loader,file={OUT}/{harts}.elf,cpu-num={i}')]
    status, said = qemu(
        machine, harts, *more, *loaders, '-semihosting-config',
        'enable=on,target=native', *(['-icount', 'shift=4'] if icount else []),
        '-chardev', f'file,id=tr,path={folder}/trace',
        '-chardev', f'file,id=sb,path={folder}/sideband',
        '-device', f'riscv-trace,chardev=tr,sideband=sb{device}',
        '-plugin', f'{RETIRED},out={folder}/truth', *words)
    need(status == 0 and not said, f'QEMU: {status}: {said}')
    return harts


def calls(folder, harts):
    """{hart: {function: calls}}"""
    rows = csv.DictReader(io.StringIO(rvtrace(
        'report', folder, '--elf', f'{OUT}/{harts}.elf', '--sort', 'hart,sym',
        '--format', 'tsv')), delimiter='\t')
    found = {}
    for row in rows:
        if row['sym'] in CALLS:
            found.setdefault(int(row['hart']), {})[row['sym']] = \
                int(row['calls'])
    return found


def test_board(folder, machine, icount):
    harts = run(folder, machine, icount=icount)
    said = rvtrace('verify', folder, '--truth', f'{folder}/truth')
    need(said.count('identical') == harts, said)
    found = calls(folder, harts)
    need(found == {i: CALLS for i in range(harts)}, f'calls: {found}')


def test_some(folder):
    """Harts that are not chosen are not traced; the first one is number 0."""
    harts = run(folder, 'microchip-icicle-kit', device=',harts=1-2+4')
    found = calls(folder, harts)
    need(found == {i: CALLS for i in range(3)}, f'calls: {found}')


def test_run(folder):
    """rvtrace run adds the device, or completes it."""
    for name, words in (('plain', []), ('own', ['-device', 'riscv-trace'])):
        out = f'{folder}/{name}'
        done = subprocess.run(
            [RVTRACE, 'run', '--elf', f'{OUT}/2.elf', '--out', out, '--', QEMU,
             '-M', 'sifive_u', '-smp', '2', '-display', 'none', '-monitor',
             'none', '-serial', 'none', '-bios', 'none',
             '-semihosting-config', 'enable=on,target=native', *words,
             *(word for i in range(2) for word in
               ('-device', f'loader,file={OUT}/2.elf,cpu-num={i}'))],
            capture_output=True, text=True, timeout=LIMIT, check=False,
            stdin=subprocess.DEVNULL)
        need(done.returncode == 0, f'{done.returncode}: {done.stderr}')
        need('2 harts' in done.stdout and 'inner' in done.stdout, done.stdout)
        found = calls(out, 2)
        need(found == {i: CALLS for i in range(2)}, f'calls: {found}')


REFUSED = [
    ('spike', ['harts=7'], 'no hart 7'),
    ('spike', ['harts=0+0'], '0 is there twice'),
    ('spike', ['harts=1-0'], 'such as 0-3+5'),
    ('spike', ['harts=x'], 'such as 0-3+5'),
    ('spike', ['modes=fast'], 'modes: '),
    ('spike', ['chardev=none'], "there is no chardev 'none'"),
    ('spike', ['autostart=on', 'autostart=on'], 'traced already'),
    ('virt,trace=on', ['autostart=on'], 'traced already'),
    ('none', ['autostart=on'], 'no RISC-V harts'),
]


def test_refused(_):
    for machine, devices, why in REFUSED:
        status, said = qemu(machine, 1, *(
            word for options in devices for word in
            ('-device', f'riscv-trace,{options}')))
        need(status == 1 and why in said, f'{devices}: {status}: {said}')
    status, said = qemu('virt', 20, '-device', 'riscv-trace')
    need(status == 1 and 'harts=0-15' in said, f'20 harts: {status}: {said}')


tap.run(f'{OUT}/tests', [
    *((name, test_board, name, True) for name in MACHINES),
    *((name + '-threads', test_board, name, False)
      for name, (harts, _) in MACHINES.items() if harts > 1),
    ('some', test_some),
    ('run', test_run),
    ('refused', test_refused),
])
