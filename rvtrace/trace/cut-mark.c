/*
 * The mark that a piece of a trace begins with
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "etrace/encap.h"
#include "trace/cut-mark.h"

#define NULL_IDLE       0x00
#define NULL_ALIGNMENT  0x80

/* Enough idle for any parameters */
#define IDLE            (ETRACE_ALIGN_MAX - 1)

/* Not ETRACE_SESSION_MARK_VERSION, whose marks have another length */
#define VERSION         2

static void put_bits(GByteArray *out, uint64_t value, unsigned bits)
{
    for (unsigned i = 0; i < bits; i++) {
        uint8_t null = (value >> i) & 1 ? NULL_ALIGNMENT : NULL_IDLE;

        g_byte_array_append(out, &null, 1);
    }
}

void cut_mark_put(const CutMark *mark, GByteArray *out)
{
    put_bits(out, 0, IDLE);
    put_bits(out, 1, 1);
    put_bits(out, VERSION, 8);
    put_bits(out, mark->id, 64);
    put_bits(out, mark->offset, 64);
    put_bits(out, mark->head, 32);
    put_bits(out, 1, 1);
}

/* At *@pos; returns false if something else is there. */
static bool get_bits(const uint8_t *data, size_t size, size_t *pos,
                     unsigned bits, uint64_t *value)
{
    *value = 0;
    if (size - *pos < bits) {
        return false;
    }
    for (unsigned i = 0; i < bits; i++) {
        uint8_t null = data[(*pos)++];

        if (null != NULL_IDLE && null != NULL_ALIGNMENT) {
            return false;
        }
        *value |= (uint64_t)(null == NULL_ALIGNMENT) << i;
    }
    return true;
}

bool cut_mark_get(const uint8_t *data, size_t size, CutMark *mark,
                  size_t *behind)
{
    uint64_t idle, one, version, head, last;
    size_t pos = 0;

    if (!get_bits(data, size, &pos, IDLE, &idle) || idle ||
        !get_bits(data, size, &pos, 1, &one) || !one ||
        !get_bits(data, size, &pos, 8, &version) || version != VERSION ||
        !get_bits(data, size, &pos, 64, &mark->id) ||
        !get_bits(data, size, &pos, 64, &mark->offset) ||
        !get_bits(data, size, &pos, 32, &head) ||
        !get_bits(data, size, &pos, 1, &last) || !last ||
        head > size - pos || mark->offset > INT64_MAX) {
        return false;
    }
    mark->head = head;
    *behind = pos;
    return true;
}
