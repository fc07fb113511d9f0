/*
 * gdb's target: "record btrace bts"
 *
 * gdb asks for branch traces as a list of blocks, the youngest first, and makes
 * instructions, functions and steps backwards of them. See "Branch Trace
 * Format" in gdb's manual.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "gdb/target-private.h"

/*
 * A processor's branch trace store has 24 bytes for a transfer: what gdb's
 * "set record btrace bts buffer-size" means by a size
 */
#define BTS_RECORD      24

#define HISTORY_BEGIN   "<!DOCTYPE btrace SYSTEM \"btrace.dtd\">\n" \
                        "<btrace version=\"1.0\">\n"
#define HISTORY_END     "</btrace>\n"

void gdb_history_drop(GdbTarget *g)
{
    if (g->history) {
        g_string_free(g->history, TRUE);
        g->history = NULL;
    }
}

/* Qbtrace:bts, Qbtrace:off */
void gdb_history_set(GdbTarget *g, const char *what)
{
    GdbHart *h = gdb_hart(g);

    if (g_str_equal(what, "bts")) {
        h->btrace = true;
    } else if (!g_str_equal(what, "off")) {
        gdb_error(g, "the format is unknown, use 'record btrace bts'");
        return;
    } else if (!h->btrace) {
        gdb_error(g, "this hart is not recording");
        return;
    } else {
        h->btrace = false;
        gdb_history_drop(g);
        g_clear_pointer(&h->given, g_free);
    }
    gdb_puts(g, "OK");
}

/* Qbtrace-conf:bts:size=SIZE; 0 is without a limit */
void gdb_history_configure(GdbTarget *g, const char *what)
{
    const char *p;
    uint64_t size;

    if (!g_str_has_prefix(what, "bts:size=")) {
        gdb_puts(g, "");
        return;
    }
    p = what + strlen("bts:size=");
    /* gdb writes this number in another way than all others. */
    p += g_str_has_prefix(p, "0x") ? 2 : 0;
    if (!rsp_get_number(&p, &size) || *p) {
        gdb_error(g, "the size of the buffer is missing");
    } else {
        g->transfers = size ? MAX(size / BTS_RECORD, 1) : REPLAY_WINDOW;
        g->transfers = MIN(g->transfers, REPLAY_WINDOW);
        gdb_puts(g, "OK");
    }
}

/* Does instruction @b stand behind @a, so that both may be of one block? */
static bool follows(const ReplayInsn *a, const ReplayInsn *b)
{
    return a->pc + a->len == b->pc && !(b->flags & REPLAY_TRAP);
}

/*
 * Go back from instruction *@i, which ends a block, to the one that begins it:
 * its address. Returns false if nothing is known of what is before that, or
 * if it is instruction @first.
 */
static bool find_begin(Replay *r, uint64_t first, uint64_t *i, uint64_t *pc)
{
    const ReplayInsn *insn = replay_insn(r, *i);

    while (insn) {
        ReplayInsn behind = *insn;

        *pc = behind.pc;
        if (*i == first || behind.flags & REPLAY_GAP) {
            return false;
        }
        insn = replay_insn(r, *i - 1);
        if (insn && !follows(insn, &behind)) {
            return true;
        }
        (*i)--;
    }
    return false;
}

/*
 * The blocks that lead to the hart's place: to the instruction that it is about
 * to execute
 */
static GString *history_text(GdbTarget *g)
{
    GString *s = g_string_new(HISTORY_BEGIN);
    GdbHart *h = gdb_hart(g);
    uint64_t first = h->at >= REPLAY_WINDOW ? h->at - REPLAY_WINDOW + 1 : 0;
    uint64_t i = h->at;
    bool more = true;

    replay_expect_back(h->replay, i);
    for (uint64_t n = 0; more && n < g->transfers; n++) {
        const ReplayInsn *insn = replay_insn(h->replay, i);
        uint64_t begin = insn ? insn->pc : 0, end = begin;

        more = insn && find_begin(h->replay, first, &i, &begin);
        if (insn) {
            g_string_append_printf(s, "<block begin=\"0x%" PRIx64 "\" end=\""
                                   "0x%" PRIx64 "\"/>\n", begin, end);
        }
        i -= more;
    }
    return g_string_append(s, HISTORY_END);
}

/* A new answer. Returns true if it is what the last one was. */
static bool renew(GdbTarget *g)
{
    GdbHart *h = gdb_hart(g);
    char *sum;
    bool same;

    gdb_history_drop(g);
    g->history = history_text(g);
    g->history_hart = g->general;
    sum = g_compute_checksum_for_string(G_CHECKSUM_SHA1, g->history->str,
                                        g->history->len);
    same = !g_strcmp0(sum, h->given);
    g_free(h->given);
    h->given = sum;
    return same;
}

/* qXfer:btrace:read:ANNEX:OFFSET,LENGTH */
void gdb_history_read(GdbTarget *g, const char *what)
{
    const char *range = strchr(what, ':');
    size_t len = range ? range - what : 0;
    bool is_new = len == 3 && !strncmp(what, "new", len);

    if (!range) {
        gdb_error(g, "annex, offset and length are needed");
    } else if (!gdb_hart(g)->btrace) {
        gdb_error(g, "this hart is not recording, use 'record btrace bts'");
    } else if (len == 5 && !strncmp(what, "delta", len)) {
        /* Then gdb asks for what is new. */
        gdb_error(g, "what has been added is not known, ask for 'new'");
    } else if (!is_new && !(len == 3 && !strncmp(what, "all", len))) {
        gdb_error(g, "the annex must be 'all', 'new' or 'delta'");
    } else {
        if (g_str_has_prefix(range, ":0,")) {
            if (renew(g) && is_new) {
                /* gdb keeps what it has, and how far it has shown that. */
                g_string_assign(g->history, HISTORY_BEGIN HISTORY_END);
            }
        } else if (!g->history || g->history_hart != g->general) {
            gdb_error(g, "the beginning has to be read first");
            return;
        }
        gdb_put_part(g, g->history, range + 1);
    }
}

/* qXfer:btrace-conf:read::OFFSET,LENGTH */
void gdb_history_read_conf(GdbTarget *g, const char *what)
{
    g_autoptr(GString) s =
        g_string_new("<!DOCTYPE btrace-conf SYSTEM \"btrace-conf.dtd\">\n"
                     "<btrace-conf version=\"1.0\">\n");

    if (gdb_hart(g)->btrace) {
        g_string_append_printf(s, "<bts size=\"0x%" PRIx64 "\"/>\n",
                               BTS_RECORD * g->transfers);
    }
    g_string_append(s, "</btrace-conf>\n");
    gdb_put_part(g, s, what);
}
