/*
 * Sideband records, byte by byte as docs/system/riscv/etrace-sideband.rst
 * describes them
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "etrace-test.h"
#include "hw/trace/etrace/sideband.h"

static uint8_t out[ETRACE_SB_HEADER_SIZE + 8 + ETRACE_SB_PAGE_SIZE];
static const uint8_t *const payload = out + ETRACE_SB_HEADER_SIZE;

/* What was packed, as type | hart | length | payload; returns its length. */
static size_t check(size_t size, const char *want)
{
    g_autofree char *hex = etrace_test_hex(out, size);
    ETraceSbHeader header;

    g_assert_cmpstr(hex, ==, want);
    g_assert_true(etrace_sb_unpack_header(out, size, &header));
    g_assert_false(etrace_sb_unpack_header(out, size - 1, &header));
    g_assert_cmpuint(header.type, ==, etrace_sb_get(out, 2));
    g_assert_cmpuint(header.hart, ==, etrace_sb_get(out + 2, 2));
    g_assert_cmpuint(header.len, ==, size - ETRACE_SB_HEADER_SIZE);
    return header.len;
}

static void test_header(void)
{
    ETraceSbHeader header = { .type = 0x1234, .hart = 0x5678, .len = 0 };

    check(etrace_sb_pack_header(out, &header), "34 12 78 56 00 00 00 00");
    header.len = 0x9abcdef0;
    g_assert_cmpuint(etrace_sb_pack_header(out, &header), ==, 8);
    g_assert_cmphex(etrace_sb_get(out + 4, 4), ==, 0x9abcdef0);
    /* The payload is not there. */
    g_assert_false(etrace_sb_unpack_header(out, sizeof(out), &header));
    g_assert_false(etrace_sb_unpack_header(out, 7, &header));
}

static void test_session(void)
{
    ETraceSbSession in = {
        .major = 1, .minor = 5, .harts = 0x102, .number = 0x3040506,
        .trace_offset = 0x1122334455667788,
    }, got;
    size_t len = check(etrace_sb_pack_session(out, &in),
                       "01 00 ff ff 20 00 00 00 52 56 54 52 53 49 44 45 "
                       "01 00 05 00 02 01 00 00 06 05 04 03 00 00 00 00 "
                       "88 77 66 55 44 33 22 11");

    g_assert_true(etrace_sb_unpack_session(payload, len, &got));
    g_assert_cmpuint(got.major, ==, in.major);
    g_assert_cmpuint(got.minor, ==, in.minor);
    g_assert_cmpuint(got.harts, ==, in.harts);
    g_assert_cmpuint(got.number, ==, in.number);
    g_assert_cmphex(got.trace_offset, ==, in.trace_offset);
    g_assert_false(etrace_sb_unpack_session(payload, len - 1, &got));
    out[ETRACE_SB_HEADER_SIZE] ^= 1;
    g_assert_false(etrace_sb_unpack_session(payload, len, &got));
}

static void test_params(void)
{
    ETraceSbParams in = {
        .params = {
            .wire_format = 1, .iaddress_width = 2, .iaddress_lsb = 3,
            .privilege_width = 4, .ecause_width = 5, .time_width = 6,
            .context_width = 7, .call_counter_size = 8,
            .return_stack_size = 9, .bpred_size = 10, .cache_size = 11,
            .f0s_width = 12, .src_bits = 13, .ts_bytes = 14,
            .ts_hz = 0x4847464544434241, .src_id = 0x1615, .sijump = 0x21,
            .data_width = 0x22, .daddress_width = 0x23, .lrid_width = 0x24,
        },
        .mhartid = 0x8877665544332211, .isa = 0x44332211,
    }, got;
    size_t len = check(etrace_sb_pack_params(out, 5, &in),
                       "02 00 05 00 28 00 00 00 01 02 03 04 05 06 07 08 "
                       "09 0a 0b 0c 0d 0e 15 16 11 22 33 44 55 66 77 88 "
                       "11 22 33 44 21 22 23 24 41 42 43 44 45 46 47 48");

    g_assert_true(etrace_sb_unpack_params(payload, len, &got));
    g_assert_cmpmem(&got.params, sizeof(got.params), &in.params,
                    sizeof(in.params));
    g_assert_cmphex(got.mhartid, ==, in.mhartid);
    g_assert_cmphex(got.isa, ==, in.isa);
    /* as long as in a later version */
    g_assert_true(etrace_sb_unpack_params(payload, len + 1, &got));
    /* "what a shorter record does not hold is 0" */
    for (size_t n = 28; n < 32; n++) {
        g_assert_true(etrace_sb_unpack_params(payload, n, &got));
        g_assert_cmpuint(got.params.ts_bytes, ==, 14);
        g_assert_cmpuint(got.params.sijump, ==, 0);
        g_assert_cmpuint(got.params.data_width, ==, 0);
    }
    g_assert_false(etrace_sb_unpack_params(payload, 27, &got));
    g_assert_true(etrace_sb_unpack_params(payload, 39, &got));
    g_assert_cmpuint(got.params.lrid_width, ==, 0x24);
    g_assert_cmpuint(got.params.ts_hz, ==, 0);
}

static void test_code(void)
{
    const uint8_t *bytes;
    uint64_t pa;
    size_t n;
    size_t len = check(etrace_sb_pack_code(out, 0x80000ffc, "\1\2\3\4", 4),
                       "03 00 ff ff 0c 00 00 00 fc 0f 00 80 00 00 00 00 "
                       "01 02 03 04");

    g_assert_true(etrace_sb_unpack_code(payload, len, &pa, &bytes, &n));
    g_assert_cmphex(pa, ==, 0x80000ffc);
    g_assert_cmpmem(bytes, n, "\1\2\3\4", 4);
    /* half-words of one page */
    g_assert_false(etrace_sb_unpack_code(payload, 7, &pa, &bytes, &n));
    g_assert_false(etrace_sb_unpack_code(payload, len - 1, &pa, &bytes, &n));
    g_assert_false(etrace_sb_unpack_code(payload, len + 2, &pa, &bytes, &n));
    out[ETRACE_SB_HEADER_SIZE] |= 1;
    g_assert_false(etrace_sb_unpack_code(payload, len, &pa, &bytes, &n));
}

static void test_changes(void)
{
    ETraceSbPlace place = { .id = 3, .packets = 0x102 };
    uint64_t val;
    size_t len = check(etrace_sb_pack_fence(out, 2, 0x1234),
                       "04 00 02 00 08 00 00 00 34 12 00 00 00 00 00 00");

    g_assert_true(etrace_sb_unpack_u64(payload, len, &val));
    g_assert_cmphex(val, ==, 0x1234);
    g_assert_false(etrace_sb_unpack_u64(payload, len - 1, &val));
    check(etrace_sb_pack_change(out, 7),
          "05 00 ff ff 08 00 00 00 07 00 00 00 00 00 00 00");
    len = check(etrace_sb_pack_place(out, 1, &place),
                "06 00 01 00 10 00 00 00 03 00 00 00 00 00 00 00 "
                "02 01 00 00 00 00 00 00");
    place = (ETraceSbPlace) { };
    g_assert_true(etrace_sb_unpack_place(payload, len, &place));
    g_assert_cmphex(place.id, ==, 3);
    g_assert_cmphex(place.packets, ==, 0x102);
    g_assert_false(etrace_sb_unpack_place(payload, len - 1, &place));
}

static void test_spaces(void)
{
    ETraceSbSpace space = { .virt = true, .atp = 2, .gatp = 3 };
    ETraceSbMap map = { .virt = true, .va = 0x1000, .pa = 0x2000 };
    ETraceSbTvec tvec = { .priv = ETRACE_PRIV_VS, .value = 0x304 };
    size_t len = check(etrace_sb_pack_space(out, 1, &space),
                       "07 00 01 00 18 00 00 00 01 00 00 00 00 00 00 00 "
                       "02 00 00 00 00 00 00 00 03 00 00 00 00 00 00 00");

    space = (ETraceSbSpace) { };
    g_assert_true(etrace_sb_unpack_space(payload, len, &space));
    g_assert_true(space.virt);
    g_assert_cmphex(space.atp, ==, 2);
    g_assert_cmphex(space.gatp, ==, 3);
    g_assert_false(etrace_sb_unpack_space(payload, len - 1, &space));

    len = check(etrace_sb_pack_map(out, 1, &map),
                "08 00 01 00 18 00 00 00 01 00 00 00 00 00 00 00 "
                "00 10 00 00 00 00 00 00 00 20 00 00 00 00 00 00");
    map = (ETraceSbMap) { };
    g_assert_true(etrace_sb_unpack_map(payload, len, &map));
    g_assert_true(map.virt);
    g_assert_cmphex(map.va, ==, 0x1000);
    g_assert_cmphex(map.pa, ==, 0x2000);
    g_assert_false(etrace_sb_unpack_map(payload, len - 1, &map));

    check(etrace_sb_pack_reset(out, 1), "09 00 01 00 00 00 00 00");
    check(etrace_sb_pack_forget(out, 1), "0b 00 01 00 00 00 00 00");

    len = check(etrace_sb_pack_tvec(out, 1, &tvec),
                "0c 00 01 00 10 00 00 00 06 00 00 00 00 00 00 00 "
                "04 03 00 00 00 00 00 00");
    tvec = (ETraceSbTvec) { };
    g_assert_true(etrace_sb_unpack_tvec(payload, len, &tvec));
    g_assert_cmpuint(tvec.priv, ==, ETRACE_PRIV_VS);
    g_assert_cmphex(tvec.value, ==, 0x304);
    g_assert_false(etrace_sb_unpack_tvec(payload, len - 1, &tvec));
}

static void test_regs(void)
{
    ETraceSbRegs regs = { .pc = 0x8877665544332211, .priv = ETRACE_PRIV_VS,
                          .flags = ETRACE_SB_REGS_F }, got;
    size_t len;

    for (unsigned i = 0; i < 32; i++) {
        regs.x[i] = i * 0x0101010101010101;
        regs.f[i] = ~regs.x[i];
    }
    len = etrace_sb_pack_regs(out, 3, &regs) - ETRACE_SB_HEADER_SIZE;
    g_assert_cmpmem(out, 8, "\x13\0\3\0\x10\2\0\0", 8);
    g_assert_cmpuint(len, ==, 8 * (3 + 31 + 32));
    g_assert_true(etrace_sb_unpack_regs(payload, len, &got));
    g_assert_cmphex(got.pc, ==, regs.pc);
    g_assert_cmphex(got.priv, ==, regs.priv);
    g_assert_cmphex(got.flags, ==, regs.flags);
    g_assert_cmpmem(got.x, sizeof(got.x), regs.x, sizeof(regs.x));
    g_assert_cmpmem(got.f, sizeof(got.f), regs.f, sizeof(regs.f));
    g_assert_false(etrace_sb_unpack_regs(payload, len - 1, &got));
}

static void test_task(void)
{
    static const char *const names[] = { "", "sh", "fifteen letters",
                                         "sixteen letters!" };
    ETraceSbTask task = { .task = 0x8877665544332211, .tid = 0x01020304,
                          .tgid = 0x05060708, .comm = "awk",
                          .flags = ETRACE_SB_TASK_MACHINE }, got;
    size_t len = check(etrace_sb_pack_task(out, 3, &task),
                       "10 00 03 00 28 00 00 00 11 22 33 44 55 66 77 88 "
                       "04 03 02 01 08 07 06 05 61 77 6b 00 00 00 00 00 "
                       "00 00 00 00 00 00 00 00 01 00 00 00 00 00 00 00");

    g_assert_true(etrace_sb_unpack_task(payload, len, &got));
    g_assert_cmphex(got.task, ==, task.task);
    g_assert_cmphex(got.tid, ==, task.tid);
    g_assert_cmphex(got.tgid, ==, task.tgid);
    g_assert_cmpstr(got.comm, ==, "awk");
    g_assert_cmphex(got.flags, ==, ETRACE_SB_TASK_MACHINE);
    /* Before minor version 9 */
    g_assert_true(etrace_sb_unpack_task(payload, len - 8, &got));
    g_assert_cmpstr(got.comm, ==, "awk");
    g_assert_cmphex(got.flags, ==, 0);
    g_assert_false(etrace_sb_unpack_task(payload, len - 9, &got));
    g_assert_true(etrace_sb_unpack_task(payload, len + 1, &got));

    for (unsigned i = 0; i < ARRAY_SIZE(names); i++) {
        g_strlcpy(task.comm, names[i], sizeof(task.comm));
        etrace_sb_pack_task(out, 3, &task);
        g_assert_true(etrace_sb_unpack_task(payload, len, &got));
        g_assert_cmpstr(got.comm, ==, names[i]);
    }
    /* Nothing is behind the NUL that ends a name. */
    out[ETRACE_SB_HEADER_SIZE + 17] = 0;
    g_assert_true(etrace_sb_unpack_task(payload, len, &got));
    g_assert_cmpmem(got.comm, 17, "s\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
                    17);
}

static void test_note(void)
{
    const char *text;
    uint64_t kind;
    size_t n;
    size_t len = check(etrace_sb_pack_note(out, 1, ETRACE_SB_NOTE_MARK, "a b",
                                           3),
                       "11 00 01 00 0b 00 00 00 03 00 00 00 00 00 00 00 "
                       "61 20 62");

    g_assert_true(etrace_sb_unpack_note(payload, len, &kind, &text, &n));
    g_assert_cmpuint(kind, ==, ETRACE_SB_NOTE_MARK);
    g_assert_cmpmem(text, n, "a b", 3);
    g_assert_true(etrace_sb_unpack_note(payload, 8, &kind, &text, &n));
    g_assert_cmpuint(n, ==, 0);
    g_assert_false(etrace_sb_unpack_note(payload, 7, &kind, &text, &n));
}

static void test_trace(void)
{
    static const uint64_t packets[] = { 5, 6 };
    static const ETraceSbEnd ends[] = { { 1, 2, 3, 7 }, { 4, 5, 6, 8 } };
    ETraceSbOrigin origin = { .id = 1, .before = 2 };
    ETraceSbEnd end;
    uint64_t offset;
    size_t len = check(etrace_sb_pack_align(out, 0x20, packets, 2),
                       "0a 00 ff ff 18 00 00 00 20 00 00 00 00 00 00 00 "
                       "05 00 00 00 00 00 00 00 06 00 00 00 00 00 00 00");

    g_assert_true(etrace_sb_unpack_align(payload, len, 2, &offset));
    g_assert_cmphex(offset, ==, 0x20);
    g_assert_cmphex(etrace_sb_unpack_align_hart(payload, 1), ==, 6);
    g_assert_false(etrace_sb_unpack_align(payload, len, 3, &offset));

    len = check(etrace_sb_pack_origin(out, &origin),
                "0e 00 ff ff 10 00 00 00 01 00 00 00 00 00 00 00 "
                "02 00 00 00 00 00 00 00");
    origin = (ETraceSbOrigin) { };
    g_assert_true(etrace_sb_unpack_origin(payload, len, &origin));
    g_assert_cmphex(origin.id, ==, 1);
    g_assert_cmphex(origin.before, ==, 2);
    g_assert_false(etrace_sb_unpack_origin(payload, len - 1, &origin));

    len = check(etrace_sb_pack_end(out, 0x20, ends, 2),
                "0f 00 ff ff 48 00 00 00 20 00 00 00 00 00 00 00 "
                "01 00 00 00 00 00 00 00 02 00 00 00 00 00 00 00 "
                "03 00 00 00 00 00 00 00 04 00 00 00 00 00 00 00 "
                "05 00 00 00 00 00 00 00 06 00 00 00 00 00 00 00 "
                "07 00 00 00 00 00 00 00 08 00 00 00 00 00 00 00");
    g_assert_true(etrace_sb_unpack_end(payload, len, 2, &offset));
    g_assert_cmphex(offset, ==, 0x20);
    end = etrace_sb_unpack_end_hart(payload, len, 2, 1);
    g_assert_cmpuint(end.put, ==, 4);
    g_assert_cmpuint(end.lost, ==, 5);
    g_assert_cmpuint(end.lost_last, ==, 6);
    g_assert_cmpuint(end.ticks, ==, 8);
    /* before minor version 7 */
    g_assert_true(etrace_sb_unpack_end(payload, 56, 2, &offset));
    end = etrace_sb_unpack_end_hart(payload, 56, 2, 1);
    g_assert_cmpuint(end.lost_last, ==, 6);
    g_assert_cmpuint(end.ticks, ==, ETRACE_SB_TICKS_UNKNOWN);
    g_assert_false(etrace_sb_unpack_end(payload, 55, 2, &offset));
}

static void test_ram(void)
{
    static const uint64_t packets[] = { 5, 6 };
    static const uint8_t tail[] = { 7, 8, 9 };
    ETraceSbRam ram = {
        .bytes = 1, .start = 0x1000, .limit = 0x1ffc, .wp = 0x1800,
        .wrapped = true,
    }, got;
    size_t len = check(etrace_sb_pack_ram(out, &ram, 1, packets, 2, tail, 3),
                       "0d 00 01 00 33 00 00 00 01 00 00 00 00 00 00 00 "
                       "00 10 00 00 00 00 00 00 fc 1f 00 00 00 00 00 00 "
                       "01 18 00 00 00 00 00 00 05 00 00 00 00 00 00 00 "
                       "06 00 00 00 00 00 00 00 07 08 09");

    g_assert_true(etrace_sb_unpack_ram(payload, len, 2, &got));
    g_assert_cmphex(got.bytes, ==, ram.bytes);
    g_assert_cmphex(got.start, ==, ram.start);
    g_assert_cmphex(got.limit, ==, ram.limit);
    g_assert_cmphex(got.wp, ==, ram.wp);
    g_assert_true(got.wrapped);
    g_assert_cmphex(etrace_sb_unpack_ram_hart(payload, 0), ==, 5);
    g_assert_false(etrace_sb_unpack_ram(payload, len, 3, &got));
    /* trRamWP is in the ring. */
    for (unsigned i = 0; i < 2; i++) {
        ram.wp = i ? 0x2000 : 0xffc;
        etrace_sb_pack_ram(out, &ram, 1, packets, 2, tail, 3);
        g_assert_false(etrace_sb_unpack_ram(payload, len, 2, &got));
    }
}

/* The sum stands behind a whole tail, and only there. */
static void test_ram_sum(void)
{
    static const uint64_t packets[] = { 5 };
    static const uint8_t tail[ETRACE_SB_RAM_TAIL] = { 7 };
    ETraceSbRam ram = {
        .bytes = 0x800, .start = 0x1000, .limit = 0x1ffc, .wp = 0x1800,
        .summed = 0x400, .sum = 0x123456789abcdef0,
    }, got;
    size_t without = ETRACE_SB_HEADER_SIZE + ETRACE_SB_RAM_SIZE(1);
    size_t len = etrace_sb_pack_ram(out, &ram, 1, packets, 1, tail,
                                    sizeof(tail));

    g_assert_cmpuint(len, ==, without + ETRACE_SB_RAM_TAIL +
                              ETRACE_SB_RAM_SUM_SIZE);
    len -= ETRACE_SB_HEADER_SIZE;
    g_assert_true(etrace_sb_unpack_ram(payload, len, 1, &got));
    g_assert_cmphex(got.summed, ==, ram.summed);
    g_assert_cmphex(got.sum, ==, ram.sum);
    /* that of an older QEMU */
    g_assert_true(etrace_sb_unpack_ram(payload, len - 1, 1, &got));
    g_assert_cmphex(got.summed, ==, 0);
    len = etrace_sb_pack_ram(out, &ram, 1, packets, 1, tail, 63);
    g_assert_cmpuint(len, ==, without + 63);
    ram.summed = 0;
    len = etrace_sb_pack_ram(out, &ram, 1, packets, 1, tail, sizeof(tail));
    g_assert_cmpuint(len, ==, without + ETRACE_SB_RAM_TAIL);
    /* published values of FNV-1a */
    g_assert_cmphex(etrace_sb_sum((const uint8_t *)"", 0), ==,
                    0xcbf29ce484222325);
    g_assert_cmphex(etrace_sb_sum((const uint8_t *)"foobar", 6), ==,
                    0x85944171f73967e8);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/etrace/sideband/header", test_header);
    g_test_add_func("/etrace/sideband/session", test_session);
    g_test_add_func("/etrace/sideband/params", test_params);
    g_test_add_func("/etrace/sideband/code", test_code);
    g_test_add_func("/etrace/sideband/changes", test_changes);
    g_test_add_func("/etrace/sideband/spaces", test_spaces);
    g_test_add_func("/etrace/sideband/regs", test_regs);
    g_test_add_func("/etrace/sideband/task", test_task);
    g_test_add_func("/etrace/sideband/note", test_note);
    g_test_add_func("/etrace/sideband/trace", test_trace);
    g_test_add_func("/etrace/sideband/ram", test_ram);
    g_test_add_func("/etrace/sideband/ram-sum", test_ram_sum);
    return g_test_run();
}
