/*
 * rvtrace: load the names of functions: of ELF files, and those the guest sent
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "elf/elf-file.h"
#include "names/guest-text.h"
#include "names/kernel-elf.h"
#include "names/kernel-image.h"
#include "names/object-elf.h"
#include "names/sysroot.h"
#include "analysis/load-names.h"
#include "samples/perf-samples.h"
#include "base/say.h"

/*
 * An object with its code, for views that show it; a file of symbols alone
 * will do, too. Code of modules is not where their symbols say.
 */
static Object *elf_object(ObjectTable *table, const char *path, GError **errp)
{
    Object *o = object_elf_load(table, path, path, NULL);

    if (o && o->kind != OBJECT_MODULE && object_elf_names(table, o)) {
        return o;
    }
    if (o) {
        object_drop(table, o);
    }
    o = object_new(table, OBJECT_PROGRAM, path, path);
    if (!symbols_add_elf(o->symbols, path, 0, errp)) {
        object_drop(table, o);
        return NULL;
    }
    symbols_sort(o->symbols);
    return o;
}

/* A kernel's Image has code and names, too, and a place of its own. */
static bool add_image(Names *names, ObjectTable *table, const char *path,
                      uint64_t bias)
{
    Object *kernel = kernel_image_load(table, path, NULL);

    if (kernel) {
        kernel_image_symbols(kernel);
        names_add_fixed(names, kernel, KERNEL_ELF_BASE + bias);
    }
    return kernel;
}

/*
 * A program of user mode says which files it has mapped: these are looked up
 * below a --sysroot, which may be the whole host, and nothing is searched.
 */
static bool is_process(const Trace *t)
{
    return t->sideband && sideband_is_process(t->sideband);
}

/* @xlen: of the one process that is traced; 0: any will do */
static bool add_elf(Names *names, ObjectTable *table, const char *arg,
                    unsigned xlen)
{
    g_autoptr(GError) err = NULL;
    uint64_t bias;
    g_autofree char *path = elf_file_split(arg, &bias, &err);
    Object *o;

    if (!path) {
        say_error("--elf: %s", err->message);
        return false;
    }
    o = elf_object(table, path, &err);
    if (o && xlen && o->xlen && o->xlen != xlen) {
        say_error("--elf: %s is for RV%u, and the program that ran is for "
                  "RV%u; give the file that ran", path, o->xlen, xlen);
        return false;
    }
    if (o) {
        names_add_fixed(names, o, bias);
        return true;
    }
    if (!add_image(names, table, path, bias)) {
        say_error("--elf: %s", err->message);
        return false;
    }
    return true;
}

static bool add_kallsyms(Names *names, ObjectTable *table, char **paths)
{
    g_autoptr(GError) err = NULL;
    Object *o;

    if (!paths) {
        return true;
    }
    o = object_new(table, OBJECT_KERNEL, "[kernel]", NULL);
    for (; *paths; paths++) {
        if (!symbols_add_kallsyms(o->symbols, *paths, &err)) {
            say_error("--kallsyms: %s", err->message);
            return false;
        }
    }
    symbols_sort(o->symbols);
    names_add_fixed(names, o, 0);
    return true;
}

/* Has an object of @table the code of @o already? */
static bool has_code_of(const ObjectTable *table, const Object *o)
{
    const ObjectCode *code = o->code->len ?
        &g_array_index(o->code, ObjectCode, 0) : NULL;

    for (unsigned i = 1; code && i < o->id; i++) {
        const uint8_t *bytes;

        if (object_bytes(object_get(table, i), code->addr, code->size,
                         &bytes) == code->size &&
            !memcmp(bytes, code->bytes, code->size)) {
            return true;
        }
    }
    return !code;
}

/*
 * The default firmware of the QEMU that this program belongs to, or that is
 * installed here. It need not be what ran: its bytes say.
 */
static void add_firmware(Names *names, ObjectTable *table)
{
    g_autoptr(GPtrArray) files = g_ptr_array_new_with_free_func(g_free);

    firmware_default_elfs(files, "/proc/self/exe");
    firmware_default_elfs(files, "/usr/bin/qemu-system-riscv64");
    for (guint i = 0; i < files->len; i++) {
        unsigned first = object_table_size(table);
        Object *o = object_elf_load(table, files->pdata[i], files->pdata[i],
                                    NULL);

        if (o && has_code_of(table, o)) {
            object_drop(table, o);
        } else if (o) {
            names_try(names, first);
        }
    }
}

/* Look for what ran of all parts of @t. */
static bool scan_sysroots(Names *names, ObjectTable *table, const Trace *t,
                          char **roots)
{
    g_autoptr(GError) err = NULL;
    char **all = roots;
    unsigned malformed;

    for (const Trace *part = t; part; part = part->next) {
        if (part->sideband) {
            names_add_sideband(names, part->sideband);
        }
    }
    for (; !is_process(t) && roots && *roots; roots++) {
        if (!sysroot_scan(names, *roots, &err)) {
            say_error("--sysroot: %s", err->message);
            return false;
        }
    }
    if (all && !is_process(t)) {
        add_firmware(names, table);
    }
    names_decide(names);
    malformed = names_add_texts(names, all);
    if (malformed) {
        say_warn("%u lines that the guest sent as texts make no sense, and "
                 "are left out; see rvtrace-guest", malformed);
    }
    return true;
}

/* Did the guest of any part say something of itself? */
static bool has_texts(const Trace *t)
{
    for (const Trace *part = t; part; part = part->next) {
        if (part->sideband && guest_text_in(part->sideband)) {
            return true;
        }
    }
    return false;
}

/* By what perf recorded of their maps */
static void name_processes(const Names *names, PerfSamples *samples,
                           ObjectTable *table, char **roots)
{
    unsigned missing;

    process_table_names(samples->processes, names, roots, table, &missing);
    if (missing) {
        say_warn("%u files that processes had mapped are not below a "
                 "--sysroot, or are no ELF files", missing);
    }
}

Names *load_names(const Job *job, const Trace *t, ObjectTable *table)
{
    g_autoptr(Names) names = names_new(table);
    char **sysroots = job->names.sysroots;
    bool several = job->processes && job->processes->len > 1;
    unsigned xlen = is_process(t) && !several ? t->isa.xlen : 0;

    table->sysroots = sysroots;
    for (char **p = job->elfs; p && *p; p++) {
        if (!add_elf(names, table, *p, xlen)) {
            return NULL;
        }
    }
    if (!add_kallsyms(names, table, job->names.kallsyms)) {
        return NULL;
    }
    names_add_unfiled(names);
    if (t->samples) {
        name_processes(names, t->samples, table, sysroots);
    } else if ((sysroots || has_texts(t)) &&
               !scan_sysroots(names, table, t, sysroots)) {
        return NULL;
    }
    if (!job->names.no_demangle) {
        names_demangle(names);
    }
    return g_steal_pointer(&names);
}
