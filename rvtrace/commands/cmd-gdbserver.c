/*
 * rvtrace gdbserver: a recorded run as a target of gdb
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <glib/gstdio.h>
#include <signal.h>
#include <unistd.h>
#include "gdb/server.h"
#include "analysis/load-names.h"
#include "analysis/qmp.h"
#include "analysis/results.h"
#include "commands/cli/cli.h"
#include "trace/trace-clock.h"
#include "trace/trace-text.h"

#define LISTEN_DEFAULT  "tcp:127.0.0.1:1234"

/* Seconds to wait for QEMU's monitor */
#define QMP_TIMEOUT     10

/* No machine has more RAM sinks. */
#define MAX_SINKS       4096

typedef struct GdbServe {
    CliTrace ct;
    char *place, *listen, *address;
    gint64 tick_rate;
    Address *where;             /* NULL: standard input and output */
    char *folder;               /* of rings that QEMU has saved; or NULL */
    Trace *t;
    ElfCode *files;
    ObjectTable *objects;
    Names *names;
    TaskTable *tasks;
    SourcePlaces *places;
    TraceIndex *index;          /* or NULL */
    GPtrArray *replays;         /* by hart; Replay or NULL */
    GdbTarget *target;
} GdbServe;

/* Of the socket; for on_signal() */
static char *socket_path;

static void on_signal(int sig)
{
    if (socket_path) {
        unlink(socket_path);
    }
    _exit(CLI_OK);
}

static void remove_rings(GdbServe *s)
{
    for (char **file = s->ct.job.traces; s->folder && file && *file; file++) {
        g_remove(*file);
    }
    if (s->folder) {
        g_rmdir(s->folder);
    }
    g_clear_pointer(&s->folder, g_free);
}

static void free_replay(gpointer replay)
{
    if (replay) {
        replay_free(replay);
    }
}

static void gdb_serve_clear(GdbServe *s)
{
    remove_rings(s);
    g_clear_pointer(&s->target, gdb_target_free);
    g_clear_pointer(&s->replays, g_ptr_array_unref);
    g_clear_pointer(&s->files, elf_code_free);
    g_clear_pointer(&s->index, trace_index_free);
    g_clear_pointer(&s->places, source_places_free);
    g_clear_pointer(&s->names, names_free);
    g_clear_pointer(&s->tasks, task_table_free);
    g_clear_pointer(&s->objects, object_table_free);
    g_clear_pointer(&s->t, trace_free);
    g_clear_pointer(&s->where, address_free);
    cli_trace_clear(&s->ct);
    g_free(s->place);
    g_free(s->listen);
    g_free(s->address);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(GdbServe, gdb_serve_clear)

static bool parse_listen(GdbServe *s)
{
    const char *listen = s->listen ?: LISTEN_DEFAULT;
    g_autofree char *address = NULL;
    g_autoptr(GError) err = NULL;

    if (g_str_equal(listen, "stdio")) {
        return true;
    }
    /* As gdb's "target remote" has it: HOST:PORT or :PORT, of this machine */
    address = g_str_has_prefix(listen, "unix:") ||
              g_str_has_prefix(listen, "tcp:") ? g_strdup(listen) :
              g_strconcat("tcp:", listen[0] == ':' ? "127.0.0.1" : "", listen,
                          NULL);
    s->where = address_parse(address, &err);
    if (!s->where) {
        say_error("--listen %s: %s, nor stdio", s->listen, err->message);
        return false;
    }
    s->where->server = true;
    return true;
}

static bool check_options(GdbServe *s)
{
    const CliTrace *ct = &s->ct;

    if (ct->job.traces && s->address) {
        say_error("--trace and --qmp: one of them");
        return false;
    }
    if (s->address && (ct->job.ram || ct->job.wrapped_at != RING_NOT_WRAPPED ||
                       ct->job.at)) {
        say_error("--qmp knows what the trace is: leave out --ram, "
                  "--wrapped-at and --at");
        return false;
    }
    if (s->tick_rate < 0) {
        say_error("--tick-rate: ticks a second, at least 1");
        return false;
    }
    return parse_listen(s);
}

static bool parse_options(GdbServe *s, int argc, char **argv)
{
    GOptionEntry entries[] = {
        { "listen", 0, 0, G_OPTION_ARG_STRING, &s->listen,
          "Where gdb connects to: tcp:HOST:PORT, unix:PATH, or stdio, for "
          "'target remote | rvtrace gdbserver ...' (default: "
          LISTEN_DEFAULT ")", "ADDRESS" },
        { "goto", 0, 0, G_OPTION_ARG_STRING, &s->place,
          "Where harts are at first: begin, end, a number of instructions "
          "(with k, M or G), or a virtual time (1.5s, ms, us, ns) (default: "
          "end, the last instruction)", "PLACE" },
        { "qmp", 0, 0, G_OPTION_ARG_STRING, &s->address,
          "Instead of --trace: stop the machine with this monitor, unix:PATH "
          "or tcp:HOST:PORT, and take what its RAM sink holds", "ADDRESS" },
        { "index", 0, 0, G_OPTION_ARG_FILENAME, &s->ct.job.index,
          "What 'rvtrace index' made of this trace, which is not decoded "
          "whole then (default: TRACE.rvidx, if it is there)", "FILE" },
        { "tick-rate", 0, 0, G_OPTION_ARG_INT64, &s->tick_rate,
          "Ticks of virtual time a second (default: 1000000000 for timestamps, "
          "10000000 for time fields)", "HZ" },
        { NULL }
    };

    s->ct.instead = &s->address;
    s->ct.has_names = true;
    return cli_parse(&s->ct, entries,
        "Serve a recorded run to gdb, which walks through it, forth and "
        "back:\n\n"
        "  rvtrace gdbserver --trace trace --sideband sideband &\n"
        "  gdb-multiarch -ex 'target remote :1234' vmlinux\n\n"
        "The harts are threads, and stand at their last instructions: "
        "reverse-stepi, stepi,\nbreak and reverse-continue, continue, "
        "'record btrace bts', 'monitor help'. For call\nstacks (bt, up, "
        "finish, next and reverse-next), gdb needs\n\n"
        "  python exec(gdb.execute('monitor python', to_string=True))\n\n"
        "and 'monitor bt' shows them without that. The pc and code are known, "
        "other registers\nand memory if the trace has data. With several "
        "harts, 'set scheduler-locking on'\nmoves the one that is selected.",
        argc, argv) && check_options(s);
}

/* Save the ring of one sink (@hart -1: of the only one) to a file. */
static bool save_ring(GdbServe *s, Qmp *qmp, int hart, GPtrArray *files,
                      GError **errp)
{
    g_autofree char *path = g_strdup_printf("%s/%d", s->folder, hart);
    g_autoptr(JsonNode) name = json_node_init_string(json_node_alloc(), path);
    g_autofree char *quoted = json_to_string(name, FALSE);
    g_autofree char *which = hart < 0 ? g_strdup("") :
                             g_strdup_printf(",\"hart\":%d", hart);
    g_autofree char *arguments = g_strdup_printf("{\"filename\":%s%s}",
                                                 quoted, which);
    g_autoptr(JsonNode) done = qmp_run(qmp, "x-riscv-trace-save", arguments,
                                       errp);

    if (done) {
        g_ptr_array_add(files, g_steal_pointer(&path));
    }
    return done;
}

/*
 * One ring of all harts, or else one of each. What is wrong with the first is
 * what there is to say.
 */
static bool save_rings(GdbServe *s, Qmp *qmp, GError **errp)
{
    g_autoptr(GPtrArray) files = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GError) err = NULL;

    if (save_ring(s, qmp, -1, files, &err)) {
        s->ct.job.wrapped_at = 0;
    } else {
        s->ct.job.ram = true;
        for (int i = 0; i < MAX_SINKS; i++) {
            if (!save_ring(s, qmp, i, files, NULL)) {
                break;
            }
        }
    }
    if (!files->len) {
        g_propagate_error(errp, g_steal_pointer(&err));
        return false;
    }
    g_ptr_array_add(files, NULL);
    s->ct.job.traces = g_strdupv((char **)files->pdata);
    return true;
}

/* --qmp: prints what is wrong and returns false. */
static bool take_rings(GdbServe *s)
{
    g_autoptr(GError) err = NULL;
    g_autoptr(Address) address = address_parse(s->address, &err);
    g_autoptr(Qmp) qmp = address ? qmp_open(address, QMP_TIMEOUT, &err)
                                 : NULL;
    g_autoptr(JsonNode) stopped = qmp ? qmp_run(qmp, "stop", NULL, &err)
                                      : NULL;

    s->folder = stopped ? g_dir_make_tmp("rvtrace-XXXXXX", &err) : NULL;
    if (!s->folder || !save_rings(s, qmp, &err)) {
        say_error("--qmp %s: %s", s->address, err->message);
        return false;
    }
    fprintf(stderr, "rvtrace: the machine is stopped; 'cont' in its monitor "
            "lets it go on\n");
    return true;
}

/* The code of --elf, where the sideband has none */
static bool load_files(GdbServe *s)
{
    g_autoptr(GError) err = NULL;

    if (s->ct.job.elfs) {
        s->files = trace_load_program(s->ct.job.elfs, &err);
    }
    if (err) {
        say_error("%s", err->message);
    }
    return !err;
}

/* Does the index have what is needed? NULL if it does, or else why not */
static char *find_difference(const GdbServe *s, const TraceIndex *index,
                             TraceMatch match)
{
    g_autofree char *setup = results_index_setup(&s->ct.job, NULL);

    if (g_strcmp0(setup, index->setup)) {
        return g_strdup("it was made with other --isa, --param, --tvec or "
                        "programs");
    }
    if (match == TRACE_GROWN) {
        return g_strdup("the trace has grown since it was made");
    }
    for (unsigned i = 0; i < s->t->nr_harts; i++) {
        if (job_has_hart(&s->ct.job, s->t, i) && !index->harts[i].present) {
            return g_strdup_printf("it was made without hart %u", i);
        }
    }
    return NULL;
}

/*
 * The index, if there is one. *@ok: what is wrong is an error if it was asked
 * for, else a warning.
 */
static TraceIndex *read_index(const GdbServe *s, bool *ok)
{
    g_autofree char *path = results_index_path(&s->ct.job);
    g_autofree char *why = NULL;
    g_autoptr(GError) err = NULL;
    g_autoptr(TraceIndex) index = NULL;
    TraceMatch match;

    *ok = true;
    if (s->t->ram && s->ct.job.index) {
        say_error("a RAM sink's ring cannot be indexed: leave out --index");
        *ok = false;
        return NULL;
    }
    if (s->t->ram || (!s->ct.job.index &&
                      !g_file_test(path, G_FILE_TEST_IS_REGULAR))) {
        return NULL;
    }
    index = trace_index_read(path, s->t, &match, &err);
    why = index ? find_difference(s, index, match) : NULL;
    if (index && !why) {
        return g_steal_pointer(&index);
    }
    *ok = !s->ct.job.index;
    if (*ok) {
        say_warn("%s%s%s; the trace is decoded whole", why ? path :
                 err->message, why ? ": " : "", why ?: "");
    } else if (why) {
        say_error("%s: %s; make it again with 'rvtrace index' and these "
                  "options", path, why);
    } else {
        say_error("%s", err->message);
    }
    return NULL;
}

/* A hart's first pass, in a thread; its losses are written later. */
static void scan_hart(gpointer replay, gpointer losses)
{
    GPtrArray *all = losses;

    replay_scan(replay, all->pdata[replay_hart(replay)]);
}

/* Harts at the same time; pages of ELF files are shared (see results.c). */
static void scan_harts(GdbServe *s)
{
    g_autoptr(GPtrArray) losses = g_ptr_array_new_with_free_func(
        (GDestroyNotify)g_array_unref);
    int jobs = s->t->elf ? 1 : s->ct.job.jobs ?: (int)g_get_num_processors();
    GThreadPool *pool = g_thread_pool_new(scan_hart, losses, jobs, FALSE,
                                          NULL);

    for (guint i = 0; i < s->replays->len; i++) {
        g_ptr_array_add(losses, g_array_new(FALSE, FALSE, sizeof(TraceLoss)));
    }
    for (guint i = 0; i < s->replays->len; i++) {
        if (s->replays->pdata[i]) {
            g_thread_pool_push(pool, s->replays->pdata[i], NULL);
        }
    }
    g_thread_pool_free(pool, FALSE, TRUE);
    for (guint i = 0; i < losses->len; i++) {
        const GArray *of_hart = losses->pdata[i];

        for (guint k = 0; k < of_hart->len; k++) {
            loss_report_add(&s->ct.losses,
                            &g_array_index(of_hart, TraceLoss, k));
        }
        if (s->replays->pdata[i]) {
            loss_report_end(&s->ct.losses, replay_stats(s->replays->pdata[i]),
                            replay_length(s->replays->pdata[i]));
        }
    }
}

/* Functions' names; prints what is wrong and returns false. */
static bool find_names(GdbServe *s)
{
    s->objects = object_table_new();
    s->tasks = task_table_new();
    s->places = source_places_new(s->ct.job.names.sysroots);
    s->names = load_names(&s->ct.job, s->t, s->objects);
    return s->names;
}

/* An index has call stacks, but they may be of other names. */
static void add_stacks(GdbServe *s)
{
    g_autofree char *digest = names_digest(names_objects(s->names),
                                           s->ct.job.elfs);
    bool same = s->index && g_str_equal(digest, s->index->names);

    for (guint i = 0; i < s->replays->len; i++) {
        const IndexHart *index = same ? &s->index->harts[i] : NULL;
        Replay *r = s->replays->pdata[i];

        if (r) {
            gdb_target_set_stacks(s->target, i, replay_stacks_new(
                r, s->names, s->tasks, index));
            gdb_target_set_states(s->target, i, replay_states_new(r));
        }
    }
    gdb_target_share(s->target);
}

/* Length and points of each hart; prints what is wrong and returns false. */
static bool prepare(GdbServe *s)
{
    const TraceIndex *index;
    bool ok, any = false;

    index = s->index = read_index(s, &ok);
    if (!ok || !find_names(s)) {
        return false;
    }
    s->replays = g_ptr_array_new_with_free_func(free_replay);
    for (unsigned i = 0; i < s->t->nr_harts; i++) {
        bool wanted = job_has_hart(&s->ct.job, s->t, i), timestamps;

        g_ptr_array_add(s->replays, wanted ?
                        replay_new(s->t, i, s->tick_rate) : NULL);
        if (wanted && trace_reports_time(s->t, i, &timestamps)) {
            results_warn_of_clock(s->t, i, timestamps, s->tick_rate ?
                                  (uint64_t)s->tick_rate :
                                  trace_tick_rate(s->t, i, timestamps));
        }
    }
    /* It is of the whole trace; from here on, pieces are decoded. */
    s->t->limit = UINT64_MAX;
    for (guint i = 0; index && i < s->replays->len; i++) {
        if (s->replays->pdata[i]) {
            replay_take_index(s->replays->pdata[i], &index->harts[i]);
        }
    }
    if (!index) {
        scan_harts(s);
    }
    for (guint i = 0; i < s->replays->len; i++) {
        Replay *r = s->replays->pdata[i];

        if (r && replay_length(r)) {
            fprintf(stderr, "rvtrace: hart %u: %" PRIu64 " instructions\n", i,
                    replay_length(r));
            any = true;
        } else if (r) {
            g_clear_pointer(&s->replays->pdata[i], free_replay);
        }
    }
    if (!any) {
        say_error("no hart has executed anything in this trace");
    }
    return any;
}

static void add_file(void *opaque, const Object *object, uint64_t bias)
{
    gdb_target_add_file(opaque, object->file ?: object->path, bias,
                        object->file && object->code->len);
}

static bool go_to_begin(GdbServe *s)
{
    g_autoptr(GError) err = NULL;

    s->target = gdb_target_new(s->t, s->replays, s->files, s->places);
    add_stacks(s);
    if (s->t->sideband && sideband_is_process(s->t->sideband)) {
        names_files(s->names, add_file, s->target);
    }
    if (s->place && !gdb_target_go(s->target, s->place, &err)) {
        say_error("--goto %s", err->message);
        return false;
    }
    return true;
}

/* One debugger after the other, until one kills what it debugs */
static bool serve_all(GdbServe *s)
{
    const char *address = s->listen ?: LISTEN_DEFAULT;
    g_autoptr(GCancellable) never = g_cancellable_new();
    GdbServerEnd end;

    do {
        g_autoptr(GError) err = NULL;
        g_autoptr(GSocketConnection) connection = NULL;
        int fd;

        fprintf(stderr, "rvtrace: waiting for gdb at %s; call stacks need one "
                "more command there:\n  python exec(gdb.execute('monitor "
                "python', to_string=True))\n", address);
        connection = address_connect(s->where, 0, never, &err);
        if (!connection) {
            say_error("--listen %s: %s", address, err->message);
            return false;
        }
        fd = g_socket_get_fd(g_socket_connection_get_socket(connection));
        end = gdb_serve(s->target, fd, fd);
    } while (end != GDB_SERVER_KILLED);
    return true;
}

int cmd_gdbserver(int argc, char **argv)
{
    g_auto(GdbServe) s = { 0 };
    struct sigaction action = { .sa_handler = on_signal };

    if (!parse_options(&s, argc, argv) || (s.address && !take_rings(&s)) ||
        !load_files(&s)) {
        return CLI_ERROR;
    }
    s.t = cli_open(&s.ct);
    remove_rings(&s);
    if (!s.t || !prepare(&s) || !go_to_begin(&s)) {
        return CLI_ERROR;
    }
    signal(SIGPIPE, SIG_IGN);
    if (s.where) {
        gdb_target_prepare(s.target);
    }
    if (!s.where) {
        gdb_serve(s.target, STDIN_FILENO, STDOUT_FILENO);
        return CLI_OK;
    }
    socket_path = s.where->path;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    return serve_all(&s) ? CLI_OK : CLI_ERROR;
}
