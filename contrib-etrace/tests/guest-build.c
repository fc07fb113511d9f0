/*
 * Programs for RISC-V, built while the tests run
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <gio/gio.h>
#include "check.h"
#include "guest-build.h"

char *guest_dir_new(void)
{
    g_autoptr(GError) err = NULL;
    char *dir = g_dir_make_tmp("etrace-guest-XXXXXX", &err);

    check_no_error(err);
    return dir;
}

void guest_dir_remove(char *dir)
{
    g_free(guest_run(".", NULL, "rm -rf %s", dir));
    g_free(dir);
}

void guest_write(const char *dir, const char *name, const char *text)
{
    g_autofree char *path = g_build_filename(dir, name, NULL);
    g_autoptr(GError) err = NULL;

    g_file_set_contents(path, text, -1, &err);
    check_no_error(err);
}

static GSubprocess *spawn(const char *dir, const char *command,
                          GSubprocessFlags flags, GError **errp)
{
    g_autoptr(GSubprocessLauncher) launcher = g_subprocess_launcher_new(flags);
    g_auto(GStrv) argv = g_strsplit(command, " ", -1);

    g_subprocess_launcher_set_cwd(launcher, dir);
    g_subprocess_launcher_setenv(launcher, "LC_ALL", "C", true);
    /* Nobody is asked for debug info. */
    g_subprocess_launcher_unsetenv(launcher, "DEBUGINFOD_URLS");
    return g_subprocess_launcher_spawnv(launcher, (const char **)argv, errp);
}

char *guest_run(const char *dir, const char *input, const char *command, ...)
{
    g_autofree char *line = NULL;
    g_autoptr(GSubprocess) child = NULL;
    g_autoptr(GError) err = NULL;
    char *out = NULL;
    va_list args;

    va_start(args, command);
    line = g_strdup_vprintf(command, args);
    va_end(args);
    child = spawn(dir, line, G_SUBPROCESS_FLAGS_STDOUT_PIPE |
                  (input ? G_SUBPROCESS_FLAGS_STDIN_PIPE : 0), &err);
    check_no_error(err);
    g_subprocess_communicate_utf8(child, input, NULL, &out, NULL, &err);
    check_no_error(err);
    if (!g_subprocess_get_successful(child)) {
        g_error("failed: %s", line);
    }
    return out;
}

bool guest_try(const char *dir, const char *command)
{
    g_autoptr(GSubprocess) child = spawn(dir, command,
                                         G_SUBPROCESS_FLAGS_STDOUT_SILENCE |
                                         G_SUBPROCESS_FLAGS_STDERR_SILENCE,
                                         NULL);

    return child && g_subprocess_wait(child, NULL, NULL) &&
           g_subprocess_get_successful(child);
}

GArray *guest_addresses(const char *dir, const char *program)
{
    GArray *addresses = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    g_autofree char *text = guest_run(dir, NULL, GUEST_TOOLS "objdump -d %s",
                                      program);
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

    for (char **line = lines; *line; line++) {
        char *end;
        uint64_t addr = g_ascii_strtoull(*line, &end, 16);

        if (end != *line && g_str_has_prefix(end, ":\t")) {
            g_array_append_val(addresses, addr);
        }
    }
    check_cmpuint(addresses->len, >, 10);
    return addresses;
}
