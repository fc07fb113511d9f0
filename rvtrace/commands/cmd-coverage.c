/*
 * rvtrace coverage: which lines, functions and branches ran
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "analysis/results.h"
#include "views/pgo/coverage.h"

int drcov_output(const Counts *counts, bool text, FILE *f)
{
    uint64_t left_out = coverage_write_drcov(counts, text, f);

    if (left_out) {
        cli_warn("%" PRIu64 " instructions ran in code of no known object; "
                 "name its file with --elf or --sysroot", left_out);
    }
    return CLI_OK;
}

static bool add_objects(Coverage *cv, const Counts *counts)
{
    g_autoptr(GError) err = NULL;
    unsigned files = 0;

    for (unsigned i = 1; i < object_table_size(counts->objects); i++) {
        const Object *o = object_get(counts->objects, i);
        g_autofree char *note = NULL;

        if (!o->file) {
            continue;
        }
        if (!coverage_add(cv, counts, o, &note, &err)) {
            cli_error("%s", err->message);
            return false;
        }
        if (note) {
            cli_warn("%s", note);
        }
        files++;
    }
    if (!files) {
        cli_error("no ELF file of what ran is known; name them with --elf or "
                  "--sysroot");
    }
    return files;
}

static void print_part(const char *what, uint64_t hit, uint64_t all)
{
    if (all) {
        fprintf(stderr, "%s: %.1f %% (%" PRIu64 " of %" PRIu64 ")\n", what,
                100.0 * hit / all, hit, all);
    } else {
        fprintf(stderr, "%s: none\n", what);
    }
}

int lcov_output(const CliTrace *ct, const ProfileOptions *o,
                const Counts *counts, FILE *f)
{
    char **sysroots = profile_sysroots(ct, o);
    CoverageOptions options = {
        .include = o->include,
        .exclude = o->exclude,
        .prefixes = o->source_prefixes,
        .sysroot = sysroots ? *sysroots : NULL,
    };
    g_autoptr(GError) err = NULL;
    g_autoptr(Coverage) cv = NULL;
    CoverageTotals t;

    cv = coverage_new(&options, &err);
    if (!cv) {
        cli_error("--source-prefix %s", err->message);
        return CLI_ERROR;
    }
    if (!add_objects(cv, counts)) {
        return CLI_ERROR;
    }
    coverage_write_lcov(cv, f);
    coverage_totals(cv, &t);
    if (!t.lines) {
        cli_error("no line of any source file is known: are the programs "
                  "built with -g, and is --include right?");
        return CLI_ERROR;
    }
    print_part("lines", t.lines_hit, t.lines);
    print_part("functions", t.functions_hit, t.functions);
    print_part("branches", t.branches_hit, t.branches);
    if (coverage_percent(&t) < o->fail_under) {
        cli_error("%.2f %% of the lines ran; --fail-under asks for %g %%",
                  coverage_percent(&t), o->fail_under);
        return CLI_DIFFERS;
    }
    return CLI_OK;
}

static bool is_format(const char *text)
{
    return g_str_equal(text, "lcov") || g_str_equal(text, "drcov") ||
           g_str_equal(text, "drcov-text");
}

int cmd_coverage(int argc, char **argv)
{
    g_auto(CliTrace) ct = { .selects = true };
    g_auto(ProfileOptions) po = PROFILE_OPTIONS_INIT;
    g_autofree char *format = NULL, *file = NULL;
    GOptionEntry entries[] = {
        { "format", 0, 0, G_OPTION_ARG_STRING, &format,
          "lcov (for genhtml), drcov or drcov-text (default: lcov)",
          "FORMAT" },
        { "sysroot", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &po.sysroots,
          "Find what ran in the files below this folder, by its bytes: "
          "programs, libraries, kernel; can be repeated", "DIR" },
        { "include", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &po.include,
          "Only source files with such a path, a glob; can be repeated",
          "GLOB" },
        { "exclude", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &po.exclude,
          "No source files with such a path; can be repeated", "GLOB" },
        { "source-prefix", 0, 0, G_OPTION_ARG_FILENAME_ARRAY,
          &po.source_prefixes,
          "Source files whose paths begin with OLD are in NEW here; can be "
          "repeated", "OLD=NEW" },
        { "fail-under", 0, 0, G_OPTION_ARG_DOUBLE, &po.fail_under,
          "Exit with status 1 if less of the lines ran, percent", "N" },
        { "output", 'o', 0, G_OPTION_ARG_FILENAME, &file,
          "Where to write to (default: standard output)", "FILE" },
        { NULL }
    };

    if (!cli_parse(&ct, entries, "Write which lines, functions and branches "
                   "of the sources ran, and which never did.", argc, argv)) {
        return CLI_ERROR;
    }
    if (format && !is_format(format)) {
        cli_error("--format %s: must be lcov, drcov or drcov-text", format);
        return CLI_ERROR;
    }
    if (po.fail_under > 100 ||
        (po.fail_under >= 0 && format && !g_str_equal(format, "lcov"))) {
        cli_error("--fail-under is 0 to 100 percent, and needs --format=lcov");
        return CLI_ERROR;
    }
    return view_write(&ct, format ?: "lcov", file, NULL, &po);
}
