/*
 * Instructions that compute with floating point
 *
 * By the host's arithmetic: IEEE 754 defines sums, products, quotients, roots
 * and conversions to the last bit, but for what a NaN looks like, which RISC-V
 * defines. Flags are not needed: who reads fcsr has it from the trace.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <fenv.h>
#include <float.h>
#include <math.h>
#include "replay/fpu.h"

/* The host has the formats. */
QEMU_BUILD_BUG_ON(FLT_MANT_DIG != 24 || DBL_MANT_DIG != 53);

#define NAN_S   0x7fc00000u
#define NAN_D   0x7ff8000000000000ull

/* Operations with a float, or a double, as result */
typedef enum FpuOp {
    OP_ADD,
    OP_SUB,
    OP_MUL,
    OP_DIV,
    OP_SQRT,
    OP_FMA,
} FpuOp;

/* The bits of a float in an f register: see fpu_box() */
static uint32_t unbox(uint64_t v)
{
    return v >> 32 == UINT32_MAX ? v : NAN_S;
}

static float to_float(uint64_t v)
{
    uint32_t bits = unbox(v);
    float number;

    memcpy(&number, &bits, sizeof(number));
    return number;
}

static double to_double(uint64_t v)
{
    double number;

    memcpy(&number, &v, sizeof(number));
    return number;
}

static uint64_t from_float(float number)
{
    uint32_t bits = NAN_S;

    if (!isnan(number)) {
        memcpy(&bits, &number, sizeof(bits));
    }
    return fpu_box(bits, 4);
}

static uint64_t from_double(double number)
{
    uint64_t bits = NAN_D;

    if (!isnan(number)) {
        memcpy(&bits, &number, sizeof(bits));
    }
    return bits;
}

/* A float or a double; each float is a double, too. */
static double to_number(bool is_double, uint64_t v)
{
    return is_double ? to_double(v) : to_float(v);
}

static uint64_t from_number(bool is_double, double number)
{
    return is_double ? from_double(number) : from_float(number);
}

/* Round so until the next call; RMM: as RNE. */
static void round_by(FpuRound how)
{
    static const int modes[] = {
        FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD, FE_TONEAREST,
    };

    fesetround(modes[how]);
}

/*
 * compute_float() and compute_double(). The operands are volatile so that
 * nothing is computed before the rounding mode is set, or behind.
 */
#define COMPUTE(type, root, fused)                                      \
    static type compute_##type(FpuOp op, volatile type a,               \
                               volatile type b, volatile type c)        \
    {                                                                   \
        volatile type r;                                                \
                                                                        \
        switch (op) {                                                   \
        case OP_ADD:                                                    \
            r = a + b;                                                  \
            break;                                                      \
        case OP_SUB:                                                    \
            r = a - b;                                                  \
            break;                                                      \
        case OP_MUL:                                                    \
            r = a * b;                                                  \
            break;                                                      \
        case OP_DIV:                                                    \
            r = a / b;                                                  \
            break;                                                      \
        case OP_SQRT:                                                   \
            r = root(a);                                                \
            break;                                                      \
        default:                                                        \
            r = fused(a, b, c);                                         \
            break;                                                      \
        }                                                               \
        return r;                                                       \
    }

COMPUTE(float, sqrtf, fmaf)
COMPUTE(double, sqrt, fma)

static bool compute(bool is_double, FpuOp op, const uint64_t f[3],
                    FpuRound how, uint64_t *rd)
{
    if (how > FPU_RUP) {
        return false;           /* no host rounds as RMM does */
    }
    round_by(how);
    *rd = is_double ?
          from_double(compute_double(op, to_double(f[0]), to_double(f[1]),
                                     to_double(f[2]))) :
          from_float(compute_float(op, to_float(f[0]), to_float(f[1]),
                                   to_float(f[2])));
    round_by(FPU_RNE);
    return true;
}

/* fmadd, fmsub, fnmsub, fnmadd: by bits 3 and 2 of the opcode */
static bool multiply_add(uint32_t raw, bool is_double, const FpuSources *in,
                         FpuRound how, uint64_t *rd)
{
    uint64_t sign = is_double ? 1ull << 63 : 1u << 31;
    uint64_t f[3] = { in->f[0], in->f[1], in->f[2] };

    if (raw >> 3 & 1) {
        f[0] ^= sign;
    }
    if (raw >> 2 & 1) {
        f[2] ^= sign;
    }
    return compute(is_double, OP_FMA, f, how, rd);
}

static uint64_t fclass(bool is_double, uint64_t f)
{
    double number = to_number(is_double, f);
    bool negative = signbit(number);

    if (isnan(number)) {
        return (is_double ? f >> 51 : unbox(f) >> 22) & 1 ? 1 << 9 : 1 << 8;
    }
    if (isinf(number)) {
        return negative ? 1 << 0 : 1 << 7;
    }
    if (number == 0) {
        return negative ? 1 << 3 : 1 << 4;
    }
    if (fabs(number) < (is_double ? DBL_MIN : FLT_MIN)) {
        return negative ? 1 << 2 : 1 << 5;
    }
    return negative ? 1 << 1 : 1 << 6;
}

/* Is @a the lesser one? -0 is less than +0. */
static bool is_less(double a, double b)
{
    return a < b || (a == b && signbit(a) && !signbit(b));
}

/* fmin and fmax: if one is a NaN, the other one is the result. */
static bool extreme(bool is_double, unsigned f3, uint64_t a, uint64_t b,
                    uint64_t *rd)
{
    double x = to_number(is_double, a), y = to_number(is_double, b);
    bool first = isnan(y) || (!isnan(x) && is_less(x, y) == !f3);

    if (f3 > 1) {
        return false;           /* Zfa's */
    }
    *rd = from_number(is_double, first ? x : y);
    return true;
}

static bool compare(bool is_double, unsigned f3, uint64_t a, uint64_t b,
                    uint64_t *rd)
{
    double x = to_number(is_double, a), y = to_number(is_double, b);

    *rd = f3 == 2 ? x == y : f3 == 1 ? x < y : x <= y;
    return f3 < 3;
}

/* fcvt.w.s and so on; @kind: W, WU, L, LU */
static bool to_integer(double number, unsigned kind, FpuRound how,
                       uint64_t *rd)
{
    static const double least[] = { -0x1p31, 0, -0x1p63, 0 };
    static const double above[] = { 0x1p31, 0x1p32, 0x1p63, 0x1p64 };
    static const uint64_t most[] = { INT32_MAX, UINT64_MAX, INT64_MAX,
                                     UINT64_MAX };
    volatile double given = number, whole;

    round_by(how);
    whole = how == FPU_RMM ? round(given) : nearbyint(given);
    round_by(FPU_RNE);
    if (isnan(number) || whole >= above[kind]) {
        *rd = most[kind];
    } else if (whole < least[kind]) {
        *rd = kind & 1 ? 0 : (uint64_t)(int64_t)least[kind];
    } else if (kind == 1) {
        *rd = (int32_t)(uint32_t)whole;
    } else {
        *rd = kind == 3 ? (uint64_t)whole : (uint64_t)(int64_t)whole;
    }
    return true;
}

/* fcvt.s.w and so on */
static bool from_integer(bool is_double, uint64_t x, unsigned kind,
                         FpuRound how, uint64_t *rd)
{
    volatile int64_t given = kind == 0 ? (int32_t)x : kind == 1 ? (uint32_t)x :
                             (int64_t)x;
    volatile double d = 0;
    volatile float s = 0;

    if (how > FPU_RUP) {
        return false;
    }
    round_by(how);
    if (is_double) {
        d = kind == 3 ? (double)(uint64_t)given : (double)given;
    } else {
        s = kind == 3 ? (float)(uint64_t)given : (float)given;
    }
    round_by(FPU_RNE);
    *rd = is_double ? from_double(d) : from_float(s);
    return true;
}

/* fcvt.s.d and fcvt.d.s */
static bool other_format(bool is_double, unsigned from, uint64_t f,
                         FpuRound how, uint64_t *rd)
{
    volatile double given;
    volatile float s;

    if (from != !is_double) {
        return false;           /* Zfh's and Zfa's */
    }
    if (is_double) {
        *rd = from_double(to_float(f));
        return true;
    }
    if (how > FPU_RUP) {
        return false;
    }
    given = to_double(f);
    round_by(how);
    s = given;
    round_by(FPU_RNE);
    *rd = from_float(s);
    return true;
}

static bool inject_sign(unsigned f3, bool is_double, uint64_t a, uint64_t b,
                        uint64_t *rd)
{
    unsigned bytes = is_double ? 8 : 4;
    uint64_t top = 1ull << (8 * bytes - 1);

    if (!is_double) {
        a = unbox(a);
        b = unbox(b);
    }
    b = f3 == 0 ? b : f3 == 1 ? ~b : a ^ b;
    *rd = fpu_box((a & ~top) | (b & top), bytes);
    return f3 < 3;
}

static bool op_fp(unsigned xlen, uint32_t raw, const FpuSources *in,
                  FpuRound how, uint64_t *rd)
{
    static const uint8_t ops[] = { OP_ADD, OP_SUB, OP_MUL, OP_DIV };
    unsigned f3 = raw >> 12 & 7, rs2 = raw >> 20 & 31;
    bool is_double = raw >> 25 & 1;
    uint64_t a = in->f[0], b = in->f[1];

    switch (raw >> 27) {
    case 0x00:
    case 0x01:
    case 0x02:
    case 0x03:
        return compute(is_double, ops[raw >> 27], in->f, how, rd);
    case 0x04:
        return inject_sign(f3, is_double, a, b, rd);
    case 0x05:
        return extreme(is_double, f3, a, b, rd);
    case 0x08:
        return other_format(is_double, rs2, a, how, rd);
    case 0x0b:
        return rs2 == 0 && compute(is_double, OP_SQRT, in->f, how, rd);
    case 0x14:
        return compare(is_double, f3, a, b, rd);
    case 0x18:
        return rs2 < 4 && how < FPU_DYN &&
               to_integer(to_number(is_double, a), rs2, how, rd);
    case 0x1a:
        return rs2 < 4 && from_integer(is_double, in->x, rs2, how, rd);
    case 0x1c:                  /* fmv.x.w and so on, and fclass */
        *rd = f3 ? fclass(is_double, a) : is_double ? a :
                  (uint64_t)(int32_t)a;
        return f3 < 2 && !rs2;
    case 0x1e:                  /* fmv.w.x and so on, and fli */
        *rd = fpu_box(in->x, is_double ? 8 : 4);
        return !f3 && !rs2 && (!is_double || xlen == 64);
    default:
        return false;
    }
}

bool fpu_compute(unsigned xlen, uint32_t raw, const FpuSources *in,
                 uint64_t *rd)
{
    FpuRound how = raw >> 12 & 7;

    if (raw >> 26 & 1) {
        return false;           /* Zfh, Q */
    }
    if (FLT_EVAL_METHOD != 0) {
        return false;           /* The host would round twice. */
    }
    if (how == FPU_DYN) {
        how = in->frm;
    }
    if (how > FPU_RMM) {
        how = FPU_UNKNOWN;
    }
    if ((raw & 0x7f) == 0x53) {
        return op_fp(xlen, raw, in, how, rd);
    }
    return multiply_add(raw, raw >> 25 & 1, in, how, rd);
}
