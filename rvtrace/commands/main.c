/*
 * rvtrace: decode RISC-V instruction traces
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <locale.h>
#include "base/input.h"
#include "commands/cli/suggest.h"
#include "commands/views/view.h"

static const CliCommand commands[] = {
    { "decode", "write the instructions that were executed", cmd_decode },
    { "encode", "assemble packets that were written as text", cmd_encode },
    { "convert", "wrap packets for other people's decoders", cmd_convert },
    { "params", "write encoder parameters for other people's decoders",
      cmd_params },
    { "guest-info", "write what QEMU has to know of a guest's kernel",
      cmd_guest_info },
    { "kernel-elf", "write a kernel's own names for gdb and perf",
      cmd_kernel_elf },
    { "diff", "list what differs between two runs", cmd_diff },
    { "index", "find places in a trace where decoding can begin", cmd_index },
    { "merge", "add up results of pieces of a trace", cmd_merge },
    { "run", "run QEMU, trace it, and write what was executed", cmd_run },
    { "ctr-sample", "sample a machine that runs, by its control transfers",
      cmd_ctr_sample },
    { "gdbserver", "let gdb step back and forth through what was executed",
      cmd_gdbserver },
    { "listen", "collect trace and sideband from sockets", cmd_listen },
    { "live", "collect them, and show what runs meanwhile, as top does",
      cmd_live },
};

/* In the order in which one needs them */
static const struct {
    const char *title, *commands;
} groups[] = {
    { "Run a machine", "run" },
    { "Look at what ran", "summary report annotate html flamegraph timeline "
      "privilege diff gdbserver" },
    { "Ask what happened", "calls latency faults switches why-hung" },
    { "For other programs", "perf-data script callgrind pprof speedscope "
      "uftrace ctf edges folded coverage pgo kernel-elf" },
    { "Record what something else has started", "listen live ctr-sample "
      "guest-info" },
    { "Instructions, packets and pieces of a trace", "decode stat verify index "
      "merge convert params encode" },
};

/* All commands: those of views have no run(). The caller frees the array. */
static GArray *all_commands(void)
{
    GArray *all = g_array_new(false, false, sizeof(CliCommand));
    const View *view;

    g_array_append_vals(all, commands, ARRAY_SIZE(commands));
    for (unsigned i = 0; (view = view_number(i)); i++) {
        CliCommand command = { view_command_name(view), view->summary };

        /* Of several views of one command, one has its texts. */
        if (view->summary) {
            g_array_append_val(all, command);
        }
    }
    return all;
}

/* NULL: there is no such command. */
static const CliCommand *find_command(const GArray *all, const char *name)
{
    for (guint i = 0; i < all->len; i++) {
        const CliCommand *c = &g_array_index(all, CliCommand, i);

        if (g_str_equal(c->name, name)) {
            return c;
        }
    }
    return NULL;
}

static void list(FILE *f, const CliCommand *c)
{
    fprintf(f, "  %-11s %s\n", c->name, c->summary);
}

static bool is_grouped(const CliCommand *c)
{
    for (size_t k = 0; k < ARRAY_SIZE(groups); k++) {
        g_auto(GStrv) words = g_strsplit(groups[k].commands, " ", -1);

        if (g_strv_contains((const char *const *)words, c->name)) {
            return true;
        }
    }
    return false;
}

/* Commands that no group names are listed, too. */
static void list_others(FILE *f, const GArray *all)
{
    bool any = false;

    for (guint i = 0; i < all->len; i++) {
        const CliCommand *c = &g_array_index(all, CliCommand, i);

        if (!is_grouped(c)) {
            fprintf(f, "%s", any ? "" : "\nOthers:\n");
            list(f, c);
            any = true;
        }
    }
}

static void usage(FILE *f)
{
    g_autoptr(GArray) all = all_commands();

    fprintf(f, "Usage: rvtrace COMMAND [OPTION...] [FOLDER]\n\n"
               "See every instruction that RISC-V harts of QEMU have run.\n");
    for (size_t i = 0; i < ARRAY_SIZE(groups); i++) {
        g_auto(GStrv) words = g_strsplit(groups[i].commands, " ", -1);

        fprintf(f, "\n%s:\n", groups[i].title);
        for (char **word = words; *word; word++) {
            list(f, find_command(all, *word));
        }
    }
    list_others(f, all);
    fprintf(f, "\nBegin with 'rvtrace run -- qemu-system-riscv64 -M virt "
               "...'.\n'rvtrace help COMMAND' explains a command, 'rvtrace "
               "--version' says which\nrvtrace this is.\n");
}

static int unknown_command(const GArray *all, const char *name)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    g_autofree char *hint = NULL;

    for (guint i = 0; i < all->len; i++) {
        g_ptr_array_add(names,
                        (gpointer)g_array_index(all, CliCommand, i).name);
    }
    hint = suggest(name, names, "");
    say_error("there is no command '%s'%s; try 'rvtrace --help'", name, hint);
    return CLI_ERROR;
}

static int run_command(const char *name, int argc, char **argv)
{
    g_autofree char *prgname = g_strdup_printf("rvtrace %s", name);
    g_autoptr(GArray) all = all_commands();
    const CliCommand *c = find_command(all, name);

    g_set_prgname(prgname);
    return !c ? unknown_command(all, name) :
           c->run ? c->run(argc, argv) : view_command(name, argc, argv);
}

int main(int argc, char **argv)
{
    setlocale(LC_ALL, "");
    input_guard(CLI_ERROR);
    if (argc < 2) {
        usage(stderr);
        return CLI_ERROR;
    }
    if (!strcmp(argv[1], "help") && argc > 2) {
        char *help[] = { argv[2], (char *)"--help", NULL };

        return run_command(argv[2], 2, help);
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") ||
        !strcmp(argv[1], "help")) {
        usage(stdout);
        return flush_output(stdout, "standard output") ? CLI_OK : CLI_ERROR;
    }
    if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
        puts("rvtrace " RVTRACE_VERSION " (GPL-2.0-or-later)");
        return flush_output(stdout, "standard output") ? CLI_OK : CLI_ERROR;
    }
    return run_command(argv[1], argc - 1, argv + 1);
}
