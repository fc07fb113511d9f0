/*
 * Programs of a few instructions, and packets for them written by hand
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_TESTS_FLOW_FIXTURE_H
#define ETRACE_TESTS_FLOW_FIXTURE_H

#include "flow.h"

#define BASE        0x80000000ull
#define NOP         0x00000013
#define C_NOP       0x0001
#define JALR        0x00078067      /* jalr x0, 0(a5) */
#define JALR_X0     0x01000067      /* jalr x0, 16(x0) */
#define MRET        0x30200073
#define ECALL       0x00000073
#define BNE_M4      0xfe059ee3      /* bne a1, x0, .-4 */
#define BNE_P8      0x00059463      /* bne a1, x0, .+8 */
#define CALL_P8     0x008000ef      /* jal ra, .+8 */
#define RET         0x00008067      /* jalr x0, 0(ra) */
#define J_SELF      0x0000006f      /* j . */
#define J_M8        0xff9ff06f      /* j .-8 */
#define J_P8        0x0080006f      /* j .+8 */
#define END         UINT64_MAX

/* A program, and what came out of its packets */
typedef struct FlowFixture {
    Sideband *sb;
    GByteArray *bytes;
    ETraceParams params;
    Image *image;
    Flow flow;
    GArray *pcs;            /* uint64_t */
    GArray *privs;          /* guint, of each pc */
    GArray *left;           /* guint: itypes by which runs were left */
    GArray *traps;          /* FlowTrap */
    GArray *losses;         /* FlowLoss */
    unsigned starts, ends;
    unsigned contexts;      /* packets with one */
    /* repeat_rounds(): instructions in all, those of pcs included */
    uint64_t insns, insns_at_mark;
    unsigned repeats;
    uint64_t context;
} FlowFixture;

/* A program at BASE: instructions, 2 or 4 bytes each, ended by 0 */
void set_up(FlowFixture *f, unsigned xlen, ...);
/*
 * The loop of section 6.6.2: looplabel is at 8, the uninferable jump at 16
 * leads there; a handler is at 20.
 */
void set_up_loop(FlowFixture *f);
/* Start over with predictor, cache and stack, and these modes. */
void set_modes(FlowFixture *f, uint8_t ioptions);
/* Have rounds of loops repeated from here on; the modes must be set. */
void repeat_rounds(FlowFixture *f);
void tear_down(FlowFixture *f);

/*
 * Packets; @at is in bytes from BASE. What flow_packet() says is returned.
 */
bool start(FlowFixture *f, uint64_t at, bool branch, unsigned priv);
bool start_m(FlowFixture *f, uint64_t at);
bool trap(FlowFixture *f, unsigned cause, bool thaddr, uint64_t at);
bool support(FlowFixture *f, ETraceQualStatus qual_status);

#define NOTIFY      1
#define UPDISCON    2

bool addr(FlowFixture *f, int64_t delta, unsigned flags);
bool map_addr(FlowFixture *f, unsigned branches, uint32_t map, int64_t delta,
              unsigned flags);
bool full_map(FlowFixture *f, uint32_t map);

/* Everything executed so far: A(offset from BASE)..., END */
void assert_pcs(FlowFixture *f, ...);

#define A(x) ((uint64_t)(x))

/* Exactly one loss, of that kind */
void assert_loss(FlowFixture *f, FlowLossKind kind);

#endif /* ETRACE_TESTS_FLOW_FIXTURE_H */
