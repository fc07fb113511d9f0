#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# compare.py OBSERVED HART DECODED [--noaddr | --novalue] [--csr FILE]
#            [--unseen N] [--lossy] [--within FIRST-LAST] [--parallel]
#
# Does "rvtrace decode --emit data" say what the observer (accesses.c) saw
# of memory: every access of the hart, in order, with its pc, type, size,
# address and data? The observer sees the loads and stores that an instruction
# is made of; which access of the trace that is, follows from its opcode.
#
# --noaddr, --novalue   addresses or data are not traced
# --csr FILE            the accesses to some CSRs that the guest makes, in
#                       order: "type csr data [operand]" a line, in hex
# --lossy               accesses may be missing, and what is not put to an
#                       instruction is not looked at
# --within FIRST-LAST   only instructions at these addresses are traced, in hex
# --unseen N            so many loads are hidden from plugins (hlvx)
# --parallel            of several threads: what QEMU says to plugins that an
#                       AMO stores may be its operand then, and that of an sc
#                       may be what it has failed to store
import argparse
import sys

# funct5 of AMOs: dtype, and what is stored
AMOS = {
    0x00: ('add', lambda old, op, bits: old + op),
    0x01: ('swap', lambda old, op, bits: op),
    0x04: ('xor', lambda old, op, bits: old ^ op),
    0x08: ('or', lambda old, op, bits: old | op),
    0x0c: ('and', lambda old, op, bits: old & op),
    0x10: ('min', lambda old, op, bits: min(old, op, key=signed(bits))),
    0x14: ('max', lambda old, op, bits: max(old, op, key=signed(bits))),
    0x18: ('min', lambda old, op, bits: min(old, op)),
    0x1c: ('max', lambda old, op, bits: max(old, op)),
}


def signed(bits):
    return lambda v: v - (1 << bits) if v >> (bits - 1) & 1 else v


def fail(text):
    print(text, file=sys.stderr)
    sys.exit(1)


class Raw:
    """A load or store of the observer"""

    def __init__(self, line):
        word = line.split()
        self.hart = int(word[0])
        self.pc = int(word[1], 16)
        self.opcode = int(word[2], 16)
        self.store = word[3] == 'W'
        self.size = int(word[4])
        self.address = int(word[5], 16)
        self.value = int(word[6], 16)
        self.text = line.strip()


class Access:
    """
    What one access of the trace has to be: one of kinds, that size and
    address, the data, and what memory has then, None if the same.
    """

    def __init__(self, first, kinds, data, stored=None, function=None):
        self.pc = first.pc
        self.size = first.size
        self.address = first.address
        self.kinds = kinds
        self.data = data
        self.stored = stored
        self.function = function
        self.text = first.text

    def differs(self, seen, options):
        if (seen.pc, seen.size) != (self.pc, self.size):
            return 'pc or size'
        if seen.kind not in self.kinds:
            return 'type'
        if seen.address != self.address and not (
                options.noaddr or seen.kind == 'scfail' and
                seen.address is None):
            return 'address'
        if options.novalue or seen.kind == 'scfail':
            return None
        if seen.data != self.data:
            return 'data'
        if seen.kind not in ('load', 'store'):
            bits = 8 * self.size
            stored = self.function(seen.data, seen.operand, bits)
            if options.parallel and not (seen.operand ^ self.stored) & (
                    (1 << bits) - 1):
                return None
            if stored & ((1 << bits) - 1) != self.stored:
                return 'operand'
        elif self.stored not in (None, self.data):
            return 'what is stored'
        return None


class Decoded:
    """A line of the decoder; what is not known is None."""

    def __init__(self, line):
        word = line.split()
        number = [None if x == '-' else int(x, 16)
                  for x in word[:1] + word[2:]] + [None]
        self.pc, self.size, self.address, self.data, self.operand = number[:5]
        self.kind = word[1]
        self.csr = word[3:]
        self.text = line.strip()


def take(raws, n):
    return [next(raws) for _ in range(n)]


# how the opcodes of AMOs and cbo.zero end
SPECIAL = '2f', 'af', '0f', '8f'


class Plain(str):
    """A load or store as the decoder has to write it, for speed"""

    line = ''

    def __new__(cls, line, word):
        kind = 'store' if word[3] == 'W' else 'load'
        text = super().__new__(
            cls, f'{word[1]} {kind} {word[4]} {word[5]} {word[6]}\n')
        text.line = line
        return text


def access(want):
    """An Access, if that is a Plain"""
    if not isinstance(want, Plain):
        return want
    raw = Raw(want.line)
    return Access(raw, ['store' if raw.store else 'load'], raw.value)


def accesses(lines, hart, parallel):
    """Put what the observer saw together to what the trace has to say."""
    raws = (Raw(line) for line in lines if line.startswith(f'{hart} '))
    for line in lines:
        word = line.split()
        if word[0] != hart:
            continue
        if not word[2].endswith(SPECIAL):
            yield Plain(line, word)
            continue
        raw = Raw(line)
        funct5, width = raw.opcode >> 27, raw.opcode >> 12 & 7
        if raw.opcode & 0xfff07fff == 0x0040200f:       # cbo.zero, by byte
            take(raws, 7)
            raw.size = 8
            yield Access(raw, ['store'], 0)
        elif raw.opcode & 0x7f != 0x2f or funct5 == 2:  # lr
            yield Access(raw, ['store' if raw.store else 'load'], raw.value)
        elif funct5 == 3:                               # sc
            new = next(raws)
            kinds = ['store']
            if new.value == raw.value or parallel:
                kinds.append('scfail')
            yield Access(raw, kinds, new.value)
        elif funct5 == 5:                               # amocas
            halves = 2 if width == 4 else 1
            olds = [raw] + take(raws, halves - 1)
            news = take(raws, halves)
            same = all(o.value == n.value for o, n in zip(olds, news))
            for old, new in zip(olds, news):
                yield Access(old, ['swap', 'load'] if same else ['swap'],
                             old.value, new.value, AMOS[1][1])
        else:
            kind, function = AMOS[funct5]
            yield Access(raw, [kind], raw.value, next(raws).value, function)


def read(path):
    with open(path, encoding='ascii') as f:
        yield from f


def within(lines, bounds):
    """Those of what the observer saw at these addresses, if there are any"""
    first, last = (int(n, 16) for n in (bounds or '0-0').split('-'))
    return (line for line in lines
            if not bounds or first <= int(line.split()[1], 16) <= last)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('observed')
    parser.add_argument('hart')
    parser.add_argument('decoded')
    parser.add_argument('--noaddr', action='store_true')
    parser.add_argument('--novalue', action='store_true')
    parser.add_argument('--csr')
    parser.add_argument('--unseen', type=int, default=0)
    parser.add_argument('--lossy', action='store_true')
    parser.add_argument('--within')
    parser.add_argument('--parallel', action='store_true')
    options = parser.parse_args()

    csrs = []
    if options.csr:
        with open(options.csr, encoding='ascii') as f:
            csrs = [line.split() for line in f if line[0] != '#']
    known_csrs = {line[1] for line in csrs}
    expected = accesses(within(read(options.observed), options.within),
                        options.hart, options.parallel)
    want = next(expected, None)
    kinds = {}
    for line in read(options.decoded):
        if want == line:
            kind = 'load' if ' load ' in line else 'store'
            kinds[kind] = kinds.get(kind, 0) + 1
            want = next(expected, None)
            continue
        want = access(want)
        seen = Decoded(line)
        kinds[seen.kind] = kinds.get(seen.kind, 0) + 1
        if seen.pc is None and options.lossy:
            continue
        if seen.pc is None:
            fail(f'decoded {seen.text}: not put to an instruction')
        if seen.kind.startswith('csr'):
            if seen.csr[0] in known_csrs:
                line = csrs.pop(0) if csrs else ['nothing']
                if [seen.kind] + seen.csr != line:
                    fail(f'decoded {seen.text}, expected {" ".join(line)}')
            continue
        elsewhere = not want or want.pc != seen.pc
        if elsewhere and seen.kind == 'scfail':
            continue                    # an sc that did not try
        if elsewhere and seen.kind == 'load' and options.unseen:
            options.unseen -= 1
            continue
        while options.lossy and want and want.differs(seen, options):
            want = access(next(expected, None))
        if not want:
            fail(f'decoded {seen.text}, nothing more observed')
        what = want.differs(seen, options)
        if what:
            fail(f'decoded {seen.text}, observed {want.text}: {what}')
        want = next(expected, None)
    if want and not options.lossy:
        fail(f'observed {access(want).text}, not decoded')
    if csrs or options.unseen:
        fail(f'not decoded: {csrs or options.unseen}')
    print(sum(kinds.values()), 'accesses:',
          ', '.join(f'{n} {kind}' for kind, n in sorted(kinds.items())))


main()
