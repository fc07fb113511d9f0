/*
 * rvtrace pgo: profiles for compilers
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "analysis/results.h"

int pgo_output(const CliTrace *ct, const ProfileOptions *o, PgoFormat format,
               const Counts *counts, FILE *f)
{
    char **sysroots = profile_sysroots(ct, o);
    PgoOptions options = {
        .format = format,
        .object = o->object,
        .elf = o->object_file,
        .sysroot = sysroots ? *sysroots : NULL,
    };
    g_autoptr(GError) err = NULL;
    uint64_t dropped;

    if (!pgo_write(counts, &options, f, &dropped, &err)) {
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
    g_autofree char *format = NULL, *file = NULL, *kind = NULL;
    PgoFormat known;
    GOptionEntry entries[] = {
        { "format", 0, 0, G_OPTION_ARG_STRING, &format,
          "llvm (for llvm-profgen --unsymbolized-profile --use-offset=0), "
          "bolt (for perf2bolt --pa) or gcov (for gcc -fauto-profile)",
          "FORMAT" },
        { "object", 0, 0, G_OPTION_ARG_STRING, &po.object,
          "Which program or library: its path, the last part of it, or its "
          "build-id (default: the only one that ran)", "NAME" },
        { "object-file", 0, 0, G_OPTION_ARG_FILENAME, &po.object_file,
          "Its ELF file, if not the one that was found", "FILE" },
        { "sysroot", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &po.sysroots,
          "Find what ran in the files below this folder, by its bytes: "
          "programs, libraries, modules, kernel; can be repeated", "DIR" },
        { "output", 'o', 0, G_OPTION_ARG_FILENAME, &file,
          "Where to write to (default: standard output)", "FILE" },
        { NULL }
    };

    if (!cli_parse(&ct, entries, "Write how often each piece of a program "
                   "ran, for a compiler that builds it again.", argc, argv)) {
        return CLI_ERROR;
    }
    if (!format || !pgo_parse_format(format, &known)) {
        cli_error("--format must be llvm, bolt or gcov");
        return CLI_ERROR;
    }
    kind = g_strconcat("pgo-", format, NULL);
    return view_write(&ct, kind, file, NULL, &po);
}
