/*
 * rvtrace: decode RISC-V instruction traces
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <locale.h>
#include "base/input.h"
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
    { "diff", "list what differs between two reports", cmd_diff },
    { "index", "find places in a trace where decoding can begin", cmd_index },
    { "merge", "add up results of pieces of a trace", cmd_merge },
    { "run", "run QEMU, trace it, and write what was executed", cmd_run },
    { "ctr-sample", "sample a machine that runs, by its control transfers",
      cmd_ctr_sample },
    { "gdbserver", "let gdb walk through what was executed, forth and back",
      cmd_gdbserver },
    { "listen", "collect trace and sideband from sockets", cmd_listen },
    { "live", "the same, and show what runs meanwhile, as top does",
      cmd_live },
};

static void usage(FILE *f)
{
    const View *view;

    fprintf(f, "Usage: rvtrace COMMAND [OPTION...]\n\n"
               "Decode E-Trace instruction traces of RISC-V harts.\n\n"
               "Commands:\n");
    for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
        fprintf(f, "  %-11s %s\n", commands[i].name, commands[i].summary);
    }
    for (unsigned i = 0; (view = view_number(i)); i++) {
        if (view->summary) {
            fprintf(f, "  %-11s %s\n", view_command_name(view), view->summary);
        }
    }
    fprintf(f, "\n'rvtrace COMMAND --help' explains a command's "
               "options.\n");
}

int main(int argc, char **argv)
{
    g_autofree char *name = NULL;
    const View *view;

    setlocale(LC_ALL, "");
    input_guard(CLI_ERROR);
    if (argc < 2) {
        usage(stderr);
        return CLI_ERROR;
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") ||
        !strcmp(argv[1], "help")) {
        usage(stdout);
        return flush_output(stdout, "standard output") ? CLI_OK : CLI_ERROR;
    }
    name = g_strdup_printf("rvtrace %s", argv[1]);
    g_set_prgname(name);
    for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
        if (!strcmp(argv[1], commands[i].name)) {
            return commands[i].run(argc - 1, argv + 1);
        }
    }
    for (unsigned i = 0; (view = view_number(i)); i++) {
        if (!strcmp(argv[1], view_command_name(view))) {
            return view_command(argv[1], argc - 1, argv + 1);
        }
    }
    say_error("there is no command '%s'; try 'rvtrace --help'", argv[1]);
    return CLI_ERROR;
}
