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

#include "hw/trace/etrace/packet.h"

typedef enum RefOp {
    REF_NORMAL,
    REF_UPPER,                  /* LUI, AUIPC, C.LUI */
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
    bool call;                  /* of section 4.1.1 */
    bool ret;
    uint8_t reg;                /* REF_UPPER: rd, REF_JALR: rs1 */
    uint64_t value;             /* REF_UPPER: what rd is, REF_JALR: imm */
} RefInstr;

typedef struct RefDecoder RefDecoder;

typedef struct RefDecoderOps {
    /* NULL if there is no instruction at @pc */
    const RefInstr *(*get_instr)(void *opaque, uint64_t pc);
    void (*report_pc)(void *opaque, uint64_t pc);
    void (*report_trap)(void *opaque, const ETracePacket *te_inst);
    void (*report_epc)(void *opaque, uint64_t epc);
    /* in implicit exception mode */
    uint64_t (*trap_handler)(void *opaque, const ETracePacket *te_inst);
} RefDecoderOps;

#define REF_STACK_MAX   128
#define REF_BPRED_MAX   4096
#define REF_CACHE_MAX   1024

/* The global variables of section 11.1, under their names. */
struct RefDecoder {
    ETraceParams discovery_response;
    const RefDecoderOps *ops;
    void *opaque;
    const char *error;          /* NULL: none so far */

    uint64_t pc;
    uint64_t last_pc;
    uint64_t branches;
    uint64_t branch_map;
    bool stop_at_last_branch;
    bool inferred_address;
    bool start_of_trace;
    uint64_t address;
    uint8_t privilege;
    uint8_t options;
    unsigned irstack_depth;

    /* of 2.0.5 */
    bool use_bpred;
    bool resync_disabled;
    unsigned irets;

    /* Not in the text; see process_te_inst(). */
    bool trap_alone;
    bool handler_pending;       /* 1.1.1: pc may not have retired ... */
    bool handler_faulted;       /* ... if a trap packet comes next */

    struct {
        uint64_t link;
        unsigned count;
    } return_stack[REF_STACK_MAX];
    bool bpred[REF_BPRED_MAX][2];
    uint64_t cache[REF_CACHE_MAX];
};

void ref_decoder_init(RefDecoder *d, const ETraceParams *params,
                      const RefDecoderOps *ops, void *opaque);

/* Returns false, with d->error set, where the text says ERROR. */
bool ref_decoder_process(RefDecoder *d, const ETracePacket *te_inst);

#endif /* TESTS_UNIT_ETRACE_REFDECODER_H */
