/*
 * The independent observer of registers and memory
 *
 * A TCG plugin for tests. It knows nothing of traces: at every N-th instruction
 * that the hart retires it writes down the registers before it, and what is in
 * memory where they point to.
 *
 * Arguments
 *   out=FILE      "number pc x1,...,x31 address=value..." a line, in hex
 *   retired=FILE  libretired.so, which has to be in the same run: it counts
 *   every=N       the numbers are multiples of N
 *
 * The number is that of the instruction among those that retire, from 1 on. One
 * that traps does not retire, and its number comes again: the last line with it
 * is the one that counts. Of memory there are 8 bytes, of RAM of "virt". The
 * machine has one hart.
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
#include "observer.h"

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;

#define RAM_BEGIN   0x80000000
#define RAM_SIZE    (64u << 20)

/* An instruction of a block */
typedef struct Place {
    uint64_t pc;
    unsigned number;            /* in its block, from 1 on */
} Place;

static FILE *out;
static uint64_t every = 1000;
static uint64_t (*retired_before)(unsigned hart);
static struct qemu_plugin_register *x[32];
static struct qemu_plugin_scoreboard *board;
static qemu_plugin_u64 wanted;  /* number of the block's instruction; or 0 */

static void insn_begins(unsigned hart, void *opaque)
{
    const Place *p = opaque;

    qemu_plugin_u64_set(wanted, hart, p->number + every);
    observer_write_moment(out, retired_before(hart) + p->number, p->pc, x,
                          RAM_BEGIN, RAM_BEGIN + RAM_SIZE - 1);
}

/* Before the block's first instruction, when what retired before is counted */
static void block_begins(unsigned hart, void *opaque)
{
    qemu_plugin_u64_set(wanted, hart, every - retired_before(hart) % every);
}

static void block_translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    size_t n = qemu_plugin_tb_n_insns(tb);

    for (size_t i = 0; i < n; i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        Place *p = g_new(Place, 1);     /* for as long as QEMU runs */

        *p = (Place) {
            .pc = qemu_plugin_insn_vaddr(insn),
            .number = i + 1,
        };
        if (!i) {
            qemu_plugin_register_vcpu_insn_exec_cb(
                insn, block_begins, QEMU_PLUGIN_CB_NO_REGS, p);
        }
        qemu_plugin_register_vcpu_insn_exec_cond_cb(
            insn, insn_begins, QEMU_PLUGIN_CB_R_REGS, QEMU_PLUGIN_COND_EQ,
            wanted, i + 1, p);
    }
}

static void hart_starts(qemu_plugin_id_t id, unsigned hart)
{
    observer_find_x("registers", x);
}

static void at_exit(qemu_plugin_id_t id, void *opaque)
{
    if (fclose(out)) {
        fprintf(stderr, "registers: cannot write: %s\n", strerror(errno));
        _exit(1);
    }
}

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id,
                                           const qemu_info_t *info,
                                           int argc, char **argv)
{
    for (int i = 0; i < argc; i++) {
        const char *value = strchr(argv[i], '=');
        bool good = false;

        if (!value++) {
            good = false;
        } else if (g_str_has_prefix(argv[i], "out=")) {
            out = fopen(value, "w");
            good = out;
        } else if (g_str_has_prefix(argv[i], "retired=")) {
            good = observer_open_retired(value, &retired_before);
        } else if (g_str_has_prefix(argv[i], "every=")) {
            every = g_ascii_strtoull(value, NULL, 10);
            good = every;
        }
        if (!good) {
            fprintf(stderr, "registers: cannot use '%s'\n", argv[i]);
            return -1;
        }
    }
    if (!out || !retired_before) {
        fprintf(stderr, "registers: out=FILE and retired=FILE are needed\n");
        return -1;
    }
    board = qemu_plugin_scoreboard_new(sizeof(uint64_t));
    wanted = qemu_plugin_scoreboard_u64(board);
    qemu_plugin_register_vcpu_init_cb(id, hart_starts);
    qemu_plugin_register_vcpu_tb_trans_cb(id, block_translated);
    qemu_plugin_register_atexit_cb(id, at_exit, NULL);
    return 0;
}
