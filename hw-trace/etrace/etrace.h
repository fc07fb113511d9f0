/*
 * E-Trace vocabulary: what hart, encoder and decoder share
 *
 * The names are those of "Efficient Trace for RISC-V" 2.0 (chapter 4,
 * "Hart to encoder interface", and chapter 9, "Parameters and Discovery").
 * Plain C: no QEMU, device or CPU dependency, so that the emulator, the unit
 * tests and the host tool use the same definitions.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef HW_TRACE_ETRACE_H
#define HW_TRACE_ETRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Instruction type (itype), section 4.2; the same codes are CTR's TYPE. */
typedef enum ETraceItype {
    ETRACE_ITYPE_NONE = 0,              /* none of the others */
    ETRACE_ITYPE_EXCEPTION = 1,
    ETRACE_ITYPE_INTERRUPT = 2,
    ETRACE_ITYPE_TRAP_RETURN = 3,
    ETRACE_ITYPE_NONTAKEN_BRANCH = 4,
    ETRACE_ITYPE_TAKEN_BRANCH = 5,
    ETRACE_ITYPE_UNINFERABLE_CALL = 8,
    ETRACE_ITYPE_INFERABLE_CALL = 9,
    ETRACE_ITYPE_UNINFERABLE_JUMP = 10,
    ETRACE_ITYPE_INFERABLE_JUMP = 11,
    ETRACE_ITYPE_COROUTINE_SWAP = 12,
    ETRACE_ITYPE_RETURN = 13,
    ETRACE_ITYPE_OTHER_UNINFERABLE_JUMP = 14,
    ETRACE_ITYPE_OTHER_INFERABLE_JUMP = 15,
} ETraceItype;

/* Privilege level (priv), section 4.2. */
typedef enum ETracePriv {
    ETRACE_PRIV_U = 0,
    ETRACE_PRIV_S = 1,
    ETRACE_PRIV_M = 3,
    ETRACE_PRIV_D = 4,
    ETRACE_PRIV_VU = 5,
    ETRACE_PRIV_VS = 6,
} ETracePriv;

/*
 * True for an instruction whose target the program alone does not give: an
 * updiscon (uninferable PC discontinuity) of section 3.1.2 and Table 4.4.
 * Co-routine swaps and returns are uninferable jumps unless implicit return
 * mode predicts them.
 */
static inline bool etrace_itype_is_updiscon(unsigned itype)
{
    return (0x7508u >> itype) & 1;      /* 3, 8, 10, 12, 13, 14 */
}

static inline bool etrace_itype_is_branch(unsigned itype)
{
    return itype == ETRACE_ITYPE_NONTAKEN_BRANCH ||
           itype == ETRACE_ITYPE_TAKEN_BRANCH;
}

static inline bool etrace_itype_is_trap(unsigned itype)
{
    return itype == ETRACE_ITYPE_EXCEPTION ||
           itype == ETRACE_ITYPE_INTERRUPT;
}

/* ETraceBlock.flags */
#define ETRACE_BLOCK_SIJUMP     0x01    /* sequentially inferable jump */
#define ETRACE_BLOCK_TVEC       0x02    /* itype 1, 2: handler as reported */

/* ctype, Table "Context type": how a change is to be reported */
typedef enum ETraceCtype {
    ETRACE_CTYPE_UNREPORTED = 0,
    ETRACE_CTYPE_IMPRECISE = 1,
    ETRACE_CTYPE_PRECISE = 2,
    ETRACE_CTYPE_DISCON = 3,    /* asynchronous discontinuity */
} ETraceCtype;

/* Debug module triggers: actions 2 to 4 of Sdtrig */
typedef enum ETraceTrigger {
    ETRACE_TRIGGER_ON = 2,
    ETRACE_TRIGGER_OFF = 3,
    ETRACE_TRIGGER_NOTIFY = 4,
} ETraceTrigger;

/* Data access type (dtype), section 4.3 */
typedef enum ETraceDtype {
    ETRACE_DTYPE_LOAD = 0,
    ETRACE_DTYPE_STORE = 1,
    ETRACE_DTYPE_CSR_RW = 4,
    ETRACE_DTYPE_CSR_RS = 5,
    ETRACE_DTYPE_CSR_RC = 6,
    ETRACE_DTYPE_SWAP = 8,
    ETRACE_DTYPE_ADD = 9,
    ETRACE_DTYPE_AND = 10,
    ETRACE_DTYPE_OR = 11,
    ETRACE_DTYPE_XOR = 12,
    ETRACE_DTYPE_MAX = 13,
    ETRACE_DTYPE_MIN = 14,
    ETRACE_DTYPE_SC_FAILURE = 15,
    ETRACE_DTYPE_CAS_FAILURE = 16,      /* the draft 2.1's packets only */
} ETraceDtype;

/*
 * A retirement block of the ingress port (section 4.2, instruction interface
 * signals): a run of consecutive instructions, the last of which has @itype.
 *
 * A trap is a block of itype 1 or 2 with iretire 0: what retired before it
 * came as a block of its own. Its iaddr is the EPC (for an interrupt too,
 * which the port of the specification leaves open), its priv the privilege
 * before the trap.
 */
typedef struct ETraceBlock {
    uint64_t iaddr;     /* address of the first instruction, bytes */
    uint16_t iretire;   /* length of the run in half-words */
    uint8_t itype;      /* ETraceItype of the last instruction */
    uint8_t ilastsize;  /* last instruction is 2^ilastsize half-words long */
    uint8_t priv;       /* ETracePriv of every instruction in the block */
    uint8_t flags;      /* ETRACE_BLOCK_* */
    /*
     * itype 1 and 2: xcause without the interrupt bit. Others: a register, or
     * 0. At the end of a block of itype 0, what a lui, auipc or c.lui writes;
     * in a block that is one jalr, c.jr or c.jalr, where it jumps through: if
     * they are the same, the jump is sequentially inferable.
     */
    uint16_t cause;
} ETraceBlock;

/*
 * Slots of the ring between hart and encoder, 32 bytes each. Which of the
 * typed slots it is, is in the byte that they have in common:
 *
 *  byte     0       8        10     11     12     13     14     16     24
 *           +-------+--------+------+------+------+------+------+------+------+
 *   block   | iaddr |iretire | itype|ilast-| priv | flags| cause| tval |      |
 *   event   | value |        | type | sub  |      |      |      |      |      |
 *   access  | daddr | offset | type |dsize |dtype | multi|      | data |sdata |
 *   history | last  |irdepth | type |itype | priv | flags|      | next |bran- |
 *           |       |        |      |      |      |      |      |      |ches  |
 *           +-------+--------+------+------+------+------+------+------+------+
 */
typedef enum ETraceSlotType {
    /* below: a block, and this is its itype */
    ETRACE_SLOT_HISTORY = 0x10,
    ETRACE_SLOT_ACCESS = 0x11,
    /*
     * Events: what else comes through the port, in order with the blocks.
     * What an event is about is the next block, if not said otherwise.
     */
    ETRACE_EVENT_CONTEXT = 0x20,    /* value: context; sub: ETraceCtype */
    ETRACE_EVENT_TIME = 0x21,       /* value: time, ticks; sub: ETraceCtype */
    /* value: impdef signals from here on; not from QEMU's harts */
    ETRACE_EVENT_IMPDEF = 0x22,
    /*
     * sub: ETraceTrigger; value: pc of the instruction, or -1. It may not be
     * reached (an interrupt comes first): then the next block does not
     * contain it, and the trigger fires again later.
     */
    ETRACE_EVENT_TRIGGER = 0x23,
    /*
     * The hart halts (Debug mode) or is reset: what ran before is the end of
     * a window. QEMU's harts have no Debug mode, and end it by fence().
     */
    ETRACE_EVENT_HALTED = 0x24,
    ETRACE_EVENT_RESET = 0x25,
    /* value: address of what retires next; branch history goes on from here */
    ETRACE_EVENT_NEXT = 0x26,
} ETraceSlotType;

typedef struct ETraceEvent {
    uint64_t value;
    uint16_t reserved;
    uint8_t type;               /* ETRACE_EVENT_* */
    uint8_t sub;
} ETraceEvent;

/*
 * A data access of an instruction of the next block (section 4.3). If the
 * block ends before that, or a trap comes instead, the instruction did not
 * get to its end behind the access.
 */
typedef struct ETraceAccess {
    uint64_t daddr;             /* bytes; CSR: its number */
    uint16_t offset;            /* half-words from the start of the block */
    uint8_t type;               /* ETRACE_SLOT_ACCESS */
    uint8_t dsize;              /* 2^dsize bytes */
    uint8_t dtype;              /* ETraceDtype */
    uint8_t multi;              /* one of several of its instruction */
    uint16_t reserved;
    uint64_t data;              /* loaded, stored, or the old value */
    uint64_t sdata;             /* operand of an atomic or CSR access only */
} ETraceAccess;

/*
 * Branch history: many blocks in one slot, as long as the encoder only has to
 * know which way branches went, and what was not as the decoder expects. It
 * covers a run of blocks that end in branches, in jumps that the decoder
 * infers, or in nothing. The last instruction may be of any itype but a trap's
 * or a trap return. If it is no branch, it is not the second time that the
 * history comes to it behind the newest branch.
 *
 * A history begins where the one before went on to, or where the last
 * ETRACE_EVENT_NEXT said. If its first instruction is the target of an
 * updiscon and a branch, the history is that instruction.
 *
 * Branches: bit 63 is the newest one before the last instruction, 1: not
 * taken; the lowest bit that is set stands ahead of the oldest one. With
 * branch prediction each has two bits: the lower one is what was predicted, 1:
 * taken.
 *
 *   63    62    61                                0     ways of
 *   +-----+-----+-----+-- ... --+-----+-----+-- --+
 *   | newest    |     |         | 1   | 0  ...    |     two branches
 *   | n   | n-1 | ...           | 1   | 0  ...    |     one, no prediction
 *   +-----+-----+-----+-- ... --+-----+-----+-- --+
 */
typedef struct ETraceHistory {
    uint64_t last;              /* address of the last instruction */
    uint16_t irdepth;           /* ETRACE_HISTORY_IRREPORT: stack entries */
    uint8_t type;               /* ETRACE_SLOT_HISTORY */
    uint8_t itype;              /* ETraceItype of the last instruction */
    uint8_t priv;               /* ETracePriv of all of it */
    uint8_t flags;              /* ETRACE_HISTORY_* */
    uint16_t reserved;
    uint64_t next;              /* where it went on to */
    uint64_t branches;
} ETraceHistory;

#define ETRACE_HISTORY_EMPTY    (1ull << 63)

/* ETraceHistory.flags, and ETraceBlock.flags of what an encoder holds of it */
/*
 * Updiscons: the target may be among what ran behind the newest branch (see
 * encoder-run.c). If not set, it is not.
 */
#define ETRACE_HISTORY_CONTAINED 0x02
/* The hart has seen to return stack and predictor; always set */
#define ETRACE_HISTORY_SETTLED  0x04
/* The last instruction is a branch that was not predicted. */
#define ETRACE_HISTORY_MISSED   0x08
/* ... an implicit return or a sequentially inferable jump */
#define ETRACE_HISTORY_INFERRED 0x10
/* ... a return that did not go where the newest call said */
#define ETRACE_HISTORY_IRREPORT 0x20
/*
 * There are implicit returns or sequentially inferable jumps before the last
 * instruction. Behind the newest branch, each ends a history, unless an
 * updiscon comes next that is not ETRACE_HISTORY_CONTAINED.
 */
#define ETRACE_HISTORY_IRETS    0x40

/* How much detail of what retires next an encoder needs */
typedef enum ETraceDetail {
    ETRACE_DETAIL_BLOCKS,
    ETRACE_DETAIL_BLOCK,        /* a block, and then to be asked again */
    ETRACE_DETAIL_HISTORY,      /* branch history will do */
    /* no more than traps, trap returns and events: it is not traced */
    ETRACE_DETAIL_NOTHING,
} ETraceDetail;

/* Number of branches of a history, @bits (1 or 2) for each */
static inline unsigned etrace_history_count(uint64_t branches, unsigned bits)
{
    return (63 - __builtin_ctzll(branches)) >> (bits - 1);
}

typedef union ETraceSlot {
    struct {
        ETraceBlock block;
        uint64_t tval;          /* of an exception */
    };
    ETraceEvent event;
    ETraceAccess access;
    ETraceHistory history;
} ETraceSlot;

static inline uint8_t etrace_slot_type(const ETraceSlot *slot)
{
    return slot->block.itype;
}

static inline bool etrace_slot_is_block(const ETraceSlot *slot)
{
    return etrace_slot_type(slot) < ETRACE_SLOT_HISTORY;
}

_Static_assert(sizeof(ETraceSlot) == 32 &&
               offsetof(ETraceBlock, itype) == 10 &&
               offsetof(ETraceEvent, type) == 10 &&
               offsetof(ETraceAccess, type) == 10 &&
               offsetof(ETraceHistory, type) == 10,
               "translated code stores slots");

/* Address of the last instruction of a block that retired something. */
static inline uint64_t etrace_block_last(const ETraceBlock *b)
{
    return b->iaddr + 2 * ((uint64_t)b->iretire - (1u << b->ilastsize));
}

/* Wire formats: which text the packet layouts follow. */
typedef enum ETraceWireFormat {
    ETRACE_WIRE_2_0 = 0,                /* ratified 2.0 */
    ETRACE_WIRE_1_1_1 = 1,              /* the draft of September 2020 */
    ETRACE_WIRE_2_1_DRAFT = 2,          /* the draft 2.0.5, protocol 2.1 */
    ETRACE_WIRE_MAX
} ETraceWireFormat;

/* Largest lrid_width_p */
#define ETRACE_LRID_WIDTH_MAX 8

/*
 * Discovery parameters (chapter 9, Table 9.1): both sides must hold the same
 * values or no field of a packet is where the other expects it. Widths are in
 * bits; a width of 0 means that the field is absent (notime_p, nocontext_p).
 */
typedef struct ETraceParams {
    uint8_t wire_format;        /* ETraceWireFormat */
    uint8_t iaddress_width;     /* 32 or 64 */
    uint8_t iaddress_lsb;       /* address bits that are not sent: 1 */
    uint8_t privilege_width;
    uint8_t ecause_width;
    uint8_t time_width;
    uint8_t context_width;
    uint8_t call_counter_size;
    uint8_t return_stack_size;
    uint8_t bpred_size;
    uint8_t cache_size;
    uint8_t f0s_width;
    uint8_t sijump;             /* sijump_p: ioptions has a bit for it */
    /* Data trace; data_width 0: there is none */
    uint8_t data_width;
    uint8_t daddress_width;
    uint8_t lrid_width;         /* split loads; 0: loads are unified */
    uint8_t dtype_width;        /* 1: loads and stores only; 0: as 4 */
    /* Encapsulation 1.0 of this source */
    uint8_t src_bits;           /* width of srcID, 0: no srcID */
    uint8_t ts_bytes;           /* timestamp bytes, 0: none */
    uint64_t ts_hz;             /* ticks of them a second, 0: not known */
    uint16_t src_id;
    /*
     * Run-time modes, of which some shape packets: ETRACE_IOPT_*,
     * ETRACE_DOPT_*, as the last support packet has them. 0 before it.
     */
    uint8_t ioptions;
    uint8_t doptions;
} ETraceParams;

/* What QEMU's encoder is built with, unless its properties say otherwise */
#define ETRACE_RETURN_STACK_SIZE_DEFAULT    5
#define ETRACE_CACHE_SIZE_DEFAULT           7

/* The draft 2.1 has three bits for it. */
static inline unsigned etrace_bpred_size_default(bool draft)
{
    return draft ? 7 : 10;
}

/*
 * Our defaults: privilege 3 bits so that VS, VU and D exist, ecause 6 so that
 * every cause of Linux fits, neither time nor context. xlen is 32 or 64.
 */
static inline void etrace_params_init(ETraceParams *p, unsigned xlen)
{
    *p = (ETraceParams) {
        .wire_format = ETRACE_WIRE_2_0,
        .iaddress_width = xlen,
        .iaddress_lsb = 1,
        .privilege_width = 3,
        .ecause_width = 6,
    };
}

#endif /* HW_TRACE_ETRACE_H */
