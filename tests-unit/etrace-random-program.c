/*
 * Random programs for tests of the trace core
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "etrace-random-program.h"

void random_seed(RandomProgram *p, uint64_t seed)
{
    p->seed = (seed + 1) * 0x9e3779b97f4a7c15ull;
    random_number(p);
}

uint64_t random_number(RandomProgram *p)
{
    p->seed ^= p->seed << 13;
    p->seed ^= p->seed >> 7;
    p->seed ^= p->seed << 17;
    return p->seed * 0x2545f4914f6cdd1dull;
}

unsigned random_below(RandomProgram *p, unsigned n)
{
    return (random_number(p) >> 33) % n;
}

bool random_chance(RandomProgram *p, unsigned per_mille)
{
    return random_below(p, 1000) < per_mille;
}

static unsigned random_target(RandomProgram *p, unsigned near, unsigned from)
{
    if (random_chance(p, near)) {
        unsigned t = from + random_below(p, 12);

        return t < 6 ? 0 : MIN(t - 6, p->count - 1);
    }
    return random_below(p, p->count);
}

static RefOp random_kind(RandomProgram *p, const RandomMix *mix, bool *ret)
{
    const struct {
        RefOp op;
        unsigned per_mille;
    } ops[] = {
        { REF_BRANCH, mix->branch },
        { REF_JAL, mix->jal },
        { REF_JALR, mix->jalr },
        { REF_JALR, mix->ret },
        { REF_XRET, mix->xret },
        { REF_ECALL, mix->ecall },
        { REF_UPPER, mix->sijump },
    };
    unsigned pick = random_below(p, 1000);

    for (unsigned i = 0; i < ARRAY_SIZE(ops); i++) {
        if (pick < ops[i].per_mille) {
            *ret = i == 3;
            return ops[i].op;
        }
        pick -= ops[i].per_mille;
    }
    return REF_NORMAL;
}

static void random_op(RandomProgram *p, const RandomMix *mix, RandomInstr *in)
{
    static const ETraceItype jal_itype[] = {
        ETRACE_ITYPE_INFERABLE_CALL, ETRACE_ITYPE_INFERABLE_JUMP,
        ETRACE_ITYPE_OTHER_INFERABLE_JUMP,
    };
    static const ETraceItype jalr_itype[] = {
        ETRACE_ITYPE_UNINFERABLE_CALL, ETRACE_ITYPE_UNINFERABLE_JUMP,
        ETRACE_ITYPE_COROUTINE_SWAP, ETRACE_ITYPE_RETURN,
        ETRACE_ITYPE_OTHER_UNINFERABLE_JUMP,
    };
    static const unsigned taken[] = { 0, 20, 980, 1000 };
    bool ret = false;

    in->ref.op = random_kind(p, mix, &ret);
    in->itype = ETRACE_ITYPE_NONE;
    switch (in->ref.op) {
    case REF_BRANCH:
        in->taken = random_chance(p, mix->biased)
                    ? taken[random_below(p, ARRAY_SIZE(taken))] : 500;
        break;
    case REF_JAL:
        in->itype = jal_itype[random_below(p, ARRAY_SIZE(jal_itype))];
        break;
    case REF_JALR:
        in->itype = jalr_itype[random_below(p, ARRAY_SIZE(jalr_itype))];
        if (ret) {
            in->itype = ETRACE_ITYPE_RETURN;
        }
        break;
    case REF_XRET:
        in->itype = ETRACE_ITYPE_TRAP_RETURN;
        break;
    case REF_UPPER:
        in->ref.reg = RANDOM_PAIR_REG + random_below(p, 3);
        break;
    default:
        break;
    }
}

/* The instruction behind @upper: a jump to a register that is known */
static void pair_jump(RandomProgram *p, const RandomInstr *upper,
                      RandomInstr *in)
{
    static const ETraceItype itype[] = {
        ETRACE_ITYPE_UNINFERABLE_CALL, ETRACE_ITYPE_UNINFERABLE_JUMP,
        ETRACE_ITYPE_UNINFERABLE_CALL, ETRACE_ITYPE_UNINFERABLE_JUMP,
        ETRACE_ITYPE_OTHER_UNINFERABLE_JUMP, ETRACE_ITYPE_COROUTINE_SWAP,
        ETRACE_ITYPE_RETURN,
    };

    in->ref.op = REF_JALR;
    in->itype = itype[random_below(p, ARRAY_SIZE(itype))];
    in->ref.reg = upper->ref.reg;
}

void random_program(RandomProgram *p, const RandomMix *mix, unsigned xlen)
{
    static const uint64_t bases[] = {
        0x80000000, 0x1000, 0xffffffff80000000, 0x7ffffff0, 0x3fc0001000,
    };
    uint64_t pc;

    p->base = bases[random_below(p, ARRAY_SIZE(bases))];
    if (xlen == 32) {
        p->base = (uint32_t)p->base;
    }
    p->count = 4 + random_below(p, RANDOM_PROGRAM_MAX - 4);
    memset(p->at, -1, sizeof(p->at));
    memset(p->instr, 0, sizeof(p->instr));
    pc = p->base;
    for (unsigned i = 0; i < p->count; i++) {
        RandomInstr *in = &p->instr[i];

        in->pc = pc;
        in->ref.size = random_chance(p, 500) ? 2 : 4;
        in->ref.reg = 1;
        if (i == p->count - 1) {
            /* There is nothing to fall through to behind it. */
            in->ref.op = REF_JAL;
            in->itype = ETRACE_ITYPE_INFERABLE_JUMP;
        } else if (i && in[-1].ref.op == REF_UPPER &&
                   random_chance(p, 900)) {
            pair_jump(p, &in[-1], in);
        } else {
            random_op(p, mix, in);
        }
        in->ref.call = in->itype == ETRACE_ITYPE_INFERABLE_CALL ||
                       in->itype == ETRACE_ITYPE_UNINFERABLE_CALL;
        in->ref.ret = in->itype == ETRACE_ITYPE_RETURN;
        p->at[(pc - p->base) / 2] = i;
        pc += in->ref.size;
    }
    for (unsigned i = 0; i < p->count; i++) {
        RandomInstr *in = &p->instr[i];

        in->ref.target = p->instr[random_target(p, mix->near, i)].pc;
        if (i && in->ref.op == REF_JALR && in[-1].ref.op == REF_UPPER) {
            in->ref.value = random_below(p, 4096) - UINT64_C(2048);
            in->pair_target = in->ref.target;
            in[-1].ref.value = in->ref.target - in->ref.value;
        }
    }
    for (unsigned i = 0; i < ARRAY_SIZE(p->hot); i++) {
        p->hot[i] = random_below(p, p->count);
    }
}

int random_program_find(const RandomProgram *p, uint64_t pc)
{
    uint64_t offset = (pc - p->base) / 2;

    if (pc & 1 || pc < p->base || offset >= ARRAY_SIZE(p->at)) {
        return -1;
    }
    return p->at[offset];
}

unsigned random_program_indirect(RandomProgram *p, unsigned from)
{
    unsigned back;

    switch (random_below(p, 8)) {
    case 0:
    case 1:
    case 2:
        return p->hot[random_below(p, ARRAY_SIZE(p->hot))];
    case 3:
        return from;
    case 4:
    case 5:
        back = random_below(p, 6);
        return from - MIN(from, back);
    default:
        return random_below(p, p->count);
    }
}
