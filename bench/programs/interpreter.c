/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A machine with a stack, its instructions found by a table of addresses */
#include "program.h"

typedef enum Op {
    PUSH, ADD, SUB, MUL, DUP, SWAP, OVER, DROP, LOAD, STORE, LESS, JUMPZ,
    JUMP, CALL, RETURN, HALT,
} Op;

/*
 * memory[2] = the sum of i * i and of the Fibonacci number memory[3], for i
 * below memory[0]; memory[3] counts to 9 and begins anew.
 */
static const uint8_t code[] = {
    /*  0 */ PUSH, 0, STORE, 1,
    /*  4 */ PUSH, 0, STORE, 2,
    /*  8 */ LOAD, 1, LOAD, 0, LESS, JUMPZ, 44,
    /* 15 */ LOAD, 1, DUP, MUL, LOAD, 2, ADD, STORE, 2,
    /* 24 */ LOAD, 3, CALL, 47, LOAD, 2, ADD, STORE, 2,
    /* 33 */ LOAD, 1, PUSH, 1, ADD, STORE, 1,
    /* 40 */ CALL, 68, JUMP, 8,
    /* 44 */ LOAD, 2, HALT,
    /* 47 */ DUP, PUSH, 2, LESS, JUMPZ, 54, RETURN,
    /* 54 */ DUP, PUSH, 1, SUB, CALL, 47, SWAP,
    /* 61 */ PUSH, 2, SUB, CALL, 47, ADD, RETURN,
    /* 68 */ LOAD, 3, PUSH, 1, ADD, DUP, PUSH, 10, LESS, JUMPZ, 82,
    /* 79 */ STORE, 3, RETURN,
    /* 82 */ DROP, PUSH, 0, STORE, 3, RETURN,
};

static int32_t interpret(const uint8_t *start, int32_t *memory)
{
    static const void *const ops[] = {
        &&push, &&add, &&sub, &&mul, &&dup, &&swap, &&over, &&drop, &&load,
        &&store, &&less, &&jumpz, &&jump, &&call, &&ret, &&halt,
    };
    int32_t stack[64], t, *sp = stack;
    const uint8_t *calls[32], **rp = calls, *pc = start;

#define NEXT goto *ops[*pc++]
    NEXT;
push:
    *sp++ = *pc++;
    NEXT;
add:
    sp--;
    sp[-1] += *sp;
    NEXT;
sub:
    sp--;
    sp[-1] -= *sp;
    NEXT;
mul:
    sp--;
    sp[-1] = (uint32_t)sp[-1] * *sp;
    NEXT;
dup:
    *sp = sp[-1];
    sp++;
    NEXT;
swap:
    t = sp[-1];
    sp[-1] = sp[-2];
    sp[-2] = t;
    NEXT;
over:
    *sp = sp[-2];
    sp++;
    NEXT;
drop:
    sp--;
    NEXT;
load:
    *sp++ = memory[*pc++];
    NEXT;
store:
    memory[*pc++] = *--sp;
    NEXT;
less:
    sp--;
    sp[-1] = sp[-1] < *sp;
    NEXT;
jumpz:
    pc = *--sp ? pc + 1 : start + *pc;
    NEXT;
jump:
    pc = start + *pc;
    NEXT;
call:
    *rp++ = pc + 1;
    pc = start + *pc;
    NEXT;
ret:
    pc = *--rp;
    NEXT;
halt:
    return sp[-1];
#undef NEXT
}

const uint32_t program_sum = 0xd006fc83;

uint32_t program(void)
{
    int32_t memory[4] = { 60, 0, 0, 0 };
    uint32_t sum = 0;

    for (int round = 0; round < 3; round++) {
        memory[0] += round;
        memory[3] = round;
        sum = mix(sum, interpret(code, memory));
    }
    return sum;
}
