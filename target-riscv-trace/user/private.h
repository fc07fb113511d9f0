/*
 * RISC-V trace of programs: what its files share
 *
 * From the ground up: files; encoder; process. Maps stand by themselves.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef TARGET_RISCV_TRACE_USER_PRIVATE_H
#define TARGET_RISCV_TRACE_USER_PRIVATE_H

#include "qemu/thread.h"
#include "hw/trace/etrace/encap.h"
#include "hw/trace/etrace/encoder.h"
#include "hw/trace/etrace/upper.h"
#include "../internal.h"
#include "file.h"
#include "user.h"

/* Threads at a time that can be traced */
#define RISCV_TRACE_USER_THREADS    256

/* Packets are appended to the file in batches of up to this many bytes. */
#define RISCV_TRACE_USER_BATCH      8192

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
    uint64_t next;              /* where the next history begins */
    bool renamed;               /* it may have another name */
    RISCVTraceUserFault fault;
    uint64_t packets;           /* of this number, in this session */
    size_t len;                 /* of the batch */
    uint8_t batch[RISCV_TRACE_USER_BATCH];
} RISCVTraceUserThread;

/* The trace of this process */
typedef struct RISCVTraceProcess {
    RISCVTraceReader *reader;   /* NULL: nothing is traced */
    char *program;              /* its name */
    ETraceParams params;        /* but for src_id */
    uint8_t ioptions;
    RISCVTraceFile sideband;    /* the reader's lock protects it */
    QemuMutex lock;             /* of what follows */
    RISCVTraceFile file;
    uint64_t written;           /* bytes of it */
    bool failed;                /* one of both; atomic */
    RISCVTraceUserThread *threads[RISCV_TRACE_USER_THREADS];
} RISCVTraceProcess;

extern RISCVTraceProcess riscv_trace_process;

/* Append packets to the file of the trace. */
void riscv_trace_process_put(const uint8_t *bytes, size_t len);

/*
 * encoder.c
 */

/* opaque: a RISCVTraceUserThread, whose enc.params have been set */
extern const RISCVTraceHartOps riscv_trace_user_hart_ops;

/* Append the batch of @t. */
void riscv_trace_user_flush(RISCVTraceUserThread *t);

#endif /* TARGET_RISCV_TRACE_USER_PRIVATE_H */
