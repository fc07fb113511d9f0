/*
 * RISC-V instructions, as far as the decoder of chapter 11 has to know them
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "etrace-insn.h"

static uint32_t bits(uint32_t insn, unsigned from, unsigned n)
{
    return (insn >> from) & ((1u << n) - 1);
}

/* @val, whose sign is bit @n - 1 */
static int64_t sign_extend(uint32_t val, unsigned n)
{
    return (int64_t)((uint64_t)val << (64 - n)) >> (64 - n);
}

static bool is_link(unsigned reg)
{
    return reg == 1 || reg == 5;
}

/* A jump through @rs1: calls, returns and swaps as in section 4.1.1 */
static void set_jalr(RefInstr *i, unsigned rd, unsigned rs1, int64_t imm)
{
    if (rs1 == 0) {
        i->op = REF_JAL;
        i->target = imm;
        i->call = is_link(rd);
        return;
    }
    i->op = REF_JALR;
    i->reg = rs1;
    i->value = imm;
    i->call = is_link(rd) && (!is_link(rs1) || rd == rs1);
    i->ret = is_link(rs1) && !is_link(rd);
}

static void set_upper(RefInstr *i, unsigned rd, uint64_t value)
{
    i->op = REF_UPPER;
    i->reg = rd;
    i->value = value;
}

static int64_t imm_c_j(uint32_t insn)
{
    return sign_extend(bits(insn, 3, 3) << 1 | bits(insn, 11, 1) << 4 |
                       bits(insn, 2, 1) << 5 | bits(insn, 7, 1) << 6 |
                       bits(insn, 6, 1) << 7 | bits(insn, 9, 2) << 8 |
                       bits(insn, 8, 1) << 10 | bits(insn, 12, 1) << 11, 12);
}

static int64_t imm_c_b(uint32_t insn)
{
    return sign_extend(bits(insn, 3, 2) << 1 | bits(insn, 10, 2) << 3 |
                       bits(insn, 2, 1) << 5 | bits(insn, 5, 2) << 6 |
                       bits(insn, 12, 1) << 8, 9);
}

static RefInstr compressed(uint32_t insn, uint64_t pc, unsigned xlen)
{
    RefInstr i = { .op = REF_NORMAL, .size = 2 };
    unsigned rd = bits(insn, 7, 5), rs2 = bits(insn, 2, 5);

    switch (insn & 0xe003) {
    case 0x2001:                /* c.jal of RV32, c.addiw of RV64 */
        if (xlen == 32) {
            i.op = REF_JAL;
            i.target = pc + imm_c_j(insn);
            i.call = true;
        }
        break;
    case 0x6001:                /* c.lui, c.addi16sp */
        if (rd != 0 && rd != 2) {
            set_upper(&i, rd, sign_extend(bits(insn, 2, 5) |
                                          bits(insn, 12, 1) << 5, 6) * 4096);
        }
        break;
    case 0xa001:                /* c.j */
        i.op = REF_JAL;
        i.target = pc + imm_c_j(insn);
        break;
    case 0xc001:                /* c.beqz, c.bnez */
    case 0xe001:
        i.op = REF_BRANCH;
        i.target = pc + imm_c_b(insn);
        break;
    case 0x8002:                /* c.jr, c.jalr, c.ebreak, c.mv, c.add */
        if (rs2 == 0 && rd != 0) {
            set_jalr(&i, bits(insn, 12, 1), rd, 0);
        } else if (rs2 == 0 && bits(insn, 12, 1)) {
            i.op = REF_ECALL;
        }
        break;
    }
    return i;
}

static int64_t imm_b(uint32_t insn)
{
    return sign_extend(bits(insn, 8, 4) << 1 | bits(insn, 25, 6) << 5 |
                       bits(insn, 7, 1) << 11 | bits(insn, 31, 1) << 12, 13);
}

static int64_t imm_j(uint32_t insn)
{
    return sign_extend(bits(insn, 21, 10) << 1 | bits(insn, 20, 1) << 11 |
                       bits(insn, 12, 8) << 12 | bits(insn, 31, 1) << 20, 21);
}

RefInstr etrace_insn(uint32_t insn, uint64_t pc, unsigned xlen)
{
    RefInstr i = { .op = REF_NORMAL, .size = 4 };
    unsigned rd = bits(insn, 7, 5);
    int64_t upper = (int32_t)(insn & 0xfffff000);

    if ((insn & 3) != 3) {
        return compressed(insn & 0xffff, pc, xlen);
    }
    switch (insn & 0x7f) {
    case 0x17:                  /* auipc */
        set_upper(&i, rd, pc + upper);
        break;
    case 0x37:                  /* lui */
        set_upper(&i, rd, upper);
        break;
    case 0x63:
        i.op = REF_BRANCH;
        i.target = pc + imm_b(insn);
        break;
    case 0x67:
        set_jalr(&i, rd, bits(insn, 15, 5), (int32_t)insn >> 20);
        break;
    case 0x6f:
        i.op = REF_JAL;
        i.target = pc + imm_j(insn);
        i.call = is_link(rd);
        break;
    case 0x73:
        switch (insn) {
        case 0x00000073:        /* ecall, ebreak */
        case 0x00100073:
            i.op = REF_ECALL;
            break;
        case 0x10200073:        /* sret, mret, mnret, dret */
        case 0x30200073:
        case 0x70200073:
        case 0x7b200073:
            i.op = REF_XRET;
            break;
        }
        break;
    }
    if (xlen == 32) {
        i.target = (uint32_t)i.target;
    }
    return i;
}
