#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# streams.py PATTERN: see run.sh

import os
import re
import shutil
import subprocess
import sys

import tap
from tap import LIMIT, need

QEMU, RVTRACE, OUT = (os.environ[n] for n in ('QEMU', 'RVTRACE', 'OUT'))

SESSION = b'\1\0\xff\xff' + (32).to_bytes(4, 'little') + b'RVTRSIDE'
MINOR = len(SESSION) + 2        # where a record has its minor version
SECONDS = 2                     # that the guest waits


def run(folder, *props, append=False):
    """The guest, traced to its end: the trace's and the sideband's path"""
    os.makedirs(folder, exist_ok=True)
    more = ',append=on' if append else ''
    command = [
        QEMU, '-M', 'virt,trace=on,trace-chardev=tr,trace-sideband=sb,'
        'trace-autostart=on', '-chardev',
        f'file,id=tr,path={folder}/trace{more}', '-chardev',
        f'file,id=sb,path={folder}/sideband{more}', '-cpu', 'rv64', '-m',
        '128M', '-display', 'none', '-monitor', 'none', '-serial', 'null',
        '-bios', 'none', '-kernel', f'{OUT}/idle.elf', '-icount',
        'shift=0,sleep=off']
    for prop in props:
        command += ['-global', f'riscv-trace-encoder.{prop}']
    done = subprocess.run(command, capture_output=True, text=True,
                          timeout=LIMIT, check=False)
    need(done.returncode == 0 and not done.stderr,
         f'QEMU: {done.returncode}: {done.stderr}')
    return f'{folder}/trace', f'{folder}/sideband'


def rvtrace(command, trace, sideband, *options):
    """But for the warning that the reset code is in no ELF file"""
    done = subprocess.run(
        [RVTRACE, command, '--trace', trace, '--sideband', sideband, *options],
        stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=LIMIT, check=False)
    said = ''.join(line for line in done.stderr.splitlines(True)
                   if 'in no known file' not in line)
    return done.returncode, done.stdout, said


def refused(trace, sideband, *words):
    """An error in these words, and nothing else"""
    for command, *options in ('stat',), ('decode', '--emit', 'pc'):
        status, out, said = rvtrace(command, trace, sideband, *options)
        need(status == 2 and not out, f'{command}: {status}: {out[:200]}{said}')
        for word in words:
            need(word in said, f'"{word}" is not said: {said}')


def taken(trace, sideband):
    status, _, said = rvtrace('stat', trace, sideband, '--strict')
    need(status == 0, f'{status}: {said}')
    return said


def other_run(folder):
    """The same guest, the same options: only the ids differ."""
    first, second = run(f'{folder}/1'), run(f'{folder}/2')
    taken(*first)
    taken(*second)
    refused(first[0], second[1], first[0], second[1], 'different runs')
    refused(second[0], first[1], 'different runs')


def appended(folder):
    """Of two machines in one file, none is where its sideband says."""
    run(folder)
    files = run(folder, append=True)
    refused(*files, 'different runs')


def without_mark(folder):
    """An older QEMU's trace"""
    trace, sideband = run(folder)
    with open(trace, 'r+b') as file:
        data = file.read()
        end = data.index(b'\x80') + 1
        need(set(data[end:end + 73]) == {0, 0x80}, 'there is no mark')
        file.seek(0)
        file.write(data[:end] + data[end + 73:])
        file.truncate()
    refused(trace, sideband, 'no mark of a session', 'older QEMU')


def old_sideband(folder):
    """An older QEMU's sideband: nothing can be checked, which is said."""
    files = run(folder)
    with open(files[1], 'r+b') as file:
        need(file.read(len(SESSION)) == SESSION, 'there is no SESSION')
        file.seek(MINOR)
        file.write(b'\6\0')
    said = taken(*files)
    need('older QEMU' in said and 'not checked' in said, f'it says: {said}')


def seconds(files, *options):
    """What the report has of virtual time in all, and its messages"""
    status, out, said = rvtrace('report', *files, '--elf', f'{OUT}/idle.elf',
                                '--weight', 'time', '--format', 'tsv',
                                *options)
    need(status == 0, f'report: {status}: {said}')
    total = sum(int(n) for n in re.findall(r'^(\d+)\t', out, re.M))
    return total / 1e9, said


def served(files):
    """What gdbserver says, until gdb hangs up"""
    status, _, said = rvtrace('gdbserver', *files, '--elf', f'{OUT}/idle.elf',
                              '--listen', 'stdio')
    need(status == 0, f'gdbserver: {status}: {said}')
    return said


def right(folder, *props):
    files = run(folder, *props)
    passed, said = seconds(files)
    need(not said, f'it says: {said}')
    said = served(files)
    need('wrap' not in said, f'gdbserver says: {said}')
    need(SECONDS <= passed < SECONDS * 1.1, f'{passed} s')


def wrapped(folder):
    files = run(folder, 'timestamp-width=16', 'timestamp-mode=2')
    passed, said = seconds(files)
    need(passed < SECONDS, f'{passed} s: the test is about nothing')
    shown = re.search(r'wrap .* unseen: .* in fact (\S+) s', said)
    need(shown and SECONDS <= float(shown[1]) < SECONDS * 1.1,
         f'it says: {said}')
    said = served(files)
    need(re.search(r'wrap .* unseen: .* in fact', said),
         f'gdbserver says: {said}')
    # Nobody asks for times.
    status, _, said = rvtrace('report', *files, '--elf', f'{OUT}/idle.elf')
    need(status == 0 and not said, f'report: {status}: {said}')


def unknown(folder):
    """A sideband of an older QEMU does not say how much has passed."""
    files = run(folder, 'timestamp-width=16', 'timestamp-mode=2')
    with open(files[1], 'rb') as file:
        data = file.read()
    with open(files[1], 'wb') as file:
        at = 0
        while at < len(data):
            kind = int.from_bytes(data[at:at + 2], 'little')
            size = 8 + int.from_bytes(data[at + 4:at + 8], 'little')
            if kind != 15:      # END
                file.write(data[at:at + size])
            at += size
    _, said = seconds(files)
    need('is not known' in said, f'it says: {said}')


def main():
    shutil.rmtree(f'{OUT}/runs', ignore_errors=True)
    tests = tap.Tap(f'{OUT}/runs', sys.argv[1] if len(sys.argv) > 1 else None)
    tests.test('trace and sideband of different runs', other_run)
    tests.test('two machines in one file', appended)
    tests.test('a trace without its mark', without_mark)
    tests.test('the sideband of an older QEMU', old_sideband)
    for name, props in (
            ('timestamps of 40 bits', ('timestamp-width=40',
                                       'timestamp-mode=2')),
            ('timestamps of 10 MHz', ('timestamp-width=40',
                                      'timestamp-mode=1'))):
        tests.test(f'{name} are right',
                   lambda folder, p=props: right(folder, *p))
    tests.test('timestamps that wrap unseen', wrapped)
    tests.test('timestamps that may have wrapped', unknown)
    tests.end()


if __name__ == '__main__':
    main()
