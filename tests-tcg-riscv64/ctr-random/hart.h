/*
 * A small interpreter: where a generated program goes
 *
 * Executes the generated programs in all five privilege modes with traps,
 * interrupts and their delegation, and hands each retired transfer to the
 * model. Knows the instructions that program.c can emit, and stops at others.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef HART_H
#define HART_H

#include "model.h"

/* CSRs that programs touch */
#define CSR_SSTATUS     0x100
#define CSR_SEPC        0x141
#define CSR_SCAUSE      0x142
#define CSR_SIP         0x144
#define CSR_SCTRCTL     0x14e
#define CSR_SCTRSTATUS  0x14f
#define CSR_SCTRDEPTH   0x15f
#define CSR_VSCTRCTL    0x24e
#define CSR_MSTATUS     0x300
#define CSR_MEPC        0x341
#define CSR_MCAUSE      0x342
#define CSR_MIP         0x344
#define CSR_MCTRCTL     0x34e
#define CSR_HSTATUS     0x600
#define CSR_HVIP        0x645

#define STATUS_SIE      0x2ull
#define STATUS_MIE      0x8ull
#define STATUS_SPIE     0x20ull
#define STATUS_MPIE     0x80ull
#define STATUS_SPP      0x100ull
#define STATUS_MPP      0x1800ull
#define STATUS_MPV      (1ull << 39)
#define STATUS_FIELDS   (STATUS_SIE | STATUS_MIE | STATUS_SPIE | STATUS_MPIE | \
                         STATUS_SPP | STATUS_MPP | STATUS_MPV)
#define HSTATUS_SPV     0x80ull

#define IRQ_SSI         1
#define IRQ_VSSI        2
#define IRQ_LCOFI       13
#define IP(irq)         (1ull << (irq))

#define SCTRCLR         0x10400073

struct hart {
    uint64_t x[32];
    uint64_t pc;
    enum ctr_mode mode;

    uint64_t mstatus, vsstatus, hstatus;
    uint64_t mtvec, stvec, vstvec;
    uint64_t mepc, sepc, vsepc;
    uint64_t mcause, scause, vscause;
    uint64_t medeleg, hedeleg, mideleg, hideleg;
    uint64_t mstatus_fields;            /* those that software can write */
    uint64_t ip;                        /* all of them are enabled in mie */
    bool has_h;
    bool mstateen_ctr, hstateen_ctr;    /* true without Smstateen */

    /* Code may be executed and data read here; all else faults. */
    uint64_t code, code_end;
    uint64_t data, data_end;
    uint64_t stop;              /* the pc at which the program is over */
    uint64_t jvt;

    struct ctr *ctr;
    void (*retired)(const struct transfer *t, enum ctr_outcome outcome);
};

/*
 * Runs until the pc is at stop. Returns false for an instruction that it
 * does not know (the pc is there), or a program without end.
 */
bool hart_run(struct hart *h);

#endif
