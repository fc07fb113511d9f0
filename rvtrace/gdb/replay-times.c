/*
 * Replay: what is certain of when instructions were executed
 *
 * A packet reports a time that the hart has read behind the report before and in
 * front of the packet's instruction. So what runs from there on has this time or
 * a later one. What ran before need not have this time or an earlier one: a
 * packet that is due for another reason has the time of the ring that was handed
 * over last. But what ran before the packet in front of it does: the time has
 * been read since. So what runs between two reports is not before the first one,
 * and not after the second one behind it. Reports of the same time are one.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "gdb/replay-private.h"

bool replay_find_epochs(Replay *r, ReplayPollFn *poll, void *opaque)
{
    g_autofree ReplayPass *p = NULL;

    if (r->reports) {
        return true;
    }
    if (r->in_order && !r->has_stats) {
        p = g_new0(ReplayPass, 1);
        p->kind = PASS_REPORTS;
        p->r = r;
        p->hi = r->length;
        p->poll = poll;
        p->opaque = opaque;
        r->in_order &= replay_pass(p);
    }
    if (p && p->stopped) {
        g_clear_pointer(&r->reports, g_array_unref);
        return false;
    }
    if (!r->reports) {
        r->reports = g_array_new(FALSE, FALSE, sizeof(ReplayReport));
    }
    if (!r->in_order) {
        g_array_set_size(r->reports, 0);
    }
    return true;
}

/* Reports that are for instruction @value at the latest, or for a time */
static unsigned count_until(const Replay *r, uint64_t value, bool time)
{
    const ReplayReport *all = (const ReplayReport *)r->reports->data;
    unsigned lo = 0, hi = r->reports->len;

    while (lo < hi) {
        unsigned mid = lo + (hi - lo) / 2;

        if ((time ? all[mid].ns : all[mid].at) <= value) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    return lo;
}

static const ReplayReport *report_at(const Replay *r, unsigned n)
{
    return n < r->reports->len ? &g_array_index(r->reports, ReplayReport, n)
                               : NULL;
}

unsigned replay_epoch(const Replay *r, uint64_t i)
{
    return count_until(r, i, false);
}

uint64_t replay_not_before(const Replay *r, unsigned epoch)
{
    return epoch ? report_at(r, epoch - 1)->ns : 0;
}

uint64_t replay_not_after(const Replay *r, unsigned epoch)
{
    const ReplayReport *second = report_at(r, epoch + 1);

    return second ? second->ns : UINT64_MAX;
}

uint64_t replay_before(const Replay *r, uint64_t ns)
{
    /* The first report of @ns or later is not the second one behind these. */
    unsigned first = ns ? count_until(r, ns - 1, true) : 0;

    return first >= 2 ? report_at(r, first - 2)->at : 0;
}

uint64_t replay_until(const Replay *r, uint64_t ns)
{
    const ReplayReport *later = report_at(r, count_until(r, ns, true));

    return later ? MIN(later->at, r->length) : r->length;
}
