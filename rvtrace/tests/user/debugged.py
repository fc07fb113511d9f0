# SPDX-License-Identifier: GPL-2.0-or-later
#
# The past of programs in gdb: see run.sh

import os
import re
import shutil
import subprocess

import past
from tap import LIMIT, Skip, need
from traced import LIBRARIES, OUT, QEMU, RVTRACE, XLEN, qemu


def test_past(folder, name, every, moments=100, share=.02):
    """
    Registers and memory of the past, between system calls that change it, and
    signals that change registers, too
    """
    qemu(f'{folder}/trace', name, 'without', 'faults', more=',etrace-data=on',
         options=['-plugin', f'{OUT}/libmoments.so,out={folder}/registers,'
                  f'every={every}'])
    os.rename(f'{folder}/trace.sideband', f'{folder}/sideband')
    return past.compare(folder, int(XLEN) // 8, moments, share)


def gdb_says(file, name, *commands, options=''):
    """What gdb prints of the past of program name, and rvtrace"""
    if not shutil.which('gdb-multiarch'):
        raise Skip('there is no gdb-multiarch')
    words = ['set remotetimeout 60',
             f'target remote | {RVTRACE} gdbserver --listen stdio '
             f'--trace {file} --sideband {file}.sideband --elf {OUT}/{name} '
             f'{options}', *commands, 'kill']
    done = subprocess.run(
        ['gdb-multiarch', '-nx', '-batch',
         *(word for text in words for word in ('-ex', text)), f'{OUT}/{name}'],
        capture_output=True, text=True, timeout=LIMIT, check=False)
    return done.stdout + done.stderr


def test_steady(folder):
    """
    A program need not make system calls. What is watched is found all the
    same, and nothing is more than done.
    """
    file = f'{folder}/trace'
    qemu(file, 'steady', more=',etrace-data=on')
    said = gdb_says(file, 'steady', 'watch changed', 'reverse-continue')
    need('New value = 1499998' in said, said)
    need(all(int(part) <= 100 for part in
             re.findall(r'executing again .* (\d+) %', said)), said)


def test_libraries(folder):
    """
    gdb finds a program that lies anywhere and its libraries, one of them loaded
    by itself, without data in the trace.
    """
    qemu(f'{folder}/trace', 'dynamic')
    said = gdb_says(
        f'{folder}/trace', 'dynamic',
        "python exec(gdb.execute('monitor python', to_string=True))",
        'thread 1', 'break cbrt', 'reverse-continue', 'bt', 'delete',
        'break attempt', 'reverse-continue', 'bt', options='--sysroot /')
    need(re.search(r'#0 .* cbrt\w* \(\) from .*/libm\.so\.6\n'
                   r'#1 .* main \(\) at .*dynamic\.cc:\d+\n', said) and
         re.search(r'#0 .*attempt \(n=.*\) at .*dynamic\.cc:\d+\n'
                   r'#1 .* main \(\) at .*dynamic\.cc:\d+\n', said), said)


def test_static(folder):
    """gdb connects to a program without libraries, and finds its callers."""
    file = f'{folder}/trace'
    qemu(file, 'reads', more=',etrace-data=on')
    said = gdb_says(
        file, 'reads',
        "python exec(gdb.execute('monitor python', to_string=True))", 'bt')
    need(re.search(r'^#0 .* _exit \(\)', said, re.M) and
         re.search(r'^#\d .* exit \(\)', said, re.M) and
         not re.search('Traceback|Error', said), said)


def test_shares(folder):
    """What another thread changes is not shown as this one has seen it last."""
    file = f'{folder}/trace'
    qemu(file, 'shares', more=',etrace-data=on')
    said = gdb_says(file, 'shares', 'thread 1', 'break look',
                    'reverse-continue', 'echo \\nshared:', 'output shared',
                    'up', 'echo \\nown:', 'output own', 'echo \\nlocal:',
                    'output local')
    need(re.search('shared:(?![0-9])', said) and
         re.search('own:[0-9]+\nlocal:7', said), said)


def test_crash_in_library(folder):
    """run --debug: from a crash in the C library to who wrote the NULL"""
    if not shutil.which('gdb-multiarch'):
        raise Skip('there is no gdb-multiarch')
    done = subprocess.run(
        [RVTRACE, 'run', '-o', f'{folder}/out', '--debug', '--', QEMU, '-L',
         LIBRARIES, f'{OUT}/null'], input='bt\nup\nwatch -l node->name\n'
        'reverse-continue\nbt\n', capture_output=True, text=True,
        timeout=LIMIT, check=False)
    said = done.stdout + done.stderr
    need(re.search(r'#0 .* strlen \(\).*\n#1 .* total \(node=0x.*\)\s+at .*null\.c'
                   r'[^$]*\n\(gdb\) #0 .*drop \(node=.*\)\s+at .*null\.c:\d+\n'
                   r'#1 .* main \(\)\s+at ', said), said)


TESTS = [
    *((f'past-{name}', test_past, name, 97) for name in ('reads', 'signals')),
    ('past-kernel', test_past, 'kernel', 5, 400, .1),
    *([('past-steady', test_past, 'steady', 40009),
       ('steady', test_steady), ('static', test_static),
       ('shares', test_shares),
       ('libraries', test_libraries),
       ('crash in a library', test_crash_in_library)]
      if XLEN == '64' else []),
]
