#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# slow.py PATTERN: see run.sh
#
# The trace's socket is connected and not read until the encoder says that it
# had to stall the hart, or has lost or dropped packets; then all of it is read.

import json
import os
import re
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..', 'harness'))

import links
import machine
import tap
from tap import need, until

QEMU, RVTRACE, RETIRED, OUT = (os.environ[n] for n in
                              ('QEMU', 'RVTRACE', 'RETIRED', 'OUT'))
LIMIT = links.LIMIT
CONTROL, DATA_CONTROL = 0x3020000, 0x3020010
ENABLE = 1 << 1
# trTeControl, trTeDataControl
STALL_OR_OVERFLOW = 1 << 12
DATA_STALL_OR_OVERFLOW, DATA_STALL_ENA = 1 << 3, 1 << 4
DATA_DROP, DATA_DROP_ENA = 1 << 5, 1 << 6
DATA = ('data-width=64', 'data=on')
# so that there is more of it
LARGE = ('full-address=on',)


class Machine(machine.Machine):
    """A traced guest, which stands still until go()."""

    def __init__(self, folder, props, guest, options):
        self.folder = folder
        self.timed = guest == 'timed'
        self.data_trace = 'data=on' in props
        sockets = links.directory()
        trace = f'{sockets.name}/tr'
        args = [
            QEMU, '-M', 'virt,trace=on,trace-chardev=tr,trace-sideband=sb,'
            'trace-autostart=on,trace-modes=baseline', '-chardev',
            f'socket,id=tr,path={trace},server=on,wait=on', '-chardev',
            f'file,id=sb,path={folder}/sideband', '-cpu', 'rv64', '-m', '128M',
            '-no-shutdown', '-bios', 'none', '-kernel', f'{OUT}/{guest}.elf',
            *options, '-plugin', f'{RETIRED},out={folder}/truth',
            '-global', 'riscv-trace-pib.buffer-size=2M']
        for prop in props:
            args += ['-global', f'riscv-trace-encoder.{prop}']

        def connect():
            self.trace = links.connect(trace)

        with sockets:
            super().__init__(folder, args, uart=f'file:{folder}/uart',
                             qtest=True, ready=connect)

    def still_runs(self):
        """The guest has not come to its end."""
        return self.qmp('query-status')['running']

    def wait_for(self, addr, bits):
        until(lambda: self.qtest.read(addr) & bits,
              f'{bits:#x} did not become 1')

    def finish(self):
        """Read all of the trace; the guest ends."""
        def copy():
            with open(f'{self.folder}/trace', 'wb') as file:
                while part := self.trace.recv(1 << 16):
                    file.write(part)

        reader = threading.Thread(target=copy)
        reader.start()
        self.monitor.wait_for('SHUTDOWN')
        self.quit()
        reader.join(LIMIT)
        with open(f'{self.folder}/uart', encoding='ascii') as file:
            said = file.read()
        need(re.fullmatch(r'[0-9a-f]{16}\n' if self.timed else '', said),
             f'the guest failed: {said}')
        return said


def etrace(folder, command, *options):
    return subprocess.run(
        [RVTRACE, command, '--trace', f'{folder}/trace', '--sideband',
         f'{folder}/sideband', *options], capture_output=True, text=True,
        timeout=LIMIT, check=False)


def verify(folder):
    done = etrace(folder, 'verify', '--truth', f'{folder}/truth')
    need(done.returncode == 0,
         f'verify: {done.stdout.strip()} {done.stderr.strip()}')
    return int(re.search(r'(\d+) instructions', done.stdout)[1])


class Packets:
    """
    What there is in a trace of packets by themselves: no srcID, no timestamp,
    sijump_p 1. There are millions.
    """

    def __init__(self, m):
        self.data = self.lost = self.dloss = 0
        with open(f'{m.folder}/trace', 'rb') as file:
            stream = file.read()
        # behind the type of packet, where there is one: format 3, subformat 3
        mask, support = (0x1f, 0x1e) if m.data_trace else (0xf, 0xf)
        pos, end = 0, len(stream)
        while pos < end:
            size = stream[pos] & 0x1f
            if size:
                first = stream[pos + 1]
                if first & mask == support:
                    self.support(stream[pos + 1:pos + 1 + size], m.data_trace)
                elif m.data_trace and first & 1:
                    self.data += 1
            pos += 1 + size

    def support(self, payload, data_trace):
        # bits that are not there are those of the sign
        bits = int.from_bytes(payload, 'little', signed=True) >> data_trace
        # behind ienable, encoder_mode; behind 6 bits of ioptions, denable
        self.lost += bits >> 6 & 3 == 2
        self.dloss += bits >> 15 & 1


def clears_by_one(m, addr, bit):
    """A 0 leaves it, a 1 clears it, and nothing else."""
    m.qmp('stop')
    value = m.qtest.read(addr)
    m.qtest.write(addr, value & ~bit)
    need(m.qtest.read(addr) == value, 'writing 0 changed something')
    m.qtest.write(addr, value)
    need(m.qtest.read(addr) == value & ~bit, 'writing 1 did not clear it')
    m.cont()


def waits(m):
    """
    The guest does not come to its end: there is less room than it needs, so
    that it waits or, which is found later, packets are lost.
    """
    for _ in range(20):
        need(m.still_runs(), 'the guest has not waited')


def stalls(m):
    """trTeInstStallEna 1"""
    m.cont()
    m.wait_for(CONTROL, STALL_OR_OVERFLOW)
    clears_by_one(m, CONTROL, STALL_OR_OVERFLOW)
    waits(m)
    m.finish()
    verify(m.folder)
    need(not Packets(m).lost, 'trace_lost was reported')


def announced(m):
    """A decoder learns of all losses from the encoder, and stumbles nowhere."""
    done = etrace(m.folder, 'stat', '--format', 'json')
    need(done.returncode == 0, f'stat: {done.stderr.strip()}')
    kinds = {loss['kind']: loss['count']
             for loss in json.loads(done.stdout)['losses']}
    need(kinds and all(kind.startswith('the encoder lost')
                       for kind in kinds), f'losses: {kinds}')


def loses(m):
    """trTeInstStallEna 0"""
    m.cont()
    m.wait_for(CONTROL, STALL_OR_OVERFLOW)
    clears_by_one(m, CONTROL, STALL_OR_OVERFLOW)
    m.finish()
    need(Packets(m).lost, 'trace_lost was not reported')
    announced(m)
    done = etrace(m.folder, 'stat', '--strict')
    need(done.returncode == 1, f'--strict: {done.returncode}')


def enabling_clears(m):
    """trTeInstStallOrOverflow is 0 when trTeEnable goes to 1."""
    m.cont()
    m.wait_for(CONTROL, STALL_OR_OVERFLOW)
    m.qmp('stop')
    control = m.qtest.read(CONTROL) & ~STALL_OR_OVERFLOW
    m.qtest.write(CONTROL, control & ~ENABLE)
    need(m.qtest.read(CONTROL) & STALL_OR_OVERFLOW, 'cleared by trTeEnable 0')
    m.qtest.write(CONTROL, control)
    need(not m.qtest.read(CONTROL) & STALL_OR_OVERFLOW, 'not cleared')


def data_control(m, value):
    control = m.qtest.read(DATA_CONTROL) & ~(DATA_STALL_ENA | DATA_DROP_ENA)
    m.qtest.write(DATA_CONTROL, control | value)


def data_lost(m, bit):
    """Data packets are lost, instruction packets are not."""
    m.cont()
    m.wait_for(DATA_CONTROL, bit)
    clears_by_one(m, DATA_CONTROL, bit)
    m.finish()
    done = etrace(m.folder, 'verify', '--truth', f'{m.folder}/truth')
    match = re.search(r'(\d+) instructions decoded, (\d+) retired, '
                      r'0 of \d+ checkpoints differ', done.stdout)
    need(match and match.group(1) == match.group(2),
         f'verify: {done.stdout.strip()} {done.stderr.strip()}')
    found = Packets(m)
    need(found.dloss, 'dloss was not reported')
    need(not found.lost, 'trace_lost was reported')
    need(found.data, 'there were no data at all')
    announced(m)


def data_drops(m):
    """trTeDataDropEna 1"""
    data_control(m, DATA_STALL_ENA | DATA_DROP_ENA)
    data_lost(m, DATA_DROP)


def data_overflows(m):
    """trTeDataStallEna 0"""
    data_control(m, 0)
    data_lost(m, DATA_STALL_OR_OVERFLOW)


def data_stalls(m):
    """trTeDataStallEna 1 is enough"""
    data_control(m, DATA_STALL_ENA)
    m.cont()
    m.wait_for(CONTROL, STALL_OR_OVERFLOW)
    waits(m)
    m.finish()
    verify(m.folder)
    need(not Packets(m).dloss, 'dloss was reported')


def time_stands(m):
    """A stall takes no time that the guest sees: 1 ns for an instruction"""
    m.cont()
    m.wait_for(CONTROL, STALL_OR_OVERFLOW)
    time.sleep(1)               # that nobody in the machine may notice
    ticks = int(m.finish(), 16)
    retired = verify(m.folder)
    # the timer's frequency is 10 MHz; a little comes before and behind
    need(-10000 < 100 * ticks - retired <= 100,
         f'{100 * ticks} ns for {retired} instructions')


TESTS = (
    ('stall', stalls, LARGE),
    ('loss', loses, (*LARGE, 'stall=off')),
    ('enabling clears StallOrOverflow', enabling_clears, LARGE),
    ('data are dropped', data_drops, DATA),
    ('data are lost, instructions are not', data_overflows, DATA),
    ('stall for the sake of data', data_stalls, (*DATA, 'stall=off')),
    ('stall takes no time, icount', time_stands, LARGE, 'timed',
     ('-icount', 'shift=0')),
    ('stall takes no time, icount and no sleep', time_stands, LARGE, 'timed',
     ('-icount', 'shift=0,sleep=off')),
    ('stall takes no time, two harts, icount and no sleep', time_stands, LARGE,
     'timed', ('-icount', 'shift=0,sleep=off', '-smp', '2')),
)


def run(folder, test, props, guest='long', options=()):
    with Machine(folder, props, guest, options) as traced:
        test(traced)


tap.run(OUT, [(name, run, *rest) for name, *rest in TESTS])
