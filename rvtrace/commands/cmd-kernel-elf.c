/*
 * rvtrace kernel-elf: a kernel's own names, for debuggers
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "commands/cli/cli.h"
#include "names/kernel-elf.h"
#include "names/kernel-image.h"

/* As /proc/kallsyms has it, or with 0x */
static bool parse_base(const char *text, uint64_t *base)
{
    if (g_str_has_prefix(text, "0x")) {
        text += 2;
    }
    return g_ascii_string_to_unsigned(text, 16, 0, UINT64_MAX, base, NULL) &&
           *base % 2 == 0;
}

int cmd_kernel_elf(int argc, char **argv)
{
    g_auto(GStrv) images = NULL;
    g_autofree char *output = NULL, *base_text = NULL;
    g_autoptr(GError) err = NULL;
    g_autoptr(ObjectTable) table = object_table_new();
    uint64_t base = KERNEL_ELF_BASE;
    gboolean has_code = false;
    GOptionEntry entries[] = {
        { "output", 'o', 0, G_OPTION_ARG_FILENAME, &output,
          "Write to this file", "FILE" },
        { "base", 0, 0, G_OPTION_ARG_STRING, &base_text,
          "Where its first byte is (default: ffffffff80000000)", "ADDRESS" },
        { "code", 0, 0, G_OPTION_ARG_NONE, &has_code,
          "Put the Image's code in, for perf annotate; a kernel changes some "
          "of it when it starts", NULL },
        { G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &images, NULL,
          "IMAGE" },
        { NULL }
    };
    Object *kernel;

    if (!cli_parse_only(entries, "Write where a Linux kernel's functions are, "
                        "as an ELF file for gdb and perf.",
                        "IMAGE is an Image, as it is or compressed by gzip, "
                        "with CONFIG_KALLSYMS:\n\n"
                        "  rvtrace kernel-elf Image -o kernel.elf\n"
                        "  gdb-multiarch kernel.elf\n"
                        "  perf buildid-cache --add kernel.elf\n\n"
                        "Without --code, gdb reads code from the guest, as "
                        "it does data. A kernel at a "
                        "random address needs --base:\nthat of _start in "
                        "/proc/kallsyms.", argc, argv)) {
        return CLI_ERROR;
    }
    if (!images || images[1]) {
        say_error("which kernel? rvtrace kernel-elf Image -o kernel.elf");
        return CLI_ERROR;
    }
    if (!output) {
        say_error("where to? give -o FILE: rvtrace kernel-elf %s -o kernel.elf",
                  *images);
        return CLI_ERROR;
    }
    if (base_text && !parse_base(base_text, &base)) {
        say_error("--base %s: must be an even address in hexadecimal digits",
                  base_text);
        return CLI_ERROR;
    }
    kernel = kernel_image_load(table, images[0], &err);
    if (!kernel) {
        say_error("%s", err->message);
        return CLI_ERROR;
    }
    kernel_image_symbols(kernel);
    if (!kernel_elf_write(kernel, base, output, has_code, &err)) {
        say_error("%s: %s", images[0], err->message);
        return CLI_ERROR;
    }
    return CLI_OK;
}
