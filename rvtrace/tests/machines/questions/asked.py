# SPDX-License-Identifier: GPL-2.0-or-later
#
# A guest that has run, and what rvtrace says of it: see run.sh

import json
import os
import re
import subprocess

from symbols import addresses
from tap import LIMIT, need

QEMU, RVTRACE, RETIRED, OUT = (os.environ[n] for n in
                              ('QEMU', 'RVTRACE', 'RETIRED', 'OUT'))
HERE = os.path.dirname(os.path.realpath(__file__))
# ns of an instruction, by -icount
SHIFT = 7
TIMES = ('-global', 'riscv-trace-encoder.timestamp-width=40',
         '-global', 'riscv-trace-encoder.timestamp-mode=2')
CALL, TICKS = 0x100, 0x101
# A tick of mtime, and the timestamps that are taken together, ns
TICK, STEP = 100, 10000
INTERRUPT = 1 << 63
# As switched.S has them
INFO = ',trace-guest-info=linux:pid=8:tgid=0xc:comm=20'


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True, timeout=LIMIT,
                          stdin=subprocess.DEVNULL, check=False)
    need(done.returncode == 0, f'{" ".join(words)}: {done.stderr}')
    return done.stdout


class Traced:
    """A folder with a trace of a program"""

    def __init__(self, folder, name):
        self.folder, self.elf = folder, f'{OUT}/{name}.elf'
        self.at = addresses(self.elf)

    def ask(self, command, *options):
        return run(RVTRACE, command, '--trace', f'{self.folder}/trace',
                   '--sideband', f'{self.folder}/sideband', '--elf', self.elf,
                   *options)

    def answer(self, command, *options):
        return json.loads(self.ask(command, *options, '--format', 'json'))


class Guest(Traced):
    """What ran: pcs; what the guest says of itself: notes, (kind, number)"""

    def __init__(self, folder, name, *options, machine=''):
        super().__init__(folder, name)
        run(QEMU, '-M', 'virt,trace=on,trace-chardev=tr,trace-sideband=sb,'
            f'trace-autostart=on{machine}',
            '-chardev', f'file,id=tr,path={folder}/trace',
            '-chardev', f'file,id=sb,path={folder}/sideband', '-cpu', 'rv64',
            '-m', '128M', '-bios', 'none', '-display', 'none', '-monitor',
            'none', '-serial', f'file:{folder}/uart', '-kernel', self.elf,
            '-icount', f'shift={SHIFT}',
            '-plugin', f'{RETIRED},out={folder}/truth,pcs={folder}/pcs',
            *options)
        with open(f'{folder}/pcs', encoding='utf-8') as lines:
            self.pcs = [int(line.split()[1], 16) for line in lines]
        with open(f'{folder}/uart', encoding='utf-8') as uart:
            numbers = [int(text, 16) for text in
                       re.findall(r'[0-9a-f]{16}', uart.read())]
        self.notes = list(zip(numbers[::2], numbers[1::2]))

    def begins(self, name):
        """Instructions before each time that the function's first one ran"""
        return [i for i, pc in enumerate(self.pcs) if pc == self.at[name]]

    def calls(self, name):
        """(instructions before, and when it has returned) of each call"""
        stack, found = [], []
        for i, pc in enumerate(self.pcs):
            if stack and pc == stack[-1][1]:
                found.append((stack.pop()[0], i))
            if pc == self.at[name] and self.pcs[i - 1] != pc + 4:
                stack.append((i, self.pcs[i - 1] + 4))
        return sorted(found)


def rows(answer, *columns):
    return [tuple(row[c] for c in columns) for row in answer['rows']]


def same(got, want):
    need(got == want, f'{got} instead of {want}')
