#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# machine.py DIR LIMIT boot|later COMMAND...
#
# Run the guest and, when it asks for that, look from outside at what it has
# in its memory. In DIR afterwards: console.log, ctr.txt (the monitor's view of
# the records), kernel.bin (its text), module-NAME.bin, firmware.bin. "boot"
# turns recording on in all modes on all harts before the first instruction,
# as a debugger would; "later" leaves it to the guest.

import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

RAM = 0x80000000
KERNEL = 0x80200000


def connect(path):
    connection = socket.socket(socket.AF_UNIX)
    for _ in range(300):
        try:
            connection.connect(path)
            return connection
        except OSError:
            time.sleep(0.1)
    sys.exit(f'{path} does not answer')


class Monitor:
    def __init__(self, path):
        self.file = connect(path).makefile('rw', encoding='utf-8')
        self.file.readline()
        self.ask('qmp_capabilities')

    def ask(self, command, **arguments):
        print(json.dumps({'execute': command, 'arguments': arguments}),
              file=self.file, flush=True)
        for line in self.file:
            answer = json.loads(line)
            if 'error' in answer:
                raise OSError(answer['error']['desc'])
            if 'return' in answer:
                return answer['return']
        raise OSError('the monitor is gone')


class Gdb:
    """Enough of a debugger to write CSRs before the first instruction."""

    def __init__(self, path):
        self.socket = connect(path)
        self.data = b''
        self.ask('qSupported:xmlRegisters=riscv')
        self.registers = {}
        self.describe('target.xml')

    def ask(self, text):
        packet = text.encode()
        self.socket.sendall(b'$%s#%02x' % (packet, sum(packet) & 0xff))
        while True:
            match = re.match(rb'[+]*\$([^#]*)#..', self.data, re.S)
            if match:
                self.data = self.data[match.end():]
                self.socket.sendall(b'+')
                if match[1].startswith(b'E'):
                    sys.exit(f'gdb: {text}: {match[1]}')
                return match[1].decode()
            self.data += self.socket.recv(65536)

    def describe(self, name):
        """The numbers of the registers of a feature and those it includes."""
        text = ''
        while True:
            answer = self.ask(f'qXfer:features:read:{name}:'
                              f'{len(text):x},400')
            text += answer[1:]
            if answer[0] == 'l':
                break
        for kind, attributes in re.findall(r'<(\S*include|reg) ([^>]*)>',
                                           text):
            values = dict(re.findall(r'(\w+)="([^"]*)"', attributes))
            if kind == 'reg':
                self.next = int(values.get('regnum', self.next + 1))
                self.registers[values['name']] = self.next
            else:
                self.describe(values['href'])

    next = -1

    def write(self, hart, name, value):
        self.ask(f'Hg{hart + 1:x}')
        digits = value.to_bytes(8, 'little').hex()
        self.ask(f'P{self.registers[name]:x}={digits}')

    def leave(self):
        self.ask('D')


class Look:
    """What is asked of the monitor while the guest waits."""

    def __init__(self, folder, monitor):
        self.folder = folder
        self.monitor = monitor
        with open(f'{folder}/guest.txt', encoding='utf-8') as file:
            self.text = file.read()

    def path(self, name):
        return os.path.join(self.folder, name)

    def symbol(self, name):
        return int(re.search(rf'^(\w+) \w {name}$', self.text, re.M)[1], 16)

    def kernel(self):
        """Is what a hart sees at the kernel's addresses the kernel?"""
        start, end = self.symbol('_start'), self.symbol('_etext')
        # in U mode a hart sees nothing there
        for _ in range(100):
            self.monitor.ask('stop')
            try:
                self.monitor.ask('memsave', val=start, size=end - start,
                                 filename=self.path('kernel.bin'))
                self.modules()
                break
            except OSError:
                self.monitor.ask('cont')
                time.sleep(0.1)
        else:
            sys.exit('the kernel\'s memory cannot be read')
        # the same, by the other way to it
        self.monitor.ask('pmemsave', val=KERNEL, size=end - start,
                         filename=self.path('physical.bin'))
        self.monitor.ask('pmemsave', val=RAM, size=KERNEL - RAM,
                         filename=self.path('firmware.bin'))
        with open(self.path('ctr.txt'), 'w', encoding='utf-8') as file:
            file.write(self.monitor.ask('x-query-riscv-ctr')
                       ['human-readable-text'])
        self.monitor.ask('cont')

    def modules(self):
        for name, start in re.findall(
                r'^(\w+) \d+ \d+ \S+ Live 0x(\w+)', self.text, re.M):
            start = int(start, 16)
            last = max(int(address, 16) for address in re.findall(
                rf'^(\w+) [tT] \S+\t\[{name}\]$', self.text, re.M))
            # to the end of the page: the last function, too
            self.monitor.ask('memsave', val=start,
                             size=(last | 0xfff) + 1 - start,
                             filename=self.path(f'module-{name}.bin'))


def main():
    folder, limit, when, command = (sys.argv[1], int(sys.argv[2]),
                                    sys.argv[3], sys.argv[4:])
    # the names of sockets must be short
    with tempfile.TemporaryDirectory() as sockets:
        run(folder, limit, when, sockets, command)


def run(folder, limit, when, sockets, command):
    command += ['-qmp', f'unix:{sockets}/qmp,server=on,wait=off']
    if when == 'boot':
        command += ['-S', '-gdb', f'unix:{sockets}/gdb,server=on,wait=off']
    machine = subprocess.Popen(command, stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE)

    def give_up(number, _):
        sys.exit('interrupted' if number != signal.SIGALRM else
                 f'the guest has not finished in {limit} s')
    for number in (signal.SIGALRM, signal.SIGTERM, signal.SIGINT):
        signal.signal(number, give_up)
    signal.alarm(limit)
    try:
        if when == 'boot':
            gdb = Gdb(f'{sockets}/gdb')
            for hart in (0, 1):
                gdb.write(hart, 'sctrdepth', 4)
                gdb.write(hart, 'mctrctl', 7)
            gdb.leave()
        monitor = Monitor(f'{sockets}/qmp')
        with open(f'{folder}/console.log', 'wb') as log:
            for line in machine.stdout:
                log.write(line)
                log.flush()
                if line.startswith(b'ctr-linux: look'):
                    Look(folder, monitor).kernel()
                    machine.stdin.write(b'seen\n')
                    machine.stdin.flush()
        machine.wait()
    finally:
        machine.kill()
    if machine.returncode != 0:
        sys.exit(f'QEMU: exit status {machine.returncode}')


main()
