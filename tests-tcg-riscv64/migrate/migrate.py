#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# migrate.py PATTERN: see run.sh
#
# What each QEMU's trace and sideband report together has to be what the
# observers in all of them saw, one after the other.

import os
import re
import shutil
import subprocess
import sys
import threading

HERE = os.path.dirname(os.path.realpath(__file__))
sys.dont_write_bytecode = True
sys.path.append(f'{HERE}/../harness')

import links                                            # noqa: E402
import symbols                                          # noqa: E402
import tap                                              # noqa: E402
from machine import Machine                             # noqa: E402
from observer import Observer, same                     # noqa: E402
from tap import LIMIT, need, until                      # noqa: E402

QEMU, RVTRACE, RETIRED, ACCESSES, OUT = (
    os.environ[name] for name in
    ('QEMU', 'RVTRACE', 'RETIRED', 'ACCESSES', 'OUT'))
# instructions of each hart: then it is in the middle of something
MANY = 10000
COMPONENTS = {'encoder': 0x3020000, 'encoder of hart 1': 0x3021000,
              'funnel': 0x3030000, 'PIB': 0x3031000, 'RAM sink': 0x3032000,
              'ATB bridge': 0x3033000}
TR_RAM_WP = 0x20                    # bit 0: it has wrapped
TR_RAM_DATA = 0x40                  # reading it changes trRamRP
REGISTERS = 0x800                   # bytes of them, with all filters
STALL_OR_OVERFLOW = 1 << 12         # in trTeControl, which is the first one


class Part:
    """A QEMU that the guest is in for a while, and what is left of it"""

    def __init__(self, test, *options):
        self.number = len(test.parts)
        self.harts = test.harts
        self.trace, self.sideband, self.pcs, self.accesses = (
            f'{test.folder}/{name}.{self.number}'
            for name in ('trace', 'sideband', 'pcs', 'accesses'))
        self.observer = Observer(self.pcs)
        command = [
            QEMU, '-M', f'virt,trace=on,trace-autostart=on{test.machine},'
            'trace-modes=baseline,'
            'trace-sideband=sb',
            '-chardev', f'file,id=sb,path={self.sideband}', '-m', '8M',
            '-smp', str(test.harts), '-bios', 'none', '-kernel',
            f'{OUT}/{test.program}.elf',
            '-plugin', f'{RETIRED},out={self.trace}.truth,pcs={self.pcs}',
            *test.options, *options]
        unread = test.unread and not self.number
        if unread:
            command += ['-chardev', 'socket,id=tr,server=on,wait=off,'
                        f'path={test.sockets}/tr']
        elif 'trace-chardev=tr' in test.machine:
            command += ['-chardev', f'file,id=tr,path={self.trace}']
        if test.data:
            command += ['-plugin', f'{ACCESSES},out={self.accesses}']
        self.machine = Machine(test.sockets, command, gdb=test.debugger,
                               qtest=unread)
        self.qmp = self.machine.qmp
        test.parts.append(self)
        if unread:
            self.link = links.connect(f'{test.sockets}/tr')

    def run(self):
        self.machine.cont()
        self.go_on()

    def go_on(self):
        """Until the observer has seen enough of each hart, from now on"""
        self.observer.go_on(self.harts, 2 * MANY)

    def move(self, test, live=True):
        """To a new QEMU, where the guest stands still"""
        address = f'unix:{test.sockets}/to.{self.number + 1}'
        there = Part(test, '-incoming', 'defer')
        if not live:
            self.qmp('stop')
        there.qmp('migrate-incoming', uri=address)
        self.machine.migrate(address)
        there.machine.migrated()
        self.machine.migrated()
        return there

    def read_trace(self):
        """What nobody has read until now, up to QEMU's end"""
        def copy():
            with open(self.trace, 'wb') as file:
                while data := self.link.recv(1 << 16):
                    file.write(data)

        reader = threading.Thread(target=copy)
        reader.start()
        return reader

    def quit(self):
        """End QEMU in order; the observers write down what they have."""
        self.machine.quit()
        self.machine.end()
        need(not self.machine.complaint(),
             f'QEMU or an observer complained: {self.machine.complaint()}')

    def finish(self):
        """The guest has to end, and ends QEMU."""
        self.machine.uart.sendall(b'e')
        self.machine.wait()
        while self.machine.read(0):
            pass
        need('FAIL' not in self.machine.text and
             'trap' not in self.machine.text,
             f'the guest failed: {self.machine.text}')
        self.machine.end()

    def registers(self, component):
        words = {}
        for base in range(0, REGISTERS, 0x40):
            text = self.machine.hmp(
                f'xp /{0x10}xw {COMPONENTS[component] + base:#x}')
            values = [int(word, 16)
                      for word in re.findall(r'\b0x[0-9a-f]{8}\b', text)]
            need(len(values) == 0x10, f'xp: {text}')
            words.update((base + 4 * i, value)
                         for i, value in enumerate(values))
        return words

    def pc(self):
        return re.search(r'\bpc +([0-9a-f]+)',
                         self.machine.hmp('info registers'))[1]

    def of_observer(self, hart):
        return self.observer.pcs(hart)


class Test:
    """A test's way to run QEMU, and the QEMUs that it has started"""

    def __init__(self, folder, sockets, properties=(), harts=1, data=False,
                 machine=',trace-chardev=tr', options=(), unread=False,
                 program=None, debugger=False):
        self.folder = folder
        self.sockets = sockets
        self.harts = harts
        self.data = data
        self.machine = machine
        self.options = list(options)
        self.unread = unread        # the first one's trace, until it is asked
        self.debugger = debugger
        self.program = program or ('middle-data' if data else 'middle')
        self.parts = []
        for item in properties:
            self.options += ['-global', f'riscv-trace-encoder.{item}']

    def first(self, *options):
        part = Part(self, *options)
        part.machine.cont()
        part.machine.take('ready')
        return part

    def end(self):
        for part in self.parts:
            part.machine.end()

    def files(self, order=None):
        """The options of rvtrace that name the parts"""
        parts = self.parts if order is None else [self.parts[i]
                                                  for i in order]
        return [word for part in parts for word in
                ('--trace', part.trace, '--sideband', part.sideband)]

    def etrace(self, command, *options):
        return subprocess.run([RVTRACE, command, *options], text=True,
                              capture_output=True, timeout=LIMIT, check=False)

    def decode(self, files, what, hart):
        """The lines, as bytes: there may be millions of them."""
        done = subprocess.run([RVTRACE, 'decode', *files, '--emit', what,
                               '--hart', str(hart), '--strict'],
                              capture_output=True, timeout=LIMIT, check=False)
        need(done.returncode == 0, f'decode: {done.stderr.decode()}')
        need(not done.stderr, f'decode complains: {done.stderr.decode()}')
        return done.stdout

    def compare(self, files=None):
        """Do the parts, decoded as one, hold what all observers saw?"""
        files = files or self.files()
        for hart in range(self.harts):
            seen = [part.of_observer(hart) for part in self.parts]
            need(all(count(part) > MANY for part in seen),
                 f'not in the middle: {[count(part) for part in seen]}')
            same(self.decode(files, 'pc', hart), b''.join(seen))
            if self.data:
                self.compare_data(files, hart)

    def compare_data(self, files, hart):
        with open(f'{self.folder}/observed', 'wb') as observed:
            for part in self.parts:
                with open(part.accesses, 'rb') as accesses:
                    shutil.copyfileobj(accesses, observed)
        with open(f'{self.folder}/data', 'wb') as data:
            data.write(self.decode(files, 'data', hart))
        done = subprocess.run(
            [sys.executable, f'{HERE}/../data/compare.py',
             f'{self.folder}/observed', str(hart), f'{self.folder}/data'],
            capture_output=True, text=True, timeout=LIMIT, check=False)
        need(done.returncode == 0, f'data: {done.stderr}')


def count(pcs):
    return pcs.count(b'\n')


def moves(test, live=True, times=1):
    """Run, move, run, ...; the last one comes to the guest's end."""
    part = test.first()
    for _ in range(times):
        part.go_on()
        part = part.move(test, live)
        part.run()
    part.finish()
    for part in test.parts[:-1]:
        part.quit()


def moved(test, live=True, times=1):
    moves(test, live, times)
    test.compare()


def ended_at_handler(test, *stops):
    """
    A debugger stops the hart where a trap leads, as a migration can. The
    instruction that trapped has not retired, although this observer sees the
    hart no more.
    """
    where = symbols.addresses(f'{OUT}/{test.program}.elf')
    part = test.first()
    part.go_on()
    gdb = part.machine.gdb()
    for stop in (*stops, 'count'):
        gdb.stop_at(where[stop])
    part.quit()
    test.compare()


def waiting(test):
    """A hart that waits for the reader moves, and waits no more there."""
    part = test.first()
    control = COMPONENTS['encoder']
    qtest = part.machine.qtest

    def waits():
        return qtest.read(control) & STALL_OR_OVERFLOW

    until(waits, 'the hart does not wait')
    # It does so on and on, when it was stopped in between, too.
    pc = part.pc()
    part.qmp('stop')
    part.machine.cont()
    for _ in range(20):
        need(part.pc() == pc, 'the hart does not wait any more')
    there = part.move(test)
    there.run()
    there.finish()
    reader = part.read_trace()
    part.quit()
    reader.join(LIMIT)
    test.compare()


def registers_moved(test):
    """They are at the destination what they are at the source."""
    part = test.first()
    part.go_on()
    there = part.move(test)
    for component in COMPONENTS:
        old, new = part.registers(component), there.registers(component)
        need(any(old.values()), f'{component}: there is nothing')
        for offset, value in old.items():
            need(offset == TR_RAM_DATA and component == 'RAM sink' or
                 value == new[offset],
                 f'{component}, {offset:#x}: {value:#x} before, '
                 f'{new[offset]:#x} after')
    there.run()
    there.finish()
    part.quit()


def wait_for_ring(part, done):
    """Until done(trRamWPLow)"""
    until(lambda: done(part.registers('RAM sink')[TR_RAM_WP]),
          'nothing is stored')


def save_ring(test, before):
    """
    Moves the guest when the ring is as wanted, and saves it at the end; the
    sidebands
    """
    part = test.first()
    wait_for_ring(part, before)
    there = part.move(test)
    stored = there.registers('RAM sink')[TR_RAM_WP]
    there.run()
    wait_for_ring(there, lambda wp: wp != stored)
    there.qmp('stop')
    there.qmp('x-riscv-trace-save', filename=f'{test.folder}/ring')
    wrapped = 'wrapped' in there.machine.hmp('info riscv-trace')
    for part in test.parts:
        part.quit()
    return wrapped, [word for part in test.parts
                     for word in ('--sideband', part.sideband)]


def ring_wrapped(test):
    """The end of the source's trace is left, and all of the destination's."""
    wrapped, sidebands = save_ring(test, lambda wp: wp & 1)
    need(wrapped, 'it has not wrapped')
    decoded = test.decode(['--trace', f'{test.folder}/ring', '--wrapped-at',
                           '0', *sidebands], 'pc', 0)
    before, after = (part.of_observer(0) for part in test.parts)
    need(0 < len(after) < len(decoded) < len(before) + len(after),
         f'{count(decoded)} decoded, {count(before)} and {count(after)} '
         'retired')
    same(decoded, (before + after)[-len(decoded):])


def ring(test):
    """One dump at the end holds what was stored on both sides."""
    _, sidebands = save_ring(test, lambda wp: wp > 1 << 16)
    dump = ['--ram', '--trace', f'{test.folder}/ring']
    test.compare([*dump, *sidebands])
    # what is from the destination can be had by itself
    same(test.decode([*dump, *sidebands[2:]], 'pc', 0),
         test.parts[1].of_observer(0))
    done = test.etrace('decode', *dump, *sidebands[2:], *sidebands[:2],
                       '--emit', 'pc')
    need(done.returncode == 2 and 'order' in done.stderr,
         f'the wrong order: {done.returncode} {done.stderr}')


def snapshot(test):
    """
    savevm, on for a while, loadvm: the same instructions retire again. The
    trace has a session before loadvm and one behind it.
    """
    disk = f'{test.folder}/disk'
    with Machine(test.sockets, [QEMU, '-M', 'none'], uart='null') as maker:
        maker.create_disk(disk)
    test.options += ['-blockdev', 'driver=qcow2,node-name=disk,'
                     f'file.driver=file,file.filename={disk}']
    part = test.first()
    part.go_on()
    part.qmp('stop')
    part.machine.job('snapshot-save', tag='s', vmstate='disk',
                     devices=['disk'])
    part.run()
    part.qmp('stop')
    part.machine.job('snapshot-load', tag='s', vmstate='disk',
                     devices=['disk'])
    part.run()
    part.finish()
    files = [word for number in ('1', '2') for word in
             (*test.files(), '--session', number)]
    test.compare(files)
    # the last one alone: what retired behind loadvm
    seen = part.of_observer(0)
    alone = test.decode(test.files(), 'pc', 0)
    need(count(alone) > MANY, 'nothing retired behind loadvm')
    same(alone, seen[-len(alone):])
    before = test.decode([*test.files(), '--session', '1'], 'pc', 0)
    same(before, seen[:-len(alone)])


def refused(test, order, words):
    done = test.etrace('decode', *test.files(order), '--emit', 'pc')
    need(done.returncode == 2 and not done.stdout,
         f'{order}: {done.returncode} {done.stderr}')
    for word in words:
        need(word in done.stderr, f'{order}: no "{word}" in: {done.stderr}')


def wrong_parts(test):
    """Parts that are missing, exchanged or another machine's are refused."""
    moves(test, times=2)
    names = [part.sideband for part in test.parts]
    test.compare()
    refused(test, (1, 0, 2), (names[0], names[1], 'order'))
    refused(test, (0, 2), (names[0], names[2], 'missing'))
    refused(test, (0, 0), (names[0], 'twice'))
    # some of the parts, without a gap
    same(test.decode(test.files((1, 2)), 'pc', 0),
         test.parts[1].of_observer(0) + test.parts[2].of_observer(0))
    # as many of the one as of the other
    done = test.etrace('stat', *test.files()[:-2])
    need(done.returncode == 2 and '--sideband' in done.stderr,
         f'a sideband is missing: {done.stderr}')
    # whatever else reads traces
    for command in ('stat', 'folded', 'flamegraph'):
        options = ['--output', os.devnull] if command != 'stat' else []
        done = test.etrace(command, *test.files(), *options)
        need(done.returncode == 0, f'{command}: {done.stderr}')
        if command == 'stat':
            total = sum(count(part.of_observer(0)) for part in test.parts)
            need(re.search(rf'instructions +{total}\b', done.stdout),
                 f'stat: not {total} instructions: {done.stdout}')


def verified(test):
    """verify takes what each observer saw, in the same order."""
    moves(test)
    truths = [word for part in test.parts
              for word in ('--truth', f'{part.trace}.truth')]
    done = test.etrace('verify', *test.files(), *truths)
    total = sum(count(part.of_observer(0)) for part in test.parts)
    need(done.returncode == 0 and 'identical' in done.stdout and
         f' {total} retired' in done.stdout,
         f'verify: {total} retired: {done.stdout} {done.stderr}')
    done = test.etrace('verify', *test.files(), *truths[2:], *truths[:2])
    need(done.returncode == 1, f'exchanged: {done.stdout} {done.stderr}')
    done = test.etrace('verify', *test.files(), *truths[:2])
    need(done.returncode == 1, f'one is missing: {done.stdout} {done.stderr}')


DATA = ('data-width=64', 'data=on')


def sram(size):
    return ['-global', f'riscv-trace-ram.sram-size={size}']


def modes():
    """The modes of ../modes/modes.txt: name, properties"""
    with open(f'{HERE}/../modes/modes.txt', encoding='utf-8') as lines:
        words = [line.split() for line in lines if not line.startswith('#')]
    return {line[0]: line[1:] for line in words if line}


def tests():
    """name, how to run QEMU, what to do and its arguments"""
    known = modes()
    for mode in ('baseline', 'all', 'all-call-counter', '1.1.1-all',
                 '2.1-draft-all'):
        yield f'live, {mode}', {'properties': known[mode]}, moved
        yield f'live, {mode}, data', \
              {'properties': [*known[mode], *DATA], 'data': True}, moved
    yield 'stopped, all, data', \
          {'properties': [*known['all'], *DATA], 'data': True}, moved, False
    yield 'live, 2 harts, all', \
          {'properties': known['all'], 'harts': 2}, moved
    yield 'live, 3 times, timestamps', \
          {'properties': ['timestamp-width=40', 'timestamp-mode=2']}, \
          moved, True, 3
    yield 'live, a hart that waits for the reader', \
          {'properties': ['full-address=on'], 'unread': True,
           'options': ['-global', 'riscv-trace-pib.buffer-size=2M']}, waiting
    yield 'registers', \
          {'properties': [*known['all'], *DATA, 'timestamp-width=40'],
           'harts': 2, 'machine': ',trace-chardev=tr,trace-atb=on'}, \
          registers_moved
    yield 'RAM sink, both sidebands', \
          {'machine': '', 'options': sram('128M')}, ring
    yield 'RAM sink that has wrapped, both sidebands', \
          {'machine': '', 'options': sram('512K')}, ring_wrapped
    yield 'loadvm', {'properties': known['all']}, snapshot
    yield 'live, triggers', {'program': 'triggers'}, moved
    for stop in ('meet_both', 'storing'):
        yield f'ended at the handler of a trap behind {stop}', \
              {'program': 'triggers', 'debugger': True}, \
              ended_at_handler, stop
    yield 'loadvm, triggers', {'program': 'triggers'}, snapshot
    yield 'loadvm, data', \
          {'properties': [*known['all'], *DATA], 'data': True}, snapshot
    yield 'wrong parts are refused', {}, wrong_parts
    yield 'verify', {'properties': known['all']}, verified


def run_test(folder, how, run, *arguments):
    with links.directory() as sockets:
        test = Test(folder, sockets, **how)
        try:
            run(test, *arguments)
        finally:
            test.end()


tap.run(OUT, [(name, run_test, *rest) for name, *rest in tests()])
