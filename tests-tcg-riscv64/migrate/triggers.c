/*
 * Triggers that fire all the time, until a byte comes from the UART: they go on
 * wherever the machine goes
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "guest.h"

/* Debug specification 1.0, mcontrol6: type, m, execute, store; action 0 */
#define MCONTROL6       (6UL << 60 | 1 << 6)
#define EXECUTE         (1 << 2)
#define STORE           (1 << 1)

/* volatile: a handler changes it */
volatile unsigned int hits;
static uint64_t stored;

/* Counts, and goes on behind the instruction, which has 4 bytes. */
static __attribute__((naked, aligned(4))) void count(void)
{
    asm volatile("addi sp, sp, -16\n"
                 "sd t0, 0(sp)\n"
                 "sd t1, 8(sp)\n"
                 "lla t0, hits\n"
                 "lw t1, 0(t0)\n"
                 "addi t1, t1, 1\n"
                 "sw t1, 0(t0)\n"
                 "csrr t0, mepc\n"
                 "addi t0, t0, 4\n"
                 "csrw mepc, t0\n"
                 "ld t0, 0(sp)\n"
                 "ld t1, 8(sp)\n"
                 "addi sp, sp, 16\n"
                 "mret");
}

static void set(unsigned int number, xlen_t address, xlen_t how)
{
    csr_write(tselect, number);
    csr_write(tdata1, 0);
    csr_write(tdata2, address);
    csr_write(tdata1, MCONTROL6 | how);
}

static __attribute__((noinline)) void meet_both(void)
{
    asm volatile(".option push\n"
                 ".option norvc\n"
                 ".globl executed, storing\n"
                 "executed:\n"
                 "   nop\n"
                 "storing:\n"
                 "   sd zero, %0\n"
                 ".option pop"
                 : "=m"(stored));
}

void secondary(void)
{
}

int main(void)
{
    xlen_t executed;

    asm("lla %0, executed" : "=r"(executed));
    csr_write(mtvec, count);
    set(0, executed, EXECUTE);
    set(1, (xlen_t)&stored, STORE);
    print("ready\n");
    while (!uart_has_byte()) {
        hits = 0;
        meet_both();
        CHECK(hits == 2);
    }
    pass();
}
