/*
 * RISC-V instructions as a data trace sees them: what they access
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "code/data-insn.h"

#define LOAD    (1u << ETRACE_DTYPE_LOAD)
#define STORE   (1u << ETRACE_DTYPE_STORE)

#define ANY_SIZE 0xf

/* Bits @hi..@lo of @v */
static unsigned bits(uint32_t v, unsigned hi, unsigned lo)
{
    return (v >> lo) & ((1u << (hi - lo + 1)) - 1);
}

static void set(DataInsn *d, unsigned dtypes, unsigned sizes, unsigned n)
{
    d->dtypes = dtypes;
    d->sizes = sizes;
    d->min = d->max = n;
}

static void set_one(DataInsn *d, unsigned dtypes, unsigned size)
{
    set(d, dtypes, 1u << size, 1);
}

/* 2^4 bytes are two accesses of 8: data_width_p is 64. */
static void set_sized(DataInsn *d, unsigned dtypes, unsigned size)
{
    if (size == 4) {
        set(d, dtypes, 1u << 3, 2);
    } else if (size < 4) {
        set_one(d, dtypes, size);
    }
}

static void classify_vector(uint32_t raw, unsigned dtype, unsigned eew,
                            DataInsn *d)
{
    unsigned mop = bits(raw, 27, 26), umop = bits(raw, 24, 20);

    d->dtypes = dtype;
    d->sizes = 1u << eew;
    d->max = DATA_INSN_MANY;
    /* umop 8: whole registers, 11: a mask, 16: fault-only-first */
    d->by_vl = mop || umop == 0 || umop == 16;
    d->masked = !bits(raw, 25, 25);
    d->first_only = !mop && umop == 16;
    d->fields = bits(raw, 31, 29) + 1;
    if (mop & 1) {
        /* indexed: elements have SEW, which is in vtype */
        d->sizes = ANY_SIZE;
    } else if (mop == 0) {
        d->order = bits(raw, 25, 25) ? DATA_ORDER_NEXT : DATA_ORDER_UP;
    }
}

/* LOAD-FP and STORE-FP: funct3 is the width, of an element for vectors. */
static void classify_fp(uint32_t raw, unsigned dtype, DataInsn *d)
{
    unsigned funct3 = bits(raw, 14, 12);

    switch (funct3) {
    case 0:
        classify_vector(raw, dtype, 0, d);
        break;
    case 5:
    case 6:
    case 7:
        classify_vector(raw, dtype, funct3 - 4, d);
        break;
    default:
        set_sized(d, dtype, funct3);
        break;
    }
}

static void classify_amo(uint32_t raw, DataInsn *d)
{
    static const struct {
        uint8_t funct5, dtype;
    } amos[] = {
        { 0x00, ETRACE_DTYPE_ADD }, { 0x01, ETRACE_DTYPE_SWAP },
        { 0x04, ETRACE_DTYPE_XOR }, { 0x08, ETRACE_DTYPE_OR },
        { 0x09, ETRACE_DTYPE_SWAP }, { 0x0c, ETRACE_DTYPE_AND },
        { 0x10, ETRACE_DTYPE_MIN }, { 0x14, ETRACE_DTYPE_MAX },
        { 0x18, ETRACE_DTYPE_MIN }, { 0x1c, ETRACE_DTYPE_MAX },
    };
    unsigned funct5 = bits(raw, 31, 27), size = bits(raw, 14, 12);

    switch (funct5) {
    case 0x02:
        set_sized(d, LOAD, size);
        d->lr = true;
        return;
    case 0x03:
        set_sized(d, STORE | 1u << ETRACE_DTYPE_SC_FAILURE, size);
        d->min = 0;
        d->sc = true;
        return;
    case 0x05:      /* amocas: a swap if it succeeds, else one of the others */
        set_sized(d, LOAD | 1u << ETRACE_DTYPE_SWAP |
                  1u << ETRACE_DTYPE_CAS_FAILURE, size);
        return;
    }
    for (size_t i = 0; i < ARRAY_SIZE(amos); i++) {
        if (amos[i].funct5 == funct5) {
            set_sized(d, 1u << amos[i].dtype, size);
        }
    }
}

static void classify_system(const InsnIsa *isa, uint32_t raw, DataInsn *d)
{
    unsigned funct3 = bits(raw, 14, 12), reg = isa->xlen == 32 ? 2 : 3;

    if (funct3 & 3) {
        set_one(d, 1u << (ETRACE_DTYPE_CSR_RW - 1 + (funct3 & 3)), reg);
        d->csr = true;
        d->number = bits(raw, 31, 20);
        return;
    }
    if (funct3 != 4) {
        return;
    }
    if (bits(raw, 31, 28) == 6) {
        /* hlv, hlvx, hsv */
        set_one(d, bits(raw, 25, 25) ? STORE : LOAD, bits(raw, 27, 26));
    } else if ((raw & 0xfe0fffff) == 0xce004073) {
        set_one(d, STORE, reg);             /* sspush */
        d->min = 0;
    } else if ((raw & 0xfff07fff) == 0xcdc04073) {
        set_one(d, LOAD, reg);              /* sspopchk */
        d->min = 0;
    }
}

static void classify_word(const InsnIsa *isa, uint32_t raw, DataInsn *d)
{
    unsigned funct3 = bits(raw, 14, 12);

    switch (raw & 0x7f) {
    case 0x03:
        if (funct3 != 7) {
            set_one(d, LOAD, funct3 & 3);
        }
        break;
    case 0x07:
        classify_fp(raw, LOAD, d);
        break;
    case 0x0f:
        if (funct3 == 2 && bits(raw, 31, 20) == 4) {
            /* cbo.zero of a block of 64 bytes, as Zic64b has it */
            set(d, STORE, 1u << 3, 8);
            d->order = DATA_ORDER_NEXT;
        }
        break;
    case 0x23:
        if (funct3 < 4) {
            set_one(d, STORE, funct3);
        }
        break;
    case 0x27:
        classify_fp(raw, STORE, d);
        break;
    case 0x2f:
        classify_amo(raw, d);
        break;
    case 0x57:
        d->sets_vl = funct3 == 7;
        break;
    case 0x73:
        classify_system(isa, raw, d);
        break;
    }
}

static void classify_quadrant0(const InsnIsa *isa, uint32_t raw, DataInsn *d)
{
    unsigned wide = isa->xlen == 32 ? 2 : 3;

    switch (bits(raw, 15, 13)) {
    case 1:     /* c.fld */
        set_one(d, LOAD, 3);
        break;
    case 2:     /* c.lw */
        set_one(d, LOAD, 2);
        break;
    case 3:     /* c.ld, c.flw */
        set_one(d, LOAD, wide);
        break;
    case 4:     /* Zcb: c.lbu, c.lhu and c.lh, c.sb, c.sh */
        if (bits(raw, 12, 10) < 4) {
            set_one(d, bits(raw, 11, 11) ? STORE : LOAD, bits(raw, 10, 10));
        }
        break;
    case 5:     /* c.fsd */
        set_one(d, STORE, 3);
        break;
    case 6:     /* c.sw */
        set_one(d, STORE, 2);
        break;
    case 7:     /* c.sd, c.fsw */
        set_one(d, STORE, wide);
        break;
    }
}

/* cm.push, cm.pop and so on: ra, and s0 up to s11 */
static bool classify_zcmp(const InsnIsa *isa, uint32_t raw, DataInsn *d)
{
    unsigned rlist = bits(raw, 7, 4), op = bits(raw, 15, 8);
    unsigned n = rlist == 15 ? 13 : rlist - 3;

    if (!isa->zcmp || rlist < 4 ||
        (op != 0xb8 && op != 0xba && op != 0xbc && op != 0xbe)) {
        return false;
    }
    set(d, op == 0xb8 ? STORE : LOAD, isa->xlen == 32 ? 1u << 2 : 1u << 3, n);
    return true;
}

static void classify_quadrant2(const InsnIsa *isa, uint32_t raw, DataInsn *d)
{
    unsigned wide = isa->xlen == 32 ? 2 : 3;

    switch (bits(raw, 15, 13)) {
    case 1:     /* c.fldsp */
        set_one(d, LOAD, 3);
        break;
    case 2:     /* c.lwsp */
        set_one(d, LOAD, 2);
        break;
    case 3:     /* c.ldsp, c.flwsp */
        set_one(d, LOAD, wide);
        break;
    case 5:     /* Zcmp, Zcmt; c.fsdsp */
        if (!classify_zcmp(isa, raw, d) && !isa->zcmp && !isa->zcmt) {
            set_one(d, STORE, 3);
        }
        break;
    case 6:     /* c.swsp */
        set_one(d, STORE, 2);
        break;
    case 7:     /* c.sdsp, c.fswsp */
        set_one(d, STORE, wide);
        break;
    }
}

void data_insn_classify(const InsnIsa *isa, uint32_t raw, DataInsn *d)
{
    *d = (DataInsn) { };
    switch (raw & 3) {
    case 0:
        classify_quadrant0(isa, raw, d);
        break;
    case 1:
        if ((raw & 0xffff) == 0x6081 || (raw & 0xffff) == 0x6281) {
            /* c.sspush x1, c.sspopchk x5 */
            set_one(d, bits(raw, 9, 9) ? LOAD : STORE,
                    isa->xlen == 32 ? 2 : 3);
            d->min = 0;
        }
        break;
    case 2:
        classify_quadrant2(isa, raw, d);
        break;
    case 3:
        classify_word(isa, raw, d);
        break;
    }
}

bool data_insn_fits(const DataInsn *d, const ETraceDataAccess *a)
{
    return (d->dtypes >> a->dtype & 1) && (d->sizes >> a->size & 1) &&
           (!d->csr || a->address == d->number);
}
