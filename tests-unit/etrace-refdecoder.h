/*
 * The decoder of chapter 11 of the E-Trace specification, word for word
 *
 * For tests of the encoder only: it knows an abstract instruction set, and it
 * stops at the first error.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef TESTS_UNIT_ETRACE_REFDECODER_H
#define TESTS_UNIT_ETRACE_REFDECODER_H

#include "hw/trace/etrace-packet.h"

typedef enum RefOp {
    REF_NORMAL,
    REF_BRANCH,                 /* BEQ .. C.BNEZ */
    REF_JAL,                    /* JAL, C.J, and JALR with rs1 == x0 */
    REF_JALR,                   /* an uninferable jump */
    REF_XRET,                   /* URET .. DRET */
    REF_ECALL,                  /* ECALL, EBREAK, C.EBREAK */
} RefOp;

typedef struct RefInstr {
    RefOp op;
    unsigned size;              /* bytes */
    uint64_t target;            /* REF_BRANCH, REF_JAL */
} RefInstr;

typedef struct RefDecoder RefDecoder;

typedef struct RefDecoderOps {
    /* NULL if there is no instruction at @pc */
    const RefInstr *(*get_instr)(void *opaque, uint64_t pc);
    void (*report_pc)(void *opaque, uint64_t pc);
    void (*report_trap)(void *opaque, const ETracePacket *te_inst);
    void (*report_epc)(void *opaque, uint64_t epc);
} RefDecoderOps;

/* The global variables of section 11.1, under their names. */
struct RefDecoder {
    ETraceParams discovery_response;
    const RefDecoderOps *ops;
    void *opaque;
    const char *error;          /* NULL: none so far */

    uint64_t pc;
    uint64_t last_pc;
    unsigned branches;
    uint64_t branch_map;
    bool stop_at_last_branch;
    bool inferred_address;
    bool start_of_trace;
    uint64_t address;
    uint8_t privilege;
    uint8_t options;

    /* Not in the text; see process_te_inst(). */
    bool trap_alone;
};

void ref_decoder_init(RefDecoder *d, const ETraceParams *params,
                      const RefDecoderOps *ops, void *opaque);

/* Returns false, with d->error set, where the text says ERROR. */
bool ref_decoder_process(RefDecoder *d, const ETracePacket *te_inst);

#endif /* TESTS_UNIT_ETRACE_REFDECODER_H */
