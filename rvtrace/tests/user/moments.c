/*
 * The independent observer of a program's registers and memory
 *
 * A TCG plugin for tests of user mode: at every N-th instruction that retires
 * it writes down the registers before it, and what is in memory where they
 * point to. The program has one thread, and neither faults nor signals: all but
 * ecall and ebreak retire.
 *
 * Arguments
 *   out=FILE   "number pc x1,...,x31 address=value..." a line, in hex; the
 *              number is that of the instruction, from 1 on; of memory, 8 bytes
 *   every=N    the numbers are multiples of N
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include <errno.h>
#include <glib.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <qemu-plugin.h>
#include "../machines/observer.h"

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;

static FILE *out;
static uint64_t every = 1000, number;
static struct qemu_plugin_register *x[32];

static void begins(unsigned hart, void *pc)
{
    if (++number % every) {
        return;
    }
    observer_write_moment(out, number, (uintptr_t)pc, x, 8, UINT64_MAX);
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        uintptr_t pc = qemu_plugin_insn_vaddr(insn);

        if (!observer_traps(insn)) {
            qemu_plugin_register_vcpu_insn_exec_cb(
                insn, begins, QEMU_PLUGIN_CB_R_REGS, (void *)pc);
        }
    }
}

static void thread_starts(qemu_plugin_id_t id, unsigned hart)
{
    observer_find_x("moments", x);
}

static void at_exit(qemu_plugin_id_t id, void *opaque)
{
    if (fclose(out)) {
        fprintf(stderr, "moments: cannot write: %s\n", strerror(errno));
        _exit(1);
    }
}

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id,
                                           const qemu_info_t *info, int argc,
                                           char **argv)
{
    for (int i = 0; i < argc; i++) {
        if (g_str_has_prefix(argv[i], "out=")) {
            out = fopen(argv[i] + 4, "w");
        } else if (g_str_has_prefix(argv[i], "every=")) {
            every = g_ascii_strtoull(argv[i] + 6, NULL, 10);
        }
    }
    if (!out || !every) {
        fprintf(stderr, "moments: out=FILE and every=N are needed\n");
        return -1;
    }
    qemu_plugin_register_vcpu_init_cb(id, thread_starts);
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, at_exit, NULL);
    return 0;
}
