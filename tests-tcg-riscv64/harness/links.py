# SPDX-License-Identifier: GPL-2.0-or-later
#
# The other ends of QEMU's sockets: qtest, QMP and gdb.
#
# The name of a socket has 107 characters at most, and a checkout may be
# anywhere: sockets are in a directory for temporary files.

import contextlib
import json
import re
import socket
import tempfile
import time

from tap import LIMIT, Problem


class Error(Problem):
    """The machine did not do what it was asked for."""


def directory():
    """A directory for sockets, to be used in a "with": its name"""
    return tempfile.TemporaryDirectory(prefix='rvtrace-')


def connect(path, process=None):
    """A connection to a socket that QEMU, the process, is about to make"""
    end = time.monotonic() + LIMIT
    while True:
        link = socket.socket(socket.AF_UNIX)
        link.settimeout(LIMIT)
        try:
            link.connect(path)
            return link
        except OSError:
            link.close()
            if time.monotonic() > end or process and process.poll() is not None:
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

    def __init__(self, sockets, process=None):
        self.events = []
        with connect(f'{sockets}/qmp', process) as link:
            self.file = link.makefile('rw')     # and it keeps the connection
        self.file.readline()
        self.command('qmp_capabilities')

    def receive(self):
        """What is said next; events are kept."""
        line = self.file.readline()
        if not line:
            raise ConnectionError('QEMU ended')
        answer = json.loads(line)
        if 'event' in answer:
            self.events.append(answer['event'])
        return answer

    def send(self, name, **arguments):
        """A command whose answer is not waited for"""
        request = {'execute': name, 'arguments': {
            key.replace('_', '-'): value for key, value in arguments.items()}}
        print(json.dumps(request), file=self.file, flush=True)

    def execute(self, name, **arguments):
        """The answer, which has "return" or else "error" """
        self.send(name, **arguments)
        answer = self.receive()
        while 'event' in answer:
            answer = self.receive()
        return answer

    def command(self, name, **arguments):
        """What a command that must succeed returns"""
        answer = self.execute(name, **arguments)
        if 'return' not in answer:
            raise Error(f'{name}: {answer["error"]["desc"]}')
        return answer['return']

    def wait_for(self, event):
        while event not in self.events:
            self.receive()

    def close(self):
        """Another client may connect."""
        self.file.close()


class Gdb:
    """A debugger: the machine stops when it comes, until it leaves."""

    @staticmethod
    def arguments(sockets):
        return ['-gdb', f'unix:{sockets}/gdb,server=on,wait=off']

    def __init__(self, sockets):
        self.next = -1      # number of the register described last
        self.socket = connect(f'{sockets}/gdb')
        self.data = b''
        self.ask('qSupported:xmlRegisters=riscv')
        self.registers = {}
        self.describe('target.xml')

    def send(self, text):
        packet = text.encode()
        self.socket.sendall(b'$%s#%02x' % (packet, sum(packet) & 0xff))

    def receive(self):
        """The next packet's content; None if QEMU is gone."""
        while not (match := re.match(rb'[+]*\$([^#]*)#..', self.data, re.S)):
            try:
                data = self.socket.recv(65536)
            except ConnectionResetError:
                return None
            if not data:
                return None
            self.data += data
        self.data = self.data[match.end():]
        with contextlib.suppress(ConnectionError):  # it was the last packet
            self.socket.sendall(b'+')
        return match[1].decode()

    def ask(self, text):
        """The answer to what must succeed"""
        self.send(text)
        answer = self.receive()
        if answer is None:
            raise OSError('the debugger\'s stub is gone')
        # nothing: QEMU does not know it
        if not answer or answer.startswith('E'):
            raise OSError(f'gdb: {text}: {answer}')
        return answer

    def describe(self, name):
        """The numbers of the registers of a feature and those it includes."""
        text = ''
        while True:
            answer = self.ask(f'qXfer:features:read:{name}:'
                              f'{len(text):x},800')
            text += answer[1:]
            if answer[0] == 'l':
                break
        for kind, attributes in re.findall(r'<(\S*include|reg) ([^>]*)>',
                                           text):
            values = dict(re.findall(r'(\w+)="([^"]*)"', attributes))
            if kind == 'reg':
                # registers without a number follow the one before
                self.next = int(values.get('regnum', self.next + 1))
                self.registers[values['name']] = self.next
            else:
                self.describe(values['href'])

    def hart(self, hart):
        """The one whose registers are asked for next; at first, hart 0"""
        self.ask(f'Hg{hart + 1:x}')

    def read(self, name):
        answer = self.ask(f'p{self.registers[name]:x}')
        if not re.fullmatch('([0-9a-f]{2})+', answer):
            raise OSError(f'{name} cannot be read: {answer}')
        return int.from_bytes(bytes.fromhex(answer), 'little')

    def write(self, name, value):
        """A register of 8 bytes"""
        digits = value.to_bytes(8, 'little').hex()
        answer = self.ask(f'P{self.registers[name]:x}={digits}')
        if answer != 'OK':
            raise OSError(f'{name} cannot be written: {answer}')

    def stop_at(self, address):
        """The machine runs until the hart comes there."""
        self.ask(f'Z0,{address:x},2')
        answer = self.ask('vCont;c')
        if not answer.startswith('T05') or self.read('pc') != address:
            raise OSError(f'gdb: {answer} in place of a stop at {address:#x}')
        self.ask(f'z0,{address:x},2')

    def step(self):
        """The hart executes an instruction, and what waits for it before."""
        answer = self.ask('vCont;s')
        if not answer.startswith('T05'):
            raise OSError(f'gdb: {answer} in place of a step')

    def leave(self):
        """Detach; the machine runs."""
        self.ask('D')
        self.socket.close()
