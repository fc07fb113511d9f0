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
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

import inputs
from checks import PARAMS, check, skip, tap

TOOL = os.path.abspath(sys.argv[1])
GCC = 'riscv64-linux-gnu-gcc'
SECRET = 'what nobody is to see'
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
                    '-Wa,--no-warn', '-Wl,-Ttext=0x80000000', '-Wl,--no-relax', '-o',
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


def is_utf8(text):
    try:
        return bool(text.decode())
    except UnicodeDecodeError:
        return False


def names(folder):
    """Names with line ends and escapes do not leave their line"""
    evil = (b'a\nfn=(99) forged\n99 99\x1b[2J\r\xc2\x9b2J\x9b2J\xff'
            b'\xe2\x80\xa8b\xe2\x80\xa9c\xc2\x85d')
    name = 'x' * len(evil)
    options = build(folder, '/x', name)
    with open(f'{folder}/a', 'rb') as f:
        program = f.read()
    with open(f'{folder}/a', 'wb') as f:
        f.write(program.replace(name.encode(), evil))
    for view in (['callgrind'], ['script', '--period', '1'], ['report'],
                 ['summary'], ['folded'], ['annotate', '--sym', '*'],
                 ['perf-data'],
                 ['speedscope'], ['flamegraph'], ['html'], ['pprof'],
                 ['timeline'], ['calls', '--sym', '*'],
                 ['latency', '--sym', '*'], ['faults'],
                 ['switches', '--list'], ['why-hung'],
                 ['report', '--format', 'tsv'],
                 ['calls', '--sym', '*', '--format', 'tsv'],
                 ['annotate', '--sym', '*', '--format', 'tsv']):
        _, out, err = run(*view, *options)
        forged = [line for line in out.split(b'\n') if
                  line.startswith((b'fn=(99)', b'99 99'))]
        check(f'{view[0]}: names of functions stay in their line',
              not forged and (b'\x1b' not in out or
                              view[0] in ('perf-data', 'pprof', 'timeline')),
              f'{forged} {err}')
        # Whatever a script takes for the end of a line
        check(f'{view[0]}: lines are as many as their ends', view[0] in
              ('perf-data', 'pprof', 'timeline') or
              len(out.decode(errors='replace').splitlines()) ==
              out.count(b'\n') + (not out.endswith(b'\n')), out[:400])
        # perf, callgrind and flamegraph.pl take names as they are.
        check(f'{view[0]}: what is written is UTF-8',
              view[0] in ('perf-data', 'pprof', 'timeline', 'callgrind',
                          'script', 'folded') or is_utf8(out), out[:400])
    status, _, err = run('uftrace', *options, '-o', f'{folder}/uftrace')
    text = b''
    for name in os.listdir(f'{folder}/uftrace'):
        with open(f'{folder}/uftrace/{name}', 'rb') as f:
            text += f.read() if not name.endswith('.dat') else b''
    check('uftrace: names of functions stay in their line', status == 0 and
          b'\nfn=(99)' not in text and b'\x1b' not in text, text)


def messages():
    """What a message quotes may be no text"""
    done = subprocess.run([TOOL, 'stat', '--trace', b'\x9b2J\xff\x1b[2J'],
                          capture_output=True, timeout=300, check=False)
    check('a message is UTF-8', done.returncode == 2 and
          is_utf8(done.stderr) and b'\x1b' not in done.stderr, done.stderr)


def tasks(folder):
    """The same of names of tasks, which a process of the guest chooses"""
    evil = b'a\nforged 1 2\x1b[2J'
    side = f'{folder}/side'
    with open(side, 'wb') as f:
        f.write(inputs.session() + inputs.params() +
                inputs.code(0x80000000, 0x0080006f, 0x0000006f, 0x13,
                            0x00008067) +
                inputs.task(0x1000, 7, evil))
    for view in (['callgrind'], ['script', '--period', '1'],
                 ['report', '--sort', 'comm,sym'], ['folded'], ['summary'],
                 ['speedscope'], ['flamegraph'], ['html']):
        status, out, err = run(*view, '--trace', f'{folder}/trace',
                               '--sideband', side)
        check(f'{view[0]}: names of tasks stay in their line', status == 0 and
              b'\nforged' not in out and b'\x1b' not in out,
              f'{status} {err}')
    status, _, err = run('uftrace', '--trace', f'{folder}/trace',
                         '--sideband', side, '-o', f'{folder}/uftrace2')
    check('uftrace: a task of that name', status == 0, err)
    status, _, err = run('ctf', '--trace', f'{folder}/trace', '--sideband',
                         side, '-o', f'{folder}/ctf')
    with open(f'{folder}/ctf/hart_0', 'rb') as f:
        events = f.read()
    check('ctf: a task of that name', status == 0 and
          b'a?forged 1 2?[2\0' in events and b'\x1b' not in events, err)


def peer(folder):
    """QMP from who is no QEMU"""
    greeting = b'{"QMP": {"version": {}, "capabilities": []}}\n'
    deep = b'[' * 100000
    for name, text, pattern in (
            ('nested arrays', deep + b'\n', 'this is no QMP'),
            ('nested behind a greeting', greeting + b'{"return": ' + deep +
             b'\n', 'this is no QMP'),
            ('nested objects', b'{"a":' * 100000 + b'\n', 'this is no QMP'),
            ('a line without an end', b'x' * (70 << 20), 'is no QMP'),
            ('escapes', b'\x1b[2J\r\xc2\x9b2J\n', r'no QMP: \?\[2J\?\?2J'),
            ('an answer that is none', greeting + b'{}\n',
             'an answer without a result'),
            ('an error that is none', greeting + b'{"error": 5}\n', 'QEMU: '),
            ('an event that is none', greeting + b'{"event": 5}\n', 'QEMU'),
            ('data that are none', greeting + b'{"return": {}}\n' * 2 +
             b'{"return": {"data": 5, "lost": "x", "left": []}}\n', 'QEMU|CTR'),
            ('a status that is none', greeting + b'{"return": {}}\n' * 2 +
             b'{"return": {"status": {}}}\n', 'QEMU|CTR')):
        path = f'{folder}/qmp'
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(path)
        listener.listen(1)

        def serve(listener=listener, text=text):
            try:
                connection, _ = listener.accept()
                with connection:
                    connection.sendall(text)
                    connection.recv(1 << 16)
            except OSError:
                pass        # it has hung up, as it may
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        status, _, err = run('ctr-sample', '--qmp', f'unix:{path}', '--for',
                             '1s')
        check(f'QMP: {name}', status == 2 and re.search(pattern, err) and
              'CRITICAL' not in err and '\x1b' not in err,
              f'{status} {err[-300:]}')
        listener.close()
        os.unlink(path)
        thread.join(10)


def shrinking(folder):
    """A trace that becomes shorter while it is read"""
    trace = f'{folder}/large'
    with open(f'{folder}/packets', 'w', encoding='ascii') as f:
        f.write(PACKETS)
    status, out, err = run('encode', *PARAMS, '-p', f'{folder}/packets')
    check('a large trace', status == 0, err)
    with open(trace, 'wb') as f:
        f.write(out * ((64 << 20) // len(out)))
    tool = subprocess.Popen(
        [TOOL, 'decode', '--trace', trace, '--emit', 'packets', *PARAMS],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    tool.stdout.read(1)     # then its pipe is full, and it waits
    time.sleep(0.1)
    os.truncate(trace, 4096)
    _, err = tool.communicate()
    check('a trace becomes shorter', tool.returncode == 2 and
          b'shorter' in err, f'{tool.returncode} {err[-300:]}')


def orphan(folder):
    """rvtrace run is killed: what it has started ends, too"""
    child = f'{folder}/qemu'
    with open(child, 'w', encoding='ascii') as f:
        f.write(f'#!{sys.executable}\nimport os, time\n'
                f'with open("{folder}/pid.new", "w") as f:\n'
                '    f.write(str(os.getpid()))\n'
                f'os.rename("{folder}/pid.new", "{folder}/pid")\n'
                'time.sleep(600)\n')
    os.chmod(child, 0o755)
    with subprocess.Popen([TOOL, 'run', '--', child, '-M', 'virt'],
                          cwd=folder) as tool:
        until = time.monotonic() + 60
        while not os.path.exists(f'{folder}/pid'):
            if time.monotonic() > until:
                check('QEMU is started', False)
                return
            time.sleep(0.02)
        with open(f'{folder}/pid', encoding='ascii') as f:
            pid = int(f.read())
        tool.kill()
        tool.wait()
        while os.path.exists(f'/proc/{pid}') and time.monotonic() < until:
            with open(f'/proc/{pid}/stat', encoding='ascii') as f:
                if f.read().split(')')[1].split()[0] == 'Z':
                    break       # nobody waits for it
            time.sleep(0.02)
        gone = time.monotonic() < until
        check('QEMU ends with the run that was killed', gone)
        if not gone:
            os.kill(pid, signal.SIGKILL)


def main():
    with tempfile.TemporaryDirectory() as folder:
        if shutil.which(GCC):
            sources(folder)
            names(folder)
            tasks(folder)
        else:
            skip('hostile programs', f'no {GCC}')
        messages()
        peer(folder)
        shrinking(folder)
        orphan(folder)
    tap.end()


if __name__ == '__main__':
    main()
