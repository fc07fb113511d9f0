/*
 * Records whose content depends on the moment of interrupts, and that moment
 * on the clock of the host, which only record and replay makes the same again.
 * replay.py compares runs.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "ctr.h"

#define MTIMECMP ((volatile uint64_t *)0x2004000)       /* registers */
#define MTIME    ((volatile uint64_t *)0x200bff8)
#define RTC_LOW  ((volatile uint32_t *)0x101000)        /* ns */

#define MTIE     0x80

static volatile uint32_t sink;     /* so that the calls are made */

static uint32_t __attribute__((noinline)) leaf(uint32_t x)
{
    return x & 4 ? x * 5 + 1 : x >> 1;
}

static uint32_t __attribute__((noinline)) node(uint32_t x)
{
    uint32_t y = leaf(x + 1);

    return x & 8 ? leaf(y) ^ x : y;
}

/* Calls and branches without end, for U-mode */
static void __attribute__((noreturn)) work(void)
{
    static uint32_t (*const f[])(uint32_t) = { leaf, node, node, leaf };
    uint32_t x = 0x12345678;

    for (;;) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        sink = f[x >> 9 & 3](x);
    }
}

static uint64_t hash(uint64_t h, uint64_t value)
{
    h ^= value;
    h *= 0x100000001b3;
    return h ^ h >> 29;
}

void test_main(void)
{
    static uint8_t stack[1024] __attribute__((aligned(16)));
    unsigned interrupts = 0, wrong = 0;
    uint64_t h = 0;

    rule("replay: timer interrupts end bursts of records");
    csr_write(mie, MTIE);
    for (unsigned i = 0; i < 300; i++) {
        struct run r = { .mode = i & 1 ? VU : U, .pc = (xlen_t)work };
        uint64_t control = CTL_U | CTL_STE | (i & 2 ? CTL_TKBRINH : CTL_NTBREN);
        struct entry e;

        r.x[2] = (xlen_t)stack + sizeof(stack);
        csr_write(CSR_VSCTRCTL, i & 1 ? control : 0);
        r.mctrctl = (i & 1 ? 0 : control) | CTL_STE | CTL_MTE;
        *MTIMECMP = *MTIME + 30 + (*RTC_LOW >> 4 & 0xff);
        run(&r);
        *MTIMECMP = ~0ull;
        wrong += r.cause != (CAUSE_INTERRUPT | 7);
        e = entry_read(0);
        interrupts += (e.data & DATA_TYPE) == INTERRUPT &&
                      e.source == (r.epc | 1);
        for (unsigned j = 0; j < depth; j++) {
            e = entry_read(j);
            h = hash(hash(hash(h, e.source), e.target), e.data);
        }
        print("# burst %u to %x, sctrstatus %x, hash %X\n", i, r.epc,
              csr_read(CSR_SCTRSTATUS), h);
    }
    check_eq("bursts that end otherwise", wrong, 0);
    check_eq("interrupts in the records", interrupts, 300);
}
