/*
 * Other encoders: whose bytes are these, if nothing can be read here?
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "trace/unit.h"

/* So many packets or messages in a row are no coincidence. */
#define ENOUGH  8

/*
 * N-Trace (Nexus): bits 1:0 of each byte say whether a field or the message
 * ends (MSEO), the six above are data; the first six of a message are TCODE.
 */
#define MSEO            3
#define MSEO_NORMAL     0
#define MSEO_FIELD_END  1
#define MSEO_RESERVED   2
#define MSEO_MSG_END    3
#define NEXUS_IDLE      0xff

static bool is_ntrace_code(uint8_t byte)
{
    static const uint8_t codes[] = {
        2,          /* ownership */
        3, 4,       /* direct, indirect branch */
        8,          /* error */
        9,          /* program trace synchronisation */
        11, 12,     /* the branches with synchronisation */
        27,         /* resource full */
        28, 29,     /* branch history, with synchronisation */
        30,         /* repeated branch */
        33,         /* program trace correlation */
    };

    return (byte & MSEO) == MSEO_NORMAL &&
           memchr(codes, byte >> 2, sizeof(codes));
}

static bool is_ntrace(const uint8_t *data, size_t size)
{
    bool inside = false;
    unsigned found = 0;

    for (size_t i = 0; i < size && found < ENOUGH; i++) {
        if (!inside && data[i] == NEXUS_IDLE) {
            continue;
        }
        if (inside ? (data[i] & MSEO) == MSEO_RESERVED :
                     !is_ntrace_code(data[i])) {
            return false;
        }
        inside = (data[i] & MSEO) != MSEO_MSG_END;
        found += !inside;
    }
    return found >= ENOUGH;
}

/*
 * PULP's trace debugger, older than 1.0: a byte with the number of bits, and
 * those bits; or with that of bytes (3:0), a type (5:4; 2: trace), and the
 * packet's format (7:6; 3: synchronisation, which comes first).
 */
#define TRDB_BITS_MIN   8
#define TRDB_BITS_MAX   100

static bool is_trdb_bits(const uint8_t *data, size_t size)
{
    size_t pos = 0;
    unsigned found;

    for (found = 0; pos < size && found < ENOUGH; found++) {
        unsigned bits = data[pos], bytes = (bits + 7) / 8;

        if (bits < TRDB_BITS_MIN || bits > TRDB_BITS_MAX ||
            size - pos <= bytes ||
            (bits % 8 && data[pos + bytes] >> bits % 8)) {
            return false;
        }
        pos += 1 + bytes;
    }
    return found == ENOUGH;
}

static bool is_trdb_bytes(const uint8_t *data, size_t size)
{
    enum { TIMER = 1, TRACE = 2, SYNC = 3, SYNC_BYTES = 5 };
    size_t pos = 0;
    bool synced = false;
    unsigned found;

    for (found = 0; pos < size && found < ENOUGH; found++) {
        unsigned bytes = data[pos] & 15, type = (data[pos] >> 4) & 3;
        unsigned format = data[pos] >> 6;

        if (!type || !bytes || size - pos <= bytes ||
            (type == TRACE && !synced &&
             (format != SYNC || bytes != SYNC_BYTES))) {
            return false;
        }
        synced |= type == TRACE;
        pos += 1 + bytes;
    }
    return found == ENOUGH && synced;
}

static bool is_gem5(const uint8_t *data, size_t size)
{
    static const char magic[] = { 'g', 'e', 'm', '5' };

    return size >= sizeof(magic) && !memcmp(data, magic, sizeof(magic));
}

const char *unit_guess(const uint8_t *data, size_t size)
{
    static const struct {
        bool (*is)(const uint8_t *data, size_t size);
        const char *name;
    } others[] = {
        { is_gem5, "a trace of gem5 (protobuf)" },
        { is_ntrace, "N-Trace (Nexus messages)" },
        { is_trdb_bits, "PULP's trace debugger (trdb, before E-Trace 1.0)" },
        { is_trdb_bytes, "PULP's trace debugger (trdb, before E-Trace 1.0)" },
    };

    for (size_t i = 0; i < G_N_ELEMENTS(others); i++) {
        if (others[i].is(data, size)) {
            return others[i].name;
        }
    }
    return NULL;
}
