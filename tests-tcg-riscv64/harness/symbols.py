# SPDX-License-Identifier: GPL-2.0-or-later
#
# The symbols of a guest or a program, as nm lists them.

import os
import subprocess
from collections import namedtuple

NM = os.environ.get('CROSS', 'riscv64-linux-gnu-') + 'nm'
LIMIT = 120     # seconds

# size: bytes, 0 if the symbol has none; kind: nm's letter
Symbol = namedtuple('Symbol', 'name address size kind')


def table(elf):
    """The symbols of a file that have an address, in nm's order"""
    done = subprocess.run([NM, '-S', elf], capture_output=True, check=True,
                          encoding='ascii', timeout=LIMIT)
    symbols = []
    for line in done.stdout.splitlines():
        *numbers, kind, name = line.split()
        if numbers:
            address, size = (int(n, 16) for n in (*numbers, '0')[:2])
            symbols.append(Symbol(name, address, size, kind))
    return symbols


def addresses(elf):
    """Addresses by name"""
    return {symbol.name: symbol.address for symbol in table(elf)}
