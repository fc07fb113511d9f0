#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# state.py [--all] [PATTERN]: see run.sh
#
# The plugin registers.c has seen registers and memory of a guest, whose trace
# has data. What the server tells a debugger must be the same, or unavailable.

import os
import subprocess
import sys

import instructions
import past
import symbols
import tap
from tap import LIMIT, need

QEMU, RETIRED, OUT = (os.environ[n] for n in ('QEMU', 'RETIRED', 'OUT'))
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


def test(folder, guest, cpu, every, share):
    record(folder, f'{OUT}/{guest}.elf', cpu, every)
    # Code that has not run yet is shown as it was when it ran.
    return past.compare(folder, 4 if cpu.startswith('rv32') else 8, MOMENTS,
                        share, not guest.startswith('smc'))


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
    return past.compare(folder, xlen // 8, MOMENTS,
                        .5 if instructions.has_unknown(seed, xlen) else .01)


def test_gap(folder):
    """What a filter leaves out may change registers, behind a fence, too."""
    elf = f'{OUT}/gap.elf'
    at = symbols.addresses(elf)
    traced = range(at['traced'], at['traced_end'])
    record(folder, elf, 'rv64', 1, '-global', 'riscv-trace-encoder.filter='
           f'pc={traced.start:#x}-{traced.stop - 1:#x}')
    return past.compare(folder, 8, 300, 1, False, traced)


def run(*command):
    done = subprocess.run(command, check=False, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=LIMIT)
    need(done.returncode == 0, f'{" ".join(command)}: {done.stderr}')


tests = [
    ('dhry', test, 'dhry-50', 'rv64', 97, .01),
    ('dhry rv32', test, 'dhry-50.rv32', 'rv32', 97, .01),
    ('dhry bit manipulation', test, 'dhry-zb', 'rv64', 97, .01),
    *((f'{guest} {cpu}', test, f'{guest}.{cpu}gc', cpu, 7, .01)
      for guest in ('calls', 'exceptions', 'irq', 'loops', 'priv', 'contexts',
                    'branches', 'smc') for cpu in ('rv64', 'rv32')
      if (guest, cpu) != ('contexts', 'rv32')),
    *((f'random {seed} rv{xlen}', test_random, seed, xlen)
      for seed in range(20 if ALL else 2) for xlen in (64, 32)),
    ('gap', test_gap),
    ('zc', test, 'zc.rv64gc', 'rv64,d=off,zcmp=on,zcmt=on', 7, .01),
]
# What the others cover, too, is for the long run.
LONG = ('dhry bit manipulation', 'calls rv64', 'calls rv32', 'loops rv64',
        'loops rv32', 'priv rv32', 'branches rv64', 'branches rv32', 'irq rv32',
        'exceptions rv32', 'smc rv32')
tap.run(OUT, [t for t in tests if ALL or t[0] not in LONG])
