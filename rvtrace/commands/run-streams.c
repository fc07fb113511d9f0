/*
 * rvtrace run: the files that QEMU writes its streams to
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <unistd.h>
#include "base/file-role.h"
#include "base/input.h"
#include "base/output.h"
#include "base/say.h"
#include "base/stream-file.h"
#include "collect/packer.h"
#include "commands/run-streams.h"

bool run_lock(RunLocks *locks, const char *const paths[RUN_STREAMS])
{
    g_autoptr(GError) err = NULL;

    for (unsigned i = 0; i < RUN_STREAMS && !err; i++) {
        locks->made[i] = !g_file_test(paths[i], G_FILE_TEST_EXISTS);
        locks->fds[i] = file_role_lock(paths[i], &err);
        locks->made[i] &= locks->fds[i] >= 0;
    }
    if (err) {
        say_error("%s", err->message);
    }
    return !err;
}

void run_unlock(RunLocks *locks)
{
    for (unsigned i = 0; i < RUN_STREAMS; i++) {
        if (locks->fds[i] >= 0) {
            close(locks->fds[i]);
            locks->fds[i] = -1;
        }
    }
}

void run_drop(const RunLocks *locks, const char *const paths[RUN_STREAMS])
{
    for (unsigned i = 0; i < RUN_STREAMS; i++) {
        GStatBuf st;

        if (locks->made[i] && g_stat(paths[i], &st) == 0 &&
            S_ISREG(st.st_mode) && !st.st_size) {
            g_remove(paths[i]);
        }
    }
}

static bool pack(const char *path, Output *out, GError **errp)
{
    g_autoptr(GBytes) file = input_open(path, errp);
    Packer *packer;
    size_t size;
    const uint8_t *data;
    bool ok = true;

    if (!file) {
        return false;
    }
    data = input_data(file, &size);
    packer = packer_new(PACKER_LEVEL_DEFAULT);
    for (size_t at = 0; ok && at < size; at += PACKER_FRAME) {
        size_t end = MIN(at + PACKER_FRAME, size);

        ok = packer_put(packer, output_fd(out), data + at, end - at);
        input_let_go(file, at, end);
    }
    ok = ok && packer_flush(packer, output_fd(out));
    if (!ok) {
        g_set_error(errp, G_IO_ERROR, g_io_error_from_errno(errno), "%s",
                    g_strerror(errno));
    }
    packer_free(packer);
    return ok;
}

bool run_pack(const char *path)
{
    g_autofree char *name = g_strconcat(path, STREAM_FILE_SUFFIX, NULL);
    g_autoptr(GError) err = NULL;
    Output *out = output_open(name, &err);
    bool ok = out && pack(path, out, &err);

    if (ok) {
        ok = output_commit(out, &err);
    } else if (out) {
        output_discard(out);
    }
    if (!ok) {
        say_error("cannot compress %s: %s", path, err->message);
    } else if (g_unlink(path) != 0) {
        say_error("cannot remove %s: %s", path, g_strerror(errno));
        ok = false;
    }
    return ok;
}
