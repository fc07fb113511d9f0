/*
 * What TCG plugins that look at registers have in common
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef OBSERVER_H
#define OBSERVER_H

#include <glib.h>
#include <gmodule.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <qemu-plugin.h>

/*
 * Find the integer registers of the hart that starts, x0 first. Without one of
 * them, @plugin, its name, is part of a message, and QEMU ends.
 */
static inline void observer_find_x(const char *plugin,
                                   struct qemu_plugin_register *x[32])
{
    static const char *const names[32] = {
        "zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "fp", "s1",
        "a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7",
        "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11",
        "t3", "t4", "t5", "t6",
    };
    g_autoptr(GArray) regs = qemu_plugin_get_registers();

    for (unsigned k = 0; k < G_N_ELEMENTS(names); k++) {
        for (guint i = 0; i < regs->len; i++) {
            qemu_plugin_reg_descriptor *r =
                &g_array_index(regs, qemu_plugin_reg_descriptor, i);
            const char *slash = strchr(r->name, '/');

            if (!strcmp(slash ? slash + 1 : r->name, names[k]) ||
                (k == 8 && slash && !strcmp(slash + 1, "s0"))) {
                x[k] = r->handle;
            }
        }
        if (!x[k]) {
            fprintf(stderr, "%s: there is no register %s\n", plugin, names[k]);
            _exit(1);
        }
    }
}

/*
 * Set *@before to the function of libretired.so, at @path, that says how many
 * instructions a hart had retired before its block. Returns false if it has
 * none.
 */
static inline bool observer_open_retired(const char *path,
                                         uint64_t (**before)(unsigned hart))
{
    GModule *m = g_module_open(path, G_MODULE_BIND_LOCAL);

    return m && g_module_symbol(m, "retired_before_block", (gpointer *)before);
}

#endif
