/*
 * The command line of QEMU's user mode, with what traces the program
 *
 * The trace is a property of the CPU: it is added to the last -cpu, or with
 * -cpu to what QEMU_CPU names, or to the default.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "commands/qemu-line.h"

#define PROPERTY    "etrace="
#define TIMES       "etrace-timestamps="
#define DATA        "etrace-data="
#define SIDEBAND    ".sideband"     /* behind the name of the trace's file */

/* QEMU's options that have a word of their own behind them */
static const char *const with_value[] = {
    "L", "s", "cpu", "E", "set-env", "U", "unset-env", "0", "argv0", "r",
    "uname", "B", "R", "t", "d", "dfilter", "D", "p", "g", "seed", "trace",
    "plugin", "tb-size", "accel", "perfmap-file", NULL
};

bool qemu_line_is_user(const char *qemu)
{
    g_autofree char *name = g_path_get_basename(qemu);

    return g_str_has_prefix(name, "qemu-riscv32") ||
           g_str_has_prefix(name, "qemu-riscv64");
}

/* The value of @property in @cpu, for the caller to free; NULL: it has none */
static char *find_value(const char *cpu, const char *property)
{
    g_auto(GStrv) words = g_strsplit(cpu, ",", -1);
    char *value = NULL;

    for (char **word = words; *word; word++) {
        if (g_str_has_prefix(*word, property)) {
            g_free(value);
            value = g_strdup(*word + strlen(property));
        }
    }
    return value;
}

/*
 * *@cpu: where in @argv the value of the last -cpu is, 0: nowhere. Returns
 * where the program is, or 0.
 */
static guint find_program(char **argv, guint *cpu)
{
    guint i = 1;

    *cpu = 0;
    while (argv[i]) {
        const char *name = qemu_option_name(argv[i]);

        if (!name) {
            return i;
        }
        if (g_strv_contains(with_value, name)) {
            if (!argv[++i]) {
                break;
            }
            if (g_str_equal(name, "cpu")) {
                *cpu = i;
            }
        }
        i++;
    }
    return 0;
}

static bool set_problem(GError **errp, const char *text)
{
    g_set_error_literal(errp, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT, text);
    return false;
}

bool qemu_line_add_user(QemuLine *line, const char *dir, GError **errp)
{
    char **argv = (char **)line->argv->pdata;
    guint at, program = find_program(argv, &at);
    const char *cpu = at ? argv[at] : g_getenv("QEMU_CPU") ?: "max";
    g_autofree char *file = find_value(cpu, PROPERTY);
    g_autofree char *times = find_value(cpu, TIMES);
    g_autofree char *data = find_value(cpu, DATA), *path = NULL, *with = NULL;

    if (!program) {
        return set_problem(errp, "which program? QEMU's command line names "
                           "none behind its options");
    }
    if (file && strchr(file, '%')) {
        return set_problem(errp, "etrace=FILE: the name has a % in it, so that "
                           "each process has a file of its own; leave it out, "
                           "and trace one process, or start QEMU without "
                           "'rvtrace run' and give the folder of the files to "
                           "report, coverage or pgo");
    }
    path = file ? g_strdup(file) : g_build_filename(dir, "trace", NULL);
    if (strchr(path, ',') || (!file && strchr(path, '%'))) {
        return set_problem(errp, "QEMU takes no ',' and no '%' in the name of "
                           "a file for a trace of user mode; choose another "
                           "folder with --out DIR");
    }
    with = file ? g_strdup(cpu) : g_strdup_printf("%s," PROPERTY "%s", cpu,
                                                  path);
    if (at) {
        g_free(argv[at]);
        argv[at] = g_steal_pointer(&with);
    } else {
        g_ptr_array_insert(line->argv, 1, g_strdup("-cpu"));
        at = 2;
        g_ptr_array_insert(line->argv, at, g_steal_pointer(&with));
        program += 2;
    }
    line->owner = at;
    line->program = line->argv->pdata[program];
    line->sideband = g_strconcat(path, SIDEBAND, NULL);
    line->trace = g_steal_pointer(&path);
    line->has_time = times;
    line->has_data = data;
    line->guest_info = true;
    return true;
}
