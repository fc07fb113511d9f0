#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# ends.py PATTERN: see run.sh
#
# A guest is traced until QEMU ends in one way or another. Where the reader has
# everything, the decoder finds nothing to complain about; where something is
# missing, QEMU warns, and rvtrace stat --strict fails and says why.

import os
import resource
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..'))

import links
import tap
from tap import need

QEMU, RVTRACE, RETIRED, OUT = (os.environ[n] for n in
                              ('QEMU', 'RVTRACE', 'RETIRED', 'OUT'))
LIMIT = links.LIMIT
CONTROL = 0x3020000
STALL_OR_OVERFLOW = 1 << 12
# so that there is more of it
LARGE = ('full-address=on',)
LOSSY = (*LARGE, 'stall=off')


class Machine:
    """A traced guest, which stands still until run()"""

    def __init__(self, folder, trace=None, sideband=None, props=LARGE,
                 args=(), file_size=None, guest='endless'):
        self.folder = folder
        self.sockets = links.directory()
        sockets = self.sockets.name
        options = [
            QEMU, '-M', 'virt,trace=on,trace-chardev=tr,trace-sideband=sb,'
            'trace-autostart=on,trace-modes=baseline', '-chardev',
            trace or f'file,id=tr,path={folder}/trace', '-chardev',
            sideband or f'file,id=sb,path={folder}/sideband', '-cpu', 'rv64',
            '-m', '128M', '-display', 'none', '-monitor', 'none', '-serial',
            'null', '-bios', 'none', '-S', '-kernel', f'{OUT}/{guest}.elf',
            '-plugin', f'{RETIRED},out={folder}/truth',
            *links.QTest.arguments(sockets), *links.Qmp.arguments(sockets),
            '-global', 'riscv-trace-pib.buffer-size=2M', *args]
        for prop in props:
            options += ['-global', f'riscv-trace-encoder.{prop}']

        def limit_size():
            # a write fails then, as on a disk that is full
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (file_size, file_size))

        with open(f'{folder}/log', 'w', encoding='utf-8') as log:
            self.child = subprocess.Popen(
                options, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                preexec_fn=limit_size if file_size else None,
                restore_signals=False)
        self.reader = None
        if trace and trace.startswith('socket'):
            self.reader = links.connect(trace.split('path=')[1].split(',')[0])
        self.qtest = links.QTest(sockets)
        self.qmp = links.Qmp(sockets)
        self.command = self.qmp.command

    def run(self, seconds=0.5):
        self.command('cont')
        time.sleep(seconds)

    def wait_for_loss(self):
        end = time.monotonic() + LIMIT
        while not self.qtest.read(CONTROL) & STALL_OR_OVERFLOW:
            need(time.monotonic() < end, 'nothing was lost')
            time.sleep(0.02)

    def wait_for_shutdown(self):
        while 'SHUTDOWN' not in self.qmp.events:
            self.qmp.receive()

    def quit(self):
        try:
            self.command('quit')
        except OSError:
            pass
        self.wait()

    def wait(self, status=0):
        got = self.child.wait(LIMIT)
        need(got == status, f'QEMU ended with {got}')

    def log(self):
        with open(f'{self.folder}/log', encoding='utf-8') as log:
            return log.read()

    def read_all(self):
        """Read the trace to its end, meanwhile."""
        def copy():
            with open(f'{self.folder}/trace', 'wb') as file:
                while part := self.reader.recv(1 << 16):
                    file.write(part)

        thread = threading.Thread(target=copy)
        thread.start()
        return thread

    def read_some(self, size):
        with open(f'{self.folder}/trace', 'wb') as file:
            while size:
                part = self.reader.recv(min(size, 1 << 16))
                file.write(part)
                size -= len(part)

    def end(self):
        self.child.kill()
        self.child.wait()
        self.sockets.cleanup()


def socket_in(folder):
    """A chardev whose peer the test is; the name of a socket is short"""
    del folder
    sockets = links.directory()
    LEFT.append(sockets)
    return f'socket,id=tr,path={sockets.name}/tr,server=on,wait=on'


LEFT = []


def etrace(folder, command, *options):
    done = subprocess.run(
        [RVTRACE, command, '--trace', f'{folder}/trace', '--sideband',
         f'{folder}/sideband', *options], capture_output=True, text=True,
        timeout=LIMIT, check=False)
    return done.returncode, done.stdout + done.stderr


def complete(folder, log=''):
    """All of it is there, and nobody complains."""
    status, said = etrace(folder, 'stat', '--strict')
    need(status == 0, f'stat --strict: {status}: {said}')
    need('note' not in said, f'stat: {said}')
    need('riscv-trace' not in log, f'QEMU: {log}')
    status, said = etrace(folder, 'verify', '--truth', f'{folder}/truth')
    need(status == 0, f'verify: {said}')


def missing(folder, *words):
    """Something is missing, and the decoder says so in these words."""
    status, said = etrace(folder, 'stat', '--strict')
    need(status == 1, f'stat --strict: {status}: {said}')
    for word in words:
        need(word in said, f'stat does not say "{word}": {said}')
    status, said = etrace(folder, 'stat')
    need(status == 0, f'stat: {status}: {said}')
    status, _ = etrace(folder, 'decode', '--emit', 'pc', '--strict')
    need(status == 1, f'decode --strict: {status}')
    status, said = etrace(folder, 'verify', '--truth', f'{folder}/truth')
    need(status == 1, f'verify: {status}: {said}')


def warned(m, *words):
    for word in words:
        need(word in m.log(), f'QEMU does not say "{word}": {m.log()}')


#
# Everything is there
#

def power_off(folder):
    m = Machine(folder, guest='long')
    yield m
    m.run(0)
    m.wait()
    complete(folder, m.log())


def quit_in_the_monitor(folder):
    m = Machine(folder)
    yield m
    m.run()
    m.quit()
    complete(folder, m.log())


def sigterm(folder):
    m = Machine(folder)
    yield m
    m.run()
    m.child.send_signal(signal.SIGTERM)
    m.wait()
    complete(folder, m.log())


def no_shutdown(folder):
    m = Machine(folder, guest='long', args=('-no-shutdown',))
    yield m
    m.command('cont')
    m.wait_for_shutdown()
    m.quit()
    complete(folder, m.log())


def stopped(folder):
    """The END of the last stop counts, not that of an earlier one."""
    m = Machine(folder)
    yield m
    for _ in range(3):
        m.run(0.2)
        m.command('stop')
    m.quit()
    complete(folder, m.log())


def while_stopped(folder):
    """A machine that is stopped has reported where the trace ends."""
    m = Machine(folder)
    yield m
    m.run(0.2)
    m.command('stop')
    # what waits is written soon
    time.sleep(1)
    status, said = etrace(folder, 'stat', '--strict')
    need(status == 0 and 'note' not in said, f'stat: {status}: {said}')
    m.quit()


def reader_in_time(folder):
    m = Machine(folder, trace=socket_in(folder), props=LOSSY,
                guest='long')
    yield m
    thread = m.read_all()
    m.run(0)
    m.wait()
    thread.join(LIMIT)
    status, said = etrace(folder, 'stat', '--strict')
    lost = 'packets were lost' in m.log()
    need(status == lost, f'stat: {status}: {said}; QEMU: {m.log()}')


#
# Something is missing
#

def cut(folder):
    """Cut between two packets"""
    m = Machine(folder)
    yield m
    m.run()
    m.quit()
    with open(f'{folder}/trace', 'r+b') as file:
        stream = file.read()
        pos = 0
        while pos < len(stream) * 2 // 3:
            pos += 1 + (stream[pos] & 0x1f)
        file.truncate(pos)
    missing(folder, 'the trace is cut', 'packets of hart 0 are missing')


def killed(folder):
    """Nobody knows what there was: that is no loss, but worth a word."""
    m = Machine(folder)
    yield m
    m.run()
    m.child.kill()
    m.child.wait()
    status, said = etrace(folder, 'stat')
    need(status == 0, f'stat: {status}: {said}')
    need('note: ' in said and 'end' in said, f'stat: {said}')


def lost_at_the_end(folder):
    """The reader has read nothing when the guest ends, but reads then."""
    m = Machine(folder, trace=socket_in(folder), props=LOSSY,
                guest='long', args=('-no-shutdown',))
    yield m
    m.command('cont')
    m.wait_for_loss()
    m.wait_for_shutdown()
    thread = m.read_all()
    m.quit()
    thread.join(LIMIT)
    warned(m, 'hart 0', 'packets were lost')
    missing(folder, 'trace_lost')


def lost_when_stopped(folder):
    """So that the sideband says it, whatever QEMU comes to"""
    m = Machine(folder, trace=socket_in(folder), props=LOSSY)
    yield m
    m.command('cont')
    m.wait_for_loss()
    m.command('stop')
    thread = m.read_all()
    time.sleep(2)
    m.child.kill()
    thread.join(LIMIT)
    status, said = etrace(folder, 'stat', '--strict')
    need(status == 1 and 'lost packets' in said, f'stat: {status}: {said}')


def slow_reader(folder):
    """It does not read in time, however long QEMU waits."""
    m = Machine(folder, trace=socket_in(folder))
    yield m
    m.command('cont')
    m.wait_for_loss()               # it stalls
    begin = time.monotonic()
    m.quit()
    need(time.monotonic() - begin < 30, 'QEMU waited for too long')
    m.reader.settimeout(5)
    thread = m.read_all()
    thread.join(LIMIT)
    warned(m, 'were not taken and are lost')
    missing(folder, 'the trace is cut')


def reader_leaves(folder):
    """... before it has read everything"""
    m = Machine(folder, trace=socket_in(folder))
    yield m
    m.command('cont')
    m.wait_for_loss()
    m.read_some(1 << 20)
    m.reader.close()
    time.sleep(0.2)
    m.quit()
    warned(m, 'has left', 'not read')
    missing(folder, 'the trace is cut')


def disk_is_full(folder):
    m = Machine(folder, file_size=1 << 20)
    yield m
    m.run(2)
    m.quit()
    warned(m, "chardev 'tr' cannot be written")
    missing(folder, 'the trace is cut')


def disk_is_full_at_the_end(folder):
    """The last bytes are those that do not fit."""
    m = Machine(folder, file_size=1 << 20, args=('-no-shutdown',))
    yield m
    m.run(0.03)
    m.command('stop')
    m.quit()
    if os.path.getsize(f'{folder}/trace') >= 1 << 20:
        need('riscv-trace' in m.log(), 'QEMU does not complain')
        missing(folder, 'the trace is cut')


def full_from_the_beginning(folder):
    m = Machine(folder, trace='file,id=tr,path=/dev/full')
    yield m
    m.run()
    m.quit()
    warned(m, "chardev 'tr' cannot be written")
    with open(f'{folder}/trace', 'wb'):
        pass
    status, said = etrace(folder, 'stat', '--strict')
    need(status == 1, f'stat: {status}: {said}')


def sideband_is_full(folder):
    """The trace goes on, as the warning says."""
    m = Machine(folder, sideband='file,id=sb,path=/dev/full')
    yield m
    m.run(1)
    size = os.path.getsize(f'{folder}/trace')
    time.sleep(0.5)
    m.quit()
    warned(m, "chardev 'sb' cannot be written", 'the trace goes on')
    need('trace stops' not in m.log(), f'QEMU: {m.log()}')
    need(os.path.getsize(f'{folder}/trace') > size, 'it does not')


def sideband_is_full_and_reader_slow(folder):
    """The trace's reader still gets its time at the end."""
    m = Machine(folder, trace=socket_in(folder),
                sideband='file,id=sb,path=/dev/full')
    yield m
    m.command('cont')
    m.wait_for_loss()
    m.command('stop')

    def late():
        time.sleep(1)
        m.read_all().join(LIMIT)

    thread = threading.Thread(target=late)
    thread.start()
    m.quit()
    thread.join(LIMIT)
    need(os.path.getsize(f'{folder}/trace') >= 1 << 20, 'the trace is cut')
    need("for chardev 'tr' were not taken" not in m.log(), f'QEMU: {m.log()}')


def pipe_without_reader(folder):
    # through one FIFO for both, QEMU would read what it has sent
    os.mkfifo(f'{folder}/pipe.in')
    os.mkfifo(f'{folder}/pipe.out')
    m = Machine(folder, trace=f'pipe,id=tr,path={folder}/pipe')
    yield m
    m.run()
    m.quit()
    warned(m, 'were not taken and are lost')
    with open(f'{folder}/trace', 'wb'):
        pass
    missing(folder, 'the trace is cut')


TESTS = (
    ('the guest powers off', power_off),
    ('quit in the monitor', quit_in_the_monitor),
    ('SIGTERM', sigterm),
    ('-no-shutdown', no_shutdown),
    ('stopped some times', stopped),
    ('while it is stopped', while_stopped),
    ('a reader that is quick', reader_in_time),
    ('cut between two packets', cut),
    ('QEMU is killed', killed),
    ('packets lost at the end', lost_at_the_end),
    ('packets lost when the machine stops', lost_when_stopped),
    ('a reader that is too slow', slow_reader),
    ('a reader that leaves', reader_leaves),
    ('the disk is full', disk_is_full),
    ('the disk is full at the end', disk_is_full_at_the_end),
    ('the disk was full before', full_from_the_beginning),
    ('the disk of the sideband is full', sideband_is_full),
    ('no sideband, and a reader that is slow',
     sideband_is_full_and_reader_slow),
    ('a pipe without a reader', pipe_without_reader),
)


def run(folder, test):
    steps = test(folder)
    machine = None
    try:
        # the machine first, so that it is ended whatever happens
        machine = next(steps)
        next(steps, None)
    finally:
        if machine:
            machine.end()
        while LEFT:
            LEFT.pop().cleanup()


tap.run(OUT, [(name, run, test) for name, test in TESTS])
