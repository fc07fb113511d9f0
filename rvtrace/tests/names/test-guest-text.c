/*
 * Names that the guest gives itself: maps, perf-PID.map, kallsyms, modules
 *
 * The lines are as Linux has them: proc(5), and tools/perf/Documentation/
 * jit-interface.txt.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "tests/fixtures/check.h"
#include "tests/fixtures/guest-build.h"
#include "code/image.h"
#include "names/guest-text.h"
#include "names/names.h"
#include "tests/fixtures/sb-build.h"

#define SATP(n)     (8ull << 60 | (n))
#define JIT         0x7f0000000000ull   /* an address of code made there */
#define PAGE        0x80400000ull       /* where its page is */

typedef struct Fixture {
    GByteArray *sb;
    ObjectTable *table;
    Names *names;
    Sideband *sideband;
    Image *image;
    unsigned packets;           /* so far, behind a fence each */
    unsigned malformed;
} Fixture;

static void set_up(Fixture *f)
{
    ETraceParams params;

    *f = (Fixture) { .sb = g_byte_array_new(), .table = object_table_new() };
    f->names = names_new(f->table);
    etrace_params_init(&params, 64);
    sb_session(f->sb, 1, 1, 0);
    sb_params(f->sb, 0, &params);
}

static void text(Fixture *f, const char *line)
{
    sb_note(f->sb, ETRACE_SB_ALL_HARTS, ETRACE_SB_NOTE_TEXT, line);
}

/* From here on is another place; returns its number. */
static unsigned place(Fixture *f)
{
    sb_fence(f->sb, 0, ++f->packets);
    return f->packets;
}

/* Process @tgid runs in its address space. */
static void runs(Fixture *f, unsigned tgid, uint64_t satp, const char *comm)
{
    sb_fence(f->sb, 0, ++f->packets);
    sb_space(f->sb, 0, false, satp);
    sb_task(f->sb, 0, 0x1000 * tgid, tgid, comm);
}

/* 16 bytes that are @byte run at @off of the page. */
static void code(Fixture *f, unsigned off, uint8_t byte)
{
    uint8_t bytes[16];

    memset(bytes, byte, sizeof(bytes));
    sb_code(f->sb, PAGE + off, bytes, sizeof(bytes));
}

static void decide(Fixture *f, char **roots)
{
    g_autoptr(GError) err = NULL;
    InsnIsa isa = { 0 };

    f->sideband = sideband_parse(f->sb->data, f->sb->len, 0, &err);
    check_no_error(err);
    names_add_sideband(f->names, f->sideband);
    names_try(f->names, 1);
    names_decide(f->names);
    f->malformed = names_add_texts(f->names, roots);
    f->image = image_new(&isa, f->sideband, 0, NULL);
}

static void tear_down(Fixture *f)
{
    image_free(f->image);
    names_free(f->names);
    sideband_free(f->sideband);
    object_table_free(f->table);
    g_byte_array_unref(f->sb);
}

static NamePlace find(Fixture *f, unsigned at, unsigned priv, uint64_t pc)
{
    NamePlace place;

    image_advance(f->image, at);
    names_find(f->names, f->image, priv, pc, &place);
    check_true(place.lo <= pc && pc < place.hi);
    return place;
}

/* The function in U-mode at @pc, at place @at; or NULL */
static const char *function(Fixture *f, unsigned at, uint64_t pc)
{
    NamePlace place = find(f, at, ETRACE_PRIV_U, pc);

    return place.symbol ? place.symbol->name : NULL;
}

/* One address, two functions; lines come before the code runs. */
static void test_jit(void)
{
    unsigned first, second;
    NamePlace is;
    Fixture f;

    set_up(&f);
    runs(&f, 10, SATP(1), "jit");
    text(&f, "jit 10");
    text(&f, "jit 10 7f0000000100 10 one");
    sb_map(f.sb, 0, false, JIT, PAGE);
    code(&f, 0x100, 1);
    code(&f, 0x200, 7);         /* nobody says what this is */
    first = f.packets;
    text(&f, "jit 10");
    text(&f, "jit 10 7f0000000100 10 one");
    text(&f, "jit 10 7f0000000100 20 two of them");
    second = place(&f);
    code(&f, 0x100, 2);
    decide(&f, NULL);
    check_cmpstr(function(&f, first, JIT + 0x104), ==, "one");
    check_null(function(&f, first, JIT + 0x204));
    check_null(function(&f, first, JIT + 0xfe));
    check_cmpstr(function(&f, second, JIT + 0x104), ==, "two of them");
    is = find(&f, second, ETRACE_PRIV_U, JIT + 0x11e);
    check_cmpstr(is.symbol->name, ==, "two of them");
    check_cmphex(is.symbol->start + is.bias, ==, JIT + 0x100);
    check_cmpstr(is.object->path, ==, "/tmp/perf-10.map");
    check_cmpuint(f.malformed, ==, 0);
    tear_down(&f);
}

/* The same, where the file is sent when all is over, and once between */
static void test_jit_late(void)
{
    unsigned first, second, third;
    Fixture f;

    set_up(&f);
    runs(&f, 10, SATP(1), "jit");
    sb_map(f.sb, 0, false, JIT, PAGE);
    code(&f, 0x100, 1);
    first = f.packets;
    text(&f, "jit 10");
    text(&f, "jit 10 7f0000000100 10 one");
    second = place(&f);
    code(&f, 0x100, 2);         /* not said while it was there */
    third = place(&f);
    code(&f, 0x100, 3);
    text(&f, "jit 10");
    text(&f, "jit 10 7f0000000100 10 one");
    text(&f, "jit 10 7f0000000100 10 two");
    text(&f, "jit 10 7f0000000100 10 three");
    decide(&f, NULL);
    check_cmpstr(function(&f, first, JIT + 0x104), ==, "one");
    check_null(function(&f, second, JIT + 0x104));
    check_null(function(&f, third, JIT + 0x104));   /* two or three */
    tear_down(&f);
}

/* What one process says is nothing to others, nor to it after exec. */
static void test_jit_others(void)
{
    unsigned first, second, third, last;
    Fixture f;

    set_up(&f);
    runs(&f, 10, SATP(1), "jit");
    sb_map(f.sb, 0, false, JIT, PAGE);
    code(&f, 0x100, 1);
    text(&f, "jit 10");
    text(&f, "jit 10 7f0000000100 10 mine");
    first = f.packets;
    runs(&f, 11, SATP(2), "other");
    sb_map(f.sb, 0, false, JIT, PAGE);
    second = f.packets;
    runs(&f, 10, SATP(3), "execed");
    sb_map(f.sb, 0, false, JIT, PAGE);
    third = f.packets;
    runs(&f, 12, SATP(1), "reused");    /* the same satp */
    sb_map(f.sb, 0, false, JIT, PAGE);
    last = f.packets;
    decide(&f, NULL);
    check_cmpstr(function(&f, first, JIT + 0x104), ==, "mine");
    check_null(function(&f, second, JIT + 0x104));
    check_null(function(&f, third, JIT + 0x104));
    check_null(function(&f, last, JIT + 0x104));
    tear_down(&f);
}

/* Another page is mapped there: what was said of the first one is over. */
static void test_jit_moved(void)
{
    unsigned first, second, third;
    uint8_t bytes[16] = { 0x13 };
    Fixture f;

    set_up(&f);
    runs(&f, 10, SATP(1), "jit");
    sb_map(f.sb, 0, false, JIT, PAGE);
    code(&f, 0x100, 1);
    text(&f, "jit 10");
    text(&f, "jit 10 7f0000000100 10 one");
    first = f.packets;
    second = place(&f);
    sb_map(f.sb, 0, false, JIT, PAGE + 0x1000);
    sb_code(f.sb, PAGE + 0x1100, bytes, sizeof(bytes));
    third = place(&f);
    sb_map(f.sb, 0, false, JIT, PAGE + 0x2000);
    sb_code(f.sb, PAGE + 0x2100, bytes, sizeof(bytes));
    text(&f, "jit 10");
    text(&f, "jit 10 7f0000000100 10 one");
    text(&f, "jit 10 7f0000000100 10 two");
    decide(&f, NULL);
    check_cmpstr(function(&f, first, JIT + 0x104), ==, "one");
    check_null(function(&f, second, JIT + 0x104));
    check_cmpstr(function(&f, third, JIT + 0x104), ==, "two");
    tear_down(&f);
}

/* An object of two pages at 0x10000, of made up code */
static Object *add_object(Fixture *f, const char *path, uint8_t seed)
{
    Object *o = object_new(f->table, OBJECT_LIBRARY, path, NULL);
    uint8_t *bytes = g_malloc(8192);
    ObjectCode c = { .addr = 0x10000, .size = 8192, .bytes = bytes };

    for (unsigned i = 0; i < 8192; i++) {
        bytes[i] = seed * (i >> 3) + i * 13;
    }
    o->bytes = g_bytes_new_take(bytes, 8192);
    g_array_append_val(o->code, c);
    symbols_add(o->symbols, 0x10000, 8192, path);
    symbols_sort(o->symbols);
    return o;
}

/* Files with the same code: it is the one that the process has mapped. */
static void test_maps(void)
{
    unsigned before, at, other;
    Object *a, *b, *c;
    NamePlace is;
    Fixture f;

    set_up(&f);
    a = add_object(&f, "/lib/a.so", 5);
    b = add_object(&f, "/lib/b.so", 5);
    c = add_object(&f, "/lib/c.so", 9);
    runs(&f, 10, SATP(1), "prog");
    sb_map(f.sb, 0, false, 0x3f0000, PAGE);
    sb_code(f.sb, PAGE + 0x40, g_array_index(a->code, ObjectCode,
                                             0).bytes + 0x40, 64);
    sb_map(f.sb, 0, false, 0x4f0000, PAGE + 0x1000);
    sb_code(f.sb, PAGE + 0x1040, (uint8_t[]) { 1, 2, 3, 4 }, 4);
    sb_map(f.sb, 0, false, 0x5f0000, PAGE + 0x2000);
    sb_code(f.sb, PAGE + 0x2040, g_array_index(c->code, ObjectCode,
                                               0).bytes + 0x40, 64);
    before = f.packets;
    at = place(&f);
    text(&f, "maps 10 003ef000-003f0000 rw-p 00000000 00:00 0");
    text(&f, "maps 10 003f0000-003f2000 r-xp 00000000 fe:00 1034"
             "                       /lib/b.so");
    text(&f, "maps 10 004f0000-004f2000 r-xp 00001000 fe:00 1035"
             "                       /opt/no such file.so (deleted)");
    text(&f, "maps 10 005f0000-005f2000 r-xp 00000000 fe:00 1034 /lib/b.so");
    text(&f, "maps 10 006f0000-006f2000 rwxp 00000000 00:00 0 ");
    runs(&f, 11, SATP(2), "other");
    sb_map(f.sb, 0, false, 0x4f0000, PAGE + 0x1000);
    other = f.packets;
    decide(&f, NULL);
    check_cmpuint(f.malformed, ==, 0);
    is = find(&f, before, ETRACE_PRIV_U, 0x3f0044);
    check_true(is.object == b);
    check_cmphex(is.bias, ==, 0x3e0000);
    is = find(&f, before, ETRACE_PRIV_U, 0x4f0042);
    check_cmpuint(is.object->id, ==, OBJECT_UNKNOWN);
    is = find(&f, at, ETRACE_PRIV_U, 0x4f0042);
    check_cmpstr(is.object->name, ==, "no such file.so");
    check_null(is.symbol);
    /* Code of one file only is that file's, whatever the guest says. */
    is = find(&f, at, ETRACE_PRIV_U, 0x5f0044);
    check_true(is.object == c);
    is = find(&f, other, ETRACE_PRIV_U, 0x4f0042);
    check_cmpuint(is.object->id, ==, OBJECT_UNKNOWN);
    tear_down(&f);
}

/* Code that is in no file, and what is known of it */
static void test_unfiled(void)
{
    static const uint8_t made[] = { 1, 2, 3, 4 };
    unsigned before, at;
    Fixture f;

    set_up(&f);
    runs(&f, 10, SATP(1), "prog");
    for (unsigned i = 0; i < 4; i++) {
        sb_map(f.sb, 0, false, JIT + 0x1000 * i, PAGE + 0x1000 * i);
        sb_code(f.sb, PAGE + 0x1000 * i, made, sizeof(made));
    }
    before = f.packets;
    at = place(&f);
    text(&f, "maps 10 7f0000000000-7f0000001000 rwxp 00000000 00:00 0 ");
    text(&f, "maps 10 7f0000001000-7f0000002000 rw-p 00000000 00:00 0 ");
    text(&f, "maps 10 7f0000002000-7f0000003000 r-xp 00000000 00:00 0"
             "                  [anon:code cache]");
    decide(&f, NULL);
    check_cmpuint(find(&f, before, ETRACE_PRIV_M, PAGE).object->id, ==,
                  OBJECT_UNKNOWN);
    names_add_unfiled(f.names);
    /* What it says later need not have been so before. */
    check_cmpstr(find(&f, before, ETRACE_PRIV_U, JIT).object->name, ==,
                 "[unknown]");
    check_cmpstr(find(&f, at, ETRACE_PRIV_U, JIT).object->name, ==, "[jit]");
    check_cmpstr(find(&f, at, ETRACE_PRIV_U, JIT + 0x2000).object->name, ==,
                 "[jit]");
    check_cmphex(find(&f, at, ETRACE_PRIV_U, JIT).bias, ==, 0);
    /* not to be executed, as the guest says; and not spoken of */
    check_cmpstr(find(&f, at, ETRACE_PRIV_U, JIT + 0x1000).object->name, ==,
                 "[unknown]");
    check_cmpstr(find(&f, at, ETRACE_PRIV_U, JIT + 0x3000).object->name, ==,
                 "[unknown]");
    check_cmpstr(find(&f, at, ETRACE_PRIV_M, PAGE).object->name, ==,
                 "[firmware]");
    check_cmpstr(find(&f, at, ETRACE_PRIV_S, JIT).object->name, ==,
                 "[unknown]");
    check_true(find(&f, at, ETRACE_PRIV_M, PAGE).object->kind == OBJECT_NONE);
    tear_down(&f);
}

static void test_kernel(void)
{
    NamePlace is;
    Fixture f;

    set_up(&f);
    text(&f, "kallsyms ffffffff80001000 T start_kernel");
    text(&f, "kallsyms ffffffff80002000 t second");
    text(&f, "kallsyms ffffffff80003000 D data");
    text(&f, "kallsyms ffffffff01000100 t probe\t[virtio_blk]");
    text(&f, "modules virtio_blk 16384 1 - Live 0xffffffff01000000");
    text(&f, "modules nothing 4096 0 a,b, Live 0xffffffff02000000 (OE)");
    sb_space(f.sb, 0, false, SATP(1));
    sb_map(f.sb, 0, false, 0xffffffff80001000, PAGE);
    decide(&f, NULL);
    is = find(&f, 0, ETRACE_PRIV_S, 0xffffffff80001010);
    check_cmpstr(is.symbol->name, ==, "start_kernel");
    check_cmpint(is.object->kind, ==, OBJECT_KERNEL);
    is = find(&f, 0, ETRACE_PRIV_S, 0xffffffff80002010);
    check_cmpstr(is.symbol->name, ==, "second");
    is = find(&f, 0, ETRACE_PRIV_S, 0xffffffff01000110);
    check_cmpstr(is.symbol->name, ==, "probe");
    check_cmpint(is.object->kind, ==, OBJECT_MODULE);
    check_cmpstr(is.object->path, ==, "[virtio_blk]");
    is = find(&f, 0, ETRACE_PRIV_S, 0xffffffff02000110);
    check_cmpstr(is.object->path, ==, "[nothing]");
    is = find(&f, 0, ETRACE_PRIV_U, 0xffffffff80001010);
    check_null(is.symbol);
    is = find(&f, 0, ETRACE_PRIV_M, 0xffffffff80001010);
    check_null(is.symbol);
    check_cmpuint(f.malformed, ==, 0);
    tear_down(&f);
}

/* Each of these makes no sense, and nothing comes of it. */
/* The guest says which modules it has: others cannot have run. */
static void test_modules(void)
{
    NamePlace is;
    Object *a, *b;
    Fixture f;

    for (unsigned said = 0; said < 2; said++) {
        set_up(&f);
        a = add_object(&f, "/lib/modules/one.ko", 5);
        b = add_object(&f, "/lib/modules/two.ko", 9);
        a->kind = b->kind = OBJECT_MODULE;
        object_rename(a, "one");
        object_rename(b, "two");
        runs(&f, 10, SATP(1), "prog");
        sb_map(f.sb, 0, false, 0x3f0000, PAGE);
        sb_code(f.sb, PAGE + 0x40, g_array_index(a->code, ObjectCode,
                                                 0).bytes + 0x40, 64);
        sb_map(f.sb, 0, false, 0x4f0000, PAGE + 0x1000);
        sb_code(f.sb, PAGE + 0x1040, g_array_index(b->code, ObjectCode,
                                                   0).bytes + 0x40, 64);
        if (said) {
            text(&f, "modules two 16384 1 - Live 0x0000000000000000");
        }
        decide(&f, NULL);
        check_cmpuint(f.malformed, ==, 0);
        is = find(&f, f.packets, ETRACE_PRIV_S, 0x3f0044);
        check_cmpstr(is.object->name, ==, said ? "[unknown]" : "one");
        is = find(&f, f.packets, ETRACE_PRIV_S, 0x4f0044);
        check_cmpstr(is.object->name, ==, "two");
        tear_down(&f);
    }
}

static const char *const nonsense[] = {
    "maps", "maps ", "maps x", "maps 0 1000-2000 r-xp 0 0:0 0 /bin/x",
    "maps 10", "maps 10 ", "maps 10 2000-1000 r-xp 00000000 00:00 0 /bin/x",
    "maps 10 1000-1000 r-xp 00000000 00:00 0 /bin/x", "maps 10 1000 r-xp",
    "maps 10 1000-2000 r-xpppp 00000000 00:00 0 /bin/x",
    "maps 99999999999 1000-2000 r-xp 00000000 00:00 0 /bin/x",
    "jit", "jit x", "jit 10 1000", "jit 10 1000 10", "jit 10 1000 10 ",
    "jit 10 1000 0 zero", "jit 10 ffffffffffffffff 10 end",
    "jit 10 1000 ffffffffffff large", "jit 10 -1 10 sign",
    "kallsyms", "kallsyms x T y", "kallsyms 1000 TT y", "kallsyms 1000 T",
    "kallsyms 1000 T y [", "kallsyms 1000 T y []",
    "modules", "modules a", "modules a b 1 - Live 0x1000",
    "modules a 4096 1 - Live 1000",
};

static void test_nonsense(void)
{
    unsigned wrong = 0;
    Fixture f;

    set_up(&f);
    runs(&f, 10, SATP(1), "jit");
    sb_map(f.sb, 0, false, JIT, PAGE);
    for (unsigned i = 0; i < ARRAY_SIZE(nonsense); i++) {
        text(&f, nonsense[i]);
        /* Without what is behind them they are other texts. */
        wrong += strchr(nonsense[i], ' ') != NULL;
    }
    text(&f, "anything else");
    text(&f, "");
    decide(&f, NULL);
    check_cmpuint(f.malformed, ==, wrong);
    check_cmpuint(object_table_size(f.table), ==, 1);
    check_null(function(&f, f.packets, JIT + 0x104));
    tear_down(&f);
}

/* Lines of any bytes */
static void test_random(void)
{
    static const char *const words[] = {
        "maps 10 ", "jit 10 ", "kallsyms ", "modules ", "7f0000000000", " ",
        "-", "10", "ffffffffffffffff", "r-xp ", "00000000 00:00 0 ", "/bin/x",
        "T ", "name", "[m]", "\t", "\xff", "0x7f0000000000", "Live ", "4096 ",
    };
    g_autoptr(GRand) rand = g_rand_new_with_seed(1);
    Fixture f;

    set_up(&f);
    runs(&f, 10, SATP(1), "jit");
    sb_map(f.sb, 0, false, JIT, PAGE);
    for (unsigned i = 0; i < 20000; i++) {
        g_autoptr(GString) line = g_string_new(NULL);

        for (int k = g_rand_int_range(rand, 1, 12); k > 0; k--) {
            g_string_append(line, words[g_rand_int_range(
                rand, 0, ARRAY_SIZE(words))]);
        }
        text(&f, line->str);
        if (i % 1000 == 0) {
            code(&f, 0x100, i / 1000);
        }
    }
    decide(&f, NULL);
    for (uint64_t pc = JIT; pc < JIT + 0x1000; pc += 0x40) {
        find(&f, f.packets, ETRACE_PRIV_U, pc);
        find(&f, f.packets, ETRACE_PRIV_S, pc);
    }
    tear_down(&f);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/guest-text/jit", test_jit);
    g_test_add_func("/guest-text/jit-late", test_jit_late);
    g_test_add_func("/guest-text/jit-others", test_jit_others);
    g_test_add_func("/guest-text/jit-moved", test_jit_moved);
    g_test_add_func("/guest-text/maps", test_maps);
    g_test_add_func("/guest-text/unfiled", test_unfiled);
    g_test_add_func("/guest-text/kernel", test_kernel);
    g_test_add_func("/guest-text/modules", test_modules);
    g_test_add_func("/guest-text/nonsense", test_nonsense);
    g_test_add_func("/guest-text/random", test_random);
    return g_test_run();
}
