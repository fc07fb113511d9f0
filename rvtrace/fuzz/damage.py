# SPDX-License-Identifier: GPL-2.0-or-later
#
# Small inputs of every kind, and what can be wrong with them

import os
import shutil
import struct
import subprocess

import inputs

SECRET = b'what nobody is to see'
GCC = os.environ.get('CROSS', 'riscv64-linux-gnu-') + 'gcc'
PERIOD = ['--period', '50']
# What files say instead of names
EVIL = (b'\x1b[2J', b'a\nfn=(99) forged\n99 99', b'../../../../etc/passwd',
        b'/etc/passwd', b'<script>alert(1)</script>', b'"],["', b'x' * 65536,
        b'%s%n', b'a;b c', b'\xff\xfe\x80', b'\0', b'')
NUMBERS = (0, 1, 2, 7, 8, 0x7f, 0x80, 0xff, 0xffff, 0x7fffffff, 0x80000000,
           0xffffffff, 0x7fffffffffffffff, 0xffffffffffffffff)
# Debug info that names a file of this machine, as long as its text is
PROGRAM = '''
    .globl _start
    .section .text
    .type _start, @function
_start:
    .file 1 "{file}"
    .rept 400
    .loc 1 1
    addi a0, a0, 1
    .loc 1 2
    addi a1, a1, 1
    .endr
    .size _start, . - _start
'''
SEEDS = os.path.join(os.path.dirname(os.path.realpath(__file__)), 'seeds')


class Samples:
    """
    Files by name: trace, sideband, truth, packets, elf, kallsyms, recording,
    report, shard, index, image, samples, gdb, params
    """

    def __init__(self, tool, synth, folder):
        self.folder = folder
        os.mkdir(folder)
        subprocess.run([synth, '3', '2', '600', folder, 'notes'], check=True)
        for name in 'pcs', 'notes':
            os.unlink(f'{folder}/{name}')
        streams = ['--trace', f'{folder}/trace', '--sideband',
                   f'{folder}/sideband']
        self.secret = f'{folder}/secret'
        with open(self.secret, 'wb') as f:
            f.write(SECRET + b'\n')
            f.write((SECRET + b'\n') * 9)
        self.tool = tool
        self.make_program()
        with open(f'{folder}/sideband', 'ab') as f:
            for hart in range(2):
                for k, name in enumerate((b'sh', b'a\x1b[2J\n;', b'../x')):
                    f.write(inputs.task(0x1000 + k, k, name, 40 * k, hart))
                f.write(inputs.text(b'boot done \x1b[2J', hart))
        with open(f'{folder}/kallsyms', 'w', encoding='ascii') as f:
            f.write(''.join(f'{0x80000000 + 8 * k:016x} T f{k}\n'
                            for k in range(300)))
        for name, args in (
                ('packets', ['decode', '--emit', 'packets']),
                ('report', ['report', '--format', 'tsv']),
                ('recording', ['perf-data', *PERIOD])):
            self.made(name, [args[0], *streams, *args[1:]])
        subprocess.run([tool, 'index', *streams, '--every', '200', '-o',
                        f'{folder}/index'], check=True, capture_output=True)
        self.made('shard', ['report', *streams, '--index', f'{folder}/index',
                            '--shard', '1/2'])
        for name, seed in (('image', 'btf/image'), ('gdb', None),
                           ('samples', 'samples/pipe-False')):
            if seed:
                shutil.copy(f'{SEEDS}/{seed}', f'{folder}/{name}')
        with open(f'{folder}/gdb', 'wb') as f:
            for text in (b'qSupported', b'?', b'g', b'vCont;s:1', b'bs', b'bc',
                         b'm80000000,20', b'Z0,80000000,4', b'c', b'p45',
                         b'p46', b'qRcmd,' + b'bt all'.hex().encode(), b'k'):
                f.write(b'$%s#%02x' % (text, sum(text) & 255))
        with open(f'{folder}/qmp', 'wb') as f:
            f.write(b'{"QMP": {"version": {}, "capabilities": []}}\r\n' +
                    b'{"return": {}}\r\n{"return": []}\r\n' * 3 +
                    b'{"event": "SHUTDOWN", "data": {}}\r\n')

    def made(self, name, args):
        with open(f'{self.folder}/{name}', 'wb') as f:
            subprocess.run([self.tool, *args], check=True, stdout=f,
                           stderr=subprocess.DEVNULL)

    def make_program(self):
        """Symbols and lines where the code of the sideband is"""
        path = f'{self.folder}/elf'
        if not shutil.which(GCC):
            with open(path, 'wb') as f:
                f.write(inputs.elf([(0x80000000, bytes(64))]))
            return
        with open(f'{self.folder}/a.S', 'w', encoding='ascii') as f:
            f.write(PROGRAM.format(file=self.secret))
        subprocess.run([GCC, '-g', '-nostdlib', '-static', '-march=rv64g',
                        '-Wl,-Ttext=0x80000000', '-Wl,--no-relax', '-o', path,
                        f'{self.folder}/a.S'], check=True)
        os.unlink(f'{self.folder}/a.S')

    def names(self):
        return sorted(name for name in os.listdir(self.folder)
                      if name != 'secret')

    def hostile(self, folder):
        """All files, as they are; a folder of programs, too: {name: path}"""
        files = {}
        for name in self.names():
            files[name] = shutil.copy(f'{self.folder}/{name}',
                                      f'{folder}/{name}')
        root = files['sysroot'] = f'{folder}/sysroot'
        os.makedirs(f'{root}/bin')
        shutil.copy(files['elf'], f'{root}/bin/a')
        os.symlink(self.secret, f'{root}/link')
        os.symlink('..', f'{root}/up')
        os.symlink('loop', f'{root}/loop')
        return files

    def damaged(self, r, folder):
        """The same with some of the files damaged"""
        files = self.hostile(folder)
        some = [name for name in files if name != 'sysroot']
        # what is most often read, most often, but not so much of it that
        # nothing is left to go wrong behind it
        # (sorted: a set's order is another one in each run of Python)
        for name in sorted({
                *r.choices(('trace', 'sideband', 'elf', 'kallsyms'),
                           k=r.choice((0, 1, 1, 2))),
                *r.sample([name for name in some if name not in (
                    'trace', 'sideband')], r.choice((1, 3, 8)))}):
            with open(files[name], 'rb') as f:
                data = f.read()
            with open(files[name], 'wb') as f:
                f.write(change(r, data))
        if r.random() < .5:
            shutil.copy(files['elf'], f'{files["sysroot"]}/bin/a')
        return files


def change(r, data):
    """Some bytes are others"""
    data = bytearray(data)
    for _ in range(r.choice((1, 1, 1, 1, 2, 4, 16))):
        way = r.randrange(8)
        at = r.randrange(len(data) + 1)
        size = r.choice((1, 2, 4, 8, 8, 40, 300))
        if way == 0:
            for _ in range(r.choice((1, 3, 20))):
                if data:
                    data[r.randrange(len(data))] ^= 1 << r.randrange(8)
        elif way == 1:
            del data[at:at + size]
        elif way == 2:
            data[at:at] = data[at:at + size] * r.choice((1, 2, 50))
        elif way == 3:
            data[at:at] = r.choice(EVIL)
        elif way == 4:
            text = r.choice(EVIL)
            data[at:at + len(text)] = text
        elif way in (5, 6):
            width = r.choice((1, 2, 4, 4, 8, 8))
            at -= at % width
            number = r.choice(NUMBERS) & (1 << 8 * width) - 1
            data[at:at + width] = struct.pack('<Q', number)[:width]
        elif r.random() < .1:
            del data[at:]
        else:
            data[at:at + size] = r.randbytes(size)
    return bytes(data)
