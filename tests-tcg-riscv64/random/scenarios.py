# SPDX-License-Identifier: GPL-2.0-or-later
#
# What happens to a machine while the guest runs, and where the trace goes.
# Each scenario is a function that runs the case and says what to decode.

import glob
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.realpath(__file__))
TESTS = os.path.dirname(HERE)
sys.path.insert(0, f'{TESTS}/harness')

import links                                    # noqa: E402
from links import Error, connect                 # noqa: E402
from machine import Machine                     # noqa: E402
from symbols import table                       # noqa: E402

LIMIT = 60              # seconds that a program has
PATIENCE = 10           # what a hart does is written in large pieces


def without_idle(said):
    """
    All harts may sleep for a moment while an event is on its way to them. What
    QEMU says to that, with -icount, is no complaint about the trace.
    """
    return re.sub(r'.*icount sleep disabled and no active timers\n', '', said)


def steps_written(steps):
    """
    What steps.c has written so far. It shows whether harts still execute: a
    program that is slow, or never ends, is not one that hangs.
    """
    return [os.path.getsize(path) for path in glob.glob(f'{steps}.*')]


def wait(process, steps):
    """QEMU has to end; its status"""
    try:
        return process.wait(LIMIT)
    except subprocess.TimeoutExpired:
        before = steps_written(steps)
    try:
        return process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        kind = 'hang' if steps_written(steps) == before else 'endless'
        raise Error(f'{kind}: QEMU does not end') from None


class Again(Error):
    """QEMU ended by a mistake that stock QEMU makes, too."""


class Result:
    """Options of rvtrace, and prefixes of what steps.c wrote"""

    def __init__(self, how, options, steps, ram):
        self.how = how          # 'all', 'parts', 'polls', 'pieces' or 'end'
        self.options = options  # of 'parts' and 'polls': for each part,
                                # and whether it is the first, the last
        self.steps = steps
        self.ram = ram


class Run:
    """QEMUs of a case: a directory for sockets, and what they are to do"""

    def __init__(self, case, folder, command_of, sockets):
        self.case = case
        self.folder = folder
        self.command_of = command_of    # command_of(number, options)
        self.sockets = sockets
        self.events = case['events']
        self.machines = []
        self.late = False       # an event came when the guest had ended,
        self.unanswered = False # ... or was ending: QEMU did not answer

    def start(self, *options, trace='file'):
        number = len(self.machines)
        options = ['-chardev', f'file,id=sb,path={self.folder}/sideband'
                   f'{number}', *options]
        if trace == 'file':
            options += ['-chardev',
                        f'file,id=tr,path={self.folder}/trace{number}']
        elif trace == 'socket':
            options += ['-chardev', 'socket,id=tr,server=on,wait=off,'
                        f'path={self.sockets}/tr']
        machine = Machine(self.sockets, self.command_of(number, options),
                          uart='log')
        self.machines.append(machine)
        return machine

    def steps(self, machine):
        return f'{self.folder}/steps{self.machines.index(machine)}'

    def end(self, machine):
        """The guest has to come to its end; status"""
        status = wait(machine.process, self.steps(machine))
        said = without_idle(machine.complaint())
        if self.case['machine']['scenario'] == 'reconnect':
            # what a reader who left has not read is reported
            said = re.sub(r'.*the reader of chardev .tr. has left; \d+ bytes '
                          r'were not read and are lost\n', '', said)
            said = re.sub(r'.*the last \d+ bytes for chardev .tr. were not '
                          r'taken and are lost\n', '', said)
        if self.case['machine']['scenario'] == 'lossy':
            said = re.sub(r'.*hart \d+: \d+ packets were lost, \d+ of them at '
                          r'the end of the trace\n', '', said)
        if (self.unanswered and status == -signal.SIGABRT and
                "->initialized' failed" in said):
            # It may do "migrate" when it has freed what that needs.
            raise Again(said)
        if self.late:
            # The machine ended while it was being migrated. Its end may cut
            # short what the migration's thread is writing.
            said = re.sub(r'.*(Unable to write to socket|failed to save '
                          r'SaveStateEntry|: Input/output error).*\n', '', said)
            said = re.sub(r'[^\n]+\Z', '', said)
        if status == 7:
            raise Error('guest: a hart has not come to its end')
        if status or said:
            raise Error(f'QEMU ended with {status}: {said[:500]}')

    def labels(self):
        """Addresses in the program"""
        return [s.address for s in table(f'{self.folder}/guest.elf')
                if s.kind == 't' and
                re.match('(L|on|function|loop|case|slot)_', s.name)]

    def ring_size(self):
        """Bytes of the RAM sink's memory"""
        text = next(item for item in self.case['machine']['props']
                    if 'sram-size=' in item).partition('=')[2]
        return int(text[:-1]) << {'K': 10, 'M': 20}[text[-1]]

    def close(self):
        for machine in self.machines:
            machine.end()

    def result(self, how='all', numbers=(0,), more=()):
        options = [word for n in numbers for word in
                   ('--trace', f'{self.folder}/trace{n}', '--sideband',
                    f'{self.folder}/sideband{n}')]
        return Result(how, options + list(more),
                      [f'{self.folder}/steps{n}' for n in numbers],
                      f'{self.folder}/ram{numbers[-1]}')


def over(machine):
    """Has the guest ended already? An event is too late then."""
    try:
        machine.process.wait(5)
        return True
    except subprocess.TimeoutExpired:
        return False


def each_event(run, machine, action):
    """Waits and does something, until the guest is over"""
    for delay, pause in run.events:
        time.sleep(delay / 1000)
        try:
            action(pause / 1000)
        except (Error, OSError):
            if not over(machine):
                raise
            break
    run.end(machine)


def plain(run):
    machine = run.start()
    machine.cont()
    run.end(machine)
    return run.result()


def stop(run):
    """stop and cont"""
    machine = run.start()
    machine.cont()

    def action(pause):
        machine.qmp('stop')
        time.sleep(pause)
        machine.cont()

    each_event(run, machine, action)
    return run.result()


def reset(run):
    """system_reset: the guest begins again"""
    machine = run.start()
    machine.cont()
    each_event(run, machine, lambda _: machine.qmp('system_reset'))
    return run.result()


def gdb(run):
    """A debugger steps, and lets go"""
    machine = run.start('-chardev', 'socket,id=gdb,server=on,wait=off,path='
                        f'{run.sockets}/gdb', '-gdb', 'chardev:gdb')
    done = subprocess.run(
        [sys.executable, f'{TESTS}/harness/gdb_step.py', run.sockets,
         str(20 * (1 + len(run.events)))], capture_output=True, text=True,
        timeout=LIMIT, check=False)
    if done.returncode and not over(machine):
        raise Error(f'gdb: {done.stderr}')
    run.end(machine)
    return run.result()


def breaks(run):
    """A debugger has breakpoints, comes to some, and lets go"""
    machine = run.start('-chardev', 'socket,id=gdb,server=on,wait=off,path='
                        f'{run.sockets}/gdb', '-gdb', 'chardev:gdb')
    r = random.Random(run.case['seed'])
    places = [address + (r.choice((1, 2, 2, 2, 3, 4)) - 2 << 30)
              for address in run.labels()]
    places = r.sample(places, min(len(places), 12))
    kind = r.randrange(2)               # of software or of hardware
    try:
        gdb = links.Gdb(run.sockets)

        def all_of_them(command):
            for place in places:
                gdb.ask(f'{command}{kind},{place:x},2')

        all_of_them('Z')
        for _ in range(15 * len(run.events)):
            if not gdb.ask('vCont;c').startswith('T'):
                break
            # off the breakpoint
            all_of_them('z')
            gdb.ask('vCont;s:1')
            all_of_them('Z')
        all_of_them('z')
        gdb.leave()
    except OSError:
        if not over(machine):
            raise
    run.end(machine)
    return run.result()


class Reader(threading.Thread):
    """Reads the trace's socket into a file, until one end closes it"""

    def __init__(self, path, file, pauses=()):
        """pauses: seconds ahead of each of its first reads"""
        super().__init__()
        self.link = connect(path)
        self.link.settimeout(None)
        self.file = file
        self.pauses = list(pauses)
        self.left = False
        self.start()

    def run(self):
        with open(self.file, 'wb') as file:
            try:
                while data := self.link.recv(1 << 16):
                    file.write(data)
                    if self.pauses:
                        time.sleep(self.pauses.pop())
            except OSError:
                pass

    def leave(self):
        self.left = True
        self.link.shutdown(2)
        self.link.close()
        self.join()


def reconnect(run):
    """Readers come and go: each has a session"""
    machine = run.start(trace='socket')
    readers = [Reader(f'{run.sockets}/tr', f'{run.folder}/trace0-1')]
    machine.qmp('query-status')
    machine.cont()

    def action(pause):
        # one that leaves before its session has begun would have none
        for _ in range(500):
            if (os.path.getsize(f'{run.folder}/trace0-{len(readers)}') or
                    machine.process.poll() is not None):
                break
            time.sleep(.01)
        readers[-1].leave()
        machine.qmp('query-status')
        time.sleep(pause)
        if machine.process.poll() is None:
            readers.append(Reader(f'{run.sockets}/tr', f'{run.folder}/trace0-'
                                  f'{len(readers) + 1}'))
            machine.qmp('query-status')

    each_event(run, machine, action)
    for reader in readers:
        reader.join(LIMIT)
    parts = []
    for k in range(len(readers)):
        trace = f'{run.folder}/trace0-{k + 1}'
        if os.path.getsize(trace):
            # the sideband's first session began with QEMU, without a reader
            parts.append((k == 0, not readers[k].left, [
                '--trace', trace, '--sideband', f'{run.folder}/sideband0',
                '--session', str(k + 2)]))
    return Result('parts', parts, [f'{run.folder}/steps0'],
                  f'{run.folder}/ram0')


def slow(run):
    """The reader stops reading now and then: harts wait, and nothing is lost"""
    machine = run.start(trace='socket')
    reader = Reader(f'{run.sockets}/tr', f'{run.folder}/trace0',
                    [pause / 1000 for pair in run.events for pause in pair
                     for _ in range(4)])
    machine.qmp('query-status')
    machine.cont()
    run.end(machine)
    reader.join(LIMIT)
    return run.result()


def migrate(run):
    """To other QEMUs, one after the other"""
    numbers = [0]
    machine = run.start()
    machine.cont()
    for delay, _ in run.events:
        time.sleep(delay / 1000)
        address = f'unix:{run.sockets}/to.{len(run.machines)}'
        there = run.start('-incoming', 'defer')
        there.qmp('migrate-incoming', uri=address)
        answered = False
        try:
            machine.qmp('migrate', uri=address)
            answered = True
            machine.migrated()
        except (Error, OSError):
            if not over(machine):
                raise
            run.late = True
            run.unanswered = not answered
            there.end()
            break
        there.migrated()
        numbers.append(len(run.machines) - 1)
        try:
            machine.qmp('quit')
        except Error:
            pass
        run.end(machine)
        machine = there
        try:
            machine.cont()
        except Error:
            if not over(machine):
                raise
    run.end(machine)
    return run.result(numbers=numbers)


def snapshot(run):
    """savevm, on for a while, loadvm"""
    disk = f'{run.folder}/disk'
    with Machine(run.sockets, [run.command_of(None, None)[0], '-M', 'none'],
                 uart='log') as maker:
        maker.create_disk(disk)
    machine = run.start('-blockdev', 'driver=qcow2,node-name=disk,'
                        f'file.driver=file,file.filename={disk}')
    machine.cont()
    times = [delay for delay, _ in run.events][:2]
    loaded = False
    try:
        for command, delay in zip(('snapshot-save', 'snapshot-load'), times):
            time.sleep(delay / 1000)
            machine.qmp('stop')
            machine.job(command, tag='s', vmstate='disk', devices=['disk'])
            loaded = command == 'snapshot-load'
            machine.cont()
    except (Error, OSError):
        if not over(machine):
            raise
    run.end(machine)
    if not loaded:
        return run.result()
    return run.result(numbers=(0, 0), more=('--session', '1',
                                            '--session', '2'))


def shut_down(run, machine, last=lambda: None):
    """Waits for the guest's end, with -no-shutdown"""
    end = time.monotonic() + LIMIT
    before = None
    while machine.qmp('query-status')['status'] != 'shutdown':
        if time.monotonic() > end:
            written = steps_written(run.steps(machine))
            if before is not None:
                kind = 'hang' if written == before else 'endless'
                raise Error(f'{kind}: the guest does not end')
            before = written
            end += PATIENCE
        time.sleep(0.01)
    last()
    try:
        machine.qmp('quit')
    except Error:
        pass
    run.end(machine)


def lossy(run):
    """Nobody reads until the guest is done, and harts do not wait"""
    machine = run.start('-no-shutdown', trace='socket')
    link = connect(f'{run.sockets}/tr')
    machine.qmp('query-status')
    machine.cont()
    data = []

    def read():
        while part := link.recv(1 << 16):
            data.append(part)

    reader = threading.Thread(target=read)
    link.settimeout(LIMIT)
    shut_down(run, machine, reader.start)
    reader.join(LIMIT)
    with open(f'{run.folder}/trace0', 'wb') as file:
        file.write(b''.join(data))
    return run.result('pieces')


def ring(run):
    """The RAM sink's memory, at the end"""
    machine = run.start('-no-shutdown', trace=None)
    machine.cont()
    wrapped = []

    def save():
        machine.qmp('stop')
        machine.qmp('x-riscv-trace-save', filename=f'{run.folder}/trace0')
        wrapped.append('wrapped' in machine.qmp(
            'human-monitor-command', command_line='info riscv-trace'))

    shut_down(run, machine, save)
    if wrapped[0]:
        return run.result('end', more=('--wrapped-at', '0'))
    return run.result(more=('--ram',))


def poll(run):
    """The RAM sink's memory, again and again: what is read stays there"""
    machine = run.start('-no-shutdown', trace=None)
    machine.cont()
    parts = []

    def save():
        trace = f'{run.folder}/trace0-{len(parts) + 1}'
        machine.qmp('stop')
        machine.qmp('x-riscv-trace-save', filename=trace)
        if os.path.getsize(trace):
            parts.append(trace)

    for delay, _ in run.events * 3:
        time.sleep(delay / 1000)
        save()
        # When it is stopped, nothing changes that any more.
        if machine.qmp('query-status')['status'] == 'shutdown':
            break
        machine.cont()
    shut_down(run, machine, save)
    wrapped = [os.path.getsize(trace) == run.ring_size() for trace in parts]
    return Result('polls', [
        (not full, trace == parts[-1], [
            '--trace', trace, '--sideband', f'{run.folder}/sideband0',
            *(['--wrapped-at', '0'] if full else ['--ram'])])
        for trace, full in zip(parts, wrapped)],
        [f'{run.folder}/steps0'], f'{run.folder}/ram0')


SCENARIOS = {'plain': plain, 'stop': stop, 'reset': reset, 'gdb': gdb,
             'breaks': breaks, 'slow': slow,
             'reconnect': reconnect, 'migrate': migrate, 'snapshot': snapshot,
             'lossy': lossy, 'ring': ring, 'poll': poll}


def play(case, folder, command_of):
    """Runs the case; Error if something else than the trace is wrong"""
    for more in range(4, -1, -1):
        with tempfile.TemporaryDirectory(prefix='rvtrace-') as sockets:
            run = Run(case, folder, command_of, sockets)
            try:
                return SCENARIOS[case['machine']['scenario']](run)
            except Again:
                if not more:
                    raise
            finally:
                run.close()
