/*
 * Files of encoder parameters: what params-text.h writes, read again
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <gio/gio.h>
#include <json-glib/json-glib.h>
#include "base/input.h"
#include "base/json.h"
#include "text/params-file.h"

/* Such a file has a few dozen lines. */
#define FILE_MAX    65536

typedef struct Reading {
    const char *path;
    unsigned line;
    ParamsSetFn *set;
    void *opaque;
    bool no_context, no_time, no_data;
} Reading;

static bool fail(const Reading *r, GError **errp, const char *what)
{
    g_set_error(errp, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "%s:%u: %s",
                r->path, r->line, what);
    return false;
}

static bool pass_on(Reading *r, const char *name, const char *value,
                    GError **errp)
{
    if (r->set(r->opaque, name, value, errp)) {
        return true;
    }
    g_prefix_error(errp, "%s:%u: ", r->path, r->line);
    return false;
}

/* Tables 9.1 and 9.2, of the port or of filters: packets are the same. */
static bool is_about_port(const char *name)
{
    static const char *const names[] = {
        "arch", "blocks", "ctype_width", "ecause_choice", "filter_context",
        "filter_time", "filter_excint", "filter_privilege", "filter_tval",
        "iretire_width", "ilastsize_width", "itype_width", "retires",
        "taken_branches", "impdef_width", "dblock_width", "dsize_width",
        "iaddr_lsbs_width", "lresp_width", "ldata_width", "sdata_width",
        "packet_flow_id", NULL,
    };

    return g_strv_contains(names, name);
}

/* Names that differ; type_width: is there a type, that is, data trace? */
static const char *our_name(const char *name)
{
    return g_str_equal(name, "enc_mode_width") ? "encoder_mode_width" :
           g_str_equal(name, "tstamp_bytes") ? "ts_bytes" : name;
}

/* A parameter of the specification: @name is without _p. */
static bool take(Reading *r, const char *name, const char *value,
                 GError **errp)
{
    bool zero = g_str_equal(value, "0");

    if (is_about_port(name)) {
        return true;
    }
    if (g_str_equal(name, "nocontext")) {
        r->no_context = !zero;
        return !r->no_context || pass_on(r, "context_width", "0", errp);
    }
    if (g_str_equal(name, "notime")) {
        r->no_time = !zero;
        return !r->no_time || pass_on(r, "time_width", "0", errp);
    }
    if (g_str_equal(name, "type_width")) {
        r->no_data = zero;
        return !r->no_data || pass_on(r, "data_width", "0", errp);
    }
    if ((r->no_context && g_str_equal(name, "context_width")) ||
        (r->no_time && g_str_equal(name, "time_width")) ||
        (r->no_data && g_str_equal(name, "data_width"))) {
        return true;
    }
    if (g_str_equal(name, "srcid_bytes")) {
        return pass_on(r, "src_bits", zero ? "0" :
                       g_str_equal(value, "1") ? "8" :
                       g_str_equal(value, "2") ? "16" : "", errp);
    }
    /* These have no way to say 0: no data trace, unified loads. */
    if ((g_str_equal(name, "data_width") || g_str_equal(name, "lrid_width")) &&
        g_str_equal(value, "1")) {
        value = "0";
    }
    return pass_on(r, our_name(name), value, errp);
}

/* ".itrace.NAME_p,VALUE", "NAME_p=VALUE" */
static bool take_line(Reading *r, char *line, GError **errp)
{
    char *value = strpbrk(line, ",="), *name = line, *dot;

    g_strstrip(line);
    if (!*line || *line == '#' || *line == '[') {
        return true;
    }
    if (!value) {
        return fail(r, errp, "not a parameter: neither NAME_p=VALUE nor "
                    ".GROUP.NAME_p,VALUE; give a file that 'rvtrace params' "
                    "wrote");
    }
    *value++ = '\0';
    g_strstrip(name);
    g_strstrip(value);
    dot = strrchr(name, '.');
    name = dot ? dot + 1 : name;
    if (g_str_has_suffix(name, "_p")) {
        name[strlen(name) - 2] = '\0';
    }
    return take(r, name, value, errp);
}

static bool read_lines(Reading *r, char *text, GError **errp)
{
    char *next;

    for (char *line = text; line; line = next) {
        next = strchr(line, '\n');
        if (next) {
            *next++ = '\0';
        }
        r->line++;
        if (!take_line(r, line, errp)) {
            return false;
        }
    }
    return true;
}

/* An object of numbers and texts */
static bool read_json(Reading *r, const char *text, GError **errp)
{
    g_autoptr(GList) members = NULL;
    g_autoptr(JsonNode) node = NULL;
    JsonObject *object;

    node = json_depth(text) <= 1 ? json_from_string(text, NULL) : NULL;
    if (!node || !JSON_NODE_HOLDS_OBJECT(node)) {
        return fail(r, errp, "not an object of parameters, as 'rvtrace params "
                    "--format json' writes it");
    }
    object = json_node_get_object(node);
    members = json_object_get_members(object);
    for (const GList *m = members; m; m = m->next) {
        JsonNode *value = json_object_get_member(object, m->data);
        g_autofree char *text_value = json_to_string(value, false);

        if (JSON_NODE_HOLDS_VALUE(value) &&
            json_node_get_value_type(value) == G_TYPE_STRING) {
            g_free(text_value);
            text_value = g_strdup(json_node_get_string(value));
        }
        if (!r->set(r->opaque, m->data, text_value, errp)) {
            g_prefix_error(errp, "%s: ", r->path);
            return false;
        }
    }
    return true;
}

bool params_file_read(const char *path, ParamsSetFn *set, void *opaque,
                      GError **errp)
{
    Reading r = { .path = path, .set = set, .opaque = opaque };
    g_autoptr(GBytes) file = input_open(path, errp);
    g_autofree char *text = NULL;
    const uint8_t *data;
    size_t size;

    if (!file) {
        return false;
    }
    data = input_data(file, &size);
    r.line = 1;
    if (size > FILE_MAX || memchr(data, 0, size)) {
        return fail(&r, errp, "not a file of parameters: it is binary, or "
                    "longer than 64 KiB");
    }
    text = g_strndup((const char *)data, size);
    if (*g_strchug(text) == '{') {
        return read_json(&r, text, errp);
    }
    r.line = 0;
    return read_lines(&r, text, errp);
}
