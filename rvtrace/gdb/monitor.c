/*
 * gdb's target: the commands behind "monitor"
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <gio/gio.h>
#include "profile/selection.h"
#include "gdb/target-private.h"

static bool fail(GError **errp, const char *place, const char *why)
{
    g_set_error(errp, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT, "'%s': %s",
                place, why);
    return false;
}

static void append_time(GString *s, uint64_t ns)
{
    g_string_append_printf(s, "%" PRIu64 ".%09" PRIu64 "s", ns / 1000000000,
                           ns % 1000000000);
}

/* The last time that a hart's trace reports; false: it has none */
static bool last_time(GdbHart *h, uint64_t *ns)
{
    const ReplayMoment *m = h->replay && replay_has_time(h->replay) ?
        replay_moment(h->replay, replay_length(h->replay) - 1) : NULL;

    *ns = m && m->time_known ? m->ns : 0;
    return m && m->time_known;
}

/* ... and of any hart: those that sleep at the end have no later one. */
static bool last_time_of_all(GdbTarget *g, uint64_t *ns)
{
    bool any = false;
    uint64_t last;

    *ns = 0;
    for (unsigned i = 0; i < g->nr_harts; i++) {
        any |= last_time(&g->harts[i], &last);
        *ns = MAX(*ns, last);
    }
    return any;
}

/* Where a hart can go */
static char *range_text(GdbTarget *g, unsigned hart)
{
    GString *s = g_string_new(NULL);
    uint64_t ns;

    g_string_append_printf(s, "hart %u has the instructions 0 to %" PRIu64,
                           hart, replay_length(g->harts[hart].replay) - 1);
    if (last_time_of_all(g, &ns)) {
        g_string_append(s, ", and the trace has times up to ");
        append_time(s, ns);
    }
    return g_string_free(s, FALSE);
}

/* A time: a place that has to be looked for */
static bool find_time(GdbTarget *g, GdbHart *h, const char *place, uint64_t ns,
                      uint64_t *at, GError **errp)
{
    g_autoptr(GString) why = g_string_new(NULL);
    uint64_t last;

    if (!replay_has_time(h->replay)) {
        return fail(errp, place, "the trace does not report the time (QEMU "
                    "does with -global riscv-trace-encoder.time-width=64, "
                    "or in user mode with -cpu CPU,etrace-timestamps=on); "
                    "give a number of instructions");
    }
    switch (replay_find_time(h->replay, ns, g->ops ? g->ops->poll : NULL,
                             g->opaque, at)) {
    case REPLAY_FOUND:
        return true;
    case REPLAY_NOT_FOUND:
        if (!last_time_of_all(g, &last) || ns > last) {
            g_string_append(why, "behind the end: the trace has times up to ");
            append_time(why, last);
            return fail(errp, place, why->str);
        }
        *at = replay_length(h->replay) - 1;
        return true;
    case REPLAY_STOPPED:
        return fail(errp, place, "interrupted");
    default:
        return fail(errp, place, "the trace cannot be decoded any more");
    }
}

bool gdb_go_to(GdbTarget *g, unsigned hart, const char *place, GError **errp)
{
    GdbHart *h = gdb_hart_at(g, hart);
    uint64_t length = replay_length(h->replay), at, ns;
    g_autofree char *range = NULL, *why = NULL;

    if (g_str_equal(place, "begin")) {
        at = 0;
    } else if (g_str_equal(place, "end")) {
        at = length - 1;
    } else if (selection_parse_count(place, &at)) {
        if (at >= length) {
            range = range_text(g, hart);
            why = g_strconcat("behind the end: ", range, NULL);
            return fail(errp, place, why);
        }
    } else if (!selection_parse_time(place, &ns)) {
        range = range_text(g, hart);
        why = g_strconcat("no place: begin, end, a number of instructions "
                          "(with k, M or G behind it or not), or a virtual "
                          "time like 1.5s, 20ms, 7us, 100ns; ",
                          range, NULL);
        return fail(errp, place, why);
    } else if (!find_time(g, h, place, ns, &at, errp)) {
        return false;
    }
    if (!gdb_prepare(g, hart, at)) {
        return fail(errp, place, "interrupted");
    }
    h->at = at;
    return true;
}

bool gdb_target_go(GdbTarget *g, const char *place, GError **errp)
{
    g->ops = NULL;
    for (unsigned i = 0; i < g->nr_harts; i++) {
        if (g->harts[i].replay && !gdb_go_to(g, i, place, errp)) {
            return false;
        }
    }
    return true;
}

static bool where(GdbTarget *g, const char *arg, GString *out)
{
    for (unsigned i = 0; i < g->nr_harts; i++) {
        bool all = g_str_equal(arg, "all");

        if (g->harts[i].replay && (all || i == g->selected)) {
            g_autoptr(GString) one = gdb_text_where(g, i);

            g_string_append_len(out, one->str, one->len);
        }
    }
    return true;
}

static bool when(GdbTarget *g, const char *arg, GString *out)
{
    GdbHart *h = gdb_hart_at(g, g->selected);
    const ReplayMoment *m = replay_moment(h->replay, h->at);

    g_string_append_printf(out, "%" PRIu64, h->at);
    if (m && m->time_known) {
        g_string_append(out, ", ");
        append_time(out, m->ns);
    }
    g_string_append_c(out, '\n');
    return true;
}

/* gdb does not ask for what it believes to know. */
static bool go(GdbTarget *g, const char *arg, GString *out)
{
    g_autoptr(GError) err = NULL;

    if (!gdb_go_to(g, g->selected, arg, &err)) {
        g_string_append_printf(out, "%s\n", err->message);
        return false;
    }
    where(g, "", out);
    g_string_append(out, "gdb knows of it after 'maintenance flush "
                    "register-cache', or use rvtrace-goto\n");
    return true;
}

static bool help(GdbTarget *g, const char *arg, GString *out)
{
    g_string_append(out,
        "monitor where       where the selected hart is: instruction, pc,\n"
        "                    privilege, time, task, a trap or gap before it\n"
        "monitor where all   the same of every hart\n"
        "monitor when        the number of the instruction and the virtual\n"
        "                    time, as goto takes them\n"
        "monitor goto PLACE  go to begin, end, a number of instructions, or a\n"
        "                    virtual time (1.5s, 20ms, 7us, 100ns)\n"
        "monitor bt          the call stack, with privilege levels and traps\n"
        "monitor bt all      the same of every hart\n"
        "monitor libraries   the shared libraries of a program of user mode:\n"
        "                    how far each was moved, and its file\n"
        "monitor python      a program that lets gdb know call stacks, too:\n"
        "  python exec(gdb.execute('monitor python', to_string=True))\n"
        "                    ... and gdb's command 'rvtrace-goto PLACE'\n"
        "monitor help        this\n");
    return true;
}

void gdb_monitor(GdbTarget *g, const char *text)
{
    static const struct {
        const char *name;
        bool takes_argument;
        bool (*run)(GdbTarget *g, const char *arg, GString *out);
    } commands[] = {
        { "where", true, where },
        { "when", false, when },
        { "goto", true, go },
        { "bt", true, gdb_monitor_stack },
        { "libraries", false, gdb_monitor_libraries },
        { "python", false, gdb_monitor_python },
        { "help", false, help },
    };
    g_autofree char *line = g_strstrip(g_strdup(text));
    char *space = line + strcspn(line, " \t");
    const char *arg = *space ? g_strchug(space + 1) : space;
    g_autoptr(GString) out = g_string_new(NULL), s = g_string_new(NULL);
    bool ok = true;

    *space = 0;
    for (size_t i = 0; i < G_N_ELEMENTS(commands); i++) {
        if (g_str_equal(line, commands[i].name) &&
            (commands[i].takes_argument || !*arg)) {
            ok = commands[i].run(g, arg, out);
        }
    }
    if (!out->len) {
        g_string_printf(out, "'%s' is no command here; try 'monitor help'\n",
                        line);
        ok = false;
    }
    if (!ok && g->knows_errors) {
        gdb_error(g, "%s", g_strchomp(out->str));
        return;
    }
    for (gsize from = 0; from < out->len;) {
        gsize len = MIN(out->len - from, RSP_MAX_PAIRS);

        /* All but the last part are output of a command that goes on. */
        g_string_assign(s, from + len < out->len ? "O" : "");
        rsp_put_hex(s, out->str + from, len);
        gdb_put(g, s);
        from += len;
    }
}
