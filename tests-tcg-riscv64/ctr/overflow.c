/*
 * Sscofpmf: a counter that overflows sets OF in its mhpmevent and raises the
 * local counter overflow interrupt (LCOFI), whatever it, or another counter,
 * counted before.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "ctr.h"

#define LCOFI           13
#define MTI             7
#define OF              BIT(63)
#define MINH            BIT(62)
#define OTHER_INH       (15 * BIT(58))  /* SINH, UINH, VSINH, VUINH */
#define CYCLES          1
#define INSTRUCTIONS    2
#define ALL             0xfffffffdul    /* of mcountinhibit */
/* counted until a counter overflows; and when to give up, in 100 ns */
#define PERIOD          200000
#define PATIENCE        20000000

/* The virt machine's ACLINT */
#define MTIMECMP        ((volatile uint64_t *)0x2004000)    /* registers */
#define MTIME           ((volatile uint64_t *)0x200bff8)    /* registers */

static void stop(void)
{
    csr_write(mcountinhibit, ALL);
}

/* Counter 3 or 4 goes on from a value, its OF cleared; the event stays after */
static void start(unsigned int counter, uint64_t event, uint64_t value)
{
    if (counter == 3) {
        csr_write(mhpmevent3, event);
        csr_write(mhpmcounter3, value);
    } else {
        csr_write(mhpmevent4, event);
        csr_write(mhpmcounter4, value);
    }
    csr_clear(mcountinhibit, BIT(counter));
}

static bool of(unsigned int counter)
{
    return (counter == 3 ? csr_read(mhpmevent3) : csr_read(mhpmevent4)) >> 63;
}

static bool pending(void)
{
    return csr_read(mip) >> LCOFI & 1;
}

/* Right after it has been started; the host's time goes on when it likes. */
static bool early(unsigned int counter)
{
#ifdef HOST
    (void)counter;
    return false;
#else
    return of(counter);
#endif
}

/* Does the counter overflow soon, and is there an interrupt then? */
static bool overflows(unsigned int counter)
{
    uint64_t end = *MTIME + PATIENCE;

    while (!of(counter)) {
        if (*MTIME > end) {
            return false;
        }
    }
    return pending();
}

static void begin(void)
{
    stop();
    csr_write(mie, 0);
    csr_write(mhpmevent3, 0);
    csr_write(mhpmevent4, 0);
    csr_clear(mip, BIT(LCOFI));
}

static void work(void)
{
    for (int i = 0; i < PERIOD; i++) {
        asm volatile("");
    }
}

static void test_event(uint64_t event, const char *name)
{
    uint64_t three, four;

    rule("Sscofpmf %s: a counter overflows", name);
    begin();
    start(3, event, -(uint64_t)PERIOD);
    check("not yet", !early(3));
    check("OF and LCOFIP", overflows(3));

    rule("Sscofpmf %s: OF keeps from further interrupts", name);
    csr_clear(mip, BIT(LCOFI));
    csr_write(mhpmcounter3, -(uint64_t)PERIOD / 10);
    work();
    check("OF stays, LCOFIP not set again", of(3) && !pending());

    rule("Sscofpmf %s: OF that is cleared stays so until the next", name);
    stop();
    start(3, event, -(uint64_t)PERIOD);
    check("OF and LCOFIP", overflows(3));
    csr_clear(mip, BIT(LCOFI));
    csr_clear(mhpmevent3, OF);
    work();
    check("neither", !of(3) && !pending());

    rule("Sscofpmf %s: another counter had the event before", name);
    begin();
    start(3, event, 0);
    work();
    stop();
    start(4, event, -(uint64_t)PERIOD);
    check("OF and LCOFIP", overflows(4));
    check("the other one did not", !of(3));

    rule("Sscofpmf %s: the counter had another event before", name);
    begin();
    start(3, event ^ CYCLES ^ INSTRUCTIONS, 0);
    stop();
    start(3, event, -(uint64_t)PERIOD);
    check("OF and LCOFIP", overflows(3));
    start(4, event ^ CYCLES ^ INSTRUCTIONS, -(uint64_t)PERIOD);
    check("OF and LCOFIP of the other event", overflows(4));

    rule("Sscofpmf %s: two counters have the event", name);
    begin();
    start(3, event, 0);
    start(4, event, 0);
    work();
    three = csr_read(mhpmcounter3);
    four = csr_read(mhpmcounter4);
    check("both count", three > PERIOD && four > PERIOD);
    stop();
    start(3, event, -(uint64_t)PERIOD);
    start(4, event, -(uint64_t)PERIOD);
    check("both overflow", overflows(3) && overflows(4));

    rule("Sscofpmf %s: the counter was far from its overflow before", name);
    begin();
    start(3, event, 0);
    csr_write(mhpmcounter3, -(uint64_t)PERIOD);
    check("OF and LCOFIP", overflows(3));
    begin();
    start(3, event, 1);
    stop();
    start(3, event, -(uint64_t)PERIOD);
    check("OF and LCOFIP after a stop", overflows(3));

    rule("Sscofpmf %s: a mode that is left out does not count", name);
    begin();
    start(3, event | MINH, -(uint64_t)PERIOD);
    work();
    check("no overflow", !of(3) && !pending());
    check("no count", csr_read(mhpmcounter3) == -(uint64_t)PERIOD);
    start(3, event | OTHER_INH, -(uint64_t)PERIOD);
    check("M counts when the others are left out", overflows(3));

    rule("Sscofpmf %s: an overflow is not lost when the counter stops", name);
    for (int i = 0; i < 20; i++) {
        begin();
        start(3, event, -(uint64_t)PERIOD);
        while (csr_read(mhpmcounter3) >> 63) {
            ;
        }
        stop();
        check("OF and LCOFIP", of(3) && pending());
    }

    rule("Sscofpmf %s: an event is selected while the counter runs", name);
    begin();
    start(3, 0, -(uint64_t)PERIOD);
    work();
    check("nothing is counted", csr_read(mhpmcounter3) == -(uint64_t)PERIOD);
    csr_write(mhpmevent3, event);
    check("not yet", !early(3));
    check("OF and LCOFIP", overflows(3));
}

void test_main(void)
{
    test_event(CYCLES, "cycles");
    test_event(INSTRUCTIONS, "instructions");

    rule("Sscofpmf: an overflow ends WFI");
    begin();
    *MTIMECMP = *MTIME + PATIENCE;
    csr_write(mie, BIT(LCOFI) | BIT(MTI));
    start(3, CYCLES, -(uint64_t)PERIOD * 10);
    while (!pending() && !(csr_read(mip) >> MTI & 1)) {
        asm volatile("wfi");
    }
    check("by LCOFI", of(3) && pending());
    *MTIMECMP = -1;
    begin();
}
