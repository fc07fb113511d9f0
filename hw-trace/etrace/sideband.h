/*
 * Sideband: the code that ran, beside the trace - record layouts
 *
 * A decoder needs the program. The emulator knows the bytes that it translated
 * and the pages that it fetched them from; the sideband stream carries them
 * in the trace's order. docs/system/riscv/etrace-sideband.rst describes the
 * stream for people who write a reader of their own; this file holds the
 * layouts, which QEMU packs and rvtrace unpacks.
 *
 * A stream is a sequence of records, everything little-endian:
 *
 *     u16 type | u16 hart | u32 length of the payload | payload
 *
 * hart is the index of the encoder, ETRACE_SB_ALL_HARTS where a record
 * concerns all of them. A reader skips types that it does not know.
 *
 * Order. A record says what is so from its place in the stream on. Records
 * that only add (new code, a page mapped for the first time) may be applied
 * early. Records that replace something stand behind a fence:
 *
 *  - FENCE(hart, packets): the reader for that hart applies nothing behind
 *    this record before it has consumed that many of the hart's packets
 *    (every instruction packet, support packets included, counted from the
 *    session's start). The encoder closes a packet window at this place.
 *    Readers for other harts go on.
 *  - CHANGE(id): known bytes are going to be replaced. It concerns every hart,
 *    traced or not; a later PLACE(hart, id, packets) says where in the hart's
 *    packets that is. A hart's reader consumes as many before it applies the
 *    first CODE behind CHANGE that replaces known bytes, or anything behind
 *    that. A hart without a PLACE for the id, or for a later one, has not come
 *    to the end of its translation block before the stream ended: it has run
 *    nothing behind the change.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef HW_TRACE_ETRACE_SIDEBAND_H
#define HW_TRACE_ETRACE_SIDEBAND_H

#include "etrace.h"

#define ETRACE_SB_MAGIC         "RVTRSIDE"      /* 8 bytes, no NUL */
#define ETRACE_SB_VERSION_MAJOR 1               /* other: cannot be read */
#define ETRACE_SB_VERSION_MINOR 10              /* larger: more to skip */
#define ETRACE_SB_ALL_HARTS     0xffff
#define ETRACE_SB_HEADER_SIZE   8               /* of every record */
#define ETRACE_SB_PAGE_SIZE     4096

typedef enum ETraceSbType {
    /*
     * A session starts: forget everything before. Payload: magic (8 bytes),
     * u16 major, u16 minor, u16 number of harts, u16 ETRACE_SB_SESSION_* (since
     * minor version 8, 0 before), u32 session number (from 1), u32 0, u64 trace
     * offset: bytes of the trace stream that were written since its channel was
     * opened, where this session's first packet follows.
     */
    ETRACE_SB_SESSION = 1,
    /*
     * Encoder parameters of one hart. Payload, a byte each: wire_format,
     * iaddress_width, iaddress_lsb, privilege_width, ecause_width,
     * time_width, context_width, call_counter_size, return_stack_size,
     * bpred_size, cache_size, f0s_width, src_bits, ts_bytes; u16 src_id;
     * u64 mhartid; u32 ETRACE_SB_ISA_*. 28 bytes. Since minor version 1, a
     * byte each: sijump, data_width, daddress_width, lrid_width. 32 bytes;
     * what a shorter record does not hold is 0. Since minor version 7, u64
     * ticks a second of timestamps (0: not known). 40 bytes.
     */
    ETRACE_SB_PARAMS = 2,
    /*
     * Code bytes. Payload: u64 guest physical address, bytes (not crossing
     * a 4 KiB page). hart is ETRACE_SB_ALL_HARTS.
     */
    ETRACE_SB_CODE = 3,
    /* Payload: u64 packets. See "Order". */
    ETRACE_SB_FENCE = 4,
    /* Payload: u64 id. See "Order". hart is ETRACE_SB_ALL_HARTS. */
    ETRACE_SB_CHANGE = 5,
    /* Payload: u64 id, u64 packets. */
    ETRACE_SB_PLACE = 6,
    /*
     * Address space that the hart uses from here on. Payload: u8 virt
     * (0: S and U, 1: VS and VU), 7 bytes 0, u64 satp or vsatp, u64 hgatp
     * (0 if virt is 0). Before the first: bare (addresses are physical).
     * Instructions in M mode are always fetched from physical addresses.
     */
    ETRACE_SB_SPACE = 7,
    /*
     * A page of the hart's current address space. Payload: u8 virt, 7 bytes
     * 0, u64 virtual page address, u64 physical page address. Holds for the
     * space (virt, satp or vsatp, hgatp), again when the hart returns to it.
     * Not sent for a bare space with virt 0; always sent with virt 1, which
     * may be bare in the first stage only.
     */
    ETRACE_SB_MAP = 8,
    /*
     * The hart was reset; its windows are closed, its spaces are bare again
     * and its maps forgotten. No payload.
     */
    ETRACE_SB_RESET = 9,
    /*
     * An alignment sequence in the trace stream, for readers that lost their
     * place: u64 trace offset of the byte behind its null.alignment, then
     * for each hart u64 number of its packets before that byte.
     */
    ETRACE_SB_ALIGN = 10,
    /*
     * The hart's mappings are forgotten, its spaces stay; what is used again
     * is sent again. Keeps the writer's memory bounded. Stands behind a
     * FENCE. No payload.
     */
    ETRACE_SB_FORGET = 11,
    /*
     * Where traps of the hart lead (xtvec), for implicit exceptions. Payload:
     * u64 privilege of the handler (ETRACE_PRIV_M, _S, _VS), u64 the CSR's
     * value. Stands behind a FENCE. Since minor version 1.
     */
    ETRACE_SB_TVEC = 12,
    /*
     * What a RAM sink has stored by here: u64 bytes since the session began
     * (the ring holds the last ones of them), u64 trRamStart, u64 trRamLimit,
     * u64 trRamWP with bit 0 set if it has wrapped, then for each hart u64
     * number of its packets before trRamWP. Sent whenever the sink stops
     * storing and when the machine stops; the last one counts. Since minor
     * version 1. hart is ETRACE_SB_ALL_HARTS; or, since minor version 5, that
     * of a sink which has the packets of this hart only: the last one of each
     * counts. Since minor version 5 the last bytes before trRamWP stand
     * behind these numbers, up to ETRACE_SB_RAM_TAIL, so that a piece of the
     * trace can be found in it. Since minor version 6, if there are as many,
     * u64 number of the last bytes that are summed, up to
     * ETRACE_SB_RAM_SUMMED and not more than since the record before, and u64
     * their sum (etrace_sb_sum()): a guest's driver stops the trace at the
     * same instructions each time, so that the tails of all records are alike.
     */
    ETRACE_SB_RAM = 13,
    /*
     * What this session goes on from: u64 id of the session, a random number
     * that is not 0; u64 id of the session that the machine had before, here
     * or where it was migrated from (0: there was none). Since minor version
     * 2. hart is ETRACE_SB_ALL_HARTS. Since minor version 7, the trace stream
     * has the id as well (etrace_encap_mark_session()).
     */
    ETRACE_SB_ORIGIN = 14,
    /*
     * Where the trace ends by now. Payload: u64 trace offset: bytes of the
     * trace stream since its channel was opened, up to where that was closed
     * (0: there was none), then for each hart u64 packets put into the stream
     * in this session, u64 packets lost in this session because there was no
     * room, u64 packets of those that no packet of the stream reports: they
     * came behind its last one. Sent whenever the machine stops, when the
     * reader of the trace has left, and when the session ends; the last one
     * counts. A session without one was cut off. Since minor version 3. hart
     * is ETRACE_SB_ALL_HARTS. Since minor version 7, then for each hart u64
     * ticks from its first timestamp in this session to its last one:
     * timestamps may have wrapped unseen.
     */
    ETRACE_SB_END = 15,
    /*
     * The task of the guest's operating system that the hart runs from here
     * on, in all of its modes. Payload: u64 pointer to its descriptor (Linux:
     * task_struct), u32 tid, u32 tgid, 16 bytes name, filled up with NUL,
     * u64 ETRACE_SB_TASK_* (since minor version 9, 0 before). Before the
     * first one, and behind RESET, none is known. Stands behind a FENCE.
     * Since minor version 4.
     */
    ETRACE_SB_TASK = 16,
    /*
     * A note of software's own. Payload: u64 kind (ETraceSbNoteKind), then
     * text, without a NUL at its end. BEGIN, END and MARK are of one hart,
     * behind a FENCE: it had come to this place when the note was taken. TEXT
     * concerns all of them, and no place. Since minor version 4.
     */
    ETRACE_SB_NOTE = 17,
    /*
     * Behind a fence, the hart ran something that is not traced before its next
     * window began. Payload: u64 packets, of the fence. May stand anywhere
     * behind that; without it, the next window goes on where the one before
     * has ended. Since minor version 10.
     */
    ETRACE_SB_GAP = 18,
    /*
     * The hart's registers, when its data accesses begin to be traced, now and
     * then from then on, and, of a program of user mode, before and behind the
     * handler of a signal. Payload: u64 pc, u64 privilege (ETracePriv), u64
     * ETRACE_SB_REGS_*, 31 times u64: x1 to x31, 32 times u64: f0 to f31.
     * Stands behind a FENCE. Since minor version 10.
     */
    ETRACE_SB_REGS = 19,
} ETraceSbType;

/* Harts are threads of one process in user mode, addresses are physical. */
#define ETRACE_SB_SESSION_PROCESS   0x1

/* Extensions that give encodings of others a meaning of their own. */
#define ETRACE_SB_ISA_ZCMP      0x1     /* of c.fsdsp */
#define ETRACE_SB_ISA_ZCMT      0x2
/* Pointer masking: an access may be at another address than registers say. */
#define ETRACE_SB_ISA_TAGS      0x4

/*
 * Records as structs. What is behind the part of a fixed size (code bytes,
 * numbers of each hart) is not in them.
 */

typedef struct ETraceSbHeader {
    uint16_t type;              /* ETraceSbType, or one to be skipped */
    uint16_t hart;
    uint32_t len;               /* of the payload */
} ETraceSbHeader;

typedef struct ETraceSbSession {
    uint16_t major, minor;
    uint16_t harts;
    uint16_t flags;             /* ETRACE_SB_SESSION_* */
    uint32_t number;            /* from 1 */
    uint64_t trace_offset;
} ETraceSbSession;

typedef struct ETraceSbParams {
    ETraceParams params;        /* but for the run-time modes */
    uint64_t mhartid;
    uint32_t isa;               /* ETRACE_SB_ISA_* */
} ETraceSbParams;

typedef struct ETraceSbPlace {
    uint64_t id;
    uint64_t packets;
} ETraceSbPlace;

typedef struct ETraceSbSpace {
    bool virt;
    uint64_t atp;               /* satp or vsatp */
    uint64_t gatp;              /* hgatp */
} ETraceSbSpace;

typedef struct ETraceSbMap {
    bool virt;
    uint64_t va, pa;            /* of the page */
} ETraceSbMap;

typedef struct ETraceSbTvec {
    uint64_t priv;              /* ETRACE_PRIV_M, _S, _VS */
    uint64_t value;
} ETraceSbTvec;

typedef struct ETraceSbRam {
    uint64_t bytes;
    uint64_t start, limit, wp;
    bool wrapped;
    uint64_t summed;            /* last bytes that have @sum; 0: not known */
    uint64_t sum;
} ETraceSbRam;

typedef struct ETraceSbOrigin {
    uint64_t id;
    uint64_t before;
} ETraceSbOrigin;

/* Others are to be skipped. */
typedef enum ETraceSbNoteKind {
    ETRACE_SB_NOTE_BEGIN = 1,   /* of what the text names ... */
    ETRACE_SB_NOTE_END = 2,     /* ... and its end */
    ETRACE_SB_NOTE_MARK = 3,
    ETRACE_SB_NOTE_TEXT = 4,
} ETraceSbNoteKind;

#define ETRACE_SB_COMM_SIZE     16

/* What runs in M mode counts as the task's: there is no firmware */
#define ETRACE_SB_TASK_MACHINE  0x1

typedef struct ETraceSbTask {
    uint64_t task;
    uint32_t tid, tgid;
    char comm[ETRACE_SB_COMM_SIZE + 1];     /* NUL terminated */
    uint64_t flags;             /* ETRACE_SB_TASK_*; 0 before 1.9 */
} ETraceSbTask;

#define ETRACE_SB_REGS_F        0x1     /* there are f registers */
/* Up to the fence, the hart did what the trace says: nothing else happened. */
#define ETRACE_SB_REGS_AMID     0x2
#define ETRACE_SB_REGS_FRM_SHIFT 5      /* bits 7:5: frm */

typedef struct ETraceSbRegs {
    uint64_t pc;
    uint64_t priv;              /* ETracePriv */
    uint64_t flags;             /* ETRACE_SB_REGS_* */
    uint64_t x[32], f[32];      /* x[0] is not sent */
} ETraceSbRegs;

#define ETRACE_SB_TICKS_UNKNOWN UINT64_MAX

/* END, of one hart */
typedef struct ETraceSbEnd {
    uint64_t put;               /* packets */
    uint64_t lost;
    uint64_t lost_last;         /* ... behind the last one that was put */
    uint64_t ticks;             /* first to last timestamp, or UNKNOWN */
} ETraceSbEnd;

/* Payloads, bytes */
#define ETRACE_SB_SESSION_SIZE  32
#define ETRACE_SB_PARAMS_SIZE_1_0 28            /* at least */
#define ETRACE_SB_PARAMS_SIZE_1_1 32
#define ETRACE_SB_PARAMS_SIZE   40
#define ETRACE_SB_TVEC_SIZE 16
#define ETRACE_SB_ORIGIN_SIZE 16
#define ETRACE_SB_TASK_SIZE_1_4 (16 + ETRACE_SB_COMM_SIZE)  /* at least */
#define ETRACE_SB_TASK_SIZE     (24 + ETRACE_SB_COMM_SIZE)
#define ETRACE_SB_NOTE_SIZE(len) (8 + (size_t)(len))
#define ETRACE_SB_END_SIZE_1_3(harts) (8 + 24 * (size_t)(harts))  /* at least */
#define ETRACE_SB_END_SIZE(harts) (8 + 32 * (size_t)(harts))
#define ETRACE_SB_REGS_SIZE     (8 * (3 + 31 + 32))
#define ETRACE_SB_PLACE_SIZE    16
#define ETRACE_SB_SPACE_SIZE    24
#define ETRACE_SB_MAP_SIZE      24
#define ETRACE_SB_ALIGN_SIZE(harts) (8 + 8 * (size_t)(harts))
#define ETRACE_SB_RAM_SIZE(harts) (32 + 8 * (size_t)(harts))
#define ETRACE_SB_RAM_TAIL      64              /* ... and so many at most */
#define ETRACE_SB_RAM_SUM_SIZE  16              /* ... and these */
#define ETRACE_SB_RAM_SUMMED    16384

/* The sum of @n bytes of a trace: FNV-1a of 64 bits */
uint64_t etrace_sb_sum(const uint8_t *bytes, size_t n);

static inline void etrace_sb_put(uint8_t *p, uint64_t v, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++) {
        p[i] = v >> (8 * i);
    }
}

static inline uint64_t etrace_sb_get(const uint8_t *p, unsigned bytes)
{
    uint64_t v = 0;

    for (unsigned i = 0; i < bytes; i++) {
        v |= (uint64_t)p[i] << (8 * i);
    }
    return v;
}

/*
 * Packing. Each writes a record, header included, to @out, where there is room
 * for ETRACE_SB_HEADER_SIZE and the payload, and returns how many bytes that
 * are. For how many harts, what an array of numbers of each hart says.
 */

size_t etrace_sb_pack_header(uint8_t *out, const ETraceSbHeader *header);
size_t etrace_sb_pack_session(uint8_t *out, const ETraceSbSession *session);
size_t etrace_sb_pack_params(uint8_t *out, unsigned hart,
                             const ETraceSbParams *params);
/* @len bytes at the physical address @pa, all of them in one page */
size_t etrace_sb_pack_code(uint8_t *out, uint64_t pa, const void *bytes,
                           size_t len);
size_t etrace_sb_pack_fence(uint8_t *out, unsigned hart, uint64_t packets);
size_t etrace_sb_pack_gap(uint8_t *out, unsigned hart, uint64_t packets);
size_t etrace_sb_pack_regs(uint8_t *out, unsigned hart,
                           const ETraceSbRegs *regs);
size_t etrace_sb_pack_change(uint8_t *out, uint64_t id);
size_t etrace_sb_pack_place(uint8_t *out, unsigned hart,
                            const ETraceSbPlace *place);
size_t etrace_sb_pack_space(uint8_t *out, unsigned hart,
                            const ETraceSbSpace *space);
size_t etrace_sb_pack_map(uint8_t *out, unsigned hart, const ETraceSbMap *map);
size_t etrace_sb_pack_reset(uint8_t *out, unsigned hart);
size_t etrace_sb_pack_forget(uint8_t *out, unsigned hart);
size_t etrace_sb_pack_align(uint8_t *out, uint64_t offset,
                            const uint64_t *packets, unsigned harts);
size_t etrace_sb_pack_tvec(uint8_t *out, unsigned hart,
                           const ETraceSbTvec *tvec);
/* @ram's sum is packed if @tail has ETRACE_SB_RAM_TAIL bytes. */
size_t etrace_sb_pack_ram(uint8_t *out, const ETraceSbRam *ram,
                          unsigned hart, const uint64_t *packets,
                          unsigned harts, const uint8_t *tail, size_t len);
size_t etrace_sb_pack_origin(uint8_t *out, const ETraceSbOrigin *origin);
size_t etrace_sb_pack_end(uint8_t *out, uint64_t offset,
                          const ETraceSbEnd *end, unsigned harts);
size_t etrace_sb_pack_task(uint8_t *out, unsigned hart,
                           const ETraceSbTask *task);
/* @len bytes of text */
size_t etrace_sb_pack_note(uint8_t *out, unsigned hart, uint64_t kind,
                           const void *text, size_t len);

/*
 * Unpacking. Each reads a payload of @len bytes; false if that is too short,
 * or cannot be. Longer ones are those of later minor versions. Whether there
 * is such a hart is the caller's to look at.
 */

/* Of @len bytes of the stream; false as well if the payload is not whole. */
bool etrace_sb_unpack_header(const uint8_t *data, size_t len,
                             ETraceSbHeader *header);
bool etrace_sb_unpack_session(const uint8_t *p, size_t len,
                              ETraceSbSession *session);
bool etrace_sb_unpack_params(const uint8_t *p, size_t len,
                             ETraceSbParams *params);
/* @bytes: where in @p they are, @n: how many; whole half-words of one page */
bool etrace_sb_unpack_code(const uint8_t *p, size_t len, uint64_t *pa,
                           const uint8_t **bytes, size_t *n);
/* Packets of FENCE and GAP, CHANGE's id */
bool etrace_sb_unpack_u64(const uint8_t *p, size_t len, uint64_t *val);
bool etrace_sb_unpack_place(const uint8_t *p, size_t len,
                            ETraceSbPlace *place);
bool etrace_sb_unpack_regs(const uint8_t *p, size_t len, ETraceSbRegs *regs);
bool etrace_sb_unpack_space(const uint8_t *p, size_t len,
                            ETraceSbSpace *space);
bool etrace_sb_unpack_map(const uint8_t *p, size_t len, ETraceSbMap *map);
bool etrace_sb_unpack_tvec(const uint8_t *p, size_t len, ETraceSbTvec *tvec);
bool etrace_sb_unpack_origin(const uint8_t *p, size_t len,
                             ETraceSbOrigin *origin);
/* comm: up to its first NUL; what is behind that is NUL, too */
bool etrace_sb_unpack_task(const uint8_t *p, size_t len, ETraceSbTask *task);
/* @text: where in @p it is, @n: how many bytes */
bool etrace_sb_unpack_note(const uint8_t *p, size_t len, uint64_t *kind,
                           const char **text, size_t *n);
/* What is before the numbers of @harts harts */
bool etrace_sb_unpack_align(const uint8_t *p, size_t len, unsigned harts,
                            uint64_t *offset);
bool etrace_sb_unpack_ram(const uint8_t *p, size_t len, unsigned harts,
                          ETraceSbRam *ram);
bool etrace_sb_unpack_end(const uint8_t *p, size_t len, unsigned harts,
                          uint64_t *offset);
/* ... and those of one of them, of a payload that could be unpacked */
uint64_t etrace_sb_unpack_align_hart(const uint8_t *p, unsigned hart);
uint64_t etrace_sb_unpack_ram_hart(const uint8_t *p, unsigned hart);
ETraceSbEnd etrace_sb_unpack_end_hart(const uint8_t *p, size_t len,
                                      unsigned harts, unsigned hart);

#endif /* HW_TRACE_ETRACE_SIDEBAND_H */
