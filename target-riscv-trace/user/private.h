/*
 * RISC-V trace of programs: what its files share
 *
 * From the ground up: files and options; encoder and data; process. Maps stand
 * by themselves.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef TARGET_RISCV_TRACE_USER_PRIVATE_H
#define TARGET_RISCV_TRACE_USER_PRIVATE_H

#include "qemu/thread.h"
#include "hw/trace/etrace/data-short.h"
#include "hw/trace/etrace/encap.h"
#include "hw/trace/etrace/encoder.h"
#include "hw/trace/etrace/filter-expr.h"
#include "hw/trace/etrace/upper.h"
#include "../internal.h"
#include "file.h"
#include "user.h"

/* Threads at a time that can be traced */
#define RISCV_TRACE_USER_THREADS    256

/* Packets are appended to the file in batches of up to this many bytes. */
#define RISCV_TRACE_USER_BATCH      8192

/* What the properties of the CPU ask for */
typedef struct RISCVTraceUserOptions {
    uint8_t ioptions;           /* ETRACE_IOPT_* */
    bool data;
    bool timestamps;
    ETraceFilterExpr filter;
} RISCVTraceUserOptions;

/* Data trace of a thread */
typedef struct RISCVTraceUserData {
    ETraceDataState state;
    ETraceDataShort quick;
    GArray *kept;               /* ETraceAccess: wait for their block */
} RISCVTraceUserData;

/* A fault that is going to be a signal */
typedef struct RISCVTraceUserFault {
    bool pending;
    target_ulong addr;
    MMUAccessType access;
} RISCVTraceUserFault;

/* What a thread has, and the next one of its number after its end */
typedef struct RISCVTraceUserThread {
    CPUState *cs;               /* NULL: there is none */
    ETraceEncoder enc;
    ETraceUpper upper;
    RISCVTraceUserData data;
    ETraceFilter filter;
    bool filtered;              /* it does not let all through */
    uint64_t next;              /* where the next history begins */
    bool renamed;               /* it may have another name */
    bool waits;                 /* for the kernel, since the last packet */
    RISCVTraceUserFault fault;
    target_ulong left[32];      /* registers when it has left its code */
    uint64_t packets;           /* of this number, in this session */
    bool passed;                /* what ran since a window was not traced */
    uint64_t change;            /* the last one that an ended thread knew of */
    bool stamped;               /* one of them had a timestamp: */
    uint64_t first_ticks, last_ticks;
    size_t len;                 /* of the batch */
    uint8_t batch[RISCV_TRACE_USER_BATCH];
} RISCVTraceUserThread;

/* The trace of this process */
typedef struct RISCVTraceProcess {
    RISCVTraceReader *reader;   /* NULL: nothing is traced */
    char *program;              /* its name */
    ETraceParams params;        /* but for src_id */
    RISCVTraceUserOptions options;
    RISCVTraceFile sideband;    /* the reader's lock protects it */
    QemuMutex lock;             /* of what follows */
    RISCVTraceFile file;
    uint64_t written;           /* bytes of it */
    int64_t began;              /* timestamps count from then on */
    bool failed;                /* one of both; atomic */
    RISCVTraceUserThread *threads[RISCV_TRACE_USER_THREADS];
} RISCVTraceProcess;

extern RISCVTraceProcess riscv_trace_process;

/* Append packets to the file of the trace. */
void riscv_trace_process_put(const uint8_t *bytes, size_t len);

/*
 * options.c
 */

/*
 * Is the program of @cpu to be traced? If other properties are given without
 * that, the process ends with an error.
 */
bool riscv_trace_user_wanted(const RISCVCPU *cpu);

/*
 * Fill @o, for addresses of @xlen bits; if a property has no meaning, the
 * process ends with an error.
 */
void riscv_trace_user_options_read(RISCVTraceUserOptions *o,
                                   const RISCVCPU *cpu, unsigned xlen);

/* The parameters of encoders that do what @o says; @xlen: 32 or 64 */
void riscv_trace_user_options_params(const RISCVTraceUserOptions *o,
                                     unsigned xlen, ETraceParams *p);

/*
 * encoder.c
 */

/* opaque: a RISCVTraceUserThread, whose enc.params have been set */
extern const RISCVTraceHartOps riscv_trace_user_hart_ops;

/* Wrap a packet of @t, of data or of instructions, and put it in the batch. */
void riscv_trace_user_put(RISCVTraceUserThread *t, bool data,
                          const uint8_t *payload, size_t len);

/* Append the batch of @t. */
void riscv_trace_user_flush(RISCVTraceUserThread *t);

/*
 * data.c
 */

void riscv_trace_user_data_init(RISCVTraceUserData *d);
void riscv_trace_user_data_free(RISCVTraceUserData *d);

/* Tracing of @t starts; t->enc.params have been set. */
void riscv_trace_user_data_start(RISCVTraceUserThread *t);

/* Send the accesses among the @n @slots. */
void riscv_trace_user_data_send(RISCVTraceUserThread *t,
                                const ETraceSlot *slots, size_t n);

/* Keep those that the @n @slots begin with. Returns how many these are. */
size_t riscv_trace_user_data_keep(RISCVTraceUserThread *t,
                                  const ETraceSlot *slots, size_t n);

/* How many of those that are kept, from the first one on, are of @b */
size_t riscv_trace_user_data_count(RISCVTraceUserThread *t,
                                   const ETraceBlock *b);

/* Send the first @n of them, but for those that @traced, if any, rules out. */
void riscv_trace_user_data_send_kept(RISCVTraceUserThread *t, size_t n,
                                     const bool *traced);

/* The first @n of them are done with; those that stay are of what is next. */
void riscv_trace_user_data_done(RISCVTraceUserThread *t, size_t n);

#endif /* TARGET_RISCV_TRACE_USER_PRIVATE_H */
