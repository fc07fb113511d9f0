/*
 * The independent observer of data accesses
 *
 * A TCG plugin for tests. It knows nothing of the trace encoder: it writes
 * down the loads and stores that QEMU's core reports to plugins, in the order
 * in which each hart makes them. CSRs are not among them, nor is cbo.zero.
 *
 * Arguments
 *   out=FILE     "hart pc opcode R|W bytes address value" a line, numbers in
 *                hex but for hart and bytes
 *   threads=on   in user mode: the number of the thread in place of hart. What
 *                a child of fork() does is not written down
 *   swap=N       write the N-th and the next access (from 1) in the wrong
 *                order, to prove that a comparison notices
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <glib.h>
#include <qemu-plugin.h>

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;

typedef struct Where {
    uint64_t pc;
    uint32_t opcode;
} Where;

static FILE *out;
static bool threads, in_child;
static GMutex lock;
static uint64_t number, swap;
static char *kept;

static uint64_t value_of(qemu_plugin_mem_value value)
{
    switch (value.type) {
    case QEMU_PLUGIN_MEM_VALUE_U8:
        return value.data.u8;
    case QEMU_PLUGIN_MEM_VALUE_U16:
        return value.data.u16;
    case QEMU_PLUGIN_MEM_VALUE_U32:
        return value.data.u32;
    default:
        return value.data.u64;
    }
}

static void write_line(unsigned int hart, const Where *w, bool store,
                       unsigned int bytes, uint64_t vaddr, uint64_t value)
{
    g_autofree char *line = g_strdup_printf(
        "%u %" PRIx64 " %x %c %u %" PRIx64 " %" PRIx64 "\n", hart, w->pc,
        w->opcode, store ? 'W' : 'R', bytes, vaddr, value);

    g_mutex_lock(&lock);
    if (++number == swap) {
        kept = g_steal_pointer(&line);
    } else {
        fputs(line, out);
        if (kept) {
            fputs(kept, out);
            g_clear_pointer(&kept, g_free);
        }
    }
    g_mutex_unlock(&lock);
}

static void accessed(unsigned int hart, qemu_plugin_meminfo_t info,
                     uint64_t vaddr, void *opaque)
{
    qemu_plugin_mem_value value = qemu_plugin_mem_get_value(info);
    unsigned int bytes = 1u << qemu_plugin_mem_size_shift(info);
    bool store = qemu_plugin_mem_is_store(info);

    if (in_child) {
        return;
    }
    if (threads) {
        hart = syscall(SYS_gettid);
    }
    if (value.type == QEMU_PLUGIN_MEM_VALUE_U128) {
        write_line(hart, opaque, store, 8, vaddr, value.data.u128.low);
        write_line(hart, opaque, store, 8, vaddr + 8, value.data.u128.high);
    } else {
        write_line(hart, opaque, store, bytes, vaddr, value_of(value));
    }
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        Where *w = g_new0(Where, 1);    /* as long as QEMU lives */

        w->pc = qemu_plugin_insn_vaddr(insn);
        qemu_plugin_insn_data(insn, &w->opcode, sizeof(w->opcode));
        qemu_plugin_register_vcpu_mem_cb(insn, accessed,
                                         QEMU_PLUGIN_CB_NO_REGS,
                                         QEMU_PLUGIN_MEM_RW, w);
    }
}

static void forked(void)
{
    in_child = true;
}

static void finished(qemu_plugin_id_t id, void *unused)
{
    if (!in_child) {
        g_mutex_lock(&lock);
        fflush(out);
        g_mutex_unlock(&lock);
    }
}

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id,
                                           const qemu_info_t *info,
                                           int argc, char **argv)
{
    for (int i = 0; i < argc; i++) {
        if (g_str_has_prefix(argv[i], "out=")) {
            out = fopen(argv[i] + 4, "w");
        } else if (g_str_has_prefix(argv[i], "swap=")) {
            swap = g_ascii_strtoull(argv[i] + 5, NULL, 0);
        } else if (g_str_equal(argv[i], "threads=on")) {
            threads = true;
        } else {
            fprintf(stderr, "accesses: unknown argument %s\n", argv[i]);
            return -1;
        }
    }
    if (!out) {
        fprintf(stderr, "accesses: out=FILE cannot be opened\n");
        return -1;
    }
    pthread_atfork(NULL, NULL, forked);
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, finished, NULL);
    return 0;
}
