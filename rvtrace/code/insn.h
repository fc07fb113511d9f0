/*
 * RISC-V instructions as an instruction trace sees them
 *
 * Only what moves the program counter matters: length, kind and target. The
 * classes are those of "Efficient Trace for RISC-V" 2.0, section 4.1.1, "Jump
 * classification and target inference".
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_INSN_H
#define ETRACE_INSN_H

#include "etrace/etrace.h"

/*
 * What the bytes alone do not say. The encodings of c.fsdsp are those of
 * Zcmp and Zcmt; a hart has one or the other.
 */
typedef struct InsnIsa {
    uint8_t xlen;       /* 32 or 64 */
    bool zcmp;
    bool zcmt;
    bool tags;          /* addresses of accesses may lack what pointers have */
} InsnIsa;

typedef enum InsnKind {
    INSN_SEQUENTIAL,    /* the next instruction follows in memory */
    INSN_BRANCH,        /* conditional; offset is the taken displacement */
    INSN_JUMP,          /* inferable jump; offset is the displacement */
    INSN_UPDISCON,      /* uninferable jump */
    INSN_XRET,          /* return from a trap; an updiscon, too */
} InsnKind;

/* Insn.flags */
#define INSN_LUI    0x01    /* lui, c.lui: rd = imm */
#define INSN_AUIPC  0x02    /* auipc: rd = pc + imm */
#define INSN_ENV    0x04    /* ecall, ebreak, c.ebreak: never retire */

typedef struct Insn {
    uint8_t kind;       /* InsnKind */
    uint8_t size;       /* bytes: 2 or 4 */
    /*
     * ETraceItype of a control transfer; ETRACE_ITYPE_TAKEN_BRANCH for a
     * branch, whatever its outcome; ETRACE_ITYPE_NONE otherwise
     */
    uint8_t itype;
    uint8_t flags;      /* INSN_* */
    uint8_t rd;         /* of INSN_LUI, INSN_AUIPC */
    uint8_t rs1;        /* of an uninferable jump to a register; else 0 */
    int32_t offset;     /* displacement, or imm of INSN_LUI, INSN_AUIPC, jalr */
} Insn;

/* Length in bytes of the instruction whose first half-word is @first. */
static inline unsigned insn_length(uint16_t first)
{
    return (first & 3) == 3 ? 4 : 2;
}

/* Is it one of 6 bytes or more, of which nothing else is known? */
static inline bool insn_is_long(uint16_t first)
{
    return (first & 0x1f) == 0x1f;
}

/*
 * Classify the instruction @raw; of a 2-byte instruction, only the low half
 * is looked at. Whatever is no control transfer, reserved encodings included,
 * is sequential: an illegal instruction never retires.
 */
void insn_classify(const InsnIsa *isa, uint32_t raw, Insn *insn);

/*
 * Parse the extensions that matter from an ISA string such as
 * "rv32imac_zcmp_zcmt". Returns false if it does not begin with rv32 or rv64.
 */
bool insn_isa_parse(InsnIsa *isa, const char *str);

/*
 * The first extension in such a string that rvtrace does not know, and which so
 * may have branches of its own. NULL if it knows all; the caller frees it.
 */
char *insn_isa_unknown(const char *str);

#endif /* ETRACE_INSN_H */
