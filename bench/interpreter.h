/*
 * A small interpreter of bytecode: one jump through a table per instruction
 *
 * Its program sieves primes and follows Collatz' sequences.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef BENCH_INTERPRETER_H
#define BENCH_INTERPRETER_H

#include <stdint.h>

typedef enum Op {
    SET,        /* a = immediate */
    MOVE,       /* a = b */
    ADD,        /* a = b + c */
    ADDI,       /* a = b + c, an immediate */
    MUL,
    AND,
    SHR,
    LOAD,       /* a = memory[b] */
    STORE,      /* memory[b] = a */
    JUMP,       /* to the immediate */
    JUMP_LESS,  /* to c if a < b */
    CALL,       /* of the immediate */
    RETURN,
    HALT,       /* with the result a */
} Op;

typedef struct Insn {
    uint8_t op, a;
    union {
        struct {
            uint8_t b, c;
        };
        uint16_t immediate;
    };
} Insn;

#define SIEVE_SIZE 2048

enum { ZERO, ONE, I, J, SIZE, COUNT, X, T, STEPS };     /* registers */
enum { OUTER = 5, MARK = 12, NEXT = 16, COLLATZ = 20, STEP = 21, ODD = 28 };

static const Insn program[] = {
    { SET, ZERO, .immediate = 0 },
    { SET, ONE, .immediate = 1 },
    { SET, I, .immediate = 2 },
    { SET, SIZE, .immediate = SIEVE_SIZE },
    { SET, COUNT, .immediate = 0 },
    [OUTER] = { LOAD, T, .b = I },
    { JUMP_LESS, ZERO, .b = T, .c = NEXT },     /* not a prime */
    { ADD, COUNT, .b = COUNT, .c = ONE },
    { MOVE, X, .b = I },
    { CALL, 0, .immediate = COLLATZ },
    { ADD, COUNT, .b = COUNT, .c = STEPS },
    { MOVE, J, .b = I },
    [MARK] = { STORE, ONE, .b = J },
    { ADD, J, .b = J, .c = I },
    { JUMP_LESS, J, .b = SIZE, .c = MARK },
    { STORE, ZERO, .b = I },                    /* for the next round */
    [NEXT] = { ADDI, I, .b = I, .c = 1 },
    { JUMP_LESS, I, .b = SIZE, .c = OUTER },
    { HALT, COUNT },
    { HALT, ZERO },
    [COLLATZ] = { SET, STEPS, .immediate = 0 },
    [STEP] = { ADD, STEPS, .b = STEPS, .c = ONE },
    { AND, T, .b = X, .c = ONE },
    { JUMP_LESS, ZERO, .b = T, .c = ODD },
    { SHR, X, .b = X, .c = ONE },
    { JUMP_LESS, ONE, .b = X, .c = STEP },
    { RETURN },
    { HALT, ZERO },
    [ODD] = { SET, T, .immediate = 3 },
    { MUL, X, .b = X, .c = T },
    { ADDI, X, .b = X, .c = 1 },
    { JUMP, 0, .immediate = STEP },
};

/* Run the program that many times; the sum of its results. */
static __attribute__((noinline)) uint64_t interpret(unsigned rounds)
{
    uint8_t memory[SIEVE_SIZE];
    uint64_t r[9] = { 0 }, sum = 0;
    const Insn *pc = program, *link = program;

    for (unsigned i = 0; i < SIEVE_SIZE; i++) {
        memory[i] = 0;
    }
    while (rounds) {
        const Insn *insn = pc++;

        switch (insn->op) {
        case SET:
            r[insn->a] = insn->immediate;
            break;
        case MOVE:
            r[insn->a] = r[insn->b];
            break;
        case ADD:
            r[insn->a] = r[insn->b] + r[insn->c];
            break;
        case ADDI:
            r[insn->a] = r[insn->b] + insn->c;
            break;
        case MUL:
            r[insn->a] = r[insn->b] * r[insn->c];
            break;
        case AND:
            r[insn->a] = r[insn->b] & r[insn->c];
            break;
        case SHR:
            r[insn->a] = r[insn->b] >> r[insn->c];
            break;
        case LOAD:
            r[insn->a] = memory[r[insn->b]];
            break;
        case STORE:
            memory[r[insn->b]] = r[insn->a];
            break;
        case JUMP:
            pc = program + insn->immediate;
            break;
        case JUMP_LESS:
            if (r[insn->a] < r[insn->b]) {
                pc = program + insn->c;
            }
            break;
        case CALL:
            link = pc;
            pc = program + insn->immediate;
            break;
        case RETURN:
            pc = link;
            break;
        case HALT:
            sum += r[insn->a];
            pc = program;
            rounds--;
            break;
        }
    }
    return sum;
}

#endif
