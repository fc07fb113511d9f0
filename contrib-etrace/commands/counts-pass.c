/*
 * rvtrace pgo, coverage: counts of a trace, for what is written of them
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "shards.h"

static FILE *open_output(const char *path)
{
    FILE *f = path ? fopen(path, "we") : stdout;

    if (!f) {
        cli_error("cannot write %s: %s", path, g_strerror(errno));
    }
    return f;
}

static bool close_output(FILE *f, const char *path)
{
    bool ok = cli_flush(f, path ?: "standard output");

    if (f != stdout && fclose(f) != 0 && ok) {
        cli_error("cannot write %s: %s", path, g_strerror(errno));
        ok = false;
    }
    return ok;
}

int counts_pass(CliTrace *ct, const ProfileOptions *po, const char *path,
                CountsPassFn *fn, void *opaque)
{
    g_autoptr(ObjectTable) objects = object_table_new();
    g_autoptr(TaskTable) tasks = task_table_new();
    g_autoptr(Names) names = NULL;
    g_autoptr(Counts) counts = NULL;
    g_autoptr(Trace) t = NULL;
    g_auto(Results) r = { .ct = ct, .tasks = tasks, .what = RESULT_COUNTS };
    int status, one;
    FILE *f;

    t = r.t = cli_open(ct);
    if (!t) {
        return CLI_ERROR;
    }
    r.names = names = profile_load_names(ct, po, t, objects);
    if (!names) {
        return CLI_ERROR;
    }
    if (ct->shards) {
        r.what |= RESULT_PROFILE;
        r.layers.names = names;
        stack_tree_layers(&r.layers);
    }
    /* Before anything is decoded: that takes time. */
    f = open_output(path);
    if (!f) {
        return CLI_ERROR;
    }
    if (!results_decode(&r)) {
        status = CLI_ERROR;
    } else if (ct->shards) {
        status = shards_write(&r, po, f);
    } else {
        counts = counts_join(&r);
        status = cli_finish_losses(ct);
        one = fn(opaque, counts, f);
        status = MAX(status, one);
    }
    return close_output(f, path) ? status : CLI_ERROR;
}
