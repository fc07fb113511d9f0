/*
 * The folder of a run: its two streams, and a file that says what was run
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <gio/gio.h>
#include <glib/gstdio.h>
#include "base/input.h"
#include "base/output.h"
#include "base/say.h"
#include "base/stream-file.h"
#include "base/text-plain.h"
#include "commands/cli/folder.h"
#include "elf/elf-file.h"

#define RUN     "run"
#define FILES   "files"

/* Behind the name of a process' trace; see qemu-user-line.c */
#define PROCESS_SIDEBAND    ".sideband"

/* Nobody has so many files. */
#define ABOUT_MAX   (1u << 20)

/*
 * Numbers of folders
 */

/* The number of a folder with this name, from 1 on; 0: it is another one. */
static unsigned folder_number(const char *name)
{
    guint64 n;

    if (!g_str_has_prefix(name, FOLDER_DEFAULT)) {
        return 0;
    }
    name += strlen(FOLDER_DEFAULT);
    if (!*name) {
        return 1;
    }
    return *name == '.' &&
           g_ascii_string_to_unsigned(name + 1, 10, 2, UINT_MAX - 1, &n,
                                      NULL) ? n : 0;
}

static char *folder_name(unsigned n)
{
    return n == 1 ? g_strdup(FOLDER_DEFAULT) :
           g_strdup_printf("%s.%u", FOLDER_DEFAULT, n);
}

static bool has_file(const char *folder, const char *name)
{
    g_autofree char *path = g_build_filename(folder, name, NULL);

    return g_file_test(path, G_FILE_TEST_EXISTS);
}

static bool has_run(const char *folder)
{
    return has_file(folder, FOLDER_ABOUT) || has_file(folder, FOLDER_TRACE) ||
           has_file(folder, FOLDER_TRACE STREAM_FILE_SUFFIX);
}

/* The highest number of a folder here, 0: there is none. @all: or of a file */
static unsigned highest_number(bool all)
{
    g_autoptr(GDir) dir = g_dir_open(".", 0, NULL);
    const char *name;
    unsigned highest = 0;

    while (dir && (name = g_dir_read_name(dir))) {
        unsigned n = folder_number(name);

        if (n > highest && (all || has_run(name))) {
            highest = n;
        }
    }
    return highest;
}

char *folder_make(GError **errp)
{
    unsigned n = highest_number(true);

    for (;;) {
        g_autofree char *name = folder_name(++n);

        if (g_mkdir(name, 0777) == 0) {
            return g_steal_pointer(&name);
        }
        /* Somebody else may start a run at the same time. */
        if (errno != EEXIST) {
            g_set_error(errp, G_IO_ERROR, g_io_error_from_errno(errno),
                        "cannot make the folder %s: %s", name,
                        g_strerror(errno));
            return NULL;
        }
    }
}

/*
 * Writing
 */

/* Key files are UTF-8: other paths are written as URIs. */
static char *path_text(const char *path)
{
    g_autofree char *whole = g_canonicalize_filename(path, NULL);

    return g_utf8_validate(whole, -1, NULL) ? g_steal_pointer(&whole) :
           g_filename_to_uri(whole, NULL, NULL);
}

static void set_path(GKeyFile *about, const char *key, const char *path)
{
    g_autofree char *text = path ? path_text(path) : NULL;

    if (text) {
        g_key_file_set_string(about, FILES, key, text);
    }
}

static void set_paths(GKeyFile *about, const char *key, char **paths)
{
    g_autoptr(GPtrArray) texts = g_ptr_array_new_with_free_func(g_free);

    for (; paths && *paths; paths++) {
        char *text = path_text(*paths);

        if (text) {
            g_ptr_array_add(texts, text);
        }
    }
    if (texts->len) {
        g_key_file_set_string_list(about, FILES, key,
                                   (const char *const *)texts->pdata,
                                   texts->len);
    }
}

/* A stream in the folder may move with it. */
static void set_stream(GKeyFile *about, const char *folder, const char *name,
                       const char *path)
{
    g_autofree char *base = g_path_get_basename(path);
    g_autofree char *inside = g_build_filename(folder, base, NULL);

    if (g_str_equal(inside, path) && g_utf8_validate(base, -1, NULL)) {
        g_key_file_set_string(about, FILES, name, base);
    } else {
        set_path(about, name, path);
    }
}

/* As one can paste it into a shell */
static void set_command(GKeyFile *about, char **command)
{
    g_autoptr(GString) line = g_string_new(NULL);
    g_autofree char *text = NULL;

    for (char **word = command; *word; word++) {
        g_autofree char *quoted = g_shell_quote(*word);
        bool plain = **word && !(*word)[strspn(*word, G_CSET_A_2_Z
                                               G_CSET_a_2_z G_CSET_DIGITS
                                               "-_=+,./:@%")];

        g_string_append_printf(line, "%s%s", word > command ? " " : "",
                               plain ? *word : quoted);
    }
    text = g_utf8_make_valid(line->str, -1);
    g_key_file_set_string(about, RUN, "command", text);
}

bool folder_describe(const char *folder, const FolderRun *run, GError **errp)
{
    g_autoptr(GKeyFile) about = g_key_file_new();
    g_autoptr(GDateTime) now = g_date_time_new_now_utc();
    g_autofree char *date = g_date_time_format(now, "%FT%TZ");
    g_autofree char *here = g_get_current_dir();
    g_autofree char *here_text = g_utf8_make_valid(here, -1);
    g_autofree char *path = g_build_filename(folder, FOLDER_ABOUT, NULL);
    g_autofree char *text = NULL;
    gsize size;

    g_key_file_set_comment(about, NULL, NULL,
                           " What 'rvtrace run' has run. Commands of rvtrace "
                           "that are given this folder\n read the [files].",
                           NULL);
    g_key_file_set_string(about, RUN, "rvtrace", RVTRACE_VERSION);
    g_key_file_set_string(about, RUN, "date", date);
    g_key_file_set_string(about, RUN, "directory", here_text);
    set_command(about, run->command);
    if (run->isa) {
        g_key_file_set_string(about, RUN, "isa", run->isa);
    }
    if (run->title) {
        g_autofree char *title = g_utf8_make_valid(run->title, -1);

        g_key_file_set_string(about, RUN, "title", title);
    }
    set_stream(about, folder, FOLDER_TRACE, run->trace);
    set_stream(about, folder, FOLDER_SIDEBAND, run->sideband);
    set_path(about, "kernel", run->kernel);
    set_paths(about, "firmware", run->firmware);
    set_paths(about, "sysroot", run->sysroots);
    set_paths(about, "elf", run->elfs);
    set_paths(about, "kallsyms", run->kallsyms);
    text = g_key_file_to_data(about, &size, NULL);
    return output_write(path, text, size, errp);
}

/*
 * Reading
 */

/* The path that a key file has as @text; the caller frees it. */
static char *text_path(const char *folder, const char *text)
{
    g_autofree char *whole = g_canonicalize_filename(folder, NULL);

    return g_str_has_prefix(text, "file:") ?
           g_filename_from_uri(text, NULL, NULL) ?: g_strdup(text) :
           g_canonicalize_filename(text, whole);
}

/* The stream @path, which may have been packed; the caller frees it. */
static char *folder_stream(const char *path)
{
    g_autofree char *packed = g_strconcat(path, STREAM_FILE_SUFFIX, NULL);

    return !g_file_test(path, G_FILE_TEST_EXISTS) &&
           g_file_test(packed, G_FILE_TEST_EXISTS) ?
           g_steal_pointer(&packed) : g_strdup(path);
}

/* Without the folder's name in front, a path from here is easier to read. */
static char *stream_path(const char *folder, GKeyFile *about, const char *name)
{
    g_autofree char *text = g_key_file_get_string(about, FILES, name, NULL);
    g_autofree char *path = !text || g_str_equal(text, name) ?
                            g_build_filename(folder, name, NULL) :
                            text_path(folder, text);

    return folder_stream(path);
}

/* Is the file of @arg, FILE or FILE@BIAS, there? */
static bool is_there(const char *arg)
{
    uint64_t bias;
    g_autofree char *path = elf_file_split(arg, &bias, NULL);

    return g_file_test(arg, G_FILE_TEST_EXISTS) ||
           (path && g_file_test(path, G_FILE_TEST_EXISTS));
}

/* Add the paths of @key that are there to @list. */
static void take_paths(const char *folder, GKeyFile *about, const char *key,
                       GPtrArray *list)
{
    g_auto(GStrv) texts = g_key_file_get_string_list(about, FILES, key, NULL,
                                                     NULL);

    for (char **text = texts; text && *text; text++) {
        g_autofree char *path = text_path(folder, *text);

        if (is_there(path)) {
            g_ptr_array_add(list, g_steal_pointer(&path));
        } else {
            say_warn("%s is not there any more: its names are missing (%s of "
                     "%s)", text_plain(path), key, folder);
        }
    }
}

/* Frees @paths. NULL if there are none, as if no option had given any. */
static char **end_list(GPtrArray *paths)
{
    if (!paths->len) {
        g_ptr_array_unref(paths);
        return NULL;
    }
    g_ptr_array_add(paths, NULL);
    return (char **)g_ptr_array_free(paths, FALSE);
}

/* Set *@list, unless the command line has, to the paths of @key. */
static void take_list(const char *folder, GKeyFile *about, const char *key,
                      char ***list)
{
    if (!*list) {
        GPtrArray *paths = g_ptr_array_new();

        take_paths(folder, about, key, paths);
        *list = end_list(paths);
    }
}

/* Kernel and firmware are searched as if they were in a sysroot. */
static void take_sysroots(const char *folder, GKeyFile *about, char ***list)
{
    GPtrArray *paths = g_ptr_array_new();
    char **given = *list;

    for (char **path = given; path && *path; path++) {
        g_ptr_array_add(paths, g_strdup(*path));
    }
    if (!given) {
        take_paths(folder, about, "sysroot", paths);
    }
    take_paths(folder, about, "kernel", paths);
    take_paths(folder, about, "firmware", paths);
    g_strfreev(given);
    *list = end_list(paths);
}

/* An empty one if there is none. Prints what is wrong and returns NULL. */
static GKeyFile *read_about(const char *folder)
{
    g_autofree char *path = g_build_filename(folder, FOLDER_ABOUT, NULL);
    g_autoptr(GKeyFile) about = g_key_file_new();
    g_autoptr(GBytes) bytes = NULL;
    g_autoptr(GError) err = NULL;
    const uint8_t *data;
    size_t size;

    if (!g_file_test(path, G_FILE_TEST_EXISTS)) {
        return g_steal_pointer(&about);
    }
    bytes = input_open(path, &err);
    if (!bytes) {
        say_error("%s", err->message);
        return NULL;
    }
    data = input_data(bytes, &size);
    if (size > ABOUT_MAX ||
        !g_key_file_load_from_data(about, (const char *)data, size,
                                   G_KEY_FILE_NONE, &err)) {
        say_error("%s: 'rvtrace run' has not written this: %s", path,
                  err ? err->message : "it is too large");
        return NULL;
    }
    return g_steal_pointer(&about);
}

static char **list_of(char *path)
{
    char **list = g_new0(char *, 2);

    list[0] = path;
    return list;
}

static bool take(const char *folder, Job *job, bool names, char **title)
{
    g_autoptr(GKeyFile) about = read_about(folder);

    if (!about) {
        return false;
    }
    job->traces = list_of(stream_path(folder, about, FOLDER_TRACE));
    if (!job->sidebands) {
        g_autofree char *path = stream_path(folder, about, FOLDER_SIDEBAND);

        if (g_file_test(path, G_FILE_TEST_EXISTS)) {
            job->sidebands = list_of(g_steal_pointer(&path));
        } else {
            say_warn("%s is not there: without it, the code that ran is not "
                     "known", text_plain(path));
        }
    }
    take_list(folder, about, "elf", &job->elfs);
    if (names) {
        take_sysroots(folder, about, &job->names.sysroots);
        take_list(folder, about, "kallsyms", &job->names.kallsyms);
    }
    if (!job->isa) {
        job->isa = g_key_file_get_string(about, RUN, "isa", NULL);
    }
    *title = g_key_file_get_string(about, RUN, "title", NULL);
    return true;
}

/*
 * Traces of processes
 */

/* The trace that the sideband @name in @folder belongs to, or NULL */
static char *trace_of(const char *folder, const char *name)
{
    g_autofree char *path = g_build_filename(folder, name, NULL);
    char *end;

    if (g_str_has_suffix(path, STREAM_FILE_SUFFIX)) {
        path[strlen(path) - strlen(STREAM_FILE_SUFFIX)] = 0;
    }
    if (!g_str_has_suffix(path, PROCESS_SIDEBAND)) {
        return NULL;
    }
    end = path + strlen(path) - strlen(PROCESS_SIDEBAND);
    *end = 0;
    return end[-1] == '/' ? NULL : folder_stream(path);
}

static int compare_paths(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

GPtrArray *folder_processes(const char *folder)
{
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    g_autoptr(GPtrArray) traces = g_ptr_array_new_with_free_func(g_free);
    const char *name;

    while (dir && (name = g_dir_read_name(dir))) {
        g_autofree char *path = trace_of(folder, name);
        struct stat st;

        /* A process that was killed at once has not written anything. */
        if (path && stat(path, &st) == 0 && st.st_size) {
            g_ptr_array_add(traces, g_steal_pointer(&path));
        }
    }
    g_ptr_array_sort(traces, compare_paths);
    return traces->len ? g_steal_pointer(&traces) : NULL;
}

char *folder_process_sideband(const char *trace)
{
    size_t len = strlen(trace) - (g_str_has_suffix(trace, STREAM_FILE_SUFFIX) ?
                                  strlen(STREAM_FILE_SUFFIX) : 0);
    g_autofree char *path = g_strdup_printf("%.*s" PROCESS_SIDEBAND, (int)len,
                                            trace);

    return folder_stream(path);
}

/* Nobody may ever write to a pipe. Prints what is wrong and returns false. */
static bool have_files(const char *folder, const GPtrArray *traces)
{
    for (guint i = 0; i < traces->len; i++) {
        g_autofree char *sideband = folder_process_sideband(traces->pdata[i]);

        if (!g_file_test(sideband, G_FILE_TEST_IS_REGULAR)) {
            say_error("%s is no file that can be read; remove it, or its "
                      "trace, from %s", text_plain(sideband), folder);
            return false;
        }
    }
    return true;
}

/* Prints what is wrong with the folder and returns false. */
static bool take_processes(const char *folder, Job *job, bool names,
                           bool several)
{
    g_autoptr(GPtrArray) traces = folder_processes(folder);
    const char *first = traces ? traces->pdata[0] : NULL;

    if (!traces) {
        say_error("%s: 'rvtrace run' has not written a trace to this "
                  "folder; give another one, or --trace FILE", folder);
        return false;
    }
    if (job->sidebands) {
        say_error("%s has a sideband for each of its traces: leave out "
                  "--sideband", folder);
        return false;
    }
    if (!have_files(folder, traces)) {
        return false;
    }
    if (!several && traces->len > 1) {
        g_autofree char *sideband = folder_process_sideband(first);

        say_error("%s has traces of %u processes, which report, coverage, pgo "
                  "and some others add up; give one of them, as in --trace %s "
                  "--sideband %s%s", folder, traces->len, text_plain(first),
                  text_plain(sideband),
                  names && !job->names.sysroots ? " --sysroot /" : "");
        return false;
    }
    job->traces = list_of(g_strdup(first));
    job->sidebands = list_of(folder_process_sideband(first));
    if (names && !job->names.sysroots) {
        /* Their files are the host's; they are looked up by their names. */
        job->names.sysroots = list_of(g_strdup("/"));
    }
    if (several) {
        job->processes = g_steal_pointer(&traces);
    }
    return true;
}

bool folder_check_operands(char **folders, bool given)
{
    if (folders && (given || folders[1])) {
        say_error("unexpected argument '%s'; try '%s --help'",
                  given ? folders[0] : folders[1], g_get_prgname());
        return false;
    }
    return true;
}

bool folder_take(const char *folder, Job *job, bool names, bool several,
                 char **title)
{
    g_autofree char *newest = NULL;
    unsigned n;

    *title = NULL;
    if (folder) {
        if (!g_file_test(folder, G_FILE_TEST_IS_DIR)) {
            say_error(g_file_test(folder, G_FILE_TEST_EXISTS) ?
                      "%s is a file, and no folder that 'rvtrace run' has "
                      "written; if it is a trace, give --trace %s" :
                      "there is no folder %s; without a folder of 'rvtrace "
                      "run', give --trace FILE", folder, folder);
            return false;
        }
        if (!has_run(folder)) {
            return take_processes(folder, job, names, several);
        }
        return take(folder, job, names, title);
    }
    n = highest_number(false);
    if (!n && has_file(".", FOLDER_ABOUT)) {
        return take(".", job, names, title);
    }
    if (!n) {
        say_error("which trace? give the folder that 'rvtrace run' has "
                  "written (there is no " FOLDER_DEFAULT " here), or "
                  "--trace FILE");
        return false;
    }
    newest = folder_name(n);
    if (n > 1) {
        say_note("this is about %s, the newest run here", newest);
    }
    return take(newest, job, names, title);
}
