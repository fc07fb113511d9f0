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
                       0, 0, 64, 56, len(segments), 0, 0, 0) + headers + contents


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
