/*
 * Do trace and sideband belong together?
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <gio/gio.h>
#include "base/say.h"
#include "trace/trace-private.h"

/* Since then, both streams have the id of their session. */
#define MINOR_WITH_ID   7

bool trace_check_identity(Trace *t, const ETraceParams *framing,
                          GError **errp)
{
    uint64_t wanted, origin, id;

    /* A piece that begins in the middle has the id in its mark. */
    if (!t->sideband || t->ram || t->head || t->begin >= t->end ||
        !sideband_origin(t->sideband, &wanted, &origin)) {
        return true;
    }
    if (sideband_minor(t->sideband) < MINOR_WITH_ID) {
        say_warn("%s: it was written by an older QEMU, whose trace does not "
                 "say which session it is of: whether %s belongs to it is not "
                 "checked", t->sideband_path, t->path);
        return true;
    }
    switch (etrace_encap_find_mark(framing, t->data + t->begin,
                                   t->end - t->begin, &id)) {
    case ETRACE_MARK_MORE:
        t->unmarked = true;     /* a trace without a packet, as yet */
        return true;
    case ETRACE_MARK_NONE:
        g_set_error(errp, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                    "%s: there is no mark of a session at byte %zu, where "
                    "session %u of %s begins: the trace is of another run, or "
                    "of an older QEMU; give the files of one run", t->path,
                    t->begin, sideband_session(t->sideband),
                    t->sideband_path);
        return false;
    default:
        break;
    }
    if (id != wanted) {
        g_set_error(errp, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                    "%s and %s are of different runs: the trace is of session "
                    "%016" PRIx64 ", the sideband of %016" PRIx64 "; give the "
                    "files of one run", t->path, t->sideband_path, id, wanted);
        return false;
    }
    return true;
}
