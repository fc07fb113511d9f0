/*
 * Bytes of other encoders: how they differ, and the same packets as bytes of
 * the specification
 *
 * An encoder may have widths that ETraceParams do not, wrap its packets
 * differently, and fill them up differently. Its trace is written anew when it
 * is opened, so that nothing else has to know.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_UNIT_H
#define ETRACE_UNIT_H

#include <glib.h>
#include "etrace/packet.h"

/* What is around a packet */
typedef enum UnitFraming {
    UNIT_ENCAP,         /* the encapsulation 1.0 */
    UNIT_RAW,           /* the reference flow's: a byte of length and type */
    UNIT_ESP32,         /* a byte of length, and a count of 16 bits */
    UNIT_RV_TRACER,     /* records of 40 bytes, the last byte first */
    UNIT_NR_FRAMINGS,
} UnitFraming;

/* What is behind the last field of a packet */
typedef enum UnitPadding {
    UNIT_PADDING_SIGN,
    UNIT_PADDING_ZERO,
    UNIT_NR_PADDINGS,
} UnitPadding;

/* Which bit of ioptions is which mode */
typedef enum UnitOrder {
    UNIT_ORDER_REFERENCE,
    UNIT_ORDER_RV_TRACER,
    UNIT_NR_ORDERS,
} UnitOrder;

/* Fields of support packets whose widths the specification leaves open */
typedef enum UnitField {
    UNIT_ENCODER_MODE,
    UNIT_IOPTIONS,
    UNIT_DENABLE,
    UNIT_DLOSS,
    UNIT_DOPTIONS,
    UNIT_NR_FIELDS,
} UnitField;

#define UNIT_WIDTH_MAX  32
#define UNIT_WIDTH_USUAL    0xff    /* as etrace/layout.h has it */

typedef struct Unit {
    ETraceParams params;        /* widths may be wider than packets have */
    uint8_t framing, padding, order;
    uint8_t width[UNIT_NR_FIELDS];
    /* Addresses have 8n + 1 bits, as few as will do, and nothing is behind */
    uint8_t trimmed;
    uint8_t notify;             /* 0: notify, where it is sent, is nonsense */
    /*
     * A start packet behind an address packet with the same address says that
     * again; the branches behind it go on from there.
     */
    uint8_t resync_repeats;
    uint8_t block_ends;         /* addresses are of blocks' last instructions */
} Unit;

/* Packets of the specification, and what QEMU's encoder has. */
void unit_init(Unit *u, unsigned xlen, bool draft);

/*
 * Begin with what is known of the encoder @name. Returns false and sets @errp,
 * which lists all names, if there is none of that name.
 */
bool unit_take_preset(Unit *u, const char *name, GError **errp);

/*
 * Set the parameter @name; those of params_text_set(), and framing, padding,
 * ioptions_order, iaddress_trim, notify and the widths of UnitField. Returns
 * false and sets @errp if that cannot be.
 */
bool unit_set(Unit *u, const char *name, const char *value, GError **errp);

/*
 * The encoder @preset (or NULL), with the parameters of the file @file (or
 * NULL), and over them each NAME=VALUE of @args (NULL terminated; or NULL).
 * Returns false and sets @errp, whose code is an OptionError if it is about
 * @preset or @args, if that makes no sense.
 */
bool unit_parse(Unit *u, const char *preset, const char *file, char **args,
                GError **errp);

/* What is wrong with @u as a whole, or NULL */
const char *unit_problem(const Unit *u);

/* Are packets of @u those of the specification, in its encapsulation? */
bool unit_is_plain(const Unit *u);

/* Parameters of what unit_rewrite() makes; of a plain unit, @u's own */
void unit_plain_params(const Unit *u, ETraceParams *params);

/*
 * Read the @len bytes of a payload, of a unit that need not be plain.
 * @modes: as the last support packet had them. As etrace_packet_unpack().
 */
bool unit_unpack(const Unit *u, const ETraceParams *modes, const uint8_t *buf,
                 size_t len, ETracePacket *pkt);

/*
 * Bytes of the new trace from @to on are those of the file from @from on. A long
 * trace has a place for some of its packets only.
 */
typedef struct UnitPlace {
    uint64_t to, from;
} UnitPlace;

/*
 * The trace that @file, which is at @path, stands for, in bytes of
 * unit_plain_params(), which are set; @places: UnitPlace, in order. What is no
 * packet there is none here. The caller frees both. Returns NULL and sets @errp
 * if there is no room for it.
 */
GBytes *unit_rewrite(const Unit *u, GBytes *file, const char *path,
                     ETraceParams *params, GArray **places, GError **errp);

/* Where in the file byte @to of the new trace is from */
uint64_t unit_place(const GArray *places, uint64_t to);

/*
 * What the @size bytes at @data look like, if not like packets that can be
 * read here: a name, with its article; or NULL.
 */
const char *unit_guess(const uint8_t *data, size_t size);

#endif /* ETRACE_UNIT_H */
