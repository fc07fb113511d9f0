/*
 * RISC-V control transfer records: gdb's "record btrace bts"
 *
 * gdb asks for branch traces as a list of blocks (qXfer:btrace:read, see
 * "Branch Trace Format" in gdb's manual), and makes instructions, functions
 * and steps backwards of them. Each hart is a thread of gdb's. The gdbstub
 * calls with the thread that gdb has selected.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qemu/host-utils.h"
#include "qemu/units.h"
#include "exec/gdbstub.h"
#include "gdbstub/commands.h"
#include "history.h"
#include "host.h"

/*
 * A processor's branch trace store has 24 bytes for a transfer: what gdb's
 * "set record btrace bts buffer-size" means by a size
 */
#define BTS_RECORD      24
#define BTS_DEFAULT     (64 * KiB)      /* gdb's */

/* Bytes of an answer; the gdbstub has packets of 4096. */
#define ANSWER_MAX      4000

/* Entries of the rings that will be made */
static uint32_t ring_entries;

/* The last answer, which gdb fetches in pieces */
static struct {
    CPUState *cs;
    GString *text;
} answer;

/* What each hart's last answer was, as a checksum: is there anything new? */
static GHashTable *given;

static void drop_answer(void)
{
    if (answer.text) {
        g_string_free(answer.text, true);
    }
    answer.cs = NULL;
    answer.text = NULL;
}

/* A new answer for @cs. Returns true if it is what the last one was. */
static bool set_answer(CPUState *cs, GString *text)
{
    char *sum = g_compute_checksum_for_string(G_CHECKSUM_SHA1, text->str,
                                              text->len);
    bool same = !g_strcmp0(sum, g_hash_table_lookup(given, cs));

    drop_answer();
    answer.cs = cs;
    answer.text = text;
    g_hash_table_replace(given, cs, sum);
    return same;
}

static bool is_on(CPUState *cs)
{
    return cpu_env(cs)->ctr_host.entries;
}

static uint32_t entries_of_size(unsigned long size)
{
    /* 0 is without a limit */
    if (!size || size / BTS_RECORD >= RISCV_CTR_HOST_MAX) {
        return RISCV_CTR_HOST_MAX;
    }
    return MAX(RISCV_CTR_HOST_MIN, pow2ceil(size / BTS_RECORD));
}

static void put_error(const char *what)
{
    g_autofree char *text = g_strdup_printf("E.%s", what);

    gdb_put_packet(text);
}

/* Qbtrace-conf:bts:size=SIZE, for the next hart that is switched on */
static void handle_set_size(GArray *params, void *user_ctx)
{
    if (params->len != 1) {
        put_error("the size of the buffer is missing");
        return;
    }
    ring_entries = entries_of_size(gdb_get_cmd_param(params, 0)->val_ul);
    gdb_put_packet("OK");
}

/* Qbtrace:bts */
static void handle_on(GArray *params, void *user_ctx)
{
    CPURISCVState *env = cpu_env(user_ctx);
    RISCVCTRHost *h = &env->ctr_host;
    Error *err = NULL;

    if (!h->entries) {
        if (!riscv_ctr_host_set(env, ring_entries, &err)) {
            put_error(error_get_pretty(err));
            error_free(err);
            return;
        }
        h->by_gdb = true;
    }
    gdb_put_packet("OK");
}

/* Qbtrace:off: a ring that the CPU's property asked for stays. */
static void handle_off(GArray *params, void *user_ctx)
{
    CPURISCVState *env = cpu_env(user_ctx);

    if (!is_on(user_ctx)) {
        put_error("this hart is not recording");
        return;
    }
    drop_answer();
    g_hash_table_remove(given, user_ctx);
    if (env->ctr_host.by_gdb) {
        riscv_ctr_host_set(env, 0, &error_abort);
        env->ctr_host.by_gdb = false;
    }
    gdb_put_packet("OK");
}

static void handle_unknown(GArray *params, void *user_ctx)
{
    put_error("the format is unknown, use 'record btrace bts'");
}

#define HISTORY_BEGIN   "<!DOCTYPE btrace SYSTEM \"btrace.dtd\">\n" \
                        "<btrace version=\"1.0\">\n"
#define HISTORY_END     "</btrace>\n"

static GString *history_text(CPURISCVState *env)
{
    GString *text = g_string_new(HISTORY_BEGIN);
    GArray *blocks = riscv_ctr_history(env);

    for (guint i = 0; i < blocks->len; i++) {
        RISCVCTRBlock *block = &g_array_index(blocks, RISCVCTRBlock, i);

        g_string_append_printf(text, "<block begin=\"0x%" PRIx64
                               "\" end=\"0x%" PRIx64 "\"/>\n",
                               block->begin, block->end);
    }
    g_array_unref(blocks);
    return g_string_append(text, HISTORY_END);
}

static void put_part(const GString *text, unsigned long offset,
                     unsigned long len)
{
    g_autoptr(GString) packet = g_string_new(NULL);

    if (offset > text->len) {
        put_error("the offset is behind the end");
        return;
    }
    len = MIN(len, ANSWER_MAX);
    g_string_append_c(packet, len < text->len - offset ? 'm' : 'l');
    g_string_append_len(packet, text->str + offset,
                        MIN(len, text->len - offset));
    gdb_put_packet(packet->str);
}

/* A parameter of the gdbstub goes on with what is behind it. */
static bool is_annex(const char *param, const char *annex)
{
    size_t len = strlen(annex);

    return !strncmp(param, annex, len) && param[len] == ':';
}

/* qXfer:btrace:read:ANNEX:OFFSET,LENGTH */
static void handle_read(GArray *params, void *user_ctx)
{
    CPUState *cs = user_ctx;
    const char *annex;
    unsigned long offset;

    if (params->len != 3) {
        put_error("annex, offset and length are needed");
        return;
    }
    annex = gdb_get_cmd_param(params, 0)->data;
    offset = gdb_get_cmd_param(params, 1)->val_ul;
    if (!is_on(cs)) {
        put_error("this hart is not recording, use 'record btrace bts'");
        return;
    }
    if (is_annex(annex, "delta")) {
        /* then gdb asks for what is new */
        put_error("what has been added is not known, ask for 'new'");
        return;
    }
    if (!is_annex(annex, "all") && !is_annex(annex, "new")) {
        put_error("the annex must be 'all', 'new' or 'delta'");
        return;
    }
    if (!offset) {
        if (set_answer(cs, history_text(cpu_env(cs))) &&
            is_annex(annex, "new")) {
            /* gdb keeps what it has, and how far it has shown that */
            g_string_assign(answer.text, HISTORY_BEGIN HISTORY_END);
        }
    } else if (answer.cs != cs) {
        put_error("the beginning has to be read first");
        return;
    }
    put_part(answer.text, offset, gdb_get_cmd_param(params, 2)->val_ul);
}

/* qXfer:btrace-conf:read::OFFSET,LENGTH */
static void handle_read_conf(GArray *params, void *user_ctx)
{
    g_autoptr(GString) text =
        g_string_new("<!DOCTYPE btrace-conf SYSTEM \"btrace-conf.dtd\">\n"
                     "<btrace-conf version=\"1.0\">\n");

    if (params->len != 2) {
        put_error("offset and length are needed");
        return;
    }
    if (is_on(user_ctx)) {
        g_string_append_printf(text, "<bts size=\"0x%x\"/>\n", BTS_RECORD *
                               cpu_env(user_ctx)->ctr_host.entries);
    }
    g_string_append(text, "</btrace-conf>\n");
    put_part(text, gdb_get_cmd_param(params, 0)->val_ul,
             gdb_get_cmd_param(params, 1)->val_ul);
}

static const GdbCmdParseEntry queries[] = {
    {
        .handler = handle_read,
        .cmd = "Xfer:btrace:read:",
        .cmd_startswith = true,
        .schema = "s:l,l0",
        .need_cpu_context = true,
    }, {
        .handler = handle_read_conf,
        .cmd = "Xfer:btrace-conf:read::",
        .cmd_startswith = true,
        .schema = "l,l0",
        .need_cpu_context = true,
    },
};

static const GdbCmdParseEntry settings[] = {
    {
        .handler = handle_on,
        .cmd = "btrace:bts",
        .need_cpu_context = true,
    }, {
        .handler = handle_off,
        .cmd = "btrace:off",
        .need_cpu_context = true,
    }, {
        .handler = handle_unknown,
        .cmd = "btrace:",
        .cmd_startswith = true,
    }, {
        .handler = handle_set_size,
        .cmd = "btrace-conf:bts:size=",
        .cmd_startswith = true,
        .schema = "l0",
    },
};

void riscv_ctr_gdb_init(void)
{
    static bool done;
    g_autoptr(GPtrArray) query_table = g_ptr_array_new();
    g_autoptr(GPtrArray) set_table = g_ptr_array_new();
    char features[] = ";Qbtrace:bts+;Qbtrace:off+;Qbtrace-conf:bts:size+"
                      ";qXfer:btrace:read+;qXfer:btrace-conf:read+";

    if (done) {
        return;
    }
    done = true;
    ring_entries = entries_of_size(BTS_DEFAULT);
    given = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    for (size_t i = 0; i < ARRAY_SIZE(queries); i++) {
        g_ptr_array_add(query_table, (gpointer)&queries[i]);
    }
    for (size_t i = 0; i < ARRAY_SIZE(settings); i++) {
        g_ptr_array_add(set_table, (gpointer)&settings[i]);
    }
    gdb_extend_query_table(query_table);
    gdb_extend_set_table(set_table);
    gdb_extend_qsupported_features(features);
}
