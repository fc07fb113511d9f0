/*
 * Sideband streams: which code ran, and where it was mapped
 *
 * The layouts are in etrace/sideband.h. A Sideband is the file with one of
 * its sessions; a SidebandView is what one hart's decoder sees of it, at the
 * place of the trace that the decoder has reached.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_SIDEBAND_READER_H
#define ETRACE_SIDEBAND_READER_H

#include <glib.h>
#include "etrace/sideband.h"
#include "code/code-page.h"

typedef struct Sideband Sideband;
typedef struct SidebandView SidebandView;

/* ETracePriv has fewer. */
#define SIDEBAND_NR_PRIVS   8

typedef struct SidebandHart {
    bool present;           /* the session has its PARAMS */
    ETraceParams params;
    uint64_t mhartid;
    uint32_t isa;           /* ETRACE_SB_ISA_* */
} SidebandHart;

/*
 * Open @path and select a session: the last one if @session is 0. Returns
 * NULL and sets @errp, with the path in its message, if the file cannot be
 * read, is no sideband stream, or has no such session.
 */
Sideband *sideband_open(const char *path, unsigned session, GError **errp);

/* The same from memory, which must stay until sideband_free(). */
Sideband *sideband_parse(const uint8_t *data, size_t size, unsigned session,
                         GError **errp);
void sideband_free(Sideband *sb);

unsigned sideband_session(const Sideband *sb);
/* Minor version of the session: ETRACE_SB_VERSION_MINOR, or of another QEMU */
unsigned sideband_minor(const Sideband *sb);
unsigned sideband_nr_harts(const Sideband *sb);
/* Are harts the threads of one process, of QEMU's user mode? */
bool sideband_is_process(const Sideband *sb);
const SidebandHart *sideband_hart(const Sideband *sb, unsigned hart);

/*
 * The part of the trace stream that belongs to the session, in bytes from
 * where its channel was opened. *@end is UINT64_MAX for an open end.
 */
void sideband_trace_range(const Sideband *sb, uint64_t *start, uint64_t *end);

/*
 * The memory of sideband_parse() now holds @size bytes of the stream, more than
 * before: take the new records of the session, but for one that is not whole
 * yet. Returns false when another session has begun there, which is not
 * read, or if the parameters have become none that can be read.
 */
bool sideband_grow(Sideband *sb, size_t size);

/*
 * How far the trace can be decoded with what the session says by now, at most
 * up to byte @limit: where the last known alignment sequence up to there ends.
 * 0: none is known.
 */
uint64_t sideband_known_to(const Sideband *sb, uint64_t limit);

/* The first alignment sequence that ends at @from or behind, or UINT64_MAX */
uint64_t sideband_known_from(const Sideband *sb, uint64_t from);

/*
 * What was wrong with the stream (cut off or malformed records), for people;
 * NULL if nothing. Owned by @sb.
 */
const char *sideband_problem(const Sideband *sb);

/*
 * Look for the alignment sequence that ends at @offset of the trace stream.
 * Returns true and the number of @hart's packets before it.
 */
bool sideband_align_lookup(const Sideband *sb, uint64_t offset,
                           unsigned hart, uint64_t *packets);

/* The RAM sink that all harts share, as the number of a sink's hart */
#define SIDEBAND_SHARED_RAM (-1)

/* What a RAM sink had stored at some time */
typedef struct SidebandRam {
    int hart;               /* whose sink it is, or SIDEBAND_SHARED_RAM */
    uint64_t bytes;         /* since the session began */
    uint64_t start, limit;  /* addresses of the ring's first and last word */
    uint64_t wp;            /* of the word that would have come next */
    bool wrapped;
    const uint8_t *packets; /* u64 for each hart: of the session, before wp */
    const uint8_t *tail;    /* the last bytes that were stored */
    size_t tail_len;        /* ... how many of them; 0: not known */
    uint64_t summed;        /* last bytes that have @sum; 0: not known */
    uint64_t sum;           /* etrace_sb_sum() */
} SidebandRam;

/*
 * The last of what the sink of @hart (or SIDEBAND_SHARED_RAM) had stored.
 * Returns false if the session reports no such sink.
 */
bool sideband_ram(const Sideband *sb, int hart, SidebandRam *ram);

/*
 * All that the session reports of RAM sinks, in the stream's order: *@n of
 * them. Owned by @sb.
 */
const SidebandRam *sideband_rams(const Sideband *sb, unsigned *n);

/* Number of @hart's packets that the sink had before its trRamWP */
uint64_t sideband_ram_packets(const SidebandRam *ram, unsigned hart);

/* Where the trace ends, as far as the session says */
typedef struct SidebandEnd {
    uint64_t packets;       /* of the hart, in the stream */
    uint64_t lost;          /* because there was no room */
    uint64_t lost_last;     /* of those, not reported by a packet */
    uint64_t ticks;         /* ETraceSbEnd.ticks */
} SidebandEnd;

/*
 * Returns false if the session does not say: it was written by an older QEMU,
 * or by one that was killed.
 */
bool sideband_end(const Sideband *sb, unsigned hart, SidebandEnd *end);

/*
 * Who is this session, and which one does it go on from (0: it begins a
 * trace)? Returns false if the stream does not say.
 */
bool sideband_origin(const Sideband *sb, uint64_t *id, uint64_t *origin);

/*
 * Does the stream say where a hart has run what is not traced, so that
 * sideband_view_fenced() is certain?
 */
bool sideband_has_gaps(const Sideband *sb);

SidebandView *sideband_view_new(const Sideband *sb, unsigned hart);
void sideband_view_free(SidebandView *view);

/*
 * The trace goes on in another part, which @sb explains: everything is
 * forgotten, but the numbers of address spaces stay what they are.
 */
void sideband_view_restart(SidebandView *view, const Sideband *sb);

/*
 * The hart's decoder has consumed @packets packets: apply every record whose
 * turn has come. Returns true if addresses may lead to other bytes than before,
 * or be called otherwise. Packet counts must not decrease.
 */
bool sideband_view_advance(SidebandView *view, uint64_t packets);

/* sideband_grow() has found more: what waited for it may be applied now. */
void sideband_view_grown(SidebandView *view);

/* Packets to consume before the next record can be applied. */
uint64_t sideband_view_barrier(const SidebandView *view);

/*
 * Has a record a place just behind so many packets, not fewer than those that
 * are consumed? The encoder ends a window there, whatever goes on behind it;
 * false if the stream says that something is missing there.
 */
bool sideband_view_fenced(const SidebandView *view, uint64_t packets);

/*
 * The page that instructions at @vaddr with privilege @priv are fetched from
 * at this place; NULL if none is known. Owned by the view, and valid until
 * sideband_view_trim(); its bytes change with sideband_view_advance().
 */
CodePage *sideband_view_page(SidebandView *view, unsigned priv,
                             uint64_t vaddr);

/* Pages that were handed out; let go of them all. */
unsigned sideband_view_nr_pages(const SidebandView *view);
void sideband_view_trim(SidebandView *view);

/* Do firmware, and what debuggers have a hart execute, run at @priv? */
static inline bool priv_is_machine(unsigned priv)
{
    return priv == ETRACE_PRIV_M || priv == ETRACE_PRIV_D;
}

/* Do an operating system's programs run at @priv, an ETracePriv? */
static inline bool priv_is_user(unsigned priv)
{
    return priv == ETRACE_PRIV_U || priv == ETRACE_PRIV_VU;
}

/* An address space: satp, or vsatp and hgatp; 0s if addresses are physical */
typedef struct SidebandSpace {
    bool virt;
    uint64_t atp, gatp;
} SidebandSpace;

/* Where an address is, at a place of the stream */
typedef struct SidebandWhere {
    const Sideband *sb;
    size_t pos;             /* of the next record to be applied, in the file */
    SidebandSpace space;
    uint64_t ppage;         /* physical address of the page / its size */
    bool mapped;            /* ppage is known */
} SidebandWhere;

void sideband_view_where(const SidebandView *view, unsigned priv,
                         uint64_t vaddr, SidebandWhere *where);

/*
 * A number that identifies the address space of @priv at this place; equal
 * numbers mean equal spaces, of all harts. 0 if addresses are physical.
 */
unsigned sideband_view_space(const SidebandView *view, unsigned priv);

/*
 * Where the view is in the stream: the position in the file of the next record
 * that it is going to apply
 */
size_t sideband_view_pos(const SidebandView *view);

/*
 * Where traps to @priv lead at this place: the value of xtvec. Returns false
 * if the stream has not reported it.
 */
bool sideband_view_tvec(const SidebandView *view, unsigned priv,
                        uint64_t *xtvec);

/*
 * The hart's registers before the first instruction of a window that begins
 * with the packet behind so many that are consumed; NULL if the stream has not
 * reported them there. They are the view's, until it advances.
 */
const ETraceSbRegs *sideband_view_registers(const SidebandView *view,
                                            uint64_t packets);

/* A task of the guest's operating system */
typedef struct SidebandTask {
    /*
     * Another number whenever the other members, or whether they are known,
     * have changed; never the same again in this view. 0: none was known yet.
     */
    uint64_t serial;
    uint64_t task;          /* pointer to its descriptor: it has no other */
    uint32_t tid, tgid;     /* Linux: both 0 in an idle task */
    bool in_m_mode;         /* it runs in M mode, too; else that is firmware */
    char comm[ETRACE_SB_COMM_SIZE + 1];     /* bytes of the guest's choice */
} SidebandTask;

/*
 * The task that the hart runs at this place. Returns false if the stream has
 * not reported one, not since the hart was reset either: only @task's serial
 * means something then.
 */
bool sideband_view_task(const SidebandView *view, SidebandTask *task);

/*
 * A record of a trace in parts: the number of the part, from 0 on, and where in
 * its file the record is. Later ones are greater.
 */
static inline uint64_t sideband_in_part(unsigned part, size_t pos)
{
    return (uint64_t)part << 48 | pos;
}

/* A task goes on at another hart. */
typedef struct SidebandMove {
    unsigned from, to;      /* harts */
    uint32_t tid;           /* SidebandTask.tid */
    /*
     * sideband_in_part() of the TASK of @from with which another task took its
     * place; 0: there is none in front of @came
     */
    uint64_t left;
    uint64_t came;          /* ... of @to, with which it goes on */
} SidebandMove;

/*
 * Each time that a task goes on at another hart than the one that ran it
 * before, in the @n parts of a trace, of which some may be NULL: an array of
 * SidebandMove in the order of their @came, for the caller to free. Idle tasks,
 * which have the number 0, are each hart's own. Parts have @nr_harts.
 */
GArray *sideband_moves(const Sideband *const *parts, unsigned n,
                       unsigned nr_harts);

/* SidebandNote.kind of a note that nobody took: the hart was reset. */
#define SIDEBAND_NOTE_RESET UINT64_MAX

/* What software noted down */
typedef struct SidebandNote {
    uint64_t kind;          /* ETraceSbNoteKind, or one to be skipped */
    bool all_harts;         /* not of this hart in particular */
    const char *text;       /* the guest's choice, without a NUL at its end */
    size_t len;             /* ... bytes */
} SidebandNote;

/*
 * The next note that sideband_view_advance() has come by and that was not
 * handed out before, in the stream's order. Returns false if there is none.
 * The text stays until sideband_free(). Who advances a view takes its notes:
 * those that are not taken are kept.
 */
bool sideband_view_next_note(SidebandView *view, SidebandNote *note);

#endif /* ETRACE_SIDEBAND_READER_H */
