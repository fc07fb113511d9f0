/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A program in U-mode that asks a kernel in M-mode for everything */
#include "program.h"

typedef enum Call { WRITE, READ, SEEK, SUM, EXIT } Call;

static uint8_t file[4096];
static uint32_t position, total;

/* WRITE and READ: to and from the text, up to its end */
static uint32_t serve(Call call, uint32_t argument, char *text)
{
    uint32_t n = 0;

    switch (call) {
    case WRITE:
        do {
            file[position++ % sizeof(file)] = text[n];
        } while (text[n++]);
        return n;
    case READ:
        do {
            text[n] = file[position++ % sizeof(file)];
        } while (text[n++] && n < argument);
        return n;
    case SEEK:
        position = argument;
        return 0;
    case SUM:
        total = mix(total, argument);
        return total;
    default:
        return -1;
    }
}

#ifdef __riscv
#define MSTATUS_MPP "0x1800"

/* What the program gets in a0, and in a1 the address to go on at */
typedef struct Answer {
    uint64_t result;
    uint64_t mepc;
} Answer;

Answer kernel(Call call, uint32_t argument, char *text, uint64_t mepc);

Answer kernel(Call call, uint32_t argument, char *text, uint64_t mepc)
{
    if (call == EXIT) {
        /* goes on in M-mode */
        asm volatile("li t0, " MSTATUS_MPP "\n\tcsrs mstatus, t0"
                     : : : "t0", "memory");
    }
    return (Answer){ serve(call, argument, text), mepc + 4 };
}

asm(".balign 4\n"
    "syscalls_entry:\n"
    "    csrrw sp, mscratch, sp\n"
    "    csrr  a3, mepc\n"
    "    sd    ra, -8(sp)\n"
    "    addi  sp, sp, -16\n"
    "    jal   kernel\n"
    "    addi  sp, sp, 16\n"
    "    ld    ra, -8(sp)\n"
    "    csrw  mepc, a1\n"
    "    csrrw sp, mscratch, sp\n"
    "    mret\n");

static uint8_t kernel_stack[2048] __attribute__((aligned(16)));

/* Lets U-mode have all of memory, and goes there. */
static void begin(void)
{
    asm volatile("la   t0, syscalls_entry\n"
                 "csrw mtvec, t0\n"
                 "csrw mscratch, %0\n"
                 "li   t0, -1\n"
                 "csrw pmpaddr0, t0\n"
                 "li   t0, 0x1f\n"
                 "csrw pmpcfg0, t0\n"
                 "li   t0, " MSTATUS_MPP "\n"
                 "csrc mstatus, t0\n"
                 "la   t0, 1f\n"
                 "csrw mepc, t0\n"
                 "mret\n"
                 "1:"
                 : : "r"(kernel_stack + sizeof(kernel_stack))
                 : "t0", "memory");
}

static uint32_t ask(Call call, uint32_t argument, char *text)
{
    register uint64_t a0 asm("a0") = call;
    register uint64_t a1 asm("a1") = argument;
    register char *a2 asm("a2") = text;

    asm volatile("ecall" : "+r"(a0), "+r"(a1), "+r"(a2) : :
                 "a3", "a4", "a5", "a6", "a7", "t0", "t1", "t2", "t3",
                 "t4", "t5", "t6", "memory");
    return a0;
}
#else
#define begin()
#define ask(call, argument, text) serve(call, argument, text)
#endif

/* Decimal digits; returns where they begin. */
static char *format(char text[24], uint32_t value)
{
    char *p = text + 23;

    *p = 0;
    do {
        *--p = '0' + value % 10;
        value /= 10;
    } while (value);
    return p;
}

static uint32_t parse(const char *text)
{
    uint32_t value = 0;

    for (; *text; text++) {
        value = value * 10 + *text - '0';
    }
    return value;
}

const uint32_t program_sum = 0xf5390428;

uint32_t program(void)
{
    char text[24];

    begin();
    for (int round = 0; round < 20; round++) {
        ask(SEEK, round, NULL);
        for (int i = 0; i < 100; i++) {
            ask(WRITE, 0, format(text, i * i * 1000 * round));
        }
        ask(SEEK, round, NULL);
        for (int i = 0; i < 100; i++) {
            ask(READ, sizeof(text), text);
            ask(SUM, parse(text), NULL);
        }
    }
    ask(EXIT, 0, NULL);
    return total;
}
