# SPDX-License-Identifier: GPL-2.0-or-later
#
# What retired, from what steps.c wrote down.

import struct

STEP = struct.Struct('<QIBBBB')
RESET_VECTOR = 0x1000


class Retired:
    """An instruction that retired, or a trap that was taken"""
    __slots__ = ('pc', 'code', 'length', 'mode', 'cause')

    def __init__(self, pc, code, length, mode, cause=None):
        self.pc = pc
        self.code = code
        self.length = length
        self.mode = mode
        self.cause = cause      # of a trap: (number, is interrupt); pc is epc


def steps(paths):
    """What began in all of the files, which are one after the other"""
    for path in paths:
        with open(path, 'rb') as file:
            yield from STEP.iter_unpack(file.read())


def retired(paths, mask):
    """
    The hart's history. What began last is taken for retired, unless it cannot
    have: of ecall and ebreak nothing does.
    """
    out = []
    last = None
    for pc, code, length, mode, kind, _ in steps(paths):
        pc &= mask
        if kind == 1:
            if last and last.pc != pc:
                out.append(last)
            last = None
            out.append(Retired(pc, 0, 0, mode, (code, bool(length))))
            continue
        if last and last.pc != pc and not never_retires(last):
            out.append(last)
        last = Retired(pc, code, length, mode)
    if last and not never_retires(last):
        out.append(last)
    return out


def never_retires(insn):
    """ecall, ebreak, c.ebreak: behind a stop or a reset nothing else tells"""
    return insn.code in (0x73, 0x100073) or (insn.length == 2 and
                                             insn.code & 0xffff == 0x9002)
