/*
 * rvtrace: pgo: profiles for compilers
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "commands/views/options.h"
#include "views/pgo/pgo.h"

static char *object, *object_file;

static const OptionGroup group = {
    .entries = (const GOptionEntry[]) {
        { "object", 0, 0, G_OPTION_ARG_STRING, &object,
          "Which program or library: its path, the last part of it, or its "
          "build-id (default: the only program that ran)", "NAME" },
        { "object-file", 0, 0, G_OPTION_ARG_FILENAME, &object_file,
          "Its ELF file, if not the one that was found", "FILE" },
        { NULL }
    },
};

static int write_format(ViewOutput *o, const ViewPass *p, PgoFormat format)
{
    PgoOptions options = {
        .format = format,
        .object = object,
        .elf = object_file,
        .sysroots = p->r->job->names.sysroots,
    };
    g_autoptr(GError) err = NULL;
    uint64_t dropped;

    if (!pgo_write(p->counts, &options, o->f, &dropped, &err)) {
        say_error("%s", err->message);
        return CLI_ERROR;
    }
    if (dropped) {
        say_warn("%" PRIu64 " instructions ran where the kernel had patched "
                 "its code; they are left out", dropped);
    }
    return CLI_OK;
}

static int write_llvm(ViewOutput *o, const ViewPass *p)
{
    return write_format(o, p, PGO_LLVM);
}

static int write_bolt(ViewOutput *o, const ViewPass *p)
{
    return write_format(o, p, PGO_BOLT);
}

static int write_gcov(ViewOutput *o, const ViewPass *p)
{
    return write_format(o, p, PGO_GCOV);
}

const View view_pgo_llvm = {
    .name = "pgo-llvm",
    .summary = "write profiles for llvm-profgen, BOLT and GCC",
    .about = "Write how often each piece of a program ran, for a compiler that "
             "builds it again.",
    .command = "pgo",
    .format = "llvm",
    .format_use = "for llvm-profgen --unsymbolized-profile --use-offset=0",
    .needs = RESULT_COUNTS,
    .groups = { &group },
    .write = write_llvm,
};

const View view_pgo_bolt = {
    .name = "pgo-bolt",
    .command = "pgo",
    .format = "bolt",
    .format_use = "for perf2bolt --pa",
    .needs = RESULT_COUNTS,
    .groups = { &group },
    .write = write_bolt,
};

const View view_pgo_gcov = {
    .name = "pgo-gcov",
    .command = "pgo",
    .format = "gcov",
    .format_use = "for gcc -fauto-profile",
    .needs = RESULT_COUNTS,
    .flags = VIEW_BINARY,
    .groups = { &group },
    .write = write_gcov,
};
