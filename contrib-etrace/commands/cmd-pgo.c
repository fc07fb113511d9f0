/*
 * rvtrace pgo: profiles for compilers
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "results.h"
#include "views/pgo.h"

static int write_pgo(void *opaque, const Counts *counts, FILE *f)
{
    const PgoOptions *o = opaque;
    g_autoptr(GError) err = NULL;
    uint64_t dropped;

    if (!pgo_write(counts, o, f, &dropped, &err)) {
        cli_error("%s", err->message);
        return CLI_ERROR;
    }
    if (dropped) {
        cli_warn("%" PRIu64 " instructions ran where the kernel had patched "
                 "its code; they are left out", dropped);
    }
    return CLI_OK;
}

int cmd_pgo(int argc, char **argv)
{
    g_auto(CliTrace) ct = { .selects = true };
    g_auto(ProfileOptions) po = PROFILE_OPTIONS_INIT;
    g_autofree char *format = NULL, *object = NULL, *file = NULL;
    g_autofree char *output = NULL;
    PgoOptions o = { 0 };
    GOptionEntry entries[] = {
        { "format", 0, 0, G_OPTION_ARG_STRING, &format,
          "llvm (for llvm-profgen --unsymbolized-profile --use-offset=0), "
          "bolt (for perf2bolt --pa) or gcov (for gcc -fauto-profile)",
          "FORMAT" },
        { "object", 0, 0, G_OPTION_ARG_STRING, &object,
          "Which program or library: its path, the last part of it, or its "
          "build-id (default: the only one that ran)", "NAME" },
        { "object-file", 0, 0, G_OPTION_ARG_FILENAME, &file,
          "Its ELF file, if not the one that was found", "FILE" },
        { "sysroot", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &po.sysroots,
          "Find what ran in the files below this folder, by its bytes: "
          "programs, libraries, modules, kernel; can be repeated", "DIR" },
        { "output", 'o', 0, G_OPTION_ARG_FILENAME, &output,
          "Where to write to (default: standard output)", "FILE" },
        G_OPTION_ENTRY_NULL
    };

    if (!cli_parse(&ct, entries, "Write how often each piece of a program "
                   "ran, for a compiler that builds it again.", argc, argv)) {
        return CLI_ERROR;
    }
    if (!format || !pgo_parse_format(format, &o.format)) {
        cli_error("--format must be llvm, bolt or gcov");
        return CLI_ERROR;
    }
    o.object = object;
    o.elf = file;
    o.sysroot = po.sysroots ? po.sysroots[0] : NULL;
    return counts_pass(&ct, &po, output, write_pgo, &o);
}
