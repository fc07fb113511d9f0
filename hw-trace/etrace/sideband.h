/*
 * Sideband: the code that ran, beside the trace - record layouts
 *
 * A decoder needs the program. The emulator knows the bytes that it translated
 * and the pages that it fetched them from; the sideband stream carries them
 * in the trace's order. docs/system/riscv/etrace-sideband.rst describes the
 * stream for people who write a reader of their own; this file holds the
 * layouts that QEMU writes and rvtrace reads.
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
#define ETRACE_SB_VERSION_MINOR 3               /* larger: more to skip */
#define ETRACE_SB_ALL_HARTS     0xffff
#define ETRACE_SB_HEADER_SIZE   8               /* of every record */
#define ETRACE_SB_PAGE_SIZE     4096

typedef enum ETraceSbType {
    /*
     * A session starts: forget everything before. Payload: magic (8 bytes),
     * u16 major, u16 minor, u16 number of harts, u16 0, u32 session number
     * (from 1), u32 0, u64 trace offset: bytes of the trace stream that were
     * written since its channel was opened, where this session's first packet
     * follows.
     */
    ETRACE_SB_SESSION = 1,
    /*
     * Encoder parameters of one hart. Payload, a byte each: wire_format,
     * iaddress_width, iaddress_lsb, privilege_width, ecause_width,
     * time_width, context_width, call_counter_size, return_stack_size,
     * bpred_size, cache_size, f0s_width, src_bits, ts_bytes; u16 src_id;
     * u64 mhartid; u32 ETRACE_SB_ISA_*. 28 bytes. Since minor version 1, a
     * byte each: sijump, data_width, daddress_width, lrid_width. 32 bytes;
     * what a shorter record does not hold is 0.
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
     * version 1. hart is ETRACE_SB_ALL_HARTS.
     */
    ETRACE_SB_RAM = 13,
    /*
     * What this session goes on from: u64 id of the session, a random number
     * that is not 0; u64 id of the session that the machine had before, here
     * or where it was migrated from (0: there was none). Since minor version
     * 2. hart is ETRACE_SB_ALL_HARTS.
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
     * is ETRACE_SB_ALL_HARTS.
     */
    ETRACE_SB_END = 15,
} ETraceSbType;

#define ETRACE_SB_PARAMS_SIZE_1_0 28            /* at least */
#define ETRACE_SB_PARAMS_SIZE 32
#define ETRACE_SB_TVEC_SIZE 16
#define ETRACE_SB_ORIGIN_SIZE 16
#define ETRACE_SB_END_SIZE(harts) (8 + 24 * (size_t)(harts))

/* Extensions that give encodings of others a meaning of their own. */
#define ETRACE_SB_ISA_ZCMP      0x1     /* of c.fsdsp */
#define ETRACE_SB_ISA_ZCMT      0x2

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

#endif /* HW_TRACE_ETRACE_SIDEBAND_H */
