/*
 * Traps of the programs of generate.py: exceptions are skipped, and a timer
 * interrupts at any instruction.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include <stdbool.h>
#include "walk.h"

static struct walk own = { .random = SEED };
unsigned left = ROUNDS;

struct frame *m_handler(struct frame *f, xlen_t cause)
{
    if (cause & INTERRUPT) {
        if (!--left) {
            pass();
        }
        arm_timer(1 + walk_pick(&own, PERIOD));
    } else {
        f->next += 4;
    }
    return f;
}

void begin(void)
{
    csr_write(mtvec, m_here);
    csr_write(mie, MIP_MTIP);
    arm_timer(1 + walk_pick(&own, PERIOD));
    csr_set(mstatus, MSTATUS_MIE);
    run_program(SEED);
}
