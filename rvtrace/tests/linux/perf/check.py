#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# check.py NUMBER DIR HARTS PROGRAM[,PROGRAM] KERNEL FOLLOW RECORDING...
#
# Branch stacks that perf recorded against the trace of the same run. DIR has
# trace, side and what the guest left, in files/. Recordings are those of the
# guest, in their order. Speaks TAP; NUMBER tests were before these.
#
# The module's handler of overflows runs once for each sample, so that the n-th
# time that a hart comes there belongs to its n-th sample. A stack has to be the
# last transfers before that, without gaps; of those types that were asked for.

import collections
import os
import re
import struct
import subprocess
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'ctr'))

# pylint: disable=wrong-import-position
import insn as rv
from tap import Tap

RVTRACE = os.environ['RVTRACE']
SEEN, HIDDEN, TRAP = range(3)
# transfers that are looked at, traps between them included; filters leave few
DEPTH = 1000
DEPTH_FILTERED = 3000
ENTRIES = 256

# enum of perf_event.h
COND, UNCOND, IND, CALL, IND_CALL, RET, SYSCALL, _, _, _, ERET, IRQ = \
    range(1, 13)
EXTENDED = 15
PERF_TYPES = {
    rv.TAKEN: COND, rv.INDIRECT_CALL: IND_CALL, rv.DIRECT_CALL: CALL,
    rv.INDIRECT_JUMP: IND, rv.DIRECT_JUMP: UNCOND, rv.SWAP: RET,
    rv.RETURN: RET, rv.OTHER_INDIRECT: IND, rv.OTHER_DIRECT: UNCOND,
    rv.TRAP_RETURN: ERET,
}
CALLS = {rv.INDIRECT_CALL, rv.DIRECT_CALL, rv.SWAP}
RETURNS = {rv.RETURN, rv.SWAP}
KINDS = {
    # what transfers a stack has; None: all
    'any': None, 'pair': None, 'types': None, 'kernel': None, 'many': None,
    'sleep': None,
    'calls': CALLS, 'returns': RETURNS, 'stack': CALLS,
}

# of these, U mode only, cycles are compared with instructions
TIMED = {'any', 'pair', 'types', 'many'}

Sample = collections.namedtuple('Sample', 'ip tid time cpu branches')
Branch = collections.namedtuple('Branch', 'source target cycles type')


class Bad(Exception):
    """Why a stack is not what ran."""


class Moved(Exception):
    """The rest ran before the task came to this hart."""


class PerfData:
    """A file of perf record: its samples, and what was lost"""

    def __init__(self, path):
        with open(path, 'rb') as file:
            self.data = file.read()
        if self.data[:8] != b'PERFILE2':
            raise ValueError(f'{path} is no file of perf')
        attrs, _, start, size = struct.unpack_from('<24x4Q', self.data)
        self.type, = struct.unpack_from('<Q', self.data, attrs + 24)
        self.branch_type, = struct.unpack_from('<Q', self.data, attrs + 72)
        self.samples = []
        self.lost = 0
        at, end = start, start + size
        while at < end:
            kind, _, length = struct.unpack_from('<IHH', self.data, at)
            if kind == 9:
                self.samples.append(self.sample(at + 8))
            elif kind in (2, 13):
                self.lost += 1
            at += length
        self.samples.sort(key=lambda sample: sample.time)

    def sample(self, at):
        values = {}
        for bit, name in ((16, 'identifier'), (0, 'ip'), (1, 'tid'),
                          (2, 'time'), (3, 'addr'), (6, 'id'), (9, 'stream'),
                          (7, 'cpu'), (8, 'period')):
            if self.type >> bit & 1:
                values[name], = struct.unpack_from('<Q', self.data, at)
                at += 8
        if self.type >> 5 & 1:
            count, = struct.unpack_from('<Q', self.data, at)
            at += 8 + 8 * count
        count, = struct.unpack_from('<Q', self.data, at)
        at += 16 if self.branch_type >> 17 & 1 else 8
        words = struct.unpack_from(f'<{3 * count}Q', self.data, at)
        branches = [Branch(words[n], words[n + 1], words[n + 2] >> 4 & 0xffff,
                           words[n + 2] >> 20 & 15)
                    for n in range(0, len(words), 3)]
        return Sample(values['ip'], values['tid'] >> 32, values['time'],
                      values['cpu'] & 0xffffffff, branches)


class Code:
    """Which instructions are where, as far as it is known"""

    def __init__(self):
        self.pieces = []
        self.known = {}

    def add_program(self, path):
        with open(path, 'rb') as file:
            elf = file.read()
        offset, size, count = struct.unpack_from('<Q14xHH', elf, 32)
        for at in range(offset, offset + size * count, size):
            kind, flags, begin, start, _, length = struct.unpack_from(
                '<IIQQQQ', elf, at)
            if kind == 1 and flags & 1:
                self.pieces.append((start, elf[begin:begin + length]))

    def add(self, start, path):
        with open(path, 'rb') as file:
            self.pieces.append((start, file.read()))

    def at(self, pc):
        if pc not in self.known:
            self.known[pc] = None
            for start, data in self.pieces:
                if start <= pc < start + len(data):
                    bits = data[pc - start:pc - start + 4]
                    self.known[pc] = rv.Insn(int.from_bytes(bits, 'little'),
                                             pc)
        return self.known[pc]


def threads_of(folder, harts):
    """The threads that ran on each hart"""
    threads = []
    for hart in range(harts):
        switches = f'{folder}/switches.{hart}'
        with open(switches, 'wb') as file:
            subprocess.run([RVTRACE, 'decode', f'--trace={folder}/trace',
                            f'--sideband={folder}/side', f'--hart={hart}',
                            '--strict', '--emit=task'], stdout=file,
                           check=True)
        with open(switches, encoding='utf-8') as file:
            threads.append({int(line.split()[2]) for line in file
                            if len(line.split()) > 2})
    return threads


def follow(folder, hart, depth, arguments):
    """
    For each overflow of a hart: the thread, its transfers in U mode and the
    hart's transfers, from the newest
    """
    command = [RVTRACE, 'decode', '--strict', f'--trace={folder}/trace',
               f'--sideband={folder}/side', f'--hart={hart}']
    switches = f'{folder}/switches.{hart}'
    hit, vector, program, *code = arguments
    with subprocess.Popen([*command, '--emit=pc'],
                          stdout=subprocess.PIPE) as decoder, \
         subprocess.Popen([program, hit, vector, switches, str(depth),
                           *code],
                          stdin=decoder.stdout,
                          stdout=subprocess.PIPE) as child:
        decoder.stdout.close()
        while head := child.stdout.read(16):
            thread, task, whole, _ = struct.unpack('<4I', head)
            yield (thread, child.stdout.read(24 * task),
                   child.stdout.read(24 * whole))
    if decoder.returncode or child.returncode:
        raise Bad(f'the trace does not decode: status {decoder.returncode}, '
                  f'{child.returncode}')


class Path:
    """The transfers before an overflow, from the newest"""

    def __init__(self, data, code, wanted, ip, moved):
        self.words = memoryview(data).cast('Q')
        # it begins with what the task ran here, but that ran elsewhere, too
        self.moved = moved
        self.next = 0
        self.code = code
        self.wanted = wanted
        # where the newest transfer led; None: that is not known yet
        self.ip = ip

    def want(self, source):
        if self.wanted is None:
            return True
        insn = self.code.at(source)
        if insn is None:
            raise Bad(f'unknown code at {source:#x}')
        return insn.type in self.wanted

    def take(self, branch):
        """The next transfer has to be this one."""
        while True:
            if self.next >= len(self.words) and self.moved:
                raise Moved
            if self.next >= len(self.words):
                raise Bad('nothing is known that far back')
            source, target, kind = self.words[self.next:self.next + 3]
            self.next += 3
            if kind == HIDDEN:
                if self.hidden(branch, source, target):
                    return
                continue
            if not self.want(source):
                continue
            if kind == TRAP:
                self.trap(branch, source, target)
                return
            if (branch.source, branch.target) != (source, target):
                raise Bad(f'{branch.source:#x} to {branch.target:#x}, ran: '
                          f'{source:#x} to {target:#x}')
            return

    def hidden(self, branch, source, target):
        """
        A trap came behind the instruction at source: was it a transfer? What
        trapped begins again, or not, if it was an ECALL.
        """
        insn = self.code.at(source)
        if insn is not None and insn.type is None:
            return False
        if source != branch.source or not self.want(source):
            return False
        if not target and self.ip is None:
            return insn is None or insn.target in (None, branch.target)
        return branch.target in (target or self.ip, target - 4, target - 2)

    def trap(self, branch, source, target):
        """Its source is what was to be executed next."""
        if branch.target != target:
            raise Bad(f'{branch.source:#x} to {branch.target:#x}, ran: a trap '
                      f'behind {source:#x}')
        if branch.source - source not in (2, 4):
            # the one before it was a transfer: that comes next
            self.next -= 3
            self.words = memoryview(bytearray(self.words)).cast('Q')
            self.words[self.next:self.next + 3] = memoryview(
                struct.pack('<3Q', source, branch.source, SEEN)).cast('Q')


class Recording:
    """One of the guest's perf records"""

    def __init__(self, folder, name, code, alone):
        self.name = name
        self.alone = alone      # there is one hart
        self.code = code
        self.kernel = name == 'kernel'
        self.file = PerfData(f'{folder}/files/{name}')
        self.by_hart = collections.defaultdict(list)
        for sample in self.file.samples:
            self.by_hart[sample.cpu].append(sample)
        self.bad = []
        self.full = self.entries = self.empty = self.moved = 0
        self.timed = self.uncounted = 0
        self.types = collections.Counter()

    def check(self, sample, elsewhere, depth, thread, task, hart):
        self.full += len(sample.branches) == ENTRIES
        self.empty += not sample.branches
        self.entries += len(sample.branches)
        try:
            if not self.kernel and thread != sample.tid:
                raise Bad(f'it is of thread {sample.tid}, {thread} runs')
            if self.name == 'stack':
                self.check_calls(sample, task)
                return
            # An overflow in U mode may interrupt the kernel, if another trap
            # came first: where the task goes on is not known then.
            ip = sample.ip
            if not self.kernel and ip >> 63:
                ip = None
            path = Path(hart if self.kernel else task, self.code,
                        KINDS[self.name], ip,
                        not self.kernel and elsewhere and
                        len(task) < 24 * depth)
            for branch in sample.branches:
                path.take(branch)
                self.kind(branch)
            if self.name in TIMED:
                self.check_cycles(sample)
        except Moved:
            self.moved += 1
        except Bad as why:
            self.bad.append(f'{sample.time}: {why}')

    def check_calls(self, sample, task):
        """
        RASEMU: the calls that have not returned, the innermost first. Going
        back, each return skips the call that it belongs to.
        """
        calls = []
        deep = 0
        words = memoryview(task).cast('Q')
        for at in range(0, len(words), 3):
            source, target, _ = words[at:at + 3]
            insn = self.code.at(source)
            if insn is None or insn.type is None:
                continue
            if insn.type == rv.RETURN:
                deep += 1
            elif insn.type in CALLS:
                if deep:
                    deep -= 1
                else:
                    calls.append((source, target or None))
        branches = sample.branches
        # the oldest calls are farther back than what is known
        for branch, (source, target) in zip(branches, calls):
            if branch.source != source or target not in (None, branch.target):
                raise Bad(f'call of {branch.target:#x} at {branch.source:#x}, '
                          f'ran: {target or 0:#x} at {source:#x}')
        if len(branches) < min(2, len(calls)):
            raise Bad(f'{len(branches)} calls, ran: {len(calls)}')

    def check_cycles(self, sample):
        """
        CC (6.3): -icount shift=0 makes each instruction a cycle, and there are
        none while the hart is in a mode that is not recorded. mcycle goes on
        while other harts have their turn. When the task comes back, sctrctl is
        written: the first entry has CCV = 0.
        """
        for branch, before in zip(sample.branches, sample.branches[1:]):
            count = 1
            pc = before.target
            if not 0 <= branch.source - pc < 1 << 20:
                continue    # it has become another program in between
            while pc != branch.source:
                insn = self.code.at(pc)
                if insn is None or count == 1000:
                    raise Bad(f'no way from {before.target:#x} to '
                              f'{branch.source:#x}')
                pc += insn.size
                count += 1
            if not branch.cycles:
                self.uncounted += 1
            elif branch.cycles < count or (branch.cycles > count and
                                           self.alone):
                raise Bad(f'{branch.source:#x}: {branch.cycles} cycles, ran: '
                          f'{count}')
            self.timed += 1

    def kind(self, branch):
        self.types[branch.type] += 1
        if not self.file.branch_type >> 16 & 1:
            return
        insn = self.code.at(branch.source)
        if insn and PERF_TYPES.get(insn.type) != branch.type:
            raise Bad(f'{branch.source:#x} is of type {branch.type}')


def symbol(folder, pattern):
    with open(f'{folder}/files/kallsyms', encoding='ascii') as file:
        return re.search(rf'^(\w+) . {pattern}$', file.read(), re.M)[1]


def main():
    global tap
    tap = Tap(before=int(sys.argv[1]))
    folder, harts, programs, kernel, follower, *names = sys.argv[2:]
    hit = symbol(folder, r'overflow\t\[ctr_perf\]')
    vector = symbol(folder, 'handle_exception')
    start = symbol(folder, '_start')
    code = Code()
    for program in programs.split(','):
        code.add_program(program)
    code.add(int(start, 16), kernel)
    recordings = [Recording(folder, name, code, harts == '1')
                  for name in names]
    filtered = any(KINDS[name] for name in names)
    depth = DEPTH_FILTERED if filtered else DEPTH
    threads = threads_of(folder, int(harts))
    for hart in range(int(harts)):
        others = set().union(*threads[:hart], *threads[hart + 1:])
        samples = [(recording, sample) for recording in recordings
                   for sample in recording.by_hart[hart]]
        at = 0
        for overflow in follow(folder, hart, depth, (
                hit, vector, follower, *programs.split(','),
                f'{start}:{kernel}')):
            if at < len(samples):
                recording, sample = samples[at]
                recording.check(sample, sample.tid in others, depth,
                                *overflow)
            at += 1
        # of the last recording of two harts, nothing is compared
        tap.say(at >= len(samples) > 0 and (at == len(samples) or
                                           'many' in names),
               f'hart {hart}: a sample for each overflow',
               f'{at} overflows, {len(samples)} samples')
    for recording in recordings:
        if recording.name == 'sleep':
            continue    # it does
        count = len(recording.file.samples)
        # tasks are pinned soon after they begin: few of them move, and once
        tap.say(count >= 10 and not recording.bad and
               (recording.timed > 0) == (recording.name in TIMED) and
               recording.uncounted <= recording.timed / 100 and
               not recording.file.lost and recording.moved <= count / 1000,
               f'{recording.name}: every stack is what ran',
               f'{count} samples, {recording.file.lost} times lost some, '
               f'{len(recording.bad)} contradicted, '
               f'{recording.moved} of tasks that had just come here, '
               f'{recording.entries} entries, {recording.timed} compared in '
               f'cycles, {recording.uncounted} of them without, '
               f'{recording.full} stacks are '
               f'full, {recording.empty} empty, types '
               f'{dict(recording.types)}',
               *recording.bad[:10])
        if recording.name != 'stack':
            tap.say(recording.full >= 0.8 * count,
                   f'{recording.name}: most stacks are full')
    tap.end(plan=False)


main()
