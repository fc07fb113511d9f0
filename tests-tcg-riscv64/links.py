# SPDX-License-Identifier: GPL-2.0-or-later
#
# The other ends of QEMU's sockets: qtest and QMP.
#
# The name of a socket has 107 characters at most, and a checkout may be
# anywhere: sockets are in a directory for temporary files.

import json
import os
import socket
import tempfile
import time

# Sanitizers make QEMU slow.
LIMIT = 120 if os.environ.get('SANITIZE', '0') in ('', '0') else 600


def directory():
    """A directory for sockets, to be used in a "with": its name"""
    return tempfile.TemporaryDirectory(prefix='rvtrace-')


def connect(path):
    """A connection to a socket that QEMU is about to make"""
    end = time.monotonic() + LIMIT
    while True:
        link = socket.socket(socket.AF_UNIX)
        link.settimeout(LIMIT)
        try:
            link.connect(path)
            return link
        except OSError:
            link.close()
            if time.monotonic() > end:
                raise
            time.sleep(0.02)


class QTest:
    """Registers of devices"""

    @staticmethod
    def arguments(sockets):
        return ['-qtest', f'unix:{sockets}/qtest,server=on,wait=off',
                '-qtest-log', '/dev/null']

    def __init__(self, sockets):
        self.file = connect(f'{sockets}/qtest').makefile('rw')

    def ask(self, text):
        """The words of the answer behind OK"""
        print(text, file=self.file, flush=True)
        words = self.file.readline().split()
        if not words or words[0] != 'OK':
            raise OSError(f'{text}: {words}')
        return words[1:]

    def read(self, addr):
        return int(self.ask(f'readl {addr:#x}')[0], 0)

    def write(self, addr, val):
        self.ask(f'writel {addr:#x} {val:#x}')


class Qmp:
    """The monitor"""

    @staticmethod
    def arguments(sockets):
        return ['-qmp', f'unix:{sockets}/qmp,server=on,wait=off']

    def __init__(self, sockets):
        self.events = []
        self.file = connect(f'{sockets}/qmp').makefile('rw')
        self.file.readline()
        self.command('qmp_capabilities')

    def receive(self):
        """What is said next; events are kept."""
        line = self.file.readline()
        if not line:
            raise OSError('QEMU ended')
        answer = json.loads(line)
        if 'event' in answer:
            self.events.append(answer['event'])
        return answer

    def command(self, name):
        print(json.dumps({'execute': name}), file=self.file, flush=True)
        answer = self.receive()
        while 'event' in answer:
            answer = self.receive()
        if 'return' not in answer:
            raise OSError(f'{name}: {answer}')
        return answer['return']
