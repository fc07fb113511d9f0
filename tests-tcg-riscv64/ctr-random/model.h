/*
 * An executable model of what Smctr/Ssctr 1.0 records
 *
 * Written from the words of the ratified text and from nothing else; the
 * numbers in brackets are its chapters. It knows no instructions and no
 * CSR numbers: those are hart.c's.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef MODEL_H
#define MODEL_H

#include <stdbool.h>
#include <stdint.h>

/* Fields of xctrctl [2.1] */
#define CTL_U           (1ull << 0)
#define CTL_S           (1ull << 1)
#define CTL_M           (1ull << 2)     /* mctrctl only */
#define CTL_RASEMU      (1ull << 7)
#define CTL_STE         (1ull << 8)
#define CTL_MTE         (1ull << 9)     /* mctrctl only */
#define CTL_BPFRZ       (1ull << 11)
#define CTL_LCOFIFRZ    (1ull << 12)
#define CTL_EXCINH      (1ull << 33)
#define CTL_INTRINH     (1ull << 34)
#define CTL_TRETINH     (1ull << 35)
#define CTL_NTBREN      (1ull << 36)
#define CTL_TKBRINH     (1ull << 37)
#define CTL_INDCALLINH  (1ull << 40)
#define CTL_DIRCALLINH  (1ull << 41)
#define CTL_INDJMPINH   (1ull << 42)
#define CTL_DIRJMPINH   (1ull << 43)
#define CTL_CORSWAPINH  (1ull << 44)
#define CTL_RETINH      (1ull << 45)
#define CTL_INDLJMPINH  (1ull << 46)
#define CTL_DIRLJMPINH  (1ull << 47)
#define CTL_FILTERS     (0xffull << 40 | 0x1full << 33)

#define STATUS_FROZEN   (1ull << 31)
#define SOURCE_V        1ull

enum ctr_mode { MODE_U, MODE_S, MODE_M, MODE_VU, MODE_VS, MODES };

/* [6.2, Table 9] */
enum ctr_type {
    TYPE_EXCEPTION = 1,
    TYPE_INTERRUPT = 2,
    TYPE_TRAP_RETURN = 3,
    TYPE_NOT_TAKEN = 4,
    TYPE_TAKEN = 5,
    TYPE_INDIRECT_CALL = 8,
    TYPE_DIRECT_CALL = 9,
    TYPE_INDIRECT_JUMP = 10,
    TYPE_DIRECT_JUMP = 11,
    TYPE_SWAP = 12,
    TYPE_RETURN = 13,
    TYPE_OTHER_INDIRECT = 14,
    TYPE_OTHER_DIRECT = 15,
    TYPES = 16
};

/* A transfer that has retired, or a trap that has been taken */
struct transfer {
    enum ctr_type type;
    uint64_t source;            /* pc of the instruction, or the trap's epc */
    uint64_t target;
    enum ctr_mode from, to;     /* the same for all but traps and returns */
    bool breakpoint;            /* an exception with cause 3 */
    bool lcofi;                 /* a local counter overflow interrupt */
};

/* Rules that are wrong, see RULE() */
extern uint64_t ctr_mutants;

/* What became of it */
enum ctr_outcome {
    DISABLED,                   /* neither mode counts */
    WHILE_FROZEN,
    FREEZES,
    FILTERED,
    RECORDED,
    NO_SOURCE,                  /* recorded with ctrsource.PC=0 */
    NO_TARGET,                  /* recorded with ctrtarget.PC=0 */
    EXTERNAL_ON,                   /* external trap, recorded */
    EXTERNAL_OFF,               /* external trap, not recorded */
    RAS_CALL,
    RAS_RETURN,
    RAS_SWAP,
    RAS_IGNORED,
    OUTCOMES
};

struct ctr_entry {
    uint64_t source, target, type;
};

struct ctr {
    uint64_t mctrctl, vsctrctl;
    unsigned depth;             /* 16 to 256 */
    unsigned wrptr;
    bool frozen;
    struct ctr_entry entry[256];        /* by physical place */
};

/* Updates the state by one transfer [6]. */
enum ctr_outcome ctr_transfer(struct ctr *ctr, const struct transfer *t);

/* The physical place of a logical entry, which is below the depth [2.5]. */
unsigned ctr_place(const struct ctr *ctr, unsigned logical);

/* Types of jumps [6.2, Table 10]: JALR rd, rs and JAL rd */
enum ctr_type ctr_jalr_type(unsigned rd, unsigned rs);
enum ctr_type ctr_jal_type(unsigned rd);

/* Software writes of the registers [2.1 to 2.5] and SCTRCLR [4.1] */
void ctr_write_mctrctl(struct ctr *ctr, uint64_t value);
void ctr_write_sctrctl(struct ctr *ctr, uint64_t value);
void ctr_write_vsctrctl(struct ctr *ctr, uint64_t value);
void ctr_write_status(struct ctr *ctr, uint64_t value);
uint64_t ctr_read_sctrctl(const struct ctr *ctr);
uint64_t ctr_read_status(const struct ctr *ctr);
void ctr_clear(struct ctr *ctr);

#endif
