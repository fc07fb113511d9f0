/*
 * A guest that traces itself into its own memory, as Linux's rvtrace driver
 * (v4 of the series, 2026) does it: the same registers in the same order,
 * with the same read-backs and the same patience. With GTRACE, as the same
 * authors' newer driver does it (PMU "gtrace"): it chooses srcID and format,
 * does not wait for the encoder to be empty, and copies what the ring has got
 * into an AUX buffer each time.
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
#ifndef GTRACE
#define GTRACE          0
#endif
/* Every other round does so much more: with a small ring, it wraps. */
#ifndef MORE
#define MORE            1
#endif
/* Reads the sink's registers and the ring while it is traced. */
#ifndef POLLED
#define POLLED          0
#endif
/* ... with timestamps */
#ifndef STAMPS
#define STAMPS          0
#endif
#define AUX_SIZE        (GTRACE ? 0x40000 : 1)

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
#define INST_FEATURES   0x008
#define TS_CONTROL      0x040

#define ACTIVE          0
#define ENABLE          1
#define INST_TRACING    2
#define EMPTY           3
#define INST_MODE       4
#define INHIBIT_SRC     15
#define FORMAT          24
#define SRC_ID          16
#define SRC_BITS        28
#define TS_ACTIVE       0
#define TS_COUNT        1
#define TS_MODE         4
#define TS_INTERNAL     2
#define TS_ENABLE       15
#define RAM_MODE        4
#define RAM_STOP        8
#define RAM_ASYNC       12

/* Not of this file alone: the test reads it from outside. */
unsigned char rings[SINKS][RING_SIZE] __attribute__((aligned(4096)));
volatile unsigned long result; /* volatile: or work() would be left out */
volatile int probed, done[HARTS]; /* volatile: other harts set them */

/* What perf would get: in which rounds, how many bytes */
unsigned char aux[SINKS][AUX_SIZE];
static unsigned aux_sizes[SINKS][ROUNDS], aux_used[SINKS];
static uint64_t prev_wp[SINKS];

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

/* rvtrace_encoder_set_srcid() */
static void set_src_id(unsigned hart, unsigned bits)
{
    xlen_t encoder = ENCODER(hart);
    uint32_t features = read32(encoder, INST_FEATURES);

    features &= ~(0xfffu << SRC_ID | 0xfu << SRC_BITS);
    features |= hart << SRC_ID | bits << SRC_BITS;
    write32(encoder, INST_FEATURES, features);
    write32(encoder, CONTROL,
            read32(encoder, CONTROL) & ~(1u << INHIBIT_SRC));
}

/* rvtrace_encoder_set_format(): E-Trace */
static void set_format(unsigned hart)
{
    xlen_t encoder = ENCODER(hart);

    write32(encoder, CONTROL, read32(encoder, CONTROL) & ~(7u << FORMAT));
    CHECK(((read32(encoder, CONTROL) >> FORMAT) & 7) == 0);
}

/* Bits that all srcIDs have, as order_base_2(nr_cpu_ids) */
static unsigned src_bits(void)
{
    unsigned bits = 0;

    while (1u << bits < HARTS) {
        bits++;
    }
    return bits;
}

/* rvtrace_encoder_probe() */
static void probe_encoder(unsigned hart)
{
    xlen_t encoder = ENCODER(hart);

    set_format(hart);
    write32(encoder, CONTROL,
            read32(encoder, CONTROL) & ~(1u << INHIBIT_SRC));
    if (!(read32(encoder, CONTROL) & 1u << INHIBIT_SRC)) {
        write32(encoder, INST_FEATURES,
                read32(encoder, INST_FEATURES) | 0xfu << SRC_BITS);
        CHECK(read32(encoder, INST_FEATURES) >> SRC_BITS >= src_bits());
    }
    if (src_bits()) {
        set_src_id(hart, src_bits());
    } else {
        write32(encoder, CONTROL,
                read32(encoder, CONTROL) | 1u << INHIBIT_SRC);
    }
}

/*
 * A new width of srcID begins a new session, which takes a moment; a driver
 * that is loaded is not used at once. A fifth of a second
 */
static void take_a_moment(void)
{
    xlen_t begin, now;

    asm volatile("csrr %0, time" : "=r"(begin));
    do {
        asm volatile("csrr %0, time" : "=r"(now));
    } while (now - begin < 2000000);
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
    prev_wp[sink] = start;
    if (!GTRACE) {
        set_bit(ram, ENABLE);
        poll_bit(ram, ENABLE, 1);
    }
}

/* rvtrace_ramsink_copyto_auxbuf(): all of it if the ring has wrapped */
static void copy_to_aux(unsigned sink, unsigned round)
{
    xlen_t start = (xlen_t)rings[sink];
    uint64_t wp = read64(RAM(sink), WP_LOW);
    unsigned from, size;

    if (wp & 1) {
        wp &= ~(uint64_t)1;
        write64(RAM(sink), WP_LOW, start);
        from = wp - start;
        size = RING_SIZE;
        prev_wp[sink] = start;
    } else {
        from = prev_wp[sink] - start;
        size = wp - prev_wp[sink];
        prev_wp[sink] = wp;
    }
    CHECK(aux_used[sink] + size <= AUX_SIZE);
    for (unsigned i = 0; i < size; i++) {
        aux[sink][aux_used[sink]++] = rings[sink][(from + i) % RING_SIZE];
    }
    aux_sizes[sink][round] = size;
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
    uint32_t control;

    if (GTRACE) {
        if (src_bits()) {
            set_src_id(hart, src_bits());
        }
        set_format(hart);
    }
    if (STAMPS) {
        write32(encoder, TS_CONTROL, 1u << TS_ACTIVE);
        write32(encoder, TS_CONTROL, 1u << TS_ACTIVE | 1u << TS_COUNT |
                                     TS_INTERNAL << TS_MODE | 1u << TS_ENABLE);
        CHECK((read32(encoder, TS_CONTROL) >> TS_ENABLE) & 1);
        CHECK(((read32(encoder, TS_CONTROL) >> TS_MODE) & 7) == TS_INTERNAL);
    }
    set_bit(encoder, ENABLE);
    poll_bit(encoder, ENABLE, 1);
    control = read32(encoder, CONTROL);
    if (GTRACE) {
        control &= ~(7u << INST_MODE);
    }
    write32(encoder, CONTROL, control | 6u << INST_MODE);
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
    if (!GTRACE) {
        poll_bit(encoder, EMPTY, 1);
    }
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

/* Rounds 3 and 5 of PATCH store the same bytes; of GTRACE, no two do. */
static unsigned long seed_of(unsigned hart, unsigned round)
{
    return GTRACE ? 16 * hart + round : !PATCH ? 0 : round == 5 ? 3 : round;
}

static void patch(int round)
{
    if (PATCH) {
        /* jal x0, 8 */
        *(volatile uint32_t *)patched_address() = /* volatile: it is code */
            round & 1 ? 0x0080006f : 0x00000013;
        asm volatile("fence.i" : : : "memory");
    }
}

/*
 * trRamWP only grows, as the ring is large; what is in front of it has been
 * stored and stays. Keeps a sum of all that was seen.
 */
static xlen_t seen;
static unsigned polls_with_news;

static void look(void)
{
    volatile uint32_t *word; /* volatile: a device stores it */
    uint64_t wp = read64(RAM(0), WP_LOW);

    CHECK(wp >= prev_wp[0] && wp < (xlen_t)rings[0] + RING_SIZE);
    polls_with_news += wp != prev_wp[0];
    for (; prev_wp[0] < wp; prev_wp[0] += 4) {
        word = (volatile uint32_t *)(xlen_t)prev_wp[0];
        seen = 31 * seen + *word;
    }
    seen = 31 * seen + wp;
}

/* What is traced: calls, loops, branches. The test looks for all of it. */
void __attribute__((noinline)) work(unsigned long seed)
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
        if (POLLED) {
            look();
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
        /* not in the trace */
        unsigned long seed = seed_of(hart, i);
        int times = i & 1 ? MORE : 1;

        patch(i);
        if (!SHARED) {
            start_path(sink);
        }
        start_encoder(hart);
        while (times--) {
            work(seed);
        }
        if (has_stopped(sink)) {
            if (RESUME) {
                write64(RAM(sink), WP_LOW, (xlen_t)rings[sink]);
                set_bit(RAM(sink), ENABLE);
                poll_bit(RAM(sink), ENABLE, 1);
                work(0);
            }
            return;
        }
        stop_encoder(hart);
        if (!SHARED) {
            stop_path(sink);
        }
        if (GTRACE) {
            copy_to_aux(sink, i);
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
        if (GTRACE) {
            probe_encoder(i);
        } else {
            /* v4 enables it here, and again when it starts. */
            set_bit(ENCODER(i), ENABLE);
            poll_bit(ENCODER(i), ENABLE, 1);
        }
    }
    if (!PER_HART) {
        probe(FUNNEL, 8);
    }
    for (unsigned i = 0; i < SINKS; i++) {
        probe(RAM(i), 9);
    }
    if (GTRACE) {
        take_a_moment();
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
    if (POLLED) {
        look();
        CHECK(polls_with_news > 10);
        print_field("seen ", seen);
        pass_asleep();  /* or each replay has as much of a loop in it */
    }
    for (unsigned i = 0; i < SINKS; i++) {
        print_field("ring ", (xlen_t)rings[i]);
        print_field("size ", RING_SIZE);
        print_field("wp ", read64(RAM(i), WP_LOW));
        if (GTRACE) {
            print_field("aux ", (xlen_t)aux[i]);
            for (unsigned round = 0; round < ROUNDS; round++) {
                print_field("", aux_sizes[i][round]);
            }
        }
    }
    pass();
}
