/*
 * Counts the blocks that run: the least that a plugin can do for each
 *
 * A TCG plugin, to compare tracing with. Whatever a plugin traces, it cannot
 * be faster than this. Argument inline=on: QEMU increments the counter itself,
 * otherwise it calls back.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include <inttypes.h>
#include <string.h>
#include <glib.h>
#include <qemu-plugin.h>

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;

/* One for each hart, in cache lines of its own */
typedef struct Counter {
    uint64_t blocks;
    uint64_t padding[15];
} Counter;

static qemu_plugin_u64 blocks;
static bool is_inline;

static void count(unsigned int hart, void *unused)
{
    qemu_plugin_u64_add(blocks, hart, 1);
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    if (is_inline) {
        qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(
            tb, QEMU_PLUGIN_INLINE_ADD_U64, blocks, 1);
    } else {
        qemu_plugin_register_vcpu_tb_exec_cb(tb, count, QEMU_PLUGIN_CB_NO_REGS,
                                             NULL);
    }
}

/* Shown with -d plugin */
static void finished(qemu_plugin_id_t id, void *unused)
{
    g_autofree char *text =
        g_strdup_printf("%" PRIu64 " blocks\n", qemu_plugin_u64_sum(blocks));

    qemu_plugin_outs(text);
}

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id,
                                           const qemu_info_t *info,
                                           int argc, char **argv)
{
    is_inline = argc > 0 && strcmp(argv[0], "inline=on") == 0;
    blocks = qemu_plugin_scoreboard_u64_in_struct(
        qemu_plugin_scoreboard_new(sizeof(Counter)), Counter, blocks);
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, finished, NULL);
    return 0;
}
