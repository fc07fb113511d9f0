/*
 * A trace to decode: the parts that it is in
 *
 * A machine that is migrated has a trace and a sideband at either side; one
 * that goes back to a snapshot, or gets another reader, begins a new session.
 * Each part is decoded with its own sideband. Every window is closed where a
 * part ends, so nothing is between two of them: that they follow each other is
 * all that there is to see to.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <gio/gio.h>
#include "base/option-error.h"
#include "trace/trace-private.h"

typedef struct Parts {
    const TraceOptions *opts;
    unsigned n;
    Sideband **sidebands;       /* NULL: there are none */
    ElfCode *elf;               /* opts->elf, until a part has it */
} Parts;

static void parts_clear(Parts *p)
{
    for (unsigned i = 0; p->sidebands && i < p->n; i++) {
        g_clear_pointer(&p->sidebands[i], sideband_free);
    }
    g_free(p->sidebands);
    g_clear_pointer(&p->elf, elf_code_free);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Parts, parts_clear)

#define invalid(errp, ...) \
    g_set_error(errp, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT, __VA_ARGS__)

/* Are there as many of the one as of the other? */
static bool count_parts(Parts *p, GError **errp)
{
    const TraceOptions *opts = p->opts;
    unsigned traces = g_strv_length(opts->traces);
    unsigned sidebands = opts->sidebands ? g_strv_length(opts->sidebands) : 0;

    p->n = MAX(traces, sidebands);
    if (opts->ram && (traces > 1 || opts->at ||
                      trace_is_perf_data(opts->traces[0]))) {
        /* Pieces of one session, or the rings of its sinks */
        if (sidebands > 1 ||
            (!sidebands && !trace_is_perf_data(opts->traces[0]))) {
            invalid(errp, "pieces of a RAM sink's trace, or the rings of "
                    "several sinks, need the sideband of their session; of "
                    "one ring that holds several parts give one trace, and a "
                    "sideband for each part");
            return false;
        }
        if (opts->wrapped_at != RING_NOT_WRAPPED) {
            g_set_error(errp, OPTION_ERROR, OPTION_PIECES_WRAPPED,
                        "is for one ring; of pieces, the sideband says where "
                        "they were stored");
            return false;
        }
        p->n = 1;
    }
    if (!opts->ram && sidebands && sidebands != traces) {
        g_set_error(errp, OPTION_ERROR, OPTION_NEEDS_PARTS,
                    "every part needs a trace and a sideband, in order, but "
                    "there are %u and %u", traces, sidebands);
        return false;
    }
    return true;
}

static bool open_sidebands(Parts *p, GError **errp)
{
    const TraceOptions *opts = p->opts;

    if (!opts->sidebands || !*opts->sidebands) {
        return true;
    }
    p->sidebands = g_new0(Sideband *, p->n);
    for (unsigned i = 0; i < p->n; i++) {
        p->sidebands[i] = sideband_open(opts->sidebands[i],
                                        opts->sessions ? opts->sessions[i] : 0,
                                        errp);
        if (!p->sidebands[i]) {
            return false;
        }
    }
    return true;
}

static char *part_name(const Parts *p, unsigned i)
{
    return g_strdup_printf("%s, session %u", p->opts->sidebands[i],
                           sideband_session(p->sidebands[i]));
}

/* Say why part @i cannot stand behind the one before it. */
static void explain_order(const Parts *p, unsigned i, GError **errp)
{
    g_autofree char *name = part_name(p, i);
    g_autofree char *before = part_name(p, i - 1);
    uint64_t id, origin;

    sideband_origin(p->sidebands[i], &id, &origin);
    for (unsigned j = 0; j < i; j++) {
        uint64_t its_id, its_origin;

        sideband_origin(p->sidebands[j], &its_id, &its_origin);
        if (its_id == id) {
            invalid(errp, "(%s) is given twice", name);
            return;
        }
    }
    for (unsigned j = 0; j < p->n; j++) {
        g_autofree char *other = part_name(p, j);
        uint64_t its_id, its_origin;

        if (sideband_origin(p->sidebands[j], &its_id, &its_origin) &&
            (its_id == origin || its_origin == id)) {
            invalid(errp, "the parts are in the wrong order: give (%s) right "
                    "behind (%s), which it goes on from",
                    its_id == origin ? name : other,
                    its_id == origin ? other : name);
            return;
        }
    }
    if (!origin) {
        invalid(errp, "(%s) does not go on from (%s): a trace begins there; "
                "decode them one by one", name, before);
    } else {
        invalid(errp, "a part is missing between (%s) and (%s): give its "
                "trace and sideband, too, or decode them one by one",
                before, name);
    }
}

static bool check_order(const Parts *p, GError **errp)
{
    for (unsigned i = 1; p->sidebands && i < p->n; i++) {
        unsigned harts = sideband_nr_harts(p->sidebands[i]);
        uint64_t id, origin, before, unused;

        if (harts != sideband_nr_harts(p->sidebands[0])) {
            invalid(errp, "%s is of %u harts, %s of %u: they are not parts of "
                    "one trace", p->opts->sidebands[0],
                    sideband_nr_harts(p->sidebands[0]), p->opts->sidebands[i],
                    harts);
            return false;
        }
        /* Of an older QEMU, the user has to know. */
        if (sideband_origin(p->sidebands[i - 1], &before, &unused) &&
            sideband_origin(p->sidebands[i], &id, &origin) &&
            before != origin) {
            explain_order(p, i, errp);
            return false;
        }
    }
    return true;
}

/*
 * Without sidebands, a hart is in the parts that have packets of it. Let it
 * be in all of them, if only to find nothing.
 */
static void join_harts(Trace *t)
{
    unsigned n = 0;

    for (Trace *p = t; p; p = p->next) {
        n = MAX(n, p->nr_harts);
    }
    for (Trace *p = t; p; p = p->next) {
        p->harts = g_renew(TraceHart, p->harts, n);
        memset(p->harts + p->nr_harts, 0,
               (n - p->nr_harts) * sizeof(*p->harts));
        p->nr_harts = n;
    }
    for (unsigned i = 0; i < n; i++) {
        const Trace *has = t;

        while (has && !has->harts[i].present) {
            has = has->next;
        }
        for (Trace *p = t; has && p; p = p->next) {
            if (!p->harts[i].present) {
                p->harts[i] = (TraceHart) {
                    .present = true,
                    .params = has->harts[i].params,
                    .isa = has->harts[i].isa,
                };
            }
        }
    }
}

Trace *trace_open(const TraceOptions *opts, GError **errp)
{
    g_auto(Parts) p = { .opts = opts, .elf = opts->elf };
    g_autoptr(Trace) t = NULL;

    if (!count_parts(&p, errp) || !open_sidebands(&p, errp) ||
        !check_order(&p, errp)) {
        return NULL;
    }
    /* The parts behind one say where in a ring it is. */
    for (unsigned i = p.n; i-- > 0;) {
        Sideband *sb = p.sidebands ? g_steal_pointer(&p.sidebands[i]) : NULL;
        Trace *part = trace_open_part(opts, i, sb, p.elf, t, errp);

        if (!part) {
            return NULL;
        }
        part->next = g_steal_pointer(&t);
        t = part;
    }
    t->owns_elf = p.elf != NULL;
    p.elf = NULL;
    join_harts(t);
    return g_steal_pointer(&t);
}

GArray *trace_moves(const Trace *t)
{
    g_autofree const Sideband **parts = NULL;
    unsigned n = 0;

    for (const Trace *p = t; p; p = p->next) {
        n++;
    }
    parts = g_new0(const Sideband *, n);
    n = 0;
    for (const Trace *p = t; p; p = p->next) {
        parts[n++] = p->sideband;
    }
    return sideband_moves(parts, n, t->nr_harts);
}
