# SPDX-License-Identifier: GPL-2.0-or-later
#
# A traced machine that is to survive

import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..'))

import links
from tap import need

QEMU, OUT = os.environ['QEMU'], os.environ['OUT']
LIMIT = links.LIMIT / 2
BAD = ('AddressSanitizer', 'runtime error:', 'Assertion', 'ERROR:',
       'LeakSanitizer')

ENCODER, FUNNEL, PIB, RAM, ATB = (0x3020000, 0x3030000, 0x3031000, 0x3032000,
                                  0x3033000)
DRAM = 0x80000000
DRAM_SIZE = 128 << 20


class Config:
    """What a machine consists of; the same at both sides of a migration"""

    def __init__(self, rng):
        self.harts = rng.choice((1, 1, 2, 3))
        self.atb = rng.random() < 0.5
        self.props = {
            'riscv-trace-encoder.data-width': rng.choice((0, 0, 64)),
            'riscv-trace-encoder.context-width': rng.choice((0, 32)),
            'riscv-trace-encoder.timestamp-width': rng.choice((0, 0, 40)),
            'riscv-trace-encoder.impdef-width': rng.choice((0, 8)),
            'riscv-trace-encoder.wire-format':
                rng.choice(('2.0', '1.1.1', '2.1-draft')),
            'riscv-trace-funnel.timestamp-width': rng.choice((0, 40)),
            'riscv-trace-ram.sram-size': rng.choice(('0', '4K', '64K', '1M')),
        }

    def arguments(self):
        machine = ('virt,trace=on,trace-autostart=on,trace-chardev=tr,'
                   'trace-sideband=sb')
        args = ['-M', machine + ',trace-atb=on' * self.atb, '-smp',
                str(self.harts), '-cpu', 'rv64', '-m', '128M']
        for name, value in self.props.items():
            args += ['-global', f'{name}={value}']
        return args


class Machine:
    def __init__(self, folder, config, *args):
        self.name = f'{folder}/log'
        self.sockets = links.directory()
        self.qtest = self.qmp = None
        command = [
            QEMU, *config.arguments(), '-chardev', 'file,id=tr,path=/dev/null',
            '-chardev', 'file,id=sb,path=/dev/null', '-display', 'none',
            '-monitor', 'none', '-serial', 'null', '-bios', 'none',
            '-no-shutdown', '-kernel', f'{OUT}/endless.elf',
            '-d', 'guest_errors', '-D', '/dev/null',
            *links.QTest.arguments(self.sockets.name),
            *links.Qmp.arguments(self.sockets.name), *args]
        with open(self.name, 'w', encoding='utf-8') as log:
            self.child = subprocess.Popen(command, stdin=subprocess.DEVNULL,
                                          stdout=log, stderr=log)
        try:
            self.qtest = links.QTest(self.sockets.name)
            self.qmp = links.Qmp(self.sockets.name)
        except OSError:
            self.kill()
            raise

    def log(self):
        with open(self.name, encoding='utf-8', errors='replace') as log:
            return log.read()

    def monitor(self, command, **arguments):
        """The answer, which may be an error"""
        print(json.dumps({'execute': command, 'arguments': arguments}),
              file=self.qmp.file, flush=True)
        answer = self.qmp.receive()
        while 'event' in answer:
            answer = self.qmp.receive()
        return answer

    def write(self, addr, value, width=4):
        self.qtest.ask(f'write{"bwlq"[(1, 2, 4, 8).index(width)]} {addr:#x} '
                       f'{value & (1 << 8 * width) - 1:#x}')

    def read(self, addr, width=4):
        return self.qtest.ask(
            f'read{"bwlq"[(1, 2, 4, 8).index(width)]} {addr:#x}')

    def check_log(self):
        text = self.log()
        for bad in BAD:
            need(bad not in text, text[-3000:])

    def quit(self):
        """It answers, ends when it is asked to, and had no complaints."""
        need('return' in self.monitor('query-status'), 'no status')
        try:
            self.monitor('quit')
        except OSError:
            pass
        status = self.child.wait(LIMIT)
        self.check_log()
        # a guest whose memory was written over may end with any status
        need(status == 0 or status > 0 and 'SHUTDOWN' in self.qmp.events,
             f'ended with {status}')

    def has_refused(self):
        """It has ended with an error message, as it may."""
        status = self.child.wait(LIMIT)
        self.check_log()
        need(status == 1 and self.log().strip(),
             f'ended with {status}: {self.log()[-1000:]}')

    def kill(self):
        self.child.kill()
        self.child.wait()
        self.sockets.cleanup()
