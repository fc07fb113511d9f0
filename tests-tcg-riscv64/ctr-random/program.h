/*
 * Random programs
 *
 * A program is a graph of blocks joined by every kind of transfer, and a
 * trap handler for each of M, HS and VS. Where it goes depends on a number
 * that it computes as it runs, so each seed of it takes another way. It ends
 * in M-mode when its fuel, counted down in each block, is used up.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef PROGRAM_H
#define PROGRAM_H

#include "hart.h"

/*
 * Registers. Those that hold a code address never hold anything else (but an
 * address that faults), so that a program interrupted and abandoned at any
 * place cannot run away.
 */
#define REG_SP          2
#define REG_GP          3       /* program.data */
#define REG_RANDOM      8
#define REG_FUEL        9
#define REG_POINTER     16      /* into program.data, to load an address */
#define REG_FACTOR      18
#define REG_ADDEND      19
#define REG_CONTROL     30      /* on entry: mctrctl; on exit: what it was */

/* Words of program.data */
#define DATA_TARGETS    0       /* addresses of code */
#define TARGETS         64
#define DATA_CONTROL    64      /* values for xctrctl */
#define CONTROLS        16
#define DATA_STATUS     80      /* values for sctrstatus */
#define STATUSES        8
#define DATA_MODES      88      /* values for MPP and MPV */
#define MODE_WORDS      8
#define DATA_SPP        96
#define DATA_MPP_MPV    97
#define DATA_SPV        98
#define DATA_SIE        99
#define DATA_SSIP       100
#define DATA_VSSIP      101
#define DATA_LCOFIP     102
#define DATA_CLEAR_IP   103
#define DATA_DEPTH      104     /* the value of sctrdepth */
#define DATA_EXIT       105     /* where a program jumps at its end */
#define DATA_WORDS      256

/* Where a jump faults: no memory is there */
#define NOWHERE         0x1000000000ull

#define CODE_HALVES     8192

struct program {
    uint16_t code[CODE_HALVES];
    uint64_t data[DATA_WORDS];
    uint64_t jump_table[64] __attribute__((aligned(64)));
    uint64_t entry;             /* writes mctrctl and leaves M-mode */
    uint64_t m_handler, s_handler, vs_handler;
    uint64_t stop;              /* mctrctl has just been zeroed there */
    uint64_t end;
};

struct program_options {
    bool has_h, has_c, has_zcm;
    bool has_lcofi;
};

/* All that is random comes from this, which must not be 0. */
extern uint64_t random_state;
uint64_t random64(void);
/* A number below n */
unsigned random_below(unsigned n);
/* A random value for xctrctl */
uint64_t random_control(void);

/*
 * Fills the program, but data[DATA_DEPTH], which may change from run to
 * run. It leaves to exit, with REG_CONTROL set.
 */
void program_generate(struct program *p, const struct program_options *o,
                      uint64_t exit);

/*
 * Loads x1 to x30 from x[], jumps to pc, and comes back with what
 * they hold when the program jumps to leave, which is its exit (enter.S).
 */
void enter(uint64_t *x, uint64_t pc);
void leave(void);

/* An exception of the harness itself; enter.S calls it. */
void unexpected_trap(uint64_t cause, uint64_t pc);

#endif
