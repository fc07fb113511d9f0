#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# stock.py PATTERN: see run.sh

import os
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
sys.dont_write_bytecode = True
sys.path += [f'{HERE}/../harness', f'{HERE}/../ctr']

import tap                                              # noqa: E402
from machine import Error, Machine                      # noqa: E402
from stream import Stream                               # noqa: E402
from tap import need                                    # noqa: E402

QEMU, STOCK, OUT = (os.environ[name] for name in
                    ('QEMU', 'QEMU_STOCK', 'OUT'))
CTR = ('rv64,h=on,smcsrind=on,sscsrind=on,smstateen=on,sscofpmf=on,'
       'smctr=on,ssctr=on')
ICOUNT = ('-icount', 'shift=0,sleep=off')
# What software can see, and stock QEMU's names for it
REGISTERS = ('mctrctl', 'sctrdepth', 'sctrstatus', 'vsctrctl')
ENTRIES = {'source': 'ctr_src', 'target': 'ctr_dst', 'data': 'ctr_data'}


def command(qemu, machine, cpu, *options):
    return [qemu, '-M', machine, '-bios', 'none', '-cpu', cpu, '-kernel',
            f'{OUT}/migrate.elf', *options]


def machine_in_middle(folder, qemu, *options):
    """The guest has recorded, and waits to be moved."""
    machine = Machine(folder, command(qemu, *options))
    machine.cont()
    machine.take(r'# move: file')
    machine.qmp('stop')
    return machine


def leave(machine):
    """The file that has the machine"""
    state = machine.file('.state')
    machine.qmp('migrate', uri=f'file:{state}')
    machine.migrated()
    machine.end()
    with open(state, 'rb') as file:
        return state, file.read()


def arrive(folder, state, qemu, *options):
    machine = Machine(folder, [*command(qemu, *options),
                               '-incoming', 'defer'])
    try:
        machine.qmp('migrate-incoming', uri=f'file:{state}')
        machine.migrated()
    except Error:
        machine.end()
        raise
    return machine


def goes_on(machine):
    machine.send(b'g')
    machine.cont()
    # whatever it finds wrong with the other one's records
    machine.take(r'(ok|not ok) \d+ - migration: the guest goes on')


def registers(stream, entries):
    values = {name: stream.get(name) for name in REGISTERS}
    for name, its in entries.items():
        for i in range(256):
            values[f'{name}[{i}]'] = stream.get(f'{its}[{i}]')
    return values


def same(got, want):
    for name, value in want.items():
        need(got[name] == value, f'{name} is {got[name]:#x}, was {value:#x}')


def from_stock(folder, machine, *options):
    """All registers of CTR arrive, and the guest goes on."""
    with machine_in_middle(folder, STOCK, 'virt', CTR, *options) as stock:
        state, data = leave(stock)
    want = registers(Stream(data), ENTRIES)
    need(sum(want[f'source[{i}]'] & 1 for i in range(256)) > 50,
         'the guest has not recorded')
    need(want['sctrstatus'] and want['vsctrctl'], 'nothing to compare')
    with arrive(folder, state, QEMU, machine, CTR, *options) as ours:
        _, data = leave(ours)
    same(registers(Stream(data), {name: name for name in ENTRIES}), want)
    with arrive(folder, state, QEMU, machine, CTR, *options) as ours:
        goes_on(ours)


def from_stock_with_misp(folder):
    """Stock QEMU lets software write MISP, which is read-only 0 here."""
    with machine_in_middle(folder, STOCK, 'virt', CTR) as stock:
        state, data = leave(stock)
    stream = Stream(data)
    want = registers(stream, ENTRIES)
    with open(state, 'wb') as file:
        file.write(stream.but({f'ctr_dst[{i}]': stream.get(f'ctr_dst[{i}]') | 1
                               for i in (0, 7, 255)}))
    with arrive(folder, state, QEMU, 'virt', CTR) as ours:
        _, data = leave(ours)
    same(registers(Stream(data), {name: name for name in ENTRIES}), want)


def to_stock(folder):
    """Without cycle counts there is nothing that stock QEMU lacks."""
    with machine_in_middle(folder, QEMU, 'virt', CTR) as ours:
        state, data = leave(ours)
    want = registers(Stream(data), {name: name for name in ENTRIES})
    with arrive(folder, state, STOCK, 'virt', CTR) as stock:
        _, data = leave(stock)
    same(registers(Stream(data), ENTRIES), want)


def to_stock_with_cycles(folder):
    with machine_in_middle(folder, QEMU, 'virt', CTR, *ICOUNT) as ours:
        state, _ = leave(ours)
    try:
        arrive(folder, state, STOCK, 'virt', CTR, *ICOUNT).end()
    except Error as error:
        need("of device 'cpu'" in str(error), str(error))
    else:
        need(False, 'it is accepted, and the cycle counter lost')


def traced_to_stock(folder):
    with machine_in_middle(folder, QEMU, 'virt,trace=on', CTR) as ours:
        state, _ = leave(ours)
    try:
        arrive(folder, state, STOCK, 'virt', CTR).end()
    except Error as error:
        need('riscv-trace' in str(error), str(error))
    else:
        need(False, 'it is accepted')


TESTS = (
    ('from stock QEMU', from_stock, 'virt'),
    ('from stock QEMU, -icount', from_stock, 'virt', *ICOUNT),
    ('from stock QEMU to a machine with trace components', from_stock,
     'virt,trace=on'),
    ('from stock QEMU, with MISP set', from_stock_with_misp),
    ('to stock QEMU', to_stock),
    ('to stock QEMU: refused with a cycle counter', to_stock_with_cycles),
    ('to stock QEMU: refused with trace components', traced_to_stock),
)

tap.run(OUT, TESTS)
