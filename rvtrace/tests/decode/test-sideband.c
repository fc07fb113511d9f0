/*
 * Sideband streams: sessions, and the section "Order" of etrace/sideband.h
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "tests/fixtures/check.h"
#include "tests/fixtures/sb-build.h"
#include "code/sideband-private.h"
#include "code/sideband.h"

#define CODE_AT     0x80000000ull
#define SV39(n)     (8ull << 60 | (n))

static const uint8_t old_code[2] = { 0x01, 0x00 };
static const uint8_t new_code[2] = { 0x82, 0x80 };

/* One session with @nr_harts harts and nothing in it */
static GByteArray *begin(unsigned nr_harts)
{
    GByteArray *sb = g_byte_array_new();
    ETraceParams params;

    etrace_params_init(&params, 64);
    sb_session(sb, 1, nr_harts, 0);
    for (unsigned i = 0; i < nr_harts; i++) {
        params.src_id = i;
        sb_params(sb, i, &params);
    }
    return sb;
}

static Sideband *parse(const GByteArray *sb)
{
    g_autoptr(GError) err = NULL;
    Sideband *s = sideband_parse(sb->data, sb->len, 0, &err);

    check_no_error(err);
    return s;
}

/* What the view has at @vaddr: 0 for nothing */
static unsigned fetch(SidebandView *view, unsigned priv, uint64_t vaddr)
{
    CodePage *page = sideband_view_page(view, priv, vaddr);
    unsigned off = vaddr & CODE_PAGE_MASK;

    return page && code_page_valid(page, off) ? code_page_half(page, off) : 0;
}

/* "Records that only add may be applied early." */
static void test_adding_is_early(void)
{
    g_autoptr(GByteArray) sb = begin(1);
    Sideband *s;
    SidebandView *view;

    sb_code(sb, CODE_AT, old_code, 2);
    s = parse(sb);
    view = sideband_view_new(s, 0);
    sideband_view_advance(view, 0);
    check_cmphex(fetch(view, ETRACE_PRIV_M, CODE_AT), ==, 0x0001);
    check_cmphex(fetch(view, ETRACE_PRIV_M, CODE_AT + 2), ==, 0);
    check_cmpuint(sideband_view_barrier(view), ==, UINT64_MAX);
    sideband_view_free(view);
    sideband_free(s);
}

/* "applies nothing behind this record before it has consumed that many" */
static void test_fence(void)
{
    g_autoptr(GByteArray) sb = begin(2);
    SidebandView *fenced, *other;
    Sideband *s;

    sb_code(sb, CODE_AT, old_code, 2);
    sb_fence(sb, 0, 3);
    sb_code(sb, CODE_AT, new_code, 2);
    s = parse(sb);
    fenced = sideband_view_new(s, 0);
    other = sideband_view_new(s, 1);

    for (uint64_t packets = 0; packets < 3; packets++) {
        sideband_view_advance(fenced, packets);
        check_cmphex(fetch(fenced, ETRACE_PRIV_M, CODE_AT), ==, 0x0001);
        check_cmpuint(sideband_view_barrier(fenced), ==, 3);
    }
    check_true(sideband_view_advance(fenced, 3));
    check_cmphex(fetch(fenced, ETRACE_PRIV_M, CODE_AT), ==, 0x8082);

    /* "Readers for other harts go on." */
    sideband_view_advance(other, 0);
    check_cmphex(fetch(other, ETRACE_PRIV_M, CODE_AT), ==, 0x8082);

    sideband_view_free(fenced);
    sideband_view_free(other);
    sideband_free(s);
}

/* CHANGE: "how many packets, that hart's PLACE says, which comes later" */
static void test_change(void)
{
    g_autoptr(GByteArray) sb = begin(4);
    SidebandView *views[4];
    Sideband *s;

    sb_code(sb, CODE_AT, old_code, 2);
    sb_change(sb, 77);
    sb_code(sb, CODE_AT, new_code, 2);
    sb_place(sb, 0, 77, 5);
    sb_place(sb, 1, 77, 9);
    sb_place(sb, 2, 76, 100);       /* of a change before */
    sb_place(sb, 3, 78, 7);         /* of one behind it */
    s = parse(sb);
    for (int i = 0; i < 4; i++) {
        views[i] = sideband_view_new(s, i);
    }

    sideband_view_advance(views[0], 4);
    check_cmphex(fetch(views[0], ETRACE_PRIV_M, CODE_AT), ==, 0x0001);
    sideband_view_advance(views[0], 5);
    check_cmphex(fetch(views[0], ETRACE_PRIV_M, CODE_AT), ==, 0x8082);
    sideband_view_advance(views[1], 8);
    check_cmphex(fetch(views[1], ETRACE_PRIV_M, CODE_AT), ==, 0x0001);
    sideband_view_advance(views[1], 9);
    check_cmphex(fetch(views[1], ETRACE_PRIV_M, CODE_AT), ==, 0x8082);
    /* "a hart without a PLACE ... has run nothing behind the change" */
    sideband_view_advance(views[2], 1000000);
    check_cmphex(fetch(views[2], ETRACE_PRIV_M, CODE_AT), ==, 0x0001);
    check_cmpuint(sideband_view_barrier(views[2]), ==, UINT64_MAX);
    /* what is behind a later change is behind this one */
    sideband_view_advance(views[3], 6);
    check_cmphex(fetch(views[3], ETRACE_PRIV_M, CODE_AT), ==, 0x0001);
    sideband_view_advance(views[3], 7);
    check_cmphex(fetch(views[3], ETRACE_PRIV_M, CODE_AT), ==, 0x8082);

    for (int i = 0; i < 4; i++) {
        sideband_view_free(views[i]);
    }
    sideband_free(s);
}

/*
 * "A reader waits at the first CODE behind a CHANGE that replaces known
 * bytes": recordings of QEMUs that let a hart add something between CHANGE and
 * its PLACE decode, too.
 */
static void test_change_adds(void)
{
    g_autoptr(GByteArray) sb = begin(1);
    SidebandView *view;
    Sideband *s;

    sb_code(sb, CODE_AT, old_code, 2);
    sb_space(sb, 0, false, SV39(1));
    sb_change(sb, 1);
    sb_code(sb, CODE_AT + 64, new_code, 2);
    sb_code(sb, CODE_AT, old_code, 2);
    sb_map(sb, 0, false, 0x10000, CODE_AT);
    sb_place(sb, 0, 1, 5);
    sb_code(sb, CODE_AT, new_code, 2);
    sb_code(sb, CODE_AT + 128, new_code, 2);
    s = parse(sb);
    view = sideband_view_new(s, 0);
    sideband_view_advance(view, 0);
    check_cmphex(fetch(view, ETRACE_PRIV_M, CODE_AT + 64), ==, 0x8082);
    check_cmphex(fetch(view, ETRACE_PRIV_U, 0x10000), ==, 0x0001);
    check_cmpuint(sideband_view_barrier(view), ==, 5);
    sideband_view_advance(view, 4);
    check_cmphex(fetch(view, ETRACE_PRIV_M, CODE_AT + 128), ==, 0);
    sideband_view_advance(view, 5);
    check_cmphex(fetch(view, ETRACE_PRIV_U, 0x10000), ==, 0x8082);
    check_cmphex(fetch(view, ETRACE_PRIV_M, CODE_AT + 128), ==, 0x8082);
    sideband_view_free(view);
    sideband_free(s);
}

/* The same id twice is no sense, but no harm, either: the last one counts. */
static void test_place_twice(void)
{
    g_autoptr(GByteArray) sb = begin(1);
    SidebandView *view;
    Sideband *s;

    sb_code(sb, CODE_AT, old_code, 2);
    sb_change(sb, 1);
    sb_code(sb, CODE_AT, new_code, 2);
    sb_place(sb, 0, 1, 3);
    sb_place(sb, 0, 1, 5);
    s = parse(sb);
    view = sideband_view_new(s, 0);
    sideband_view_advance(view, 4);
    check_cmphex(fetch(view, ETRACE_PRIV_M, CODE_AT), ==, 0x0001);
    sideband_view_advance(view, 5);
    check_cmphex(fetch(view, ETRACE_PRIV_M, CODE_AT), ==, 0x8082);
    sideband_view_free(view);
    sideband_free(s);
}

/* A map "holds for the space, again when the hart returns to it". */
static void test_spaces(void)
{
    g_autoptr(GByteArray) sb = begin(1);
    const uint64_t vaddr = 0x10000;
    SidebandView *view;
    unsigned first, second;
    Sideband *s;

    sb_code(sb, CODE_AT, old_code, 2);
    sb_code(sb, CODE_AT + 0x1000, new_code, 2);
    sb_space(sb, 0, false, SV39(1));
    sb_map(sb, 0, false, vaddr, CODE_AT);
    sb_fence(sb, 0, 1);
    sb_space(sb, 0, false, SV39(2));
    sb_map(sb, 0, false, vaddr, CODE_AT + 0x1000);
    sb_fence(sb, 0, 2);
    sb_space(sb, 0, false, SV39(1));
    s = parse(sb);
    view = sideband_view_new(s, 0);

    sideband_view_advance(view, 0);
    first = sideband_view_space(view, ETRACE_PRIV_U);
    check_cmpuint(first, !=, 0);
    check_cmphex(fetch(view, ETRACE_PRIV_U, vaddr), ==, 0x0001);
    check_cmphex(fetch(view, ETRACE_PRIV_S, vaddr), ==, 0x0001);
    /* "M mode always physical" */
    check_cmphex(fetch(view, ETRACE_PRIV_M, vaddr), ==, 0);
    check_cmphex(fetch(view, ETRACE_PRIV_M, CODE_AT), ==, 0x0001);
    check_cmpuint(sideband_view_space(view, ETRACE_PRIV_M), ==, 0);
    /* the other stage has no map of that page */
    check_cmphex(fetch(view, ETRACE_PRIV_VS, vaddr), ==, 0);

    sideband_view_advance(view, 1);
    second = sideband_view_space(view, ETRACE_PRIV_U);
    check_cmpuint(second, !=, first);
    check_cmphex(fetch(view, ETRACE_PRIV_U, vaddr), ==, 0x8082);

    sideband_view_advance(view, 2);
    check_cmpuint(sideband_view_space(view, ETRACE_PRIV_U), ==, first);
    check_cmphex(fetch(view, ETRACE_PRIV_U, vaddr), ==, 0x0001);

    sideband_view_free(view);
    sideband_free(s);
}

/* Nothing of the part before is known, but spaces keep their numbers. */
static void test_restart(void)
{
    g_autoptr(GByteArray) one = begin(1);
    g_autoptr(GByteArray) two = begin(1);
    Sideband *first, *second;
    unsigned space1, space2;
    SidebandView *view;
    uint64_t xtvec;

    sb_code(one, CODE_AT, old_code, 2);
    sb_u64s(one, ETRACE_SB_TVEC, 0, 2, (uint64_t)ETRACE_PRIV_M, CODE_AT);
    sb_space(one, 0, false, SV39(1));
    sb_map(one, 0, false, 0x10000, CODE_AT);
    sb_fence(one, 0, 1);
    sb_space(one, 0, false, SV39(2));
    sb_fence(one, 0, 100);
    first = parse(one);
    sb_code(two, CODE_AT + 0x1000, new_code, 2);
    sb_fence(two, 0, 1);
    sb_space(two, 0, false, SV39(2));
    sb_fence(two, 0, 2);
    sb_space(two, 0, false, SV39(1));
    second = parse(two);

    view = sideband_view_new(first, 0);
    sideband_view_advance(view, 0);
    space1 = sideband_view_space(view, ETRACE_PRIV_U);
    sideband_view_advance(view, 1);
    space2 = sideband_view_space(view, ETRACE_PRIV_U);
    sideband_view_advance(view, 50);
    check_cmpuint(sideband_view_barrier(view), ==, 100);
    check_true(sideband_view_tvec(view, ETRACE_PRIV_M, &xtvec));

    sideband_view_restart(view, second);
    sideband_view_advance(view, 0);
    check_cmpuint(sideband_view_barrier(view), ==, 1);
    check_cmphex(fetch(view, ETRACE_PRIV_M, CODE_AT), ==, 0);
    check_cmphex(fetch(view, ETRACE_PRIV_M, CODE_AT + 0x1000), ==, 0x8082);
    check_cmpuint(sideband_view_space(view, ETRACE_PRIV_U), ==, 0);
    check_false(sideband_view_tvec(view, ETRACE_PRIV_M, &xtvec));
    sideband_view_advance(view, 1);
    check_cmpuint(sideband_view_space(view, ETRACE_PRIV_U), ==, space2);
    sideband_view_advance(view, 2);
    check_cmpuint(sideband_view_space(view, ETRACE_PRIV_U), ==, space1);
    check_cmphex(fetch(view, ETRACE_PRIV_U, 0x10000), ==, 0);

    sideband_view_free(view);
    sideband_free(first);
    sideband_free(second);
}

/* What the view says of the task, as text; its serial into @serial */
static char *task_of(const SidebandView *view, uint64_t *serial)
{
    SidebandTask task;
    bool known = sideband_view_task(view, &task);

    *serial = task.serial;
    return known ? g_strdup_printf("%" PRIx64 " %u %u %s", task.task, task.tid,
                                   task.tgid, task.comm) : g_strdup("none");
}

#define CHECK_TASK(want, serial) do {                                       \
        g_autofree char *is_ = task_of(view, &(serial));                    \
                                                                            \
        check_cmpstr(is_, ==, want);                                        \
    } while (0)

/* The last TASK holds, until RESET; its number changes with what it says. */
static void test_task(void)
{
    g_autoptr(GByteArray) one = begin(2);
    g_autoptr(GByteArray) two = begin(2);
    uint64_t serial[8];
    SidebandView *view;
    Sideband *s, *next;

    sb_fence(one, 0, 1);
    sb_task(one, 0, 0x1000, 5, "sh");
    sb_task(one, 1, 0x2000, 6, "other");
    sb_record(one, ETRACE_SB_TASK, 0, "too short", 9);
    sb_fence(one, 0, 2);
    sb_task(one, 0, 0x1000, 5, "sh");
    sb_fence(one, 0, 3);
    sb_task(one, 0, 0x1000, 5, "sixteen letters!");
    sb_record(one, ETRACE_SB_FORGET, 0, NULL, 0);
    sb_fence(one, 0, 4);
    sb_record(one, ETRACE_SB_RESET, 0, NULL, 0);
    sb_fence(one, 0, 5);
    sb_task(one, 0, 0x1000, 5, "sixteen letters!");
    s = parse(one);
    next = parse(two);

    view = sideband_view_new(s, 0);
    sideband_view_advance(view, 0);
    CHECK_TASK("none", serial[0]);
    check_cmpuint(serial[0], ==, 0);
    sideband_view_advance(view, 1);
    CHECK_TASK("1000 5 5 sh", serial[1]);
    sideband_view_advance(view, 2);
    CHECK_TASK("1000 5 5 sh", serial[2]);
    check_cmpuint(serial[2], ==, serial[1]);
    sideband_view_advance(view, 3);
    CHECK_TASK("1000 5 5 sixteen letters!", serial[2]);
    sideband_view_advance(view, 4);
    CHECK_TASK("none", serial[3]);
    sideband_view_advance(view, 5);
    CHECK_TASK("1000 5 5 sixteen letters!", serial[4]);
    sideband_view_restart(view, next);
    CHECK_TASK("none", serial[5]);
    for (int i = 0; i < 6; i++) {
        for (int k = 0; k < i; k++) {
            check_cmpuint(serial[i], !=, serial[k]);
        }
    }

    sideband_view_free(view);
    sideband_free(s);
    sideband_free(next);
}

/* Who ran a task before, and where it left it */
static void test_moved(void)
{
    enum { NOT_MOVED = -2, NOT_LEFT = -1 };
    /* @left: the task that took its place on @from */
    static const struct {
        unsigned hart, tid;
        int left;
        unsigned from;
    } tasks[] = {
        { 0, 5, NOT_MOVED }, { 0, 6, NOT_MOVED }, { 0, 5, NOT_MOVED },
        { 1, 6, 2, 0 },
        { 0, 0, NOT_MOVED }, { 1, 0, NOT_MOVED }, { 0, 0, NOT_MOVED },
        { 0, 6, 5, 1 },
        { 0, 5, NOT_MOVED }, { 0, 6, NOT_MOVED },
        { 1, 5, 9, 0 },
        { 1, 6, NOT_LEFT, 0 },
        { 0, 5, 11, 1 },
        { 0, 6, NOT_LEFT, 1 },
    };
    g_autoptr(GByteArray) sb = begin(2);
    uint64_t at[ARRAY_SIZE(tasks)];
    g_autoptr(GArray) moves = NULL;
    Sideband *s;
    guint n = 0;

    for (unsigned i = 0; i < ARRAY_SIZE(tasks); i++) {
        at[i] = sideband_in_part(1, sb->len);
        sb_task(sb, tasks[i].hart, 0x1000 * tasks[i].tid, tasks[i].tid, "sh");
    }
    /* The other hart goes on when one is reset, and knows nothing of it. */
    sb_record(sb, ETRACE_SB_RESET, 0, NULL, 0);
    sb_task(sb, 1, 0x6000, 6, "sh");
    s = parse(sb);
    moves = sideband_moves((const Sideband *const []) { NULL, s }, 2, 2);
    for (unsigned i = 0; i < ARRAY_SIZE(tasks); i++) {
        const SidebandMove *m = &g_array_index(moves, SidebandMove, n);

        if (tasks[i].left == NOT_MOVED) {
            continue;
        }
        check_cmpuint(moves->len, >, n++);
        check_cmpuint(m->tid, ==, tasks[i].tid);
        check_cmpuint(m->from, ==, tasks[i].from);
        check_cmpuint(m->to, ==, tasks[i].hart);
        check_cmpuint(m->came, ==, at[i]);
        check_cmpuint(m->left, ==, tasks[i].left == NOT_LEFT ? 0 :
                                   at[tasks[i].left]);
    }
    check_cmpuint(moves->len, ==, n);
    sideband_free(s);
}

/*
 * A space has the same number in each view, whichever hart uses it first, and
 * though one of them has left the first part before it came to all of its
 * records.
 */
static void test_numbers(void)
{
    static const struct {
        unsigned part, hart;
        uint64_t atp;
    } spaces[] = {
        { 0, 0, SV39(1) }, { 0, 1, SV39(2) }, { 0, 0, SV39(3) }, { 0, 1, 0 },
        { 0, 1, SV39(1) }, { 0, 0, SV39(2) }, { 0, 1, SV39(4) },
        { 1, 0, SV39(5) }, { 1, 1, SV39(5) }, { 2, 0, SV39(4) },
        { 2, 1, SV39(3) }, { 3, 1, SV39(4) }, { 3, 0, SV39(3) },
    };
    SidebandView *view[2] = { NULL, NULL };
    unsigned number[2][4];
    GByteArray *bytes[4];
    Sideband *parts[4];

    for (unsigned part = 0; part < 4; part++) {
        GByteArray *sb = bytes[part] = begin(2);

        for (unsigned i = 0; i < ARRAY_SIZE(spaces); i++) {
            if (spaces[i].part == part) {
                sb_space(sb, spaces[i].hart, false, spaces[i].atp);
            }
            if (!part && i == 2) {
                sb_fence(sb, 0, 100);
            }
        }
        parts[part] = parse(sb);
        for (unsigned hart = 0; hart < 2; hart++) {
            if (part) {
                sideband_view_restart(view[hart], parts[part]);
            } else {
                view[hart] = sideband_view_new(parts[part], hart);
            }
            sideband_view_advance(view[hart], 1);
            number[hart][part] = sideband_view_space(view[hart],
                                                     ETRACE_PRIV_U);
        }
    }
    /* Hart 0 has stopped at its fence. */
    check_cmpuint(number[0][0], ==, number[1][2]);
    check_cmpuint(number[1][0], ==, number[0][2]);
    check_cmpuint(number[0][1], ==, number[1][1]);
    check_cmpuint(number[0][2], ==, number[1][3]);
    check_cmpuint(number[1][2], ==, number[0][3]);
    check_cmpuint(number[0][1], !=, number[0][2]);
    check_cmpuint(number[0][2], !=, number[0][3]);
    for (unsigned i = 0; i < 2; i++) {
        sideband_view_free(view[i]);
    }
    for (unsigned part = 0; part < 4; part++) {
        sideband_free(parts[part]);
        g_byte_array_unref(bytes[part]);
    }
}

/* Notes are handed out once, in order, those of all harts to each. */
static void test_notes(void)
{
    static const struct {
        unsigned hart, kind;
        const char *text;
        uint64_t fence;
    } notes[] = {
        { ETRACE_SB_ALL_HARTS, ETRACE_SB_NOTE_TEXT, "first", 0 },
        { 0, ETRACE_SB_NOTE_BEGIN, "it", 1 },
        { 1, ETRACE_SB_NOTE_BEGIN, "it", 1 },
        { 0, ETRACE_SB_NOTE_END, "", 2 },
        { 0, 1000, "of a later version", 2 },
        { 7, ETRACE_SB_NOTE_MARK, "no such hart", 2 },
        { ETRACE_SB_ALL_HARTS, ETRACE_SB_NOTE_TEXT, "last", 0 },
    };
    static const char *const want[] = { "4 first", "1 it", "2 ",
                                        "1000 of a later version", "4 last" };
    g_autoptr(GByteArray) sb = begin(2);
    SidebandView *view;
    unsigned n = 0;
    Sideband *s;

    for (unsigned i = 0; i < ARRAY_SIZE(notes); i++) {
        uint8_t out[ETRACE_SB_HEADER_SIZE + 64];

        if (notes[i].fence) {
            sb_fence(sb, notes[i].hart, notes[i].fence);
        }
        g_byte_array_append(sb, out,
                            etrace_sb_pack_note(out, notes[i].hart,
                                                notes[i].kind, notes[i].text,
                                                strlen(notes[i].text)));
    }
    sb_record(sb, ETRACE_SB_NOTE, 0, "short", 5);
    s = parse(sb);
    view = sideband_view_new(s, 0);
    for (uint64_t packets = 0; packets < 3; packets++) {
        SidebandNote note;

        sideband_view_advance(view, packets);
        while (sideband_view_next_note(view, &note)) {
            g_autofree char *is =
                g_strdup_printf("%" PRIu64 " %.*s", note.kind,
                                (int)note.len, note.text);

            check_cmpstr(is, ==, want[n++]);
            check_true(note.all_harts == (note.kind == 4));
        }
        check_cmpuint(n, ==, packets == 0 ? 1 : packets == 1 ? 2 : 5);
    }
    sideband_view_free(view);
    sideband_free(s);
}

static void sb_regs(GByteArray *sb, unsigned hart, uint64_t pc)
{
    ETraceSbRegs regs = { .pc = pc, .x = { [10] = pc + 1 } };
    uint8_t out[ETRACE_SB_HEADER_SIZE + ETRACE_SB_REGS_SIZE];

    g_byte_array_append(sb, out, etrace_sb_pack_regs(out, hart, &regs));
}

/* "without it, the next window goes on where the one before has ended" */
static void test_gaps(void)
{
    g_autoptr(GByteArray) sb = begin(2);
    const ETraceSbRegs *regs;
    SidebandView *view;
    Sideband *s;

    sb_fence(sb, 0, 2);
    sb_regs(sb, 0, 100);
    sb_fence(sb, 0, 5);
    sb_u64s(sb, ETRACE_SB_GAP, 1, 1, (uint64_t)2);  /* another hart's */
    sb_fence(sb, 0, 9);
    sb_regs(sb, 0, 200);
    sb_u64s(sb, ETRACE_SB_GAP, 0, 1, (uint64_t)9);
    sb_u64s(sb, ETRACE_SB_GAP, 0, 1, (uint64_t)5);  /* out of order */
    sb_record(sb, ETRACE_SB_GAP, 0, "short", 5);
    sb_record(sb, ETRACE_SB_REGS, 0, "short", 5);
    s = parse(sb);
    view = sideband_view_new(s, 0);

    check_true(sideband_has_gaps(s));
    sideband_view_advance(view, 0);
    check_true(sideband_view_fenced(view, 2));
    check_true(!sideband_view_registers(view, 0));
    sideband_view_advance(view, 2);
    regs = sideband_view_registers(view, 2);
    check_true(regs);
    check_cmpuint(regs->pc, ==, 100);
    check_cmpuint(regs->x[10], ==, 101);
    check_true(!sideband_view_fenced(view, 5));     /* GAP */
    sideband_view_advance(view, 5);
    check_true(!sideband_view_registers(view, 5));
    sideband_view_advance(view, 9);
    check_true(!sideband_view_registers(view, 9));   /* GAP */

    /* Nor any more where the stream begins anew */
    sideband_view_advance(view, 20);
    sideband_view_restart(view, s);
    check_true(!sideband_view_registers(view, 9));
    sideband_view_free(view);
    sideband_free(s);
}

/* "Before the first: bare (addresses are physical)." */
static void test_bare(void)
{
    g_autoptr(GByteArray) sb = begin(1);
    SidebandView *view;
    Sideband *s;

    sb_code(sb, CODE_AT, old_code, 2);
    s = parse(sb);
    view = sideband_view_new(s, 0);
    sideband_view_advance(view, 0);
    check_cmphex(fetch(view, ETRACE_PRIV_S, CODE_AT), ==, 0x0001);
    sideband_view_free(view);
    sideband_free(s);
}

/* PARAMS of minor version 1 has more than that of minor version 0. */
static void test_params(void)
{
    for (unsigned size = 28; size <= 36; size += 4) {
        g_autoptr(GByteArray) sb = g_byte_array_new();
        uint8_t p[36] = {
            0, 64, 1, 3, 6, 40, 32, 2, 5, 10, 7, 1, 8, 5, 0xab, 0,
            [16] = 3, [24] = 1, [28] = 1, 64, 48, 4, 0xff, 0xff, 0xff, 0xff,
        };
        const ETraceParams *params;
        Sideband *s;

        sb_session(sb, 1, 1, 0);
        sb_record(sb, ETRACE_SB_PARAMS, 0, p, size);
        s = parse(sb);
        params = &sideband_hart(s, 0)->params;
        check_cmpuint(sideband_hart(s, 0)->mhartid, ==, 3);
        check_cmpuint(params->time_width, ==, 40);
        check_cmpuint(params->cache_size, ==, 7);
        check_cmpuint(params->ts_bytes, ==, 5);
        check_cmpuint(params->src_id, ==, 0xab);
        check_cmpuint(params->sijump, ==, size >= 32 ? 1 : 0);
        check_cmpuint(params->data_width, ==, size >= 32 ? 64 : 0);
        check_cmpuint(params->daddress_width, ==, size >= 32 ? 48 : 0);
        check_cmpuint(params->lrid_width, ==, size >= 32 ? 4 : 0);
        sideband_free(s);
    }
}

/* satp's mode is bit 31 on RV32. */
static void test_rv32_mode(void)
{
    g_autoptr(GByteArray) sb = g_byte_array_new();
    ETraceParams params;
    SidebandView *view;
    Sideband *s;

    etrace_params_init(&params, 32);
    sb_session(sb, 1, 1, 0);
    sb_params(sb, 0, &params);
    sb_code(sb, CODE_AT, old_code, 2);
    sb_space(sb, 0, false, 0x7fffffff);
    sb_fence(sb, 0, 1);
    sb_space(sb, 0, false, 0x80000000);
    s = parse(sb);
    view = sideband_view_new(s, 0);
    sideband_view_advance(view, 0);
    check_cmphex(fetch(view, ETRACE_PRIV_S, CODE_AT), ==, 0x0001);
    sideband_view_advance(view, 1);
    check_cmphex(fetch(view, ETRACE_PRIV_S, CODE_AT), ==, 0);
    sideband_view_free(view);
    sideband_free(s);
}

/* RESET: "its spaces are bare again and its maps forgotten" */
static void test_reset(void)
{
    g_autoptr(GByteArray) sb = begin(1);
    SidebandView *view;
    SidebandNote note;
    Sideband *s;

    sb_code(sb, CODE_AT, old_code, 2);
    sb_space(sb, 0, false, SV39(1));
    sb_map(sb, 0, false, 0x10000, CODE_AT);
    sb_fence(sb, 0, 1);
    sb_record(sb, ETRACE_SB_RESET, 0, NULL, 0);
    sb_fence(sb, 0, 2);
    sb_space(sb, 0, false, SV39(1));
    s = parse(sb);
    view = sideband_view_new(s, 0);
    sideband_view_advance(view, 0);
    check_cmphex(fetch(view, ETRACE_PRIV_S, 0x10000), ==, 0x0001);
    check_false(sideband_view_next_note(view, &note));
    sideband_view_advance(view, 1);
    check_cmphex(fetch(view, ETRACE_PRIV_S, 0x10000), ==, 0);
    check_cmphex(fetch(view, ETRACE_PRIV_S, CODE_AT), ==, 0x0001);
    /* It says so, between what ran before it and behind it. */
    check_true(sideband_view_next_note(view, &note));
    check_cmpuint(note.kind, ==, SIDEBAND_NOTE_RESET);
    check_false(sideband_view_next_note(view, &note));
    sideband_view_advance(view, 2);
    check_cmphex(fetch(view, ETRACE_PRIV_S, 0x10000), ==, 0);
    sideband_view_free(view);
    sideband_free(s);
}

/* FORGET: "The hart's mappings are forgotten, its spaces stay" */
static void test_forget(void)
{
    g_autoptr(GByteArray) sb = begin(2);
    SidebandView *view, *other;
    Sideband *s;

    sb_code(sb, CODE_AT, old_code, 2);
    for (unsigned i = 0; i < 2; i++) {
        sb_space(sb, i, false, SV39(1));
        sb_map(sb, i, false, 0x10000, CODE_AT);
    }
    sb_fence(sb, 0, 1);
    sb_record(sb, ETRACE_SB_FORGET, 0, NULL, 0);
    sb_map(sb, 0, false, 0x20000, CODE_AT);
    s = parse(sb);
    view = sideband_view_new(s, 0);
    other = sideband_view_new(s, 1);
    sideband_view_advance(view, 1);
    sideband_view_advance(other, 1);
    check_cmphex(fetch(view, ETRACE_PRIV_S, 0x10000), ==, 0);
    check_cmphex(fetch(view, ETRACE_PRIV_S, 0x20000), ==, 0x0001);
    check_cmphex(fetch(other, ETRACE_PRIV_S, 0x10000), ==, 0x0001);
    sideband_view_free(view);
    sideband_view_free(other);
    sideband_free(s);
}

/* Decoded instructions must not outlive the bytes that they came from. */
static void test_code_changes(void)
{
    g_autoptr(GByteArray) sb = begin(1);
    static const uint8_t nop_ret[] = { 0x01, 0x00, 0x82, 0x80 };
    static const uint8_t ret[] = { 0x82, 0x80 };
    InsnIsa isa = { .xlen = 64 };
    SidebandView *view;
    CodePage *page;
    Sideband *s;

    sb_code(sb, CODE_AT, nop_ret, sizeof(nop_ret));
    sb_fence(sb, 0, 1);
    sb_code(sb, CODE_AT, ret, sizeof(ret));
    s = parse(sb);
    view = sideband_view_new(s, 0);
    sideband_view_advance(view, 0);
    page = sideband_view_page(view, ETRACE_PRIV_M, CODE_AT);
    check_cmpuint(code_page_line(page, &isa, 0)->count, ==, 2);
    sideband_view_advance(view, 1);
    check_true(page == sideband_view_page(view, ETRACE_PRIV_M, CODE_AT));
    check_cmpuint(code_page_line(page, &isa, 0)->count, ==, 1);
    sideband_view_free(view);
    sideband_free(s);
}

/* "A session starts: forget everything before." */
static void test_sessions(void)
{
    g_autoptr(GByteArray) sb = begin(1);
    g_autoptr(GError) err = NULL;
    ETraceParams params;
    uint64_t start, end;
    SidebandView *view;
    Sideband *s;

    sb_code(sb, CODE_AT, old_code, 2);
    etrace_params_init(&params, 64);
    sb_session(sb, 2, 1, 1000);
    sb_params(sb, 0, &params);
    sb_code(sb, CODE_AT + 2, new_code, 2);

    s = parse(sb);                  /* the last one */
    check_cmpuint(sideband_session(s), ==, 2);
    sideband_trace_range(s, &start, &end);
    check_cmpuint(start, ==, 1000);
    check_cmpuint(end, ==, UINT64_MAX);
    view = sideband_view_new(s, 0);
    sideband_view_advance(view, 0);
    check_cmphex(fetch(view, ETRACE_PRIV_M, CODE_AT), ==, 0);
    check_cmphex(fetch(view, ETRACE_PRIV_M, CODE_AT + 2), ==, 0x8082);
    sideband_view_free(view);
    sideband_free(s);

    s = sideband_parse(sb->data, sb->len, 1, &err);
    check_no_error(err);
    sideband_trace_range(s, &start, &end);
    check_cmpuint(start, ==, 0);
    check_cmpuint(end, ==, 1000);
    view = sideband_view_new(s, 0);
    sideband_view_advance(view, 0);
    check_cmphex(fetch(view, ETRACE_PRIV_M, CODE_AT), ==, 0x0001);
    check_cmphex(fetch(view, ETRACE_PRIV_M, CODE_AT + 2), ==, 0);
    sideband_view_free(view);
    sideband_free(s);

    check_null(sideband_parse(sb->data, sb->len, 3, &err));
    check_nonnull(strstr(err->message, "no session 3"));
}

/* "A reader skips types that it does not know." */
static void test_unknown_type(void)
{
    g_autoptr(GByteArray) sb = begin(1);
    SidebandView *view;
    Sideband *s;

    sb_record(sb, 4711, 0, "whatever", 8);
    sb_code(sb, CODE_AT, old_code, 2);
    s = parse(sb);
    view = sideband_view_new(s, 0);
    sideband_view_advance(view, 0);
    check_cmphex(fetch(view, ETRACE_PRIV_M, CODE_AT), ==, 0x0001);
    check_null(sideband_problem(s));
    sideband_view_free(view);
    sideband_free(s);
}

static void test_align_lookup(void)
{
    g_autoptr(GByteArray) sb = begin(2);
    uint64_t packets;
    Sideband *s;

    for (uint64_t i = 1; i <= 5; i++) {
        sb_u64s(sb, ETRACE_SB_ALIGN, ETRACE_SB_ALL_HARTS, 3, i * 100, i * 7,
                i * 9);
    }
    s = parse(sb);
    check_true(sideband_align_lookup(s, 300, 0, &packets));
    check_cmpuint(packets, ==, 21);
    check_true(sideband_align_lookup(s, 500, 1, &packets));
    check_cmpuint(packets, ==, 45);
    check_false(sideband_align_lookup(s, 301, 0, &packets));
    check_false(sideband_align_lookup(s, 0, 0, &packets));
    check_false(sideband_align_lookup(s, 1000, 0, &packets));
    sideband_free(s);
}

static void expect_error(const uint8_t *data, size_t len, const char *what)
{
    g_autoptr(GError) err = NULL;

    check_null(sideband_parse(data, len, 0, &err));
    check_nonnull(strstr(err->message, what));
}

static void test_bad_streams(void)
{
    g_autoptr(GByteArray) sb = begin(1);
    g_autoptr(GByteArray) bad = g_byte_array_new();
    ETraceParams params;

    expect_error(NULL, 0, "not a sideband stream");
    expect_error((const uint8_t *)"\x7f" "ELF............", 16,
                 "not a sideband stream");

    g_byte_array_append(bad, sb->data, sb->len);
    bad->data[ETRACE_SB_HEADER_SIZE + 8] = 2;
    expect_error(bad->data, bad->len, "version 2");

    g_byte_array_set_size(bad, 0);
    sb_session(bad, 1, 0, 0);
    expect_error(bad->data, bad->len, "0 harts");

    g_byte_array_set_size(bad, 0);
    sb_session(bad, 1, 1, 0);
    etrace_params_init(&params, 64);
    params.iaddress_width = 48;
    sb_params(bad, 0, &params);
    expect_error(bad->data, bad->len, "parameters");
}

/* A stream that is cut off is good up to there. */
static void test_cut_off(void)
{
    g_autoptr(GByteArray) sb = begin(1);
    SidebandView *view;
    Sideband *s;

    sb_code(sb, CODE_AT, old_code, 2);
    sb_code(sb, CODE_AT + 2, new_code, 2);
    g_byte_array_set_size(sb, sb->len - 1);
    s = parse(sb);
    check_nonnull(strstr(sideband_problem(s), "cut off"));
    view = sideband_view_new(s, 0);
    sideband_view_advance(view, 0);
    check_cmphex(fetch(view, ETRACE_PRIV_M, CODE_AT), ==, 0x0001);
    check_cmphex(fetch(view, ETRACE_PRIV_M, CODE_AT + 2), ==, 0);
    sideband_view_free(view);
    sideband_free(s);
}

/* "not crossing a 4 KiB page" */
static void test_bad_code(void)
{
    g_autoptr(GByteArray) sb = begin(1);
    SidebandView *view;
    Sideband *s;

    sb_code(sb, CODE_AT + 0xffe, "\x13\x00\x00\x00", 4);
    sb_code(sb, CODE_AT + 1, new_code, 2);
    sb_record(sb, ETRACE_SB_CODE, ETRACE_SB_ALL_HARTS, "1234567", 7);
    s = parse(sb);
    view = sideband_view_new(s, 0);
    sideband_view_advance(view, 0);
    check_cmphex(fetch(view, ETRACE_PRIV_M, CODE_AT + 0xffe), ==, 0);
    check_cmphex(fetch(view, ETRACE_PRIV_M, CODE_AT), ==, 0);
    check_nonnull(strstr(sideband_problem(s), "malformed record"));
    sideband_view_free(view);
    sideband_free(s);
}

/* What a hart needs is made for those that the stream mentions. */
static void test_many_harts(void)
{
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    g_autoptr(GError) err = NULL;
    g_autoptr(Sideband) sb = NULL;
    ETraceParams params;
    SidebandView *view;

    etrace_params_init(&params, 64);
    sb_session(bytes, 1, 4096, 0);
    sb_params(bytes, 7, &params);
    sb_place(bytes, 7, 1, 10);
    sb_change(bytes, 1);
    sb = sideband_parse(bytes->data, bytes->len, 0, &err);
    check_no_error(err);
    for (unsigned i = 0; i < 4096; i++) {
        check_cmpint(sb->places[i] != NULL, ==, i == 7);
        check_cmpint(sideband_hart(sb, i)->present, ==, i == 7);
    }
    view = sideband_view_new(sb, 8);
    sideband_view_advance(view, 0);
    check_cmphex(sideband_view_barrier(view), ==, UINT64_MAX);
    sideband_view_free(view);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/sideband/adding-is-early", test_adding_is_early);
    g_test_add_func("/sideband/fence", test_fence);
    g_test_add_func("/sideband/change", test_change);
    g_test_add_func("/sideband/change-adds", test_change_adds);
    g_test_add_func("/sideband/place-twice", test_place_twice);
    g_test_add_func("/sideband/spaces", test_spaces);
    g_test_add_func("/sideband/restart", test_restart);
    g_test_add_func("/sideband/task", test_task);
    g_test_add_func("/sideband/moved", test_moved);
    g_test_add_func("/sideband/numbers", test_numbers);
    g_test_add_func("/sideband/notes", test_notes);
    g_test_add_func("/sideband/gaps", test_gaps);
    g_test_add_func("/sideband/bare", test_bare);
    g_test_add_func("/sideband/params", test_params);
    g_test_add_func("/sideband/rv32-mode", test_rv32_mode);
    g_test_add_func("/sideband/reset", test_reset);
    g_test_add_func("/sideband/forget", test_forget);
    g_test_add_func("/sideband/code-changes", test_code_changes);
    g_test_add_func("/sideband/sessions", test_sessions);
    g_test_add_func("/sideband/unknown-type", test_unknown_type);
    g_test_add_func("/sideband/align-lookup", test_align_lookup);
    g_test_add_func("/sideband/bad-streams", test_bad_streams);
    g_test_add_func("/sideband/cut-off", test_cut_off);
    g_test_add_func("/sideband/bad-code", test_bad_code);
    g_test_add_func("/sideband/many-harts", test_many_harts);
    return g_test_run();
}
