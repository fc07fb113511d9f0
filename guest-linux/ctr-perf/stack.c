/*
 * Branch stacks for perf from CTR: filters and entries
 *
 * The hart records what all events on it want together; each event's stack
 * has only its own part of that.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include <linux/module.h>
#include <linux/uaccess.h>
#include "ctr_perf.h"

unsigned int ctr_stack_depth = CTR_MAX_ENTRIES;
module_param_named(depth, ctr_stack_depth, uint, 0644);
MODULE_PARM_DESC(depth, "the most entries of a branch stack, 1 to 256");

/* TYPE in ctrdata (table "Control Transfer Type Definitions") */
enum {
    EXCEPTION = 1, INTERRUPT, TRAP_RETURN, NOT_TAKEN, TAKEN,
    INDIRECT_CALL = 8, DIRECT_CALL, INDIRECT_JUMP, DIRECT_JUMP, SWAP, RETURN,
    OTHER_INDIRECT, OTHER_DIRECT,
};
#define TYPE_OF(data)   ((data) & 15)
/* Not-taken branches have no inhibit bit, but one that enables them. */
#define ALL_TYPES       0xff2e
#define CYCLES_VALID(data)  ((data) >> 15 & 1)
#define CYCLES_MANTISSA(data) ((data) >> 16 & 0xfff)
#define CYCLES_EXPONENT(data) ((data) >> 28 & 15)
#define MAX_CYCLES      0xffff      /* of a perf_branch_entry */

#define ECALL           0x73

/* Kinds of branches that no hart has, or that CTR does not show */
#define UNSUPPORTED (PERF_SAMPLE_BRANCH_ABORT_TX | PERF_SAMPLE_BRANCH_IN_TX | \
                     PERF_SAMPLE_BRANCH_COUNTERS)

/*
 * perf's calls and returns include those of the system, which are exceptions
 * and trap returns here.
 */
static const struct {
    u64 branch;
    u16 types;
} kinds[] = {
    { PERF_SAMPLE_BRANCH_ANY, ALL_TYPES },
    { PERF_SAMPLE_BRANCH_ANY_CALL, BIT(INDIRECT_CALL) | BIT(DIRECT_CALL) |
                                   BIT(SWAP) | BIT(EXCEPTION) },
    { PERF_SAMPLE_BRANCH_ANY_RETURN, BIT(RETURN) | BIT(SWAP) |
                                     BIT(TRAP_RETURN) },
    { PERF_SAMPLE_BRANCH_IND_CALL, BIT(INDIRECT_CALL) },
    { PERF_SAMPLE_BRANCH_COND, BIT(TAKEN) },
    { PERF_SAMPLE_BRANCH_IND_JUMP, BIT(INDIRECT_JUMP) | BIT(OTHER_INDIRECT) },
    { PERF_SAMPLE_BRANCH_CALL, BIT(DIRECT_CALL) },
    /* RASEMU records calls, whatever the filters are (6.4). */
    { PERF_SAMPLE_BRANCH_CALL_STACK, ALL_TYPES },
};

int ctr_stack_filter(const struct perf_event *event, unsigned long *control,
                     u16 *types)
{
    u64 branch = event->attr.branch_sample_type;

    if (branch & UNSUPPORTED) {
        return -EOPNOTSUPP;
    }
    *types = 0;
    for (int i = 0; i < ARRAY_SIZE(kinds); i++) {
        if (branch & kinds[i].branch) {
            *types |= kinds[i].types;
        }
    }
    *control = CTR_LCOFIFRZ;
    if (branch & PERF_SAMPLE_BRANCH_USER) {
        *control |= CTR_U;
    }
    if (branch & PERF_SAMPLE_BRANCH_KERNEL) {
        *control |= CTR_S;
    }
    if (!(*control & (CTR_U | CTR_S)) || !*types) {
        return -EINVAL;
    }
    if (branch & PERF_SAMPLE_BRANCH_CALL_STACK) {
        /* It has to be the one return stack of a task (6.4). */
        if (*control & CTR_S) {
            return -EINVAL;
        }
        *control |= CTR_RASEMU;
    } else {
        *control |= (unsigned long)(ALL_TYPES & ~*types) << CTR_INHIBIT_SHIFT;
    }
    return 0;
}

/* CC (6.3) as perf has it; 0: not known */
static unsigned int cycles_of(unsigned long data)
{
    unsigned long cycles = CYCLES_MANTISSA(data);

    if (!CYCLES_VALID(data)) {
        return 0;
    }
    if (CYCLES_EXPONENT(data)) {
        cycles = (cycles + 0x1000) << (CYCLES_EXPONENT(data) - 1);
    }
    return min_t(unsigned long, cycles, MAX_CYCLES);
}

static bool in_kernel(unsigned long pc)
{
    return (long)pc < 0;
}

/* CTR has one type for all exceptions: was it a system call? */
static void exception_kind(struct perf_branch_entry *to, unsigned long source)
{
    u16 insn[2];

    if (source && !in_kernel(source) &&
        !copy_from_user_nofault(insn, (void __user *)source, sizeof(insn)) &&
        (insn[0] | (u32)insn[1] << 16) == ECALL) {
        to->type = PERF_BR_SYSCALL;
    } else {
        to->type = PERF_BR_EXTEND_ABI;
        to->new_type = PERF_BR_NEW_FAULT_DATA;
    }
}

static void set_kind(struct perf_branch_entry *to, unsigned long source,
                     unsigned int type)
{
    static const u8 kind[] = {
        [INTERRUPT] = PERF_BR_IRQ, [TRAP_RETURN] = PERF_BR_ERET,
        [NOT_TAKEN] = PERF_BR_COND, [TAKEN] = PERF_BR_COND,
        [INDIRECT_CALL] = PERF_BR_IND_CALL, [DIRECT_CALL] = PERF_BR_CALL,
        [INDIRECT_JUMP] = PERF_BR_IND, [DIRECT_JUMP] = PERF_BR_UNCOND,
        [SWAP] = PERF_BR_RET, [RETURN] = PERF_BR_RET,
        [OTHER_INDIRECT] = PERF_BR_IND, [OTHER_DIRECT] = PERF_BR_UNCOND,
    };

    if (type == EXCEPTION) {
        exception_kind(to, source);
    } else {
        to->type = kind[type];
    }
}

/*
 * Where another event wants both modes: this one sees of a transfer between
 * them what the hart records with one of them enabled (table "Trap and Trap
 * Return Recording"). Returns false if that is nothing.
 */
static bool restrict_modes(unsigned long control, unsigned int type,
                           unsigned long *source, unsigned long *target)
{
    /* 0: the hart itself left it out */
    bool from = !*source || control & (in_kernel(*source) ? CTR_S : CTR_U);
    bool to = !*target || control & (in_kernel(*target) ? CTR_S : CTR_U);

    if (from && to) {
        return true;
    }
    if (!from && !to) {
        return false;
    }
    if (!from) {
        *source = 0;
        return type == EXCEPTION || type == INTERRUPT;
    }
    *target = 0;
    return type == TRAP_RETURN;
}

void ctr_stack_fill(struct ctr_cpu *cpu, const struct perf_event *event,
                    const struct ctr_event *e)
{
    u64 branch = event->attr.branch_sample_type;
    unsigned int max = clamp(ctr_stack_depth, 1, CTR_MAX_ENTRIES);
    struct perf_branch_entry *last = NULL;
    /* They have the same size: the records are replaced one by one. */
    struct ctr_entry *records = (struct ctr_entry *)cpu->entries;
    unsigned int nr = ctr_hart_read(records, CTR_MAX_ENTRIES);
    unsigned int filled = 0;

    BUILD_BUG_ON(sizeof(*records) != sizeof(*cpu->entries));
    for (unsigned int i = 0; i < nr; i++) {
        struct ctr_entry record = records[i];
        unsigned long source = record.source & ~CTR_SOURCE_VALID;
        unsigned long target = record.target & ~CTR_TARGET_MISP;
        unsigned int type = TYPE_OF(record.data);
        unsigned int cycles = cycles_of(record.data);

        if (!(e->types & BIT(type)) ||
            !restrict_modes(e->control, type, &source, &target)) {
            /* cycles since the one before that is in the stack */
            if (last && last->cycles) {
                last->cycles = cycles ? min_t(unsigned int, MAX_CYCLES,
                                              last->cycles + cycles) : 0;
            }
            continue;
        }
        if (filled == max) {
            break;
        }
        last = &cpu->entries[filled++];
        *last = (struct perf_branch_entry) { .from = source, .to = target };
        if (!(branch & PERF_SAMPLE_BRANCH_NO_CYCLES)) {
            last->cycles = cycles;
        }
        if (!(branch & PERF_SAMPLE_BRANCH_NO_FLAGS) && cpu->mispredictions) {
            last->mispred = record.target & CTR_TARGET_MISP;
            last->predicted = !last->mispred;
        }
        if (branch & PERF_SAMPLE_BRANCH_TYPE_SAVE) {
            set_kind(last, source, type);
        }
        if (branch & PERF_SAMPLE_BRANCH_PRIV_SAVE) {
            last->priv = !target ? PERF_BR_PRIV_UNKNOWN :
                         in_kernel(target) ? PERF_BR_PRIV_KERNEL :
                                             PERF_BR_PRIV_USER;
        }
    }
    cpu->stack.nr = filled;
    cpu->stack.hw_idx = -1ULL;  /* not known */
}
