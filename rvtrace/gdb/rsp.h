/*
 * gdb's remote serial protocol: packets
 *
 * "$DATA#SS", where SS is the sum of DATA's bytes, and '}' stands before a byte
 * that is sent with bit 5 inverted. See "Remote Protocol", "Overview" in gdb's
 * manual.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_GDB_RSP_H
#define ETRACE_GDB_RSP_H

#include <glib.h>

/* What gdb sends, outside of packets, when the user types Ctrl-C */
#define RSP_CTRL_C      3

/* Bytes of a packet's data that are taken and that are sent, at most */
#define RSP_MAX_DATA    0x4000

/* Bytes of an answer in which each takes two characters, at most */
#define RSP_MAX_PAIRS   (RSP_MAX_DATA / 2 - 8)

typedef enum RspEvent {
    RSP_NOTHING,        /* more bytes are needed */
    RSP_PACKET,         /* a packet with the right sum: RspReader.data */
    RSP_TOO_LONG,       /* the same, but its data are cut off */
    RSP_DAMAGED,        /* a packet with another sum: it has to be sent again */
    RSP_ACK,
    RSP_NAK,            /* the last packet has to be sent again */
    RSP_INTERRUPT,      /* Ctrl-C */
} RspEvent;

typedef enum RspState {
    RSP_BETWEEN,
    RSP_IN_DATA,
    RSP_ESCAPED,
    RSP_SUM_HIGH,
    RSP_SUM_LOW,
} RspState;

/* What came so far of a packet */
typedef struct RspReader {
    RspState state;
    bool too_long;
    uint8_t sum;
    int high;           /* first digit of the sum that came; -1: none */
    GString *data;      /* without escapes */
} RspReader;

void rsp_reader_init(RspReader *r);
void rsp_reader_clear(RspReader *r);

/*
 * Take the next byte of the connection. The data of a packet are valid until
 * the next byte. Bytes between packets that mean nothing are passed over.
 */
RspEvent rsp_reader_put(RspReader *r, uint8_t byte);

/* Append the packet of @len bytes @data to @out. */
void rsp_put_packet(GString *out, const char *data, size_t len);

/* Append @len bytes in hexadecimal. */
void rsp_put_hex(GString *out, const void *bytes, size_t len);

/* Append the @size low bytes of @value in hexadecimal, little-endian. */
void rsp_put_value(GString *out, uint64_t value, unsigned size);

/*
 * Read a hexadecimal number at *@p, and move *@p behind it. Returns false if
 * there is none or if it has more than 64 bits.
 */
bool rsp_get_number(const char **p, uint64_t *value);

/*
 * The text that hexadecimal digits from @p to the end of the string stand for,
 * for the caller to free; NULL if they are something else.
 */
char *rsp_get_text(const char *p);

#endif /* ETRACE_GDB_RSP_H */
