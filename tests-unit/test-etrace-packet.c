/*
 * E-Trace packets: bytes worked out by hand from the tables of chapter 6
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "etrace-test.h"

typedef enum Widths {
    RV64,               /* our defaults */
    RV32,
    RV64_STACK,         /* return_stack_size_p 3: irdepth has 4 bits */
    RV64_TIME,          /* time 16, context 8 bits */
    RV64_F0S1,          /* predictor, cache of 2^7; subformat has 1 bit */
    RV64_F0S2,          /* the same, 2 bits */
    RV64_PREDICTOR,     /* nothing else in format 0: no subformat field */
    RV64_CACHE,         /* likewise */
    RV64_F0S1_STACK,    /* RV64_F0S1 and RV64_STACK */
    RV64_SIJUMP,
    /*
     * The widths of the examples in the chapter "Code fragment and
     * transport": iaddress_lsb_p 0, privilege 2, context 32, ecause 5 bits.
     */
    EXAMPLES,
} Widths;

static void set_widths(ETraceParams *p, Widths widths)
{
    etrace_params_init(p, widths == RV32 ? 32 : 64);
    switch (widths) {
    case RV64_STACK:
        p->return_stack_size = 3;
        break;
    case RV64_TIME:
        p->time_width = 16;
        p->context_width = 8;
        break;
    case RV64_F0S1_STACK:
        p->return_stack_size = 3;
        /* fall through */
    case RV64_F0S1:
    case RV64_F0S2:
        p->bpred_size = 10;
        p->cache_size = 7;
        p->f0s_width = widths == RV64_F0S2 ? 2 : 1;
        break;
    case RV64_PREDICTOR:
        p->bpred_size = 10;
        break;
    case RV64_CACHE:
        p->cache_size = 7;
        break;
    case RV64_SIJUMP:
        p->sijump = 1;
        break;
    case EXAMPLES:
        p->iaddress_lsb = 0;
        p->privilege_width = 2;
        p->context_width = 32;
        p->ecause_width = 5;
        break;
    default:
        break;
    }
    g_assert_true(etrace_params_valid(p));
}

typedef struct Vector {
    const char *name;
    Widths widths;
    const char *hex;
    ETracePacket pkt;
} Vector;

#define START   .format = 3, .subformat = 0
#define TRAP    .format = 3, .subformat = 1
#define CONTEXT .format = 3, .subformat = 2
#define SUPPORT .format = 3, .subformat = 3
#define COUNT   .format = 0, .subformat = 0
#define INDEX   .format = 0, .subformat = 1

static const Vector vectors[] = {
    /*
     * Format 3 subformat 0, from bit 0: format 11, subformat 00, branch,
     * privilege (3 bits), address >> 1 from bit 8 on.
     */
    { "start", RV64, "73 00 00 00 40",
      { START, .branch = 1, .privilege = 3, .address = 0x80000000 } },
    { "start-taken-user", RV64, "03 00 08",
      { START, .branch = 0, .privilege = 0, .address = 0x1000 } },
    { "start-high", RV64, "33 1a 09 00 c0",
      { START, .branch = 1, .privilege = 1,
        .address = 0xffffffff80001234 } },
    /* 31 bits of address: bit 30 is bit 38, the sign is kept in bit 39 */
    { "start-rv32", RV32, "73 1a 09 00 c0",
      { START, .branch = 1, .privilege = 3, .address = 0x80001234 } },
    { "start-vs", RV64, "d3 00 08",
      { START, .branch = 1, .privilege = 6, .address = 0x1000 } },
    /* time from bit 8, context from bit 24, address from bit 32 */
    { "start-time-context", RV64_TIME, "73 cd ab 5a 00 08",
      { START, .branch = 1, .privilege = 3, .time = 0xabcd,
        .context = 0x5a, .address = 0x1000 } },

    /*
     * Format 3 subformat 1: ecause in bits 8-13, interrupt 14, thaddr 15,
     * address >> 1 in bits 16-78, tval from bit 79 on.
     */
    { "trap-exception", RV64, "37 8d 00 00 10 c0 ff ff ff 7f f8 ff 01",
      { TRAP, .branch = 1, .privilege = 1, .ecause = 13, .thaddr = 1,
        .address = 0xffffffff80200000, .tval = 0x3fff0 } },
    { "trap-interrupt", RV64, "77 c5 80 00 00 40",
      { TRAP, .branch = 1, .privilege = 3, .ecause = 5, .interrupt = 1,
        .thaddr = 1, .address = 0x80000100 } },
    /* nothing behind the address for an interrupt: its sign goes on */
    { "trap-interrupt-high", RV64, "37 c5 00 00 10 c0",
      { TRAP, .branch = 1, .privilege = 1, .ecause = 5, .interrupt = 1,
        .thaddr = 1, .address = 0xffffffff80200000 } },
    { "trap-alone", RV64, "17 0c 00 08 00 00 00 00 00 00 00 08",
      { TRAP, .branch = 1, .privilege = 0, .ecause = 12,
        .address = 0x1000, .tval = 0x1000 } },
    /* 31 bits of address in 16-46, tval in 47-78, 79 is sign extension */
    { "trap-rv32", RV32, "77 82 80 00 00 40 00 00 00 c0",
      { TRAP, .branch = 1, .privilege = 3, .ecause = 2, .thaddr = 1,
        .address = 0x80000100, .tval = 0x80000000 } },

    /* Format 3 subformat 2: privilege in bits 4-6, bit 7 is the sign */
    { "context", RV64, "3b",
      { CONTEXT, .privilege = 3 } },
    { "context-vs", RV64, "eb",
      { CONTEXT, .privilege = 6 } },
    /* time in bits 7-22 (bits 1 and 8 of it set), context in 23-30 */
    { "context-time", RV64_TIME, "3b 81 80 2a",
      { CONTEXT, .privilege = 3, .time = 0x0102, .context = 0x55 } },

    /*
     * Format 3 subformat 3: ienable bit 4, encoder_mode 5, qual_status 6-7,
     * ioptions 8-12, denable 13, dloss 14, doptions 15-18.
     */
    { "support", RV64, "1f",
      { SUPPORT, .ienable = 1 } },
    { "support-disabled", RV64, "0f",
      { SUPPORT } },
    { "support-ended-rep", RV64, "5f",
      { SUPPORT, .ienable = 1, .qual_status = ETRACE_QUAL_ENDED_REP } },
    { "support-trace-lost", RV64, "9f 00",
      { SUPPORT, .ienable = 1, .qual_status = ETRACE_QUAL_TRACE_LOST } },
    { "support-ended-ntr", RV64, "df 00",
      { SUPPORT, .ienable = 1, .qual_status = ETRACE_QUAL_ENDED_NTR } },
    { "support-implicit-return", RV64, "1f 01",
      { SUPPORT, .ienable = 1, .ioptions = ETRACE_IOPT_IMPLICIT_RETURN } },
    { "support-branch-prediction", RV64, "1f 10",
      { SUPPORT, .ienable = 1, .ioptions = ETRACE_IOPT_BRANCH_PREDICTION } },
    { "support-data", RV64, "1f a0 02",
      { SUPPORT, .ienable = 1, .denable = 1, .doptions = 5 } },
    { "support-all", RV64, "df",
      { SUPPORT, .ienable = 1, .qual_status = 3, .ioptions = 0x1f,
        .denable = 1, .dloss = 1, .doptions = 0xf } },

    /* one more of ioptions, bit 13, and the rest one further */
    { "support-sijump", RV64_SIJUMP, "1f 20",
      { SUPPORT, .ienable = 1, .ioptions = ETRACE_IOPT_SIJUMP } },
    { "support-sijump-data", RV64_SIJUMP, "1f 40 05",
      { SUPPORT, .ienable = 1, .denable = 1, .doptions = 5 } },

    /*
     * Format 0 subformat 0: subformat bit 2, branch_count 3-34, branch_fmt
     * 35-36, address >> 1 in 37-99, notify 100, updiscon 101, irreport 102.
     */
    { "count-31", RV64_F0S1, "00",
      { COUNT } },
    { "count-36", RV64_F0S1, "28",
      { COUNT, .branch_count = 5 } },
    { "count-sign-bit", RV64_F0S1, "80 00",
      { COUNT, .branch_count = 16 } },
    { "count-subformat-2-bits", RV64_F0S2, "50",
      { COUNT, .branch_count = 5 } },
    { "count-no-subformat", RV64_PREDICTOR, "14",
      { COUNT, .branch_count = 5 } },
    { "count-addr", RV64_F0S1, "00 00 00 00 10",
      { COUNT, .branch_fmt = ETRACE_BRANCH_FMT_ADDR } },
    { "count-addr-fail", RV64_F0S1, "00 00 00 00 f8",
      { COUNT, .branch_fmt = ETRACE_BRANCH_FMT_ADDR_FAIL, .address = -2 } },
    { "count-max", RV64_F0S1, "f8 ff ff ff 17 01",
      { COUNT, .branch_count = 0xffffffff,
        .branch_fmt = ETRACE_BRANCH_FMT_ADDR, .address = 0x10 } },
    { "count-updiscon", RV64_F0S1,
      "00 00 00 00 10 00 00 00 00 00 00 00 e0",
      { COUNT, .branch_fmt = ETRACE_BRANCH_FMT_ADDR, .updiscon = 1 } },
    /* irdepth in bits 103-106 */
    { "count-irdepth", RV64_F0S1_STACK,
      "00 00 00 00 10 00 00 00 00 00 00 00 c0 02",
      { COUNT, .branch_fmt = ETRACE_BRANCH_FMT_ADDR, .irreport = 1,
        .irdepth = 5 } },

    /*
     * Format 0 subformat 1: subformat bit 2, index 3-9, branches 10-14,
     * branch map from bit 15 on, irreport.
     */
    { "index", RV64_F0S1, "ac 02",
      { INDEX, .index = 0x55 } },
    { "index-no-subformat", RV64_CACHE, "54 01",
      { INDEX, .index = 0x55 } },
    { "index-branches-1", RV64_F0S1, "04 84",
      { INDEX, .branches = 1, .branch_map = 1 } },
    { "index-branches-2", RV64_F0S1, "1c 88 00",
      { INDEX, .index = 3, .branches = 2, .branch_map = 1 } },
    { "index-branches-4", RV64_F0S1, "04 90 07",
      { INDEX, .branches = 4, .branch_map = 0xf } },
    { "index-branches-31", RV64_F0S1, "fc",
      { INDEX, .index = 0x7f, .branches = 31, .branch_map = 0x7fffffff } },
    /* irdepth in bits 16-19; 18-21 behind a map of 2 branches */
    { "index-irdepth", RV64_F0S1_STACK, "04 80 05",
      { INDEX, .irreport = 1, .irdepth = 5 } },
    { "index-branches-irdepth", RV64_F0S1_STACK, "04 88 2c",
      { INDEX, .branches = 2, .branch_map = 1, .irreport = 1,
        .irdepth = 5 } },

    /*
     * Format 2: address >> 1 in bits 2-64, notify 65, updiscon 66,
     * irreport 67, each the same as the bit before unless asserted.
     */
    { "address-zero", RV64, "02",
      { .format = 2 } },
    { "address-forward", RV64, "22",
      { .format = 2, .address = 0x10 } },
    { "address-forward-sign-bit", RV64, "82 00",
      { .format = 2, .address = 0x40 } },
    { "address-backward", RV64, "fe",
      { .format = 2, .address = -2 } },
    { "address-backward-far", RV64, "02 00 fe",
      { .format = 2, .address = -0x10000 } },
    { "notify", RV64, "02 00 00 00 00 00 00 00 fe",
      { .format = 2, .notify = 1 } },
    { "notify-backward", RV64, "fe ff ff ff ff ff ff ff 01",
      { .format = 2, .notify = 1, .address = -2 } },
    { "updiscon", RV64, "02 00 00 00 00 00 00 00 fc",
      { .format = 2, .updiscon = 1 } },
    { "updiscon-backward", RV64, "fe ff ff ff ff ff ff ff 03",
      { .format = 2, .updiscon = 1, .address = -2 } },
    { "notify-updiscon", RV64, "02 00 00 00 00 00 00 00 02",
      { .format = 2, .notify = 1, .updiscon = 1 } },
    { "notify-rv32", RV32, "02 00 00 00 fe",
      { .format = 2, .notify = 1 } },
    { "updiscon-rv32", RV32, "02 00 00 00 fc",
      { .format = 2, .updiscon = 1 } },
    /* irdepth in bits 68-71 */
    { "irdepth", RV64_STACK, "02 00 00 00 00 00 00 00 58",
      { .format = 2, .irreport = 1, .irdepth = 5 } },
    { "no-irdepth", RV64_STACK, "fe",
      { .format = 2, .address = -2 } },
    { "no-irdepth-updiscon", RV64_STACK, "02 00 00 00 00 00 00 00 fc",
      { .format = 2, .updiscon = 1 } },

    /*
     * Format 1: branches in bits 2-6, branch map from bit 7 on: 1, 3, 7, 15
     * or 31 bits. An address of -2 makes ones of everything behind the map.
     */
    { "branches-1", RV64, "85 02",
      { .format = 1, .branches = 1, .branch_map = 1, .address = 4 } },
    { "branches-2", RV64, "89 00",
      { .format = 1, .branches = 2, .branch_map = 1 } },
    { "branches-3", RV64, "0d fc",
      { .format = 1, .branches = 3, .address = -2 } },
    { "branches-4", RV64, "11 c0",
      { .format = 1, .branches = 4, .address = -2 } },
    { "branches-5", RV64, "15 8b",
      { .format = 1, .branches = 5, .branch_map = 0x16, .address = -4 } },
    { "branches-7", RV64, "1d c0",
      { .format = 1, .branches = 7, .address = -2 } },
    { "branches-8", RV64, "21 00 c0",
      { .format = 1, .branches = 8, .address = -2 } },
    { "branches-15", RV64, "3d 00 c0",
      { .format = 1, .branches = 15, .address = -2 } },
    { "branches-16", RV64, "41 00 00 00 c0",
      { .format = 1, .branches = 16, .address = -2 } },
    { "branches-31", RV64, "fd ff ff ff 7f",
      { .format = 1, .branches = 31, .branch_map = 0x7fffffff,
        .address = 2 } },
    /* notify is bit 7 + 1 + 31 */
    { "branches-notify-rv32", RV32, "05 00 00 00 80",
      { .format = 1, .branches = 1, .notify = 1 } },
    { "branches-updiscon-rv32", RV32, "05 00 00 00 00 ff",
      { .format = 1, .branches = 1, .updiscon = 1 } },
    /* branches 0: 31 bits of map and nothing else */
    { "map-taken", RV64, "01",
      { .format = 1 } },
    { "map-not-taken", RV64, "81",
      { .format = 1, .branch_map = 0x7fffffff } },
    { "map-oldest", RV64, "81 00",
      { .format = 1, .branch_map = 1 } },
    { "map-youngest", RV64, "01 00 00 00 e0",
      { .format = 1, .branch_map = 0x40000000 } },

    /*
     * The examples that the specification prints, in full address mode; but
     * for the START packet of the first one, whose bytes hold 0x200000d8 and
     * not the address 0x800001b0 printed beside them.
     */
    { "example-illegal-1", EXAMPLES, "05 04 01 00 80 00",
      { .format = 1, .branches = 1, .branch_map = 0,
        .address = 0x80000104 } },
    { "example-illegal-2", EXAMPLES, "32 04 00 00 02",
      { .format = 2, .address = 0x8000010c } },
    { "example-illegal-3", EXAMPLES, "77 00 00 00 00 81 88 00 00 20",
      { TRAP, .branch = 1, .privilege = 3, .ecause = 2,
        .address = 0x80000222 } },
    { "example-timer-1", EXAMPLES, "bd aa aa 68 00 00 20",
      { .format = 1, .branches = 15, .branch_map = 21845,
        .address = 0x800001a2 } },
    { "example-timer-2", EXAMPLES, "77 00 00 00 80 33 6c 00 00 20",
      { TRAP, .branch = 1, .privilege = 3, .ecause = 7, .interrupt = 1,
        .thaddr = 1, .address = 0x800001b0 } },
    { "example-xrle-1", EXAMPLES, "1f 04",
      { SUPPORT, .ienable = 1, .ioptions = 4 } },
    { "example-xrle-2", EXAMPLES, "73 00 00 00 00 91 82 00 10",
      { START, .branch = 1, .privilege = 3, .address = 0x20010522 } },
};

static void test_vector(gconstpointer data)
{
    const Vector *v = data;
    g_autofree char *hex = NULL;
    uint8_t buf[ETRACE_PACKET_MAX];
    ETraceParams params;
    ETracePacket pkt;
    size_t len;

    set_widths(&params, v->widths);
    len = etrace_packet_pack(&params, &v->pkt, buf);
    hex = etrace_test_hex(buf, len);
    g_assert_cmpstr(hex, ==, v->hex);

    len = etrace_test_bytes(v->hex, buf, sizeof(buf));
    g_assert_true(etrace_packet_unpack(&params, buf, len, &pkt));
    etrace_test_same(&pkt, &v->pkt);
}

/* What others may send: less compressed, or ones in unused bits of the map */
static void test_unpack_only(void)
{
    static const struct {
        const char *hex;
        ETracePacket pkt;
    } packets[] = {
        { "22 00", { .format = 2, .address = 0x10 } },
        { "22 00 00 00 00 00 00 00 00", { .format = 2, .address = 0x10 } },
        { "fe ff ff ff ff ff ff ff ff", { .format = 2, .address = -2 } },
        { "1f 00 00", { SUPPORT, .ienable = 1 } },
        { "01 00 00 00 00", { .format = 1 } },
        { "89 02", { .format = 1, .branches = 2, .branch_map = 1 } },
        { "00 00 00 00 00", { COUNT } },
        { "1c 88 fe", { INDEX, .index = 3, .branches = 2, .branch_map = 1 } },
    };

    for (unsigned i = 0; i < ARRAY_SIZE(packets); i++) {
        uint8_t buf[ETRACE_PACKET_MAX];
        size_t len = etrace_test_bytes(packets[i].hex, buf, sizeof(buf));
        ETraceParams params;
        ETracePacket pkt;

        set_widths(&params, packets[i].pkt.format ? RV64 : RV64_F0S1);
        g_assert_true(etrace_packet_unpack(&params, buf, len, &pkt));
        etrace_test_same(&pkt, &packets[i].pkt);
    }
}

static void test_reject(void)
{
    static const struct {
        const char *why;
        Widths widths;
        const char *hex;
    } bad[] = {
        { "no bytes", RV64, "" },
        { "format 0", RV64, "00" },
        { "format 0, long", RV64, "fc ff ff ff 7f" },
        { "support packet of 4 bytes", RV64, "1f 00 00 00" },
        { "support packet with bits behind doptions", RV64, "1f 00 08" },
        { "branch map of 6 bytes", RV64, "01 00 00 00 00 00" },
        { "branch map with bits behind it", RV64, "01 00 00 00 40" },
        { "format 2 of 10 bytes", RV64, "02 00 00 00 00 00 00 00 00 00" },
        { "format 2 of 6 bytes", RV32, "02 00 00 00 00 00" },
        { "not sign extended to a byte", RV32, "02 00 00 00 0e" },
        { "encoder_mode 1", RV64, "3f" },
        { "privilege 2 in format 3 subformat 0", RV64, "53 00" },
        { "privilege 7 in format 3 subformat 0", RV64, "f3 00" },
        { "privilege 2 in format 3 subformat 1", RV64, "57 00" },
        { "privilege 2 in format 3 subformat 2", RV64, "2b" },
        { "privilege 2 of 2 bits", EXAMPLES, "53 00" },
        { "irdepth without irreport", RV64_STACK,
          "02 00 00 00 00 00 00 00 10" },
        { "branch_fmt 1", RV64_F0S1, "00 00 00 00 08" },
        { "bits behind branch_fmt 0", RV64_F0S1, "00 00 00 00 20" },
        { "format 0 subformat 2", RV64_F0S2, "08" },
        { "format 0 subformat 3", RV64_F0S2, "0c" },
        { "index with bits behind irreport", RV64_F0S1, "ac 02 01" },
        { "irdepth without irreport behind index", RV64_F0S1_STACK,
          "04 00 05" },
    };

    for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
        uint8_t buf[ETRACE_PACKET_MAX + 1];
        size_t len = etrace_test_bytes(bad[i].hex, buf, sizeof(buf));
        ETraceParams params;
        ETracePacket pkt;

        set_widths(&params, bad[i].widths);
        if (etrace_packet_unpack(&params, buf, len, &pkt)) {
            g_error("accepted: %s (%s)", bad[i].why, bad[i].hex);
        }
    }
}

static void test_reject_too_long(void)
{
    uint8_t buf[64] = { 0x1f };
    ETraceParams params;
    ETracePacket pkt;

    set_widths(&params, RV64);
    g_assert_true(etrace_packet_unpack(&params, buf, 3, &pkt));
    for (size_t len = 4; len < sizeof(buf); len++) {
        g_assert_false(etrace_packet_unpack(&params, buf, len, &pkt));
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (unsigned i = 0; i < ARRAY_SIZE(vectors); i++) {
        g_autofree char *path = g_strdup_printf("/etrace/packet/vector/%s",
                                                vectors[i].name);

        g_test_add_data_func(path, &vectors[i], test_vector);
    }
    g_test_add_func("/etrace/packet/unpack-only", test_unpack_only);
    g_test_add_func("/etrace/packet/reject", test_reject);
    g_test_add_func("/etrace/packet/reject-too-long", test_reject_too_long);
    return g_test_run();
}
