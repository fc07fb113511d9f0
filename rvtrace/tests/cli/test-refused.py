#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What cannot be decoded is said to be so, in words and by the exit status:
#
#   test-refused.py RVTRACE
#
# Every check prints a TAP line; the script fails if one of them does.

import os
import re
import subprocess
import sys
import tempfile

import inputs
from checks import PARAMS, check, tap

TOOL = os.path.abspath(sys.argv[1])
BASE = 0x80000000
START = (f'inst format=3 subformat=0 branch=1 privilege=3 address={BASE:#x}')


class Folder:
    def __init__(self, path):
        self.path = path

    def put(self, name, data):
        with open(f'{self.path}/{name}', 'wb') as f:
            f.write(data)
        return f'{self.path}/{name}'

    def program(self, name, *insns, address=BASE):
        code = b''.join(insn.to_bytes(2 if insn & 3 != 3 else 4, 'little')
                        if isinstance(insn, int) else insn for insn in insns)
        return self.put(name, inputs.elf([(address, code)]))

    def trace(self, *packets):
        text = self.put('packets', '\n'.join(packets).encode() + b'\n')
        subprocess.run([TOOL, 'encode', *PARAMS, '-p', text, '-o',
                        f'{self.path}/trace'], check=True)
        return f'{self.path}/trace'


def run(*args):
    done = subprocess.run([TOOL, *args], capture_output=True, timeout=300,
                          check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def pcs(trace, *more):
    status, out, err = run('decode', '--emit', 'pc', '--trace', trace,
                           *PARAMS, *more)
    return status, [int(pc, 16) - BASE for pc in out.split()], err


def branches(folder):
    """Branches of Zibi; and of encodings that nobody knows"""
    nop = 0x13
    taken = ['inst format=1 branches=1 branch_map=0x0 address=0x14 notify=0 '
             'updiscon=0 irreport=0']
    elf = folder.program('zibi', nop, 0x00152463, nop, nop, 0x00030067, nop)
    status, got, err = pcs(folder.trace(START, *taken), '--elf', elf)
    check('beqi is a branch', status == 0 and got == [0, 4, 12, 16, 20],
          f'{status} {got} {err}')
    # 48 bits, of which some vendors' branches are
    elf = folder.program('long', nop, bytes.fromhex('1f0001000200'), nop,
                         0x00030067, nop)
    status, got, err = pcs(folder.trace(START, *taken), '--elf', elf)
    check('an encoding that is not known ends what is decoded',
          got == [0] and re.search('0x80000004', err), f'{status} {got} {err}')


def overlaps(folder):
    """Two programs at the same addresses"""
    nop, jump, other = 0x13, 0x00030067, 0x00000033
    one = folder.program('one', nop, jump, nop)
    two = folder.program('two', nop, other, jump)
    twin = folder.program('twin', nop, jump)
    trace = folder.trace(START, 'inst format=2 address=8 notify=0 updiscon=0 '
                         'irreport=0')
    for first, second in ((one, two), (two, one)):
        status, _, err = pcs(trace, '--elf', first, '--elf', second)
        check('different code at an address', status == 2 and
              re.search('different code at 0x80000004', err), err)
    status, got, err = pcs(trace, '--elf', one, '--elf', twin)
    check('the same code is no contradiction', status == 0 and
          got == [0, 4, 8], f'{status} {got} {err}')
    status, _, err = pcs(trace, '--elf', one, '--elf', f'{two}@0x1000')
    check('nor is another place', status == 0, err)


def nothing(folder):
    """Nothing at all is decoded"""
    nop = 0x13
    elf = folder.program('nops', *[nop] * 64)
    traces = {
        'no synchronisation': folder.trace(*[
            'inst format=1 branches=1 branch_map=0x0 address=0x14 notify=0 '
            'updiscon=0 irreport=0'] * 20),
        'of another kind': folder.put('nexus', bytes(
            (i * 37 + 11) % 251 for i in range(3000))),
    }
    words = {'no synchronisation': 'synchronisation packet',
             'of another kind': 'packets of E-Trace'}
    for name, trace in traces.items():
        if name == 'no synchronisation':
            with open(trace, 'rb') as f:
                trace = folder.put('no-sync', f.read())
        for command in (['decode', '--emit', 'pc'], ['stat'],
                        ['decode', '-o', 'stat']):
            status, _, err = run(*command, '--trace', trace, '--elf', elf,
                                 *PARAMS)
            check(f'{name}: {" ".join(command)}', status == 2 and
                  'nothing was decoded' in err and words[name] in err,
                  f'{status} {err}')
        status, _, err = run('decode', '--emit', 'packets', '--trace', trace,
                             *PARAMS)
        check(f'{name}: packets can be looked at', status == 0, err)
    trace = folder.trace(START)
    status, got, err = pcs(trace, '--elf', elf)
    check('one instruction is something', status == 0 and got == [0],
          f'{status} {got} {err}')
    trace = folder.trace('inst format=3 subformat=1 branch=1 privilege=3 '
                         'ecause=2 interrupt=0 thaddr=0 address=0x80000004 '
                         'tval=0')
    for command in ['decode', '--emit', 'pc'], ['stat']:
        status, out, err = run(*command, '--trace', trace, '--elf', elf,
                               *PARAMS)
        check(f'an exception is something: {command[0]}', status == 0 and
              not err and 'nothing' not in out, f'{status} {out} {err}')
    for isa in ('rv64gc_whatever', 'rv64imac_xqcibi'):
        status, _, err = pcs(trace, '--elf', elf, f'--isa={isa}')
        check(f'--isa={isa}', status == 2 and isa.split('_')[1] in err, err)
    for isa in ('rv64gc_zibi_zba1p0', 'rv64gc'):
        status, _, err = pcs(trace, '--elf', elf, f'--isa={isa}')
        check(f'--isa={isa}', status == 0, err)


def main():
    with tempfile.TemporaryDirectory() as path:
        folder = Folder(path)
        branches(folder)
        overlaps(folder)
        nothing(folder)
    tap.end()


if __name__ == '__main__':
    main()
