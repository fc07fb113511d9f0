/*
 * RISC-V ingress port: the part of it that generated code touches
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef TARGET_RISCV_TRACE_PORT_H
#define TARGET_RISCV_TRACE_PORT_H

#include "hw/trace/etrace/etrace.h"

typedef struct RISCVTraceHart RISCVTraceHart;

/*
 * Embedded in CPURISCVState. Translated code of a traced hart stores one
 * retirement block at @head at every end of a TB, advances @head and calls
 * the drain helper when it is not below @limit. A limit at the start of the
 * ring therefore makes the very next block call the helper: that is how
 * something that must wait for the end of the running TB gets its turn.
 *
 * With stretches (hw/trace/etrace/etrace.h) most TBs only note in @branches which way
 * they went, and in @back how far. The rest is as above.
 */
typedef struct RISCVTracePort {
    ETraceBlock *head;
    ETraceBlock *limit;
    /*
     * What the TB key (cs_base) gets: 0 while the hart is not traced.
     * Contains the session's number, because TBs of an earlier session were
     * translated without telling the present one their bytes.
     */
    uint64_t key;
    RISCVTraceHart *hart;       /* NULL: no encoder is attached */
    /* What has retired since the last slot; see stretch.c */
    uint32_t back;              /* RISCV_TRACE_BACK_* */
    /*
     * The last jump back, if no branch has come since: what @branches was
     * then, 0 for none; how far it led; where to. Right behind @back, so that
     * one aligned store clears both.
     */
    uint32_t jump_branches;
    uint32_t branches;          /* as in a stretch, but the newest counts */
    uint32_t jump_back;         /* RISCV_TRACE_BACK() */
    target_ulong jump_target;
    /* Where in its block the instruction is whose helper accesses data */
    uint32_t helper_offset;     /* half-words */
} RISCVTracePort;

/* RISCVTracePort.key: traced; below are CTR's bits, above is the session. */
#define RISCV_TRACE_KEY_ON          (1u << 31)

/* ... and so are its data accesses. */
#define RISCV_TRACE_KEY_DATA        (1u << 30)

/* ... it tells stretches instead of blocks. */
#define RISCV_TRACE_KEY_STRETCH     (1u << 29)

/* ... and all of it. */
#define RISCV_TRACE_KEY_MASK        (~(uint64_t)0 << 29)

/*
 * RISCVTracePort.back: twice the distance in bytes from the last instruction
 * that retired to the next one, may be negative; or one of the first two, if
 * nothing retired since the last slot
 */
#define RISCV_TRACE_BACK_UPDISCON   0u      /* that was an updiscon */
#define RISCV_TRACE_BACK_NONE       2u
#define RISCV_TRACE_BACK_SOME       1u
#define RISCV_TRACE_BACK_BRANCH     2u      /* it was a branch */
#define RISCV_TRACE_BACK(distance)  ((uint32_t)(distance) << 1 | \
                                     RISCV_TRACE_BACK_SOME)

/*
 * What the data helper is told: log2 of bytes, dtype, place in the block, and
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
