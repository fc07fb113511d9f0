/*
 * A guest that traces itself into its own memory, as Linux's rvtrace driver
 * (v4 of the series, 2026) does it: the same registers in the same order,
 * with the same read-backs and the same patience
 *
 * ROUNDS times: sink, funnel and encoder on, work, off again. With PER_HART,
 * for trace-topology=per-hart, there is no funnel and a sink for each hart.
 * With several HARTS each does so; a funnel and its sink stay on until the
 * last one is done. Prints where each ring is and where the trace in it ends.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "guest.h"

#ifndef RING_SIZE
#define RING_SIZE       0x100000
#endif
#ifndef ROUNDS
#define ROUNDS          1
#endif
#ifndef WORK
#define WORK            200
#endif
#ifndef STOP_ON_WRAP
#define STOP_ON_WRAP    0
#endif

#ifndef RESUME
#define RESUME          0
#endif
/* trRamAsyncFreq, which the driver leaves as it is */
#ifndef ASYNC_FREQ
#define ASYNC_FREQ      3
#endif
/* The code that is traced is another one in each round. */
#ifndef PATCH
#define PATCH           0
#endif
#ifndef HARTS
#define HARTS           1
#endif
#ifndef PER_HART
#define PER_HART        0
#endif

#define ENCODER(hart)   (0x3020000 + (hart) * 0x1000)
#define FUNNEL          0x3030000
#define RAM(sink)       (PER_HART ? 0x3030000 + (sink) * 0x1000 : 0x3032000)

#define SINKS           (PER_HART ? HARTS : 1)
/* Funnel and sink are on as long as any hart needs them. */
#define SHARED          (!PER_HART && HARTS > 1)

#define CONTROL         0x000
#define IMPL            0x004
#define START_LOW       0x010
#define START_HIGH      0x014
#define LIMIT_LOW       0x018
#define LIMIT_HIGH      0x01c
#define WP_LOW          0x020
#define WP_HIGH         0x024

#define ACTIVE          0
#define ENABLE          1
#define INST_TRACING    2
#define EMPTY           3
#define INST_MODE       4
#define RAM_MODE        4
#define RAM_STOP        8
#define RAM_ASYNC       12

/* Not of this file alone: the test reads it from outside. */
unsigned char rings[SINKS][RING_SIZE] __attribute__((aligned(4096)));
volatile unsigned long result; /* volatile: or work() would be left out */
volatile int probed, done[HARTS]; /* volatile: other harts set them */

static uint32_t read32(xlen_t base, unsigned reg)
{
    return *(volatile uint32_t *)(base + reg); /* volatile: a device */
}

static void write32(xlen_t base, unsigned reg, uint32_t value)
{
    *(volatile uint32_t *)(base + reg) = value; /* volatile: a device */
}

/* read_poll_timeout: a condition that is true at the second look at last */
static void poll_bit(xlen_t base, unsigned bit, uint32_t value)
{
    for (int i = 0; i < 2; i++) {
        if (((read32(base, CONTROL) >> bit) & 1) == value) {
            return;
        }
    }
    CHECK(0);
}

static void set_bit(xlen_t base, unsigned bit)
{
    write32(base, CONTROL, read32(base, CONTROL) | 1u << bit);
}

static void clear_bit(xlen_t base, unsigned bit)
{
    write32(base, CONTROL, read32(base, CONTROL) & ~(1u << bit));
}

/* rvtrace_platform_probe(): reset, release, type and version */
static void probe(xlen_t base, unsigned type)
{
    uint32_t impl;

    write32(base, CONTROL, 0);
    poll_bit(base, ACTIVE, 0);
    write32(base, CONTROL, 1u << ACTIVE);
    poll_bit(base, ACTIVE, 1);
    impl = read32(base, IMPL);
    CHECK((impl & 0xf) == 1);
    CHECK(((impl >> 4) & 0xf) == 0);
    CHECK(((impl >> 8) & 0xf) == type);
}

static uint64_t read64(xlen_t base, unsigned low)
{
    uint32_t l = read32(base, low);

    return (uint64_t)read32(base, low + 4) << 32 | l;
}

static void write64(xlen_t base, unsigned low, uint64_t value)
{
    write32(base, low, value);
    write32(base, low + 4, value >> 32);
}

/* rvtrace_ramsink_setup() and _setup_buf() */
static void setup_sink(unsigned sink)
{
    uint64_t start = (xlen_t)rings[sink], end = start + RING_SIZE;
    uint64_t start_min, limit_max;
    xlen_t ram = RAM(sink);

    set_bit(ram, RAM_MODE);
    poll_bit(ram, RAM_MODE, 1);
    if (STOP_ON_WRAP) {
        set_bit(ram, RAM_STOP);
        poll_bit(ram, RAM_STOP, 1);
    }

    write32(ram, CONTROL, (read32(ram, CONTROL) & ~(7u << RAM_ASYNC)) |
                          ASYNC_FREQ << RAM_ASYNC);
    write64(ram, START_LOW, 0);
    start_min = read64(ram, START_LOW);
    write64(ram, LIMIT_LOW, UINT64_MAX);
    limit_max = read64(ram, LIMIT_LOW);
    CHECK(start_min <= start && end <= limit_max);

    write64(ram, START_LOW, start);
    write64(ram, WP_LOW, start);
    write64(ram, LIMIT_LOW, end - 4);
    CHECK(read64(ram, LIMIT_LOW) == end - 4);
    CHECK(read64(ram, START_LOW) == start);
    CHECK(read64(ram, WP_LOW) == start);
    set_bit(ram, ENABLE);
    poll_bit(ram, ENABLE, 1);
}

static void start_path(unsigned sink)
{
    set_bit(RAM(sink), ENABLE);
    poll_bit(RAM(sink), ENABLE, 1);
    if (!PER_HART) {
        set_bit(FUNNEL, ENABLE);
        poll_bit(FUNNEL, ENABLE, 1);
    }
}

static void start_encoder(unsigned hart)
{
    xlen_t encoder = ENCODER(hart);

    set_bit(encoder, ENABLE);
    poll_bit(encoder, ENABLE, 1);
    write32(encoder, CONTROL, read32(encoder, CONTROL) | 6u << INST_MODE);
    CHECK(((read32(encoder, CONTROL) >> INST_MODE) & 7) == 6);
    set_bit(encoder, INST_TRACING);
    poll_bit(encoder, INST_TRACING, 1);
}

static void stop_encoder(unsigned hart)
{
    xlen_t encoder = ENCODER(hart);

    clear_bit(encoder, INST_TRACING);
    poll_bit(encoder, INST_TRACING, 0);
    clear_bit(encoder, ENABLE);
    poll_bit(encoder, ENABLE, 0);
    poll_bit(encoder, EMPTY, 1);
}

static void stop_path(unsigned sink)
{
    if (!PER_HART) {
        clear_bit(FUNNEL, ENABLE);
        poll_bit(FUNNEL, ENABLE, 0);
        poll_bit(FUNNEL, EMPTY, 1);
    }
    clear_bit(RAM(sink), ENABLE);
    poll_bit(RAM(sink), ENABLE, 0);
    poll_bit(RAM(sink), EMPTY, 1);
}

static unsigned long twice(unsigned long x) { return 2 * x; }
static unsigned long third(unsigned long x) { return x / 3; }
static unsigned long plus(unsigned long x) { return x + 11; }

static unsigned long (*const steps[])(unsigned long) = { twice, third, plus };

/*
 * Jumps over its second instruction or not: no packet says so. Instructions
 * that are four bytes long.
 */
asm(".pushsection .text\n"
    ".option push\n"
    ".option norvc\n"
    ".balign 4\n"
    ".globl patched\n"
    "patched: nop\n"
    "addi a0, a0, 1\n"
    "ret\n"
    ".size patched, . - patched\n"
    ".option pop\n"
    ".popsection\n");

static xlen_t patched_address(void)
{
    xlen_t address;

    asm("lla %0, patched" : "=r"(address));
    return address;
}

static unsigned long patched(unsigned long x)
{
    return ((unsigned long (*)(unsigned long))patched_address())(x);
}

/* Rounds 3 and 5 store the same bytes. */
static unsigned long seed;

static void patch(int round)
{
    if (PATCH) {
        seed = round == 5 ? 3 : round;
        /* jal x0, 8 */
        *(volatile uint32_t *)patched_address() = /* volatile: it is code */
            round & 1 ? 0x0080006f : 0x00000013;
        asm volatile("fence.i" : : : "memory");
    }
}

/* What is traced: calls, loops, branches. The test looks for all of it. */
void __attribute__((noinline)) work(void)
{
    unsigned long x = 1 + seed;

    for (int i = 0; i < WORK; i++) {
        x = steps[x % 3](x);
        if (PATCH && !(i % 16)) {
            x = patched(x);
        }
        if (x & 4) {
            x ^= i;
        }
        for (unsigned long j = x & 7; j; j--) {
            x += j * j;
        }
    }
    result = x;
}

static void print_field(const char *name, xlen_t value)
{
    print(name);
    print_hex(value);
}

/* "read trRamEnable to see if it was stopped" */
static int has_stopped(unsigned sink)
{
    return STOP_ON_WRAP && !((read32(RAM(sink), CONTROL) >> ENABLE) & 1);
}

static void trace_work(unsigned hart)
{
    unsigned sink = PER_HART ? hart : 0;

    for (int i = 0; i < ROUNDS; i++) {
        patch(i);
        if (!SHARED) {
            start_path(sink);
        }
        start_encoder(hart);
        work();
        if (has_stopped(sink)) {
            if (RESUME) {
                write64(RAM(sink), WP_LOW, (xlen_t)rings[sink]);
                set_bit(RAM(sink), ENABLE);
                poll_bit(RAM(sink), ENABLE, 1);
                work();
            }
            return;
        }
        stop_encoder(hart);
        if (!SHARED) {
            stop_path(sink);
        }
    }
}

void secondary(xlen_t hart)
{
    while (!probed) {
        asm volatile("nop");
    }
    __sync_synchronize();
    if (PER_HART) {
        setup_sink(hart);
    }
    trace_work(hart);
    __sync_synchronize();
    done[hart] = 1;
    for (;;) {
        asm volatile("wfi");
    }
}

int main(void)
{
    /* probed in the order of their addresses */
    for (unsigned i = 0; i < HARTS; i++) {
        probe(ENCODER(i), 1);
    }
    if (!PER_HART) {
        probe(FUNNEL, 8);
    }
    for (unsigned i = 0; i < SINKS; i++) {
        probe(RAM(i), 9);
    }
    setup_sink(0);
    if (SHARED) {
        start_path(0);
    }
    __sync_synchronize();
    probed = 1;
    trace_work(0);
    for (unsigned i = 1; i < HARTS; i++) {
        while (!done[i]) {
            asm volatile("nop");
        }
    }
    __sync_synchronize();
    if (SHARED) {
        stop_path(0);
    }
    for (unsigned i = 0; i < SINKS; i++) {
        print_field("ring ", (xlen_t)rings[i]);
        print_field("size ", RING_SIZE);
        print_field("wp ", read64(RAM(i), WP_LOW));
    }
    pass();
}
