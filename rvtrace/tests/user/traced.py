# SPDX-License-Identifier: GPL-2.0-or-later
#
# Programs of user mode with a trace, and what rvtrace says of it

import csv
import fcntl
import io
import os
import struct
import subprocess
import termios

from tap import LIMIT, need

QEMU, RVTRACE, OBSERVER, LIBRARIES, OUT, XLEN = (
    os.environ[n] for n in ('QEMU_USER', 'RVTRACE', 'OBSERVER', 'LIBRARIES',
                            'OUT', 'XLEN'))
CPU = f'rv{XLEN}'
CROSS = os.environ.get('CROSS', 'riscv64-linux-gnu-')
FAULTS = 2 * 20             # of signals.c; what ebreak does is no fault


def qemu(file, name, *words, modes='all', more='', options=(), status=0):
    """
    Run a program with a trace, and more properties of it; what it wrote to
    standard error
    """
    with open(f'{OUT}/numbers', 'rb') as numbers:
        done = subprocess.run(
            [QEMU, '-L', LIBRARIES, *options, '-cpu',
             f'{CPU},etrace={file},etrace-modes={modes}{more}',
             os.path.join(OUT, name), *words], stdin=numbers,
            capture_output=True, text=True, timeout=LIMIT, check=False)
    need(done.returncode == status,
         f'{name}: {done.returncode}: {done.stdout}{done.stderr}')
    return done.stderr


def rvtrace(command, file, *words, ok=0):
    done = subprocess.run(
        [RVTRACE, command, '--trace', file, '--sideband', f'{file}.sideband',
         *words], capture_output=True, text=True, timeout=LIMIT, check=False)
    need(done.returncode == ok, f'{command}: {done.returncode}: {done.stderr}')
    return done.stdout if ok == 0 else done.stderr


def harts(file):
    """The harts that have run something: the lowest numbers"""
    number = 0
    while True:
        done = subprocess.run(
            [RVTRACE, 'decode', '--trace', file, '--sideband',
             f'{file}.sideband', '--hart', str(number), '--emit', 'pc'],
            capture_output=True, text=True, timeout=LIMIT, check=False)
        if 'is not in the trace' in done.stderr:
            return
        need(done.returncode == 0 and not done.stderr,
             f'hart {number}: {done.stderr}')
        yield number, [int(pc, 16) for pc in done.stdout.split()]
        number += 1


def begins_of_threads(file, hart):
    """Of each thread that was this hart: after how many instructions, who"""
    begins = []
    for line in rvtrace('decode', file, '--hart', str(hart), '--emit',
                        'task').splitlines():
        words = line.split()
        if not begins or begins[-1][1] != words[2]:
            begins.append((int(words[0]), words[2]))
    need(begins and begins[0][0] == 0, f'hart {hart}: no thread')
    return begins


def threads(file):
    """Of each thread: its number, what it retired, by the trace"""
    for hart, pcs in harts(file):
        begins = begins_of_threads(file, hart)
        ends = [begin for begin, _ in begins[1:]] + [len(pcs)]
        for (begin, tid), end in zip(begins, ends):
            yield tid, pcs[begin:end]


def report(*words):
    """The rows of a report"""
    done = subprocess.run([RVTRACE, 'report', *words, '--format', 'tsv'],
                          capture_output=True, text=True, timeout=LIMIT,
                          check=False)
    need(done.returncode == 0, done.stderr)
    return list(csv.DictReader(io.StringIO(done.stdout), delimiter='\t'))


def calls(*words):
    """{function: calls} of a report"""
    return {row['sym']: int(row['calls']) for row in report(*words)}


def streams(file):
    return '--trace', file, '--sideband', f'{file}.sideband', '--sysroot', '/'


def unread(pipe):
    """Bytes that are in it"""
    return struct.unpack('i', fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)))[0]
