/*
 * rvtrace params: encoder parameters in the form that others read
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "commands/cli/cli.h"
#include "commands/cli/folder.h"
#include "base/params-text.h"

/* The parameters of hart @hart (-1: the first one) in the sideband */
static bool from_sideband(ETraceParams *params, const char *path,
                          int session, int hart)
{
    g_autoptr(GError) err = NULL;
    Sideband *sb = sideband_open(path, session, &err);
    bool found = false;

    if (!sb) {
        say_error("%s", err->message);
        return false;
    }
    for (unsigned i = 0; i < sideband_nr_harts(sb) && !found; i++) {
        if (sideband_hart(sb, i)->present &&
            (hart < 0 || (unsigned)hart == i)) {
            *params = sideband_hart(sb, i)->params;
            found = true;
        }
    }
    if (!found) {
        say_error("%s: no parameters of %s", path,
                  hart < 0 ? "any hart" : "that hart");
    }
    sideband_free(sb);
    return found;
}

/*
 * The modes of the first support packet in @t that is of @params' source.
 * @switched: not all of them agree about sequentially inferable jumps.
 */
static bool modes_of(const Trace *t, ETraceParams *params, bool *switched)
{
    StreamSources sources = { .params = *params, .known = t->known_ids };
    bool found = false;
    StreamEvent event;
    StreamItem item;
    Stream stream;

    stream_init(&stream, t->data, t->begin, t->end, &sources);
    while (!*switched &&
           (event = stream_next(&stream, &item)) != STREAM_END) {
        ETracePacket pkt;

        if (event != STREAM_PACKET || item.pkt.data ||
            !etrace_packet_unpack(params, item.payload, item.len, &pkt) ||
            pkt.format != ETRACE_FORMAT_SYNC ||
            pkt.subformat != ETRACE_SYNC_SUPPORT) {
            continue;
        }
        if (!found) {
            found = etrace_params_follow(params, &pkt);
        } else {
            *switched = (pkt.ioptions ^ params->ioptions) &
                        ETRACE_IOPT_SIJUMP;
        }
    }
    return found;
}

static bool modes_from_trace(ETraceParams *params, const TraceOptions *opts,
                             bool *switched)
{
    g_autoptr(GError) err = NULL;
    g_autoptr(Trace) t = trace_open(opts, &err);

    if (!t) {
        cli_say(err);
        return false;
    }
    if (!modes_of(t, params, switched)) {
        say_error("%s: no support packet of srcID %u", opts->traces[0],
                  params->src_id);
        return false;
    }
    return true;
}

static bool is_given(char **params_args, const char *name)
{
    for (char **arg = params_args; arg && *arg; arg++) {
        if (g_str_has_prefix(*arg, name)) {
            return true;
        }
    }
    return false;
}

/* What the file cannot say, though its reader depends on it */
static void warn_about(const ETraceParams *p, ParamsFormat format)
{
    if (format == PARAMS_JSON) {
        return;
    }
    if (p->wire_format != ETRACE_WIRE_2_0) {
        say_warn("this form is for readers of wire format 2.0 only");
    }
    if (format == PARAMS_CSV && p->src_bits % 8) {
        say_warn("its reader knows whole bytes of srcID only, not %u bits",
                 p->src_bits);
    }
    if (format != PARAMS_CSV && p->sijump && p->data_width) {
        say_warn("its reader knows 5 bits of ioptions; here, sijump is a "
                 "6th, and what is behind it in support packets is one "
                 "further");
    }
}

/* The crate takes sijump_p for the mode: its support packet has no bit. */
static void set_sijump(ETraceParams *p, bool modes_known, bool switched)
{
    if (switched) {
        say_warn("sequential-jump is switched within the trace; sijump_p is "
                 "as at its beginning");
    }
    if (modes_known) {
        p->sijump = p->sijump && (p->ioptions & ETRACE_IOPT_SIJUMP);
    } else if (p->sijump) {
        say_warn("its reader takes sijump_p for the mode being on, which "
                 "is not known here; give --trace FILE, or --param "
                 "ioptions=VALUE");
    }
}

/*
 * Without any option that says whose they are: those of a folder, of which
 * @folders are the operands. Prints what is wrong and returns false.
 */
static bool take_folder(char **folders, char **params_args, char **trace,
                        char **sideband)
{
    bool given = *trace || *sideband || params_args;
    g_auto(Job) job = { JOB_INIT };
    g_autofree char *title = NULL;

    if (!folder_check_operands(folders, given)) {
        return false;
    }
    if (given) {
        return true;
    }
    if (!folder_take(folders ? folders[0] : NULL, &job, false, false, &title)) {
        return false;
    }
    *trace = g_strdup(job.traces[0]);
    *sideband = job.sidebands ? g_strdup(job.sidebands[0]) : NULL;
    return true;
}

int cmd_params(int argc, char **argv)
{
    g_autofree char *trace = NULL, *sideband = NULL, *name = NULL;
    g_auto(GStrv) params_args = NULL, folders = NULL;
    g_autoptr(GString) text = g_string_new(NULL);
    ETraceParams params;
    char *traces[2] = { }, *sidebands[2] = { };
    TraceOptions opts;
    ParamsFormat format;
    int session = 0, hart = -1;
    bool modes_known, switched = false;
    GOptionEntry entries[] = {
        { "trace", 't', 0, G_OPTION_ARG_FILENAME, &trace,
          "Trace, whose first support packet says the modes: the bytes of "
          "trace-chardev", "FILE" },
        { "sideband", 's', 0, G_OPTION_ARG_FILENAME, &sideband,
          "Sideband: the bytes of trace-sideband", "FILE" },
        { "session", 0, 0, G_OPTION_ARG_INT, &session,
          "Session of the sideband (default: the last one)", "N" },
        { "hart", 0, 0, G_OPTION_ARG_INT, &hart,
          "Of this hart (default: the first one)", "N" },
        { "param", 0, 0, G_OPTION_ARG_STRING_ARRAY, &params_args,
          "Encoder parameter, over the sideband's; can be repeated",
          "NAME=VALUE" },
        { "format", 'f', 0, G_OPTION_ARG_STRING, &name,
          "csv: riscv-etrace-lib; toml: the riscv-etrace crate; scf, dscf: "
          "the reference flow's static configuration for instruction and "
          "data trace; json: everything", "csv|toml|scf|dscf|json" },
        { G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &folders,
          NULL, "[FOLDER]" },
        { NULL }
    };

    if (!cli_parse_only(entries, "Write encoder parameters to standard "
                        "output, in the form that a decoder reads.", NULL,
                        argc, argv) ||
        !take_folder(folders, params_args, &trace, &sideband)) {
        return CLI_ERROR;
    }
    if (session < 0) {
        say_error("--session: sessions are counted from 1");
        return CLI_ERROR;
    }
    format = params_format_parse(name ?: "");
    if (format == PARAMS_NR_FORMATS) {
        say_error("which form? --format csv, toml, scf, dscf or json");
        return CLI_ERROR;
    }
    etrace_params_init(&params, 64);
    if ((sideband && !from_sideband(&params, sideband, session, hart)) ||
        !cli_set_params(&params, params_args)) {
        return CLI_ERROR;
    }
    if (!sideband && !params_args) {
        say_error("whose parameters? give --sideband FILE or --param");
        return CLI_ERROR;
    }
    traces[0] = trace;
    sidebands[0] = sideband;
    opts = (TraceOptions) {
        .traces = traces,
        .sidebands = sideband ? sidebands : NULL,
        .sessions = &(unsigned) { session },
        .params = sideband ? NULL : &params,
        .packets_only = true,
        .wrapped_at = RING_NOT_WRAPPED,
    };
    if (trace && !modes_from_trace(&params, &opts, &switched)) {
        return CLI_ERROR;
    }
    modes_known = trace || is_given(params_args, "ioptions=");
    warn_about(&params, format);
    if (format == PARAMS_TOML) {
        set_sijump(&params, modes_known, switched);
    }
    params_text_file(text, &params, format);
    fputs(text->str, stdout);
    return flush_output(stdout, "standard output") ? CLI_OK : CLI_ERROR;
}
