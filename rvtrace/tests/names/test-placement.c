/*
 * Which object lies where, found by the bytes that ran
 *
 * Objects here are pages of made up code; what ran of them comes in pieces,
 * as QEMU writes them, of pages that are mapped at all sorts of places.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "tests/fixtures/check.h"
#include "names/names.h"
#include "tests/fixtures/sb-build.h"

#define PAGES       4
#define SIZE        (PAGES * 4096)
#define SATP(n)     (8ull << 60 | (n))

typedef struct Fixture {
    GByteArray *sb;
    ObjectTable *table;
    Sideband *sideband;
    Placement *placement;
    SidebandView *view;
} Fixture;

static void set_up(Fixture *f)
{
    ETraceParams params;

    *f = (Fixture) { .sb = g_byte_array_new(), .table = object_table_new() };
    etrace_params_init(&params, 64);
    sb_session(f->sb, 1, 1, 0);
    sb_params(f->sb, 0, &params);
}

/* An object with bytes that no other one has, but for those of the same seed */
static Object *add_object(Fixture *f, ObjectKind kind, const char *path,
                          unsigned seed)
{
    Object *o = object_new(f->table, kind, path, NULL);
    uint8_t *bytes = g_malloc(SIZE);
    ObjectCode code = { .addr = 0x10000, .size = SIZE, .bytes = bytes };
    g_autoptr(GRand) rand = g_rand_new_with_seed(seed);

    for (unsigned i = 0; i < SIZE; i++) {
        bytes[i] = g_rand_int_range(rand, 0, 256);
    }
    o->made = g_ptr_array_new_with_free_func(g_free);
    g_ptr_array_add(o->made, bytes);
    g_array_append_val(o->code, code);
    return o;
}

/* @len bytes at @off of @o ran, which begins at physical address @phys. */
static void ran(Fixture *f, const Object *o, uint64_t phys, unsigned off,
                unsigned len)
{
    const uint8_t *bytes;

    check_cmpuint(object_bytes(o, 0x10000 + off, len, &bytes), ==, len);
    sb_code(f->sb, phys + off, bytes, len);
}

static void map(Fixture *f, uint64_t satp, uint64_t vaddr, uint64_t phys)
{
    sb_space(f->sb, 0, false, satp);
    sb_map(f->sb, 0, false, vaddr, phys);
}

static void parse(Fixture *f)
{
    g_autoptr(GError) err = NULL;

    f->sideband = sideband_parse(f->sb->data, f->sb->len, 0, &err);
    check_no_error(err);
}

static void decide(Fixture *f)
{
    parse(f);
    f->placement = placement_new(f->sideband);
    for (unsigned i = 1; i < object_table_size(f->table); i++) {
        placement_try(f->placement, object_get(f->table, i));
    }
    placement_decide(f->placement);
    f->view = sideband_view_new(f->sideband, 0);
}

static void tear_down(Fixture *f)
{
    g_clear_pointer(&f->view, sideband_view_free);
    g_clear_pointer(&f->placement, placement_free);
    sideband_free(f->sideband);
    object_table_free(f->table);
    g_byte_array_unref(f->sb);
}

/* What is at @vaddr, in U-mode, when @packets have been consumed? */
static const Object *at(Fixture *f, uint64_t packets, uint64_t vaddr,
                        uint64_t *addr)
{
    SidebandWhere where;
    bool ahead;

    sideband_view_advance(f->view, packets);
    sideband_view_where(f->view, ETRACE_PRIV_U, vaddr, &where);
    return placement_find(f->placement, &where, ETRACE_PRIV_U, vaddr, NULL,
                          addr, &ahead);
}

/* The same in S-mode, at the beginning */
static const Object *at_first(Fixture *f, uint64_t vaddr, uint64_t *addr)
{
    SidebandWhere where;
    bool ahead;

    sideband_view_advance(f->view, 0);
    sideband_view_where(f->view, ETRACE_PRIV_S, vaddr, &where);
    return placement_find(f->placement, &where, ETRACE_PRIV_S, vaddr, NULL,
                          addr, &ahead);
}

/* One library, at different addresses in two programs */
static void test_shared(void)
{
    Object *lib, *one, *two;
    uint64_t addr;
    Fixture f;

    set_up(&f);
    lib = add_object(&f, OBJECT_LIBRARY, "/lib/lib.so", 1);
    one = add_object(&f, OBJECT_PROGRAM, "/bin/one", 2);
    two = add_object(&f, OBJECT_PROGRAM, "/bin/two", 3);
    map(&f, SATP(1), 0x3f0000, 0x80000000);
    ran(&f, lib, 0x80000000, 0x120, 40);
    map(&f, SATP(1), 0x10000, 0x80100000);
    ran(&f, one, 0x80100000, 0, 64);
    sb_fence(f.sb, 0, 10);
    map(&f, SATP(2), 0x7ff000, 0x80000000);     /* nothing new runs in it */
    map(&f, SATP(2), 0x10000, 0x80200000);
    ran(&f, two, 0x80200000, 0, 64);
    decide(&f);
    check_true(at(&f, 0, 0x3f0124, &addr) == lib);
    check_cmphex(addr, ==, 0x10124);
    check_true(at(&f, 0, 0x10020, &addr) == one);
    check_true(at(&f, 10, 0x10020, &addr) == two);
    check_cmphex(addr, ==, 0x10020);
    check_true(at(&f, 10, 0x7ff124, &addr) == lib);
    check_cmphex(addr, ==, 0x10124);
    check_null(at(&f, 10, 0x3f0124, &addr));
    tear_down(&f);
}

/* Too few bytes to be looked for, but they are where the program lies. */
static void test_short(void)
{
    static const uint8_t other[] = { 0xde, 0xad, 0xbe, 0xef };
    Object *one, *two;
    uint64_t addr;
    Fixture f;

    set_up(&f);
    one = add_object(&f, OBJECT_PROGRAM, "/bin/one", 2);
    two = add_object(&f, OBJECT_PROGRAM, "/bin/two", 3);
    map(&f, SATP(1), 0x3f0000, 0x80100000);
    ran(&f, one, 0x80100000, 0, 64);
    map(&f, SATP(1), 0x3f1000, 0x80111000);
    ran(&f, one, 0x80110000, 0x15da, 6);
    map(&f, SATP(1), 0x3f2000, 0x80122000);
    sb_code(f.sb, 0x80122100, other, sizeof(other));
    sb_fence(f.sb, 0, 10);
    map(&f, SATP(2), 0x3f0000, 0x80200000);
    ran(&f, two, 0x80200000, 0, 64);
    map(&f, SATP(2), 0x3f2000, 0x80222000);
    ran(&f, one, 0x80220000, 0x2200, 4);        /* not in this space */
    decide(&f);
    check_true(at(&f, 0, 0x3f15da, &addr) == one);
    check_cmphex(addr, ==, 0x115da);
    check_null(at(&f, 0, 0x3f2100, &addr));     /* is not what it has there */
    check_true(at(&f, 10, 0x3f0010, &addr) == two);
    check_null(at(&f, 10, 0x3f2200, &addr));
    tear_down(&f);
}

/* A page that held one program's code holds another one's later. */
static void test_reused(void)
{
    Object *one, *two;
    uint64_t addr;
    Fixture f;

    set_up(&f);
    one = add_object(&f, OBJECT_PROGRAM, "/bin/one", 2);
    two = add_object(&f, OBJECT_PROGRAM, "/bin/two", 3);
    map(&f, SATP(1), 0x10000, 0x80100000);
    ran(&f, one, 0x80100000, 0, 64);
    sb_fence(f.sb, 0, 10);
    map(&f, SATP(2), 0x10000, 0x80100000);
    ran(&f, two, 0x80100000, 0x200, 64);    /* no byte of one's is replaced */
    decide(&f);
    check_true(at(&f, 0, 0x10010, &addr) == one);
    check_true(at(&f, 10, 0x10210, &addr) == two);
    tear_down(&f);
}

/*
 * The same page holds one of a program's, of which short pieces run, and then
 * another one, of which more runs.
 */
static void test_refilled(void)
{
    Object *one;
    uint64_t addr;
    Fixture f;

    set_up(&f);
    one = add_object(&f, OBJECT_PROGRAM, "/bin/one", 2);
    map(&f, SATP(1), 0x10000, 0x80100000);
    for (unsigned i = 0; i < 8; i++) {
        ran(&f, one, 0x80100000, 0x10 * i, 10);
    }
    sb_fence(f.sb, 0, 10);
    map(&f, SATP(2), 0x12000, 0x80100000);
    ran(&f, one, 0x800fe000, 0x2000, 300);
    decide(&f);
    check_true(at(&f, 0, 0x10012, &addr) == one);
    check_cmphex(addr, ==, 0x10012);
    check_true(at(&f, 10, 0x12012, &addr) == one);
    check_cmphex(addr, ==, 0x12012);
    tear_down(&f);
}

/* The kernel patches itself, and the patch is in a module by chance. */
static void test_patched(void)
{
    Object *kernel, *module;
    const uint8_t *bytes;
    uint64_t addr;
    Fixture f;

    set_up(&f);
    kernel = add_object(&f, OBJECT_KERNEL, "[kernel]", 4);
    module = add_object(&f, OBJECT_MODULE, "/lib/modules/m.ko", 5);
    check_cmpuint(object_bytes(module, 0x10348, 24, &bytes), ==, 24);
    map(&f, SATP(1), 0x30000, 0x80100000);
    sb_code(f.sb, 0x80100100, bytes, 24);       /* patched before it ran */
    ran(&f, kernel, 0x80100000, 0x200, 40);
    sb_code(f.sb, 0x80100300, bytes, 24);
    ran(&f, kernel, 0x80100000, 0x400, 40);
    ran(&f, kernel, 0x80100000, 0x500, 40);
    decide(&f);
    check_true(at_first(&f, 0x30200, &addr) == kernel);
    check_true(at_first(&f, 0x30500, &addr) == kernel);
    check_cmphex(addr, ==, 0x10500);
    tear_down(&f);
}

/* By its name, what is at @vaddr for privilege level @priv? */
static const Object *named(Fixture *f, Image *image, unsigned priv,
                           uint64_t vaddr, const Names *names)
{
    NamePlace place;

    names_find(names, image, priv, vaddr, &place);
    return place.object == object_get(f->table, 0) ? NULL : place.object;
}

/* All that was said is known: @names decide by it, in one thread. */
static void decide_names(Fixture *f, Names *names)
{
    parse(f);
    names_add_sideband(names, f->sideband);
    names_try(names, 1);
    names_decide(names);
}

/*
 * What the kernel no longer needs becomes other memory. Code that is in no
 * file is made there, among bytes of the kernel's that ran before.
 */
static void test_freed(void)
{
    static const uint8_t made[18] = { 0x13, 0x15, 0x75, 0x00 };
    Object *kernel;
    Names *names;
    Image *image;
    Fixture f;

    set_up(&f);
    names = names_new(f.table);
    kernel = add_object(&f, OBJECT_KERNEL, "[kernel]", 4);
    kernel->bytes = g_bytes_new_static("", 1);  /* it has no names */
    map(&f, SATP(1), 0x30000, 0x80100000);
    ran(&f, kernel, 0x80100000, 0x200, 64);
    ran(&f, kernel, 0x80100000, 0x252, 64);
    map(&f, SATP(1), 0x31000, 0x80101000);
    ran(&f, kernel, 0x80100000, 0x1100, 40);
    sb_code(f.sb, 0x80101128, made, 8);         /* it patches itself */
    ran(&f, kernel, 0x80100000, 0x1130, 40);
    sb_fence(f.sb, 0, 10);
    map(&f, SATP(2), 0x7000, 0x80100000);       /* a program makes code */
    sb_code(f.sb, 0x80100240, made, sizeof(made));
    sb_fence(f.sb, 0, 20);
    map(&f, SATP(1), 0x91000, 0x80100000);      /* and so does the kernel */
    sb_code(f.sb, 0x80100242, made, sizeof(made) - 2);
    decide_names(&f, names);
    image = image_new(&(InsnIsa) { 0 }, f.sideband, 0, NULL);

    image_advance(image, 0);
    check_true(named(&f, image, ETRACE_PRIV_S, 0x30202, names) == kernel);
    check_true(named(&f, image, ETRACE_PRIV_S, 0x3112a, names) == kernel);
    image_advance(image, 10);
    check_null(named(&f, image, ETRACE_PRIV_U, 0x7244, names));
    image_advance(image, 20);
    check_null(named(&f, image, ETRACE_PRIV_S, 0x91244, names));
    image_free(image);
    names_free(names);
    tear_down(&f);
}

/*
 * Callers are asked for by the last byte of the instruction that called. What
 * is behind it has not run if the function never returned.
 */
static void test_caller(void)
{
    Object *one;
    Names *names;
    Image *image;
    Fixture f;

    set_up(&f);
    names = names_new(f.table);
    one = add_object(&f, OBJECT_LIBRARY, "/lib/one", 2);
    one->bytes = g_bytes_new_static("", 1);     /* it has no names */
    map(&f, SATP(1), 0x10000, 0x80000000);
    ran(&f, one, 0x80000000, 0, 64);
    ran(&f, one, 0x80000000, 0x800, 2);
    decide_names(&f, names);
    image = image_new(&(InsnIsa) { 0 }, f.sideband, 0, NULL);
    image_advance(image, 0);
    check_true(named(&f, image, ETRACE_PRIV_U, 0x1003e, names) == one);
    check_true(named(&f, image, ETRACE_PRIV_U, 0x1003f, names) == one);
    check_true(named(&f, image, ETRACE_PRIV_U, 0x10801, names) == one);
    image_free(image);
    names_free(names);
    tear_down(&f);
}

/*
 * A function is called for the first time: its page is mapped by the fault, to
 * one that has been another program's. And before its first instruction has
 * run, an interrupt comes.
 */
static void test_unmapped(void)
{
    Object *one, *two;
    Names *names;
    Image *image;
    Fixture f;

    set_up(&f);
    names = names_new(f.table);
    one = add_object(&f, OBJECT_LIBRARY, "/lib/one", 2);
    two = add_object(&f, OBJECT_LIBRARY, "/lib/two", 3);
    one->bytes = g_bytes_new_static("", 1);     /* they have no names */
    two->bytes = g_bytes_new_static("", 1);
    map(&f, SATP(2), 0x10000, 0x80100000);
    ran(&f, two, 0x80100000, 0, 64);
    map(&f, SATP(1), 0x10000, 0x80000000);
    ran(&f, one, 0x80000000, 0, 64);
    sb_fence(f.sb, 0, 10);
    map(&f, SATP(1), 0x11000, 0x80100000);
    sb_fence(f.sb, 0, 15);
    ran(&f, one, 0x800ff000, 0x1200, 64);
    sb_fence(f.sb, 0, 20);
    ran(&f, one, 0x800ff000, 0x1800, 64);
    decide_names(&f, names);
    image = image_new(&(InsnIsa) { 0 }, f.sideband, 0, NULL);

    image_advance(image, 0);
    check_true(named(&f, image, ETRACE_PRIV_U, 0x11200, names) == one);
    check_null(named(&f, image, ETRACE_PRIV_U, 0x12200, names));
    image_advance(image, 10);
    check_true(named(&f, image, ETRACE_PRIV_U, 0x11010, names) == one);
    check_true(named(&f, image, ETRACE_PRIV_U, 0x11200, names) == one);
    image_advance(image, 15);
    check_true(named(&f, image, ETRACE_PRIV_U, 0x11800, names) == one);
    /* These bytes are what the other one has there. */
    check_null(named(&f, image, ETRACE_PRIV_U, 0x11010, names));
    image_free(image);
    names_free(names);
    tear_down(&f);
}

/* The kernel's file has the vDSO in it: what runs in U-mode is not that. */
static void test_vdso(void)
{
    Object *kernel, *vdso;
    uint64_t addr;
    Fixture f;

    set_up(&f);
    kernel = add_object(&f, OBJECT_KERNEL, "[kernel]", 6);
    vdso = add_object(&f, OBJECT_VDSO, "[vdso]", 6);
    map(&f, SATP(1), 0x30000, 0x80100000);
    ran(&f, kernel, 0x80100000, 0x200, 40);
    map(&f, SATP(1), 0x31000, 0x80101000);
    ran(&f, kernel, 0x80100000, 0x1200, 40);
    map(&f, SATP(1), 0x7f000, 0x80102000);
    ran(&f, vdso, 0x80100000, 0x2200, 40);
    decide(&f);
    check_true(at(&f, 0, 0x7f210, &addr) == vdso);
    check_cmphex(addr, ==, 0x12210);
    tear_down(&f);
}

#define KERNEL_HALF 0xffffffff80000000ull

/* Modules are looked for where the kernel ran code that no other file has. */
static void test_modules_needed(void)
{
    static const struct {
        const char *what;
        uint64_t vaddr;         /* near which the second page is */
        bool known, needed;
    } cases[] = {
        { "all of it is the kernel's", KERNEL_HALF, true, false },
        { "the kernel's, and more of no file", KERNEL_HALF, false, true },
        { "a program of no file", 0x50000, false, false },
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        Object *kernel, *module;
        uint64_t addr;
        Fixture f;

        g_test_message("%s", cases[i].what);
        set_up(&f);
        kernel = add_object(&f, OBJECT_KERNEL, "[kernel]", 6);
        module = add_object(&f, OBJECT_MODULE, "/m.ko", 7);
        map(&f, SATP(1), KERNEL_HALF, 0x80100000);
        ran(&f, kernel, 0x80100000, 0x200, 40);
        map(&f, SATP(1), cases[i].vaddr + 0x1000, 0x80101000);
        ran(&f, cases[i].known ? kernel : module, 0x80100000, 0x1200, 40);
        parse(&f);
        f.placement = placement_new(f.sideband);
        placement_try(f.placement, kernel);
        check_true(placement_begin_modules(f.placement) == cases[i].needed);
        if (cases[i].needed) {
            check_cmpuint(placement_try(f.placement, module), ==, 1);
        }
        placement_end_modules(f.placement);
        placement_decide(f.placement);
        f.view = sideband_view_new(f.sideband, 0);
        check_true(at_first(&f, KERNEL_HALF + 0x210, &addr) == kernel);
        if (cases[i].needed) {
            check_true(at_first(&f, KERNEL_HALF + 0x1210, &addr) == module);
            check_cmphex(addr, ==, 0x11210);
        }
        tear_down(&f);
    }
}

/* Two files with the same page: what else the space holds decides. */
static void test_ambiguous(void)
{
    Object *old, *now;
    uint64_t addr;
    uint8_t *bytes;
    PlacementStats stats;
    Fixture f;

    set_up(&f);
    old = add_object(&f, OBJECT_LIBRARY, "/lib/lib.so.1", 1);
    now = add_object(&f, OBJECT_LIBRARY, "/lib/lib.so.2", 1);
    bytes = g_ptr_array_index(now->made, 0);
    bytes[0x1100] ^= 0xff;
    map(&f, SATP(1), 0x3f0000, 0x80000000);
    ran(&f, now, 0x80000000, 0x120, 40);        /* both have it */
    map(&f, SATP(1), 0x3f1000, 0x80001000);
    ran(&f, now, 0x80000000, 0x10f0, 40);       /* only lib.so.2 has it */
    decide(&f);
    check_true(at(&f, 0, 0x3f0124, &addr) == now);
    check_true(at(&f, 0, 0x3f10f0, &addr) == now);
    check_false(placement_has(f.placement, old) &&
                !placement_has(f.placement, now));
    placement_stats(f.placement, &stats);
    check_cmpuint(stats.pages, ==, 2);
    check_cmpuint(stats.placed, ==, 2);
    check_cmpuint(stats.ambiguous, ==, 1);
    check_cmpuint(stats.bytes, ==, 80);
    check_cmpuint(stats.placed_bytes, ==, 80);
    tear_down(&f);
}

/* Two programs of the same code: they are named after their tasks. */
static void test_named(void)
{
    Object *one, *two;
    uint64_t addr;
    Fixture f;

    set_up(&f);
    one = add_object(&f, OBJECT_PROGRAM, "/bin/one", 2);
    two = add_object(&f, OBJECT_PROGRAM, "/bin/two-with-a-long-name", 2);
    map(&f, SATP(1), 0x10000, 0x80100000);
    sb_task(f.sb, 0, 0x1000, 10, "one");
    ran(&f, one, 0x80100000, 0, 64);
    sb_fence(f.sb, 0, 10);
    map(&f, SATP(2), 0x10000, 0x80200000);
    sb_task(f.sb, 0, 0x2000, 11, "two-with-a-long");
    ran(&f, two, 0x80200000, 0, 64);
    decide(&f);
    check_true(at(&f, 0, 0x10010, &addr) == one);
    check_true(at(&f, 10, 0x10010, &addr) == two);
    tear_down(&f);
}

/*
 * ... also when the same satp is another program's later, and a kernel thread
 * borrows it; a child that execs is named after its parent at first.
 */
static void test_renamed(void)
{
    Object *one, *two;
    uint64_t addr;
    Fixture f;

    set_up(&f);
    one = add_object(&f, OBJECT_PROGRAM, "/bin/one", 2);
    two = add_object(&f, OBJECT_PROGRAM, "/bin/two", 2);
    map(&f, SATP(1), 0x10000, 0x80100000);
    sb_task(f.sb, 0, 0x1000, 10, "one");
    ran(&f, one, 0x80100000, 0, 64);
    sb_fence(f.sb, 0, 10);
    sb_task(f.sb, 0, 0x3000, 2, "kthreadd");
    sb_task(f.sb, 0, 0x2000, 11, "two");
    map(&f, SATP(1), 0x10000, 0x80200000);
    ran(&f, two, 0x80200000, 0, 64);
    sb_fence(f.sb, 0, 20);
    sb_task(f.sb, 0, 0x3000, 2, "kthreadd");
    sb_fence(f.sb, 0, 30);
    sb_task(f.sb, 0, 0x4000, 12, "two");
    sb_task(f.sb, 0, 0x4000, 12, "one");
    map(&f, SATP(1), 0x10000, 0x80100000);
    sb_fence(f.sb, 0, 40);
    decide(&f);
    check_true(at(&f, 0, 0x10010, &addr) == one);
    check_true(at(&f, 10, 0x10010, &addr) == two);
    check_true(at(&f, 20, 0x10010, &addr) == two);
    check_true(at(&f, 30, 0x10010, &addr) == one);
    tear_down(&f);
}

/* Code that is in no file, and a file of which nothing ran */
static void test_unknown(void)
{
    Object *one;
    uint64_t addr;
    uint8_t jit[64];
    Fixture f;

    set_up(&f);
    one = add_object(&f, OBJECT_PROGRAM, "/bin/one", 2);
    memset(jit, 0x55, sizeof(jit));
    map(&f, SATP(1), 0x10000, 0x80100000);
    sb_code(f.sb, 0x80100000, jit, sizeof(jit));
    decide(&f);
    check_null(at(&f, 0, 0x10010, &addr));
    check_false(placement_has(f.placement, one));
    tear_down(&f);
}

/* Relocations change a module, and it begins anywhere in a page. */
static void test_module(void)
{
    Object *module;
    uint8_t *relocated = g_malloc0(SIZE / 16), patched[48];
    const uint8_t *bytes;
    uint64_t addr;
    Fixture f;

    set_up(&f);
    module = add_object(&f, OBJECT_MODULE, "/lib/modules/m.ko", 5);
    g_array_index(module->code, ObjectCode, 0).relocated = relocated;
    g_ptr_array_add(module->made, relocated);
    relocated[0x40 / 16] = 0x0f;        /* 8 bytes at 0x40 */
    check_cmpuint(object_bytes(module, 0x10020, 48, &bytes), ==, 48);
    memcpy(patched, bytes, 48);
    memset(patched + 0x20, 0xee, 8);
    map(&f, SATP(1), 0x30000, 0x80100000);
    sb_code(f.sb, 0x80100826, patched, sizeof(patched));
    decide(&f);
    check_true(at_first(&f, 0x30830, &addr) == module);
    check_cmphex(addr, ==, 0x1002a);
    tear_down(&f);
}

/* Modules of which nothing ran, as a distribution has them */
#define NR_MODULES  1000

static void add_modules(Fixture *f, Object **modules, unsigned nr)
{
    for (unsigned i = 0; i < nr; i++) {
        g_autofree char *path = g_strdup_printf("/lib/modules/m%u.ko", i);

        modules[i] = add_object(f, OBJECT_MODULE, path, 100 + i);
    }
}

/*
 * Among many modules, a few bytes are in one of them by chance: they have to be
 * where the loader puts them, and the module must not have something else where
 * others ran.
 */
static void test_many_modules(void)
{
    g_autofree Object **modules = g_new(Object *, NR_MODULES);
    uint8_t other[600];
    Object *program;
    const uint8_t *bytes;
    uint64_t addr;
    Fixture f;

    set_up(&f);
    add_modules(&f, modules, NR_MODULES);
    /* Elsewhere in a page than the file's sections begin */
    map(&f, SATP(1), 0x30000, 0x80100000);
    check_cmpuint(object_bytes(modules[3], 0x10210, 200, &bytes), ==, 200);
    sb_code(f.sb, 0x80100100, bytes, 200);
    /* Less than chance may bring there */
    map(&f, SATP(1), 0x31000, 0x80101000);
    ran(&f, modules[4], 0x80100000, 0x1200, 16);
    /* One that is there, but for its first pages */
    map(&f, SATP(1), 0x42000, 0x80202000);
    ran(&f, modules[7], 0x80200000, 0x2000, 40);
    ran(&f, modules[7], 0x80200000, 0x2400, 40);
    /* Other code has some of one, and more that it has not. */
    map(&f, SATP(1), 0x50000, 0x80300000);
    check_cmpuint(object_bytes(modules[9], 0x10000, 400, &bytes), ==, 400);
    sb_code(f.sb, 0x80300000, bytes, 200);
    for (unsigned i = 0; i < sizeof(other); i++) {
        other[i] = i * 7;
    }
    sb_code(f.sb, 0x80300400, other, sizeof(other));
    sb_code(f.sb, 0x803000c8, bytes + 200, 200);
    /* A page of which others have a few bytes by chance, before and behind */
    map(&f, SATP(1), 0x58000, 0x80308000);
    check_cmpuint(object_bytes(modules[10], 0x10000, 100, &bytes), ==, 100);
    sb_code(f.sb, 0x80308000, bytes, 4);
    sb_code(f.sb, 0x80308010, other, sizeof(other));
    ran(&f, modules[10], 0x80308000, 0x20, 60);
    sb_code(f.sb, 0x80308400, other, sizeof(other));
    ran(&f, modules[10], 0x80308000, 0x60, 6);
    /* Two have the first function, and one of them has the second one. */
    memcpy((uint8_t *)g_array_index(modules[11]->code, ObjectCode, 0).bytes,
           g_array_index(modules[12]->code, ObjectCode, 0).bytes, 64);
    map(&f, SATP(1), 0x60000, 0x80400000);
    ran(&f, modules[12], 0x80400000, 0, 64);
    ran(&f, modules[12], 0x80400000, 0x100, 16);
    /* All have it, and so has a program that is tried behind them. */
    program = add_object(&f, OBJECT_PROGRAM, "/bin/program", 3);
    check_cmpuint(object_bytes(program, 0x10e00, 16, &bytes), ==, 16);
    for (unsigned i = 100; i < NR_MODULES; i++) {
        uint8_t *to = (uint8_t *)g_array_index(modules[i]->code, ObjectCode,
                                               0).bytes;

        memcpy(to + 0xe00, bytes, 16);
        memcpy(to + 0xf10, bytes, 16);
    }
    map(&f, SATP(1), 0x70000, 0x80500000);
    sb_code(f.sb, 0x80500e00, bytes, 16);
    ran(&f, program, 0x80500000, 0xe80, 64);
    decide(&f);
    check_true(at(&f, 0, 0x70e04, &addr) == program);
    check_true(at(&f, 0, 0x70e84, &addr) == program);
    check_null(at_first(&f, 0x30110, &addr));
    check_false(placement_has(f.placement, modules[3]));
    check_null(at_first(&f, 0x31210, &addr));
    check_true(at_first(&f, 0x42410, &addr) == modules[7]);
    check_cmphex(addr, ==, 0x12410);
    check_null(at_first(&f, 0x50010, &addr));
    check_true(placement_has(f.placement, modules[10]));
    check_true(at_first(&f, 0x60010, &addr) == modules[12]);
    check_false(placement_has(f.placement, modules[11]));
    tear_down(&f);

    /* With only two modules at hand, chance has less to choose from. */
    set_up(&f);
    add_modules(&f, modules, 2);
    map(&f, SATP(1), 0x30000, 0x80100000);
    check_cmpuint(object_bytes(modules[1], 0x10210, 40, &bytes), ==, 40);
    sb_code(f.sb, 0x80100100, bytes, 40);
    ran(&f, modules[0], 0x80200000, 0x200, 16);
    map(&f, SATP(1), 0x40000, 0x80200000);
    decide(&f);
    check_true(at_first(&f, 0x30110, &addr) == modules[1]);
    check_true(at_first(&f, 0x40204, &addr) == modules[0]);
    tear_down(&f);
}

/* The program of a space, when the same satp is another program's later */
static void test_program(void)
{
    Object *one, *two, *lib;
    SidebandWhere where;
    Fixture f;

    set_up(&f);
    lib = add_object(&f, OBJECT_LIBRARY, "/lib/lib.so", 1);
    one = add_object(&f, OBJECT_PROGRAM, "/bin/one", 2);
    two = add_object(&f, OBJECT_PROGRAM, "/bin/two", 3);
    map(&f, SATP(1), 0x3f0000, 0x80000000);
    ran(&f, lib, 0x80000000, 0x120, 40);
    map(&f, SATP(1), 0x10000, 0x80100000);
    ran(&f, one, 0x80100000, 0, 64);
    sb_fence(f.sb, 0, 10);
    map(&f, SATP(1), 0x10000, 0x80200000);
    ran(&f, two, 0x80200000, 0, 64);
    decide(&f);
    sideband_view_advance(f.view, 0);
    sideband_view_where(f.view, ETRACE_PRIV_U, 0, &where);
    check_true(placement_program(f.placement, &where) == one);
    sideband_view_advance(f.view, 10);
    sideband_view_where(f.view, ETRACE_PRIV_U, 0, &where);
    check_true(placement_program(f.placement, &where) == two);
    tear_down(&f);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/placement/shared", test_shared);
    g_test_add_func("/placement/short", test_short);
    g_test_add_func("/placement/reused", test_reused);
    g_test_add_func("/placement/refilled", test_refilled);
    g_test_add_func("/placement/patched", test_patched);
    g_test_add_func("/placement/freed", test_freed);
    g_test_add_func("/placement/caller", test_caller);
    g_test_add_func("/placement/unmapped", test_unmapped);
    g_test_add_func("/placement/vdso", test_vdso);
    g_test_add_func("/placement/modules-needed", test_modules_needed);
    g_test_add_func("/placement/ambiguous", test_ambiguous);
    g_test_add_func("/placement/named", test_named);
    g_test_add_func("/placement/renamed", test_renamed);
    g_test_add_func("/placement/unknown", test_unknown);
    g_test_add_func("/placement/module", test_module);
    g_test_add_func("/placement/many-modules", test_many_modules);
    g_test_add_func("/placement/program", test_program);
    return g_test_run();
}
