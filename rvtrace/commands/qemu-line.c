/*
 * QEMU's command line, with what traces its machine added to it
 *
 * The machine virt has options for that; QEMU joins what several -machine say,
 * and the last one wins: what is added stands behind the last one's value.
 * Other machines get a device, riscv-trace.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "commands/qemu-line.h"

#define CHARDEV_TRACE       "rvtrace-trace"
#define CHARDEV_SIDEBAND    "rvtrace-sideband"
#define DEVICE              "riscv-trace"

/* What is called differently, of the machine and of the device */
typedef struct Names {
    const char *chardev, *sideband;
} Names;

static const Names virt_names = { "trace-chardev", "trace-sideband" };
static const Names device_names = { "chardev", "sideband" };

static bool is_option(const char *arg, const char *name)
{
    return !g_strcmp0(qemu_option_name(arg), name);
}

/*
 * NAME=VALUE,NAME=VALUE... as QEMU reads it: a comma is written twice in a
 * value, and @implied is the name of the first value if it has none.
 */
static GHashTable *parse_values(const char *text, const char *implied)
{
    GHashTable *values = g_hash_table_new_full(g_str_hash, g_str_equal, g_free,
                                               g_free);

    for (bool first = true; *text; first = false) {
        g_autoptr(GString) word = g_string_new(NULL);
        const char *equals;

        for (; *text && (*text != ',' || text[1] == ','); text++) {
            text += *text == ',';
            g_string_append_c(word, *text);
        }
        text += *text == ',';
        equals = strchr(word->str, '=');
        if (equals) {
            g_hash_table_replace(values, g_strndup(word->str,
                                                   equals - word->str),
                                 g_strdup(equals + 1));
        } else {
            g_hash_table_replace(values, g_strdup(first ? implied : word->str),
                                 g_strdup(first ? word->str : "on"));
        }
    }
    return values;
}

static void join_values(GHashTable *to, const char *text, const char *implied)
{
    g_autoptr(GHashTable) values = parse_values(text, implied);
    GHashTableIter iter;
    gpointer name, value;

    g_hash_table_iter_init(&iter, values);
    while (g_hash_table_iter_next(&iter, &name, &value)) {
        g_hash_table_replace(to, g_strdup(name), g_strdup(value));
    }
}

static void G_GNUC_PRINTF(2, 3) set_problem(GError **errp, const char *fmt, ...)
{
    g_autofree char *text = NULL;
    va_list ap;

    va_start(ap, fmt);
    text = g_strdup_vprintf(fmt, ap);
    va_end(ap);
    g_set_error_literal(errp, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT, text);
}

/* Does an option set one of the two clocks of the encoders? */
static bool sets_time(const char *option, const char *value)
{
    return is_option(option, "global") &&
           (strstr(value, ".time-width") || strstr(value, ".timestamp-width"));
}

static bool sets_data(const char *option, const char *value)
{
    return is_option(option, "global") &&
           (strstr(value, ".data-width") || strstr(value, ".data="));
}

static bool is_tracer(const char *device)
{
    return g_str_has_prefix(device, DEVICE) &&
           (device[strlen(DEVICE)] == ',' || !device[strlen(DEVICE)]);
}

/*
 * Note what options say: @machine gets what -machine does, joined, @device what
 * -device riscv-trace does, and line->owner is where that is, or 0.
 */
static bool read_options(QemuLine *line, GHashTable *machine,
                         GHashTable *device, GError **errp)
{
    char **argv = (char **)line->argv->pdata;
    bool serial = false, nographic = false;

    for (guint i = 1; argv[i]; i++) {
        const char *value = argv[i + 1];

        if (is_option(argv[i], "daemonize")) {
            set_problem(errp, "%s: what was traced is decoded when QEMU has "
                        "ended; leave it out", argv[i]);
            return false;
        }
        nographic |= is_option(argv[i], "nographic");
        if (!value) {
            break;
        }
        serial |= is_option(argv[i], "serial");
        line->has_time |= sets_time(argv[i], value);
        line->has_data |= sets_data(argv[i], value);
        line->guest_info |= is_option(argv[i], "global") &&
                            strstr(value, ".guest-info");
        line->takes_keys |= g_str_equal(value, "mon:stdio");
        if (is_option(argv[i], "M") || is_option(argv[i], "machine")) {
            line->machine = i + 1;
            join_values(machine, value, "type");
        } else if (is_option(argv[i], "device") && is_tracer(value)) {
            line->owner = i + 1;
            join_values(device, value, "driver");
        } else if (is_option(argv[i], "kernel")) {
            line->kernel = value;
        } else if (is_option(argv[i], "bios")) {
            line->bios = value;
        } else if (!is_option(argv[i], "append")) {
            continue;
        }
        /* The value may begin with a dash and be none of QEMU's options. */
        i++;
    }
    line->takes_keys |= nographic && !serial;
    return true;
}

/* The file of the user's -chardev @id, for the caller to free; or NULL */
static char *find_file(const QemuLine *line, const char *property,
                       const char *id, GError **errp)
{
    char **argv = (char **)line->argv->pdata;

    for (guint i = 1; argv[i] && argv[i + 1]; i++) {
        g_autoptr(GHashTable) values = NULL;
        const char *backend, *path, *its_id;

        if (!is_option(argv[i], "chardev")) {
            continue;
        }
        values = parse_values(argv[i + 1], "backend");
        its_id = g_hash_table_lookup(values, "id");
        backend = g_hash_table_lookup(values, "backend");
        path = g_hash_table_lookup(values, "path");
        if (its_id && g_str_equal(its_id, id) && backend && path &&
            g_str_equal(backend, "file")) {
            return g_strdup(path);
        }
    }
    set_problem(errp, "%s=%s: there is no -chardev file,id=%s,path=FILE, and "
                "other chardevs cannot be decoded here; leave %s out",
                property, id, id, property);
    return NULL;
}

static void append_option(QemuLine *line, const char *option, char *value)
{
    g_ptr_array_insert(line->argv, line->argv->len - 1, g_strdup(option));
    g_ptr_array_insert(line->argv, line->argv->len - 1, value);
}

/* Behind what the machine's or device's option says */
static void append_value(QemuLine *line, const char *name, const char *value)
{
    char *old = line->argv->pdata[line->owner];

    line->argv->pdata[line->owner] = g_strconcat(old, ",", name, "=", value,
                                                 NULL);
    g_free(old);
}

/* Returns the file that the stream @property goes to, or NULL. */
static char *add_stream(QemuLine *line, GHashTable *values,
                        const char *property, const char *id, const char *dir,
                        const char *name, GError **errp)
{
    const char *theirs = g_hash_table_lookup(values, property);
    g_auto(GStrv) words = NULL;
    g_autofree char *path = NULL, *escaped = NULL;

    if (theirs) {
        return find_file(line, property, theirs, errp);
    }
    path = g_build_filename(dir, name, NULL);
    words = g_strsplit(path, ",", -1);
    escaped = g_strjoinv(",,", words);
    append_value(line, property, id);
    append_option(line, "-chardev", g_strdup_printf("file,id=%s,path=%s", id,
                                                    escaped));
    return g_steal_pointer(&path);
}

/* Have the machine virt traced, whose options are @values. */
static bool trace_virt(QemuLine *line, GHashTable *values, GError **errp)
{
    const char *trace = g_hash_table_lookup(values, "trace");

    if (trace && !g_str_equal(trace, "on")) {
        set_problem(errp, "-M virt,trace=%s: nothing would be traced; leave "
                    "trace=%s out", trace, trace);
        return false;
    }
    line->owner = line->machine;
    line->guest_info |= g_hash_table_contains(values, "trace-guest-info");
    if (!trace) {
        append_value(line, "trace", "on");
    }
    if (!g_hash_table_contains(values, "trace-autostart")) {
        append_value(line, "trace-autostart", "on");
    }
    return true;
}

static bool is_virt(GHashTable *machine)
{
    const char *type = g_hash_table_lookup(machine, "type");

    return type && g_str_equal(type, "virt");
}

/* Have another board traced, whose options are @machine. */
static bool trace_board(QemuLine *line, GHashTable *machine, GError **errp)
{
    const char *type = g_hash_table_lookup(machine, "type");
    GHashTableIter iter;
    gpointer name;

    g_hash_table_iter_init(&iter, machine);
    while (type && g_hash_table_iter_next(&iter, &name, NULL)) {
        if (g_str_has_prefix(name, "trace")) {
            set_problem(errp, "-M %s: only virt has the option %s; leave it "
                        "out, and 'rvtrace run' adds -device " DEVICE, type,
                        (char *)name);
            return false;
        }
    }
    append_option(line, "-device", g_strdup(DEVICE));
    line->owner = line->argv->len - 2;
    return true;
}

QemuLine *qemu_line_new(char **args, const char *dir, GError **errp)
{
    g_autoptr(QemuLine) line = g_new0(QemuLine, 1);
    g_autoptr(GHashTable) machine = parse_values("", "type");
    g_autoptr(GHashTable) device = parse_values("", "driver");
    GHashTable *values = device;
    const Names *names = &device_names;

    line->argv = g_ptr_array_new_with_free_func(g_free);
    for (; *args; args++) {
        g_ptr_array_add(line->argv, g_strdup(*args));
    }
    g_ptr_array_add(line->argv, NULL);
    if (qemu_line_is_user(line->argv->pdata[0])) {
        return qemu_line_add_user(line, dir, errp) ? g_steal_pointer(&line)
                                                   : NULL;
    }
    if (!read_options(line, machine, device, errp)) {
        return NULL;
    }
    if (!line->owner && is_virt(machine)) {
        values = machine;
        names = &virt_names;
        if (!trace_virt(line, values, errp)) {
            return NULL;
        }
    } else if (!line->owner && !trace_board(line, machine, errp)) {
        return NULL;
    }
    line->trace = add_stream(line, values, names->chardev, CHARDEV_TRACE, dir,
                             "trace", errp);
    if (!line->trace) {
        return NULL;
    }
    line->sideband = add_stream(line, values, names->sideband,
                                CHARDEV_SIDEBAND, dir, "sideband", errp);
    return line->sideband ? g_steal_pointer(&line) : NULL;
}

void qemu_line_free(QemuLine *line)
{
    g_clear_pointer(&line->argv, g_ptr_array_unref);
    g_free(line->trace);
    g_free(line->sideband);
    g_free(line);
}

void qemu_line_set_guest_info(QemuLine *line, const char *text)
{
    if (line->owner == line->machine) {
        append_value(line, "trace-guest-info", text);
    } else {
        append_option(line, "-global",
                      g_strconcat("riscv-trace-encoder.guest-info=", text,
                                  NULL));
    }
    line->guest_info = true;
}

void qemu_line_add_time(QemuLine *line)
{
    if (!line->has_time && line->program) {
        append_value(line, "etrace-timestamps", "on");
    } else if (!line->has_time) {
        append_option(line, "-global",
                      g_strdup("riscv-trace-encoder.time-width=64"));
    }
}

void qemu_line_add_data(QemuLine *line)
{
    if (!line->has_data && line->program) {
        append_value(line, "etrace-data", "on");
    } else if (!line->has_data) {
        append_option(line, "-global",
                      g_strdup("riscv-trace-encoder.data-width=64"));
        append_option(line, "-global", g_strdup("riscv-trace-encoder.data=on"));
    }
}
