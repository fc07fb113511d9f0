/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A compressor: text is packed as references to what came before, unpacked,
 * and compared; damaged data has to be refused.
 */
#include "program.h"

const uint32_t program_sum = 0x3d0cd0f5;

#define SIZE        40000
#define HASHES      4096
#define MIN_MATCH   4
#define MAX_MATCH   130
#define WINDOW      32767
#define CHAIN       16

static uint8_t text[SIZE], packed[SIZE * 9 / 8 + 16], unpacked[SIZE];
static int32_t heads[HASHES], chain[SIZE];
static unsigned refused;

static void make_text(void)
{
    static const char *const words[] = {
        "trace ", "encoder ", "packet ", "branch ", "of ", "the ", "a ",
        "instruction", "s ", "and ", "that ", "retired, ", "exception. ",
        "hart ", "is ", "\n",
    };
    unsigned n = 0;

    while (n < SIZE) {
        const char *w = words[next_random() % ARRAY_SIZE(words)];

        while (*w && n < SIZE) {
            text[n++] = *w++;
        }
        if (next_random() % 16 == 0 && n < SIZE) {
            text[n++] = next_random();
        }
    }
}

static unsigned hash(const uint8_t *p)
{
    uint32_t v = p[0] | p[1] << 8 | p[2] << 16 | (uint32_t)p[3] << 24;

    return v * 2654435761u >> 20;
}

static unsigned match_length(const uint8_t *a, const uint8_t *b, unsigned most)
{
    unsigned n = 0;

    while (n < most && a[n] == b[n]) {
        n++;
    }
    return n;
}

static unsigned longest_match(unsigned at, unsigned *from)
{
    unsigned best = 0, most = SIZE - at < MAX_MATCH ? SIZE - at : MAX_MATCH;
    int32_t p = heads[hash(text + at)];

    for (unsigned i = 0; i < CHAIN && p >= 0 && at - p <= WINDOW; i++) {
        if (!best || text[p + best] == text[at + best]) {
            unsigned n = match_length(text + p, text + at, most);

            if (n > best) {
                best = n;
                *from = p;
                if (n == most) {
                    break;
                }
            }
        }
        p = chain[p];
    }
    return best;
}

static void remember(unsigned at)
{
    if (at + MIN_MATCH <= SIZE) {
        unsigned h = hash(text + at);

        chain[at] = heads[h];
        heads[h] = at;
    }
}

/* Bytes as they are: their number - 1 below 0x80, then they */
static unsigned put_literals(unsigned out, unsigned from, unsigned to)
{
    while (from < to) {
        unsigned n = to - from < 128 ? to - from : 128;

        packed[out++] = n - 1;
        memcpy(packed + out, text + from, n);
        out += n;
        from += n;
    }
    return out;
}

static unsigned pack(void)
{
    unsigned at = 0, literals = 0, out = 0;

    for (unsigned i = 0; i < HASHES; i++) {
        heads[i] = -1;
    }
    while (at < SIZE) {
        unsigned from = 0;
        unsigned n = at + MIN_MATCH <= SIZE ? longest_match(at, &from) : 0;

        if (n < MIN_MATCH) {
            remember(at++);
            continue;
        }
        out = put_literals(out, literals, at);
        packed[out++] = 0x80 | (n - MIN_MATCH);
        packed[out++] = at - from;
        packed[out++] = (at - from) >> 8;
        while (n--) {
            remember(at++);
        }
        literals = at;
    }
    return put_literals(out, literals, SIZE);
}

static int unpack(unsigned size)
{
    unsigned in = 0, out = 0;

    while (in < size) {
        unsigned c = packed[in++], n, back;

        if (c < 0x80) {
            n = c + 1;
            if (n > size - in || n > SIZE - out) {
                return -1;
            }
            memcpy(unpacked + out, packed + in, n);
            in += n;
            out += n;
            continue;
        }
        n = (c & 0x7f) + MIN_MATCH;
        if (size - in < 2) {
            return -2;
        }
        back = packed[in] | packed[in + 1] << 8;
        in += 2;
        if (!back || back > out || n > SIZE - out) {
            return -3;
        }
        for (; n--; out++) {
            unpacked[out] = unpacked[out - back];
        }
    }
    return out;
}

uint32_t program(void)
{
    uint32_t sum = 0;
    unsigned size;

    make_text();
    size = pack();
    for (unsigned i = 0; i < size; i++) {
        sum = mix(sum, packed[i]);
    }
    if (unpack(size) != SIZE || memcmp(text, unpacked, SIZE)) {
        return 0;
    }
    for (unsigned i = 0; i < 8; i++) {
        packed[next_random() % size] ^= 0xff;
        refused += unpack(size) != SIZE;
    }
    return mix(mix(sum, size), refused);
}
