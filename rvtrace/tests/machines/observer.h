/*
 * What TCG plugins that look at registers have in common
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef OBSERVER_H
#define OBSERVER_H

#include <glib.h>
#include <gmodule.h>
#include <inttypes.h>
#include <stdbool.h>
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

/* " ADDRESS=VALUE" of the 8 bytes there, if these are from @first to @last */
static inline void observer_write_memory(FILE *out, uint64_t address,
                                         uint64_t first, uint64_t last)
{
    g_autoptr(GByteArray) buf = g_byte_array_new();
    uint64_t value;

    address &= ~7ull;
    if (address >= first && address <= last &&
        qemu_plugin_read_memory_vaddr(address, buf, sizeof(value))) {
        memcpy(&value, buf->data, sizeof(value));
        fprintf(out, " %" PRIx64 "=%" PRIx64, address, value);
    }
}

/*
 * A line of @out, in hex: "number pc x1,...,x31 address=value...", of registers
 * @x, and of memory from @first to @last where they point to
 */
static inline void observer_write_moment(FILE *out, uint64_t number,
                                         uint64_t pc,
                                         struct qemu_plugin_register *x[32],
                                         uint64_t first, uint64_t last)
{
    uint64_t value[32] = { 0 };

    fprintf(out, "%" PRIx64 " %" PRIx64, number, pc);
    for (unsigned i = 1; i < 32; i++) {
        g_autoptr(GByteArray) buf = g_byte_array_new();

        if (qemu_plugin_read_register(x[i], buf) > 0) {
            memcpy(&value[i], buf->data, MIN(buf->len, sizeof(value[i])));
        }
        fprintf(out, "%c%" PRIx64, i == 1 ? ' ' : ',', value[i]);
    }
    for (unsigned i = 1; i < 32; i++) {
        observer_write_memory(out, value[i], first, last);
    }
    fputc('\n', out);
}

/* Is it ecall or ebreak, which never retire? */
static inline bool observer_traps(const struct qemu_plugin_insn *insn)
{
    uint32_t bits = 0;
    size_t len = qemu_plugin_insn_data(insn, &bits, sizeof(bits));

    return len == 2 ? bits == 0x9002 : bits == 0x73 || bits == 0x100073;
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
