/*
 * Give the files of a directory to the function that libFuzzer calls
 *
 *   fuzz-TARGET FILE|DIRECTORY...
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "fuzz/fuzz.h"

static void run_file(const char *path)
{
    g_autofree char *data = NULL;
    size_t size;

    if (!g_file_get_contents(path, &data, &size, NULL)) {
        g_error("%s cannot be read", path);
    }
    /* a block of just that size, so that a byte too far is noticed */
    g_autofree uint8_t *input = g_memdup2(data, size);
    LLVMFuzzerTestOneInput(input, size);
}

int main(int argc, char **argv)
{
    int count = 0;

    for (int i = 1; i < argc; i++) {
        g_autoptr(GDir) dir = g_dir_open(argv[i], 0, NULL);
        const char *name;

        if (!dir) {
            run_file(argv[i]);
            count++;
            continue;
        }
        while ((name = g_dir_read_name(dir))) {
            g_autofree char *path = g_build_filename(argv[i], name, NULL);

            run_file(path);
            count++;
        }
    }
    if (!count) {
        g_error("no file to run");
    }
    printf("%d files\n", count);
    return 0;
}
