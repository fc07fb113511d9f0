/*
 * What is known beforehand of what a machine is going to run
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_RUN_KERNEL_H
#define ETRACE_RUN_KERNEL_H

#include <glib.h>

/*
 * What trace-guest-info has to know of the system that runs, for the caller to
 * free: from @kernel or @bios (may be NULL), or if they do not say, from the
 * Linux kernels of @sysroots (may be NULL), in the folders themselves and their
 * boot/. NULL: there is none, or none that says; or there are several, which do
 * not agree.
 */
char *run_kernel_guest_info(const char *kernel, const char *bios,
                            char **sysroots);

/*
 * @sysroots (may be NULL), and behind them the files among @kernel and @bios
 * (may be NULL), and the ELF files of the firmware, which have its symbols: of
 * @bios, or of the default of @qemu, the program. The caller frees it.
 */
char **run_kernel_files(char **sysroots, const char *qemu, const char *kernel,
                        const char *bios);

#endif /* ETRACE_RUN_KERNEL_H */
