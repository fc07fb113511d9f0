/*
 * A client of QEMU's machine protocol, QMP
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "analysis/qmp.h"
#include "base/json.h"

/* Of a line, bytes: samples of 128 harts for seconds have less. */
#define MAX_LINE    (64u << 20)
/* QEMU's own limit is 1024; its answers have not 10. */
#define MAX_DEPTH   100

struct Qmp {
    GSocketConnection *connection;
    GBufferedInputStream *in;
    bool shut_down;
};

/* The next line without its end; NULL if there is none any more */
static char *read_line(Qmp *q, GError **errp)
{
    g_autoptr(GString) line = g_string_new(NULL);

    for (;;) {
        gsize n;
        const char *data = g_buffered_input_stream_peek_buffer(q->in, &n);
        const char *end = n ? memchr(data, '\n', n) : NULL;
        gsize take = end ? (gsize)(end - data) : n;

        if (line->len + take > MAX_LINE) {
            g_set_error(errp, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                        "a line of more than %u bytes is no QMP; QEMU needs "
                        "-qmp for this address", MAX_LINE);
            return NULL;
        }
        g_string_append_len(line, data, take);
        g_input_stream_skip(G_INPUT_STREAM(q->in), take + !!end, NULL, NULL);
        if (end) {
            return g_string_free(g_steal_pointer(&line), FALSE);
        }
        if (g_buffered_input_stream_fill(q->in, -1, NULL, errp) <= 0) {
            return NULL;
        }
    }
}

/* The next line, an object; NULL with @errp set if there is none any more */
static JsonNode *next_object(Qmp *q, GError **errp)
{
    g_autoptr(GError) err = NULL;
    g_autofree char *line = read_line(q, &err);
    JsonNode *node;

    if (!line && g_error_matches(err, G_IO_ERROR, G_IO_ERROR_INVALID_DATA)) {
        g_propagate_error(errp, g_steal_pointer(&err));
        return NULL;
    }
    if (!line) {
        g_set_error(errp, G_IO_ERROR, G_IO_ERROR_CLOSED, "QEMU has ended%s%s",
                    err ? ": " : "", err ? err->message : "");
        return NULL;
    }
    node = json_depth(line) <= MAX_DEPTH ? json_from_string(line, &err) : NULL;
    if (!node || !JSON_NODE_HOLDS_OBJECT(node)) {
        g_clear_pointer(&node, json_node_unref);
        g_set_error(errp, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                    "this is no QMP: %.60s; QEMU needs -qmp for this address",
                    line);
    }
    return node;
}

Qmp *qmp_open(const Address *address, unsigned timeout, GError **errp)
{
    g_autoptr(Qmp) q = g_new0(Qmp, 1);
    g_autoptr(JsonNode) greeting = NULL, done = NULL;

    q->connection = address_connect(address, timeout, NULL, errp);
    if (!q->connection) {
        return NULL;
    }
    q->in = G_BUFFERED_INPUT_STREAM(g_buffered_input_stream_new(
        g_io_stream_get_input_stream(G_IO_STREAM(q->connection))));
    greeting = next_object(q, errp);
    if (!greeting) {
        return NULL;
    }
    done = qmp_run(q, "qmp_capabilities", NULL, errp);
    return done ? g_steal_pointer(&q) : NULL;
}

void qmp_close(Qmp *q)
{
    g_clear_object(&q->in);
    g_clear_object(&q->connection);
    g_free(q);
}

bool qmp_shut_down(const Qmp *q)
{
    return q->shut_down;
}

const char *qmp_string(JsonNode *node, const char *name)
{
    JsonObject *object = JSON_NODE_HOLDS_OBJECT(node) ?
                         json_node_get_object(node) : NULL;
    JsonNode *member = object ? json_object_get_member(object, name) : NULL;

    /* json-glib complains of members that are of another type, or none. */
    return member && JSON_NODE_HOLDS_VALUE(member) &&
           json_node_get_value_type(member) == G_TYPE_STRING ?
           json_node_get_string(member) : "";
}

/* What an answer says: true with *@result, or false with @errp set */
static bool take_answer(JsonObject *answer, JsonNode **result, GError **errp)
{
    JsonNode *error = json_object_get_member(answer, "error");

    if (json_object_has_member(answer, "return")) {
        *result = json_node_ref(json_object_get_member(answer, "return"));
        return true;
    }
    g_set_error(errp, G_IO_ERROR, G_IO_ERROR_FAILED, "QEMU: %s", error ?
                qmp_string(error, "desc") : "an answer without a result");
    return false;
}

JsonNode *qmp_run(Qmp *q, const char *command, const char *arguments,
                  GError **errp)
{
    g_autofree char *line = g_strdup_printf(
        "{\"execute\":\"%s\"%s%s}\n", command, arguments ? ",\"arguments\":" :
        "", arguments ?: "");
    GOutputStream *out = g_io_stream_get_output_stream(
        G_IO_STREAM(q->connection));
    JsonNode *result = NULL;

    if (!g_output_stream_write_all(out, line, strlen(line), NULL, NULL,
                                   NULL)) {
        g_set_error(errp, G_IO_ERROR, G_IO_ERROR_CLOSED, "QEMU has ended");
        return NULL;
    }
    for (;;) {
        g_autoptr(JsonNode) node = next_object(q, errp);
        JsonObject *object;

        if (!node) {
            return NULL;
        }
        object = json_node_get_object(node);
        if (json_object_has_member(object, "event")) {
            q->shut_down |= g_str_equal(qmp_string(node, "event"), "SHUTDOWN");
        } else {
            take_answer(object, &result, errp);
            return result;
        }
    }
}
