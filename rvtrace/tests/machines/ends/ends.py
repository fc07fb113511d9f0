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
import threading

import links
import machine
import tap
from tap import LIMIT, grow, need, size_of, until

QEMU, RVTRACE, RETIRED, OUT = (os.environ[n] for n in
                              ('QEMU', 'RVTRACE', 'RETIRED', 'OUT'))
CONTROL = 0x3020000
STALL_OR_OVERFLOW = 1 << 12
# so that there is more of it
LARGE = ('full-address=on',)
LOSSY = (*LARGE, 'stall=off')
BUFFER = '2M'
SOCKET = 'socket'


class Machine(machine.Machine):
    """
    A traced guest, which stands still until run(). trace: the trace's chardev,
    else a file; SOCKET: one whose reader is this
    """

    def __init__(self, folder, trace=None, sideband=None, props=LARGE,
                 args=(), file_size=None, guest='endless', buffer=BUFFER):
        self.folder = folder
        self.trace = f'{folder}/trace'
        self.link = links.directory()
        path = f'{self.link.name}/tr'
        if trace == SOCKET:
            chardev = f'socket,id=tr,path={path},server=on,wait=on'
        else:
            chardev = trace or f'file,id=tr,path={self.trace}'
        command = [
            QEMU, '-M', 'virt,trace=on,trace-chardev=tr,trace-sideband=sb,'
            'trace-autostart=on,trace-modes=baseline', '-chardev', chardev,
            '-chardev', sideband or f'file,id=sb,path={folder}/sideband',
            '-cpu', 'rv64', '-m', '128M', '-bios', 'none', '-kernel',
            f'{OUT}/{guest}.elf', '-plugin', f'{RETIRED},out={folder}/truth',
            '-global', f'riscv-trace-pib.buffer-size={buffer}', *args]
        for prop in props:
            command += ['-global', f'riscv-trace-encoder.{prop}']

        def limit_size():
            # a write fails then, as on a disk that is full
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (file_size, file_size))

        def connect():
            self.reader = links.connect(path)

        super().__init__(folder, command, uart='null', qtest=True,
                         ready=connect if trace == SOCKET else None,
                         preexec_fn=limit_size if file_size else None,
                         restore_signals=False)

    def end(self):
        super().end()
        self.link.cleanup()

    def run(self):
        """Until there is some trace"""
        self.cont()
        grow(self.trace)

    def wait_for_loss(self):
        """Or for a stall"""
        until(lambda: self.qtest.read(CONTROL) & STALL_OR_OVERFLOW,
              'nothing was lost')

    def read_all(self):
        """Read the trace to its end, meanwhile."""
        def copy():
            with open(self.trace, 'wb') as file:
                while part := self.reader.recv(1 << 16):
                    file.write(part)

        thread = threading.Thread(target=copy)
        thread.start()
        return thread

    def read_some(self, size):
        with open(self.trace, 'wb') as file:
            while size:
                part = self.reader.recv(min(size, 1 << 16))
                file.write(part)
                size -= len(part)

    def warns(self, *words):
        """Wait for these words of QEMU's."""
        for word in words:
            until(lambda w=word: w in self.complaint(), lambda w=word:
                  f'QEMU does not say "{w}": {self.complaint()}')


def etrace(folder, command, *options):
    done = subprocess.run(
        [RVTRACE, command, '--trace', f'{folder}/trace', '--sideband',
         f'{folder}/sideband', *options], capture_output=True, text=True,
        timeout=LIMIT, check=False)
    return done.returncode, done.stdout + done.stderr


def has_end(folder):
    """Does the decoder find nothing to complain about?"""
    status, said = etrace(folder, 'stat', '--strict')
    return status == 0 and 'note' not in said


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


#
# Everything is there
#

def power_off(m):
    m.cont()
    m.wait()
    complete(m.folder, m.complaint())


def quit_in_the_monitor(m):
    m.run()
    m.quit()
    complete(m.folder, m.complaint())


def sigterm(m):
    m.run()
    m.process.send_signal(signal.SIGTERM)
    m.wait()
    said = m.complaint().replace(f'terminating on signal {signal.SIGTERM:d}', '')
    complete(m.folder, said)


def no_shutdown(m):
    m.cont()
    m.monitor.wait_for('SHUTDOWN')
    m.quit()
    complete(m.folder, m.complaint())


def stopped(m):
    """The END of the last stop counts, not that of an earlier one."""
    for _ in range(3):
        m.run()
        m.qmp('stop')
    m.quit()
    complete(m.folder, m.complaint())


def while_stopped(m):
    """A machine that is stopped has reported where the trace ends."""
    m.run()
    m.qmp('stop')
    until(lambda: has_end(m.folder),
          lambda: f'stat: {etrace(m.folder, "stat", "--strict")}')
    m.quit()


def reader_in_time(m):
    """Nothing is lost if there is room for what is not read yet."""
    thread = m.read_all()
    m.cont()
    m.wait()
    thread.join(LIMIT)
    complete(m.folder, m.complaint())


#
# Something is missing
#

def cut(m):
    """Cut between two packets"""
    m.run()
    m.quit()
    with open(m.trace, 'r+b') as file:
        stream = file.read()
        pos = 0
        while pos < len(stream) * 2 // 3:
            pos += 1 + (stream[pos] & 0x1f)
        file.truncate(pos)
    missing(m.folder, 'the trace is cut', 'packets of hart 0 are missing')


def killed(m):
    """Nobody knows what there was: that is no loss, but worth a word."""
    m.run()
    m.process.kill()
    m.process.wait()
    status, said = etrace(m.folder, 'stat')
    need(status == 0, f'stat: {status}: {said}')
    need('note: ' in said and 'end' in said, f'stat: {said}')


def lost_at_the_end(m):
    """The reader has read nothing when the guest ends, but reads then."""
    m.cont()
    m.wait_for_loss()
    m.monitor.wait_for('SHUTDOWN')
    thread = m.read_all()
    m.quit()
    thread.join(LIMIT)
    m.warns('hart 0', 'packets were lost')
    missing(m.folder, 'trace_lost')


def lost_when_stopped(m):
    """So that the sideband says it, whatever QEMU comes to"""
    m.cont()
    m.wait_for_loss()
    m.qmp('stop')
    thread = m.read_all()

    def reported():
        status, said = etrace(m.folder, 'stat', '--strict')
        return status == 1 and 'lost packets' in said

    why = 'the losses are not reported'
    until(reported, why)
    m.process.kill()
    thread.join(LIMIT)
    need(reported(), why)


def slow_reader(m):
    """It does not read in time, however long QEMU waits."""
    m.cont()
    m.wait_for_loss()               # it stalls
    m.quit()
    m.read_all().join(LIMIT)
    m.warns('were not taken and are lost')
    missing(m.folder, 'the trace is cut')


def reader_leaves(m):
    """... before it has read everything"""
    m.cont()
    m.wait_for_loss()
    m.read_some(1 << 20)
    m.reader.close()
    m.warns('has left', 'not read')
    m.quit()
    missing(m.folder, 'the trace is cut')


def disk_is_full(m):
    m.cont()
    m.warns("chardev 'tr' cannot be written")
    m.quit()
    missing(m.folder, 'the trace is cut')


def disk_is_full_at_the_end(m):
    """The last bytes are those that do not fit."""
    m.cont()
    m.wait()
    complete(m.folder, m.complaint())
    size = os.path.getsize(m.trace)
    with Machine(m.folder, guest='long', file_size=size - 100) as again:
        again.cont()
        again.wait()
        again.warns("for chardev 'tr' were not taken and are lost")
    missing(m.folder, 'the trace is cut')


def full_from_the_beginning(m):
    m.cont()
    m.warns("chardev 'tr' cannot be written")
    m.quit()
    with open(m.trace, 'wb'):
        pass
    status, said = etrace(m.folder, 'stat', '--strict')
    need(status == 1, f'stat: {status}: {said}')


def sideband_is_full(m):
    """The trace goes on, as the warning says."""
    m.cont()
    m.warns("chardev 'sb' cannot be written", 'the trace goes on')
    grow(m.trace)
    m.quit()
    need('trace stops' not in m.complaint(), f'QEMU: {m.complaint()}')


def sideband_is_full_and_reader_slow(m):
    """The trace's reader still gets its time at the end."""
    m.cont()
    m.wait_for_loss()
    m.qmp('stop')
    m.monitor.send('quit')
    m.monitor.wait_for('SHUTDOWN')
    # what QEMU has still to write is more than what the socket holds
    thread = m.read_all()
    m.wait()
    thread.join(LIMIT)
    need(size_of(m.trace) >= 1 << 20, 'the trace is cut')
    need("for chardev 'tr' were not taken" not in m.complaint(),
         f'QEMU: {m.complaint()}')


def pipe_without_reader(m):
    m.cont()
    m.wait_for_loss()
    m.quit()
    m.warns('were not taken and are lost')
    with open(m.trace, 'wb'):
        pass
    missing(m.folder, 'the trace is cut')


def pipe(folder):
    # through one FIFO for both, QEMU would read what it has sent
    os.mkfifo(f'{folder}/pipe.in')
    os.mkfifo(f'{folder}/pipe.out')
    return f'pipe,id=tr,path={folder}/pipe'


NO_SHUTDOWN = ('-no-shutdown',)
FULL = 'file,id={},path=/dev/full'
TESTS = (
    ('the guest powers off', power_off, {'guest': 'long'}),
    ('quit in the monitor', quit_in_the_monitor, {}),
    ('SIGTERM', sigterm, {}),
    ('-no-shutdown', no_shutdown, {'guest': 'long', 'args': NO_SHUTDOWN}),
    ('stopped some times', stopped, {}),
    ('while it is stopped', while_stopped, {}),
    ('a reader that is quick', reader_in_time,
     {'trace': SOCKET, 'props': LOSSY, 'guest': 'long', 'buffer': '256M'}),
    ('cut between two packets', cut, {}),
    ('QEMU is killed', killed, {}),
    ('packets lost at the end', lost_at_the_end,
     {'trace': SOCKET, 'props': LOSSY, 'guest': 'long', 'args': NO_SHUTDOWN}),
    ('packets lost when the machine stops', lost_when_stopped,
     {'trace': SOCKET, 'props': LOSSY}),
    ('a reader that is too slow', slow_reader, {'trace': SOCKET}),
    ('a reader that leaves', reader_leaves, {'trace': SOCKET}),
    ('the disk is full', disk_is_full, {'file_size': 1 << 20}),
    ('the disk is full at the end', disk_is_full_at_the_end,
     {'guest': 'long'}),
    ('the disk was full before', full_from_the_beginning,
     {'trace': FULL.format('tr')}),
    ('the disk of the sideband is full', sideband_is_full,
     {'sideband': FULL.format('sb')}),
    ('no sideband, and a reader that is slow',
     sideband_is_full_and_reader_slow,
     {'trace': SOCKET, 'sideband': FULL.format('sb')}),
    ('a pipe without a reader', pipe_without_reader, {'trace': pipe}),
)


def run(folder, test, options):
    if callable(options.get('trace')):
        options = {**options, 'trace': options['trace'](folder)}
    with Machine(folder, **options) as m:
        test(m)


tap.run(OUT, [(name, run, *rest) for name, *rest in TESTS])
