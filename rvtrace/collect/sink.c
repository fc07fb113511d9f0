/*
 * Where a stream that is collected goes: a file, or one piece after another
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <gio/gio.h>
#include <glib/gstdio.h>
#include "base/output.h"
#include "base/stream-file.h"
#include "collect/packer.h"
#include "collect/sink.h"

struct Sink {
    SinkOptions o;
    char *path, *name;      /* as given; of the file that is written now */
    bool shown;
    Output *out;
    Packer *packer;         /* NULL: not packed */
    /* in pieces: */
    unsigned piece;         /* its number */
    uint64_t taken;         /* bytes of the stream in it */
    gint64 begun;           /* when, by the monotonic clock */
    GByteArray *head;       /* what the next one begins with */
};

static char *piece_name(const Sink *s, unsigned number)
{
    size_t len = strlen(s->path);

    if (g_str_has_suffix(s->path, STREAM_FILE_SUFFIX)) {
        len -= strlen(STREAM_FILE_SUFFIX);
    }
    return g_strdup_printf("%.*s.%06u%s", (int)len, s->path, number,
                           s->packer ? STREAM_FILE_SUFFIX : "");
}

static bool open_file(Sink *s, GError **errp)
{
    g_autofree char *name = s->o.cutter ? piece_name(s, s->piece + 1) :
                            g_strdup(s->path);

    /* Pieces of two traces cannot be told from each other. */
    if (s->o.cutter && g_file_test(name, G_FILE_TEST_EXISTS)) {
        g_set_error(errp, G_IO_ERROR, G_IO_ERROR_EXISTS,
                    "%s is there already, and may be a piece of another "
                    "trace; choose another name, or remove it", name);
        return false;
    }
    s->out = output_open_growing(name, errp);
    if (!s->out) {
        return false;
    }
    g_free(s->name);
    s->name = g_steal_pointer(&name);
    s->piece++;
    s->taken = 0;
    s->begun = g_get_monotonic_time();
    return true;
}

Sink *sink_open(const char *path, const SinkOptions *o, GError **errp)
{
    Sink *s = g_new0(Sink, 1);
    int level = o->level;

    s->o = *o;
    s->path = g_strdup(path);
    if (!level && g_str_has_suffix(path, STREAM_FILE_SUFFIX)) {
        level = PACKER_LEVEL_DEFAULT;
    }
    if (level) {
        s->packer = packer_new(level);
    }
    if (o->cutter) {
        s->head = g_byte_array_new();
        cutter_begin(s->head);
    }
    if (!open_file(s, errp)) {
        sink_discard(s);
        return NULL;
    }
    return s;
}

static bool fail(const Sink *s, GError **errp)
{
    int code = errno;

    g_set_error(errp, G_IO_ERROR, g_io_error_from_errno(code),
                "cannot write %s: %s", s->name, g_strerror(code));
    return false;
}

static bool put(Sink *s, const uint8_t *data, size_t size, GError **errp)
{
    int fd = output_fd(s->out);
    bool ok = s->packer ? packer_put(s->packer, fd, data, size) :
                          write_whole(fd, data, size);

    if (!ok) {
        return fail(s, errp);
    }
    /* From now on it is what was collected, whatever happens. */
    if (!output_show(s->out, errp)) {
        return false;
    }
    s->shown = true;
    s->taken += size;
    return true;
}

static bool put_head(Sink *s, GError **errp)
{
    bool ok = put(s, s->head->data, s->head->len, errp);

    g_byte_array_set_size(s->head, 0);
    return ok;
}

/* The oldest one is one too many. Somebody may have removed it already. */
static bool remove_oldest(const Sink *s, GError **errp)
{
    g_autofree char *old = piece_name(s, s->piece - s->o.keep);
    int code;

    if (g_unlink(old) == 0 || errno == ENOENT) {
        return true;
    }
    code = errno;
    g_set_error(errp, G_IO_ERROR, g_io_error_from_errno(code),
                "cannot remove %s: %s", old, g_strerror(code));
    return false;
}

static bool next_piece(Sink *s, GError **errp)
{
    return sink_flush(s, errp) &&
           output_commit(g_steal_pointer(&s->out), errp) &&
           open_file(s, errp) &&
           (!s->o.keep || s->piece <= s->o.keep || remove_oldest(s, errp)) &&
           put_head(s, errp);
}

static bool is_due(const Sink *s)
{
    return (s->o.most && s->taken >= s->o.most) ||
           (s->o.longest &&
            g_get_monotonic_time() - s->begun >= s->o.longest);
}

bool sink_put(Sink *s, const uint8_t *data, size_t size, GError **errp)
{
    size_t cut;
    bool lost;

    if (!s->o.cutter) {
        return put(s, data, size, errp);
    }
    if (!s->shown && !put_head(s, errp)) {
        return false;
    }
    cut = cutter_feed(s->o.cutter, data, size, is_due(s), s->head, &lost);
    if (lost) {
        g_set_error(errp, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                    "%s cannot be cut into pieces: the sideband does not come, "
                    "or does not say how packets are wrapped", s->path);
        return false;
    }
    if (cut == SIZE_MAX) {
        return put(s, data, size, errp);
    }
    return put(s, data, cut, errp) && next_piece(s, errp) &&
           put(s, data + cut, size - cut, errp);
}

gint64 sink_may_wait(const Sink *s)
{
    gint64 since = s->packer ? packer_waits_since(s->packer) : 0;

    return since ? MAX(since + PACKER_WAIT_US - g_get_monotonic_time(), 0) :
                   -1;
}

bool sink_flush(Sink *s, GError **errp)
{
    return !s->packer || packer_flush(s->packer, output_fd(s->out)) ||
           fail(s, errp);
}

void sink_discard(Sink *s)
{
    if (s->out && s->shown) {
        sink_flush(s, NULL);
    }
    g_clear_pointer(&s->out, output_discard);
    g_clear_pointer(&s->packer, packer_free);
    g_clear_pointer(&s->head, g_byte_array_unref);
    g_free(s->path);
    g_free(s->name);
    g_free(s);
}

bool sink_commit(Sink *s, GError **errp)
{
    bool ok = sink_flush(s, errp);

    if (ok) {
        ok = output_commit(g_steal_pointer(&s->out), errp);
    }
    sink_discard(s);
    return ok;
}
