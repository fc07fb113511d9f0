#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# guest.py DIR LIMIT boot|later COMMAND...
#
# Run the guest and, when it asks for that, look from outside at what it has
# in its memory. In DIR afterwards: console.log, ctr.txt (the monitor's view of
# the records), kernel.bin (its text), module-NAME.bin, firmware.bin. "boot"
# turns recording on in all modes on all harts before the first instruction,
# as a debugger would; "later" leaves it to the guest.

import os
import re
import signal
import subprocess
import sys

import links
from tap import until

RAM = 0x80000000
KERNEL = 0x80200000


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
        until(lambda: self.stopped(start, end),
              'the kernel\'s memory cannot be read')
        # the same, by the other way to it
        self.monitor.command('pmemsave', val=KERNEL, size=end - start,
                         filename=self.path('physical.bin'))
        self.monitor.command('pmemsave', val=RAM, size=KERNEL - RAM,
                         filename=self.path('firmware.bin'))
        with open(self.path('ctr.txt'), 'w', encoding='utf-8') as file:
            file.write(self.monitor.command('x-query-riscv-ctr')
                       ['human-readable-text'])
        self.monitor.command('cont')

    def stopped(self, start, end):
        """Does the machine stand where the kernel is seen? Then it is saved."""
        self.monitor.command('stop')
        try:
            self.monitor.command('memsave', val=start, size=end - start,
                                 filename=self.path('kernel.bin'))
            self.modules()
            return True
        except links.Error:
            self.monitor.command('cont')
            return False

    def modules(self):
        for name, start in re.findall(
                r'^(\w+) \d+ \d+ \S+ Live 0x(\w+)', self.text, re.M):
            start = int(start, 16)
            last = max(int(address, 16) for address in re.findall(
                rf'^(\w+) [tT] \S+\t\[{name}\]$', self.text, re.M))
            # to the end of the page: the last function, too
            self.monitor.command('memsave', val=start,
                             size=(last | 0xfff) + 1 - start,
                             filename=self.path(f'module-{name}.bin'))


def main():
    folder, limit, when, command = (sys.argv[1], int(sys.argv[2]),
                                    sys.argv[3], sys.argv[4:])
    with links.directory() as sockets:
        run(folder, limit, when, sockets, command)


def run(folder, limit, when, sockets, command):
    command += links.Qmp.arguments(sockets)
    if when == 'boot':
        command += ['-S'] + links.Gdb.arguments(sockets)
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
            gdb = links.Gdb(sockets)
            for hart in (0, 1):
                gdb.hart(hart)
                gdb.write('sctrdepth', 4)
                gdb.write('mctrctl', 7)
            gdb.leave()
        monitor = links.Qmp(sockets)
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
