/*
 * pprof, and what it and speedscope say of functions of the same name
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <gio/gio.h>
#include "tests/fixtures/check.h"
#include "tests/fixtures/view-fixture.h"
#include "views/pgo/pprof.h"
#include "views/time/speedscope.h"

/* Of all that view_run_all() runs */
#define ALL_INSNS   10300

static uint64_t get_varint(const uint8_t **p)
{
    uint64_t v = 0;

    for (unsigned shift = 0;; shift += 7) {
        v |= (uint64_t)(**p & 0x7f) << shift;
        if (!(*(*p)++ & 0x80)) {
            return v;
        }
    }
}

/* What is in fields 2 (samples), 4, 5 and 6 of a profile.proto */
static void read_pprof(const uint8_t *p, const uint8_t *end, unsigned *fields,
                       uint64_t *sum)
{
    while (p < end) {
        uint64_t tag = get_varint(&p), len;

        check_cmpuint(tag >> 3, <, 16);
        fields[tag >> 3]++;
        if ((tag & 7) == 0) {
            get_varint(&p);
            continue;
        }
        check_cmpuint(tag & 7, ==, 2);
        len = get_varint(&p);
        check_cmpuint(len, <=, end - p);
        if (tag >> 3 == 2) {
            const uint8_t *q = p;

            check_cmpuint(get_varint(&q), ==, 1 << 3 | 2);
            q += get_varint(&q);
            check_cmpuint(get_varint(&q), ==, 2 << 3 | 2);
            get_varint(&q);
            *sum += get_varint(&q);
            check_true(q == p + len);
        }
        p += len;
    }
    check_true(p == end);
}

/* What pprof_write() writes, unpacked; returns how much of @data that is. */
static size_t pprof(const ViewFixture *f, const PprofOptions *o, uint8_t *data,
                    size_t room)
{
    g_autoptr(GZlibDecompressor) gunzip =
        g_zlib_decompressor_new(G_ZLIB_COMPRESSOR_FORMAT_GZIP);
    g_autoptr(GError) err = NULL;
    gsize read, written;
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);

    check_true(pprof_write(f->profile, f->objects, o, file, &err));
    fclose(file);
    check_cmpint(g_converter_convert(G_CONVERTER(gunzip), text, size, data,
                                     room, G_CONVERTER_INPUT_AT_END, &read,
                                     &written, &err), ==,
                 G_CONVERTER_FINISHED);
    check_cmpuint(read, ==, size);
    free(text);
    return written;
}

static void test_pprof(void)
{
    unsigned fields[16] = { 0 };
    uint8_t data[65536];
    uint64_t sum = 0;
    ViewFixture f;

    view_set_up(&f, NULL, NULL);
    view_run_all(&f);
    read_pprof(data, data + pprof(&f, &(PprofOptions) { 0 }, data,
                                  sizeof(data)), fields, &sum);
    check_cmpuint(sum, ==, ALL_INSNS);
    /* main, work, leaf, 2 of the kernel, main and leaf of ls */
    check_cmpuint(fields[2], ==, 7);
    check_cmpuint(fields[4], ==, f.profile->frames->len);
    check_cmpuint(fields[5], ==, f.profile->frames->len);
    check_cmpuint(fields[3], ==, 2);
    view_tear_down(&f);
}

/*
 * A function of the same name as work: "init", and both in the same source
 * file if *@opaque, else in two
 */
static bool find_init(void *opaque, const Object *object, uint64_t addr,
                      const char **file, unsigned *line)
{
    if (addr != WORK && addr != LEAF) {
        return false;
    }
    *file = addr == WORK || *(bool *)opaque ? "one.c" : "two.c";
    *line = addr == WORK ? 77 : 99;
    return true;
}

static void rename_frames(ViewFixture *f)
{
    for (guint i = 0; i < f->profile->frames->len; i++) {
        ProfileFrame *frame = profile_frame(f->profile, i);

        if (g_str_equal(frame->name, "work") ||
            g_str_equal(frame->name, "leaf")) {
            g_free(frame->name);
            frame->name = g_strdup("init");
        }
    }
}

/* Is there a string @text in the @size bytes of a profile.proto? */
static bool has_string(const uint8_t *data, size_t size, const char *text)
{
    g_autofree char *field = g_strdup_printf("%c%c%s", 6 << 3 | 2,
                                             (int)strlen(text), text);

    return memmem(data, size, field, strlen(field));
}

/* Functions of one name are two, and each has the line where it begins. */
static void test_pprof_lines(void)
{
    for (int same = 0; same < 2; same++) {
        bool same_file = same;
        PprofOptions o = { .lines = { find_init, &same_file } };
        uint8_t data[65536];
        ViewFixture f;
        size_t size;

        view_set_up(&f, NULL, NULL);
        view_run_all(&f);
        rename_frames(&f);
        size = pprof(&f, &o, data, sizeof(data));
        check_true(has_string(data, size, "init"));
        check_true(has_string(data, size, "one.c"));
        check_true(has_string(data, size, "two.c") == !same);
        check_true(has_string(data, size, "init [0x1200]") == same);
        check_false(has_string(data, size, "init [0x1100]"));
        /* Line.line (2) and Function.start_line (5) */
        check_nonnull(memmem(data, size, "\x10\x4d", 2));
        check_nonnull(memmem(data, size, "\x28\x4d", 2));
        check_nonnull(memmem(data, size, "\x10\x63", 2));
        check_nonnull(memmem(data, size, "\x28\x63", 2));
        view_tear_down(&f);
    }
}

static void test_speedscope_lines(void)
{
    bool same_file = true;
    LineFinder lines = { find_init, &same_file };
    g_autoptr(Speedscope) s = speedscope_new("name", false, 1000, &lines);
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    ViewFixture f;

    view_set_up(&f, NULL, NULL);
    view_run_all(&f);
    rename_frames(&f);
    speedscope_add_profile(s, f.profile);
    check_cmpuint(speedscope_write(s, file), ==, 0);
    fclose(file);
    check_cmpuint(view_count(text, "{\"name\":\"init\",\"file\":\"one.c\","
                              "\"line\":77}"), ==, 1);
    check_cmpuint(view_count(text, "{\"name\":\"init\",\"file\":\"one.c\","
                              "\"line\":99}"), ==, 1);
    check_cmpuint(view_count(text, "{\"name\":\"main\","
                              "\"file\":\"/bin/program\"}"), ==, 1);
    free(text);
    view_tear_down(&f);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/pprof/whole", test_pprof);
    g_test_add_func("/pprof/lines", test_pprof_lines);
    g_test_add_func("/pprof/speedscope-lines", test_speedscope_lines);
    return g_test_run();
}
