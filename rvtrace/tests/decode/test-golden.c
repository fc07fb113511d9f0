/*
 * Golden vectors: packets field by field, and their bytes
 *
 * test-golden DIRECTORY: in each of its *.txt, a "params", "inst" or "data"
 * line is as 'rvtrace decode --emit packets' writes it; the line "= HEX"
 * behind a packet has its payload.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "tests/fixtures/check.h"
#include "text/packet-text.h"
#include "text/packet-text-private.h"

/* The value of a field; 0 if it is not there */
static uint64_t value_of(PacketLine *l, const char *name)
{
    const PacketPair *pair = packet_line_find(l, name);

    if (!pair) {
        return 0;
    }
    return pair->value[0] == '-' ? -g_ascii_strtoull(pair->value + 1, NULL, 0)
                                 : g_ascii_strtoull(pair->value, NULL, 0);
}

/* The name of a field of @l that @other has with another value, or NULL */
static const char *differing(PacketLine *l, PacketLine *other)
{
    for (unsigned i = 0; i < l->count; i++) {
        const char *name = l->pairs[i].name;

        if (value_of(l, name) != value_of(other, name)) {
            return name;
        }
    }
    return NULL;
}

/* From bytes to fields: each way, what is not there is 0. */
static void check_unpacked(PacketSources *sources, const char *line,
                           const GByteArray *payload, const char *where)
{
    g_autoptr(GString) written_text = g_string_new(NULL);
    g_auto(PacketLine) text = { 0 }, written = { 0 };
    uint8_t whole[ETRACE_ENCAP_MAX];
    ETraceEncapPacket pkt = {
        .data = g_str_has_prefix(line, "data"),
        .payload = payload->data,
        .len = payload->len,
    };
    const PacketSource *src = packet_sources_get(sources, 0);
    const char *name;

    pkt.size = etrace_encap_pack(&src->params, &pkt, whole);
    packet_text_write(written_text, sources, &pkt, whole);
    check_true(packet_line_split(&text, line, NULL));
    check_true(packet_line_split(&written, written_text->str, NULL));
    name = differing(&text, &written) ?: differing(&written, &text);
    if (name) {
        g_error("%s: %s differs: %s", where, name, written_text->str);
    }
}

/* From fields to bytes */
static void check_packed(PacketSources *sources, const char *line,
                         const GByteArray *want, const char *where)
{
    g_autoptr(GString) hex = g_string_new(NULL);
    g_autoptr(GError) err = NULL;
    uint8_t buf[ETRACE_PACKET_MAX];
    size_t len = packet_text_payload(sources, line, buf, &err);

    if (!len) {
        g_error("%s: %s", where, err->message);
    }
    for (size_t i = 0; i < len; i++) {
        g_string_append_printf(hex, " %02x", buf[i]);
    }
    if (len != want->len || memcmp(buf, want->data, len)) {
        g_error("%s: packed:%s", where, hex->str);
    }
}

static GByteArray *parse_bytes(const char *text)
{
    GByteArray *bytes = g_byte_array_new();

    for (; *text; text += 3) {
        uint8_t byte = g_ascii_xdigit_value(text[1]) << 4 |
                       g_ascii_xdigit_value(text[2]);

        check_true(text[0] == ' ' && g_ascii_isxdigit(text[1]) &&
                   g_ascii_isxdigit(text[2]));
        g_byte_array_append(bytes, &byte, 1);
    }
    return bytes;
}

static void set_params(PacketSources *sources, const char *line,
                       const char *where)
{
    g_autoptr(GByteArray) none = g_byte_array_new();
    g_autoptr(GError) err = NULL;

    if (!packet_text_assemble(sources, line, none, &err)) {
        g_error("%s: %s", where, err->message);
    }
    check_cmpuint(none->len, ==, 0);
}

static void test_file(gconstpointer path)
{
    g_autofree char *content = NULL;
    g_autoptr(PacketSources) pack = NULL, unpack = NULL;
    g_auto(GStrv) lines = NULL;
    const char *packet = NULL;
    ETraceParams params;
    unsigned vectors = 0;

    etrace_params_init(&params, 64);
    pack = packet_sources_new(&params);
    unpack = packet_sources_new(&params);
    check_true(g_file_get_contents(path, &content, NULL, NULL));
    lines = g_strsplit(content, "\n", -1);
    for (unsigned i = 0; lines[i]; i++) {
        g_autofree char *where = g_strdup_printf("%s:%u", (const char *)path,
                                                 i + 1);

        if (lines[i][0] == '#' || !lines[i][0]) {
            continue;
        }
        if (g_str_has_prefix(lines[i], "params")) {
            set_params(pack, lines[i], where);
            set_params(unpack, lines[i], where);
        } else if (lines[i][0] != '=') {
            check_null(packet);
            packet = lines[i];
        } else {
            g_autoptr(GByteArray) bytes = parse_bytes(lines[i] + 1);

            check_nonnull(packet);
            check_packed(pack, packet, bytes, where);
            check_unpacked(unpack, packet, bytes, where);
            packet = NULL;
            vectors++;
        }
    }
    check_null(packet);
    check_cmpuint(vectors, >, 10);
    g_test_message("%u vectors", vectors);
}

int main(int argc, char **argv)
{
    g_autoptr(GPtrArray) paths = g_ptr_array_new_with_free_func(g_free);
    const char *name;
    GDir *dir;

    g_test_init(&argc, &argv, NULL);
    check_cmpint(argc, ==, 2);
    dir = g_dir_open(argv[1], 0, NULL);
    check_nonnull(dir);
    while ((name = g_dir_read_name(dir))) {
        if (g_str_has_suffix(name, ".txt")) {
            g_autofree char *test = g_strdup_printf("/golden/%s", name);

            g_ptr_array_add(paths, g_build_filename(argv[1], name, NULL));
            g_test_add_data_func(test, paths->pdata[paths->len - 1],
                                 test_file);
        }
    }
    g_dir_close(dir);
    check_cmpuint(paths->len, >=, 6);
    return g_test_run();
}
