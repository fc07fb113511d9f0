# SPDX-License-Identifier: GPL-2.0-or-later
#
# A QEMU with its monitor (QMP) and the guest's UART on sockets, and the TAP
# lines of a test that has a guest and a script.

import itertools
import json
import os
import re
import select
import socket
import subprocess
import sys
import time

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)),
                             '..'))

import links                # noqa: E402
from tap import Problem     # noqa: E402

LIMIT = 60      # seconds, for anything that is waited for


class Error(Problem):
    """The machine did not do what it was asked for."""


def connect(path, process=None):
    """A connection to a socket that QEMU, the process, is about to make"""
    end = time.monotonic() + LIMIT
    while True:
        link = socket.socket(socket.AF_UNIX)
        try:
            link.connect(path)
            return link
        except OSError:
            link.close()
            if time.monotonic() > end or process and process.poll() is not None:
                raise
            time.sleep(0.02)


class Machine:
    """
    Starts QEMU with the machine stopped: cont() lets it go. Its files are in
    the directory given, whose name may be long; its sockets are in one whose
    name is short, because a socket's path has less than 108 bytes. Use it in
    a "with": the process and the sockets end with that.

    A log instead of the socket of the UART never keeps the guest waiting, so
    nothing of the host is in what the guest sees; nothing can be sent, then.
    """
    number = itertools.count()

    def __init__(self, directory, command, *options, log=False):
        self.base = f'{directory}/m{next(self.number)}'
        self.errors = self.base + '.err'
        self.text = ''
        self.uart = None
        self.sockets = links.directory()
        qmp = self.socket('qmp')
        if log:
            uart = self.base + '.uart'
            serial = f'file:{uart}'
        else:
            uart = self.socket('uart')
            serial = f'unix:{uart},server=on,wait=off'
        with open(self.errors, 'wb') as errors:
            self.process = subprocess.Popen(
                [*command, '-S', '-display', 'none', '-monitor', 'none',
                 '-qmp', f'unix:{qmp},server=on,wait=off',
                 '-serial', serial, *options],
                stdin=subprocess.DEVNULL, stdout=errors, stderr=errors)
        try:
            self.link = connect(qmp, self.process)
            if not log:
                self.uart = connect(uart, self.process)
            self.answers = self.link.makefile('r', encoding='utf-8')
            json.loads(self.answers.readline())
            self.qmp('qmp_capabilities')
            if log:
                self.uart = open(uart, 'rb')
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

    def complaint(self):
        """What QEMU said on standard error"""
        with open(self.errors, encoding='utf-8', errors='replace') as errors:
            return errors.read()

    def qmp(self, command, **arguments):
        """Does a command; returns what it returns."""
        request = {'execute': command}
        if arguments:
            request['arguments'] = {name.replace('_', '-'): value
                                    for name, value in arguments.items()}
        while True:
            try:
                if request:
                    self.link.sendall(json.dumps(request).encode() + b'\n')
                    request = None
                line = self.answers.readline()
            except OSError:
                line = None
            if not line:
                raise Error(f'{command}: QEMU is gone: {self.complaint()}')
            answer = json.loads(line)
            if 'error' in answer:
                raise Error(f'{command}: {answer["error"]["desc"]}')
            if 'return' in answer:
                return answer['return']

    def cont(self):
        self.qmp('cont')

    def job(self, command, **arguments):
        """Does a command that makes a job, and waits for its end."""
        self.qmp(command, job_id='job', **arguments)
        end = time.monotonic() + LIMIT
        while time.monotonic() < end:
            job = next(job for job in self.qmp('query-jobs')
                       if job['id'] == 'job')
            if job['status'] == 'concluded':
                self.qmp('job-dismiss', id='job')
                if 'error' in job:
                    raise Error(f'{command}: {job["error"]}')
                return
            time.sleep(0.02)
        raise Error(f'{command} does not end')

    def migrated(self):
        """Waits for the end of a migration, out or in."""
        end = time.monotonic() + LIMIT
        while time.monotonic() < end:
            status = self.qmp('query-migrate').get('status')
            if status == 'completed':
                return
            if status in ('failed', 'cancelled'):
                break
            time.sleep(0.02)
        raise Error('the migration fails: '
                    f'{self.qmp("query-migrate")} {self.complaint()}')

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


class Tap:
    """The lines of a test: the guest's, and those of the script"""

    def __init__(self):
        self.count = 0

    def say(self, passed, name, why=''):
        self.count += 1
        for line in why.splitlines()[:20]:
            print('# ' + line)
        print(f'{"ok" if passed else "not ok"} {self.count} - {name}',
              flush=True)

    def guest(self, text):
        """What the guest wrote; its plan is left out."""
        for line in text.splitlines():
            match = re.match(r'(ok|not ok) \d+ - (.*)', line)
            if match:
                self.say(match[1] == 'ok', match[2])
            elif line.startswith(('#', 'Bail')):
                print(line, flush=True)

    def end(self):
        print(f'1..{self.count}', flush=True)
