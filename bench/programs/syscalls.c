/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A program in U-mode that asks a kernel in M-mode for everything */
#include "program.h"

typedef enum Call { PUT, GET, SEEK, SUM, EXIT } Call;

static uint8_t file[256];
static uint32_t position, total;

static NOINLINE uint32_t serve(Call call, uint32_t argument)
{
    switch (call) {
    case PUT:
        file[position] = argument;
        position = (position + 1) % sizeof(file);
        return position;
    case GET:
        argument = file[position];
        position = (position + 1) % sizeof(file);
        return argument;
    case SEEK:
        position = argument % sizeof(file);
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

/* a0: call, a1: argument; returns the address to go on at in a1. */
typedef struct Answer {
    uint64_t result;
    uint64_t mepc;
} Answer;

Answer kernel(Call call, uint32_t argument, uint64_t mepc);

Answer kernel(Call call, uint32_t argument, uint64_t mepc)
{
    if (call == EXIT) {
        /* goes on in M-mode */
        asm volatile("li t0, " MSTATUS_MPP "\n\tcsrs mstatus, t0"
                     : : : "t0", "memory");
    }
    return (Answer){ serve(call, argument), mepc + 4 };
}

asm(".balign 4\n"
    "syscalls_entry:\n"
    "    csrrw sp, mscratch, sp\n"
    "    csrr  a2, mepc\n"
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

static NOINLINE uint32_t ask(Call call, uint32_t argument)
{
    register uint64_t a0 asm("a0") = call;
    register uint64_t a1 asm("a1") = argument;

    asm volatile("ecall" : "+r"(a0), "+r"(a1) : :
                 "a2", "a3", "a4", "a5", "a6", "a7", "t0", "t1", "t2", "t3",
                 "t4", "t5", "t6", "memory");
    return a0;
}
#else
#define begin()
#define ask(call, argument) serve(call, argument)
#endif

const uint32_t program_sum = 0xa71742b1;

uint32_t program(void)
{
    begin();
    for (int round = 0; round < 60; round++) {
        ask(SEEK, round);
        for (int i = 0; i < 100; i++) {
            ask(PUT, round * i);
        }
        ask(SEEK, 50);
        for (int i = 0; i < 100; i++) {
            uint32_t byte = ask(GET, 0);

            if (byte & 1) {
                ask(SUM, byte);
            }
        }
    }
    ask(EXIT, 0);
    return total;
}
