/*
 * What the bare-metal guests share
 *
 * A guest is one file with a global `main`, entered in M-mode by hart 0 with
 * a stack. It finishes with PASS, or with a CHECK that fails and prints its
 * line. Other harts go to `secondary` if the guest has one, else they sleep.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef GUEST_H
#define GUEST_H

#define SIFIVE_TEST   0x100000
#define TEST_PASS     0x5555
#define TEST_FAIL     0x3333
#define UART          0x10000000
#define CLINT_MSIP    0x2000000     /* 4 bytes a hart */
#define CLINT_MTIMECMP 0x2004000    /* 8 bytes a hart */
#define CLINT_MTIME   0x200bff8

#define CAUSE_FETCH_MISALIGNED  0
#define CAUSE_FETCH_ACCESS      1
#define CAUSE_ILLEGAL           2
#define CAUSE_BREAKPOINT        3
#define CAUSE_LOAD_MISALIGNED   4
#define CAUSE_LOAD_ACCESS       5
#define CAUSE_STORE_MISALIGNED  6
#define CAUSE_STORE_ACCESS      7
#define CAUSE_ECALL_U           8
#define CAUSE_ECALL_S           9
#define CAUSE_ECALL_VS          10
#define CAUSE_ECALL_M           11
#define CAUSE_FETCH_PAGE        12
#define CAUSE_LOAD_PAGE         13
#define CAUSE_STORE_PAGE        15
#define CAUSE_FETCH_GUEST_PAGE  20
#define CAUSE_LOAD_GUEST_PAGE   21
#define CAUSE_VIRTUAL_INST      22

#define MSTATUS_SIE   0x2
#define MSTATUS_MIE   0x8
#define MSTATUS_SPIE  0x20
#define MSTATUS_MPIE  0x80
#define MSTATUS_SPP   0x100
#define MSTATUS_MPP   0x1800
#define MPP_S         0x800
#define MIP_SSIP      0x2
#define MIP_MSIP      0x8
#define MIP_STIP      0x20
#define MIP_MTIP      0x80

#ifdef __ASSEMBLER__

#if __riscv_xlen == 64
#define LX ld
#define SX sd
#define XBYTES 8
#define XWORD .dword
#else
#define LX lw
#define SX sw
#define XBYTES 4
#define XWORD .word
#endif

#define PASS j pass

/* Fails with this line unless the registers are equal. */
#define CHECK_EQ(a, b) beq a, b, 77f; li a0, __LINE__; j fail; 77:

/* Fails with this line unless the register holds the constant; changes t0. */
#define CHECK_IMM(a, imm) li t0, imm; CHECK_EQ(a, t0)

/*
 * With mtvec at rec_trap: expects a trap of that cause on the instruction,
 * and goes on behind it. Changes t0, s8 to s11: see rec_trap.
 */
#define EXPECT_TRAP(cause, ...) \
    li s8, -1; la s11, 89f; 88: __VA_ARGS__; 89: \
    CHECK_IMM(s8, cause); la t0, 88b; CHECK_EQ(s9, t0)

/* As EXPECT_TRAP; the trap's epc is that of the label instead. */
#define EXPECT_TRAP_AT(cause, label, ...) \
    li s8, -1; la s11, 89f; __VA_ARGS__; 89: \
    CHECK_IMM(s8, cause); la t0, label; CHECK_EQ(s9, t0)

#define SET_MTVEC(label) la t0, label; csrw mtvec, t0

/* Lets S and U mode reach all memory. */
#define PMP_ALL li t0, -1; csrw pmpaddr0, t0; li t0, 0x1f; csrw pmpcfg0, t0

/* mret to the label in the mode whose MPP is given (0: U). Changes t0. */
#define MRET_TO(mpp, label) \
    li t0, MSTATUS_MPP; csrc mstatus, t0; \
    li t0, mpp; csrs mstatus, t0; \
    la t0, label; csrw mepc, t0; mret

#else

#include <stdint.h>

typedef unsigned long xlen_t;

/* Prints the text on the UART. */
void print(const char *text);
/* Prints the number in hex. */
void print_hex(xlen_t value);
/* Ends the run: success, or failure at that line. */
void pass(void) __attribute__((noreturn));
void fail(int line) __attribute__((noreturn));

#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            fail(__LINE__); \
        } \
    } while (0)

#define csr_read(csr) \
    ({ \
        xlen_t v_; \
        asm volatile("csrr %0, " #csr : "=r"(v_) : : "memory"); \
        v_; \
    })
#define csr_write(csr, value) \
    asm volatile("csrw " #csr ", %0" : : "r"((xlen_t)(value)) : "memory")
#define csr_set(csr, value) \
    asm volatile("csrs " #csr ", %0" : : "r"((xlen_t)(value)) : "memory")
#define csr_clear(csr, value) \
    asm volatile("csrc " #csr ", %0" : : "r"((xlen_t)(value)) : "memory")

#endif

#endif
