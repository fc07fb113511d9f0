#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# signals.py PATTERN: see run.sh

import itertools
import os
import re
import subprocess

import links
import tap
from symbols import addresses
from tap import need

QEMU, RVTRACE, OUT = (os.environ[n] for n in ('QEMU', 'RVTRACE', 'OUT'))
LIMIT = links.LIMIT / 2
ENCODER = 0x3020000
DATA_CONTROL, TRIG_EXT_IN = ENCODER + 0x10, ENCODER + 0x54
DATA_TRACING, DATA_TRIG_ENABLE = 1 << 1, 1 << 2
TIME = 0xc01


def arguments(folder, props, guest='signals'):
    args = [QEMU, '-M', 'virt,trace=on,trace-chardev=tr,trace-sideband=sb,'
            'trace-autostart=on,trace-modes=baseline', '-chardev',
            f'file,id=tr,path={folder}/trace', '-chardev',
            f'file,id=sb,path={folder}/sideband', '-cpu', 'rv64,scontext=on',
            '-m', '128M',
            '-display', 'none', '-monitor', 'none', '-serial',
            f'file:{folder}/uart', '-bios', 'none', '-kernel',
            f'{OUT}/{guest}.elf']
    for prop in props:
        args += ['-global', f'riscv-trace-encoder.{prop}']
    return args


def packets(folder, *props, guest='signals', kinds=('inst',)):
    """The packets of a run of these kinds: dictionaries of their fields"""
    subprocess.run(arguments(folder, props, guest), stdin=subprocess.DEVNULL,
                   timeout=LIMIT, check=True)
    done = subprocess.run(
        [RVTRACE, 'decode', '--emit', 'packets', '--trace', f'{folder}/trace',
         '--sideband', f'{folder}/sideband'], capture_output=True, text=True,
        timeout=LIMIT, check=True)
    need(not done.stderr, done.stderr.strip())
    lines = (line.split('#')[0].split() for line in done.stdout.splitlines())
    return [{name: int(value, 0) for name, value in
             (word.split('=') for word in words[1:])}
            for words in lines if words and words[0] in kinds]


def contexts(folder, *props):
    """In the order of the packets, each run of equal ones once"""
    seen = [p['context'] for p in packets(folder, 'context-width=46', *props)
            if 'context' in p]
    return [value for value, _ in itertools.groupby(seen)]


def same(got, want):
    need(got == want, f'{[hex(v) for v in got[:20]]} instead of '
         f'{[hex(v) for v in want]}')


# vsatp's VMID is that of hgatp, in bits 29:16
ASIDS = [0, 1, 0x1234, 3 << 16 | 9, 3 << 16 | 10, 0x1234, 0]


def asid(folder, ctype):
    same(contexts(folder, 'context=on', f'ctype={ctype}'), ASIDS)


def mcontext(folder):
    same(contexts(folder, 'context=on', 'context-source=mcontext', 'ctype=2'),
         [0, 5, 0x1fff, 0, 5, 0])


def scontext(folder):
    """hcontext above it"""
    same(contexts(folder, 'context=on', 'context-source=scontext', 'ctype=2'),
         [0, 5 << 32, 0x1fff << 32, 0, 0xffffffff, 5 << 32 | 0xffffffff,
          5 << 32 | 7, 7, 0])


def no_scontext(folder):
    done = subprocess.run(
        [*arguments(folder, ['context-source=scontext']), '-cpu', 'rv64'],
        stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=LIMIT, check=False)
    need(done.returncode == 1 and 'hart 0 has no scontext' in done.stderr and
         'scontext=on' in done.stderr,
         f'{done.returncode} {done.stderr.strip()}')


def registers(folder, cpu, want):
    """Which ones the hart has"""
    subprocess.run(
        [QEMU, '-M', 'virt', '-cpu', cpu, '-display', 'none', '-monitor',
         'none', '-serial', f'file:{folder}/uart', '-bios', 'none',
         '-kernel', f'{OUT}/scontext.elf'], stdin=subprocess.DEVNULL,
        timeout=LIMIT, check=True)
    with open(f'{folder}/uart', encoding='utf-8') as uart:
        got = ''.join(uart.read().split())
    need(got == want, f'"{got}" instead of "{want}"')


def context_off(folder):
    """trTeContext 0"""
    same(contexts(folder, 'context=off', 'ctype=2'), [0])


def times(folder):
    traps = [p['time'] for p in packets(folder, 'time-width=64')
             if (p['format'], p.get('subformat')) == (3, 1) and
             p['privilege'] == 3 and p['ecause'] == 11]
    with open(f'{folder}/uart', encoding='utf-8') as uart:
        printed = [int(text, 16) for text in
                   re.findall(r'[0-9a-f]{16}', uart.read())]
    need(len(printed) == 6 and len(traps) == 3, f'{printed}, {traps}')
    for i, at in enumerate(traps):
        need(printed[2 * i] <= at <= printed[2 * i + 1],
             f'{at} is not from {printed[2 * i]} to {printed[2 * i + 1]}')


# Slots of the ring, and those behind its limit; branches in a slot, at most
RING, SLACK, BRANCHES = 1024, 576, 63
# How often times.S goes through its loops
LOOPS, READS = 2000000, 20000
UNTIL_FULL = ('time-width=64', 'sync-mode=0')


def times_of_history(folder):
    """Each full ring is a time, if nothing interrupts the hart."""
    seen = packets(folder, *UNTIL_FULL, 'branch-prediction=on', guest='times')
    got = [p['time'] for p in seen if 'time' in p]
    need(len(got) > LOOPS / (RING + SLACK) / BRANCHES, f'{len(got)} times')
    need(got == sorted(got), 'they are not in order')


def times_of_blocks(folder):
    """
    ... in front of the very instruction that comes next: what the hart has read
    of mtime before is not later, what it reads then is not earlier.
    """
    last, reads, since, times_seen = 0, 0, 0, 0
    for p in packets(folder, *UNTIL_FULL, 'data-width=64', 'data=on',
                     'data-compress=0', guest='times', kinds=('inst', 'data')):
        if 'time' in p:
            need(p['time'] >= last, f'{p["time"]} is reported behind {last}')
            last, since = p['time'], 0
            times_seen += 1
        elif p.get('addr_msbs', 0) << 6 | p.get('addr_lsbs', 0) == TIME:
            need(p['data'] >= last, f'{p["data"]} is read behind {last}')
            last = p['data']
            reads += 1
        since += 'addr_lsbs' in p
        need(since <= RING + SLACK, f'{since} accesses without a time')
    need(reads == READS, f'{reads} reads of the time')
    need(times_seen > LOOPS / (RING + SLACK), f'{times_seen} times')


def notify(folder):
    last = addresses(f'{OUT}/signals.elf')['last_of_block']
    notified = [p['address'] for p in packets(folder, 'full-address=on')
                if p.get('notify')]
    # "The address of the last instruction in the block"
    same(notified, 5 * [last])


def data_trigger(folder):
    """trTeDataTrigEnable, with external triggers 0: on, 1: off"""
    with links.directory() as sockets, subprocess.Popen(
            [*arguments(folder, ['data-width=64']), '-S',
             *links.QTest.arguments(sockets), *links.Gdb.arguments(sockets)],
            stdin=subprocess.DEVNULL) as child:
        try:
            qtest = links.QTest(sockets)
            gdb = links.Gdb(sockets)

            def tracing(line):
                for level in 1, 0:
                    qtest.ask('set_irq_in /machine/trace-encoder0 trigger-in '
                              f'{line} {level}')
                # the hart's thread does it, ahead of its next instruction
                gdb.step()
                return qtest.read(DATA_CONTROL) & DATA_TRACING

            qtest.write(TRIG_EXT_IN, 0x32)
            need(not tracing(0), 'on, but triggers are not enabled')
            qtest.write(DATA_CONTROL, DATA_TRIG_ENABLE)
            need(tracing(0), 'not on')
            need(not tracing(1), 'not off')
            qtest.write(DATA_CONTROL, DATA_TRACING)
            need(tracing(1), 'off, but triggers are not enabled')
        finally:
            child.kill()


def narrow_privilege(folder):
    """2 bits have no code for VU and VS."""
    props = ['privilege-width=2']
    done = subprocess.run(arguments(folder, props), stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=LIMIT,
                          check=False)
    need(done.returncode == 1 and 'without the H extension' in done.stderr,
         f'with H: {done.returncode} {done.stderr.strip()}')
    done = subprocess.run(
        [*arguments(folder, props), '-cpu', 'rv64,h=off', '-S', '-qmp',
         'stdio'], input='{"execute": "qmp_capabilities"} {"execute": "quit"}',
        capture_output=True, text=True, timeout=LIMIT, check=False)
    need(done.returncode == 0, f'without H: {done.stderr.strip()}')


# m: mcontext, h: hcontext, s: scontext, e: mstateen0.CONTEXT
REGISTERS = (
    ('rv64', 'm'),
    ('rv64,smstateen=on', 'm'),
    ('rv64,scontext=on', 'mhs'),
    ('rv64,scontext=on,smstateen=on', 'mhse'),
    ('rv64,scontext=on,h=off', 'ms'),
    ('rv64,scontext=on,debug=off,smstateen=on', ''),
    ('max', 'mhse'),
    ('max,scontext=off', 'm'),
    ('rva22s64', 'm'),
    ('sifive-u54', 'm'),
    ('thead-c906', 'm'),
    ('veyron-v1', 'm'),
)

TESTS = (
    ('context: ASID and VMID, imprecisely', asid, 1),
    ('context: ASID and VMID, precisely', asid, 2),
    ('context: ASID and VMID, as a discontinuity', asid, 3),
    ('context: mcontext', mcontext),
    ('context: scontext and hcontext', scontext),
    ('context-source scontext, no scontext', no_scontext),
    *((f'scontext and hcontext, -cpu {cpu}', registers, cpu, want)
      for cpu, want in REGISTERS),
    ('context: trTeContext 0', context_off),
    ('time of traps', times),
    ('time of a full ring, branch history', times_of_history),
    ('time of a full ring, blocks', times_of_blocks),
    ('notify by a debug trigger', notify),
    ('data trace on and off by a trigger', data_trigger),
    ('privilege_width_p 2 and H', narrow_privilege),
)


tap.run(OUT, TESTS)
