#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# btrace.py PATTERN: see run.sh
#
# Debian's gdb-multiarch, as a user has it, against QEMU's gdbstub. The truth is
# QEMU's log of the instructions that began to execute; one that raised an
# exception is in gdb's history, too, unless it could not be fetched.

import os
import re
import socket
import subprocess
import sys
import tempfile
import time

import exec_log
import tap
from symbols import addresses
from tap import need

QEMU, OUT = os.environ['QEMU'], os.environ['OUT']
LIMIT = 120     # seconds, for any run
LOG = ('-accel', 'tcg,one-insn-per-tb=on', '-d', 'exec,nochain')
HISTORY = re.compile(r'^\d+\t(?:=>|  ) 0x([0-9a-f]+)')
RECORDED = re.compile(r'^Recorded (\d+) instructions .*\((\d+) gaps\)', re.M)
EMPTY = ('l<!DOCTYPE btrace SYSTEM "btrace.dtd">\n<btrace version="1.0">\n'
         '</btrace>\n')
KERNEL = 0xffffffff80000000


def run_gdb(folder, guest, commands, *options, cpu='rv64', smp=1,
            symbols=True):
    """gdb's output, of a guest that stands at its first instruction"""
    elf = f'{OUT}/{guest}.elf'
    # the name of a socket must be short
    with tempfile.TemporaryDirectory() as sockets:
        script = f'{folder}/gdb'
        with open(script, 'w', encoding='ascii') as file:
            print('set pagination off', 'set width 0', 'set remotetimeout 60',
                  'set record instruction-history-size unlimited',
                  'set record function-call-history-size unlimited',
                  f'target remote {sockets}/gdb', *commands, 'kill', sep='\n',
                  file=file)
        with open(f'{folder}/log', 'w', encoding='ascii') as log:
            with subprocess.Popen(
                    [QEMU, '-M', 'virt', '-cpu', cpu, '-smp', str(smp), '-m',
                     '128M', '-bios', 'none', '-kernel', elf, '-display',
                     'none', '-monitor', 'none', '-serial',
                     f'file:{folder}/uart', '-S', '-D', f'{folder}/exec',
                     '-chardev', f'socket,id=gdb,path={sockets}/gdb,'
                     'server=on,wait=on', '-gdb', 'chardev:gdb', *options],
                    stdin=subprocess.DEVNULL, stdout=log, stderr=log) as qemu:
                try:
                    wait_for_gdb(f'{folder}/log', qemu)
                    done = subprocess.run(
                        ['gdb-multiarch', '-nx', '-batch', '-x', script,
                         *[elf] * symbols],
                        capture_output=True, timeout=LIMIT, check=False,
                        encoding='utf-8')
                    with open(f'{folder}/gdb.log', 'w',
                              encoding='utf-8') as file:
                        file.write(done.stdout + done.stderr)
                    qemu.wait(10)
                finally:
                    qemu.kill()
    return done.stdout + done.stderr


def wait_for_gdb(path, qemu):
    """The socket is there a little before one can connect: QEMU says when."""
    for _ in range(LIMIT * 20):
        need(qemu.poll() is None, 'QEMU ended at once')
        with open(path, encoding='utf-8') as log:
            if 'waiting for connection' in log.read():
                return
        time.sleep(0.05)
    raise tap.Problem('QEMU does not wait for gdb')


def executed(folder, hart=0):
    """The pcs of the log, which has one hart after the other"""
    return exec_log.executed(f'{folder}/exec')[hart]


def shown(output):
    """The pcs of "record instruction-history" """
    return [int(m[1], 16) for m in map(HISTORY.match, output.splitlines())
            if m]


def values(output, name):
    """What 'printf "NAME %lx\\n", ...' has printed"""
    return [int(v, 16) for v in re.findall(rf'^{name} ([0-9a-f]+)$', output,
                                           re.M)]


def need_tail(history, pcs, least):
    """Is the history the end of the log, and no less than that?"""
    need(len(history) >= least,
         f'{len(history)} instructions, {least} or more expected')
    tail = pcs[-len(history):]
    for n, (a, b) in enumerate(zip(reversed(tail), reversed(history))):
        need(a == b, f'{n + 1} before the end: log {a:x}, gdb {b:x}')
    need(len(tail) == len(history), 'gdb has more than the log')


def need_whole(output):
    match = RECORDED.search(output)
    need(match, 'nothing was recorded')
    need(match[2] == '0', f'{match[2]} gaps')
    need('Recorded trace may be' not in output, 'gdb warns')
    return int(match[1])


def address(guest, name):
    return addresses(f'{OUT}/{guest}.elf')[name]


def history(folder, guest, cpu, symbols=True):
    """From reset to the end of the guest: all of it, and 40 steps back"""
    back = 40
    output = run_gdb(folder, guest, [
        'set record btrace bts buffer-size 1000000', 'record btrace bts',
        f'break *{address(guest, "pass")}', 'continue', 'info record',
        'record instruction-history',
        *['reverse-stepi', r'printf "step %lx\n", $pc'] * back,
        'record goto begin', r'printf "begin %lx\n", $pc',
        'record goto end', r'printf "end %lx\n", $pc'], *LOG, cpu=cpu,
        symbols=symbols)
    pcs = executed(folder)
    if cpu == 'rv32':
        pcs = [pc & 0xffffffff for pc in pcs]
    seen = shown(output)
    need(need_whole(output) == len(seen), 'info record counts otherwise')
    need(seen and seen[0] == 0x1000, 'it does not begin with the reset')
    # what could not be fetched has a line in the log, but has not run
    need_tail(seen, pcs, 1000)
    need(len(seen) == len(pcs), f'the log has {len(pcs)} instructions')
    need(values(output, 'step') == pcs[:-back - 1:-1],
         'reverse-stepi goes elsewhere')
    need(values(output, 'begin') == [0x1000], 'record goto begin')
    need(len(values(output, 'end')) == 1, 'record goto end')
    return f'{len(seen)} instructions'


def pages(folder):
    """gdb shows what is before that which it has shown."""
    output = run_gdb(folder, 'calls.rv64gc', [
        'set record instruction-history-size 10', 'record btrace bts',
        'break *pass', 'continue', 'record instruction-history',
        *['record instruction-history -'] * 2, 'stepi',
        'record instruction-history'], *LOG)
    pcs = executed(folder)
    step = pcs.pop()
    need(step == address('calls.rv64gc', 'pass'), f'a step from {step:x}')
    need(shown(output) == pcs[-10:] + pcs[-20:-10] + pcs[-30:-20] +
         pcs[-9:] + [step], 'those are not the instructions before')


def same_in_blocks(folder, guest):
    """Blocks of many instructions make the same history as single ones."""
    seen = []
    for name, options in ('single', LOG), ('blocks', ()):
        os.mkdir(f'{folder}/{name}')
        output = run_gdb(f'{folder}/{name}', guest, [
            'set record btrace bts buffer-size 1000000', 'record btrace bts',
            'break *pass', 'continue', 'info record',
            'record instruction-history'], *options)
        need_whole(output)
        seen.append(shown(output))
    need(len(seen[0]) > 1000, 'next to nothing was recorded')
    need(seen[0] == seen[1], 'they differ')


def transfers(pcs):
    """How many of these instructions do not go on to the next one"""
    return sum(b - a not in (2, 4) for a, b in zip(pcs, pcs[1:]))


def ring(folder):
    """
    ctr-host=16: gdb finds that as it connects, the hart has 16 transfers, and
    also after a reset, which is one of them.
    """
    output = run_gdb(folder, 'calls.rv64gc', [
        'break *pass', 'continue', 'info record', 'record instruction-history',
        'monitor system_reset',
        # QEMU does it some time later
        'while $pc != 0x1000', 'maintenance flush register-cache', 'end',
        'delete', 'stepi', 'info record',
        'record instruction-history'], *LOG, cpu='rv64,ctr-host=16')
    need('Target is recording using Branch Trace Store' in output,
         'gdb did not find it')
    parts = output.split('Active record target: record-btrace')
    need(len(parts) == 3, f'{len(parts) - 1} answers of info record')
    pcs = executed(folder)
    need(pcs.pop() == 0x1000, 'the log does not end with the reset')
    for text, log in (parts[1], pcs), (parts[2], [*pcs, 0x1000]):
        seen = shown(text)
        need(need_whole(text) == len(seen), 'info record counts otherwise')
        need_tail(seen, log, 16)
        # few of the guest's jumps go on to the next instruction
        need(8 <= transfers(seen) < 16, f'{transfers(seen)} transfers')


def records(folder, stop, least):
    """gdb comes when all is over, and finds what the guest has recorded."""
    output = run_gdb(folder, 'records', [
        f'break *{stop}', 'continue', 'record btrace bts',
        'info record', 'record instruction-history'], *LOG,
        cpu='rv64,smctr=on,ssctr=on')
    seen = shown(output)
    need(need_whole(output) == len(seen), 'info record counts otherwise')
    pcs = executed(folder)
    need_tail(seen, pcs, least)
    if stop == 'all':
        return
    # it is not recorded how the hart got into what was called
    need(seen[0] == address('records', 'called'), f'it begins at {seen[0]:x}')


def in_spaces(folder):
    """
    gdb reads code as the hart would at present: S-mode without M-mode and
    U-mode, U-mode with only its own address space.
    """
    kernel = address('spaces', 'kernel_stops') - 0x80000000 + KERNEL
    output = run_gdb(folder, 'spaces', [
        'record btrace bts', f'break *{kernel}', 'continue', 'info record',
        'record instruction-history'], *LOG)
    seen = shown(output)
    need(need_whole(output) == len(seen), 'info record counts otherwise')
    need_tail(seen, [pc for pc in executed(folder) if pc >= KERNEL], 200)
    output = run_gdb(folder, 'spaces', [
        'record btrace bts',
        f'break *{address("spaces", "user") - 0x40000000:#x}',
        'ignore 1 8', 'continue', 'info record', 'record instruction-history'],
        *LOG)
    seen = shown(output)
    need(need_whole(output) == len(seen), 'info record counts otherwise')
    turns = [pc for pc in executed(folder) if pc >> 30 == 1]
    need(len(turns) == 8 * 6, f'{len(turns)} instructions of U-mode')
    # every other turn was in the other address space
    need(seen == turns[:4 * 6], 'those are not its turns')


def harts(folder):
    """Each hart is a thread, and has a history."""
    output = run_gdb(folder, 'baton.rv64gc', [
        'break *pass_asleep', 'record btrace bts', 'continue',
        'thread apply all info record',
        'thread apply all record instruction-history'], '-accel',
        f'{LOG[1]},thread=single', *LOG[2:], smp=3)
    threads = re.split(r'^Thread (\d+) ', output, flags=re.M)[1:]
    whole = {}
    for number, text in zip(threads[::2], threads[1::2]):
        whole[number] = whole.get(number, '') + text
    need(sorted(whole) == ['1', '2', '3'], f'gdb has threads {sorted(whole)}')
    for number, text in whole.items():
        seen = shown(text)
        need(need_whole(text) == len(seen), 'info record counts otherwise')
        need_tail(seen, executed(folder, int(number) - 1), 500)


class Raw:
    """The remote protocol by hand"""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(LIMIT)
        self.socket.connect(path)
        self.data = b''

    def ask(self, text):
        packet = text.encode()
        self.socket.sendall(b'$%s#%02x' % (packet, sum(packet) & 0xff))
        while True:
            match = re.search(rb'\$([^#]*)#..', self.data)
            if match:
                self.data = self.data[match.end():]
                self.socket.sendall(b'+')
                return match[1].decode()
            more = self.socket.recv(4096)
            need(more, f'{text}: no answer')
            self.data += more


def requests(folder):
    """What gdb does not ask for gets an answer, too."""
    with tempfile.TemporaryDirectory() as sockets, \
         subprocess.Popen(
             [QEMU, '-M', 'virt', '-bios', 'none', '-kernel',
              f'{OUT}/calls.rv64gc.elf', '-display', 'none', '-monitor',
              'none', '-serial', 'none', '-S', '-chardev',
              f'socket,id=gdb,path={sockets}/gdb,server=on,wait=on', '-gdb',
              'chardev:gdb'], stdin=subprocess.DEVNULL,
             stderr=open(f'{folder}/log', 'wb')) as qemu:
        try:
            wait_for_gdb(f'{folder}/log', qemu)
            gdb = Raw(f'{sockets}/gdb')
            check_requests(gdb)
        finally:
            qemu.kill()


def check_requests(gdb):
    offered = gdb.ask('qSupported:xmlRegisters=i386').split(';')
    for feature in ('Qbtrace:bts', 'Qbtrace:off', 'Qbtrace-conf:bts:size',
                    'qXfer:btrace:read', 'qXfer:btrace-conf:read'):
        need(f'{feature}+' in offered, f'{feature} is not offered')
    conf = gdb.ask('qXfer:btrace-conf:read::0,fff')
    need(conf[0] == 'l' and '<bts' not in conf, conf)
    for text, answer in (
            ('qXfer:btrace:read:all:0,fff', 'E.this hart is not recording'),
            ('Qbtrace:off', 'E.this hart is not recording'),
            ('Qbtrace:pt', 'E.the format'),
            ('Qbtrace-conf:bts:size=', 'E.the size'),
            ('Qbtrace-conf:bts:size=1', 'OK'),
            ('Qbtrace:bts', 'OK'),
            ('Qbtrace:bts', 'OK'),
            ('qXfer:btrace:read:some:0,fff', 'E.the annex'),
            ('qXfer:btrace:read:allx:0,fff', 'E.the annex'),
            ('qXfer:btrace:read:all:', 'E.annex, offset'),
            ('qXfer:btrace:read:all:ffffff,fff', 'E.the '),
            ('qXfer:btrace:read:all:1,fff', 'E.the beginning'),
            ('qXfer:btrace:read:delta:0,fff', 'E.what has been added'),
            ('qXfer:btrace:read:all:0,fff', 'l<!DOCTYPE btrace'),
            ('qXfer:btrace:read:new:0,fff', EMPTY),
            ('qXfer:btrace:read:all:0,fff', 'l<!DOCTYPE btrace SYSTEM '
             '"btrace.dtd">\n<btrace version="1.0">\n<block begin="0x1000" '
             'end="0x1000"/>\n</btrace>\n'),
            ('qXfer:btrace:read:all:0,1', 'm<'),
            ('qXfer:btrace:read:all:1,0', 'm'),
            ('qXfer:btrace:read:all:1,3', 'm!DO'),
            ('qXfer:btrace:read:all:ffffffffffffffff,1', 'E.the offset'),
            ('qXfer:btrace-conf:read::0,ffffffff', 'l<!DOCTYPE btrace-conf'),
            ('qXfer:btrace-conf:read::', 'E.offset')):
        got = gdb.ask(text)
        need(got.startswith(answer), f'{text}: {got}')
    # a byte of buffer-size is no reason for less than 16 transfers
    conf = gdb.ask('qXfer:btrace-conf:read::0,fff')
    need(f'size="{16 * 24:#x}"' in conf, conf)
    need(gdb.ask('Qbtrace:off') == 'OK', 'Qbtrace:off')
    need(gdb.ask('qXfer:btrace:read:new:0,fff').startswith('E.'), 'still on')
    for size, entries in (('0', 1 << 20), ('ffffffffffffffff', 1 << 20),
                          ('10000', 4096)):
        need(gdb.ask(f'Qbtrace-conf:bts:size={size}') == 'OK', size)
        need(gdb.ask('Qbtrace:bts') == 'OK', size)
        conf = gdb.ask('qXfer:btrace-conf:read::0,fff')
        need(f'size="{entries * 24:#x}"' in conf, f'{size}: {conf}')
        need(gdb.ask('Qbtrace:off') == 'OK', size)


def refused(_, value):
    done = subprocess.run([QEMU, '-M', 'virt', '-cpu', f'rv64,ctr-host={value}',
                           '-display', 'none', '-S'], capture_output=True,
                          timeout=LIMIT, check=False, encoding='utf-8')
    need(done.returncode == 1 and 'ctr-host must be 0 or a power of 2 from 16 '
         'to 1048576' in done.stderr, done.stderr)


def main():
    # gdb takes its time with the hundred thousand instructions of this guest
    once = {('tables', 'rv32'), ('tables', 'blocks')}
    if '--all' in sys.argv[1:]:
        sys.argv.remove('--all')
        once = set()
    tests = [
        *((f'all of it, {guest} {cpu}', history, f'{guest}.{cpu}gc', cpu)
          for guest in ('calls', 'exceptions', 'irq', 'tables', 'priv')
          for cpu in ('rv64', 'rv32') if (guest, cpu) not in once),
        ('all of it, zc', history, 'zc.rv64gc', 'rv64,d=off,zcmp=on,zcmt=on',
         False),
        *((f'translated blocks, {guest}', same_in_blocks, f'{guest}.rv64gc')
          for guest in ('calls', 'exceptions', 'tables', 'priv')
          if (guest, 'blocks') not in once),
        ('more and more of it', pages),
        ('what the CPU property keeps, and a reset', ring),
        ('what the guest has recorded', records, 'all', 257),
        ('what the guest has recorded, with a filter', records, 'filtered',
         10),
        ('address spaces', in_spaces),
        ('several harts', harts),
        ('requests that gdb does not make', requests),
        *((f'ctr-host={n} is refused', refused, n)
          for n in (1, 8, 17, 2097152)),
    ]
    tap.run(OUT, tests)


main()
