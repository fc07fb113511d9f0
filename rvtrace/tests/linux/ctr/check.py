#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# check.py NUMBER IMAGE BUSYBOX DIR...
#
# Control transfer records of a running Linux against the code in its memory.
# IMAGE is the kernel as it was loaded, BUSYBOX the only program that ran,
# each DIR what guest.py left. Speaks TAP; NUMBER tests were before these.
#
# Every entry alone: the instruction at its source is one of its type and can
# go to its target, calls go to functions, returns to where calls return to.
# Entries together: with nothing filtered, the code from each target to the
# next source has no other transfer in it, so that nothing is missing and
# nothing is too much. Then it is tried whether these checks notice entries
# that are wrong.

import bisect
import collections
import os
import random
import re
import struct
import sys

import insn as rv
from insn import Insn
from tap import Tap

U, S, M = 1, 2, 4
RASEMU, STE, NTBREN = 1 << 7, 1 << 8, 1 << 36
FILTERS = 0xfffe << 32
VALID = 1
ENTRIES = 256
FROZEN = 1 << 31
FIRMWARE = range(0x80000000, 0x80200000)
# the longest stretch of code without transfers that is believed
STRAIGHT = 4096

Entry = collections.namedtuple('Entry', 'source target type data insn')


def read(*path):
    with open(os.path.join(*path), 'rb') as file:
        return file.read()


class Memory:
    """The code that ran, from outside the guest, by virtual address."""

    def __init__(self):
        self.pieces = []

    def add(self, start, data):
        self.pieces.append((start, data))

    def half(self, pc):
        for start, data in self.pieces:
            if start <= pc <= start + len(data) - 2:
                return struct.unpack_from('<H', data, pc - start)[0]
        return None

    def insn(self, pc):
        """The bits of an instruction, None where nothing is known."""
        low = self.half(pc)
        if low is None or low & 3 != 3:
            return low
        high = self.half(pc + 2)
        return None if high is None else low | high << 16


class Symbols:
    def __init__(self, text):
        found = []
        for line in text.splitlines():
            address, kind, name = line.split(None, 2)
            if kind in 'tTwW' and not name.startswith(('.L', '$')):
                found.append((int(address, 16), name.replace('\t', ' ')))
        found.sort()
        self.addresses = [address for address, _ in found]
        self.names = [name for _, name in found]
        self.starts = set(self.addresses)
        self.address = {name: address for address, name in found}

    def name(self, pc):
        at = bisect.bisect_right(self.addresses, pc) - 1
        if at < 0 or pc < 1 << 63:
            return f'{pc:#x}'
        return f'{self.names[at]}+{pc - self.addresses[at]:#x}'

    def same_function(self, a, b):
        return bisect.bisect_right(self.addresses, a) == \
            bisect.bisect_right(self.addresses, b)


class Run:
    """One run of the guest: its code, its symbols, its phases."""

    def __init__(self, folder, busybox):
        self.folder = folder
        parts = re.split(r'^section (\w+)\n',
                         read(folder, 'guest.txt').decode(), flags=re.M)
        phases = parts[0]
        sections = dict(zip(parts[1::2], parts[2::2]))
        self.symbols = Symbols(sections['kallsyms'])
        self.cpuinfo = sections['cpuinfo']
        self.memory = Memory()
        self.kernel_at = self.symbols.address['_start']
        self.kernel = read(folder, 'kernel.bin')
        self.memory.add(self.kernel_at, self.kernel)
        self.memory.add(FIRMWARE[0], read(folder, 'firmware.bin'))
        self.add_program(busybox)
        for name, start in re.findall(r'^(\w+) .* Live 0x(\w+)',
                                      sections['modules'], re.M):
            self.memory.add(int(start, 16),
                            read(folder, f'module-{name}.bin'))
        # recorded since reset: by mctrctl, which the guest does not see
        self.hidden = M if phases.startswith('phase boot') else 0
        self.phases = [Phase(self, text) for text in
                       re.split(r'^(?=phase )', phases, flags=re.M)[1:]]

    def add_program(self, elf):
        """What is to be executed of a program at fixed addresses."""
        offset, size, count = struct.unpack_from('<Q14xHH', elf, 32)
        for at in range(offset, offset + size * count, size):
            kind, flags, begin, start, _, length = struct.unpack_from(
                '<IIQQQQ', elf, at)
            if kind == 1 and flags & 1:
                self.memory.add(start, elf[begin:begin + length])


class Phase:
    def __init__(self, run, text):
        self.run = run
        lines = text.splitlines()
        _, self.name, self.how = lines[0].split()
        self.harts = []
        for line in lines[1:]:
            words = line.split()
            if words[0] == 'hart':
                self.harts.append(Hart(self, *(int(words[n], 16)
                                               for n in (1, 3, 5, 7))))
            elif words[0] == 'entry':
                source, target, data = (int(word, 16) for word in words[2:5])
                code = None if words[5] == '-' else int(words[5], 16)
                self.harts[-1].add(int(words[1]), source, target, data, code)
            elif words[0] == 'stack':
                self.harts[-1].stack = [int(word, 16) for word in words[1:]]


class Hart:
    """What one hart had recorded, and what can be wrong with that."""

    def __init__(self, phase, number, control, depth, status):
        self.run = phase.run
        self.number = number
        self.control = control | self.run.hidden
        self.depth = depth
        self.status = status
        self.entries = []       # from the newest
        self.stack = []
        self.rest = 0           # entries that are not valid
        self.wrong = []

    def add(self, index, source, target, data, code):
        if index != len(self.entries) + self.rest:
            self.wrong.append(f'entry {index} is out of order')
        if source & VALID:
            if self.rest:
                self.wrong.append(f'entry {index} is valid, the one before '
                                  'it is not')
            self.entries.append(Entry(source & ~VALID, target, data & 15,
                                      data, code))
        else:
            self.rest += 1
            # RASEMU takes V from what it pops, and no more
            if not self.control & RASEMU and (source or target or data):
                self.wrong.append(f'entry {index} was never recorded, but is '
                                  f'{source:#x} {target:#x} {data:#x}')

    def registers(self):
        """What is wrong with the registers."""
        if self.depth != 4 or len(self.entries) + self.rest != ENTRIES:
            yield f'sctrdepth is {self.depth}, with {len(self.entries)} entries'
        if not self.status & FROZEN:
            yield 'sctrstatus.FROZEN is clear'
        if (self.rest and not self.control & RASEMU and
                self.status & 0xff != len(self.entries)):
            yield f'sctrstatus is {self.status:#x} after {len(self.entries)}'

    def mode(self, pc):
        if pc >> 63:
            return S
        return M if pc in FIRMWARE else U

    def entry(self, entry):
        """What is wrong with one entry by itself."""
        source, target, kind = entry.source, entry.target, entry.type
        control, memory = self.control, self.run.memory
        trap = kind in (rv.EXCEPTION, rv.INTERRUPT)
        if kind not in rv.NAMES:
            return 'its type is reserved'
        if entry.data >> 4 & 0x7ff or entry.data >> 32:
            return 'bits of ctrdata that do not exist'
        if control >> 32 & 0xffff and self.filtered(kind):
            return 'its type is filtered'
        if kind == rv.NOT_TAKEN and not control & NTBREN:
            return 'not-taken branches are not enabled'
        if source == 0 and not (trap and target):
            return 'it has no source'
        if target == 0 and not (kind == rv.TRAP_RETURN or
                                trap and control & STE):
            return 'it has no target'
        for pc in (source, target):
            if pc and not control & self.mode(pc):
                return f'{pc:#x} is in a mode that is not recorded'
        if trap:
            return self.trap(entry)

        bits = memory.insn(source)
        if bits is None:
            # the code of user mode need not be busybox' (vDSO)
            if self.mode(source) != U or entry.insn is None:
                return 'its source is not in the code that is known'
            bits = entry.insn
        size = 0xffffffff if bits & 3 == 3 else 0xffff
        if entry.insn is None:
            if self.mode(source) == S:
                return 'the module could not read its source'
        elif entry.insn & size != bits & size:
            return f'the module saw {entry.insn:#x}, the host {bits:#x}'
        code = Insn(bits, source)
        if kind == rv.NOT_TAKEN:
            if code.kind != 'branch' or target != source + code.size:
                return 'its source is no branch that is not taken'
            return None
        if code.type != kind:
            return (f'its source is {bits:#x}: '
                    f'{rv.NAMES.get(code.type, "no transfer")}')
        if code.target is not None and code.target != target:
            return f'its source goes to {code.target:#x}'
        if target & 1 or (target and self.mode(target) == S and
                          memory.insn(target) is None):
            return 'its target is no code'
        if self.mode(source) == S and code.kind != 'xret':
            if self.mode(target) != S:
                return 'a jump to another mode'
            return self.kernel_jump(entry)
        if kind == rv.TRAP_RETURN and target == 0 and control & U:
            return 'it has no target, but every mode that it can go to is on'
        return None

    def filtered(self, kind):
        bit = {rv.EXCEPTION: 33, rv.INTERRUPT: 34, rv.TRAP_RETURN: 35,
               rv.TAKEN: 37}.get(kind, kind + 32)
        return kind != rv.NOT_TAKEN and self.control >> bit & 1

    def trap(self, entry):
        if entry.target:
            if self.mode(entry.target) == S:
                handler = self.run.symbols.address['handle_exception']
                if entry.target != handler:
                    return 'its target is not handle_exception'
            elif self.mode(entry.target) == U:
                return 'a trap to user mode'
        if entry.source and self.mode(entry.source) == S:
            if self.run.memory.insn(entry.source) is None:
                return 'its source is no code'
        return None

    def kernel_jump(self, entry):
        """Calls and returns of the kernel, whose functions have names."""
        memory, symbols = self.run.memory, self.run.symbols
        if entry.type in (rv.INDIRECT_CALL, rv.DIRECT_CALL):
            # in assembly, a part of a function is called from the rest of it
            part = entry.type == rv.DIRECT_CALL and \
                symbols.same_function(entry.source, entry.target)
            if entry.target not in symbols.starts and not part:
                return 'its target is not the start of a function'
        if entry.type == rv.RETURN and entry.target not in symbols.starts:
            for size in (2, 4):
                before = entry.target - size
                bits = memory.insn(before)
                call = Insn(bits, before)
                if call.size == size and call.rd in rv.LINK and \
                        call.kind in ('jal', 'jalr'):
                    return None
            return 'it does not return to behind a call'
        return None

    def whole(self):
        """Is everything recorded, but in the modes that are not?"""
        return not self.control & (RASEMU | FILTERS & ~NTBREN | STE) and \
            self.control & S

    def step(self, older, newer):
        """What is wrong with two entries that follow each other."""
        if older.target == 0 or newer.source == 0:
            if older.target != newer.source:
                return 'leaving the recorded modes and entering them again ' \
                       'do not follow each other'
            return None
        pc = older.target
        for _ in range(STRAIGHT):
            if pc == newer.source:
                return None
            bits = self.run.memory.insn(pc)
            if bits is None:
                return None if self.mode(pc) == U else f'no code at {pc:#x}'
            code = Insn(bits, pc)
            if code.kind == 'ecall':
                if self.control & (S if self.mode(pc) == U else M):
                    return f'an ecall at {pc:#x} in between'
            elif code.kind == 'branch':
                if self.control & NTBREN:
                    return f'a branch at {pc:#x} in between'
            elif code.kind is not None:
                return f'a transfer at {pc:#x} in between'
            pc += code.size
        return 'no way from the older to the newer'

    def check(self, entries):
        """All that is wrong: (index, what)."""
        for index, entry in enumerate(entries):
            wrong = self.entry(entry)
            if wrong:
                yield index, wrong
        if self.whole():
            for index in range(len(entries) - 1):
                wrong = self.step(entries[index + 1], entries[index])
                if wrong:
                    yield index, wrong

    def text(self, entry):
        return (f'{self.run.symbols.name(entry.source)} -> '
                f'{self.run.symbols.name(entry.target)} '
                f'{rv.NAMES.get(entry.type, entry.type)}')


def check_image(run, image):
    """Is what was dumped the kernel that was booted, patched or not?"""
    if read(run.folder, 'physical.bin') != run.kernel:
        yield 'the kernel at its virtual addresses is not at its physical ones'
    differ = sum(1 for a, b in zip(run.kernel, image) if a != b)
    print(f'# {os.path.basename(run.folder)}: {differ} of {len(run.kernel)} '
          'bytes of the kernel were patched while it ran')
    if differ > len(run.kernel) / 50:
        yield 'the code in memory is not that of the kernel'


def check_stack(phase):
    """RASEMU: the entries are the call stack that Linux' unwinder sees."""
    for hart in phase.harts:
        if not hart.entries[0].source >> 63 or 'ctr_write' not in \
                hart.run.symbols.name(hart.entries[0].source):
            continue
        # the unwinder's first two are below the call of ctr_freeze
        frames = hart.stack[2:]
        sites = [entry.source + Insn(entry.insn, 0).size
                 for entry in hart.entries[:len(frames)]]
        print('# stack: ' + ' '.join(map(hart.run.symbols.name, sites)))
        if len(frames) < 6 or sites != frames:
            yield f'{[hex(pc) for pc in sites]} is not ' \
                  f'{[hex(pc) for pc in frames]}'
        return
    yield 'no hart was stopped by itself'


def check_monitor(run):
    """x-query-riscv-ctr, later on, against what the module had read last."""
    harts = dict(re.findall(r'^processor\s*: (\d+)\nhart\s*: (\d+)$',
                            run.cpuinfo, re.M))
    shown = {}
    for line in read(run.folder, 'ctr.txt').decode().splitlines():
        match = re.match(r'hart (\d+): .*', line)
        if match:
            entries = shown.setdefault(match[1], [])
        match = re.match(r'\s+(\d+) (\w{16})(?: <.*>)? -> (\w{16})'
                         r'(?: <.*>)? (.*?)(?: \d+ cycles)?$', line)
        if match:
            entries.append((int(match[2], 16), int(match[3], 16), match[4]))
    for hart in run.phases[-1].harts:
        mine = [(entry.source, entry.target, rv.NAMES[entry.type])
                for entry in hart.entries]
        if mine != shown.get(harts.get(str(hart.number))):
            yield f'hart {hart.number}: the monitor shows other entries'


def flip(entry, symbols):
    """Entries that are wrong in one way each."""
    other = [kind for kind in rv.NAMES if kind != entry.type]
    yield 'source', entry._replace(source=entry.source + 2)
    # these may go anywhere, and code near by looks as good
    if entry.type not in (rv.INDIRECT_JUMP, rv.TRAP_RETURN):
        yield 'target', entry._replace(target=entry.target + 2)
    yield 'type', entry._replace(type=random.choice(other))
    yield 'code', entry._replace(insn=(entry.insn or 0) ^ 1 << 8)
    yield 'function', entry._replace(
        target=random.choice(symbols.addresses) + 2)


def self_test(phases):
    """What of entries that are wrong is found: {how: [found, tried]}."""
    random.seed(1)
    count = collections.defaultdict(lambda: [0, 0])
    for phase in phases:
        for hart in phase.harts:
            entries = hart.entries
            if not hart.whole() or len(entries) != ENTRIES:
                continue
            for index in random.sample(range(1, ENTRIES - 1), 40):
                entry = entries[index]
                if (hart.mode(entry.source) != S or not entry.target or
                        entry.type in (rv.EXCEPTION, rv.INTERRUPT)):
                    continue
                tries = [(how, [entries[index - 1], wrong, entries[index + 1]])
                         for how, wrong in flip(entry, hart.run.symbols)]
                tries.append(('missing',
                              [entries[index - 1], entries[index + 1]]))
                tries.append(('twice', [entries[index - 1], entry, entry,
                                        entries[index + 1]]))
                for how, wrong in tries:
                    count[how][1] += 1
                    count[how][0] += any(True for _ in hart.check(wrong))
    return count


def main():
    tap = Tap(before=int(sys.argv[1]))
    image, busybox = read(sys.argv[2]), read(sys.argv[3])
    runs = [Run(folder, busybox) for folder in sys.argv[4:]]

    def say(text, wrong=()):
        wrong = list(wrong)
        tap.say(not wrong, text, *wrong[:10])

    seen = collections.Counter()
    pairs = 0
    for run in runs:
        say(f'{os.path.basename(run.folder)}: the code compared with is '
            'the running kernel\'s', check_image(run, image))
        for phase in run.phases:
            wrong = [] if phase.harts else ['nothing was recorded']
            for hart in phase.harts:
                wrong += hart.wrong
                wrong += hart.registers()
                wrong += [f'hart {hart.number} entry {index}: '
                          f'{hart.text(hart.entries[index])}: {what}'
                          for index, what in hart.check(hart.entries)]
                for entry in hart.entries:
                    seen[hart.mode(entry.source), entry.type] += 1
                if hart.whole():
                    pairs += len(hart.entries) - 1
            # a timer may find a hart that was given no time to run
            if phase.how == 'stop' and phase.name != 'stack' and not any(
                    len(hart.entries) == ENTRIES for hart in phase.harts):
                wrong.append('no hart filled its buffer')
            say(f'{phase.name}: ' + ', '.join(
                f'{len(hart.entries)} entries' for hart in phase.harts), wrong)
            if phase.name == 'stack':
                say('stack: RASEMU has the call stack', check_stack(phase))
        say(f'{os.path.basename(run.folder)}: the monitor shows what the '
            'module read', check_monitor(run))

    for mode, name in ((M, 'M'), (S, 'S'), (U, 'U')):
        print(f'# from {name}: ' + ', '.join(
            f'{seen[mode, kind]} {text}' for kind, text in rv.NAMES.items()
            if seen[mode, kind]))
    # The kernel is linked without relaxation: all its calls are JALR. Whether
    # the last 256 transfers have some of the firmware is chance.
    needed = [(S, kind) for kind in (
        rv.INTERRUPT, rv.TRAP_RETURN, rv.NOT_TAKEN, rv.TAKEN,
        rv.INDIRECT_CALL, rv.INDIRECT_JUMP, rv.DIRECT_JUMP, rv.RETURN)]
    needed += [(U, rv.EXCEPTION), (U, rv.DIRECT_CALL), (U, rv.RETURN)]
    say(f'all that Linux does was seen in {sum(seen.values())} entries',
        [f'no {rv.NAMES[kind]} from mode {mode}' for mode, kind in needed
         if not seen[mode, kind]])
    say(f'nothing is missing between {pairs} pairs of entries',
        [] if pairs > 2500 else ['too few pairs'])

    found = self_test([phase for run in runs for phase in run.phases])
    wrong = []
    for how, (hits, tries) in sorted(found.items()):
        print(f'# {how} wrong: {hits} of {tries} found')
        # a pass less or more through a loop is as right as what was recorded
        share = 0.75 if how in ('missing', 'twice') else 1
        if tries < 100 or hits < tries * share:
            wrong.append(f'entries whose {how} is wrong pass')
    say('entries that are wrong are found', wrong or
        ([] if found else ['nothing was tried']))
    tap.end()


main()
