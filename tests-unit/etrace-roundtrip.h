/*
 * A random hart, its encoder and the specification's decoder
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef TESTS_UNIT_ETRACE_ROUNDTRIP_H
#define TESTS_UNIT_ETRACE_ROUNDTRIP_H

#include "hw/trace/etrace/encoder.h"
#include "etrace-random-program.h"
#include "etrace-test.h"

#define RUN_LENGTH      3000    /* instructions retired per program */

typedef struct Retired {
    uint64_t pc;
    uint8_t priv;
} Retired;

typedef struct Trap {
    uint64_t epc;
    uint64_t tval;
    uint16_t cause;
    uint8_t priv;
    bool interrupt;
    bool epc_inferable;         /* by the text's exception_address() */
} Trap;

/* What a kind of test does; probabilities are out of 1000. */
typedef struct Mix {
    const char *name;
    RandomMix program;
    unsigned trap;                              /* before an instruction */
    unsigned split;                             /* block ends for no reason */
    unsigned end_window, restart;
    unsigned refuse;                            /* packet is not accepted */
    unsigned notify, context;                   /* behind a block */
    unsigned stretch;                           /* if that is possible */
    bool modes;                                 /* other than delta address */
    unsigned programs;
} Mix;

/* What the hart has not told yet in stretches */
typedef struct Stretches {
    bool on;
    uint64_t next;                      /* where those in slots begin */
    ETraceBlock slots[40];
    unsigned n;
    uint32_t branches;
    bool some;                          /* last is not in slots */
    bool after_updiscon;                /* the stretch is */
    ETraceBlock last;
    uint64_t last_next;
    unsigned last_index;                /* into retired[] */
    bool jumped;                        /* back; no branch since */
    ETraceBlock jump;
    uint64_t jump_next;
    unsigned jump_index;
} Stretches;

typedef struct World {
    const Mix *mix;
    ETraceParams params;
    RandomProgram program;

    /* the hart */
    unsigned cur;
    uint8_t priv;
    ETraceBlock block;                  /* being built; iretire 0: none */
    uint64_t block_index;               /* retired[] of its first one */
    bool handler_next;                  /* the last event was a trap */
    bool trap_again;                    /* ... and so is this one */
    bool after_retire;                  /* the last event was a retirement */
    bool after_upper;                   /* ... of REF_UPPER */
    uint64_t calls[64];                 /* where to return to */
    unsigned depth;
    unsigned stuck;                     /* jumps since the last branch */
    uint64_t context, time;
    ETraceCtype ctype;                  /* unreported so far */
    uint64_t sync_address;              /* of the last format 3 packet */
    unsigned notified;                  /* retired[] up to where */
    unsigned tvec[8];                   /* index of the handler, by priv */
    Stretches stretches;

    Retired retired[RUN_LENGTH + 1];
    unsigned retired_count;
    Trap traps[RUN_LENGTH * 4];
    unsigned trap_count;

    /* what the decoder has come to */
    ETraceEncoder enc;
    RefDecoder dec;
    unsigned decoded;                   /* index into retired[] */
    unsigned decoded_traps;
    unsigned packet_first;              /* decoded before this packet */
    uint8_t packet_priv;
    bool gap;                           /* packets were lost ... */
    bool trap_gap;                      /* ... and no trap came since */
    bool refusing;
    bool updiscon;                      /* set in the packet before */

    /* of all programs */
    uint64_t total_retired, total_decoded, total_traps, total_lost;
    uint64_t total_packets, total_bytes, total_stretches;
    uint64_t total_kind[16];            /* by format and subformat */
} World;

static inline uint64_t wrap(const World *w, uint64_t pc)
{
    return w->params.iaddress_width == 32 ? (uint32_t)pc : pc;
}

/* What the encoder emits goes to the decoder, and is checked there. */
extern const ETraceEncoderOps roundtrip_encoder_ops;
extern const RefDecoderOps roundtrip_decoder_ops;

/*
 * Stretches from here on: @last retired last, and went on to @next. The
 * encoder takes them.
 */
void stretches_begin(World *w, const ETraceBlock *last, uint64_t next);

/*
 * The block @b retired, which went on to @next. Returns false if it has to be
 * handed to the encoder itself.
 */
bool stretches_take(World *w, const ETraceBlock *b, uint64_t next);

/* Tell what is left. */
void stretches_end(World *w);

#endif /* TESTS_UNIT_ETRACE_ROUNDTRIP_H */
