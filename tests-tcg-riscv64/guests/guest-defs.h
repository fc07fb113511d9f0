/*
 * Devices and numbers, for guests in C and in assembly
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef GUEST_DEFS_H
#define GUEST_DEFS_H

/* What the compiler says of itself; in an #if the missing ones are 0. */
#define XLEN          __riscv_xlen
#define COMPRESSED    __riscv_compressed

#define SIFIVE_TEST   0x100000
#define TEST_PASS     0x5555
#define TEST_FAIL     0x3333
#define UART          0x10000000
#define UART_LSR      (UART + 5)
#define UART_DATA_READY 1
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

#endif
