/*
 * gdb's target: what takes long
 *
 * The registers at a place are found by executing what comes before it, and
 * that may be all of a long trace. Meanwhile the user sees how far it is.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "gdb/target-private.h"

/* us up to the first word, and from one to the next */
#define TELL_FIRST  (G_USEC_PER_SEC / 2)
#define TELL_EVERY  (5 * G_USEC_PER_SEC)

/* gdb's console is the place for it, but only while a hart moves. */
static void tell(void *opaque, unsigned hart, uint64_t done, uint64_t all)
{
    GdbTarget *g = opaque;
    gint64 now = g_get_monotonic_time();
    g_autofree char *text = NULL;

    if (now - g->told < TELL_EVERY || !all) {
        return;
    }
    g->told = now;
    text = g_strdup_printf("hart %u: executing again what led here, %u %%",
                           hart, (unsigned)(100.0 * done / all));
    if (g->may_talk) {
        g_autofree char *line = g_strdup_printf("[%s]\n", text);

        gdb_say(g, line);
    } else {
        fprintf(stderr, "rvtrace: %s\n", text);
    }
}

static bool is_tired(void *opaque)
{
    GdbTarget *g = opaque;

    /* lldb takes no bytes between packets. */
    if (g->ops && g->ops->keep_alive && !g->is_lldb) {
        g->ops->keep_alive(g->opaque);
    }
    return g->ops && g->ops->poll && g->ops->poll(g->opaque);
}

void gdb_wait_begin(GdbTarget *g)
{
    g->told = g_get_monotonic_time() + TELL_FIRST - TELL_EVERY;
}

void gdb_wait_init(GdbTarget *g)
{
    g->wait = (ReplayWait) {
        .poll = is_tired, .progress = tell, .opaque = g,
    };
}

bool gdb_prepare(GdbTarget *g, unsigned hart, uint64_t at)
{
    GdbHart *h = &g->harts[hart];

    /* What cannot be decoded is an error later. */
    return !h->states || replay_registers(h->states, at) ||
           !replay_states_take_stop(h->states);
}

bool gdb_was_interrupted(GdbTarget *g)
{
    bool interrupted = false;

    for (unsigned i = 0; i < g->nr_harts; i++) {
        ReplayStates *states = g->harts[i].states;

        interrupted |= states && replay_states_take_stop(states);
    }
    if (interrupted) {
        gdb_error(g, "interrupted");
    }
    return interrupted;
}

void gdb_target_prepare(GdbTarget *g)
{
    g->ops = NULL;
    gdb_wait_begin(g);
    g->may_talk = false;
    gdb_prepare(g, g->general, gdb_hart(g)->at);
}
