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

#include <stdint.h>
#include "guest-defs.h"

typedef unsigned long xlen_t;

/* Prints the text on the UART. */
void print(const char *text);
/* Prints the number in hex. */
void print_hex(xlen_t value);
/* Has a byte come that nobody has read? */
static inline int uart_has_byte(void)
{
    /* volatile: a register */
    return *(volatile uint8_t *)UART_LSR & UART_DATA_READY;
}
/* Ends the run: success, or failure at that line. */
void pass(void) __attribute__((noreturn));
/* As pass, for M-mode only: nothing is executed until QEMU has stopped. */
void pass_asleep(void) __attribute__((noreturn));
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
