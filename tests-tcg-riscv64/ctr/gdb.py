#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# gdb.py DIRECTORY QEMU OPTION...
#
# Runs gdb.elf, and reads and writes the CSRs of CTR as a debugger does, where
# the guest asks for it. What gdb and x-query-riscv-ctr show must be what the
# guest reads. Prints TAP.

import re
import sys

from links import Error
from machine import Machine
from tap import Tap, until

TYPES = ['none', 'exception', 'interrupt', 'trap return', 'not-taken branch',
         'taken branch', 'reserved', 'reserved', 'indirect call',
         'direct call', 'indirect jump', 'direct jump', 'co-routine swap',
         'return', 'other indirect jump', 'other direct jump']
CSRS = ['mctrctl', 'sctrctl', 'sctrstatus', 'sctrdepth', 'vsctrctl',
        'siselect', 'vsiselect'] + [
            f'{v}sireg{n}' for v in ('', 'v') for n in ('', 2, 3, 4, 5, 6)]


def names(mode):
    """gdb's names of what the guest called vsctrctl, sctrctl, ..."""
    if mode in ('VS', 'VU'):            # 2.3, 3: as instructions see them
        return {'sctrctl': 'vsctrctl', 'siselect': 'vsiselect'}
    return {}


def expect(wrong, what, got, want):
    if got != want:
        wrong.append(f'{what} is {got:#x}, the guest says {want:#x}')


def compare_gdb(gdb, guest):
    """gdb's view and the guest's; what is wrong"""
    wrong = []
    alias = names(guest['mode'])
    csrs = guest['csr']
    for name in csrs:
        expect(wrong, name, gdb.read(name), csrs[alias.get(name, name)])
    for v in ('', 'v'):
        before = gdb.read(f'{v}siselect')
        for number, entry in guest['entry'].items():
            gdb.write(f'{v}siselect', 0x200 + number)
            for i, part in enumerate(entry):
                reg = f'{v}sireg{i + 1 if i else ""}'
                expect(wrong, f'{reg} of entry {number}', gdb.read(reg), part)
        for reg in ('4', '5', '6'):
            expect(wrong, f'{v}sireg{reg}', gdb.read(f'{v}sireg{reg}'), 0)
        gdb.write(f'{v}siselect', before)
    return wrong


def cycles(data):
    """The number that CC stands for (6.3); none with CCV=0"""
    ccm, cce = data >> 16 & 0xfff, data >> 28 & 15
    if not data >> 15 & 1:
        return None
    return (4096 + ccm) << (cce - 1) if cce else ccm


def compare_monitor(text, guest):
    """x-query-riscv-ctr and the guest's view; what is wrong"""
    wrong = []
    csrs = guest['csr']
    status = csrs['sctrstatus']
    depth = 16 << csrs['sctrdepth']
    head = re.search(r'^hart 0: .*depth (\d+), WRPTR (\d+)(, FROZEN)?$', text,
                     re.M)
    if not head or head.groups() != (str(depth), str(status & 0xff),
                                     ', FROZEN' if status >> 31 else None):
        wrong.append(f'the status is not {status:#x}, depth {depth}')
    for name in ('mctrctl', 'vsctrctl'):
        match = re.search(rf'^ *{name} +(0x[0-9a-f]+)', text, re.M)
        expect(wrong, name, int(match[1], 16) if match else -1, csrs[name])
    shown = re.findall(r'^ +(\d+) ([0-9a-f]{16})(?: <.*?>)? -> ([0-9a-f]{16})'
                       r'(?: <.*?>)? ([a-z -]+?)(?: (\d+) cycles)?$', text,
                       re.M)
    want = [(str(number), f'{source - 1:016x}', f'{target:016x}',
             TYPES[data & 15],
             '' if cycles(data) is None else str(cycles(data)))
            for number, (source, target, data) in guest['entry'].items()
            if source & 1]
    if not want:
        wrong.append('the guest has no entries')
    for a, b in zip(shown + [None] * len(want), want):
        if a != b:
            wrong.append(f'the monitor shows {a}, the guest has {b}')
    if len(shown) != len(want):
        wrong.append(f'{len(shown)} entries are shown, not {len(want)}')
    return wrong


def the_guests(text):
    """Mode, registers and entries that the guest has printed"""
    entries = re.findall(r'^# entry (\d+) (\S+) (\S+) (\S+)$', text, re.M)
    return {
        'mode': re.findall(r'^# mode (\S+)$', text, re.M)[-1],
        'stateen': re.findall(r'^# stateen (\S+)$', text, re.M)[-1],
        'csr': {name: int(value, 16) for name, value in
                re.findall(r'^# csr (\S+) (\S+)$', text, re.M)},
        'entry': {int(number): [int(v, 16) for v in values]
                  for number, *values in entries},
    }


def write(gdb, mode):
    """What gdb.c expects, see written() there"""
    vs = 'sctrctl' if mode in ('VS', 'VU') else 'vsctrctl'
    gdb.write(vs, 1 << 11 | 1 << 36)
    gdb.write('sctrdepth', 1)
    gdb.write('sctrstatus', 1 << 31 | 21)
    for i in (0, 31):
        gdb.write('siselect', 0x200 + i)
        gdb.write('sireg', 0x123456780001 + i * 0x10000)
        gdb.write('sireg2', 0x2223334445550 + i * 0x10000)
        gdb.write('sireg3', 13)


def records(machine):
    """How many the monitor shows"""
    text = machine.qmp('x-query-riscv-ctr')['human-readable-text']
    return len(re.findall(r'^ +\d+ [0-9a-f]{16}', text, re.M))


def main():
    directory, *command = sys.argv[1:]
    tap = Tap()
    with Machine(directory, command, gdb=True) as machine:
        gdb = machine.gdb()
        missing = [name for name in CSRS if name not in gdb.registers]
        tap.say(not missing, 'gdb: its description of the target has every '
                'CSR of CTR', f'not {missing}' if missing else '')
        gdb.leave()
        seen = ''
        while True:
            match = machine.take(r'# (compare|write|switch on)|1\.\.\d+')
            seen += machine.taken
            tap.guest(re.sub('(?m)^# (csr|entry|mode|stateen|compare|write|'
                             'switch).*\n', '', machine.taken))
            if match[1] is None:
                break
            if match[1] == 'compare':
                guest = the_guests(seen)
                seen = ''
            name = f'in {guest["mode"]} with stateen {guest["stateen"]}'
            gdb = machine.gdb()
            try:
                if match[1] == 'compare':
                    wrong = compare_gdb(gdb, guest)
                    tap.say(not wrong, f'gdb: reads what the guest reads, '
                            f'{name}', '\n'.join(wrong))
                    text = machine.qmp('x-query-riscv-ctr')
                    text = text['human-readable-text']
                    wrong = compare_monitor(text, guest)
                    hmp = machine.qmp('human-monitor-command',
                                      command_line='info ctr')
                    if hmp.replace('\r', '') != text:
                        wrong.append('info ctr shows something else')
                    tap.say(not wrong, 'monitor: x-query-riscv-ctr shows what '
                            f'the guest reads, {name}', '\n'.join(wrong))
                elif match[1] == 'write':
                    write(gdb, guest['mode'])
                else:
                    gdb.write('mctrctl', 1)
            except (Error, OSError) as error:
                tap.say(False, f'gdb: {match[1]} {name}', str(error))
            if match[1] == 'switch on':
                gdb.leave()
                until(lambda: records(machine), 'nothing is recorded')
                machine.uart.sendall(b'g')      # the last: QEMU may be gone
            else:
                machine.send(b'g')
                gdb.leave()
    tap.end()


main()
