/*
 * rvtrace: what an index depends on
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "analysis/results.h"
#include "base/input.h"
#include "elf/elf-file.h"

char *results_index_path(const Job *job)
{
    return job->index ? g_strdup(job->index) :
                       g_strconcat(job->traces[0], ".rvidx", NULL);
}

static void add_words(GString *text, const char *option, char **words)
{
    for (; words && *words; words++) {
        g_string_append_printf(text, "%s=%s\n", option, *words);
    }
}

/* Identify the program by its ELF file, where no sideband has its code. */
static bool add_program(GString *text, const char *arg, GError **errp)
{
    g_autofree char *digest = NULL;
    g_autoptr(GBytes) file = NULL;
    uint64_t bias;
    g_autofree char *path = elf_file_split(arg, &bias, errp);

    file = path ? input_open(path, errp) : NULL;
    if (!file) {
        return false;
    }
    digest = g_compute_checksum_for_bytes(G_CHECKSUM_SHA256, file);
    g_string_append_printf(text, "elf=%s@%" PRIx64 "\n", digest, bias);
    return true;
}

static bool add_params(GString *text, const char *path, GError **errp)
{
    g_autoptr(GBytes) file = input_open(path, errp);
    g_autofree char *digest = NULL;

    if (!file) {
        return false;
    }
    digest = g_compute_checksum_for_bytes(G_CHECKSUM_SHA256, file);
    g_string_append_printf(text, "params=%s\n", digest);
    return true;
}

char *results_index_setup(const Job *job, GError **errp)
{
    g_autoptr(GString) text = g_string_new(NULL);

    g_string_append_printf(text, "isa=%s\n", job->isa ?: "");
    if (job->unit) {
        g_string_append_printf(text, "unit=%s\n", job->unit);
    }
    if (job->params_file && !add_params(text, job->params_file, errp)) {
        return NULL;
    }
    add_words(text, "param", job->params);
    add_words(text, "tvec", job->tvecs);
    for (char **elf = job->elfs; elf && *elf && !job->sidebands; elf++) {
        if (!add_program(text, *elf, errp)) {
            return NULL;
        }
    }
    return g_strdup(text->str);
}

char *results_index_names(const Results *r)
{
    return names_digest(names_objects(r->names), r->job->elfs);
}
