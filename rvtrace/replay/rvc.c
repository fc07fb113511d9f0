/*
 * Compressed instructions: what they are short for
 *
 * "The RISC-V Instruction Set Manual, Volume I", chapters "C" and "Zc*".
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "replay/rvc.h"

#define SP  2

/* @n bits of @v from bit @from on, at bit @to */
static uint32_t move(uint32_t v, unsigned from, unsigned n, unsigned to)
{
    return (v >> from & ((1u << n) - 1)) << to;
}

static int32_t extend(uint32_t v, unsigned bits)
{
    return (int32_t)(v << (32 - bits)) >> (32 - bits);
}

static uint32_t i_type(unsigned opcode, unsigned f3, unsigned rd, unsigned rs1,
                       uint32_t imm)
{
    return imm << 20 | rs1 << 15 | f3 << 12 | rd << 7 | opcode;
}

static uint32_t r_type(unsigned opcode, unsigned f7, unsigned f3, unsigned rd,
                       unsigned rs1, unsigned rs2)
{
    return f7 << 25 | rs2 << 20 | rs1 << 15 | f3 << 12 | rd << 7 | opcode;
}

static uint32_t s_type(unsigned opcode, unsigned f3, unsigned rs1,
                       unsigned rs2, uint32_t imm)
{
    return (imm >> 5 & 0x7f) << 25 | rs2 << 20 | rs1 << 15 | f3 << 12 |
           (imm & 0x1f) << 7 | opcode;
}

static uint32_t jal(unsigned rd, uint32_t imm)
{
    return move(imm, 20, 1, 31) | move(imm, 1, 10, 21) | move(imm, 11, 1, 20) |
           move(imm, 12, 8, 12) | rd << 7 | 0x6f;
}

static uint32_t branch(unsigned f3, unsigned rs1, uint32_t imm)
{
    return move(imm, 12, 1, 31) | move(imm, 5, 6, 25) | rs1 << 15 | f3 << 12 |
           move(imm, 1, 4, 8) | move(imm, 11, 1, 7) | 0x63;
}

/* Offsets of words and of double words, of loads and stores by a register */
static uint32_t word_offset(uint32_t c)
{
    return move(c, 10, 3, 3) | move(c, 6, 1, 2) | move(c, 5, 1, 6);
}

static uint32_t double_offset(uint32_t c)
{
    return move(c, 10, 3, 3) | move(c, 5, 2, 6);
}

static uint32_t six(uint32_t c)
{
    return move(c, 12, 1, 5) | move(c, 2, 5, 0);
}

/* Zcb: c.lbu, c.lhu, c.lh, c.sb, c.sh */
static uint32_t bytes(uint32_t c, unsigned rs1, unsigned rd)
{
    uint32_t half = move(c, 5, 1, 1);

    switch (c >> 10 & 7) {
    case 0:
        return i_type(0x03, 4, rd, rs1, move(c, 6, 1, 0) | half);
    case 1:
        return i_type(0x03, c >> 6 & 1 ? 1 : 5, rd, rs1, half);
    case 2:
        return s_type(0x23, 0, rs1, rd, move(c, 6, 1, 0) | half);
    case 3:
        return c >> 6 & 1 ? 0 : s_type(0x23, 1, rs1, rd, half);
    default:
        return 0;
    }
}

static uint32_t quadrant_0(unsigned xlen, uint32_t c)
{
    unsigned rd = 8 + (c >> 2 & 7), rs1 = 8 + (c >> 7 & 7);
    uint32_t imm;

    switch (c >> 13) {
    case 0:
        imm = move(c, 11, 2, 4) | move(c, 7, 4, 6) | move(c, 6, 1, 2) |
              move(c, 5, 1, 3);
        return imm ? i_type(0x13, 0, rd, SP, imm) : 0;
    case 1:
        return i_type(0x07, 3, rd, rs1, double_offset(c));
    case 2:
        return i_type(0x03, 2, rd, rs1, word_offset(c));
    case 3:
        return xlen == 32 ? i_type(0x07, 2, rd, rs1, word_offset(c)) :
                            i_type(0x03, 3, rd, rs1, double_offset(c));
    case 4:
        return bytes(c, rs1, rd);
    case 5:
        return s_type(0x27, 3, rs1, rd, double_offset(c));
    case 6:
        return s_type(0x23, 2, rs1, rd, word_offset(c));
    default:
        return xlen == 32 ? s_type(0x27, 2, rs1, rd, word_offset(c)) :
                            s_type(0x23, 3, rs1, rd, double_offset(c));
    }
}

/* Zcb: c.zext.b and so on */
static uint32_t unary(unsigned xlen, uint32_t c, unsigned rd)
{
    switch (c >> 2 & 7) {
    case 0:
        return i_type(0x13, 7, rd, rd, 0xff);
    case 1:
        return i_type(0x13, 1, rd, rd, 0x604);
    case 2:
        return r_type(xlen == 32 ? 0x33 : 0x3b, 0x04, 4, rd, rd, 0);
    case 3:
        return i_type(0x13, 1, rd, rd, 0x605);
    case 4:
        return xlen == 64 ? r_type(0x3b, 0x04, 0, rd, rd, 0) : 0;
    case 5:
        return i_type(0x13, 4, rd, rd, 0xfff);
    default:
        return 0;
    }
}

static uint32_t arithmetic(unsigned xlen, uint32_t c)
{
    static const uint8_t f3[] = { 0, 4, 6, 7 };
    unsigned rd = 8 + (c >> 7 & 7), rs2 = 8 + (c >> 2 & 7);
    unsigned which = c >> 5 & 3;

    switch (c >> 10 & 3) {
    case 0:
        return i_type(0x13, 5, rd, rd, six(c));
    case 1:
        return i_type(0x13, 5, rd, rd, six(c) | 0x400);
    case 2:
        return i_type(0x13, 7, rd, rd, extend(six(c), 6));
    }
    if (!(c >> 12 & 1)) {
        return r_type(0x33, which ? 0 : 0x20, f3[which], rd, rd, rs2);
    }
    switch (which) {
    case 0:
        return xlen == 64 ? r_type(0x3b, 0x20, 0, rd, rd, rs2) : 0;
    case 1:
        return xlen == 64 ? r_type(0x3b, 0x00, 0, rd, rd, rs2) : 0;
    case 2:
        return r_type(0x33, 0x01, 0, rd, rd, rs2);
    default:
        return unary(xlen, c, rd);
    }
}

static uint32_t jump_offset(uint32_t c)
{
    return extend(move(c, 12, 1, 11) | move(c, 11, 1, 4) | move(c, 9, 2, 8) |
                  move(c, 8, 1, 10) | move(c, 7, 1, 6) | move(c, 6, 1, 7) |
                  move(c, 3, 3, 1) | move(c, 2, 1, 5), 12);
}

static uint32_t branch_offset(uint32_t c)
{
    return extend(move(c, 12, 1, 8) | move(c, 10, 2, 3) | move(c, 5, 2, 6) |
                  move(c, 3, 2, 1) | move(c, 2, 1, 5), 9);
}

static uint32_t lui(uint32_t c, unsigned rd)
{
    int32_t imm = extend(six(c), 6);

    if (rd == SP) {
        imm = extend(move(c, 12, 1, 9) | move(c, 6, 1, 4) | move(c, 5, 1, 6) |
                     move(c, 3, 2, 7) | move(c, 2, 1, 5), 10);
        return imm ? i_type(0x13, 0, SP, SP, imm) : 0;
    }
    /* Without an immediate they are c.mop and reserved. */
    return imm ? (uint32_t)imm << 12 | rd << 7 | 0x37 : 0;
}

static uint32_t quadrant_1(unsigned xlen, uint32_t c)
{
    unsigned rd = c >> 7 & 31;
    int32_t imm = extend(six(c), 6);

    switch (c >> 13) {
    case 0:
        return i_type(0x13, 0, rd, rd, imm);
    case 1:
        return xlen == 32 ? jal(1, jump_offset(c)) :
               rd ? i_type(0x1b, 0, rd, rd, imm) : 0;
    case 2:
        return i_type(0x13, 0, rd, 0, imm);
    case 3:
        return lui(c, rd);
    case 4:
        return arithmetic(xlen, c);
    case 5:
        return jal(0, jump_offset(c));
    case 6:
        return branch(0, 8 + (c >> 7 & 7), branch_offset(c));
    default:
        return branch(1, 8 + (c >> 7 & 7), branch_offset(c));
    }
}

static uint32_t registers(uint32_t c, unsigned rd, unsigned rs2)
{
    if (!(c >> 12 & 1)) {
        return rs2 ? r_type(0x33, 0, 0, rd, 0, rs2) :
               rd ? i_type(0x67, 0, 0, rd, 0) : 0;
    }
    return rs2 ? r_type(0x33, 0, 0, rd, rd, rs2) :
           rd ? i_type(0x67, 0, 1, rd, 0) : 0x00100073;
}

static uint32_t quadrant_2(unsigned xlen, uint32_t c)
{
    unsigned rd = c >> 7 & 31, rs2 = c >> 2 & 31;
    uint32_t load_word = move(c, 12, 1, 5) | move(c, 4, 3, 2) |
                         move(c, 2, 2, 6);
    uint32_t load_double = move(c, 12, 1, 5) | move(c, 5, 2, 3) |
                           move(c, 2, 3, 6);
    uint32_t store_word = move(c, 9, 4, 2) | move(c, 7, 2, 6);
    uint32_t store_double = move(c, 10, 3, 3) | move(c, 7, 3, 6);

    switch (c >> 13) {
    case 0:
        return i_type(0x13, 1, rd, rd, six(c));
    case 1:
        return i_type(0x07, 3, rd, SP, load_double);
    case 2:
        return i_type(0x03, 2, rd, SP, load_word);
    case 3:
        return xlen == 32 ? i_type(0x07, 2, rd, SP, load_word) :
                            i_type(0x03, 3, rd, SP, load_double);
    case 4:
        return registers(c, rd, rs2);
    case 5:
        return s_type(0x27, 3, SP, rs2, store_double);
    case 6:
        return s_type(0x23, 2, SP, rs2, store_word);
    default:
        return xlen == 32 ? s_type(0x27, 2, SP, rs2, store_word) :
                            s_type(0x23, 3, SP, rs2, store_double);
    }
}

uint32_t rvc_expand(unsigned xlen, uint16_t raw)
{
    switch (raw & 3) {
    case 0:
        return quadrant_0(xlen, raw);
    case 1:
        return quadrant_1(xlen, raw);
    case 2:
        return quadrant_2(xlen, raw);
    default:
        return 0;
    }
}
