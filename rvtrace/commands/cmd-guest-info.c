/*
 * rvtrace guest-info: what trace-guest-info has to know of a system
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "commands/cli/cli.h"
#include "elf/rtos.h"
#include "names/kernel-btf.h"

/* A program with a real-time operating system in it, or else a kernel */
static bool read_image(const char *path, ETraceGuestInfo *info, GError **errp)
{
    g_autoptr(ElfFile) elf = elf_file_open(path, NULL);
    g_autoptr(GError) err = NULL;

    if (elf && rtos_guest_info(elf, info, &err)) {
        if (info->name == ETRACE_GUEST_ABSENT &&
            info->name_pointer == ETRACE_GUEST_ABSENT) {
            say_warn("%s: tasks are called by their addresses: it does not "
                        "say where their names are, or has none; build it with "
                        "-g", path);
        }
        return true;
    }
    if (err) {
        g_propagate_prefixed_error(errp, g_steal_pointer(&err), "%s: ", path);
        return false;
    }
    return kernel_btf_guest_info(path, info, errp);
}

int cmd_guest_info(int argc, char **argv)
{
    g_auto(GStrv) images = NULL;
    g_autoptr(GError) err = NULL;
    g_autofree char *text = NULL;
    GOptionEntry entries[] = {
        { G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &images, NULL,
          "IMAGE" },
        { NULL }
    };
    ETraceGuestInfo info;

    if (!cli_parse_only(entries, "Write where an operating system keeps the "
                        "task that runs, as QEMU takes it.",
                        "IMAGE is a Linux Image, as it is or compressed by "
                        "gzip, or a vmlinux, with BTF\n"
                        "(CONFIG_DEBUG_INFO_BTF); or an ELF file with "
                        "FreeRTOS, Zephyr, ThreadX, NuttX or\nRT-Thread in "
                        "it, built with -g:\n\n"
                        "  qemu-system-riscv64 -machine virt,trace=on,"
                        "trace-sideband=side,\\\n"
                        "trace-guest-info=$(rvtrace guest-info Image) ...",
                        argc, argv)) {
        return CLI_ERROR;
    }
    if (!images || g_strv_length(images) != 1) {
        say_error("which kernel? One file: rvtrace guest-info Image, or an "
                  "RTOS's app.elf");
        return CLI_ERROR;
    }
    if (!read_image(images[0], &info, &err)) {
        say_error("%s", err->message);
        return CLI_ERROR;
    }
    text = etrace_guest_info_text(&info);
    printf("%s\n", text);
    return flush_output(stdout, "standard output") ? CLI_OK : CLI_ERROR;
}
