#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What others made - programs, recordings, a machine at the other end of a
# socket - neither reads files of this machine nor ends the program:
#
#   test-hostile.py RVTRACE
#
# Every check prints a TAP line; the script fails if one of them does.

import os
import re
import shutil
import subprocess
import sys
import tempfile

TOOL = os.path.abspath(sys.argv[1])
GCC = 'riscv64-linux-gnu-gcc'
SECRET = 'what nobody is to see'
PARAMS = [f'--param={name}' for name in (
    'src_bits=0', 'iaddress_lsb=0', 'privilege_width=2', 'ecause_width=6',
    'time_width=0', 'context_width=0', 'return_stack_size=0', 'bpred_size=0',
    'cache_size=0', 'f0s_width=0', 'sijump=0')]
PACKETS = '''\
inst format=3 subformat=0 branch=1 privilege=3 address=0x80000000
inst format=2 address=4 notify=0 updiscon=0 irreport=0
'''
# One function that calls another one, and what its debug info says of it
PROGRAM = '''
    .globl _start
    .section .text
    .type _start, @function
_start:
    .file 1 "{file}"
    .loc 1 1
    jal {name}
    .loc 1 2
    j .
    .size _start, . - _start
    .type {name}, @function
{name}:
    .loc 1 3
    nop
    ret
    .size {name}, . - {name}
'''
checks = failed = 0


def check(name, ok, note=''):
    global checks, failed
    checks += 1
    failed += not ok
    print(f'{"ok" if ok else "not ok"} {checks} {name}', flush=True)
    if not ok and note:
        print('# ' + str(note).replace('\n', '\n# '), flush=True)


def skip(name, why):
    global checks
    checks += 1
    print(f'ok {checks} {name} # SKIP {why}', flush=True)


def run(*args, under=(), **how):
    done = subprocess.run([*under, TOOL, *args], capture_output=True,
                          timeout=300, check=False, **how)
    return done.returncode, done.stdout, done.stderr.decode(errors='replace')


def build(folder, file, name='function'):
    """A program, and the trace of its beginning; the options for both"""
    with open(f'{folder}/a.S', 'w', encoding='utf-8') as f:
        f.write(PROGRAM.format(file=file, name=name))
    with open(f'{folder}/packets', 'w', encoding='ascii') as f:
        f.write(PACKETS)
    subprocess.run([GCC, '-g', '-nostdlib', '-static', '-march=rv64g',
                    '-Wl,-Ttext=0x80000000', '-Wl,--no-relax', '-o',
                    f'{folder}/a', f'{folder}/a.S'], check=True)
    status, _, err = run('encode', *PARAMS, '-p', f'{folder}/packets', '-o',
                         f'{folder}/trace')
    check('the packets become a trace', status == 0, err)
    return ['--trace', f'{folder}/trace', '--elf', f'{folder}/a', *PARAMS]


def recorded(folder, root, under, log):
    """A recording names files: those of a --sysroot alone are read"""
    options = build(folder, '/x')
    recording = f'{folder}/perf.data'
    status, _, err = run('perf-data', *options, '--period', '1', '-o',
                         recording)
    check('a recording', status == 0, err)
    with open(recording, 'rb') as f:
        data = f.read()
    # as long as the path of the program, and leads there out of the root
    path = f'{folder}/a'.encode()
    check('it has the path of the program', path in data)
    short = b'/../' + os.path.basename(folder).encode() + b'/a'
    with open(recording, 'wb') as f:
        f.write(data.replace(path, short.ljust(len(path), b'\0')))
    away = f'{folder}/root2'
    os.mkdir(away)
    for way in ((), ('--sysroot', root), ('--sysroot', away)):
        status, _, err = run('report', '--trace', recording, *way,
                             under=under)
        if not under:
            skip('a file that a recording names is not opened', 'no strace')
            continue
        with open(log, encoding='utf-8', errors='replace') as f:
            opened = [line for line in f if '/a"' in line and
                      'O_PATH' not in line]
        check('a file that a recording names is not opened', not opened,
              opened)
    shutil.copy(recording, f'{folder}/recording')
    with open(recording, 'wb') as f:
        f.write(data)
    for way in ((), ('--sysroot', away)):
        status, _, err = run('report', '--trace', recording, *way,
                             under=under)
        if under:
            with open(log, encoding='utf-8', errors='replace') as f:
                opened = [line for line in f if '/a"' in line and
                          'O_PATH' not in line]
            check('nor by its whole path', not opened, opened)
    status, out, err = run('report', '--trace', recording, '--sysroot', '/')
    check('what --sysroot names is read', b'function' in out, err)


def sources(folder):
    """Debug info names files of this machine: their text is not shown"""
    secret = f'{folder}/secret'
    with open(secret, 'w', encoding='ascii') as f:
        f.write(f'{SECRET}\n' * 9)
    root = f'{folder}/root'
    os.mkdir(root)
    os.symlink(secret, f'{root}/link')
    strace = shutil.which('strace')
    if strace and subprocess.run([strace, 'true'], capture_output=True,
                                 check=False).returncode:
        strace = None
    log = f'{folder}/strace'
    under = [strace, '-f', '-e', 'trace=open,openat,openat2', '-o',
             log] if strace else []
    for file in (secret, '/../secret', '/link', '../../secret'):
        options = [*build(folder, file), '--sysroot', root]
        for view in (['html'], ['annotate', '--source', '--sym', '*'],
                     ['callgrind'], ['coverage'], ['report', '--sort',
                                                   'srcline']):
            name = f'{" ".join(view)}, {file.replace(folder, "")}'
            status, out, err = run(*view, *options, under=under, cwd=root)
            check(f'{name}: it works', status == 0, err)
            check(f'{name}: no text of that file', SECRET not in out.decode())
            if not strace:
                skip(f'{name}: it is not opened', 'no strace')
                continue
            with open(log, encoding='utf-8', errors='replace') as f:
                opened = [line for line in f if re.search(
                    r'(secret|link)"', line) and 'O_PATH' not in line]
            check(f'{name}: it is not opened', not opened, opened)
    recorded(folder, root, under, log)
    # It is shown where somebody asks for it.
    options = build(folder, secret)
    for asked in (f'--source-prefix={folder}',
                  f'--source-prefix={folder}={folder}',
                  f'--sysroot={folder}'):
        if asked.startswith('--sys'):
            options = build(folder, '/secret')
        _, out, err = run('annotate', '--source', '--sym', '*', *options,
                          asked)
        check(f'{asked.split("=", maxsplit=1)[0]} shows it',
              SECRET in out.decode(), err)


def main():
    with tempfile.TemporaryDirectory() as folder:
        if shutil.which(GCC):
            sources(folder)
        else:
            skip('hostile programs', f'no {GCC}')
    print(f'1..{checks}')
    return failed != 0


if __name__ == '__main__':
    sys.exit(main())
