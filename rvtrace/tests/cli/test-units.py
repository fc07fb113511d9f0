#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Bytes of other encoders: test-units.py RVTRACE
#
# One short run, written the way each encoder would write it, by what is published
# about its packets: fields, widths, padding and framing. All of these must decode
# to the same instructions. Speaks TAP.

import json
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile

from checks import check, skip, tap
from inputs import elf

TOOL = os.path.abspath(sys.argv[1])
BASE = 0x80000000
NOP, BACK, JR, RET = 0x13, 0xfe051ee3, 0x00030067, 0x8067
# nop; bnez a0, -4; jr t1; nop; nop; ret
CODE = b''.join(insn.to_bytes(4, 'little')
                for insn in (NOP, BACK, JR, NOP, NOP, RET))
RAN = [BASE + at for at in (0, 4, 0, 4, 0, 4, 8, 12, 16, 20, 0, 16, 20)]
RESULT = ''.join(f'{pc:x}\n' for pc in RAN)
M_MODE, CAUSE, TVAL = 3, 5, 0x1234


class Bits:
    """Fields, from bit 0 on"""

    def __init__(self):
        self.value = self.width = 0

    def put(self, value, width):
        self.value |= (value & (1 << width) - 1) << self.width
        self.width += width
        return self

    def bit(self):
        """The one before the next"""
        return self.value >> (self.width - 1) & 1

    def zeros(self):
        """As bytes, filled up with 0"""
        return self.value.to_bytes((self.width + 7) // 8, 'little')

    def signed(self):
        """As bytes, as few as will do with its sign"""
        value = self.value - (self.bit() << self.width)
        size = 1
        while not -1 << 8 * size - 1 <= value < 1 << 8 * size - 1:
            size += 1
        return value.to_bytes(size, 'little', signed=True)


class Encoder:
    """E-Trace 2.0 for RV64; what others do differently is overridden."""
    iaddress, lsb, privilege, ecause = 64, 0, 2, 6
    mode, ioptions, denable, dloss, doptions = 1, 5, 1, 1, 4
    full = False
    finish = Bits.signed
    options = ['--param=src_bits=0', '--param=return_stack_size=0',
               '--param=bpred_size=0', '--param=cache_size=0',
               '--param=f0s_width=0', '--param=sijump=0',
               '--param=iaddress_lsb=0', '--param=privilege_width=2']

    def __init__(self):
        self.last = 0
        self.packets = []

    def add(self, bits):
        self.packets.append(type(self).finish(bits))

    def address(self, bits, value):
        bits.put(value >> self.lsb, self.iaddress - self.lsb)

    def level(self, bits):
        bits.put(M_MODE, self.privilege)

    def modes(self, bits):
        bits.put(4 if self.full else 0, self.ioptions)

    def support(self, qual=0):
        bits = Bits().put(3, 2).put(3, 2).put(1, 1).put(0, self.mode)
        bits.put(qual, 2)
        self.modes(bits)
        self.add(bits.put(0, self.denable).put(0, self.dloss)
                 .put(0, self.doptions))

    def start(self, address):
        bits = Bits().put(3, 2).put(0, 2).put(1, 1)
        self.level(bits)
        self.address(bits, address)
        self.last = address
        self.add(bits)

    def trap(self, handler):
        bits = Bits().put(3, 2).put(1, 2).put(1, 1)
        self.level(bits)
        bits.put(CAUSE, self.ecause).put(0, 1).put(1, 1)
        self.address(bits, handler)
        self.last = handler
        self.add(bits.put(TVAL, self.iaddress))

    def tail(self, bits, jumped):
        """notify, updiscon, irreport: none of them, as the bit before"""
        bits.put(-bits.bit(), 3)

    def to(self, address, branches=0, taken=0, jumped=True):
        if branches:
            width = next(w for w in (1, 3, 7, 15, 31) if branches <= w)
            bits = Bits().put(1, 2).put(branches, 5).put(taken, width)
        else:
            bits = Bits().put(2, 2)
        self.address(bits, address if self.full else address - self.last)
        self.last = address
        self.tail(bits, jumped)
        self.add(bits)

    def wrap(self):
        return b''.join(bytes([len(packet)]) + packet
                        for packet in self.packets)

    def run(self):
        """What RAN says"""
        self.support()
        self.start(BASE)
        self.to(BASE + 12, 3, 0b100)
        self.to(BASE)
        self.trap(BASE + 16)
        self.to(BASE + 20, jumped=False)
        self.support(qual=1)
        return self.wrap()


class Wide(Encoder):
    """riscv-etrace-lib's own parameters: 32 bits for all modes"""
    mode, ioptions, doptions = 32, 32, 32
    finish = Bits.zeros
    options = Encoder.options + [
        '--param=padding=zero', '--param=encoder_mode_width=32',
        '--param=ioptions_width=32', '--param=doptions_width=32']


class Narrow(Encoder):
    """Addresses of an odd width, and 64 bits of cause"""
    iaddress, lsb, privilege, ecause = 55, 1, 1, 64
    options = Encoder.options + [
        '--param=iaddress_width=55', '--param=iaddress_lsb=1',
        '--param=privilege_width=1', '--param=ecause_width=64']


class Short(Encoder):
    """A support packet without anything of data trace, and other widths"""
    mode, ioptions, denable, dloss, doptions = 3, 9, 0, 0, 0
    finish = Bits.zeros
    options = Encoder.options + [
        '--param=padding=zero', '--param=encoder_mode_width=3',
        '--param=ioptions_width=9', '--param=denable_width=0',
        '--param=dloss_width=0', '--param=doptions_width=0']


class Raw(Encoder):
    """The reference flow's framing: length 4:0, type 6:5"""
    options = Encoder.options + ['--param=framing=raw']

    def wrap(self):
        return b''.join(bytes([len(packet) | 2 << 5]) + packet
                        for packet in self.packets)


class RvTracer(Encoder):
    ecause = 64
    denable = dloss = doptions = 0
    ioptions = 7
    finish = Bits.zeros
    options = ['--unit=rv_tracer']
    times = False

    def address(self, bits, value):
        size = 1
        while not -1 << 8 * size <= value < 1 << 8 * size:
            size += 1
        bits.put(value, 8 * size + 1)

    def modes(self, bits):
        bits.put(1 << (5 if self.full else 6), self.ioptions)

    def tail(self, bits, jumped):
        bits.put(0, 1).put(jumped, 1).put(jumped, 1)

    def wrap(self):
        out = b''
        for number, packet in enumerate(self.packets):
            record = bytes([0x80 | len(packet)])
            record += (1000 * number * self.times).to_bytes(8, 'little')
            out += (record + packet).ljust(40, b'\0')[::-1]
        return out


class RvTracerFull(RvTracer):
    full = True


class RvTracerTimes(RvTracer):
    times = True


class Esp32(Encoder):
    iaddress, lsb, privilege, ecause = 32, 1, 1, 5
    mode = ioptions = denable = dloss = doptions = 0
    full = True
    finish = Bits.zeros
    options = ['--unit=esp32c6']

    def modes(self, bits):
        pass

    def trap(self, handler):
        bits = Bits().put(3, 2).put(1, 2).put(1, 1)
        self.level(bits)
        bits.put(CAUSE, self.ecause).put(0, 1)
        self.address(bits, handler)
        self.last = handler
        self.add(bits.put(TVAL, self.iaddress))

    def tail(self, bits, jumped):
        bits.put(-bits.bit(), 2)

    def wrap(self):
        return b''.join(
            bytes([len(packet) + 3]) +
            (0xfffd + number & 0xffff).to_bytes(2, 'little') + packet +
            b'\0' * (number % 3)
            for number, packet in enumerate(self.packets))


ALL = {'2.0': Encoder, 'wide': Wide, 'narrow': Narrow, 'short': Short,
       'raw': Raw, 'rv_tracer': RvTracer,
       'rv_tracer, full addresses': RvTracerFull,
       'rv_tracer, with times': RvTracerTimes, 'esp32c6': Esp32}


def elf32(address, code):
    """An ELF file for RV32 with one segment"""
    return struct.pack('<16sHHIIIIIHHHHHH', b'\x7fELF\1\1\1', 2, 243, 1, 0, 52,
                       0, 0, 52, 32, 1, 0, 0, 0) + \
        struct.pack('<8I', 1, 84, address, address, len(code), len(code), 5,
                    4) + code


class Files:
    def __init__(self, folder):
        self.folder = folder
        self.elf = self.write('elf', elf([(BASE, CODE)]))
        self.elf32 = self.write('elf32', elf32(BASE, CODE))

    def write(self, name, data):
        path = f'{self.folder}/{name}'
        with open(path, 'wb') as file:
            file.write(data)
        return path

    def tool(self, command, *options):
        done = subprocess.run([TOOL, command, *options], capture_output=True,
                              timeout=120, check=False)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def decode(self, trace, options, *more):
        path = self.write('trace', trace)
        program = self.elf32 if '--unit=esp32c6' in options else self.elf
        return self.tool('decode', '--trace', path, '--elf', program, *options,
                         *(more or ['--emit=pc']))


def same_run(files):
    for name, kind in ALL.items():
        status, out, said = files.decode(kind().run(), kind.options)
        said = [line for line in said.splitlines()
                if 'where a block ends' not in line]
        check(f'{name}: every instruction', (status, out, said) ==
              (0, RESULT, []), (status, out.split(), said))
    status, out, said = files.decode(Esp32().run(), Esp32.options,
                                     '--emit=packets')
    check('esp32c6: cause and value of the trap', status == 0 and
          f'ecause={CAUSE} ' in out and f'tvalepc=0x{TVAL:x}' in out, out)
    status, out, said = files.decode(RvTracer().run(), RvTracer.options,
                                     '--emit=packets')
    check('rv_tracer: cause and value of the trap', status == 0 and
          f'ecause={CAUSE} ' in out and f'tval=0x{TVAL:x}' in out, out)
    status, out, said = files.decode(RvTracerTimes().run(), RvTracer.options,
                                     '--emit=packets')
    check('rv_tracer: time of a packet', ' ts=0x7d0' in out, out)
    trace = files.write('stat', RvTracer().run())
    status, out, said = files.tool('stat', '--trace', trace, '--elf',
                                   files.elf, *RvTracer.options)
    check('other commands take such a trace, too', status == 0 and
          ['instructions', '13'] in map(str.split, out.splitlines()),
          (status, out, said))


class Repeating(RvTracer):
    """Its start packets repeat a branch whose direction was sent."""

    def run(self):
        self.support()
        self.start(BASE)
        self.to(BASE + 4, 2, 0b00, jumped=False)
        self.start(BASE + 4)
        self.to(BASE + 12, 1, 0b1)
        self.to(BASE)
        self.trap(BASE + 16)
        self.to(BASE + 20, jumped=False)
        self.support(qual=1)
        return self.wrap()


class Ending(RvTracer):
    """Its addresses are those of the last instruction of a block."""
    CODE = b''.join(insn.to_bytes(4, 'little') for insn in (
        0x010000ef,             # jal ra, 0x10
        NOP, NOP,
        0x0000006f,             # j .
        NOP, JR, NOP, RET))
    RAN = [BASE + at for at in (0, 16, 20, 28, 4, 8, 12)]

    def run(self):
        self.support()
        self.start(BASE)
        self.to(BASE + 28)
        self.to(BASE + 12)
        self.support(qual=1)
        return self.wrap()


class Uncounted(RvTracer):
    """A branch map and an address, without the number of branches"""

    def run(self):
        self.support()
        self.start(BASE)
        bits = Bits().put(1, 2).put(0, 5).put(0b100, 31)
        self.address(bits, 12)
        self.tail(bits, True)
        self.add(bits)
        self.start(BASE + 16)
        self.to(BASE + 20, jumped=False)
        return self.wrap()


def defects(files):
    """What an encoder gets wrong is reported, and nothing is made up for it."""
    status, out, said = files.decode(Repeating().run(), Repeating.options)
    check('a start packet that repeats an address', (status, out) ==
          (0, RESULT) and 'warning' not in said, (status, out.split(), said))
    status, out, said = files.decode(Uncounted().run(), Uncounted.options)
    check('a branch map of unknown length is malformed', status == 0 and
          'malformed' in said and
          out == ''.join(f'{BASE + at:x}\n' for at in (0, 16, 20)), (out, said))
    check('... where it is in the file', 'at byte 80:' in said, said)
    program = files.write('ending', elf([(BASE, Ending.CODE)]))
    trace = files.write('trace', Ending().run())
    status, out, said = files.tool('decode', '--trace', trace, '--elf', program,
                                   '--emit=pc', *Ending.options)
    check('the beginning of a block behind a return is filled in', status == 0
          and out == ''.join(f'{pc:x}\n' for pc in Ending.RAN), (out, said))
    check('... and both kinds are counted', 'behind 1 returns' in said and
          'behind 1 other jumps it may' in said, said)
    esp = Esp32()
    esp.run()
    trace = esp.wrap()
    # without the third packet; none of the first two has a filler behind it
    first = trace[0] + trace[trace[0]]
    third = first + trace[first + 1] + 1
    lost = trace[:first] + trace[third:]
    status, out, said = files.decode(lost, Esp32.options)
    check('esp32c6: a packet that is missing is noticed', 'lost' in said,
          (status, out, said))
    status, out, said = files.decode(RvTracer().run()[:-8], RvTracer.options)
    check('rv_tracer: half a record', 'bytes that are no packets' in said and
          '(32 bytes skipped)' in said, said)
    status, out, said = files.decode(Encoder().run() + b'\x1f',
                                     Wide.options)
    check('half a packet', 'no packets' in said, said)


class Looping(RvTracer):
    """Calls, with start packets inside and outside the called function"""
    SOURCE = """
        .option norvc
        .option norelax
        .globl _start
        .type _start, @function
_start: jal f
        nop
        j _start
        nop
        .size _start, . - _start
        .type f, @function
f:      nop
        nop
        ret
        .size f, . - f
"""
    ROUNDS = 40

    def run(self):
        self.support()
        self.start(BASE)
        for number in range(self.ROUNDS):
            if number % 3 == 0:
                self.start(BASE + 20)
            self.to(BASE + 8)
            if number % 5 == 0:
                self.start(BASE + 16)
        return self.wrap()


def index(files):
    """Decoding that begins in the middle fills in what it does from the start"""
    compiler = shutil.which('riscv64-linux-gnu-gcc')
    if not compiler:
        skip('decoding from the middle', 'no compiler for RISC-V')
        return
    source = files.write('looping.S', Looping.SOURCE.encode())
    program = f'{files.folder}/looping'
    subprocess.run([compiler, '-nostdlib', '-static', '-march=rv64imac',
                    '-mabi=lp64', f'-Wl,-Ttext={BASE:#x}', '-o', program,
                    source], check=True)
    given = ['--trace', files.write('looping.trace', Looping().run()), '--elf',
             program, *Looping.options]
    file = f'{files.folder}/looping.rvidx'
    status, _, said = files.tool('index', *given, '--every', '1', '-o', file)
    check('an index', status == 0, said)
    whole = files.tool('decode', '--emit=pc', *given)[1]
    check('every round is complete', whole.count(f'{BASE + 4:x}\n') ==
          Looping.ROUNDS, whole)
    wrong = []
    for at in range(0, 6 * Looping.ROUNDS, 7):
        some = ['folded', *given, f'--from={at}']
        want = files.tool(*some)
        got = files.tool(*some, '--index', file)
        if want[:2] != got[:2] or want[0]:
            wrong.append((at, want, got))
    check('decoding from the middle', not wrong, wrong[:2])


def says(files, name, options, wanted, trace=None, status=2):
    got, out, said = files.decode(Encoder().run() if trace is None else trace,
                                  options)
    check(name, got == status and wanted in said and
          (status == 0 or not out), (got, out, said))


def mistakes(files):
    says(files, 'an unknown encoder', ['--unit=x'],
         '--unit x: not an encoder that is known; these are: esp32c6, rv_tr')
    for param, wanted in (
            ('framing=x', 'must be one of encap, raw, esp32, rv_tracer'),
            ('padding=x', 'must be one of sign, zero'),
            ('ioptions_width=33', 'must be a number from 0 to 32'),
            ('notify=2', 'must be a number from 0 to 1'),
            ('privilege_width=0', 'privilege_width is 1 to 3'),
            ('ecause_width=65', 'ecause_width is 1 to 64'),
            ('iaddress_width=65', 'iaddress_width 1 to 64'),
            ('iaddress_width=1', 'more than iaddress_lsb'),
            ('nonsense=1', 'not the name of a parameter')):
        says(files, f'--param {param}', [f'--param={param}'], wanted)
    says(files, 'a trap packet that is too long',
         ['--param=ecause_width=64', '--param=time_width=64'],
         'trap packets of these widths are longer than 31 bytes')
    says(files, 'srcID where there is none',
         ['--param=framing=raw', '--param=src_bits=8'], 'it has no srcID')
    says(files, '--unit with a sideband',
         ['--unit=rv_tracer', '--sideband', '/dev/null'],
         '--unit is for a trace whose encoder has no sideband')
    says(files, '--unit with a RAM sink', ['--unit=rv_tracer', '--ram'],
         'not from a RAM sink')


def nexus():
    """N-Trace: messages of a byte TCODE and bytes of data, the last MSEO 3"""
    messages = b''
    for code in (9, 4, 28, 3, 27, 4, 28, 29, 33):
        messages += bytes([code << 2, 0x14 << 2, 0x2a << 2 | 1, 5 << 2 | 3])
    return messages


def old_pulp(count=9):
    """A byte of bits, and the bits"""
    return b''.join(bytes([42]) + (0x11 * n).to_bytes(6, 'little')
                    for n in range(1, count + 1))


def foreign(files):
    for name, trace in (('N-Trace', nexus()), ("PULP's trace deb", old_pulp()),
                        ('gem5', b'gem5' + bytes(range(64)))):
        says(files, f'{name} is recognised', [], name, trace)
    good = True
    for seed in range(200):
        chance = random.Random(seed)
        kind = chance.choice(list(ALL.values()))
        trace = bytearray(kind().run())
        for _ in range(chance.randrange(1, 12)):
            trace[chance.randrange(len(trace))] = chance.randrange(256)
        status, out, said = files.decode(bytes(trace), kind.options)
        if status not in (0, 2) or (status == 0 and not out and said):
            good = False
            break
    check('damaged bytes: no crash, and no success without instructions', good,
          (seed, status, out, said) if not good else '')


def params_files(files):
    wanted = ['iaddress_width=64', 'iaddress_lsb=1', 'privilege_width=2',
              'ecause_width=5', 'time_width=16', 'context_width=20',
              'call_counter_size=3', 'return_stack_size=4', 'bpred_size=9',
              'cache_size=6', 'f0s_width=1', 'src_bits=8', 'ts_bytes=2',
              'sijump=0', 'ioptions=0']
    trace = files.write('one', bytes([1, 0, 2]))
    for form in 'csv', 'toml', 'scf', 'json':
        given = [f'--param={param}' for param in wanted
                 if form in ('csv', 'json') or
                 not param.startswith(('src_bits', 'ts_bytes'))]
        status, text, said = files.tool('params', f'--format={form}', *given)
        path = files.write(form, text.encode())
        read = files.tool('decode', '--trace', trace, '--emit=packets',
                          f'--params={path}')
        direct = files.tool('decode', '--trace', trace, '--emit=packets',
                            *given)
        check(f'--params reads {form}', status == 0 and read[0] == 0 and
              read == direct, (text, read, direct))
    lines = ''.join(f'.sup.{name}_width_p,{width}\n' for name, width in (
        ('enc_mode', 32), ('ioptions', 32), ('denable', 1), ('dloss', 1),
        ('doptions', 32)))
    itrace = {'bpred_size': 0, 'cache_size': 0, 'call_counter_size': 0,
              'return_stack_size': 0, 'context_width': 7, 'nocontext': 1,
              'time_width': 5, 'notime': 1, 'ecause_width': 6, 'f0s_width': 0,
              'iaddress_lsb': 0, 'iaddress_width': 64, 'privilege_width': 2,
              'sijump': 0, 'retires': 1, 'itype_width': 3, 'blocks': 1}
    lines += ''.join(f'.itrace.{name}_p,{value}\n'
                     for name, value in itrace.items())
    lines = '.packet.srcid_bytes_p,0\n.packet.type_width_p,0\n' + lines
    path = files.write('lib.csv', lines.encode())
    status, out, said = files.decode(
        Wide().run(), [f'--params={path}', '--param=padding=zero'])
    check('the widths of support packets in a file of riscv-etrace-lib',
          (status, out, said) == (0, RESULT, ''), (status, out, said))
    for text, wanted in (('what is this\n', ':1: not a parameter'),
                         ('# none\nx_p=1\n', ':2: x=1: not the name of'),
                         ('{"src_bits": [1]}', 'not an object'),
                         ('{"src_bits": "x"}', 'must be a number'),
                         ('{' * 999, 'not an object'),
                         ('a\0b', 'it is binary'),
                         ('.packet.srcid_bytes_p,3\n', ':1: src_bits')):
        path = files.write('bad', text.encode())
        says(files, f'--params of {text[:20]!r}', [f'--params={path}'], wanted)
    says(files, '--params of a file that is not there', ['--params=/none'],
         'No such file')
    check('json stays json', json.loads(files.tool(
        'params', '--format=json', '--param=src_bits=8')[1])['src_bits'] == 8)


def main():
    with tempfile.TemporaryDirectory() as folder:
        files = Files(folder)
        same_run(files)
        defects(files)
        index(files)
        mistakes(files)
        foreign(files)
        params_files(files)
    tap.end()


if __name__ == '__main__':
    main()
