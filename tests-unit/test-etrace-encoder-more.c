/*
 * E-Trace encoder: the example of chapter 4; what sync packets reset; modes
 * and signals that are not there; many blocks at once
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "etrace-encoder-fixture.h"

#define RETURN      ETRACE_ITYPE_RETURN
#define FAR         0x7ffff2000     /* differences to it are long */

/* Section 4.2.6, "Example 1": 9 instructions, 2 branches */
static void test_example(Fixture *f)
{
    static const ETraceBlock blocks[] = {
        { .iretire = 7, .iaddr = 0x1000, .itype = 8, .ilastsize = 0 },
        { .iretire = 3, .iaddr = 0x0940, .itype = 4, .ilastsize = 0 },
        { .iretire = 1, .iaddr = 0x0946, .itype = 5, .ilastsize = 0 },
        { .iretire = 4, .iaddr = 0x0988, .itype = 0, .ilastsize = 1 },
    };

    etrace_encoder_start(&f->enc);
    for (unsigned i = 0; i < ARRAY_SIZE(blocks); i++) {
        etrace_encoder_block(&f->enc, &blocks[i], 0);
    }
    expect(f, "support no_change\nstart 1000 priv 0\naddress 940\n");
    etrace_encoder_stop(&f->enc);
    expect(f, "branches NT 98c\nsupport disabled ended_rep\n");
}

/* notime_p 0, nocontext_p 1: the packets that have a time, at their moment */
static void test_time(Fixture *f)
{
    ETraceParams p = f->enc.params;

    p.time_width = 16;
    init_params(f, &p);
    etrace_encoder_time(&f->enc, 1234, ETRACE_CTYPE_UNREPORTED);
    etrace_encoder_start(&f->enc);
    run(f, 0x1000, 0x1004, NONE);
    expect(f, "support no_change\n"
           "start 1000 priv 3 context 0 time 1234\n");
    etrace_encoder_time(&f->enc, 3456, ETRACE_CTYPE_UNREPORTED);
    trap(f, 0x1008, INTERRUPT, 7, 0);
    run(f, 0x800, 0x804, NONE);
    expect(f, "address 1004\n"
           "interrupt 7 handler 800 priv 3 context 0 time 3456\n");
}

/* nocontext_p 1: there is no such signal. */
static void test_context_none(Fixture *f)
{
    open_window(f, 0x1000);
    etrace_encoder_context(&f->enc, 5, ETRACE_CTYPE_DISCON);
    run(f, 0x1008, 0x100c, NONE);
    expect(f, "");
}

static void test_notify_without_window(Fixture *f)
{
    etrace_encoder_start(&f->enc);
    etrace_encoder_notify(&f->enc);
    run(f, 0x1000, 0x1004, NONE);
    run(f, 0x1008, 0x100c, NONE);
    expect(f, "support no_change\nstart 1000 priv 3\n");
}

/* Modes for which there is nothing stay off. */
static void test_modes_missing(Fixture *f)
{
    f->enc.ioptions = ETRACE_IOPT_IMPLICIT_RETURN | ETRACE_IOPT_SIJUMP |
                      ETRACE_IOPT_BRANCH_PREDICTION |
                      ETRACE_IOPT_JUMP_TARGET_CACHE;
    etrace_encoder_start(&f->enc);
    expect(f, "support no_change\n");
    g_assert_cmphex(f->enc.params.ioptions, ==, 0);
}

/* Changes of data trace alone do not end the window; dloss is reported once. */
static void test_reconfigure_data(Fixture *f)
{
    open_window(f, 0x1000);
    f->enc.denable = true;
    f->enc.dloss = true;
    f->enc.params.doptions = ETRACE_DOPT_NO_DATA;
    etrace_encoder_reconfigure(&f->enc);
    expect(f, "support no_change\n");
    g_assert_false(f->enc.dloss);
    run(f, 0x1008, 0x100c, NONE);
    expect(f, "");
}

/*
 * Implicit return mode: section 3.2.5
 */

static void open_returns(Fixture *f, unsigned stack, unsigned counter)
{
    ETraceParams p = f->enc.params;

    p.return_stack_size = stack;
    p.call_counter_size = counter;
    init_params(f, &p);
    f->enc.ioptions = ETRACE_IOPT_IMPLICIT_RETURN;
    open_window(f, 0x1000);
}

/* call_counter_size_p: irdepth is the nested call count. */
static void test_call_counter(Fixture *f)
{
    open_returns(f, 0, 3);
    run(f, 0x1008, 0x100c, CALL);
    run(f, 0x2000, 0x2004, RETURN);
    run(f, 0x1010, 0x1014, NOT_TAKEN);
    expect(f, "");
    run(f, 0x1018, 0x101c, CALL);
    run(f, 0x2000, 0x2004, CALL);
    run(f, 0x3000, 0x3004, RETURN);
    run(f, 0x6000, 0x6004, NONE);
    expect(f, "branches N 6000 irdepth 2\n");
}

/* "Reset to 0 whenever a synchronization packet is sent" */
static void test_returns_at_sync(Fixture *f)
{
    open_returns(f, 3, 0);
    run(f, 0x1008, 0x100c, CALL);
    run(f, 0x2000, 0x2004, NONE);
    etrace_encoder_end_window(&f->enc);
    run(f, 0x2008, 0x200c, RETURN);
    run(f, 0x1010, 0x1014, NONE);
    expect(f, "address 2004\nsupport ended_rep\n"
           "start 2008 priv 3\naddress 1010\n");
}

/*
 * Jump target cache mode: section 3.2.7
 */

static void open_cache(Fixture *f)
{
    ETraceParams p = f->enc.params;

    p.cache_size = 3;
    p.return_stack_size = 3;
    init_params(f, &p);
    f->enc.ioptions = ETRACE_IOPT_JUMP_TARGET_CACHE |
                      ETRACE_IOPT_IMPLICIT_RETURN;
    open_window(f, 0x1000);
}

/* "If it is not found in the cache, the entry at that index is replaced" */
static void test_cache_replaces(Fixture *f)
{
    open_cache(f);
    run(f, 0x1008, 0x100c, JALR);
    run(f, FAR, FAR + 4, JALR);
    run(f, 0x3000, 0x3004, JALR);
    run(f, FAR, FAR + 4, NONE);
    expect(f, "address 7ffff2000\naddress 3000\naddress 7ffff2000\n");
}

/* "All invalidated when a synchronization packet is sent" */
static void test_cache_at_sync(Fixture *f)
{
    open_cache(f);
    run(f, 0x1008, 0x100c, JALR);
    run(f, FAR, FAR + 4, NONE);
    expect(f, "address 7ffff2000\n");
    etrace_encoder_end_window(&f->enc);
    run(f, 0x3000, 0x3004, JALR);
    run(f, FAR, FAR + 4, NONE);
    expect(f, "address 7ffff2004\nsupport ended_rep\n"
           "start 3000 priv 3\naddress 7ffff2000\n");
}

/* "Any such inferrable return target must not be stored in the cache." */
static void test_cache_and_returns(Fixture *f)
{
    open_cache(f);
    run(f, 0x1008, 0x100c, JALR);
    run(f, FAR, FAR + 4, CALL);
    run(f, 0x3000, 0x3004, RETURN);
    run(f, FAR + 8, FAR + 12, JALR);
    expect(f, "address 7ffff2000\n");
    run(f, 0x4002, 0x4006, JALR);
    run(f, FAR + 8, FAR + 12, NONE);
    expect(f, "address 4002\naddress 7ffff2008\n");
}

/* Slots with blocks of all kinds, accesses before some; now and then a trap */
static void random_slots(ETraceSlot *slots, unsigned n)
{
    /* Without jumps, a full branch map; without branches, many ranges */
    typedef struct Mix {
        uint8_t n;
        uint8_t itypes[12];
    } Mix;
    static const Mix mixes[] = {
        { 2, { NONE, TAKEN } },
        { 4, { NONE, TAKEN, TAKEN, NOT_TAKEN } },
        { 6, { NONE, CALL, JUMP, JUMP, JALR, RETURN } },
        { 12, { NONE, CALL, JUMP, JUMP, JALR, RETURN,
                TAKEN, NOT_TAKEN, TAKEN, NOT_TAKEN, TAKEN, NOT_TAKEN } },
    };
    const Mix *mix = &mixes[g_test_rand_int_range(0, ARRAY_SIZE(mixes))];
    uint64_t pc = 0x1000;

    for (unsigned i = 0; i < n; i++) {
        unsigned size = g_test_rand_int_range(0, 8) ?
                        g_test_rand_int_range(2, 9) : 2;
        ETraceBlock b = {
            .iaddr = pc,
            .iretire = size,
            .itype = mix->itypes[g_test_rand_int_range(0, mix->n)],
            .ilastsize = 1,
            .flags = g_test_rand_int_range(0, 4) ? 0 : ETRACE_BLOCK_SIJUMP,
            .priv = g_test_rand_int_range(0, 200) ? S : U,
        };

        while (i < n - 1 && !g_test_rand_int_range(0, 3)) {
            slots[i++].access = (ETraceAccess) {
                .type = ETRACE_SLOT_ACCESS,
                .offset = g_test_rand_int_range(0, size) +
                          (g_test_rand_int_range(0, 40) ? 0 : size),
            };
        }
        if (!g_test_rand_int_range(0, 200)) {
            b.itype = EXCEPTION;
            b.iretire = 0;
        } else if (!g_test_rand_int_range(0, 20)) {
            b.cause = 5;
        } else if (!g_test_rand_int_range(0, 100)) {
            b.iretire = 0;
        }
        slots[i] = (ETraceSlot) { .block = b };
        pc += 2 * size;
        if (b.itype != NONE && b.itype != NOT_TAKEN) {
            pc = 0x1000 + 4 * g_test_rand_int_range(0, 40);
        }
    }
}

/* The same packets from them as from one block after the other */
static void test_plain_blocks(Fixture *f)
{
    enum { N = 400 };
    unsigned blocks = 0, plain = 0, ends = 0;

    for (int i = 0; i < 400; i++) {
        Fixture one = { .sent = g_string_new(NULL) };
        ETraceSlot slots[N];
        ETraceParams p;

        etrace_params_init(&p, 64);
        p.bpred_size = 4;
        p.f0s_width = 1;
        p.return_stack_size = 3;
        p.sijump = 1;
        init_params(&one, &p);
        init_params(f, &p);
        switch (g_test_rand_int_range(0, 10)) {
        case 0:
            f->enc.ioptions = one.enc.ioptions = ETRACE_IOPT_BRANCH_PREDICTION;
            break;
        case 1:
        case 2:
            f->enc.ioptions = one.enc.ioptions = ETRACE_IOPT_SIJUMP;
            break;
        case 3:
            f->enc.ioptions = one.enc.ioptions = ETRACE_IOPT_IMPLICIT_RETURN;
            break;
        case 4:
            f->enc.itype_width = one.enc.itype_width = 3;
            break;
        }
        f->enc.sync_mode = one.enc.sync_mode = g_test_rand_int_range(0, 2) ?
            ETRACE_SYNC_HALFWORDS : ETRACE_SYNC_PACKETS;
        f->enc.sync_max = one.enc.sync_max = g_test_rand_int_range(20, 5000);
        etrace_encoder_start(&f->enc);
        etrace_encoder_start(&one.enc);
        random_slots(slots, N);
        for (unsigned at = 0; at < N; at++) {
            size_t sent = f->sent->len;
            size_t n = etrace_encoder_plain_blocks(&f->enc, &slots[at], N - at);

            /* "... that a packet may follow from" */
            g_assert_cmpuint(f->sent->len, ==, sent);
            g_assert_cmpuint(n, <=, N - at);
            for (const ETraceSlot *slot = &slots[at]; n; n--, at++, slot++) {
                if (etrace_slot_is_block(slot)) {
                    g_assert_false(slot->block.cause &&
                                   slot->block.itype != NONE);
                    etrace_encoder_block(&one.enc, &slot->block, 0);
                    blocks++;
                    plain++;
                } else if (etrace_slot_is_block(slot + 1)) {
                    /* Later ones are of an instruction that did not end. */
                    g_assert_cmpuint(slot->access.offset, <,
                                     slot[1].block.iretire);
                    ends++;
                }
            }
            if (at < N && etrace_slot_is_block(&slots[at])) {
                etrace_encoder_block(&f->enc, &slots[at].block, 0);
                etrace_encoder_block(&one.enc, &slots[at].block, 0);
                blocks++;
            }
        }
        etrace_encoder_stop(&f->enc);
        etrace_encoder_stop(&one.enc);
        g_assert_cmpstr(f->sent->str, ==, one.sent->str);
        g_string_truncate(f->sent, 0);
        g_string_free(one.sent, true);
    }
    g_assert_cmpuint(plain, >, blocks / 4);
    g_assert_cmpuint(ends, >, 1000);
}

int main(int argc, char **argv)
{
    static const Test tests[] = {
        TEST(example),
        TEST(time),
        TEST(context_none),
        TEST(notify_without_window),
        TEST(modes_missing),
        TEST(reconfigure_data),
        TEST(call_counter),
        TEST(returns_at_sync),
        TEST(cache_replaces),
        TEST(cache_at_sync),
        TEST(cache_and_returns),
        TEST(plain_blocks),
    };

    g_test_init(&argc, &argv, NULL);
    add_tests(tests, ARRAY_SIZE(tests));
    return g_test_run();
}
