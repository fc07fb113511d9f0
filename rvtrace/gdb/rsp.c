/*
 * gdb's remote serial protocol: packets
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "gdb/rsp.h"

void rsp_reader_init(RspReader *r)
{
    *r = (RspReader) { .data = g_string_new(NULL) };
}

void rsp_reader_clear(RspReader *r)
{
    if (r->data) {
        g_string_free(r->data, TRUE);
        r->data = NULL;
    }
}

static void begin_packet(RspReader *r)
{
    r->state = RSP_IN_DATA;
    r->too_long = false;
    r->sum = 0;
    g_string_truncate(r->data, 0);
}

static RspEvent between(RspReader *r, uint8_t byte)
{
    switch (byte) {
    case '$':
        begin_packet(r);
        return RSP_NOTHING;
    case '+':
        return RSP_ACK;
    case '-':
        return RSP_NAK;
    case RSP_CTRL_C:
        return RSP_INTERRUPT;
    default:
        return RSP_NOTHING;
    }
}

static void put_data(RspReader *r, uint8_t byte)
{
    if (r->data->len < RSP_MAX_DATA) {
        g_string_append_c(r->data, byte);
    } else {
        r->too_long = true;
    }
}

static RspEvent in_data(RspReader *r, uint8_t byte)
{
    switch (byte) {
    case '#':
        r->state = RSP_SUM_HIGH;
        break;
    case '$':
        /* The rest of the packet before was lost. */
        begin_packet(r);
        break;
    case '}':
        r->sum += byte;
        r->state = RSP_ESCAPED;
        break;
    default:
        r->sum += byte;
        put_data(r, byte);
        break;
    }
    return RSP_NOTHING;
}

static RspEvent end_packet(RspReader *r, int low)
{
    r->state = RSP_BETWEEN;
    if (r->high < 0 || low < 0 || (r->high << 4 | low) != r->sum) {
        return RSP_DAMAGED;
    }
    return r->too_long ? RSP_TOO_LONG : RSP_PACKET;
}

RspEvent rsp_reader_put(RspReader *r, uint8_t byte)
{
    switch (r->state) {
    case RSP_IN_DATA:
        return in_data(r, byte);
    case RSP_ESCAPED:
        r->sum += byte;
        put_data(r, byte ^ 0x20);
        r->state = RSP_IN_DATA;
        return RSP_NOTHING;
    case RSP_SUM_HIGH:
        r->high = g_ascii_xdigit_value(byte);
        r->state = RSP_SUM_LOW;
        return RSP_NOTHING;
    case RSP_SUM_LOW:
        return end_packet(r, g_ascii_xdigit_value(byte));
    default:
        return between(r, byte);
    }
}

void rsp_put_packet(GString *out, const char *data, size_t len)
{
    uint8_t sum = 0;

    g_string_append_c(out, '$');
    for (size_t i = 0; i < len; i++) {
        uint8_t byte = data[i];

        /* '*' would be a length: of runs, which are not sent */
        if (byte == '$' || byte == '#' || byte == '}' || byte == '*') {
            g_string_append_c(out, '}');
            sum += '}';
            byte ^= 0x20;
        }
        g_string_append_c(out, byte);
        sum += byte;
    }
    g_string_append_printf(out, "#%02x", sum);
}

void rsp_put_hex(GString *out, const void *bytes, size_t len)
{
    const uint8_t *p = bytes;

    for (size_t i = 0; i < len; i++) {
        g_string_append_printf(out, "%02x", p[i]);
    }
}

void rsp_put_value(GString *out, uint64_t value, unsigned size)
{
    for (unsigned i = 0; i < size; i++) {
        g_string_append_printf(out, "%02x", (uint8_t)(value >> (8 * i)));
    }
}

bool rsp_get_number(const char **p, uint64_t *value)
{
    unsigned digits = 0;

    *value = 0;
    for (; g_ascii_isxdigit(**p); (*p)++) {
        if (*value >> 60) {
            return false;
        }
        *value = *value << 4 | g_ascii_xdigit_value(**p);
        digits++;
    }
    return digits;
}

char *rsp_get_text(const char *p)
{
    size_t len = strlen(p) / 2;
    g_autofree char *text = g_malloc(len + 1);

    for (size_t i = 0; i < len; i++) {
        int high = g_ascii_xdigit_value(p[2 * i]);
        int low = g_ascii_xdigit_value(p[2 * i + 1]);

        if (high < 0 || low < 0) {
            return NULL;
        }
        text[i] = high << 4 | low;
    }
    text[len] = 0;
    return p[2 * len] ? NULL : g_steal_pointer(&text);
}
