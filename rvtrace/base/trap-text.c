/*
 * What traps and privilege levels are called
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "etrace/etrace.h"
#include "base/trap-text.h"

/* No bit of mip stands for it: programs of user mode have it for signal 0. */
#define FIRST_SIGNAL    64

const char *trap_cause_text(bool interrupt, unsigned cause)
{
    static const char *const exceptions[] = {
        [0] = "instruction address misaligned",
        [1] = "instruction access fault",
        [2] = "illegal instruction",
        [3] = "breakpoint",
        [4] = "load address misaligned",
        [5] = "load access fault",
        [6] = "store address misaligned",
        [7] = "store access fault",
        [8] = "ecall from U",
        [9] = "ecall from S",
        [10] = "ecall from VS",
        [11] = "ecall from M",
        [12] = "instruction page fault",
        [13] = "load page fault",
        [15] = "store page fault",
        [16] = "double trap",
        [18] = "software check",
        [19] = "hardware error",
        [20] = "instruction guest-page fault",
        [21] = "load guest-page fault",
        [22] = "virtual instruction",
        [23] = "store guest-page fault",
    };
    static const char *const interrupts[] = {
        [1] = "supervisor software interrupt",
        [2] = "VS software interrupt",
        [3] = "machine software interrupt",
        [5] = "supervisor timer interrupt",
        [6] = "VS timer interrupt",
        [7] = "machine timer interrupt",
        [9] = "supervisor external interrupt",
        [10] = "VS external interrupt",
        [11] = "machine external interrupt",
        [12] = "guest external interrupt",
        [13] = "counter overflow interrupt",
    };

    if (interrupt) {
        return cause < ARRAY_SIZE(interrupts) ? interrupts[cause] : NULL;
    }
    return cause < ARRAY_SIZE(exceptions) ? exceptions[cause] : NULL;
}

char *trap_text(bool interrupt, unsigned cause)
{
    const char *name = trap_cause_text(interrupt, cause);
    const char *kind = interrupt ? "interrupt" : "exception";

    if (name || cause == TRAP_CAUSE_UNKNOWN) {
        return g_strdup(name ?: kind);
    }
    return interrupt && cause >= FIRST_SIGNAL ?
           g_strdup_printf("signal %u", cause - FIRST_SIGNAL) :
           g_strdup_printf("%s %u", kind, cause);
}

const char *priv_text(unsigned priv)
{
    static const char *const names[8] = {
        [ETRACE_PRIV_U] = "U-mode",
        [ETRACE_PRIV_S] = "S-mode",
        [ETRACE_PRIV_M] = "M-mode",
        [ETRACE_PRIV_D] = "debug mode",
        [ETRACE_PRIV_VU] = "VU-mode",
        [ETRACE_PRIV_VS] = "VS-mode",
    };

    return names[priv & 7] ? names[priv & 7] : "unknown mode";
}
