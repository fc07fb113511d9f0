# SPDX-License-Identifier: GPL-2.0-or-later
#
# A comparison that cannot fail proves nothing: wrong, missing and additional
# instructions and accesses in what is decoded, and wrong bits in what the CTR
# held.

import os
import subprocess

import case as cases
import run_case
from run_case import Failure, History, need
from symbols import addresses

SEED = 2
MACHINE = ('harts=1', 'ctr=on', 'xlen=64', 'zc=off', 'icount=off', 'length=1',
           'software=off', 'triggers=off', 'scenario=plain', 'traced=on')


def damaged(lines):
    """(what is wrong, lines)"""
    for at in (0, 1, len(lines) // 2, len(lines) - 1):
        other = f'{int(lines[at], 16) ^ 2:x}'
        yield f'{at} is wrong', [*lines[:at], other, *lines[at + 1:]]
        yield f'{at} is missing', lines[:at] + lines[at + 1:]
        yield f'{at} is there twice', lines[:at + 1] + lines[at:]
    yield 'nothing', []


def damaged_accesses(lines):
    """The same of lines of accesses"""
    some = [i for i, line in enumerate(lines) if ' load ' in line]
    for at in (some[0], some[len(some) // 2], some[-1]):
        pc, kind, size, address, data = lines[at].split()
        for what, words in (
                ('kind', (pc, 'store', size, address, data)),
                ('size', (pc, kind, '1' if size != '1' else '2', address,
                          data)),
                ('address', (pc, kind, size, f'{int(address, 16) ^ 1:x}',
                             data)),
                ('data', (pc, kind, size, address,
                          f'{int(data, 16) ^ 1:x}')),
                ('pc', ('-', kind, size, address, data))):
            yield f'{what} of {at}', [*lines[:at], ' '.join(words),
                                      *lines[at + 1:]]
        yield f'access {at} is missing', lines[:at] + lines[at + 1:]
        yield f'access {at} is there twice', lines[:at + 1] + lines[at:]
    other = f'{int(lines[0], 16) + 4096:x} load 8 80000000 0'
    yield 'an access of another', [lines[0], other, *lines[1:]]


def run_accesses(folder, tools):
    """The same with data trace and a filter"""
    case = cases.make(SEED, (*MACHINE, 'filter=on'))
    case['machine'].update(props=['data-width=64', 'data=on'],
                           filter=[['priv', 'M']], ctr=False)
    os.makedirs(folder, exist_ok=True)
    run_case.run(case, folder, tools)
    history = History(f'{tools}/history', case['machine'],
                      addresses(f'{folder}/guest.elf'), folder, 0,
                      [f'{folder}/steps0.0'])
    done = subprocess.run(
        [run_case.RVTRACE, 'decode', '--trace', f'{folder}/trace0',
         '--sideband', f'{folder}/sideband0', '--hart', '0', '--emit',
         history.emit], capture_output=True, text=True, check=True)
    lines = [line for line in done.stdout.split('\n') if line]

    def status(lines):
        return subprocess.run(
            [*history.command, *history.compare, *history.steps],
            input='\n'.join(lines) + '\n', capture_output=True, text=True,
            check=False).returncode

    need(status(lines) == 0, 'selftest', 'right accesses differ')
    found = 0
    for what, text in damaged_accesses(lines):
        need(status(text) == 1, 'selftest', f'{what}: not noticed')
        found += 1
    return found


def run(folder, tools):
    """How many differences were found; Failure if one was not"""
    case = cases.make(SEED, (*MACHINE, 'filter=off'))
    os.makedirs(folder, exist_ok=True)
    run_case.run(case, folder, tools)
    names = addresses(f'{folder}/guest.elf')
    history = History(f'{tools}/history', case['machine'], names, folder, 0,
                      [f'{folder}/steps0.0'])

    def status(more, text=''):
        return subprocess.run([*history.command, *more, *history.steps],
                              input=text, capture_output=True, text=True,
                              check=False).returncode

    done = subprocess.run(
        [run_case.RVTRACE, 'decode', '--trace', f'{folder}/trace0',
         '--sideband', f'{folder}/sideband0', '--hart', '0', '--emit', 'pc'],
        capture_output=True, text=True, check=True)
    lines = done.stdout.split()
    need(status(['--compare'], done.stdout) == 0, 'selftest',
         'what is right differs')
    found = 0
    for what, text in damaged(lines):
        if status(['--compare'], '\n'.join(text) + '\n') != 1:
            raise Failure('selftest', f'{what}: not noticed')
        found += 1

    # the copy that each hart makes at its end is in place 0
    dumps = run_case.dumps_of(names, 0)
    records = ['--records', f'{folder}/ram0@{dumps:#x}',
               *(['--hypervisor'] if case['machine']['h'] else [])]
    need(status(records) == 0, 'selftest', 'right records differ')
    with open(f'{folder}/ram0', 'r+b') as ram:
        for offset in (0, 8, 16, 24, 32, 64, 72, 80, 64 + 24 * 31):
            ram.seek(dumps + offset)
            byte = ram.read(1)
            for new, wanted in (bytes([byte[0] ^ 2]), 1), (byte, 0):
                ram.seek(dumps + offset)
                ram.write(new)
                ram.flush()
                need(status(records) == wanted, 'selftest',
                     f'records, offset {offset}: not noticed')
            found += 1
    return found + run_accesses(f'{folder}/accesses', tools)
