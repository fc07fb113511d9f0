# SPDX-License-Identifier: GPL-2.0-or-later
#
# How to call each command, from what its help says

import contextlib
import functools
import os
import re
import socket
import subprocess
import threading

NUMBERS = ('0', '1', '2', '3', '100', '-1', '1k', '5M', '4294967296',
           '18446744073709551615', '99999999999999999999', '0x10', '1.5', 'x',
           '')
TEXTS = ('*', 'f*', 'sh', '[', 'a..b', '', '%', '1..2', 'x' * 300, '10s',
         'begin', '3..1', '.', '0')
EVENTS = ('sym:*', 'sym:f*#2', 'mark:x', 'trap:*', 'trap:*#7', 'slower:*>1',
          'slower:f*>2us', 'slowest:*', 'slowest:[*#3', 'sym:', 'x')
# What an option is given, by its name: files of the samples
FILES = {'kallsyms': 'kallsyms', 'elf': 'elf', 'sysroot': 'sysroot',
         'index': 'index', 'truth': 'truth', 'merge': 'shard',
         'object-file': 'elf'}
# Given below, or not at all: others would be written, or waited for
NEVER = ('help', 'help-all', 'help-more', 'output', 'keep', 'trace-out',
         'sideband-out', 'trace', 'sideband', 'listen', 'qmp', 'timeout',
         'packets', 'for', 'samples', 'make-index', 'view', 'batch', 'follow',
         'cont', 'quit', 'jobs', 'shard', 'split', 'max-lag', 'interval',
         'count')
QEMU = '''#!/bin/sh
for word; do
    case $word in
    file,id=*,path=*) cp "{folder}/${{word##*/}}" "${{word##*path=}}" ;;
    esac
done
'''


@functools.lru_cache(None)
def said(tool, *words):
    done = subprocess.run([tool, *words], capture_output=True, timeout=60,
                          check=False)
    return (done.stdout + done.stderr).decode()


def options(tool, name):
    """(name, what its value is or '') of each option"""
    return re.findall(r'^ +(?:-\w, )?--([a-z][a-z-]*)(?:=(\S+))?',
                      said(tool, name, '--help-all'), re.M)


def commands(tool):
    """Those of the help, and which of them nobody knows how to call"""
    names = re.findall(r'^  ([a-z][a-z-]*) +', said(tool, '--help'), re.M)
    return names, [name for name in names if name not in SPECIAL and
                   ('trace', 'FILE') not in options(tool, name)]


class Call:
    """
    words, stdin; out: a folder to be in, output: what it writes, or None; kind
    and format: of the output; growing: that is there before it is whole
    """

    def __init__(self, tool, name, r, files, out):
        self.kind = name
        self.format = None
        self.files = files
        self.out = out
        self.r = r
        self.stdin = b''
        self.growing = False
        self.output = None
        self.sockets = {}
        named = dict(options(tool, name))
        self.words = [name]
        if name in SPECIAL:
            SPECIAL[name](self)
        else:
            self.streams(named)
        self.words += self.some(named)
        if 'output' in named and (r is None or r.random() < .5 or
                                  name in ('uftrace', 'ctf', 'edges', 'index')):
            if name != 'index' and '--list' not in self.words:
                self.output = f'{out}/output'
                self.words += ['-o', self.output]
        if name == 'index' and self.output is None:
            self.words += ['-o', files['index'] if '--list' in self.words
                           else f'{out}/index']

    def streams(self, named):
        """Trace and sideband, or a recording"""
        r, files = self.r, self.files
        if r and r.random() < .15:
            self.words += ['--trace', files[r.choice(('recording',
                                                      'samples'))]]
        else:
            self.words += ['--trace', files['trace']]
            if 'sideband' in named and (not r or r.random() < .95):
                self.words += ['--sideband', files['sideband']]
        if self.kind == 'verify':
            self.words += ['--truth', files['truth']]
        if self.kind in ('script', 'perf-data'):
            self.words += ['--period', '50']
        if self.kind == 'calls':
            self.words += ['--sym', '*']
        if not r or r.random() < .7:
            for option in 'elf', 'sysroot', 'kallsyms':
                if option in named and (not r or r.random() < .6):
                    self.words.append(f'--{option}={files[option]}')

    def some(self, named):
        """A few options more"""
        words, r = [], self.r
        names = [name for name in named if name not in NEVER]
        if not r or not names:
            return words
        for name in r.sample(names, min(len(names), r.choice((0, 0, 0, 1, 2)))):
            value = named[name]
            if not value:
                words.append(f'--{name}')
                continue
            if name in FILES:
                value = self.files[FILES[name]]
            elif '|' in value and r.random() < .8:
                value = r.choice(value.split('|'))
            else:
                value = r.choice(r.choice((NUMBERS, TEXTS)))
            words.append(f'--{name}={value}')
            if name in ('before', 'after'):
                words[-1] = f'--{name}={r.choice(EVENTS)}'
                words.append(f'--window={r.choice(("100", "1k", "10us"))}')
            if name == 'format':
                self.format = value
        return words

    # Commands that read something else

    def diff(self):
        self.words += [self.files['report']] * 2

    def merge(self):
        self.words += [self.files['shard'], '--output',
                       f'report={self.out}/merged']

    def image(self):
        self.words.append(self.files['image'])

    def encode(self):
        self.words += ['--packets', self.files['packets']]

    def run(self):
        qemu = f'{self.out}/qemu'
        with open(qemu, 'w', encoding='ascii') as f:
            f.write(QEMU.format(folder=os.path.dirname(self.files['trace'])))
        os.chmod(qemu, 0o755)
        self.words += ['--view', 'report', '--keep', f'{self.out}/kept', '--',
                       qemu, '-M', 'virt']

    def gdbserver(self):
        with open(self.files['gdb'], 'rb') as f:
            self.stdin = f.read()
        self.words += ['--listen', 'stdio', '--trace', self.files['trace'],
                       '--sideband', self.files['sideband'],
                       '--elf', self.files['elf']]

    def collect(self):
        self.growing = True
        self.sockets = {'t': 'trace', 's': 'sideband'}
        self.words += ['--timeout', '2', '--trace', 'unix:t', '--sideband',
                       'unix:s', '--trace-out', f'{self.out}/trace',
                       '--sideband-out', f'{self.out}/sideband']
        if self.kind == 'live':
            self.words += ['--batch', '--elf', self.files['elf'],
                           '--sysroot', self.files['sysroot']]

    def sample(self):
        self.sockets = {'q': 'qmp'}
        self.words += ['--qmp', 'unix:q', '--for', '1s', '--elf',
                       self.files['elf']]

    @contextlib.contextmanager
    def peers(self):
        """Sockets in the folder that say what a file has, and hang up"""
        listeners = []
        for name, sample in self.sockets.items():
            with open(self.files[sample], 'rb') as f:
                data = f.read()
            listener = socket.socket(socket.AF_UNIX)
            listener.bind(f'{self.out}/{name}')
            listener.listen(1)
            listeners.append(listener)

            def serve(listener=listener, data=data):
                with contextlib.suppress(OSError):
                    connection, _ = listener.accept()
                    with connection:
                        connection.settimeout(20)
                        connection.sendall(data)
                        connection.shutdown(socket.SHUT_WR)
                        while connection.recv(1 << 16):
                            pass
            threading.Thread(target=serve, daemon=True).start()
        try:
            yield
        finally:
            for listener in listeners:
                with contextlib.suppress(OSError):
                    listener.shutdown(socket.SHUT_RDWR)
                listener.close()


SPECIAL = {'diff': Call.diff, 'merge': Call.merge, 'kernel-elf': Call.image,
           'guest-info': Call.image, 'encode': Call.encode, 'run': Call.run,
           'gdbserver': Call.gdbserver, 'listen': Call.collect,
           'live': Call.collect, 'ctr-sample': Call.sample}
