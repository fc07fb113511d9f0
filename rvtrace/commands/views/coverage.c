/*
 * rvtrace: coverage: which lines, functions and branches ran
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "commands/views/missing.h"
#include "commands/views/options.h"
#include "views/pgo/coverage.h"

static struct {
    char **include, **exclude;
    double fail_under;          /* per cent of the lines; negative: not given */
} options = { .fail_under = -1 };

static bool check(const View *only)
{
    if (options.fail_under > 100) {
        say_error("--fail-under: 0 to 100 per cent");
        return false;
    }
    if (options.fail_under >= 0 && only && !g_str_equal(only->name, "lcov")) {
        say_error("--fail-under: %s does not say which lines ran; lcov does",
                  only->name);
        return false;
    }
    return true;
}

static const OptionGroup group = {
    .entries = (const GOptionEntry[]) {
        { "include", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &options.include,
          "Only source files with such a path, a glob; can be repeated",
          "GLOB" },
        { "exclude", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &options.exclude,
          "No source files with such a path; can be repeated", "GLOB" },
        { "fail-under", 0, 0, G_OPTION_ARG_DOUBLE, &options.fail_under,
          "Exit with status 1 if less of the lines ran, percent", "N" },
        { NULL }
    },
    .check = check,
};

static bool add_objects(Coverage *cv, const Counts *counts)
{
    g_autoptr(GError) err = NULL;
    g_autoptr(MissingLines) missing = missing_lines_new(counts);
    unsigned files = 0;

    for (unsigned i = 1; i < object_table_size(counts->objects); i++) {
        const Object *o = object_get(counts->objects, i);
        char *note = NULL;

        if (!o->file) {
            continue;
        }
        if (!coverage_add(cv, counts, o, &note, &err)) {
            say_error("%s", err->message);
            return false;
        }
        missing_lines_add(missing, o, note);
        files++;
    }
    missing_lines_say(missing);
    if (!files) {
        say_error("no ELF file of what ran is known; name them with --elf or "
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

static int write_lcov(ViewOutput *o, const ViewPass *p)
{
    CoverageOptions coverage = {
        .include = options.include,
        .exclude = options.exclude,
        .prefixes = source_prefixes,
        .sysroots = p->r->job->names.sysroots,
    };
    g_autoptr(GError) err = NULL;
    g_autoptr(Coverage) cv = NULL;
    CoverageTotals t;

    cv = coverage_new(&coverage, &err);
    if (!cv) {
        say_error("--source-prefix %s", err->message);
        return CLI_ERROR;
    }
    if (!add_objects(cv, p->counts)) {
        return CLI_ERROR;
    }
    coverage_write_lcov(cv, o->f);
    coverage_totals(cv, &t);
    if (!t.lines) {
        say_error("no line of any source file is known: are the programs "
                  "built with -g, and is --include right?");
        return CLI_ERROR;
    }
    print_part("lines", t.lines_hit, t.lines);
    print_part("functions", t.functions_hit, t.functions);
    print_part("branches", t.branches_hit, t.branches);
    if (coverage_percent(&t) < options.fail_under) {
        say_error("%.2f %% of the lines ran; --fail-under asks for %g %%",
                  coverage_percent(&t), options.fail_under);
        return CLI_DIFFERS;
    }
    return CLI_OK;
}

static int write_drcov(const Counts *counts, bool text, FILE *f)
{
    uint64_t left_out = coverage_write_drcov(counts, text, f);

    if (left_out) {
        say_warn("%" PRIu64 " instructions ran in code of no known object; "
                 "name its file with --elf or --sysroot", left_out);
    }
    return CLI_OK;
}

static int write_binary(ViewOutput *o, const ViewPass *p)
{
    return write_drcov(p->counts, false, o->f);
}

static int write_text(ViewOutput *o, const ViewPass *p)
{
    return write_drcov(p->counts, true, o->f);
}

const View view_lcov = {
    .name = "lcov",
    .summary = "write which lines and branches ran, for lcov",
    .about = "Write which lines, functions and branches of the sources ran, "
             "and which never did.",
    .command = "coverage",
    .format = "lcov",
    .format_use = "for genhtml",
    .default_format = true,
    .needs = RESULT_COUNTS,
    .groups = { &group, &sources_group },
    .write = write_lcov,
};

const View view_drcov = {
    .name = "drcov",
    .command = "coverage",
    .format = "drcov",
    .needs = RESULT_COUNTS,
    .flags = VIEW_BINARY,
    .write = write_binary,
};

const View view_drcov_text = {
    .name = "drcov-text",
    .command = "coverage",
    .format = "drcov-text",
    .needs = RESULT_COUNTS,
    .write = write_text,
};
