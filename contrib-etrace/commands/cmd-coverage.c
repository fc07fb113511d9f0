/*
 * rvtrace coverage: which lines, functions and branches ran
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "results.h"
#include "views/coverage.h"

typedef enum CoverageFormat {
    COVERAGE_LCOV,
    COVERAGE_DRCOV,
    COVERAGE_DRCOV_TEXT,
    COVERAGE_NR_FORMATS,
} CoverageFormat;

typedef struct CoverageCommand {
    CoverageOptions options;
    CoverageFormat format;
    double fail_under;      /* percent; negative: not given */
} CoverageCommand;

static bool parse_format(const char *text, CoverageFormat *format)
{
    static const char *const names[COVERAGE_NR_FORMATS] = {
        [COVERAGE_LCOV] = "lcov",
        [COVERAGE_DRCOV] = "drcov",
        [COVERAGE_DRCOV_TEXT] = "drcov-text",
    };

    for (unsigned i = 0; i < COVERAGE_NR_FORMATS; i++) {
        if (g_str_equal(text, names[i])) {
            *format = i;
            return true;
        }
    }
    cli_error("--format %s: must be lcov, drcov or drcov-text", text);
    return false;
}

static int write_drcov(const CoverageCommand *cc, const Counts *counts,
                       FILE *f)
{
    uint64_t left_out = coverage_write_drcov(counts, cc->format ==
                                             COVERAGE_DRCOV_TEXT, f);

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

static int write_coverage(void *opaque, const Counts *counts, FILE *f)
{
    const CoverageCommand *cc = opaque;
    g_autoptr(GError) err = NULL;
    g_autoptr(Coverage) cv = NULL;
    CoverageTotals t;

    if (cc->format != COVERAGE_LCOV) {
        return write_drcov(cc, counts, f);
    }
    cv = coverage_new(&cc->options, &err);
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
    if (coverage_percent(&t) < cc->fail_under) {
        cli_error("%.2f %% of the lines ran; --fail-under asks for %g %%",
                  coverage_percent(&t), cc->fail_under);
        return CLI_DIFFERS;
    }
    return CLI_OK;
}

int cmd_coverage(int argc, char **argv)
{
    g_auto(CliTrace) ct = { .selects = true };
    g_auto(ProfileOptions) po = PROFILE_OPTIONS_INIT;
    g_autofree char *format = NULL, *output = NULL;
    g_auto(GStrv) include = NULL, exclude = NULL, prefixes = NULL;
    CoverageCommand cc = { .fail_under = -1 };
    GOptionEntry entries[] = {
        { "format", 0, 0, G_OPTION_ARG_STRING, &format,
          "lcov (for genhtml), drcov or drcov-text (default: lcov)",
          "FORMAT" },
        { "sysroot", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &po.sysroots,
          "Find what ran in the files below this folder, by its bytes: "
          "programs, libraries, kernel; can be repeated", "DIR" },
        { "include", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &include,
          "Only source files with such a path, a glob; can be repeated",
          "GLOB" },
        { "exclude", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &exclude,
          "No source files with such a path; can be repeated", "GLOB" },
        { "source-prefix", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &prefixes,
          "Source files whose paths begin with OLD are in NEW here; can be "
          "repeated", "OLD=NEW" },
        { "fail-under", 0, 0, G_OPTION_ARG_DOUBLE, &cc.fail_under,
          "Exit with status 1 if less of the lines ran, percent", "N" },
        { "output", 'o', 0, G_OPTION_ARG_FILENAME, &output,
          "Where to write to (default: standard output)", "FILE" },
        G_OPTION_ENTRY_NULL
    };

    if (!cli_parse(&ct, entries, "Write which lines, functions and branches "
                   "of the sources ran, and which never did.", argc, argv) ||
        (format && !parse_format(format, &cc.format))) {
        return CLI_ERROR;
    }
    if (cc.fail_under > 100 ||
        (cc.fail_under >= 0 && cc.format != COVERAGE_LCOV)) {
        cli_error("--fail-under is 0 to 100 percent, and needs --format=lcov");
        return CLI_ERROR;
    }
    cc.options = (CoverageOptions) {
        .include = include,
        .exclude = exclude,
        .prefixes = prefixes,
        .sysroot = po.sysroots ? po.sysroots[0] : NULL,
    };
    return counts_pass(&ct, &po, output, write_coverage, &cc);
}
