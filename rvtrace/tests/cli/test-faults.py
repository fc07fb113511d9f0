#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# No command destroys a file: each that writes, with each fault
#
#   test-faults.py RVTRACE SYNTH-WRITE
#
# The commands are those that --help lists, and the views those that decode
# --output names. For a new one that is neither, add a recipe: how to have it
# write a file. Every check prints a TAP line; the script fails if one does.

import contextlib
import hashlib
import os
import re
import resource
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading

from checks import check, tap

TOOL = os.path.abspath(sys.argv[1])
OLD = b'what was there before\n' * 99


class Recipe:
    """How to have a command write a file"""
    def __init__(self, name, args, inputs=(), server=None, succeeds=True,
                 growing=False, known=False):
        self.name = name
        self.args = args            # of the path that is written
        self.inputs = inputs        # names of options' files
        self.server = server        # a context while it runs
        self.succeeds = succeeds    # with what it is given here
        self.growing = growing      # its file may be there before it is whole
        self.known = known          # the same as another one, in the main


@contextlib.contextmanager
def peers(folder, **contents):
    """Sockets that say something and hang up"""
    sockets = []
    for name, text in contents.items():
        path = f'{folder}/{name}.sock'
        if os.path.exists(path):
            os.unlink(path)
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(path)
        listener.listen(1)
        sockets.append(listener)

        def serve(listener=listener, text=text):
            with contextlib.suppress(OSError):
                connection, _ = listener.accept()
                with connection:
                    connection.sendall(text)
        threading.Thread(target=serve, daemon=True).start()
    yield
    for listener in sockets:
        # close() alone does not wake up who waits in accept()
        with contextlib.suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        listener.close()


QEMU = '''#!{python}
import re, shutil, sys
for path in re.findall(r'file,id=[^,]*,path=(\\S*)', ' '.join(sys.argv)):
    shutil.copy('{one}/' + path.split('/')[-1], path)
'''


def words(*args):
    done = subprocess.run([TOOL, *args], capture_output=True, timeout=60,
                          check=False)
    return (done.stdout + done.stderr).decode()


class Matrix:
    def __init__(self, folder, synth):
        self.folder = folder
        self.one = f'{folder}/one'
        os.mkdir(self.one)
        subprocess.run([synth, '1', '1', '3000', self.one], check=True)
        self.qemu = f'{folder}/qemu'
        with open(self.qemu, 'w', encoding='ascii') as f:
            f.write(QEMU.format(python=sys.executable, one=self.one))
        os.chmod(self.qemu, 0o755)
        self.streams = ['--trace', f'{self.one}/trace', '--sideband',
                        f'{self.one}/sideband']
        self.made('packets', 'decode', *self.streams, '--emit', 'packets')
        self.made('report', 'report', *self.streams, '--format', 'tsv')
        subprocess.run([TOOL, 'index', *self.streams, '--every', '500'],
                       check=True, stderr=subprocess.DEVNULL)
        self.made('shard', 'report', *self.streams, '--shard', '1/1')
        os.unlink(f'{self.one}/trace.rvidx')
        self.made('image', 'report', '--help')
        self.out = f'{folder}/out'
        os.mkdir(self.out)
        os.mkdir(f'{folder}/tmp')

    def made(self, name, *args):
        with open(f'{self.one}/{name}', 'wb') as f:
            subprocess.run([TOOL, *args], check=True, stdout=f,
                           stderr=subprocess.DEVNULL)

    def recipes(self):
        """Those of all commands, and names of commands that have none"""
        listed = re.findall(r'^  ([a-z][a-z-]*) +', words('--help'), re.M)
        kinds = re.search(r'where KIND is (.*)',
                          words('decode', *self.streams, '-o', '?'))
        kinds = re.split(', | or ', kinds[1])
        one, streams = self.one, self.streams
        both = (f'{one}/trace', f'{one}/sideband')
        truth = ['--truth', f'{one}/truth']
        # of what ran, no functions are known
        unknown = ('annotate', 'lcov', 'coverage', 'pgo', 'pgo-llvm',
                   'pgo-bolt', 'pgo-gcov')
        more = {'pgo': ['--format', 'llvm'], 'verify': truth,
                'calls': ['--sym', '*'],
                'script': ['--period', '100'], 'perf-data': ['--period', '100']}
        sockets = ['--timeout', '5', '--trace', f'unix:{self.folder}/t.sock',
                   '--sideband', f'unix:{self.folder}/s.sock']

        def sender():
            with open(both[0], 'rb') as t, open(both[1], 'rb') as s:
                return peers(self.folder, t=t.read(), s=s.read())

        def collecting(name, *options):
            return Recipe(name, lambda out: [
                name, *sockets, *options, '--trace-out', out, '--sideband-out',
                f'{self.folder}/tmp/side'], server=sender, growing=True)

        special = [
            Recipe('encode', lambda out: ['encode', '-p', f'{one}/packets',
                                          '-o', out], (f'{one}/packets',)),
            Recipe('convert', lambda out: ['convert', *streams, '--to', 'raw',
                                           '-o', out], both),
            Recipe('kernel-elf', lambda out: [
                'kernel-elf', f'{one}/image', '-o', out], succeeds=False),
            Recipe('index', lambda out: ['index', *streams, '-o', out], both),
            Recipe('merge', lambda out: ['merge', f'{one}/shard', '-o',
                                         f'report={out}'],
                   (f'{one}/shard', *both)),
            Recipe('run', lambda out: ['run', '--view', f'report={out}', '--',
                                       self.qemu, '-M', 'virt']),
            Recipe('ctr-sample', lambda out: [
                'ctr-sample', '--qmp', f'unix:{self.folder}/none', '--keep',
                out], succeeds=False),
            collecting('listen'),
            collecting('live', '--batch'),
        ]
        known = {recipe.name.split()[0] for recipe in special} | {'decode'}
        for kind in kinds:
            special.append(Recipe(f'decode -o {kind}', lambda out, kind=kind: [
                'decode', *streams, *truth, *more.get(kind, []), '-o',
                f'{kind}={out}'], both, succeeds=kind not in unknown,
                known=True))
        other = []
        for name in listed:
            described = words(name, '--help-all')
            if name in known:
                continue
            if not re.search('--(output|keep|[a-z]*-out)', described):
                known.add(name)
            elif '--trace=' in described and '--output=' in described:
                special.append(Recipe(name, lambda out, name=name: [
                    name, *streams, *more.get(name, []), '-o', out],
                    both, succeeds=name not in unknown))
            else:
                other.append(name)
        return special, other

    def run(self, recipe, path, limit=None, action=signal.SIG_IGN):
        def prepare():
            signal.signal(signal.SIGXFSZ, action)
            if limit is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        with recipe.server() if recipe.server else contextlib.nullcontext():
            return subprocess.run(
                [TOOL, *recipe.args(path)], capture_output=True, timeout=120,
                check=False, stdin=subprocess.DEVNULL, preexec_fn=prepare,
                restore_signals=False,
                env={**os.environ, 'TMPDIR': f'{self.folder}/tmp'})

    def fresh(self):
        shutil.rmtree(self.out)
        os.mkdir(self.out)
        path = f'{self.out}/file'
        with open(path, 'wb') as f:
            f.write(OLD)
        os.chmod(path, 0o640)
        return path

    def left_alone(self):
        """Only what was there is there, as it was"""
        with open(f'{self.out}/file', 'rb') as f:
            same = f.read() == OLD
        return same and os.listdir(self.out) == ['file']

    def fails(self, name, recipe, path, pattern='', **how):
        done = self.run(recipe, path, **how)
        text = done.stderr.decode()
        check(name, done.returncode == 2 and re.search(pattern, text) and
              self.left_alone(), f'{done.returncode}: {text}'
              f'{os.listdir(self.out)}')

    def inputs_stay(self, recipe):
        inputs, ways = recipe.inputs, ('itself', 'a link', 'another link')
        if recipe.known:
            inputs, ways = inputs[:1], ways[1:2]
        for number, path in enumerate(inputs):
            with open(path, 'rb') as f:
                want = hashlib.sha256(f.read()).digest()
            for way in ways:
                to = f'{self.one}/link'
                with contextlib.suppress(OSError):
                    os.unlink(to)
                if way == 'itself':
                    to = path
                elif way == 'a link':
                    os.symlink(path, to)
                else:
                    os.link(path, to)
                done = self.run(recipe, to)
                with open(path, 'rb') as f:
                    same = hashlib.sha256(f.read()).digest() == want
                text = done.stderr.decode()
                check(f'{recipe.name}: input {number} is its output, by {way}',
                      done.returncode == 2 and same and
                      re.search('choose another', text) and
                      not glob_left(self.one), f'{done.returncode} {text}')
        with contextlib.suppress(OSError):
            os.unlink(f'{self.one}/link')

    def nothing_decoded(self, recipe, path):
        """Of a trace that is none, no empty result replaces a good one"""
        noise = f'{self.folder}/noise'
        with open(noise, 'wb') as f:
            f.write(bytes(range(1, 32)) * 40)
        trace = f'{self.one}/trace'
        if trace in recipe.args(path):
            self.fails(f'{recipe.name}: nothing is decoded', Recipe(
                recipe.name, lambda out: [noise if word == trace else word
                                          for word in recipe.args(out)]),
                       path, 'nothing was decoded')

    def faults(self, recipe):
        name = recipe.name
        path = self.fresh()
        self.inputs_stay(recipe)
        if not recipe.succeeds:
            self.fails(f'{name} fails', recipe, path)
            return
        if name != 'convert':
            self.nothing_decoded(recipe, path)
        self.fails(f'{name}: the disk is full', recipe, path,
                   'File too large|no room for', limit=16)
        if recipe.known:
            return
        done = self.run(recipe, path, limit=16, action=signal.SIG_DFL)
        check(f'{name} is killed as it writes',
              done.returncode != 0 and (self.left_alone() or recipe.growing),
              f'{done.returncode} {os.listdir(self.out)}')
        path = self.fresh()
        os.chmod(path, 0o440)
        if os.geteuid():
            self.fails(f'{name}: no right to write', recipe, path,
                       'Permission denied')
        os.chmod(path, 0o640)
        # A full device is no file, and stays what it is.
        done = self.run(recipe, '/dev/full')
        check(f'{name}: /dev/full', done.returncode == 2 and
              stat.S_ISCHR(os.stat('/dev/full').st_mode), done.stderr.decode())
        self.works(recipe, path)

    def works(self, recipe, path):
        link = f'{self.out}/link'
        os.symlink('file', link)
        done = self.run(recipe, link)
        with open(path, 'rb') as f:
            wrote = f.read()
        check(f'{recipe.name} replaces a file', done.returncode == 0 and
              wrote != OLD and os.path.islink(link) and
              stat.S_IMODE(os.stat(path).st_mode) == 0o640 and
              sorted(os.listdir(self.out)) == ['file', 'link'],
              f'{done.returncode} {done.stderr.decode()}'
              f'{os.listdir(self.out)}')
        if recipe.name == 'live':
            return      # it reads what it writes
        fifo = f'{self.out}/fifo'
        os.mkfifo(fifo)
        got = []

        def read():
            with open(fifo, 'rb') as f:
                got.append(f.read())
        reader = threading.Thread(target=read, daemon=True)
        reader.start()
        done = self.run(recipe, fifo)
        reader.join(10)
        check(f'{recipe.name} writes to a FIFO', done.returncode == 0 and
              got and len(got[0]) > 0 and
              stat.S_ISFIFO(os.stat(fifo).st_mode),
              f'{done.returncode} {done.stderr.decode()}')
        done = self.run(recipe, '/dev/stdout')
        check(f'{recipe.name} writes to standard output',
              done.returncode == 0 and (
                  recipe.growing or done.stdout == wrote == got[0]),
              f'{done.returncode} {done.stderr.decode()}')


def glob_left(folder):
    return [name for name in os.listdir(folder) if name.startswith('.')]


def others(matrix):
    """What the loop does not see"""
    folder = f'{matrix.out}/folder'
    matrix.fresh()
    for name in 'uftrace', 'ctf', 'edges':
        args = [name, *matrix.streams, '-o', folder]
        done = matrix.run(Recipe(name, lambda out, args=args: args), '',
                          limit=16)
        check(f'{name}: half a folder is removed', done.returncode == 2 and
              not os.path.exists(folder), done.stderr.decode())
    done = matrix.run(Recipe('decode', lambda out: [
        'decode', *matrix.streams, '-o', f'report={out}', '-o',
        f'folded={matrix.out}/../out/file']), f'{matrix.out}/file')
    check('a file cannot be two outputs', done.returncode == 2 and
          b'written twice' in done.stderr and matrix.left_alone(),
          done.stderr.decode())
    with open(f'{matrix.one}/trace', 'rb+') as f:
        done = subprocess.run([TOOL, 'report', *matrix.streams], stdout=f,
                              stderr=subprocess.PIPE, check=False)
    check('standard output is an input', done.returncode == 2 and
          b'standard output' in done.stderr, done.stderr.decode())
    kept = f'{matrix.folder}/kept'
    keeping = Recipe('run', lambda out: ['run', '--keep', kept, '--view',
                                         f'stat={out}', '--', matrix.qemu,
                                         '-M', 'virt'])
    matrix.fresh()
    done = matrix.run(keeping, f'{matrix.out}/new')
    check('run --keep', done.returncode == 0 and
          sorted(os.listdir(kept)) == ['run.ini', 'sideband', 'trace'],
          done.stderr.decode())
    os.unlink(f'{matrix.out}/new')
    with open(f'{kept}/trace', 'wb') as f:
        f.write(OLD)
    matrix.fails('run --keep does not overwrite', keeping,
                 f'{matrix.out}/file', 'choose another folder')
    with open(f'{kept}/trace', 'rb') as f:
        check('what was kept is as it was', f.read() == OLD)


def main():
    with tempfile.TemporaryDirectory() as folder:
        matrix = Matrix(folder, os.path.abspath(sys.argv[2]))
        recipes, other = matrix.recipes()
        check('every command that writes has a recipe', not other, other)
        check('there are some', len(recipes) > 30, len(recipes))
        for recipe in recipes:
            if recipe.name.split()[-1] not in ('uftrace', 'ctf', 'edges'):
                matrix.faults(recipe)
        others(matrix)
    tap.end()


if __name__ == '__main__':
    main()
