/*
 * RISC-V trace: RAM sink, a ring of trace in memory
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef HW_TRACE_RISCV_TRACE_RAM_H
#define HW_TRACE_RISCV_TRACE_RAM_H

#include "system/memory.h"
#include "hw/register.h"
#include "hw/sysbus.h"
#include "qemu/thread.h"
#include "riscv-trace-regs.h"
#include "riscv-trace-replicator.h"

#define TYPE_RISCV_TRACE_RAM "riscv-trace-ram"
OBJECT_DECLARE_SIMPLE_TYPE(RISCVTraceRAM, RISCV_TRACE_RAM)

#define RISCV_TRACE_RAM_R_MAX       (R_TR_RAM_DATA + 1)

/* Rings consist of whole pages, which trace shares with nothing else. */
#define RISCV_TRACE_RAM_PAGE        4096
#define RISCV_TRACE_RAM_WORD        4

/* Addresses in guest memory, or from the start of the SRAM */
typedef struct RISCVTraceRing {
    uint64_t start;             /* trRamStart: the first word */
    uint64_t limit;             /* trRamLimit: the last one */
    uint64_t wp;                /* trRamWP: the next one to be written */
    uint64_t rp;                /* trRamRP: the next one to be read */
    bool wrapped;               /* trRamWrap */
} RISCVTraceRing;

struct RISCVTraceRAM {
    SysBusDevice parent_obj;

    RegisterInfoArray *reg_array;
    RegisterInfo regs_info[RISCV_TRACE_RAM_R_MAX];
    uint32_t regs[RISCV_TRACE_RAM_R_MAX];

    /* Properties */
    RISCVTraceReplicator *replicator;
    MemoryRegion *memory;       /* that SMEM mode writes to; NULL: none */
    uint32_t sram_size;         /* bytes; 0: no SRAM mode */
    bool autostart;
    int32_t hart;               /* that it is the sink of; -1: of all */

    RISCVTraceOutput output;
    AddressSpace as;            /* of @memory */
    MemoryRegion sram;
    QEMUBH *bh;

    QemuMutex lock;             /* protects what follows */
    RISCVTraceRing rings[2];    /* by trRamMode */
    bool storing;               /* enabled and not stopped; atomic */
    bool stopped;               /* enabled, but full or out of memory; atomic */
    bool evicting;              /* code in the ring is being evicted; atomic */
    uint8_t word[RISCV_TRACE_RAM_WORD]; /* not stored yet */
    uint32_t fill;              /* bytes in @word */
    uint64_t since_align;       /* bytes */
    ETraceParams align_params;  /* of the present session */
    uint64_t bytes;             /* stored in this session */
    uint64_t announced;         /* @bytes that the sideband reported last */
    uint64_t packets[RISCV_TRACE_MAX_SOURCES];
};

/* trRamMode, and the ring that it selects */
unsigned riscv_trace_ram_mode(RISCVTraceRAM *s);
RISCVTraceRing *riscv_trace_ram_current(RISCVTraceRAM *s);

/* Bytes of the ring */
uint64_t riscv_trace_ram_size(const RISCVTraceRing *ring);

/*
 * riscv-trace-ram-store.c: what put() and the registers share
 */
extern const RISCVTraceOutputOps riscv_trace_ram_output_ops;

/* Nothing waits for its word to be full any more. The lock is held. */
void riscv_trace_ram_pad(RISCVTraceRAM *s);

/* Store an alignment sequence. The lock is held. */
void riscv_trace_ram_align(RISCVTraceRAM *s);

/*
 * Report in the sideband where the trace ends, so that readers of the ring know
 * which packets are in it. BQL.
 */
void riscv_trace_ram_announce(RISCVTraceRAM *s);

#endif /* HW_TRACE_RISCV_TRACE_RAM_H */
