/*
 * An encoder under test: blocks in, packets out as text
 *
 * Blocks are handed in by the address of their first and last instruction;
 * every instruction is 4 bytes long. Packets are compared as text, so that a
 * test reads as what chapter 8 says about the case in its name.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef TESTS_UNIT_ETRACE_ENCODER_FIXTURE_H
#define TESTS_UNIT_ETRACE_ENCODER_FIXTURE_H

#include "etrace-test.h"
#include "hw/trace/etrace/encoder.h"

#define NONE        ETRACE_ITYPE_NONE
#define EXCEPTION   ETRACE_ITYPE_EXCEPTION
#define INTERRUPT   ETRACE_ITYPE_INTERRUPT
#define XRET        ETRACE_ITYPE_TRAP_RETURN
#define NOT_TAKEN   ETRACE_ITYPE_NONTAKEN_BRANCH
#define TAKEN       ETRACE_ITYPE_TAKEN_BRANCH
#define JALR        ETRACE_ITYPE_UNINFERABLE_JUMP
#define CALL        ETRACE_ITYPE_INFERABLE_CALL
#define JUMP        ETRACE_ITYPE_INFERABLE_JUMP
#define RETURN      ETRACE_ITYPE_RETURN
#define SWAP        ETRACE_ITYPE_COROUTINE_SWAP

#define U ETRACE_PRIV_U
#define S ETRACE_PRIV_S
#define M ETRACE_PRIV_M

/* An encoder, what it sends as text, and a sink that may be full */
typedef struct Fixture {
    ETraceEncoder enc;
    GString *sent;
    uint64_t address;           /* base of differences, kept as by a decoder */
    unsigned refuse;            /* refuse this many packets */
    bool not_ready;
    uint8_t priv;
    uint8_t flags;              /* of the next blocks */
} Fixture;

/* Start over, with addresses of @xlen bits. */
void init_xlen(Fixture *f, unsigned xlen);

void init_params(Fixture *f, const ETraceParams *params);

/*
 * What has been sent since the last call, a packet a line. Addresses are
 * absolute; branches come oldest first, N is not taken, T taken. A count is
 * that of correctly predicted branches, with the 31 that go without saying.
 */
void expect(Fixture *f, const char *packets);

/* Instructions at @first, @first + 4 .. @last, in f->priv */
void run(Fixture *f, uint64_t first, uint64_t last, ETraceItype itype);

void trap(Fixture *f, uint64_t epc, ETraceItype itype, unsigned cause,
          uint64_t tval);

/* Start, and a window that opens with two plain instructions at @pc */
void open_window(Fixture *f, uint64_t pc);

/* @n branches, each at @pc + 4: not taken, taken, not taken .. */
void branches(Fixture *f, uint64_t pc, unsigned n);

#define NT5 "NTNTNTNTNT"

typedef struct Test {
    const char *name;
    void (*func)(Fixture *f);
} Test;

#define TEST(name) { #name, test_##name }

void add_tests(const Test *tests, size_t n);

#endif /* TESTS_UNIT_ETRACE_ENCODER_FIXTURE_H */
