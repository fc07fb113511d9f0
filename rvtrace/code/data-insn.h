/*
 * RISC-V instructions as a data trace sees them: what they access
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_DATA_INSN_H
#define ETRACE_DATA_INSN_H

#include "etrace/data.h"
#include "code/insn.h"

/* How the addresses of an instruction's accesses go together */
typedef enum DataInsnOrder {
    DATA_ORDER_ANY,
    DATA_ORDER_NEXT,            /* each directly behind the one before it */
    DATA_ORDER_UP,              /* each above the one before it */
} DataInsnOrder;

/* More accesses than any instruction has: 8 registers of 65536 bits */
#define DATA_INSN_MANY 65536

/*
 * The accesses that an instruction makes. How many there are is known from
 * the code alone unless it is a vector instruction (vl and mask), sc (one that
 * fails has no packet if data is traced), or one of the shadow stack's (which
 * are nops where there is none).
 */
typedef struct DataInsn {
    uint32_t min, max;          /* number of them; max 0: none */
    uint32_t dtypes;            /* bit N: they may be of dtype N */
    uint8_t sizes;              /* bit N: they may have 2^N bytes */
    uint8_t order;              /* DataInsnOrder */
    bool csr;                   /* they have the address @number */
    bool lr, sc;
    uint16_t number;
    /* Vectors: not whole registers, nor masks */
    bool by_vl;                 /* @fields accesses for each of vl elements */
    bool masked;                /* ... of those that the mask chooses */
    bool first_only;            /* ... up to a fault, which changes vl */
    bool sets_vl;               /* vsetvl and so on, which access nothing */
    uint8_t fields;
} DataInsn;

void data_insn_classify(const InsnIsa *isa, uint32_t raw, DataInsn *d);

/* Can @a be an access of @d, by what its packet says? */
bool data_insn_fits(const DataInsn *d, const ETraceDataAccess *a);

#endif /* ETRACE_DATA_INSN_H */
