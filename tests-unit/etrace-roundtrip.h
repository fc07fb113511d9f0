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
    unsigned history;                           /* if that is possible */
    bool modes;                                 /* other than delta address */
    unsigned programs;
} Mix;

/* The end of a history */
typedef struct HistoryItem {
    ETraceBlock block;
    uint64_t next;
    unsigned index;                     /* into retired[] */
    uint8_t flags;
    uint16_t irdepth;
    bool predicted;                     /* a branch: to be taken */
} HistoryItem;

/* What the hart has not reported yet of the branch history */
typedef struct History {
    bool on;
    ETraceHistoryModes modes;
    unsigned bits;                      /* of each branch */
    uint64_t next;                      /* where those in slots begin */
    ETraceSlot slots[20];
    unsigned n;
    uint64_t branches;
    bool some;                          /* last is not in slots */
    bool after_updiscon;                /* the history is */
    HistoryItem last;
    HistoryItem jump[16];               /* since the newest branch */
    unsigned jumps;
    bool irets;                         /* in it */
    bool inferred_since;                /* among jump */
    bool run_unknown;
    uint64_t run_start;
} History;

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
    History history;

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
    bool one_by_one;                    /* not the encoder's short way */
    GChecksum *bytes[2];                /* of all packets, by one_by_one */
    uint64_t total_retired, total_decoded, total_traps, total_lost;
    uint64_t total_packets, total_bytes, total_histories;
    uint64_t total_kind[16];            /* by format and subformat */
} World;

static inline uint64_t wrap(const World *w, uint64_t pc)
{
    return w->params.iaddress_width == 32 ? (uint32_t)pc : pc;
}

/* What the encoder emits goes to the decoder, and is checked there. */
extern const ETraceEncoderOps roundtrip_encoder_ops;

/* The same, without what makes an encoder take the short way. */
extern const ETraceEncoderOps roundtrip_one_by_one_ops;

extern const RefDecoderOps roundtrip_decoder_ops;

/*
 * Branch history from here on: @last retired last, and went on to @next. The
 * encoder takes it, and asks for @modes.
 */
void history_begin(World *w, const ETraceBlock *last, uint64_t next,
                   const ETraceHistoryModes *modes);

/*
 * The block @b retired, which went on to @next. Returns false if it has to be
 * handed to the encoder itself.
 */
bool history_take(World *w, const ETraceBlock *b, uint64_t next);

/* Report what is left. */
void history_end(World *w);

#endif /* TESTS_UNIT_ETRACE_ROUNDTRIP_H */
