/*
 * rvtrace run --debug: start gdb at the end of the trace
 *
 * gdb starts 'rvtrace gdbserver' itself and talks to it by a pipe, so that both
 * end together. It takes the place of this program: the terminal's signals are
 * gdb's alone.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <unistd.h>
#include "base/say.h"
#include "commands/run-debug.h"

#define DEFAULT_GDB "gdb-multiarch"

/* It is an ELF file: others have no names for gdb. */
static bool is_elf(const char *path)
{
    char magic[4] = { 0 };
    FILE *file = path ? fopen(path, "rb") : NULL;
    bool is = file && fread(magic, 1, sizeof(magic), file) == sizeof(magic) &&
              !memcmp(magic, "\177ELF", sizeof(magic));

    if (file) {
        fclose(file);
    }
    return is;
}

static const char *find_program(const QemuLine *line, char **elfs)
{
    const char *others[] = { line->program, line->kernel, line->bios };

    for (; elfs && *elfs; elfs++) {
        if (is_elf(*elfs)) {
            return *elfs;
        }
    }
    for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
        if (is_elf(others[i])) {
            return others[i];
        }
    }
    return NULL;
}

/* gdb and its first arguments; NULL: no gdb for RISC-V was found. */
static char **find_gdb(GError **errp)
{
    static const char *const names[] = {
        DEFAULT_GDB, "riscv64-linux-gnu-gdb", "riscv64-unknown-elf-gdb",
    };
    const char *theirs = g_getenv("GDB");
    char **words = NULL;

    if (theirs && *theirs) {
        g_shell_parse_argv(theirs, NULL, &words, errp);
        return words;
    }
    for (size_t i = 0; i < ARRAY_SIZE(names) && !words; i++) {
        g_autofree char *path = g_find_program_in_path(names[i]);

        words = path ? g_strsplit(names[i], " ", 1) : NULL;
    }
    return words;
}

static void add(GPtrArray *argv, const char *word)
{
    g_ptr_array_add(argv, g_strdup(word));
}

/* A word for a shell, with quotes if it needs some */
static char *as_typed(const char *word)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "abcdefghijklmnopqrstuvwxyz0123456789_-+./";

    return *word && !word[strspn(word, plain)] ? g_strdup(word) :
                                                 g_shell_quote(word);
}

/* What gdb is given behind its name */
static void add_commands(GPtrArray *argv, const char *folder,
                         const char *program)
{
    g_autofree char *self = g_file_read_link("/proc/self/exe", NULL);
    g_autofree char *tool = as_typed(self ?: "rvtrace");
    g_autofree char *where = as_typed(folder);

    add(argv, "-q");
    /* A trace without an index is decoded whole before gdb gets an answer. */
    add(argv, "-iex");
    add(argv, "set remotetimeout 600");
    /* gdb would look for threads of Linux, and step by breakpoints. */
    add(argv, "-iex");
    add(argv, "set osabi none");
    add(argv, "-ex");
    g_ptr_array_add(argv, g_strdup_printf("target remote | %s gdbserver "
                                          "--listen stdio %s", tool, where));
    add(argv, "-ex");
    add(argv, "python exec(gdb.execute('monitor python', to_string=True))");
    if (program) {
        add(argv, program);
    }
    g_ptr_array_add(argv, NULL);
}

/* As one types it in a shell */
static char *join(char **argv)
{
    GString *s = g_string_new(NULL);

    for (; *argv; argv++) {
        g_autofree char *word = as_typed(*argv);

        g_string_append_printf(s, "%s%s", s->len ? " " : "", word);
    }
    return g_string_free(s, FALSE);
}

void run_debug(const char *folder, const QemuLine *line, char **elfs)
{
    g_autoptr(GPtrArray) argv = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GError) err = NULL;
    g_auto(GStrv) gdb = find_gdb(&err);
    g_autofree char *command = NULL;
    const char *why;

    for (char **word = gdb; word && *word; word++) {
        add(argv, *word);
    }
    if (!gdb) {
        add(argv, DEFAULT_GDB);
    }
    add_commands(argv, folder, find_program(line, elfs));
    if (gdb) {
        fflush(NULL);
        execvp(argv->pdata[0], (char **)argv->pdata);
    }
    why = err ? err->message : gdb ? g_strerror(errno) : "it is not installed";
    say_error("cannot start %s: %s; install a gdb for RISC-V, or name it in "
              "the environment (GDB=...), and type", gdb ? gdb[0] : err ? "gdb" :
              DEFAULT_GDB, why);
    for (char **word = gdb; word && *word; word++) {
        g_ptr_array_remove_index(argv, 0);
    }
    if (gdb) {
        g_ptr_array_insert(argv, 0, g_strdup(DEFAULT_GDB));
    }
    command = join((char **)argv->pdata);
    fprintf(stderr, "  %s\n", command);
}
