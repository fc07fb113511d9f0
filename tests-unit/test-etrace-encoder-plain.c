/*
 * The short way through the E-Trace encoder: the same packets as the long one
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "etrace-random-program.h"
#include "etrace-test.h"
#include "hw/trace/etrace/encoder.h"

#define BLOCKS 400

/* Packets as they are sent, and a sink that is full now and then */
typedef struct Sink {
    GByteArray *bytes;
    RandomProgram random;
    unsigned full;              /* out of 1000 */
} Sink;

static bool emit(void *opaque, const ETracePacket *pkt, const uint8_t *payload,
                 size_t len)
{
    Sink *sink = opaque;

    g_assert_cmpuint(pkt->format, ==, payload[0] & 3);
    if (random_chance(&sink->random, sink->full)) {
        return false;
    }
    g_byte_array_append(sink->bytes, payload, len);
    return true;
}

static bool ready(void *opaque)
{
    Sink *sink = opaque;

    return random_chance(&sink->random, 500);
}

static const ETraceEncoderOps ops = { .emit = emit, .ready = ready };

/*
 * Any blocks: what they say needs no program that makes sense. Addresses
 * repeat, so that jumps lead back.
 */
static void random_blocks(RandomProgram *r, ETraceBlock *blocks)
{
    static const uint8_t itypes[] = {
        0, 0, 3, 4, 4, 5, 5, 5, 5, 5, 8, 9, 9, 10, 11, 11, 12, 13, 13, 15,
    };
    unsigned variety = 1 + random_below(r, 60);

    for (unsigned i = 0; i < BLOCKS; i++) {
        ETraceBlock *b = &blocks[i];

        *b = (ETraceBlock) {
            .iaddr = 0x80000000 + 8 * random_below(r, variety),
            .itype = itypes[random_below(r, ARRAY_SIZE(itypes))],
            .ilastsize = random_below(r, 2),
            .priv = random_chance(r, 20) ? ETRACE_PRIV_U : ETRACE_PRIV_M,
            .flags = random_chance(r, 30) ? ETRACE_BLOCK_SIJUMP : 0,
        };
        b->iretire = (1u << b->ilastsize) + random_below(r, 3);
        if (random_chance(r, 10)) {
            *b = (ETraceBlock) {
                .iaddr = b->iaddr,
                .itype = ETRACE_ITYPE_EXCEPTION,
                .cause = 3,
                .priv = b->priv,
            };
        }
    }
}

static void setup(ETraceEncoder *enc, Sink *sink, const ETraceParams *params,
                  RandomProgram choice, uint64_t seed)
{
    random_seed(&sink->random, seed);
    sink->bytes = g_byte_array_new();
    etrace_encoder_init(enc, params, &ops, sink);
    enc->ioptions = random_below(&choice, 2) ? random_below(&choice, 64) : 0;
    enc->sync_mode = random_below(&choice, 4);
    enc->sync_max = 16u << random_below(&choice, 8);
    enc->itype_width = random_chance(&choice, 100) ? 3 : 4;
    sink->full = random_chance(&choice, 300) ? 50 : 0;
    etrace_encoder_start(enc);
}

static void one(uint64_t seed, uint64_t *taken)
{
    static ETraceEncoder a, b;
    ETraceBlock blocks[BLOCKS];
    ETraceParams params;
    Sink sink_a, sink_b;
    RandomProgram r;

    random_seed(&r, seed);
    etrace_params_init(&params, 64);
    params.return_stack_size = 3;
    params.bpred_size = 4;
    params.cache_size = 4;
    params.sijump = 1;
    params.f0s_width = 1;
    setup(&a, &sink_a, &params, r, seed);
    setup(&b, &sink_b, &params, r, seed);
    random_blocks(&r, blocks);

    for (unsigned i = 0; i < BLOCKS; i++) {
        etrace_encoder_block(&a, &blocks[i], 7);
    }
    for (unsigned i = 0; i < BLOCKS;) {
        unsigned n = 1 + random_below(&r, 100);

        n = MIN(n, BLOCKS - i);
        while (n) {
            size_t plain = etrace_encoder_plain_blocks(&b, &blocks[i], n);

            *taken += plain;
            i += plain;
            n -= plain;
            if (n) {
                etrace_encoder_block(&b, &blocks[i++], 7);
                n--;
            }
        }
    }
    etrace_encoder_stop(&a);
    etrace_encoder_stop(&b);
    g_assert_cmpmem(sink_a.bytes->data, sink_a.bytes->len,
                    sink_b.bytes->data, sink_b.bytes->len);
    g_byte_array_unref(sink_a.bytes);
    g_byte_array_unref(sink_b.bytes);
}

static void test_same(void)
{
    const unsigned rounds = 20000;
    uint64_t taken = 0;

    for (unsigned seed = 1; seed <= rounds; seed++) {
        one(seed, &taken);
    }
    g_test_message("%" PRIu64 " of %u blocks took the short way", taken,
                   rounds * BLOCKS);
    /* else nothing was tested */
    g_assert_cmpuint(taken, >, rounds * BLOCKS / 10);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/etrace/encoder-plain/same", test_same);
    return g_test_run();
}
