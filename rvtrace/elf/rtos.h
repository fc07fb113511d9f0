/*
 * Real-time operating systems as ELF files: where they keep the task that runs
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_RTOS_H
#define ETRACE_RTOS_H

#include "elf/elf-file.h"
#include "etrace/guest-info.h"

/*
 * What trace-guest-info has to know of the program @file if that is one with
 * FreeRTOS, Zephyr, ThreadX, NuttX or RT-Thread in it; their variable is looked
 * up among the symbols, types in DWARF. Returns the system's name; NULL if it
 * has none of these, or, with @errp set, if what is there does not say enough.
 * Without DWARF, tasks may have no names in @info.
 */
const char *rtos_guest_info(const ElfFile *file, ETraceGuestInfo *info,
                            GError **errp);

#endif /* ETRACE_RTOS_H */
