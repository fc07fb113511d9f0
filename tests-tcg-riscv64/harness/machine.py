# SPDX-License-Identifier: GPL-2.0-or-later
#
# A QEMU with its monitor (QMP) and, if they are wanted, the guest's UART, qtest
# and a debugger on sockets

import itertools
import re
import select
import socket
import subprocess
import time

import links
from links import Error
from tap import LIMIT, need, until


class Machine:
    """
    Starts QEMU with the machine stopped: cont() lets it go. Its files are in
    the directory given, whose name may be long; its sockets are in one whose
    name is short, because a socket's path has less than 108 bytes. Use it in
    a "with": the process and the sockets end with that.

    uart is 'socket', 'log', or something else as an argument of -serial. A log
    never keeps the guest waiting, so nothing of the host is in what the guest
    sees; nothing can be sent, then. ready, a function, is done when the sockets
    are there that QEMU waits for.
    """
    number = itertools.count()

    def __init__(self, directory, command, *options, uart='socket',
                 qtest=False, gdb=False, ready=None, **popen):
        self.base = f'{directory}/m{next(self.number)}'
        self.errors = self.base + '.err'
        self.text = ''
        self.uart = self.monitor = self.qtest = None
        self.sockets = links.directory()
        sockets = self.sockets.name
        path = {'socket': f'{sockets}/uart', 'log': f'{self.base}.uart'}.get(
            uart)
        serial = {'socket': f'unix:{path},server=on,wait=off',
                  'log': f'file:{path}'}.get(uart, uart)
        more = links.Qmp.arguments(sockets)
        if qtest:
            more += links.QTest.arguments(sockets)
        if gdb:
            more += links.Gdb.arguments(sockets)
        with open(self.errors, 'wb') as errors:
            self.process = subprocess.Popen(
                [*command, '-S', '-display', 'none', '-monitor', 'none',
                 '-serial', serial, *more, *options],
                stdin=subprocess.DEVNULL, stdout=errors, stderr=errors, **popen)
        try:
            if ready:
                ready()
            self.monitor = links.Qmp(sockets, self.process)
            if uart == 'socket':
                self.uart = links.connect(path, self.process)
            elif uart == 'log':
                self.uart = open(path, 'rb')
            if qtest:
                self.qtest = links.QTest(sockets)
        except (OSError, ValueError) as error:
            self.end()
            raise Error(f'no monitor: {error}: {self.complaint()}') from error

    def __enter__(self):
        return self

    def __exit__(self, *what):
        self.end()

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        if self.uart:
            self.uart.close()
        self.sockets.cleanup()

    def wait(self, status=0):
        """For QEMU's end"""
        got = self.process.wait(LIMIT)
        need(got == status, f'QEMU ended with {got}: {self.complaint()}')

    def quit(self):
        """End it in order."""
        try:
            self.qmp('quit')
        except Error:
            pass                    # gone before it has answered
        self.wait()

    def complaint(self):
        """What QEMU said on standard error"""
        with open(self.errors, encoding='utf-8', errors='replace') as errors:
            return errors.read()

    def qmp(self, command, **arguments):
        """Does a command; returns what it returns."""
        try:
            return self.monitor.command(command, **arguments)
        except OSError as error:
            raise Error(f'{command}: QEMU is gone: '
                        f'{self.complaint()}') from error

    def hmp(self, command):
        return self.qmp('human-monitor-command', command_line=command)

    def gdb(self):
        """A debugger, which stops the machine"""
        return links.Gdb(self.sockets.name)

    def cont(self):
        self.qmp('cont')

    def job(self, command, **arguments):
        """Does a command that makes a job, and waits for its end."""
        self.qmp(command, job_id='job', **arguments)

        def concluded():
            return [job for job in self.qmp('query-jobs')
                    if job['id'] == 'job' and job['status'] == 'concluded']

        job, = until(concluded, f'{command} does not end')
        self.qmp('job-dismiss', id='job')
        if 'error' in job:
            raise Error(f'{command}: {job["error"]}')

    def migrate(self, uri):
        """
        Begin to move; what the guest retires meanwhile has to be decoded and
        compared.
        """
        self.qmp('migrate-set-parameters', downtime_limit=20000,
                 max_bandwidth=1 << 40)
        self.qmp('migrate', uri=uri)

    def migrated(self):
        """Waits for the end of a migration, out or in."""
        def status():
            status = self.qmp('query-migrate').get('status')
            return (status in ('completed', 'failed', 'cancelled') and status)

        if until(status, 'the migration does not end') != 'completed':
            raise Error('the migration fails: '
                        f'{self.qmp("query-migrate")} {self.complaint()}')

    def create_disk(self, path):
        """An empty qcow2 image, which snapshots go into"""
        self.job('blockdev-create', options={
            'driver': 'file', 'filename': path, 'size': 0})
        self.qmp('blockdev-add', driver='file', node_name='file',
                 filename=path)
        self.job('blockdev-create', options={
            'driver': 'qcow2', 'file': 'file', 'size': 1 << 20})

    def read(self, seconds):
        """Takes in what the guest writes for some time; false at the end."""
        if isinstance(self.uart, socket.socket):
            if not select.select([self.uart], [], [], seconds)[0]:
                return True
            try:
                data = self.uart.recv(65536)
            except OSError:
                data = b''
            alive = bool(data)
        else:
            alive = self.process.poll() is None
            data = self.uart.read()
            if not data:
                time.sleep(seconds)
        self.text += data.decode('utf-8', errors='replace').replace('\r', '')
        return alive

    def take(self, words):
        """
        Waits until the guest has written what the pattern matches at the end
        of a line, and takes what it wrote up to there; the match.
        """
        end = time.monotonic() + LIMIT
        alive = True
        while True:
            match = re.search(rf'(?:{words})\n', self.text)
            if match:
                self.taken = self.text[:match.end()]
                self.text = self.text[match.end():]
                return match
            if not alive or time.monotonic() > end:
                raise Error(f'the guest does not say "{words}": '
                            f'{self.text[-2000:]} {self.complaint()}')
            alive = self.read(0.1)

    def send(self, data):
        """To the guest's UART, and sees that it is there."""
        self.uart.sendall(data)
        for _ in range(3):
            self.qmp('query-status')

    def file(self, suffix):
        return self.base + suffix

    def socket(self, name):
        return f'{self.sockets.name}/{name}'
