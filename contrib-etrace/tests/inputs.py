#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Small inputs to order, and for tests of bounds, large and strange ones
#
#   inputs.py elf FILE ADDRESS:HEX...   an executable segment for each

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


def ram(count, start, limit, pointer, *packets):
    return record(13, struct.pack(f'<{4 + len(packets)}Q', count, start, limit,
                                  pointer, *packets))


def main():
    what, path = sys.argv[1:3]
    if what != 'elf':
        sys.exit(f'inputs.py: {what}?')
    segments = [argument.split(':') for argument in sys.argv[3:]]
    with open(path, 'wb') as file:
        file.write(elf([(int(address, 0), bytes.fromhex(code))
                        for address, code in segments]))


if __name__ == '__main__':
    main()
