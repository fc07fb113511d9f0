#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# migrate.py DIRECTORY QEMU OPTION...
#
# Runs migrate.elf and moves it to a new QEMU, or takes a snapshot and goes back
# to it, wherever the guest asks for it. Then gives a QEMU states that no hart
# can be in: it has to refuse them. Prints TAP.

import json
import re
import subprocess
import sys
import time

from links import Error
from machine import Machine
import symbols
from stream import Stream
from tap import LIMIT, Tap, until

# In nanoseconds nothing would count that must not.
A_WHILE = 0.2
# Where migrate.c waits for a character, and where it records until it is there
WAITS, RECORDS = ('wait_for_it', 'wait_in_s'), 'gen_code'


def to_file(machine, start):
    """Through a file; the time in between must not count."""
    state = machine.file('.state')
    machine.qmp('migrate', uri=f'file:{state}')
    machine.migrated()
    machine.end()
    time.sleep(A_WHILE)
    machine = start('-incoming', 'defer')
    machine.qmp('migrate-incoming', uri=f'file:{state}')
    machine.migrated()
    machine.state = state
    return machine


def live(machine, start):
    """From a machine that runs to one that waits for it"""
    there = start('-incoming', 'defer')
    address = f'unix:{there.socket("migration")}'
    there.qmp('migrate-incoming', uri=address)
    machine.qmp('migrate', uri=address)
    there.migrated()
    machine.migrated()
    machine.end()
    return there


def snapshot(machine):
    machine.job('snapshot-save', tag='ctr', vmstate='disk', devices=['disk'])


def restore(machine):
    machine.job('snapshot-load', tag='ctr', vmstate='disk', devices=['disk'])


def same_machine(machine, _):
    """savevm, go on for a while, loadvm"""
    snapshot(machine)
    machine.cont()
    time.sleep(A_WHILE)
    machine.qmp('stop')
    restore(machine)
    snapshot_delete(machine)
    return machine


def other_machine(machine, start):
    """savevm; -loadvm in a new QEMU"""
    snapshot(machine)
    machine.end()
    time.sleep(A_WHILE)
    machine = start()
    restore(machine)
    snapshot_delete(machine)
    return machine


def snapshot_delete(machine):
    machine.job('snapshot-delete', tag='ctr', devices=['disk'])


MOVES = {'file': to_file, 'live': live, 'loadvm': same_machine,
         '-loadvm': other_machine}


def arrived(machine, functions):
    """Has the guest come to where it can be moved?"""
    machine.qmp('stop')
    registers = machine.hmp('info registers')
    machine.cont()
    pc, rounds = (int(re.search(rf'\b{name} +([0-9a-f]+)', registers)[1], 16)
                  for name in ('pc', 'x31/t6'))
    name = max(item for item in functions if item[0] <= pc)[1]
    return name in WAITS or name == RECORDS and rounds >= 4


def travel(tap, start, disk, elf):
    """Moves the guest until it is done; the first state that went to a file"""
    functions = [(address, name)
                 for name, address in symbols.addresses(elf).items()]
    functions.append((0, ''))
    blockdev = json.dumps({'driver': 'qcow2', 'node-name': 'disk', 'file': {
        'driver': 'file', 'filename': disk, 'locking': 'off'}})
    first = None
    machines = []

    def next_machine(*options):
        machines.append(start('-blockdev', blockdev, *options))
        return machines[-1]

    try:
        machine = next_machine()
        machine.cont()
        while True:
            match = machine.take(r'# move: (\S+)|1\.\.\d+')
            tap.guest(machine.taken)
            if match[1] is None:
                break
            until(lambda m=machine: arrived(m, functions),
                  'the guest does not come to where it is moved')
            if match[1] != 'live':
                machine.qmp('stop')
            machine = MOVES[match[1]](machine, next_machine)
            if match[1] == 'file':
                first = first or machine.state
            machine.send(b'g')
            machine.cont()
    finally:
        for machine in machines:
            machine.end()
    return first


def refused(tap, start, name, data, *options):
    """QEMU ends with a word about CTR when it gets this state."""
    machine = start('-incoming', 'defer', *options)
    state = machine.file('.hostile')
    with open(state, 'wb') as file:
        file.write(data)
    why = 'it is accepted'
    try:
        machine.qmp('migrate-incoming', uri=f'file:{state}')
        machine.migrated()
    except Error:
        why = ''
        try:
            if machine.process.wait(LIMIT) != 1:
                why = f'it ends with {machine.process.returncode}'
        except subprocess.TimeoutExpired:
            why = 'it does not end'
        if not re.search(r'^[^\n]*: ctr: incoming', machine.complaint(), re.M):
            why += ' without a word about it: ' + machine.complaint()
    finally:
        machine.end()
    tap.say(not why, f'migration: {name} is refused', why)


def hostile(tap, start, stream):
    depth = 16 << stream.get('sctrdepth')
    cases = {
        'an incoming sctrdepth that is reserved': {'sctrdepth': 5},
        'an incoming sctrdepth beyond all': {'sctrdepth': 0xffffffff},
        'an incoming WRPTR at the depth': {'sctrstatus': depth},
        'an incoming sctrstatus with reserved bits': {'sctrstatus': 1 << 30},
        'an incoming mctrctl with reserved bits': {'mctrctl': 1 << 3},
        'an incoming mctrctl with Custom bits': {'mctrctl': 1 << 60},
        'an incoming vsctrctl with M': {'vsctrctl': 1 << 2},
        'an incoming vsctrctl with MTE': {'vsctrctl': 1 << 9},
        'an incoming ctrdata with undefined bits': {'data[7]': 1 << 4},
        'an incoming ctrdata with undefined high bits': {'data[0]': 1 << 32},
    }
    if stream.has('cycles'):
        cases |= {
            'an incoming cycle counter of half the range':
                {'cycles': 1 << 61, 'valid': 1},
            'an incoming cycle counter beyond all':
                {'cycles': (1 << 64) - 1, 'valid': 1},
        }
    for name, values in cases.items():
        refused(tap, start, name, stream.but(values))


def main():
    directory, *command = sys.argv[1:]
    tap = Tap()

    def start(*options):
        return Machine(directory, command, *options)

    disk = f'{directory}/snapshots'
    with start() as machine:
        machine.create_disk(disk)
    state = travel(tap, start, disk, command[command.index('-kernel') + 1])
    with open(state, 'rb') as file:
        stream = Stream(file.read())
    hostile(tap, start, stream)
    cpu = command.index('-cpu') + 1
    command[cpu] += ',ctr-min-depth=128'
    refused(tap, start, 'an incoming sctrdepth that the hart does not support',
            stream.data)
    tap.end()


main()
