/*
 * The assembly part of vm.c: into another mode and back, handlers of S-mode
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef VM_H
#define VM_H

#include "guest.h"

/* What s_fix stores, and where; how often S-mode trapped */
extern xlen_t *fix_pte;
extern xlen_t fix_value;
extern xlen_t s_traps;
/* a0 at the trap that ended run_asm */
extern xlen_t m_a0;

/* Runs code at va in the mode of mstatus.MPP until a trap to M-mode. */
void run_asm(xlen_t va, xlen_t a0, xlen_t a1, xlen_t a2, xlen_t a3);
void run_trap(void);
void s_fix(void);
void s_skip(void);

#if XLEN == 64
#define LX "ld "
#define SX "sd "
#define XB "8"
#else
#define LX "lw "
#define SX "sw "
#define XB "4"
#endif

asm(".macro callee_saved op\n"
    "    \\op ra, 0(sp)\n"
    "    .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11\n"
    "    \\op s\\n, (\\n + 1) * " XB "(sp)\n"
    "    .endr\n"
    ".endm\n"
    ".text\n"
    "run_asm:\n"
    "    addi sp, sp, -13 * 8\n"
    "    callee_saved " SX "\n"
    "    csrw mscratch, sp\n"
    "    csrw mepc, a0\n"
    "    mv a0, a1\n"
    "    mv a1, a2\n"
    "    mv a2, a3\n"
    "    mv a3, a4\n"
    "    mret\n"
    ".balign 4\n"
    "run_trap:\n"
    "    csrr sp, mscratch\n"
    "    la t0, m_a0\n"
    "    " SX "a0, 0(t0)\n"
    "    callee_saved " LX "\n"
    "    addi sp, sp, 13 * 8\n"
    "    ret\n"
    /* S-mode: repairs the page table and tries again */
    ".balign 4\n"
    "s_fix:\n"
    "    la t0, fix_pte\n"
    "    " LX "t0, 0(t0)\n"
    "    la t1, fix_value\n"
    "    " LX "t1, 0(t1)\n"
    "    " SX "t1, 0(t0)\n"
    "    sfence.vma\n"
    "    la t0, s_traps\n"
    "    " LX "t1, 0(t0)\n"
    "    addi t1, t1, 1\n"
    "    " SX "t1, 0(t0)\n"
    "    sret\n"
    /* S-mode: goes on behind the instruction, which has 4 bytes */
    ".balign 4\n"
    "s_skip:\n"
    "    csrr t0, sepc\n"
    "    addi t0, t0, 4\n"
    "    csrw sepc, t0\n"
    "    la t0, s_traps\n"
    "    " LX "t1, 0(t0)\n"
    "    addi t1, t1, 1\n"
    "    " SX "t1, 0(t0)\n"
    "    sret\n");

#endif
