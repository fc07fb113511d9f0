# SPDX-License-Identifier: GPL-2.0-or-later
#
# A traced machine that is to survive

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..', 'harness'))

import machine                      # noqa: E402
from tap import LIMIT, need         # noqa: E402

QEMU, OUT = os.environ['QEMU'], os.environ['OUT']
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


class Machine(machine.Machine):
    """It runs at once, unless it waits for a migration."""

    def __init__(self, folder, config, *args):
        super().__init__(folder, [
            QEMU, *config.arguments(), '-chardev', 'file,id=tr,path=/dev/null',
            '-chardev', 'file,id=sb,path=/dev/null', '-bios', 'none',
            '-no-shutdown', '-kernel', f'{OUT}/endless.elf',
            '-d', 'guest_errors', '-D', '/dev/null'], *args, uart='null',
            qtest=True)
        if '-incoming' not in args:
            self.cont()

    def ask(self, command, **arguments):
        """The answer, which may be an error"""
        return self.monitor.execute(command, **arguments)

    def write(self, addr, value, width=4):
        self.qtest.ask(f'write{"bwlq"[(1, 2, 4, 8).index(width)]} {addr:#x} '
                       f'{value & (1 << 8 * width) - 1:#x}')

    def read(self, addr, width=4):
        return self.qtest.ask(
            f'read{"bwlq"[(1, 2, 4, 8).index(width)]} {addr:#x}')

    def check_log(self):
        text = self.complaint()
        for bad in BAD:
            need(bad not in text, text[-3000:])

    def quit(self):
        """It answers, ends when it is asked to, and had no complaints."""
        need('return' in self.ask('query-status'), 'no status')
        try:
            self.ask('quit')
        except OSError:
            pass
        status = self.process.wait(LIMIT)
        self.check_log()
        # a guest whose memory was written over may end with any status
        need(status == 0 or status > 0 and 'SHUTDOWN' in self.monitor.events,
             f'ended with {status}')

    def has_refused(self):
        """It has ended with an error message, as it may."""
        status = self.process.wait(LIMIT)
        self.check_log()
        need(status == 1 and self.complaint().strip(),
             f'ended with {status}: {self.complaint()[-1000:]}')
