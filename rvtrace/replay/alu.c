/*
 * Instructions that compute
 *
 * "The RISC-V Instruction Set Manual, Volume I", chapters of RV32I, RV64I, M,
 * B, Zicond and scalar cryptography.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "replay/alu.h"

#define OP_IMM      0x13
#define OP_IMM_32   0x1b
#define OP          0x33
#define OP_32       0x3b

/* funct7 and funct3 of OP and OP-32 */
#define F(f7, f3)   ((f7) << 3 | (f3))

static int64_t as_signed(unsigned xlen, uint64_t v)
{
    return xlen == 32 ? (int32_t)v : (int64_t)v;
}

static uint64_t shift_right(unsigned xlen, uint64_t v, unsigned by)
{
    return as_signed(xlen, v) >> by;
}

static uint64_t rotate_right(unsigned xlen, uint64_t v, unsigned by)
{
    return by ? v >> by | v << (xlen - by) : v;
}

static uint64_t carryless(unsigned xlen, uint64_t a, uint64_t b, unsigned f3)
{
    uint64_t lo = 0, hi = 0;

    for (unsigned i = 0; i < xlen; i++) {
        if (b >> i & 1) {
            lo ^= a << i;
            hi ^= i ? a >> (xlen - i) : 0;
        }
    }
    lo = alu_word(xlen, lo);
    switch (f3) {
    case 1:
        return lo;
    case 2:
        /* clmulr: bits 2 * xlen - 2 to xlen - 1 of the product */
        return hi << 1 | lo >> (xlen - 1);
    default:
        return hi;
    }
}

static uint64_t multiply_high(unsigned xlen, uint64_t a, uint64_t b,
                              bool a_signed, bool b_signed)
{
    __int128 x = a_signed ? as_signed(xlen, a) : (__int128)a;
    __int128 y = b_signed ? as_signed(xlen, b) : (__int128)b;

    /* Both at most 64 bits: the low 128 bits of the product are right. */
    return (unsigned __int128)x * (unsigned __int128)y >> xlen;
}

static uint64_t divide(unsigned xlen, uint64_t a, uint64_t b, unsigned f3)
{
    int64_t x = as_signed(xlen, a), y = as_signed(xlen, b);
    bool overflows = y == -1 && x == (xlen == 32 ? INT32_MIN : INT64_MIN);

    switch (f3) {
    case 4:
        return !b ? UINT64_MAX : overflows ? a : (uint64_t)(x / y);
    case 5:
        return !b ? UINT64_MAX : a / b;
    case 6:
        return !b ? a : overflows ? 0 : (uint64_t)(x % y);
    default:
        return !b ? a : a % b;
    }
}

static bool op(unsigned xlen, uint32_t raw, uint64_t a, uint64_t b,
               uint64_t *rd)
{
    int64_t x = as_signed(xlen, a), y = as_signed(xlen, b);
    unsigned by = b & (xlen - 1), f3 = raw >> 12 & 7, half = xlen / 2;
    uint64_t bit = 1ull << by, low = xlen == 32 ? 0xffff : UINT32_MAX;

    switch (F(raw >> 25, f3)) {
    case F(0x00, 0):
        *rd = a + b;
        return true;
    case F(0x00, 1):
        *rd = a << by;
        return true;
    case F(0x00, 2):
        *rd = x < y;
        return true;
    case F(0x00, 3):
        *rd = a < b;
        return true;
    case F(0x00, 4):
        *rd = a ^ b;
        return true;
    case F(0x00, 5):
        *rd = a >> by;
        return true;
    case F(0x00, 6):
        *rd = a | b;
        return true;
    case F(0x00, 7):
        *rd = a & b;
        return true;
    case F(0x20, 0):
        *rd = a - b;
        return true;
    case F(0x20, 4):
        *rd = ~(a ^ b);
        return true;
    case F(0x20, 5):
        *rd = shift_right(xlen, a, by);
        return true;
    case F(0x20, 6):
        *rd = a | ~b;
        return true;
    case F(0x20, 7):
        *rd = a & ~b;
        return true;
    case F(0x01, 0):
        *rd = a * b;
        return true;
    case F(0x01, 1):
        *rd = multiply_high(xlen, a, b, true, true);
        return true;
    case F(0x01, 2):
        *rd = multiply_high(xlen, a, b, true, false);
        return true;
    case F(0x01, 3):
        *rd = multiply_high(xlen, a, b, false, false);
        return true;
    case F(0x01, 4):
    case F(0x01, 5):
    case F(0x01, 6):
    case F(0x01, 7):
        *rd = divide(xlen, a, b, f3);
        return true;
    case F(0x10, 2):
    case F(0x10, 4):
    case F(0x10, 6):
        *rd = (a << f3 / 2) + b;
        return true;
    case F(0x05, 1):
    case F(0x05, 2):
    case F(0x05, 3):
        *rd = carryless(xlen, a, b, f3);
        /* As with pack: QEMU 10.0 has other high halves of RV32. */
        return xlen == 64 || f3 == 1;
    case F(0x05, 4):
        *rd = MIN(x, y);
        return true;
    case F(0x05, 5):
        *rd = MIN(a, b);
        return true;
    case F(0x05, 6):
        *rd = MAX(x, y);
        return true;
    case F(0x05, 7):
        *rd = MAX(a, b);
        return true;
    case F(0x07, 5):
        *rd = b ? a : 0;
        return true;
    case F(0x07, 7):
        *rd = b ? 0 : a;
        return true;
    case F(0x04, 4):        /* pack; of RV32, zext.h is one */
        *rd = (a & low) | (b & low) << half;
        /* QEMU 10.0, which also runs RV64, takes all of rs1 there. */
        return xlen == 64 || !(raw >> 20 & 31);
    case F(0x04, 7):
        *rd = (a & 0xff) | (b & 0xff) << 8;
        return true;
    case F(0x30, 1):
        *rd = rotate_right(xlen, a, -by & (xlen - 1));
        return true;
    case F(0x30, 5):
        *rd = rotate_right(xlen, a, by);
        return true;
    case F(0x24, 1):
        *rd = a & ~bit;
        return true;
    case F(0x24, 5):
        *rd = a >> by & 1;
        return true;
    case F(0x14, 1):
        *rd = a | bit;
        return true;
    case F(0x34, 1):
        *rd = a ^ bit;
        return true;
    default:
        return false;
    }
}

static uint64_t extend32(uint64_t v)
{
    return (int32_t)v;
}

/* Of RV64: on the low words */
static bool op_32(uint32_t raw, uint64_t a, uint64_t b, uint64_t *rd)
{
    unsigned f3 = raw >> 12 & 7;
    uint32_t x = a, y = b;

    switch (F(raw >> 25, f3)) {
    case F(0x00, 0):
        *rd = extend32(x + y);
        return true;
    case F(0x00, 1):
        *rd = extend32(x << (y & 31));
        return true;
    case F(0x00, 5):
        *rd = extend32(x >> (y & 31));
        return true;
    case F(0x20, 0):
        *rd = extend32(x - y);
        return true;
    case F(0x20, 5):
        *rd = (int32_t)x >> (y & 31);
        return true;
    case F(0x01, 0):
        *rd = extend32(x * y);
        return true;
    case F(0x01, 4):
    case F(0x01, 5):
    case F(0x01, 6):
    case F(0x01, 7):
        *rd = extend32(divide(32, x, y, f3));
        return true;
    case F(0x04, 0):        /* add.uw */
        *rd = x + b;
        return true;
    case F(0x04, 4):        /* packw; zext.h is one */
        *rd = extend32((x & 0xffff) | y << 16);
        return true;
    case F(0x10, 2):
    case F(0x10, 4):
    case F(0x10, 6):
        *rd = ((uint64_t)x << f3 / 2) + b;
        return true;
    case F(0x30, 1):
        *rd = extend32(rotate_right(32, x, -y & 31));
        return true;
    case F(0x30, 5):
        *rd = extend32(rotate_right(32, x, y & 31));
        return true;
    default:
        return false;
    }
}

static unsigned leading_zeros(unsigned xlen, uint64_t v)
{
    return v ? __builtin_clzll(v) - (64 - xlen) : xlen;
}

static unsigned trailing_zeros(unsigned xlen, uint64_t v)
{
    return v ? (unsigned)__builtin_ctzll(v) : xlen;
}

/* orc.b */
static uint64_t or_bytes(uint64_t v)
{
    uint64_t r = 0;

    for (unsigned i = 0; i < 64; i += 8) {
        r |= v >> i & 0xff ? 0xffull << i : 0;
    }
    return r;
}

/* brev8 */
static uint64_t reverse_bits_of_bytes(uint64_t v)
{
    v = (v & 0x5555555555555555) << 1 | (v >> 1 & 0x5555555555555555);
    v = (v & 0x3333333333333333) << 2 | (v >> 2 & 0x3333333333333333);
    return (v & 0x0f0f0f0f0f0f0f0f) << 4 | (v >> 4 & 0x0f0f0f0f0f0f0f0f);
}

/* clz, ctz, cpop, and sext.b, sext.h if @extends */
static bool count_bits(unsigned xlen, unsigned which, uint64_t a, bool extends,
                       uint64_t *rd)
{
    switch (which) {
    case 0:
        *rd = leading_zeros(xlen, a);
        return true;
    case 1:
        *rd = trailing_zeros(xlen, a);
        return true;
    case 2:
        *rd = __builtin_popcountll(a);
        return true;
    case 4:
        *rd = (int64_t)(a << 56) >> 56;
        return extends;
    case 5:
        *rd = (int64_t)(a << 48) >> 48;
        return extends;
    default:
        return false;
    }
}

/* OP-IMM, with funct3 1: by the bits above the shift amount */
static bool shift_left_imm(unsigned xlen, uint32_t raw, uint64_t a,
                           uint64_t *rd)
{
    unsigned by = raw >> 20 & (xlen - 1);

    if (xlen == 32 && raw >> 25 & 1) {
        return false;
    }
    switch (raw >> 26) {
    case 0x00:
        *rd = a << by;
        return true;
    case 0x12:
        *rd = a & ~(1ull << by);
        return true;
    case 0x0a:
        *rd = a | 1ull << by;
        return true;
    case 0x1a:
        *rd = a ^ 1ull << by;
        return true;
    case 0x18:
        return !(raw >> 25 & 1) && count_bits(xlen, by, a, true, rd);
    default:
        return false;
    }
}

/* ... and with funct3 5 */
static bool shift_right_imm(unsigned xlen, uint32_t raw, uint64_t a,
                            uint64_t *rd)
{
    unsigned by = raw >> 20 & (xlen - 1);

    switch (raw >> 20) {
    case 0x287:
        *rd = or_bytes(a);
        return true;
    case 0x687:
        *rd = reverse_bits_of_bytes(a);
        return true;
    case 0x698:
        if (xlen == 32) {
            *rd = __builtin_bswap32(a);
            return true;
        }
        break;
    case 0x6b8:
        *rd = __builtin_bswap64(a);
        return xlen == 64;
    }
    if (xlen == 32 && raw >> 25 & 1) {
        return false;
    }
    switch (raw >> 26) {
    case 0x00:
        *rd = a >> by;
        return true;
    case 0x10:
        *rd = shift_right(xlen, a, by);
        return true;
    case 0x18:
        *rd = rotate_right(xlen, a, by);
        return true;
    case 0x12:
        *rd = a >> by & 1;
        return true;
    default:
        return false;
    }
}

static bool op_imm(unsigned xlen, uint32_t raw, uint64_t a, uint64_t *rd)
{
    int64_t imm = (int32_t)raw >> 20;

    switch (raw >> 12 & 7) {
    case 0:
        *rd = a + imm;
        return true;
    case 1:
        return shift_left_imm(xlen, raw, a, rd);
    case 2:
        *rd = as_signed(xlen, a) < imm;
        return true;
    case 3:
        *rd = a < alu_word(xlen, imm);
        return true;
    case 4:
        *rd = a ^ imm;
        return true;
    case 5:
        return shift_right_imm(xlen, raw, a, rd);
    case 6:
        *rd = a | imm;
        return true;
    default:
        *rd = a & imm;
        return true;
    }
}

static bool op_imm_32(uint32_t raw, uint64_t a, uint64_t *rd)
{
    unsigned by = raw >> 20 & 31, f7 = raw >> 25;
    uint32_t x = a;

    switch (raw >> 12 & 7) {
    case 0:
        *rd = extend32(x + ((int32_t)raw >> 20));
        return true;
    case 1:
        switch (f7) {
        case 0x00:
            *rd = extend32(x << by);
            return true;
        case 0x04:
        case 0x05:          /* slli.uw */
            *rd = (uint64_t)x << (raw >> 20 & 63);
            return true;
        case 0x30:
            return count_bits(32, by, x, false, rd);
        }
        return false;
    case 5:
        switch (f7) {
        case 0x00:
            *rd = extend32(x >> by);
            return true;
        case 0x20:
            *rd = (int32_t)x >> by;
            return true;
        case 0x30:
            *rd = extend32(rotate_right(32, x, by));
            return true;
        }
        return false;
    default:
        return false;
    }
}

bool alu_compute(unsigned xlen, uint32_t raw, uint64_t a, uint64_t b,
                 uint64_t *rd)
{
    bool known;

    switch (raw & 0x7f) {
    case OP:
        known = op(xlen, raw, a, b, rd);
        break;
    case OP_IMM:
        known = op_imm(xlen, raw, a, rd);
        break;
    case OP_32:
        known = xlen == 64 && op_32(raw, a, b, rd);
        break;
    case OP_IMM_32:
        known = xlen == 64 && op_imm_32(raw, a, rd);
        break;
    default:
        return false;
    }
    *rd = alu_word(xlen, *rd);
    return known;
}
