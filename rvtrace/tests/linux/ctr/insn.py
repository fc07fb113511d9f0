# SPDX-License-Identifier: GPL-2.0-or-later
#
# The control transfer instructions of RV64GC, and their transfer types as the
# table "Control Transfer Type Definitions" of Smctr/Ssctr 1.0 has them.

(EXCEPTION, INTERRUPT, TRAP_RETURN, NOT_TAKEN, TAKEN) = range(1, 6)
(INDIRECT_CALL, DIRECT_CALL, INDIRECT_JUMP, DIRECT_JUMP, SWAP, RETURN,
 OTHER_INDIRECT, OTHER_DIRECT) = range(8, 16)

NAMES = {
    EXCEPTION: 'exception', INTERRUPT: 'interrupt',
    TRAP_RETURN: 'trap return', NOT_TAKEN: 'not-taken branch',
    TAKEN: 'taken branch', INDIRECT_CALL: 'indirect call',
    DIRECT_CALL: 'direct call', INDIRECT_JUMP: 'indirect jump',
    DIRECT_JUMP: 'direct jump', SWAP: 'co-routine swap', RETURN: 'return',
    OTHER_INDIRECT: 'other indirect jump',
    OTHER_DIRECT: 'other direct jump',
}
LINK = (1, 5)
MRET, SRET, ECALL, EBREAK = 0x30200073, 0x10200073, 0x73, 0x100073


def signed(value, bits):
    return value - (1 << bits) if value >> (bits - 1) & 1 else value


def gather(insn, places):
    """An immediate: places are (bit of the instruction, bit of the value)."""
    return sum((insn >> from_bit & 1) << to_bit for from_bit, to_bit in places)


CB = ((12, 8), (11, 4), (10, 3), (6, 7), (5, 6), (4, 2), (3, 1), (2, 5))
CJ = ((12, 11), (11, 4), (10, 9), (9, 8), (8, 10), (7, 6), (6, 7), (5, 3),
      (4, 2), (3, 1), (2, 5))


def jal_type(rd):
    if rd == 0:
        return DIRECT_JUMP
    return DIRECT_CALL if rd in LINK else OTHER_DIRECT


def jalr_type(rd, rs):
    if rd in LINK:
        return SWAP if rs in LINK and rs != rd else INDIRECT_CALL
    if rs in LINK:
        return RETURN
    return INDIRECT_JUMP if rd == 0 else OTHER_INDIRECT


class Insn:
    """kind: branch, jal, jalr, xret, ecall, ebreak or None for the others;
    type: the transfer type, of a branch when it is taken; target: of branch
    and jal."""

    def __init__(self, bits, pc):
        self.kind = self.type = self.target = None
        self.size = 4 if bits & 3 == 3 else 2
        self.rd = 0
        if self.size == 4:
            self.decode(bits & 0xffffffff, pc)
        else:
            self.decode_compressed(bits & 0xffff, pc)
        if self.target is not None:
            self.target &= (1 << 64) - 1

    def decode(self, bits, pc):
        opcode, self.rd, rs1 = bits & 0x7f, bits >> 7 & 31, bits >> 15 & 31
        if opcode == 0x63:
            self.kind, self.type = 'branch', TAKEN
            self.target = pc + signed(
                (bits >> 31) << 12 | (bits >> 7 & 1) << 11 |
                (bits >> 25 & 0x3f) << 5 | (bits >> 8 & 15) << 1, 13)
        elif opcode == 0x6f:
            self.kind, self.type = 'jal', jal_type(self.rd)
            self.target = pc + signed(
                (bits >> 31) << 20 | (bits >> 12 & 0xff) << 12 |
                (bits >> 20 & 1) << 11 | (bits >> 21 & 0x3ff) << 1, 21)
        elif opcode == 0x67:
            self.kind, self.type = 'jalr', jalr_type(self.rd, rs1)
        elif bits in (MRET, SRET):
            self.kind, self.type = 'xret', TRAP_RETURN
        elif bits == ECALL:
            self.kind = 'ecall'
        elif bits == EBREAK:
            self.kind = 'ebreak'

    def decode_compressed(self, bits, pc):
        quadrant, funct3 = bits & 3, bits >> 13
        rs1, rs2 = bits >> 7 & 31, bits >> 2 & 31
        if quadrant == 1 and funct3 in (6, 7):
            self.kind, self.type = 'branch', TAKEN
            self.target = pc + signed(gather(bits, CB), 9)
        elif quadrant == 1 and funct3 == 5:
            self.kind, self.type = 'jal', DIRECT_JUMP
            self.target = pc + signed(gather(bits, CJ), 12)
        elif quadrant == 2 and funct3 == 4 and rs2 == 0:
            if rs1 == 0:
                self.kind = 'ebreak' if bits >> 12 & 1 else None
            else:
                self.rd = bits >> 12 & 1
                self.kind, self.type = 'jalr', jalr_type(self.rd, rs1)
