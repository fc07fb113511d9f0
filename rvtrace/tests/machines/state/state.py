#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# state.py [--all] [PATTERN]: see run.sh
#
# The plugin registers.c has seen registers and memory of a guest, whose trace
# has data. What the server tells a debugger must be the same, or unavailable.

import os
import random
import re
import subprocess
import sys

import instructions
import tap
from tap import LIMIT, need

QEMU, RVTRACE, RETIRED, OUT = (os.environ[n] for n in
                               ('QEMU', 'RVTRACE', 'RETIRED', 'OUT'))
HERE = os.path.dirname(os.path.realpath(__file__))
ALL = '--all' in sys.argv
if ALL:
    sys.argv.remove('--all')
MOMENTS = 3000 if ALL else 100


def record(folder, elf, cpu, every, *options):
    """Run a guest"""
    done = subprocess.run(
        [QEMU, '-M', 'virt,trace=on,trace-chardev=tr,trace-sideband=sb,'
         'trace-autostart=on', '-global', 'riscv-trace-encoder.data-width=64',
         '-global', 'riscv-trace-encoder.data=on', *options,
         '-icount', 'shift=4,sleep=off',
         '-chardev', f'file,id=tr,path={folder}/trace',
         '-chardev', f'file,id=sb,path={folder}/sideband',
         '-cpu', cpu, '-m', '128M', '-bios', 'none', '-display', 'none',
         '-monitor', 'none', '-serial', f'file:{folder}/uart',
         '-kernel', elf,
         '-plugin', f'{RETIRED},out={folder}/truth',
         '-plugin', f'{OUT}/libregisters.so,out={folder}/registers,'
         f'retired={RETIRED},every={every}'],
        check=False, capture_output=True, text=True, timeout=LIMIT,
        stdin=subprocess.DEVNULL)
    need(not done.stderr, f'QEMU: {done.stderr}')


def truth(folder):
    """{number: (pc, [x1...], {address: value})}"""
    seen = {}
    with open(f'{folder}/registers', encoding='ascii') as lines:
        for line in lines:
            number, pc, values, *memory = line.split()
            seen[int(number, 16)] = (
                int(pc, 16), [int(v, 16) for v in values.split(',')],
                dict(tuple(int(v, 16) for v in pair.split('='))
                     for pair in memory))
    return seen


class Server:
    """rvtrace gdbserver, as a debugger sees it"""

    def __init__(self, folder):
        self.child = subprocess.Popen(
            [RVTRACE, 'gdbserver', '--listen', 'stdio', '--trace',
             f'{folder}/trace', '--sideband', f'{folder}/sideband'],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL)

    def ask(self, text):
        self.child.stdin.write(b'+$%s#%02x' % (text.encode(),
                                               sum(text.encode()) & 0xff))
        self.child.stdin.flush()
        answer = b''
        while not (match := re.search(rb'\$([^#]*)#..', answer)):
            more = self.child.stdout.read1(65536)
            need(more, f'{text}: no answer')
            answer += more
        return match[1].decode()

    def leave(self):
        self.child.stdin.write(b'+$k#6b')
        self.child.stdin.close()
        need(self.child.wait(LIMIT) == 0, 'the server fails')


def little(digits):
    return int.from_bytes(bytes.fromhex(digits), 'little')


def compare(folder, word, share, with_memory=True):
    """At random moments; share: of registers, may be unavailable at most"""
    seen = truth(folder)
    server = Server(folder)
    counts = dict.fromkeys(('right', 'unavailable', 'memory', 'unknown'), 0)
    moments = random.Random(1).sample(sorted(seen), min(MOMENTS, len(seen)))
    need(len(moments) > 20, f'{len(moments)} moments')
    for number in sorted(moments):
        pc, values, memory = seen[number]
        place = f'goto {number - 1}'.encode().hex()
        need(f'pc: {pc:#x}' in bytes.fromhex(
            server.ask(f'qRcmd,{place}')).decode(), f'{number} is elsewhere')
        said = server.ask('g')
        for reg, value in enumerate(values, 1):
            part = said[reg * word * 2:(reg + 1) * word * 2]
            if 'x' in part:
                counts['unavailable'] += 1
                continue
            need(little(part) == value, f'x{reg} before instruction '
                 f'{number} at {pc:#x} is {value:#x}, not {little(part):#x}')
            counts['right'] += 1
        for address, value in memory.items() if with_memory else ():
            part = server.ask(f'm{address:x},8')
            if part[0] == 'E':
                counts['unknown'] += 1
                continue
            n = len(part) // 2
            need(little(part) == value & (1 << 8 * n) - 1, f'memory at '
                 f'{address:#x} before instruction {number}: {value:#x}, not '
                 f'{little(part):#x}')
            counts['memory'] += 1
    server.leave()
    of_all = counts['unavailable'] / (counts['unavailable'] + counts['right'])
    note = (f'{len(moments)} moments, {100 * of_all:.2f} % of registers '
            f'unavailable, {counts["memory"]} words of memory right, '
            f'{counts["unknown"]} unknown')
    need(of_all <= share, note)
    return note


def test(folder, guest, cpu, every, share):
    record(folder, f'{OUT}/{guest}.elf', cpu, every)
    # Code that has not run yet is shown as it was when it ran.
    return compare(folder, 4 if cpu.startswith('rv32') else 8, share,
                   not guest.startswith('smc'))


def test_random(folder, seed, xlen):
    """All kinds of instructions that compute, one after the other"""
    variant = f'rv{xlen}gc'
    with open(f'{folder}/program.S', 'w', encoding='ascii') as text:
        text.write(instructions.program(seed, xlen))
    run('make', '-s', '-C', f'{HERE}/../../../../tests-tcg-riscv64/guests',
        'guest', f'OUT={folder}', 'NAME=guest', f'SOURCE={folder}/program.S',
        f'VARIANT={variant}', 'OPTIONS=')
    record(folder, f'{folder}/guest.elf', f'rv{xlen},zicond=on,zcb=on,zbkb=on',
           1)
    return compare(folder, xlen // 8, .4)


def run(*command):
    done = subprocess.run(command, check=False, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=LIMIT)
    need(done.returncode == 0, f'{" ".join(command)}: {done.stderr}')


tests = [
    ('dhry', test, 'dhry-50', 'rv64', 97, .5),
    ('dhry rv32', test, 'dhry-50.rv32', 'rv32', 97, .5),
    ('dhry bit manipulation', test, 'dhry-zb', 'rv64', 97, .5),
    *((f'{guest} {cpu}', test, f'{guest}.{cpu}gc', cpu, 7, 1)
      for guest in ('calls', 'exceptions', 'irq', 'loops', 'priv', 'contexts',
                    'branches', 'smc') for cpu in ('rv64', 'rv32')
      if (guest, cpu) != ('contexts', 'rv32')),
    *((f'random {seed} rv{xlen}', test_random, seed, xlen)
      for seed in range(20 if ALL else 1) for xlen in (64, 32)),
    ('zc', test, 'zc.rv64gc', 'rv64,d=off,zcmp=on,zcmt=on', 7, 1),
]
# What the others cover, too, is for the long run.
LONG = ('dhry bit manipulation', 'calls rv64', 'calls rv32', 'loops rv64',
        'loops rv32', 'priv rv32', 'branches rv64', 'branches rv32', 'irq rv32',
        'exceptions rv32', 'smc rv32')
tap.run(OUT, [t for t in tests if ALL or t[0] not in LONG])
