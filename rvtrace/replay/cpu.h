/*
 * Registers of a hart, as far as they are known
 *
 * Instructions are executed again, with what the data trace says that they have
 * loaded and read. A register is known when it was computed from known ones, or
 * loaded, or when the data trace says where it pointed to, or what was stored
 * from it; whatever may have another value is not known, until then.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_REPLAY_CPU_H
#define ETRACE_REPLAY_CPU_H

#include "code/insn.h"
#include "etrace/data.h"
#include "etrace/sideband.h"
#include "replay/fpu.h"

typedef struct Cpu {
    InsnIsa isa;
    uint64_t x[32];             /* no bits above xlen; x[0] is 0 */
    uint64_t f[32];             /* as if registers had 64 bits */
    /* Bit N: of x[N] and f[N]; bit 0 of known_x is set. */
    uint32_t known_x, known_f;
    bool has_f;                 /* there are f registers, not Zfinx */
    FpuRound frm;               /* the CSR; or FPU_UNKNOWN */
} Cpu;

/* Nothing is known but x0. */
void cpu_init(Cpu *cpu, const InsnIsa *isa);
void cpu_forget(Cpu *cpu);

/* All are known: these; f registers only if there are some. */
void cpu_set(Cpu *cpu, const ETraceSbRegs *regs);

/* The accesses that an instruction has made, by the data trace */
typedef struct CpuAccesses {
    const ETraceDataAccess *all;
    unsigned n;
    bool sc_failed;             /* it was an sc that has stored nothing */
} CpuAccesses;

/*
 * The instruction @raw (of 16 bits: the low half counts) at @pc has retired,
 * with @accesses, all of them, or none if they are not known.
 */
void cpu_execute(Cpu *cpu, uint64_t pc, uint32_t raw,
                 const CpuAccesses *accesses);

/*
 * What is in memory behind an access of the instruction @raw, into *@value:
 * what was loaded or stored, or what an atomic has made of it. Returns false
 * if that is not known.
 */
bool cpu_memory_after(uint32_t raw, const ETraceDataAccess *access,
                      uint64_t *value);

/*
 * May the instruction @raw store? If its accesses are not known then, neither is
 * memory behind it.
 */
bool cpu_may_store(uint32_t raw);

#endif /* ETRACE_REPLAY_CPU_H */
