/*
 * Growing: a trace in one part whose files are still being written
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <gio/gio.h>
#include "base/input.h"
#include "trace/growing.h"
#include "code/sideband.h"

/* Addresses that each file has; no more of it is read. */
#define ROOM    ((size_t)1 << (sizeof(size_t) > 4 ? 40 : 29))

typedef struct GrowingFile {
    char *path;
    int fd;
    uint8_t *data;          /* NULL: not there yet */
} GrowingFile;

struct Growing {
    GrowingFile trace, sideband;
    Trace *t;               /* NULL: not open yet */
    size_t indexed;         /* bytes of the sideband that @t knows */
    bool other_session;
};

static void set_error(GError **errp, const char *path)
{
    int code = errno;

    g_set_error(errp, G_IO_ERROR, g_io_error_from_errno(code), "%s: %s", path,
                g_strerror(code));
}

Growing *growing_new(const char *trace, const char *sideband)
{
    Growing *g = g_new0(Growing, 1);

    g->trace = (GrowingFile) { .path = g_strdup(trace), .fd = -1 };
    g->sideband = (GrowingFile) { .path = g_strdup(sideband), .fd = -1 };
    return g;
}

static void file_close(GrowingFile *f)
{
    if (f->data) {
        munmap(f->data, ROOM);
    }
    if (f->fd >= 0) {
        close(f->fd);
    }
    g_free(f->path);
}

void growing_free(Growing *g)
{
    g_clear_pointer(&g->t, trace_free);
    file_close(&g->trace);
    file_close(&g->sideband);
    g_free(g);
}

/* Is it there by now? */
static bool file_open(GrowingFile *f, GError **errp)
{
    void *data;

    if (f->data) {
        return true;
    }
    if (f->fd < 0) {
        f->fd = open(f->path, O_RDONLY | O_CLOEXEC);
    }
    if (f->fd < 0) {
        if (errno != ENOENT) {
            set_error(errp, f->path);
        }
        return false;
    }
    /* Pages behind the end are not touched before the file has got them. */
    data = mmap(NULL, ROOM, PROT_READ, MAP_SHARED | MAP_NORESERVE, f->fd, 0);
    if (data == MAP_FAILED) {
        set_error(errp, f->path);
        return false;
    }
    input_is_mapped(data, ROOM, f->path);
    f->data = data;
    return true;
}

static size_t file_size(const GrowingFile *f)
{
    struct stat st;

    return f->fd >= 0 && fstat(f->fd, &st) == 0 ? MIN((uint64_t)st.st_size,
                                                      ROOM) : 0;
}

/* Has the sideband come as far as the trace's first packet? */
static Sideband *begin_sideband(Growing *g, bool ended, GError **errp)
{
    g_autoptr(GError) err = NULL;
    size_t size = file_size(&g->sideband);
    Sideband *sb = sideband_parse(g->sideband.data, size, 0, &err);

    if (sb && !ended && !sideband_known_to(sb, file_size(&g->trace))) {
        g_clear_pointer(&sb, sideband_free);
    } else if (!sb && (ended || size > 64)) {
        /* Even less may be a SESSION that is not whole. */
        g_propagate_prefixed_error(errp, g_steal_pointer(&err), "%s: ",
                                   g->sideband.path);
    }
    g->indexed = size;
    return sb;
}

Trace *growing_open(Growing *g, bool ended, GError **errp)
{
    char *traces[] = { g->trace.path, NULL };
    char *sidebands[] = { g->sideband.path, NULL };
    const TraceOptions opts = {
        .traces = traces,
        .sidebands = sidebands,
        .wrapped_at = RING_NOT_WRAPPED,
    };
    Sideband *sb;

    g_clear_pointer(&g->t, trace_free);
    g->other_session = false;
    if (!file_open(&g->trace, errp) || !file_open(&g->sideband, errp) ||
        !file_size(&g->trace)) {
        return NULL;
    }
    sb = begin_sideband(g, ended, errp);
    if (!sb) {
        return NULL;
    }
    g->t = trace_open_part(&opts, 0, sb, NULL, NULL, errp);
    if (g->t && g->t->unmarked && !ended) {
        g_clear_pointer(&g->t, trace_free);
    }
    if (!g->t) {
        return NULL;
    }
    g_bytes_unref(g->t->file);
    g->t->file = g_bytes_new_static(g->trace.data, ROOM);
    g->t->data = g->trace.data;
    g->t->end = g->t->begin;
    return g->t;
}

void growing_look(Growing *g, bool ended, GrowingLook *look)
{
    size_t size = file_size(&g->sideband);
    uint64_t start, end;

    *look = (GrowingLook) { .size = file_size(&g->trace) };
    if (size > g->indexed && !g->other_session) {
        g->other_session = !sideband_grow(g->t->sideband, size);
        g->indexed = size;
        look->sideband_grew = true;
    }
    sideband_trace_range(g->t->sideband, &start, &end);
    look->other_session = g->other_session;
    look->known = sideband_known_to(g->t->sideband, look->size);
    if (ended && !g->other_session) {
        look->known = look->size;
    }
    look->known = MAX(look->known, start);
    g->t->end = look->known;
}

size_t growing_place(const Growing *g, size_t from)
{
    return MIN(sideband_known_from(g->t->sideband, from), g->t->end);
}

size_t growing_skip_to(const Growing *g, size_t from)
{
    const Sideband *sb = g->t->sideband;
    uint64_t to = sideband_known_from(sb, from);

    return to < g->t->end ? to :
           g->t->end ? sideband_known_to(sb, g->t->end - 1) : 0;
}

size_t growing_sideband_size(const Growing *g)
{
    return g->indexed;
}
