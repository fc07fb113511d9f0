#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# replay.py DIRECTORY QEMU OPTION...
#
# Runs replay.elf again and again: what is recorded with -icount rr=record is
# recorded again with rr=replay, and with -icount alone if no clock of the host
# is in it. Prints TAP.

import sys

from machine import Machine
from tap import Tap


def run(directory, command, *options):
    """What the guest wrote, and the monitor's view of its records at the end"""
    with Machine(directory, command, '-action', 'shutdown=pause',
                 *options, uart='log') as machine:
        machine.cont()
        machine.take(r'1\.\.\d+')
        text = machine.taken
        records = machine.qmp('x-query-riscv-ctr')['human-readable-text']
        machine.quit()
        return text, records


def same(tap, name, first, second):
    why = ''
    for what, a, b in zip(('guest', 'monitor'), first, second):
        for x, y in zip(a.splitlines(), b.splitlines()):
            if x != y:
                why += f'{what}: {x}\n   then: {y}\n'
                break
        else:
            if a != b:
                why += f'{what}: one is longer\n'
    tap.say(not why, name, why)


def ask(tap, directory, command, *options):
    """Ask for the records again and again while the guest runs."""
    with Machine(directory, command, '-action', 'shutdown=pause',
                 *options, uart='log') as machine:
        machine.cont()
        asked = 0
        while machine.read(0) and '\n1..' not in machine.text:
            machine.qmp('x-query-riscv-ctr')
            asked += 1
        machine.quit()
    print(f'# {asked} times')
    tap.say(asked > 9, 'replay: records can be asked for during rr=record')


def main():
    directory, *command = sys.argv[1:]
    tap = Tap()
    command += ['-nic', 'none']
    log = f'{directory}/replay.log'
    for shift in (0, 3):
        icount = ['-icount', f'shift={shift},sleep=off']
        first = run(directory, command, '-rtc', 'clock=vm,base=2024-11-01',
                    *icount)
        tap.guest('\n'.join(line for line in first[0].splitlines()
                            if not line.startswith('# burst')))
        again = run(directory, command, '-rtc', 'clock=vm,base=2024-11-01',
                    *icount)
        same(tap, f'replay: -icount shift={shift} twice: the same records',
             first, again)

        rr = f'shift={shift},rrfile={log}'
        first = run(directory, command, '-icount', f'{rr},rr=record')
        again = run(directory, command, '-icount', f'{rr},rr=replay')
        same(tap, f'replay: shift={shift}: rr=replay has the records of '
             'rr=record', first, again)
        once = run(directory, command, '-icount', f'{rr},rr=record')
        tap.say(once[0] != first[0], f'replay: shift={shift}: rr=record again '
                'has others', '' if once[0] != first[0] else
                'the guest does not depend on the clock of the host')
    ask(tap, directory, command, '-icount', f'shift=0,rrfile={log},rr=record')
    tap.end()


main()
