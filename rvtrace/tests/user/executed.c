/*
 * The independent observer of programs: which instructions begin
 *
 * A TCG plugin for tests of user mode. Each thread writes the addresses of what
 * it begins to execute, 8 bytes each, to a file of its own, PREFIX.TID. Bit 0
 * says that it is an ecall or ebreak, which trap. What faults has begun, too.
 *
 * Arguments
 *   out=PREFIX   required
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <glib.h>
#include <qemu-plugin.h>
#include "../machines/observer.h"

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;

#define MAX_CPUS 4096

static const char *prefix;
static bool in_child;       /* of fork(), which is no part of the trace */
static __thread FILE *file;

/* All files, of threads that have ended, too */
static GMutex lock;
static GPtrArray *files;

static FILE *file_of_thread(void)
{
    g_autofree char *name = g_strdup_printf("%s.%ld", prefix,
                                            syscall(SYS_gettid));
    FILE *f = fopen(name, "ab");

    if (!f) {
        perror(name);
        abort();
    }
    g_mutex_lock(&lock);
    g_ptr_array_add(files, f);
    g_mutex_unlock(&lock);
    return f;
}

static void executed(unsigned int cpu, void *pc)
{
    uint64_t value = (uintptr_t)pc;

    if (in_child) {
        return;
    }
    file = file ?: file_of_thread();
    fwrite(&value, sizeof(value), 1, file);
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        uintptr_t pc = qemu_plugin_insn_vaddr(insn);

        qemu_plugin_register_vcpu_insn_exec_cb(
            insn, executed, QEMU_PLUGIN_CB_NO_REGS,
            (void *)(pc | observer_traps(insn)));
    }
}

static void forked(void)
{
    in_child = true;
}

static void at_exit(qemu_plugin_id_t id, void *opaque)
{
    if (!in_child) {
        g_mutex_lock(&lock);
        for (guint i = 0; i < files->len; i++) {
            fflush(files->pdata[i]);
        }
        g_mutex_unlock(&lock);
    }
}

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id,
                                           const qemu_info_t *info, int argc,
                                           char **argv)
{
    for (int i = 0; i < argc; i++) {
        if (!strncmp(argv[i], "out=", 4)) {
            prefix = g_strdup(argv[i] + 4);
        }
    }
    if (!prefix) {
        fprintf(stderr, "executed: out=PREFIX is missing\n");
        return -1;
    }
    pthread_atfork(NULL, NULL, forked);
    files = g_ptr_array_new();
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, at_exit, NULL);
    return 0;
}
