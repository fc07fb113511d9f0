# SPDX-License-Identifier: GPL-2.0-or-later
#
# What retired, from what steps.c wrote down.

import struct

STEP = struct.Struct('<QIBBBB')
RESET_VECTOR = 0x1000


class Retired:
    """An instruction that retired, or a trap that was taken"""
    __slots__ = ('pc', 'code', 'length', 'mode', 'cause', 'before')

    def __init__(self, pc, code, length, mode, cause=None, before=None):
        self.pc = pc
        self.code = code
        self.length = length
        self.mode = mode
        # of a trap: (number, is interrupt), and the mode before; pc is epc
        self.cause = cause
        self.before = before


def steps(paths):
    """What began in all of the files, which are one after the other"""
    out = []
    for path in paths:
        with open(path, 'rb') as file:
            out += STEP.iter_unpack(file.read())
    return out


def retired(paths, mask, vectors):
    """
    The hart's history. What began last is taken for retired, unless it cannot
    have: of ecall and ebreak nothing does. vectors are the addresses of all
    handlers.
    """
    out = []
    last = None
    items = steps(paths)
    for i, (pc, code, length, mode, kind, before) in enumerate(items):
        pc &= mask
        if kind == 1:
            if last and last.pc != trapped_at(items, i, mask, vectors):
                out.append(last)
            last = None
            out.append(Retired(pc, 0, 0, mode, (code, bool(length)),
                               before))
            continue
        if last and last.pc != pc and not never_retires(last):
            out.append(last)
        last = Retired(pc, code, length, mode)
    if last and not never_retires(last):
        out.append(last)
    return out


def trapped_at(items, at, mask, vectors):
    """
    The epc of the trap at that place. If that is a handler, which could not
    begin and which nothing but a trap leads to, then the epc of the trap to
    it, which is written down when the handler does begin.
    """
    epc = items[at][0] & mask
    if epc not in vectors:
        return epc
    for i in range(at + 1, len(items) - 1):
        if items[i][4] == 1 and items[i + 1][0] & mask == epc:
            return trapped_at(items, i, mask, vectors)
    return None


def never_retires(insn):
    """ecall, ebreak, c.ebreak: behind a stop or a reset nothing else tells"""
    return insn.code in (0x73, 0x100073) or (insn.length == 2 and
                                             insn.code & 0xffff == 0x9002)
