/*
 * A function that a fuzzer might call, and a loop that does: on bare metal,
 * with a timer that interrupts it all the time, or in user mode
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#define INPUTS  40
#define noinline __attribute__((noinline))

#ifdef BARE
asm(".globl _start; _start: la sp, stack + 8192; la t0, tick; csrw mtvec, t0\n"
    "li t0, 0x2004000; sd zero, (t0); li t0, 128; csrw mie, t0\n"
    "csrsi mstatus, 8; call main; call power_off");
#endif

static unsigned char input[48];
static unsigned long sums[4];

static noinline unsigned depth_of(const unsigned char *at,
                                  const unsigned char *end, unsigned depth)
{
    if (at == end || *at != '(' || depth == 12) {
        return depth;
    }
    return depth_of(at + 1, end, depth + 1);
}

static noinline void add(unsigned value)
{
    sums[0] += value;
}

static noinline void mix(unsigned value)
{
    sums[1] = sums[1] * 31 + value;
}

static noinline void drop(unsigned value)
{
    sums[2]++;
}

static void (*const actions[])(unsigned value) = { add, mix, drop, mix };

#ifdef BARE
static void let_others_run(void)
{
}
#else
#include <unistd.h>

/* A system call ends a block, although it is not a jump. */
static void let_others_run(void)
{
    getppid();
}
#endif

noinline int test_one_input(const unsigned char *data, unsigned long size)
{
    unsigned long i = 0;

    if (size > 2 && data[0] == 'R' && data[1] == 'V') {
        let_others_run();
    }
    while (i < size) {
        unsigned char c = data[i];

        switch (c % 8) {
        case 0:
            i += depth_of(data + i, data + size, 0);
            break;
        case 1:
            for (unsigned k = 0; k < c; k++) {
                sums[3] ^= k;
            }
            break;
        case 2:
        case 3:
            if (c & 64) {
                /* what is called calls what called it */
                if (size > i + 1 && size < 20) {
                    test_one_input(data + i + 1, size - i - 1);
                }
                return 1;
            }
            break;
        default:
            actions[c / 8 % 4](c);
        }
        i++;
    }
    return 0;
}

noinline void fill(unsigned long *seed, unsigned long size)
{
    for (unsigned long i = 0; i < size; i++) {
        *seed = *seed * 6364136223846793005 + 1442695040888963407;
        input[i] = i < 6 && size % 5 == 0 ? '(' : *seed >> 56;
    }
    if (size % 4 == 3) {
        input[0] = 'R';
        input[1] = 'V';
    }
}

int main(void)
{
    unsigned long seed = 1;

    for (unsigned i = 0; i < INPUTS; i++) {
        fill(&seed, i);
        test_one_input(input, i);
    }
    return 0;
}

#ifdef BARE
#define POWER       (*(volatile unsigned *)0x100000)
#define MTIMECMP    (*(volatile unsigned long *)0x2004000)
#define MTIME       (*(volatile unsigned long *)0x200bff8)
#define PERIOD      40

char stack[8192] __attribute__((aligned(16)));

__attribute__((interrupt("machine"), aligned(4))) void tick(void)
{
    if (MTIME & 1) {
        sums[2]++;
    }
    MTIMECMP = MTIME + PERIOD;
}

noinline void power_off(void)
{
    POWER = 0x5555;
    for (;;) {
    }
}
#endif
