/*
 * Packets as text: any packet, written and assembled, is the same bytes
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "tests/fixtures/check.h"
#include "etrace-random.h"
#include "text/packet-text.h"

static void random_params(ETraceParams *p)
{
    do {
        etrace_params_init(p, g_test_rand_bit() ? 32 : 64);
        p->wire_format = g_test_rand_int_range(0, ETRACE_WIRE_MAX);
        p->iaddress_lsb = g_test_rand_int_range(0, 3);
        p->privilege_width = g_test_rand_int_range(2, 4);
        p->ecause_width = g_test_rand_int_range(1, 9);
        p->time_width = 16 * g_test_rand_int_range(0, 4);
        p->context_width = g_test_rand_int_range(0, 40);
        p->return_stack_size = g_test_rand_int_range(0, 8);
        p->call_counter_size = g_test_rand_int_range(0, 8);
        p->bpred_size = g_test_rand_int_range(0, 8);
        p->cache_size = g_test_rand_int_range(0, 8);
        p->f0s_width = g_test_rand_int_range(0, 3);
        p->sijump = g_test_rand_bit();
        p->data_width = g_test_rand_bit() ?
                        8 << g_test_rand_int_range(0, 5) : 0;
        p->daddress_width = g_test_rand_int_range(1, 65);
        p->lrid_width = g_test_rand_int_range(0, 9);
        p->dtype_width = g_test_rand_int_range(0, 5);
        p->src_bits = g_test_rand_int_range(0, 17);
        p->ts_bytes = g_test_rand_int_range(0, 9);
        p->ioptions = g_test_rand_int_range(0, 64);
        p->doptions = g_test_rand_int_range(0, 16);
    } while (!etrace_params_valid(p));
}

/* A packet with any payload */
static size_t random_packet(const ETraceParams *p, uint8_t *whole)
{
    uint8_t payload[ETRACE_PACKET_MAX];
    ETraceEncapPacket pkt = {
        .src_id = etrace_random_bits(MIN(p->src_bits, 1)),
        .flow = g_test_rand_int_range(0, 20) == 0 ? etrace_random_bits(2) : 0,
        .data = p->data_width && g_test_rand_bit(),
        .payload = payload,
        .len = g_test_rand_int_range(1, g_test_rand_bit() ? 8 : 32),
    };

    for (size_t i = 0; i < pkt.len; i++) {
        payload[i] = etrace_random_bits(8);
    }
    pkt.extend = p->ts_bytes && g_test_rand_bit();
    pkt.timestamp = pkt.extend ? etrace_random_bits(8 * p->ts_bytes) : 0;
    while (!etrace_encap_fits(p, payload, pkt.len)) {
        pkt.len--;
    }
    return etrace_encap_pack(p, &pkt, whole);
}

static void test_random(void)
{
    unsigned verbatim = 0, fields = 0;

    for (int round = 0; round < 2000; round++) {
        g_autoptr(PacketSources) from = NULL, to = NULL;
        g_autoptr(GByteArray) bytes = g_byte_array_new();
        g_autoptr(GString) line = g_string_new(NULL);
        g_autoptr(GError) err = NULL;
        ETraceParams params;

        random_params(&params);
        from = packet_sources_new(&params);
        to = packet_sources_new(&params);
        packet_text_params(line, &params);
        check_true(packet_text_assemble(to, line->str, bytes, &err));
        check_cmpuint(bytes->len, ==, 0);
        for (int i = 0; i < 50; i++) {
            uint8_t whole[ETRACE_ENCAP_MAX];
            size_t size = random_packet(&params, whole);
            ETraceEncapPacket pkt;

            check_cmpint(etrace_encap_parse(&params, whole, size, &pkt), ==,
                         ETRACE_ENCAP_PACKET);
            g_string_truncate(line, 0);
            packet_text_write(line, from, &pkt, whole);
            g_byte_array_set_size(bytes, 0);
            if (!packet_text_assemble(to, line->str, bytes, &err)) {
                g_error("%s: %s", line->str, err->message);
            }
            g_assert_cmpmem(bytes->data, bytes->len, whole, size);
            if (strstr(line->str, "bytes=")) {
                verbatim++;
            } else {
                fields++;
            }
        }
    }
    /* Both ways have been gone often enough. */
    check_cmpuint(fields, >, 10000);
    check_cmpuint(verbatim, >, 10000);
}

/* Lines with a character replaced are assembled or refused, no more. */
static void test_mutated(void)
{
    static const char chars[] = "=-0x9af #\tz18";
    unsigned refused = 0, assembled = 0;
    PacketSources *from = NULL;
    ETraceParams params;

    for (int i = 0; i < 100000; i++) {
        g_autoptr(GByteArray) bytes = NULL;
        g_autoptr(GString) line = NULL;
        g_autoptr(GError) err = NULL;
        uint8_t whole[ETRACE_ENCAP_MAX];
        ETraceEncapPacket pkt;
        size_t size;

        if (i % 1000 == 0) {
            g_clear_pointer(&from, packet_sources_free);
            random_params(&params);
            from = packet_sources_new(&params);
        }
        bytes = g_byte_array_new();
        line = g_string_new(NULL);
        size = random_packet(&params, whole);
        check_cmpint(etrace_encap_parse(&params, whole, size, &pkt), ==,
                     ETRACE_ENCAP_PACKET);
        packet_text_write(line, from, &pkt, whole);
        for (int j = g_test_rand_int_range(0, 3); j >= 0; j--) {
            line->str[g_test_rand_int_range(0, line->len)] =
                chars[g_test_rand_int_range(0, sizeof(chars) - 1)];
        }
        if (packet_text_assemble(from, line->str, bytes, &err)) {
            assembled++;
        } else {
            check_nonnull(err);
            check_cmpuint(bytes->len, ==, 0);
            refused++;
        }
    }
    packet_sources_free(from);
    check_cmpuint(assembled, >, 1000);
    check_cmpuint(refused, >, 1000);
}

/* What a support packet says holds for its source, and behind it only. */
static void test_follow(void)
{
    g_autoptr(PacketSources) sources = NULL;
    g_autoptr(GByteArray) with = g_byte_array_new();
    g_autoptr(GByteArray) without = g_byte_array_new();
    g_autoptr(GByteArray) none = g_byte_array_new();
    const char *trap1 = "inst src=1 format=3 subformat=1 branch=1 "
                        "privilege=3 ecause=5 interrupt=1 thaddr=1";
    const char *trap2 = "inst src=2 format=3 subformat=1 branch=1 "
                        "privilege=3 ecause=5 interrupt=1 thaddr=1 "
                        "address=0x80000100";
    ETraceParams params;

    etrace_params_init(&params, 64);
    sources = packet_sources_new(&params);
    check_true(packet_text_assemble(sources, "params src=1 src_bits=8", none,
                                    NULL));
    check_true(packet_text_assemble(sources, "params src=2 src_bits=8", none,
                                    NULL));
    check_true(packet_text_assemble(sources, "inst src=1 format=3 "
                                    "subformat=3 ienable=1 ioptions=2", none,
                                    NULL));
    /* implicit exception: the handler's address is not in the packet */
    check_true(packet_text_assemble(sources, trap1, without, NULL));
    g_assert_cmpmem(without->data, without->len, "\x02\x01\x77\xc5", 4);
    check_true(packet_text_assemble(sources, trap2, with, NULL));
    g_assert_cmpmem(with->data, with->len, "\x06\x02\x77\xc5\x80\x00\x00\x40",
                    8);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/packet-text/random", test_random);
    g_test_add_func("/packet-text/mutated", test_mutated);
    g_test_add_func("/packet-text/follow", test_follow);
    return g_test_run();
}
