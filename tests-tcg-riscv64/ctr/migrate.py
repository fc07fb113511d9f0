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

from machine import Error, LIMIT, Machine, Tap

CYCLES_INVALID = 1 << 62        # see target/riscv/ctr/state.h
CYCLES_ENCODED = 1 << 63


def to_file(machine, start):
    """Through a file; the time in between must not count."""
    state = machine.file('.state')
    machine.qmp('migrate', uri=f'file:{state}')
    machine.migrated()
    machine.end()
    time.sleep(0.2)
    machine = start('-incoming', 'defer')
    machine.qmp('migrate-incoming', uri=f'file:{state}')
    machine.migrated()
    machine.state = state
    return machine


def live(machine, start):
    """From a machine that runs to one that waits for it"""
    there = start('-incoming', 'defer')
    address = f'unix:{there.file(".migration")}'
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
    time.sleep(0.2)
    machine.qmp('stop')
    restore(machine)
    snapshot_delete(machine)
    return machine


def other_machine(machine, start):
    """savevm; -loadvm in a new QEMU"""
    snapshot(machine)
    machine.end()
    time.sleep(0.2)
    machine = start()
    restore(machine)
    snapshot_delete(machine)
    return machine


def snapshot_delete(machine):
    machine.job('snapshot-delete', tag='ctr', devices=['disk'])


MOVES = {'file': to_file, 'live': live, 'loadvm': same_machine,
         '-loadvm': other_machine}


def create_disk(path, start):
    """An empty qcow2 image, which snapshots go into"""
    with start() as machine:
        machine.job('blockdev-create', options={
            'driver': 'file', 'filename': path, 'size': 0})
        machine.qmp('blockdev-add', driver='file', node_name='file',
                    filename=path)
        machine.job('blockdev-create', options={
            'driver': 'qcow2', 'file': 'file', 'size': 1 << 20})


def travel(tap, start, disk):
    """Moves the guest until it is done; the first state that went to a file"""
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
            time.sleep(0.1)             # well into it
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


class Stream:
    """A migration stream, and where the state of CTR is in it"""

    def __init__(self, data):
        self.data = data
        self.places = {}
        for node in self.find(self.description()):
            start = data.find(b'\x05\x07cpu/ctr' +
                              node['version'].to_bytes(4, 'big'))
            if start >= 0:
                self.walk(node['fields'], start + 13, '')
        if not self.places:
            raise Error('the stream has no cpu/ctr')

    def description(self):
        for match in re.finditer(rb'\x06(....)\{"', self.data, re.S):
            start = match.start() + 5
            length = int.from_bytes(match[1], 'big')
            try:
                return json.loads(self.data[start:start + length])
            except ValueError:
                pass
        raise Error('the stream has no description')

    def find(self, node):
        items = node if isinstance(node, list) else (
            node.values() if isinstance(node, dict) else ())
        if isinstance(node, dict) and node.get('vmsd_name') == 'cpu/ctr':
            yield node
        for item in items:
            yield from self.find(item)

    def walk(self, fields, at, prefix):
        for field in fields:
            name = prefix + field['name'].rpartition('.')[2]
            count = field.get('array_len')
            for i in range(count or 1):
                full = name if count is None else f'{name}[{i}]'
                if 'struct' in field:
                    self.walk(field['struct']['fields'], at, full + '.')
                else:
                    self.places[full] = (at, field['size'])
                at += field['size']

    def get(self, name):
        at, size = self.places[name]
        return int.from_bytes(self.data[at:at + size], 'big')

    def but(self, **values):
        """The stream with other values; __N_ in a name is entry N's."""
        data = bytearray(self.data)
        for name, value in values.items():
            at, size = self.places[re.sub(r'entries__(\d+)_', r'entries[\1].',
                                          name)]
            data[at:at + size] = value.to_bytes(size, 'big')
        return bytes(data)


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
    entry = 32                          # bytes of an entry, which head counts
    depth = 16 << stream.get('sctrdepth')
    cases = {
        'an incoming sctrdepth that is reserved': {'sctrdepth': 5},
        'an incoming sctrdepth beyond all': {'sctrdepth': 0xffffffff},
        'an incoming WRPTR at the depth': {'wrptr': depth},
        'an incoming WRPTR beyond the buffer': {'wrptr': 256},
        'an incoming WRPTR beyond memory': {'wrptr': 0xffffffff},
        'an incoming mctrctl with reserved bits': {'mctrctl': 1 << 3},
        'an incoming mctrctl with Custom bits': {'mctrctl': 1 << 60},
        'an incoming vsctrctl with M': {'vsctrctl': 1 << 2},
        'an incoming vsctrctl with MTE': {'vsctrctl': 1 << 9},
        'an incoming type beyond 15': {'entries__3_type': 16},
        'an incoming ctrtarget.MISP': {'entries__255_target': 1},
        'an incoming ctrdata with undefined bits':
            {'entries__7_cycles': CYCLES_ENCODED | 1 << 4},
        'an incoming ctrdata with undefined high bits':
            {'entries__7_cycles': CYCLES_ENCODED | 1 << 32},
        'an incoming cycle count with both marks':
            {'entries__0_cycles': CYCLES_ENCODED | CYCLES_INVALID},
        'an incoming cycle counter with a mark of entries':
            {'cycles': CYCLES_ENCODED | 5},
        'an incoming cycle counter about to become a mark':
            {'cycles': CYCLES_ENCODED - 1},
    }
    for name, values in cases.items():
        try:
            state = stream.but(**values)
        except KeyError as error:
            tap.say(False, f'migration: {name} is refused',
                    f'the stream has no {error}')
            continue
        refused(tap, start, name, state)


def main():
    directory, *command = sys.argv[1:]
    tap = Tap()

    def start(*options):
        return Machine(directory, command, *options)

    disk = f'{directory}/snapshots'
    create_disk(disk, start)
    state = travel(tap, start, disk)
    with open(state, 'rb') as file:
        stream = Stream(file.read())
    hostile(tap, start, stream)
    cpu = command.index('-cpu') + 1
    command[cpu] += ',ctr-min-depth=128'
    refused(tap, start, 'an incoming sctrdepth that the hart does not support',
            stream.data)
    tap.end()


main()
