/*
 * BTF made by hand, after Documentation/bpf/btf.rst of Linux, and kernels that
 * have it somewhere
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <glib/gstdio.h>
#include <gio/gio.h>
#include "names/btf.h"
#include "tests/fixtures/check.h"
#include "etrace/sideband.h"
#include "names/kernel-btf.h"

/* A blob that is being made */
typedef struct Maker {
    GByteArray *types, *strings;
    unsigned nr_types;
} Maker;

static void put(GByteArray *to, unsigned n, ...)
{
    va_list ap;

    va_start(ap, n);
    for (unsigned i = 0; i < n; i++) {
        uint8_t bytes[4];

        etrace_sb_put(bytes, va_arg(ap, uint32_t), 4);
        g_byte_array_append(to, bytes, 4);
    }
    va_end(ap);
}

static Maker maker_new(void)
{
    Maker m = { g_byte_array_new(), g_byte_array_new(), 0 };

    g_byte_array_append(m.strings, (const uint8_t *)"", 1);
    return m;
}

static uint32_t name(Maker *m, const char *text)
{
    uint32_t at = m->strings->len;

    if (!text[0]) {
        return 0;
    }
    g_byte_array_append(m->strings, (const uint8_t *)text, strlen(text) + 1);
    return at;
}

/* Returns the type's number. */
static unsigned type(Maker *m, const char *text, unsigned kind, bool flag,
                     unsigned vlen, uint32_t size)
{
    put(m->types, 3, name(m, text), (uint32_t)flag << 31 | kind << 24 | vlen,
        size);
    return ++m->nr_types;
}

static unsigned type_int(Maker *m, const char *text, unsigned bits)
{
    unsigned id = type(m, text, 1, false, 0, bits / 8);

    put(m->types, 1, 1u << 24 | bits);      /* signed */
    return id;
}

static unsigned type_array(Maker *m, unsigned element, unsigned count)
{
    unsigned id = type(m, "", 3, false, 0, 0);

    put(m->types, 3, element, 1, count);
    return id;
}

static void member(Maker *m, const char *text, unsigned type, uint32_t offset)
{
    put(m->types, 3, name(m, text), type, offset);
}

static GByteArray *finish(Maker *m)
{
    GByteArray *blob = g_byte_array_new();

    put(blob, 6, 0x0001eb9f, 24, 0, m->types->len, m->types->len,
        m->strings->len);
    g_byte_array_append(blob, m->types->data, m->types->len);
    g_byte_array_append(blob, m->strings->data, m->strings->len);
    g_byte_array_unref(m->types);
    g_byte_array_unref(m->strings);
    return blob;
}

/*
 * One of each kind, and
 *
 *     struct task_struct { long x; int flags:3; volatile pid_t pid;
 *         union { struct { long y; pid_t tgid; }; char z[16]; };
 *         char comm[COMM]; };
 */
static GByteArray *make_blob(const char *task, unsigned comm)
{
    Maker m = maker_new();
    unsigned i32 = type_int(&m, "int", 32);
    unsigned i64 = type_int(&m, "long", 64);
    unsigned i8 = type_int(&m, "char", 8);
    unsigned pid = type(&m, "pid_t", 8, false, 0, i32);
    unsigned vpid = type(&m, "", 9, false, 0, pid);
    unsigned name16 = type_array(&m, i8, 16);
    unsigned name_comm = type_array(&m, i8, comm);
    unsigned inner, both;

    type(&m, "task_struct", 7, false, 0, 0);        /* announced: FWD */
    type(&m, "", 2, false, 0, m.nr_types);          /* PTR */
    type(&m, "colour", 6, false, 2, 4);
    put(m.types, 4, name(&m, "red"), 0, name(&m, "green"), 1);
    type(&m, "large", 19, false, 1, 8);
    put(m.types, 3, name(&m, "one"), 1, 0);
    type(&m, "", 13, false, 1, 0);
    put(m.types, 2, 0, i32);
    type(&m, "f", 12, false, 1, m.nr_types);
    type(&m, "v", 14, false, 0, i32);
    put(m.types, 1, 1);
    type(&m, ".data", 15, false, 1, 4);
    put(m.types, 3, m.nr_types - 1, 0, 4);
    type(&m, "double", 16, false, 0, 8);
    type(&m, "tag", 17, false, 0, i32);
    put(m.types, 1, -1);
    type(&m, "user", 18, false, 0, i32);
    type(&m, "", 11, false, 0, i32);
    type(&m, "", 10, false, 0, i32);

    inner = type(&m, "", 4, false, 2, 16);
    member(&m, "y", i64, 0);
    member(&m, "tgid", pid, 64);
    both = type(&m, "", 5, false, 2, 16);
    member(&m, "", inner, 0);
    member(&m, "z", name16, 0);
    type(&m, task, 4, true, 5, 64);
    member(&m, "x", i64, 0);
    member(&m, "flags", i32, 3 << 24 | 64);
    member(&m, "pid", vpid, 96);
    member(&m, "", both, 128);
    member(&m, "comm", name_comm, 256);
    return finish(&m);
}

static void test_members(void)
{
    static const struct {
        const char *name;
        BtfMember is;
    } members[] = {
        { "x", { 0, BTF_CLASS_INT, 8, 1 } },
        { "pid", { 12, BTF_CLASS_INT, 4, 1 } },
        { "y", { 16, BTF_CLASS_INT, 8, 1 } },
        { "tgid", { 24, BTF_CLASS_INT, 4, 1 } },
        { "z", { 16, BTF_CLASS_ARRAY, 1, 16 } },
        { "comm", { 32, BTF_CLASS_ARRAY, 1, 17 } },
        { "flags", { 8, BTF_CLASS_OTHER, 4, 1 } },
    };
    g_autoptr(GByteArray) blob = make_blob("task_struct", 17);
    Btf *btf = btf_parse(blob->data, blob->len);
    BtfMember found;

    check_true(btf != NULL);
    check_cmpuint(btf_blob_size(blob->data, blob->len), ==, blob->len);
    check_true(btf_has_struct(btf, "task_struct"));
    check_false(btf_has_struct(btf, "int"));
    for (unsigned i = 0; i < ARRAY_SIZE(members); i++) {
        check_true(btf_member(btf, "task_struct", members[i].name, &found));
        check_cmpuint(found.offset, ==, members[i].is.offset);
        check_cmpuint(found.class, ==, members[i].is.class);
        check_cmpuint(found.size, ==, members[i].is.size);
        check_cmpuint(found.count, ==, members[i].is.count);
    }
    check_false(btf_member(btf, "task_struct", "pi", &found));
    check_false(btf_member(btf, "task_struct", "", &found));
    check_false(btf_member(btf, "task", "pid", &found));
    btf_free(btf);
}

/* A blob that is cut off anywhere, or has a wrong number, is none. */
static void test_damaged(void)
{
    g_autoptr(GByteArray) blob = make_blob("task_struct", 16);
    static const struct {
        unsigned at;
        uint8_t value;
    } wrong[] = {
        { 0, 0 }, { 2, 2 }, { 3, 1 }, { 4, 23 }, { 11, 1 }, { 15, 1 },
        { 19, 1 }, { 23, 1 }, { 12, 1 }, { 20, 0 },
        { 24 + 3, 1 },          /* name of the first type */
        { 24 + 7, 0 }, { 24 + 7, 20 },          /* its kind */
    };

    for (unsigned len = 0; len < blob->len; len++) {
        g_autofree uint8_t *part = g_memdup2(blob->data, len);

        check_cmpuint(btf_blob_size(part, len), ==, 0);
        check_true(!btf_parse(part, len));
    }
    for (unsigned i = 0; i < ARRAY_SIZE(wrong); i++) {
        uint8_t was = blob->data[wrong[i].at];
        Btf *btf;

        blob->data[wrong[i].at] = wrong[i].value;
        btf = btf_parse(blob->data, blob->len);
        if (btf) {
            g_error("value %u at %u is not noticed", wrong[i].value,
                    wrong[i].at);
        }
        blob->data[wrong[i].at] = was;
    }
    blob->data[blob->len - 1] = 'x';        /* strings without an end */
    check_true(!btf_parse(blob->data, blob->len));
}

/* Whatever a byte is replaced by, the search comes to an end. */
static void test_every_byte(void)
{
    g_autoptr(GByteArray) blob = make_blob("task_struct", 16);

    for (unsigned at = 0; at < blob->len; at++) {
        uint8_t was = blob->data[at];

        for (unsigned value = 0; value < 256; value += 17) {
            Btf *btf;
            BtfMember found;

            blob->data[at] = value;
            btf = btf_parse(blob->data, blob->len);
            if (btf) {
                btf_member(btf, "task_struct", "comm", &found);
                btf_member(btf, "task_struct", "tgid", &found);
                btf_free(btf);
            }
        }
        blob->data[at] = was;
    }
}

/* Structures and names that have no end: themselves in themselves */
static void test_endless(void)
{
    Maker m = maker_new();
    g_autoptr(GByteArray) blob = NULL;
    BtfMember found;
    unsigned self;
    Btf *btf;

    type(&m, "again", 8, false, 0, 1);
    self = type(&m, "task_struct", 4, false, 1000, 8);
    for (unsigned i = 0; i < 999; i++) {
        member(&m, "", self, 8);
    }
    member(&m, "pid", 1, 0);
    blob = finish(&m);
    btf = btf_parse(blob->data, blob->len);
    check_true(btf != NULL);
    check_false(btf_member(btf, "task_struct", "tgid", &found));
    check_false(btf_member(btf, "task_struct", "pid", &found));
    btf_free(btf);
}

static void check_info(const uint8_t *data, size_t size, const char *want)
{
    g_autoptr(GError) err = NULL;
    g_autofree char *text = NULL;
    ETraceGuestInfo info;

    kernel_btf_parse(data, size, &info, &err);
    check_no_error(err);
    text = etrace_guest_info_text(&info);
    check_cmpstr(text, ==, want);
}

/* The largest that has a task, wherever it is */
static void test_image(void)
{
    g_autoptr(GByteArray) image = g_byte_array_new();
    g_autoptr(GByteArray) one = make_blob("task_struct", 16);
    g_autoptr(GByteArray) other = make_blob("a_struct_of_a_larger_blob", 16);
    g_autoptr(GByteArray) wrong = make_blob("task_struct", 15);
    g_autoptr(GError) err = NULL;
    ETraceGuestInfo info;

    g_byte_array_append(image, (const uint8_t *)"MZ\x9f\xeb\x01", 5);
    g_byte_array_append(image, other->data, other->len);
    /* What looks like the beginning of a large one, and is none */
    put(image, 6, 0x0001eb9f, 24, 0, 100, 100, 500);
    g_byte_array_append(image, one->data, one->len);
    g_byte_array_append(image, other->data, other->len);
    g_byte_array_append(image, (const uint8_t *)"\x9f\xeb\x01", 3);
    check_info(image->data, image->len, "linux:pid=12:tgid=24:comm=32");
    check_info(one->data, one->len, "linux:pid=12:tgid=24:comm=32");

    check_false(kernel_btf_parse(other->data, other->len, &info, &err));
    check_true(strstr(err->message, "CONFIG_DEBUG_INFO_BTF"));
    g_clear_error(&err);
    check_false(kernel_btf_parse(wrong->data, wrong->len, &info, &err));
    check_true(strstr(err->message, "no pid, tgid or comm"));
    g_clear_error(&err);
    check_false(kernel_btf_parse(one->data, 0, &info, &err));
}

/* The same as a file that is compressed, and one that is cut off */
static void test_gzip(void)
{
    g_autoptr(GByteArray) one = make_blob("task_struct", 16);
    g_autoptr(GConverter) gz =
        G_CONVERTER(g_zlib_compressor_new(G_ZLIB_COMPRESSOR_FORMAT_GZIP, 9));
    g_autofree char *path = NULL;
    g_autofree char *text = NULL;
    g_autoptr(GError) err = NULL;
    uint8_t out[4096];
    ETraceGuestInfo info;
    gsize took, size;
    int fd;

    check_cmpint(g_converter_convert(gz, one->data, one->len, out,
                                     sizeof(out), G_CONVERTER_INPUT_AT_END,
                                     &took, &size, &err), ==,
                 G_CONVERTER_FINISHED);
    fd = g_file_open_tmp("btf-XXXXXX", &path, &err);
    check_no_error(err);
    g_close(fd, NULL);

    g_file_set_contents(path, (const char *)out, size, &err);
    check_no_error(err);
    check_true(kernel_btf_guest_info(path, &info, &err));
    text = etrace_guest_info_text(&info);
    check_cmpstr(text, ==, "linux:pid=12:tgid=24:comm=32");

    g_file_set_contents(path, (const char *)out, size / 2, &err);
    check_no_error(err);
    check_false(kernel_btf_guest_info(path, &info, &err));
    check_true(strstr(err->message, path) && strstr(err->message, "cut off"));
    g_remove(path);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/btf/members", test_members);
    g_test_add_func("/btf/damaged", test_damaged);
    g_test_add_func("/btf/every-byte", test_every_byte);
    g_test_add_func("/btf/endless", test_endless);
    g_test_add_func("/btf/image", test_image);
    g_test_add_func("/btf/gzip", test_gzip);
    return g_test_run();
}
