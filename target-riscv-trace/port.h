/*
 * RISC-V ingress port: the part of it that generated code touches
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef TARGET_RISCV_TRACE_PORT_H
#define TARGET_RISCV_TRACE_PORT_H

#include "hw/trace/etrace/etrace.h"
#include "hw/trace/etrace/predictor.h"
#include "hw/trace/etrace/return-stack.h"

typedef struct RISCVTraceHart RISCVTraceHart;

/*
 * A jump that the decoder infers, of a kind that may lead back: from @last,
 * whose bit 0 says that it is an implicit return or a sequentially inferable
 * jump, to @next.
 */
typedef struct RISCVTraceJump {
    uint64_t last;
    uint64_t next;
} RISCVTraceJump;

#define RISCV_TRACE_JUMPS   16

/*
 * Embedded in CPURISCVState. Translated code of a traced hart stores one slot
 * at @head at every end of a TB, advances @head and calls a helper when it is
 * not below @limit. A limit at the start of the ring therefore makes the very
 * next slot call the helper: that is how something that must wait for the end
 * of the running TB gets its turn.
 *
 * With branch history (ETraceHistory) most TBs only note in @branches which
 * way they went, and in @back how far. Return stack and branch predictor are
 * kept by translated code then: what goes as predicted needs no slot.
 */
typedef struct RISCVTracePort {
    ETraceSlot *head;
    ETraceSlot *limit;

    /* Branch history since the last slot; see history.c */
    /* as in ETraceHistory; the newest one counts. Aligned, so that @back is. */
    aligned_uint64_t branches;
    uint32_t back;              /* RISCV_TRACE_BACK_* */
    /*
     * Jumps in @jump since the newest branch, and RISCV_TRACE_JUMPS_*. Right
     * behind @back, so that one aligned store sets both.
     */
    uint32_t jumps;
    uint8_t *predictor;         /* ETracePredictor.state */
    uint32_t top;               /* of the return stack: bytes into @link */
    uint32_t irets;             /* implicit returns since the last slot? */
    /*
     * Where the newest branch or report led: bits 31 to 0, which is enough for
     * a run within 4 GiB, and else there is RISCV_TRACE_JUMPS_FAR. Each branch
     * stores it, and a store of 64 bits made a boot of Linux slower by a fifth
     * on an AMD EPYC.
     */
    uint32_t run_start;
    uint64_t link[ETRACE_RETURN_STACK_MAX]; /* RISCV_TRACE_NO_LINK: none */
    RISCVTraceJump jump[RISCV_TRACE_JUMPS];

    /* What the TB key (cs_base) gets; 0 while the hart is not traced. */
    uint64_t key;
    RISCVTraceHart *hart;       /* NULL: no encoder is attached */

    /* Where in its block the instruction is whose helper accesses data */
    uint32_t helper_offset;     /* half-words */
} RISCVTracePort;

/*
 * RISCVTracePort.key, the upper part of the TB key (tb-key.h):
 *
 *   63   56 55  52  51   50    49   48    45 44   41  40   39    38   37    0
 *   +-------+------+----+-----+-----+--------+-------+----+----+-------+-----+
 *   |session|ranges|TASK|exact|sijmp|return  |predic-| ON |DATA|HISTORY|  0  |
 *   |       |      |    | run |     |stack +1|tor    |    |    |       |     |
 *   +-------+------+----+-----+-----+--------+-------+----+----+-------+-----+
 *
 * The session is in it because TBs of an earlier session were translated
 * without their bytes being reported to the present one. Ranges: the number,
 * in this session, of the ranges of addresses that a filter qualifies; 0: all
 * addresses are alike. Sizes are log2 of entries, 0: none.
 */
/* without: what runs is not qualified, and its TBs have no trace code */
#define RISCV_TRACE_KEY_ON          (1ull << 40)
#define RISCV_TRACE_KEY_DATA        (1ull << 39)    /* ... data as well */
#define RISCV_TRACE_KEY_HISTORY     (1ull << 38)    /* ... by history */
#define RISCV_TRACE_KEY_PREDICTOR_SHIFT 41
#define RISCV_TRACE_KEY_STACK_SHIFT     45
#define RISCV_TRACE_KEY_SIJUMP      (1ull << 49)
#define RISCV_TRACE_KEY_EXACT_RUN   (1ull << 50)
#define RISCV_TRACE_KEY_MODES       (0x3ffull << 41)
#define RISCV_TRACE_KEY_TASK        (1ull << 51)    /* see task.c */
#define RISCV_TRACE_KEY_RANGES_SHIFT    52
#define RISCV_TRACE_KEY_RANGES      (0xfull << RISCV_TRACE_KEY_RANGES_SHIFT)
#define RISCV_TRACE_KEY_SESSION_SHIFT   56
#define RISCV_TRACE_KEY_SESSION_BITS    8
#define RISCV_TRACE_KEY_MASK        (~0ull << 38)

/* True if the end of a TB need not look at the ring's limit. */
static inline bool riscv_trace_key_is_sparse(uint64_t key)
{
    return key && (!(key & RISCV_TRACE_KEY_ON) ||
                   (key & RISCV_TRACE_KEY_HISTORY));
}

/* The number of ranges that have none: each instruction is a TB. */
#define RISCV_TRACE_RANGES_OTHERS                                       \
    (RISCV_TRACE_KEY_RANGES >> RISCV_TRACE_KEY_RANGES_SHIFT)

static inline unsigned riscv_trace_key_ranges(uint64_t key)
{
    return (key & RISCV_TRACE_KEY_RANGES) >> RISCV_TRACE_KEY_RANGES_SHIFT;
}

/* Log2 of the entries of the predictor, 0: none */
static inline unsigned riscv_trace_key_predictor(uint64_t key)
{
    return (key >> RISCV_TRACE_KEY_PREDICTOR_SHIFT) & 0xf;
}

/* Bytes of the return stack, 0: none */
static inline unsigned riscv_trace_key_stack(uint64_t key)
{
    unsigned size = (key >> RISCV_TRACE_KEY_STACK_SHIFT) & 0xf;

    return size ? 8u << (size - 1) : 0;
}

/* Bits of each branch in RISCVTracePort.branches */
static inline unsigned riscv_trace_key_bits(uint64_t key)
{
    return riscv_trace_key_predictor(key) ? 2 : 1;
}

/*
 * RISCVTracePort.back: twice the distance in bytes from the last instruction
 * that retired to the next one, may be negative for a branch, and SOME; or
 */
#define RISCV_TRACE_BACK_UPDISCON   0u      /* no more than an updiscon */
#define RISCV_TRACE_BACK_NONE       2u      /* nothing since the last slot */
#define RISCV_TRACE_BACK_JUMP       4u      /* the last one is in @jump */
#define RISCV_TRACE_BACK_SOME       1u
#define RISCV_TRACE_BACK_BRANCH     2u      /* it was a branch */
#define RISCV_TRACE_BACK(distance)  ((uint32_t)(distance) << 1 | \
                                     RISCV_TRACE_BACK_SOME)
/*
 * ... and, but for a branch, the register that it loads with upper bits (lui,
 * say), else 0: if the next one jumps through that, it is sequentially
 * inferable.
 */
#define RISCV_TRACE_BACK_UPPER_SHIFT    26
#define RISCV_TRACE_BACK_UPPER          (0x1fu << RISCV_TRACE_BACK_UPPER_SHIFT)

/* RISCVTracePort.jumps: their number; there was ... among what ran ... */
#define RISCV_TRACE_JUMPS_NUMBER    0x1fu
#define RISCV_TRACE_JUMPS_UNKNOWN   (1u << 30)  /* what is not known here */
#define RISCV_TRACE_JUMPS_INFERRED  (1u << 29)  /* what @jump says is so */
#define RISCV_TRACE_JUMPS_FAR       (1u << 28)  /* a step to other 4 GiB */

/* No address: it is odd. */
#define RISCV_TRACE_NO_LINK         UINT64_MAX

/*
 * What the data helper gets: log2 of bytes, dtype, place in the block, and
 * whether the instruction makes several accesses
 */
#define RISCV_TRACE_DATA_SIZE_MASK      0xf
#define RISCV_TRACE_DATA_DTYPE_SHIFT    4
#define RISCV_TRACE_DATA_OFFSET_SHIFT   8       /* half-words */
#define RISCV_TRACE_DATA_MULTI          (1u << 31)
#define RISCV_TRACE_DATA_INFO(dtype, size, offset)                      \
    ((uint32_t)(offset) << RISCV_TRACE_DATA_OFFSET_SHIFT |              \
     (uint32_t)(dtype) << RISCV_TRACE_DATA_DTYPE_SHIFT | (size))

/*
 * What of a TB retired when an instruction in it does not: kept in the upper
 * bits of the second word that TCG saves with each instruction for unwinding.
 * ORed into RISCV_UW2_*; 0 in a TB that is not traced.
 */
#define RISCV_UW2_TRACE_MASK        (~(target_ulong)0xff)
#define RISCV_UW2_TRACE_LASTSIZE    0x100   /* last one was 4 bytes long */
#define RISCV_UW2_TRACE_SHIFT       9       /* half-words in the open block */

#endif /* TARGET_RISCV_TRACE_PORT_H */
