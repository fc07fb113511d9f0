#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Small inputs to order, and for tests of bounds, large and strange ones
#
#   inputs.py elf FILE ADDRESS:HEX...   an executable segment for each
#   inputs.py btf FILE                  what a kernel says of its tasks

import struct
import sys


def elf(segments):
    """An ELF file for RV64: (address, bytes) of each executable segment"""
    offset = 64 + 56 * len(segments)
    headers, contents = b'', b''
    for address, code in segments:
        headers += struct.pack('<IIQQQQQQ', 1, 5, offset + len(contents),
                               address, address, len(code), len(code), 4)
        contents += code
    return struct.pack('<16sHHIQQQIHHHHHH', b'\x7fELF\2\1\1', 2, 243, 1, 0, 64,
                       0, 0, 64, 56, len(segments), 0, 0, 0) + \
        headers + contents


def record(kind, payload, hart=0xffff):
    """A record of a sideband stream; hw-trace/etrace/sideband.h"""
    return struct.pack('<HHI', kind, hart, len(payload)) + payload


def session(harts=1):
    return record(1, struct.pack('<8sHHHHIIQ', b'RVTRSIDE', 1, 2, harts, 0, 1,
                                 0, 0))


def params(hart=0, return_stack=0, bpred=0, cache=0, f0s=0, sijump=0,
           src_bits=0, src_id=0):
    return record(2, struct.pack('<14BHQI4B', 0, 64, 1, 3, 6, 0, 0, 0,
                                 return_stack, bpred, cache, f0s, src_bits, 0,
                                 src_id, hart, 0, sijump, 0, 0, 0), hart)


def code(address, *insns):
    """Instructions of 4 bytes"""
    return record(3, struct.pack(f'<Q{len(insns)}I', address, *insns))


def ram(count, start, limit, pointer, *packets, tail=b''):
    return record(13, struct.pack(f'<{4 + len(packets)}Q', count, start, limit,
                                  pointer, *packets) + tail)


def task(pointer, pid, name, packets=0, hart=0):
    """Behind a fence: the hart runs this task."""
    return record(4, struct.pack('<Q', packets), hart) + record(
        16, struct.pack('<QII16s', pointer, pid, pid, name), hart)


def text(line, hart=0):
    """A note: a line that the guest says"""
    return record(17, struct.pack('<Q', 4) + line, hart)


def btf():
    """struct task_struct { struct { int pid, tgid; }; char comm[16]; };"""
    names = b'\0int\0char\0task_struct\0pid\0tgid\0comm\0'

    def entry(name, kind, count, size, *more):
        at = names.index(b'\0' + name + b'\0') + 1 if name else 0
        return struct.pack(f'<{3 + len(more)}I', at, kind << 24 | count, size,
                           *more)

    def member(name, *more):
        return entry(name, 0, 0, 0)[:4] + struct.pack('<2I', *more)

    types = (entry(b'int', 1, 0, 4, 32) + entry(b'char', 1, 0, 1, 8) +
             entry(b'', 3, 0, 0, 2, 1, 16) +
             entry(b'', 4, 2, 8) + member(b'pid', 1, 0) +
             member(b'tgid', 1, 32) +
             entry(b'task_struct', 4, 2, 24) + member(b'', 4, 0) +
             member(b'comm', 3, 64))
    return struct.pack('<HBB5I', 0xeb9f, 1, 0, 24, 0, len(types), len(types),
                       len(names)) + types + names


def main():
    what, path = sys.argv[1:3]
    if what == 'btf':
        with open(path, 'wb') as file:
            file.write(btf())
        return
    if what != 'elf':
        sys.exit(f'inputs.py: {what}?')
    segments = [argument.split(':') for argument in sys.argv[3:]]
    with open(path, 'wb') as file:
        file.write(elf([(int(address, 0), bytes.fromhex(code))
                        for address, code in segments]))


if __name__ == '__main__':
    main()
