/*
 * Code with known transfers: see ctr.h
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "ctr.h"

struct transfer gen_list[GEN_MAX];
unsigned gen_count;
uint16_t gen_code[32768] __attribute__((aligned(4096)));
static uint16_t *here;

uint32_t insn_i(unsigned opcode, unsigned funct3, unsigned rd, unsigned rs1,
                int imm)
{
    return opcode | rd << 7 | funct3 << 12 | rs1 << 15 | (uint32_t)imm << 20;
}

uint32_t insn_jal(unsigned rd, int offset)
{
    uint32_t o = offset;

    return 0x6f | rd << 7 | (o & 0xff000) | (o >> 11 & 1) << 20 |
           (o >> 1 & 0x3ff) << 21 | (o >> 20 & 1) << 31;
}

uint32_t insn_branch(unsigned funct3, unsigned rs1, unsigned rs2, int offset)
{
    uint32_t o = offset;

    return 0x63 | (o >> 11 & 1) << 7 | (o >> 1 & 0xf) << 8 | funct3 << 12 |
           rs1 << 15 | rs2 << 20 | (o >> 5 & 0x3f) << 25 | (o >> 12 & 1) << 31;
}

uint32_t insn_csrr(unsigned csr, unsigned rd)
{
    return insn_i(0x73, 2, rd, 0, csr);
}

uint32_t insn_csrw(unsigned csr, unsigned rs1)
{
    return insn_i(0x73, 1, 0, rs1, csr);
}

void *gen_begin(void)
{
    here = gen_code;
    gen_count = 0;
    return gen_code;
}

xlen_t gen_here(void)
{
    return (xlen_t)here;
}

void gen_half(uint16_t insn)
{
    *here++ = insn;
}

void gen_word(uint32_t insn)
{
    gen_half(insn);
    gen_half(insn >> 16);
}

static void log_transfer(xlen_t source, xlen_t target, unsigned type)
{
    gen_list[gen_count++] = (struct transfer){ source, target, type };
}

/* rs = the address behind the hole; jalr rd, rs; the hole */
static void indirect(unsigned type, unsigned rd, unsigned rs)
{
    xlen_t start = gen_here();

    gen_word(insn_i(0x17, 0, rs, 0, 0));            /* auipc rs, 0 */
    gen_word(insn_i(0x13, 0, rs, rs, 16));          /* addi rs, rs, 16 */
    gen_word(insn_i(0x67, 0, rd, rs, 0));
    gen_word(0);
    log_transfer(start + 8, start + 16, type);
}

static void direct(unsigned type, uint32_t insn)
{
    xlen_t start = gen_here();

    gen_word(insn);
    gen_word(0);
    log_transfer(start, start + 8, type);
}

void gen_transfer(unsigned type)
{
    switch (type) {
    case NOT_TAKEN:
        log_transfer(gen_here(), gen_here() + 4, type);
        gen_word(insn_branch(1, 0, 0, 8));          /* bne zero, zero */
        break;
    case TAKEN:
        direct(type, insn_branch(0, 0, 0, 8));      /* beq zero, zero */
        break;
    case DIR_CALL:
        direct(type, insn_jal(1, 8));
        break;
    case DIR_JUMP:
        direct(type, insn_jal(0, 8));
        break;
    case DIR_LINK:
        direct(type, insn_jal(6, 8));
        break;
    case IND_CALL:
        indirect(type, 1, 28);
        break;
    case IND_JUMP:
        indirect(type, 0, 28);
        break;
    case IND_LINK:
        indirect(type, 6, 28);
        break;
    case SWAP:
        indirect(type, 1, 5);
        break;
    case RETURN:
        indirect(type, 0, 1);
        break;
    default:
        bail("gen_transfer: type %u", type);
    }
}

void gen_nops(unsigned n)
{
    while (n--) {
        gen_word(0x13);
    }
}

void gen_li(unsigned reg, uint32_t value)
{
    gen_word(0x37 | reg << 7 | ((value + 0x800) & 0xfffff000));  /* lui */
    gen_word(insn_i(__riscv_xlen == 64 ? 0x1b : 0x13, 0, reg, reg,
                    value & 0xfff));                /* addi[w] */
}

uint64_t gen_loop(uint32_t n)
{
    gen_li(7, n);
    gen_word(insn_i(0x13, 0, 7, 7, -1));
    gen_word(insn_branch(1, 7, 0, -4));
    return 2 + 2 * (uint64_t)n;
}

void gen_end(void)
{
    gen_word(0x73);
    fence_i();
}

unsigned without(struct transfer *out, unsigned types)
{
    unsigned n = 0;

    for (unsigned i = 0; i < gen_count; i++) {
        if (!(types >> gen_list[i].type & 1)) {
            out[n++] = gen_list[i];
        }
    }
    return n;
}
