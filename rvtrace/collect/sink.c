/*
 * Where a stream that is collected goes: a file, packed or as it is
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <gio/gio.h>
#include "base/output.h"
#include "base/stream-file.h"
#include "collect/packer.h"
#include "collect/sink.h"

struct Sink {
    char *path;
    bool shown;
    Output *out;
    Packer *packer;         /* NULL: not packed */
};

Sink *sink_open(const char *path, const SinkOptions *o, GError **errp)
{
    Sink *s = g_new0(Sink, 1);
    int level = o->level;

    s->path = g_strdup(path);
    if (!level && g_str_has_suffix(path, STREAM_FILE_SUFFIX)) {
        level = PACKER_LEVEL_DEFAULT;
    }
    if (level) {
        s->packer = packer_new(level);
    }
    s->out = output_open_growing(path, errp);
    if (!s->out) {
        sink_discard(s);
        return NULL;
    }
    return s;
}

static bool fail(const Sink *s, GError **errp)
{
    int code = errno;

    g_set_error(errp, G_IO_ERROR, g_io_error_from_errno(code),
                "cannot write %s: %s", s->path, g_strerror(code));
    return false;
}

bool sink_put(Sink *s, const uint8_t *data, size_t size, GError **errp)
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
    return true;
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
    g_free(s->path);
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
