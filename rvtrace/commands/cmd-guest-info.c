/*
 * rvtrace guest-info: what trace-guest-info has to know of a kernel
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "commands/cli/cli.h"
#include "names/kernel-btf.h"

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

    if (!cli_parse_only(entries, "Write where a Linux kernel keeps the task "
                        "that runs, as QEMU takes it.",
                        "IMAGE is an Image, as it is or compressed by gzip, "
                        "or a vmlinux, with BTF\n(CONFIG_DEBUG_INFO_BTF):\n\n"
                        "  qemu-system-riscv64 -machine virt,trace=on,"
                        "trace-sideband=side,\\\n"
                        "trace-guest-info=$(rvtrace guest-info Image) ...",
                        argc, argv)) {
        return CLI_ERROR;
    }
    if (!images || g_strv_length(images) != 1) {
        say_error("which kernel? One file: rvtrace guest-info Image");
        return CLI_ERROR;
    }
    if (!kernel_btf_guest_info(images[0], &info, &err)) {
        say_error("%s", err->message);
        return CLI_ERROR;
    }
    text = etrace_guest_info_text(&info);
    printf("%s\n", text);
    return flush_output(stdout, "standard output") ? CLI_OK : CLI_ERROR;
}
