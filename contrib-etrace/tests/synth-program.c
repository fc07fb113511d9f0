/*
 * Programs of synthetic harts
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "etrace/sideband.h"
#include "synth-program.h"

#define PAGE            ETRACE_SB_PAGE_SIZE
#define M_BASE          0x80000000
#define V_BASE          0x10000

bool synth_chance(GRand *r, unsigned permille)
{
    return g_rand_int_range(r, 0, 1000) < (gint)permille;
}

unsigned synth_pick(GRand *r, unsigned n)
{
    return g_rand_int_range(r, 0, n);
}

static uint32_t encode_jal(unsigned rd, int32_t off)
{
    uint32_t u = off;

    return 0x6f | rd << 7 | (u >> 12 & 0xff) << 12 | (u >> 11 & 1) << 20 |
           (u >> 1 & 0x3ff) << 21 | (u >> 20 & 1) << 31;
}

static uint32_t encode_branch(unsigned funct3, int32_t off)
{
    uint32_t u = off;

    return 0x63 | funct3 << 12 | (u >> 11 & 1) << 7 | (u >> 1 & 0xf) << 8 |
           (u >> 5 & 0x3f) << 25 | (u >> 12 & 1) << 31;
}

static uint32_t encode_cj(int32_t off)
{
    uint32_t u = off;

    return 0xa001 | (u >> 11 & 1) << 12 | (u >> 4 & 1) << 11 |
           (u >> 8 & 3) << 9 | (u >> 10 & 1) << 8 | (u >> 6 & 1) << 7 |
           (u >> 7 & 1) << 6 | (u >> 1 & 7) << 3 | (u >> 5 & 1) << 2;
}

static uint32_t encode_cbnez(int32_t off)
{
    uint32_t u = off;

    return 0xe001 | (u >> 8 & 1) << 12 | (u >> 3 & 3) << 10 |
           (u >> 6 & 3) << 5 | (u >> 1 & 3) << 3 | (u >> 5 & 1) << 2;
}

/*
 * lui or auipc t1, and a jump by t1 behind it, which goes to @target. Where an
 * address is out of reach for lui, it is auipc.
 */
static void make_pair(GRand *r, Op *upper, Op *jump, uint64_t target)
{
    int64_t from = synth_chance(r, 500) ? 0 : upper->pc;
    int64_t hi = ((int64_t)(target - from) + 0x800) & ~0xfffll;
    uint32_t lo;

    if (!from && upper->size == 4 && hi != (int32_t)hi) {
        from = upper->pc;
        hi = ((int64_t)(target - from) + 0x800) & ~0xfffll;
    }
    if (upper->size == 2) {         /* c.lui: addresses of VS only */
        from = 0;
        hi = ((int64_t)target + 0x800) & ~0xfffll;
        upper->raw = 0x6001 | 6 << 7 | (hi >> 17 & 1) << 12 |
                     (hi >> 12 & 0x1f) << 2;
    } else {
        upper->raw = (from ? 0x17 : 0x37) | 6 << 7 | (uint32_t)hi;
    }
    lo = (uint32_t)(target - from - hi) << 20;
    jump->raw = 0x67 | 6 << 15 | lo |
                (jump->itype == ETRACE_ITYPE_UNINFERABLE_CALL ? 1 << 7 : 0);
}

/* What an instruction is going to be, before addresses are known */
static void choose_op(GRand *r, const Region *region, Op *op)
{
    static const struct {
        uint32_t raw;
        uint8_t size, kind, itype;
    } table[] = {
        { 0x00000013, 4, OP_SEQ, 0 },           /* nop */
        { 0x0001, 2, OP_SEQ, 0 },               /* c.nop */
        { 0x00c58533, 4, OP_SEQ, 0 },           /* add a0, a1, a2 */
        { 0x0ff0000f, 4, OP_SEQ, 0 },           /* fence */
        { 0, 4, OP_BRANCH, 0 },
        { 0, 2, OP_BRANCH, 0 },
        { 0, 4, OP_BRANCH, 0 },
        { 0, 4, OP_JUMP, ETRACE_ITYPE_INFERABLE_CALL },
        { 0, 4, OP_JUMP, ETRACE_ITYPE_INFERABLE_JUMP },
        { 0, 2, OP_JUMP, ETRACE_ITYPE_INFERABLE_JUMP },
        { 0, 4, OP_JUMP, ETRACE_ITYPE_OTHER_INFERABLE_JUMP },
        { 0x00008067, 4, OP_UPDISCON, ETRACE_ITYPE_RETURN },
        { 0x8082, 2, OP_UPDISCON, ETRACE_ITYPE_RETURN },
        { 0x8782, 2, OP_UPDISCON, ETRACE_ITYPE_UNINFERABLE_JUMP },
        { 0x9782, 2, OP_UPDISCON, ETRACE_ITYPE_UNINFERABLE_CALL },
        { 0x000280e7, 4, OP_UPDISCON, ETRACE_ITYPE_COROUTINE_SWAP },
        { 0x00050567, 4, OP_UPDISCON, ETRACE_ITYPE_OTHER_UNINFERABLE_JUMP },
        { 0x00000073, 4, OP_ECALL, 0 },
        { 0x10200073, 4, OP_XRET, ETRACE_ITYPE_TRAP_RETURN },
        { 0, 4, OP_UPPER, 0 },
        { 0, 2, OP_UPPER, 0 },
    };
    /* plain code is the most of it */
    unsigned i = synth_pick(r, synth_chance(r, 450) ? 4 : ARRAY_SIZE(table));

    if (op->kind == OP_UPPER) {
        *op = (Op) {
            .kind = OP_PAIR,
            .size = 4,
            .itype = synth_chance(r, 500) ? ETRACE_ITYPE_UNINFERABLE_CALL
                                          : ETRACE_ITYPE_UNINFERABLE_JUMP,
        };
        return;
    }
    op->raw = table[i].raw;
    op->size = table[i].size;
    op->kind = table[i].kind;
    op->itype = table[i].itype;
    op->taken = synth_chance(r, 500) ? 500 : synth_chance(r, 500) ? 20 : 980;
    if (op->kind == OP_UPPER && (region->vbase != V_BASE ||
                                 region->nr_pages > 15)) {
        op->size = 4;           /* c.lui reaches no other region */
    }
    if (op->kind == OP_XRET && region->vbase == M_BASE) {
        op->raw = 0x30200073;   /* mret */
    }
}

void synth_choose_target(GRand *r, const Region *region, Op *op)
{
    int64_t reach = op->kind == OP_BRANCH ? (op->size == 2 ? 256 : 4096)
                                          : (op->size == 2 ? 2048 : 1 << 20);
    int64_t off;

    do {
        op->target = synth_pick(r, region->ops->len);
        off = g_array_index(region->ops, Op, op->target).pc - op->pc;
    } while (off < -reach || off >= reach);

    if (op->kind == OP_BRANCH) {
        op->raw = op->size == 2 ? encode_cbnez(off)
                                : encode_branch(synth_pick(r, 2) + 4, off);
    } else if (op->size == 2) {
        op->raw = encode_cj(off);
    } else {
        op->raw = encode_jal(op->itype == ETRACE_ITYPE_INFERABLE_CALL ? 1 :
                             op->itype == ETRACE_ITYPE_INFERABLE_JUMP ? 0 : 7,
                             off);
    }
}

void synth_make_region(GRand *rand, Region *region, uint64_t vbase,
                       unsigned bytes, uint64_t *next_phys)
{
    uint64_t pc, end;
    Op op = { 0 };

    region->vbase = vbase;
    region->nr_pages = 2 + bytes / PAGE;
    g_assert(region->nr_pages <= ARRAY_SIZE(region->phys));
    region->ops = g_array_new(FALSE, FALSE, sizeof(Op));
    /* Small programs lie across a page boundary, too. */
    pc = vbase + PAGE - 2 * synth_pick(rand, MIN(bytes, PAGE) / 2);
    end = pc + bytes;
    while (pc + 4 < end || op.kind == OP_UPPER) {
        choose_op(rand, region, &op);
        op.pc = pc;
        pc += op.size;
        g_array_append_val(region->ops, op);
    }
    op = (Op) {
        .pc = pc, .size = 4, .kind = OP_JUMP,
        .itype = ETRACE_ITYPE_INFERABLE_JUMP,
    };
    g_array_append_val(region->ops, op);
    for (guint i = 0; i < region->ops->len; i++) {
        Op *o = &g_array_index(region->ops, Op, i);

        if (o->kind == OP_BRANCH || o->kind == OP_JUMP) {
            synth_choose_target(rand, region, o);
        } else if (o->kind == OP_PAIR) {
            o->target = synth_pick(rand, region->ops->len);
            make_pair(rand, o - 1, o,
                      g_array_index(region->ops, Op, o->target).pc);
        }
    }
    for (unsigned i = 0; i < region->nr_pages; i++) {
        if (vbase == M_BASE) {
            region->phys[i] = vbase + (uint64_t)i * PAGE;
        } else {
            region->phys[i] = *next_phys;
            *next_phys += 2 * PAGE;
        }
    }
}
