/*
 * The independent observer of call stacks
 *
 * A TCG plugin for tests. It knows nothing of traces, calls and returns: at
 * every N-th instruction that a hart retires it unwinds the stack from the
 * registers and the memory of the guest, as a debugger does, by the call frame
 * information in the guest's ELF file. That is right at each instruction, in
 * prologues, epilogues and handlers of traps as well.
 *
 * Arguments
 *   out=FILE      "hart number why sp pc..." a line, see below
 *   retired=FILE  libretired.so, which has to be in the same run: it counts
 *   elf=FILE      the guest, or a program of it; can be repeated
 *   every=N       the numbers are multiples of N
 *   priv=N        only what retires at this privilege: 0 U, 1 S, 3 M
 *   kernel=on     in place of elf=: the kernel of a Linux guest, whose functions
 *                 have frame pointers; see kernel_chain()
 *   libraries=DIR the guest is Linux: only its programs are looked at, and
 *                 shared libraries of theirs, which are there; can be repeated
 *
 * A line has the instruction's number among those of the hart that retire,
 * from 1 on, why, sp before it, its address, and where its callers go on, the
 * innermost one first; all but why are in hex. Where a trap interrupted a
 * function, there is a ! in front. An instruction that traps does not retire,
 * and its number comes again: the last line with it is the one that counts. why
 * says how the unwinding ended:
 *   end           at a function that nothing called: its return address is 0,
 *                 or the information says that there is none
 *   bare          at code without information, which is the last address
 *   memory        at memory that cannot be read
 *   deep          behind MAX_FRAMES
 *
 * Handlers of traps have information, too. There, the return address is a
 * column of its own, COLUMN_EPC, and CSRs are registers as the RISC-V DWARF
 * specification numbers them. Handlers of signals return to the kernel's code
 * for that, which is left out; below it is what was interrupted, with a ! as
 * well.
 *
 * Harts must have threads of their own, since QEMU 10.0 does not tell which
 * one of a thread runs; see retired.c.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include <dwarf.h>
#include <errno.h>
#include <glib.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <qemu-plugin.h>
#include "files.h"
#include "observer.h"

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;

#define MAX_FRAMES  1000

#define REG_RA      1
#define REG_SP      2
#define REG_FP      8
/* Large enough for one, and too small for what is elsewhere */
#define KERNEL_STACK    0x10000
/* siginfo; of ucontext flags, link, stack, 1024 signals */
#define SIGFRAME_REGS   (128 + 8 + 8 + 24 + 128 + 8)
#define COLUMN_EPC  64      /* "alternate frame return column" */
#define COLUMN_CSR  4096
#define NR_COLUMNS  (COLUMN_EPC + 1)

typedef struct Column {
    const char *name;
    unsigned number;
    struct qemu_plugin_register *reg;
} Column;

typedef struct Hart {
    struct qemu_plugin_register *x[32];
    Column csr[4];
    struct qemu_plugin_register *priv, *pc;
    uint64_t moved;         /* the block runs so much above its translation */
    GByteArray *buf;
} Hart;

/* An instruction of a block */
typedef struct Place {
    uint64_t pc;            /* where it was translated */
    unsigned number;        /* in its block, from 1 on */
} Place;

/* Registers of a function, as far as they are known */
typedef struct Frame {
    uint64_t pc;
    bool exact;             /* it runs at pc; else pc is where a call returns */
    uint64_t column[NR_COLUMNS];
} Frame;

static GMutex lock;         /* the file, libdw */
static FILE *out;
static bool is_linux, is_kernel;
static uint64_t every = 1000;
static uint64_t only_priv = UINT64_MAX;     /* any */
static uint64_t (*retired_before)(unsigned hart);
static Hart *harts;
static struct qemu_plugin_scoreboard *board;
static qemu_plugin_u64 wanted;  /* number of the block's instruction; or 0 */
static unsigned xlen_bytes;

/* Of the running hart; 0 if it does not have the register */
static uint64_t read_reg(Hart *h, struct qemu_plugin_register *reg)
{
    uint64_t v = 0;

    g_byte_array_set_size(h->buf, 0);
    if (reg && qemu_plugin_read_register(reg, h->buf) > 0) {
        memcpy(&v, h->buf->data, MIN(h->buf->len, sizeof(v)));
    }
    return v;
}

static bool read_memory(void *opaque, uint64_t address, uint64_t *value)
{
    Hart *h = opaque;

    *value = 0;
    g_byte_array_set_size(h->buf, 0);
    if (!qemu_plugin_read_memory_vaddr(address, h->buf, xlen_bytes)) {
        return false;
    }
    memcpy(value, h->buf->data, xlen_bytes);
    return true;
}

static uint64_t narrow(uint64_t v)
{
    return xlen_bytes == 4 ? (uint32_t)v : v;
}

static uint64_t column(Hart *h, const Frame *f, uint64_t number)
{
    if (number < NR_COLUMNS) {
        return f->column[number];
    }
    for (unsigned i = 0; i < G_N_ELEMENTS(h->csr); i++) {
        if (h->csr[i].number == number) {
            return read_reg(h, h->csr[i].reg);
        }
    }
    return 0;
}

/*
 * The value of an expression of call frame information; *@place says whether
 * it is where the value is in memory. Returns false if it has operations that
 * compilers do not use there.
 */
static bool evaluate(Hart *h, const Frame *f, uint64_t cfa,
                     const Dwarf_Op *ops, size_t n, uint64_t *value,
                     bool *place)
{
    *value = 0;
    *place = true;
    for (size_t i = 0; i < n; i++) {
        const Dwarf_Op *op = &ops[i];

        if (op->atom == DW_OP_call_frame_cfa) {
            *value = cfa;
        } else if (op->atom == DW_OP_plus_uconst) {
            *value += op->number;
        } else if (op->atom == DW_OP_bregx) {
            *value = column(h, f, op->number) + op->number2;
        } else if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31) {
            *value = column(h, f, op->atom - DW_OP_breg0) + op->number;
        } else if (op->atom == DW_OP_regx) {
            *value = column(h, f, op->number);
            *place = false;
        } else if (op->atom == DW_OP_stack_value) {
            *place = false;
        } else {
            return false;
        }
    }
    *value = narrow(*value);
    return true;
}

/* Is @pc in the code of the kernel that ends handlers of signals? */
static bool is_trampoline(Hart *h, uint64_t pc)
{
    uint64_t word;

    /* li a7, __NR_rt_sigreturn; ecall */
    return is_linux &&
           ((read_memory(h, pc, &word) && word == 0x0000007308b00893) ||
            (read_memory(h, pc - 4, &word) && word == 0x0000007308b00893));
}

/* What a signal interrupted: struct rt_sigframe of Linux */
static const char *unwind_signal(Hart *h, Frame *f)
{
    uint64_t regs = f->column[REG_SP] + SIGFRAME_REGS;
    Frame caller = { .exact = true };

    if (!read_memory(h, regs, &caller.pc)) {
        return "memory";
    }
    for (unsigned i = 1; i < 32; i++) {
        if (!read_memory(h, regs + i * 8, &caller.column[i])) {
            return "memory";
        }
    }
    *f = caller;
    return NULL;
}

/* The caller of code without frame information, see struct Code */
static const char *unwind_leaf(Hart *h, Frame *f, const Code *code)
{
    uint64_t sp = f->column[REG_SP];

    if (code->frame_size &&
        !read_memory(h, sp + code->saved_ra, &f->column[REG_RA])) {
        return "memory";
    }
    f->column[REG_SP] = sp + code->frame_size;
    f->pc = f->column[REG_RA];
    f->exact = false;
    return NULL;
}

/*
 * The caller of @f, which becomes that. Returns NULL, or why there is none,
 * see above.
 */
static const char *unwind(Hart *h, Program *p, Frame *f)
{
    Code code = { 0 };
    Frame caller = *f;
    Dwarf_Op *ops, mem[3];
    uint64_t cfa;
    bool place;
    size_t n;
    int ra;

    if (is_trampoline(h, f->pc)) {
        return unwind_signal(h, f);
    }
    code = files_code(p, f->exact ? f->pc : f->pc - 1, read_memory, h);
    if (code.leaf) {
        return unwind_leaf(h, f, &code);
    }
    if (!code.frame) {
        return "bare";
    }
    ra = dwarf_frame_info(code.frame, NULL, NULL, &caller.exact);
    if (ra < 0 || ra >= NR_COLUMNS || dwarf_frame_cfa(code.frame, &ops, &n) ||
        !evaluate(h, f, 0, ops, n, &cfa, &place)) {
        return "bare";
    }
    for (unsigned i = 1; i < NR_COLUMNS; i++) {
        uint64_t value;

        if (dwarf_frame_register(code.frame, i, mem, &ops, &n)) {
            continue;
        }
        if (!n && ops && i == (unsigned)ra && !f->exact) {
            return "end";   /* it has made a call, and has not saved it */
        }
        if (!n) {
            continue;       /* as in @f, or of no interest to the caller */
        }
        if (!evaluate(h, f, cfa, ops, n, &value, &place)) {
            return "bare";
        }
        if (place && !read_memory(h, value, &value)) {
            return "memory";
        }
        caller.column[i] = value;
    }
    caller.pc = narrow(caller.column[ra]);
    if (!caller.pc || (caller.pc == f->pc &&
                       caller.column[REG_SP] == f->column[REG_SP])) {
        return "end";
    }
    *f = caller;
    return NULL;
}

static bool in_kernel(uint64_t address)
{
    return address >> 63;
}

/*
 * "ra return..." as Linux itself unwinds its stack, arch/riscv/kernel/
 * stacktrace.c: behind the saved frame pointer is the return address. A function
 * that calls nothing has saved the frame pointer alone, in its place; so has one
 * that has not saved its return address yet no frame at all. ra tells of both.
 * Chains go on through traps, at the frame that was interrupted.
 */
static void kernel_chain(Hart *h, GString *line, const Frame *f)
{
    uint64_t ra = f->column[REG_RA], sp = f->column[REG_SP];
    uint64_t fp = f->column[REG_FP];

    g_string_append_printf(line, " %" PRIx64, ra);
    for (unsigned n = 0; n < MAX_FRAMES && in_kernel(fp) && !(fp & 7); n++) {
        uint64_t ret, next;

        if (!read_memory(h, fp - 8, &ret) || !read_memory(h, fp - 16, &next)) {
            return;
        }
        if (!n && ret - sp < KERNEL_STACK) {
            next = ret;
            ret = ra;
        }
        if (!in_kernel(ret)) {
            return;
        }
        g_string_append_printf(line, " %" PRIx64, ret);
        fp = next;
    }
}

static void write_kernel_stack(unsigned hart, uint64_t number, uint64_t pc,
                               const Frame *f)
{
    g_autoptr(GString) line = g_string_new(NULL);

    if (!in_kernel(pc)) {
        return;     /* before addresses are translated */
    }
    kernel_chain(&harts[hart], line, f);
    g_mutex_lock(&lock);
    fprintf(out, "%u %" PRIx64 " %" PRIx64 "%s\n", hart, number, pc, line->str);
    g_mutex_unlock(&lock);
}

static void write_stack(unsigned hart, uint64_t number, uint64_t pc)
{
    g_autoptr(GString) line = g_string_new(NULL);
    Hart *h = &harts[hart];
    Frame f = { .pc = pc, .exact = true };
    const char *why = NULL;
    uint64_t sp;
    Program *p;

    for (unsigned i = 1; i < 32; i++) {
        f.column[i] = read_reg(h, h->x[i]);
    }
    if (is_kernel) {
        write_kernel_stack(hart, number, pc, &f);
        return;
    }
    sp = f.column[REG_SP];
    g_mutex_lock(&lock);
    p = files_program(pc, read_memory, h);
    for (unsigned n = 0; p && !why; n++) {
        if (!n || !is_trampoline(h, f.pc)) {
            g_string_append_printf(line, " %s%" PRIx64,
                                   n && f.exact ? "!" : "", f.pc);
        }
        why = n < MAX_FRAMES ? unwind(h, p, &f) : "deep";
    }
    if (!p) {
        g_mutex_unlock(&lock);
        return;
    }
    fprintf(out, "%u %" PRIx64 " %s %" PRIx64 "%s\n", hart, number, why, sp,
            line->str);
    g_mutex_unlock(&lock);
}

static void insn_begins(unsigned hart, void *opaque)
{
    const Place *p = opaque;

    qemu_plugin_u64_set(wanted, hart, p->number + every);
    if (only_priv == UINT64_MAX ||
        read_reg(&harts[hart], harts[hart].priv) == only_priv) {
        write_stack(hart, retired_before(hart) + p->number,
                    narrow(p->pc + harts[hart].moved));
    }
}

/*
 * Before the block's first instruction, when what retired before is counted.
 * Libraries may run at other addresses than where they were translated.
 */
static void block_begins(unsigned hart, void *opaque)
{
    const Place *p = opaque;
    Hart *h = &harts[hart];

    if (is_linux) {
        uint64_t pc = read_reg(h, h->pc);

        h->moved = (pc ^ p->pc) & 0xfff ? 0 : pc - p->pc;
    }
    qemu_plugin_u64_set(wanted, hart, every - retired_before(hart) % every);
}

static void block_translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    size_t n = qemu_plugin_tb_n_insns(tb);

    if (is_kernel ? !in_kernel(qemu_plugin_tb_vaddr(tb)) :
        is_linux && !files_may_be_at(qemu_plugin_tb_vaddr(tb))) {
        return;
    }
    for (size_t i = 0; i < n; i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        Place *p = g_new(Place, 1);     /* for as long as QEMU runs */

        *p = (Place) {
            .pc = qemu_plugin_insn_vaddr(insn),
            .number = i + 1,
        };
        if (!i) {
            qemu_plugin_register_vcpu_insn_exec_cb(
                insn, block_begins, QEMU_PLUGIN_CB_R_REGS, p);
        }
        qemu_plugin_register_vcpu_insn_exec_cond_cb(
            insn, insn_begins, QEMU_PLUGIN_CB_R_REGS, QEMU_PLUGIN_COND_EQ,
            wanted, i + 1, p);
    }
}

static void find_registers(Hart *h)
{
    g_autoptr(GArray) regs = qemu_plugin_get_registers();
    static const struct {
        const char *name;
        unsigned csr;
    } csrs[] = {
        { "sscratch", 0x140 }, { "sepc", 0x141 },
        { "mscratch", 0x340 }, { "mepc", 0x341 },
    };

    for (guint i = 0; i < regs->len; i++) {
        qemu_plugin_reg_descriptor *r =
            &g_array_index(regs, qemu_plugin_reg_descriptor, i);

        for (unsigned k = 0; k < G_N_ELEMENTS(csrs); k++) {
            if (!strcmp(r->name, csrs[k].name)) {
                h->csr[k].number = COLUMN_CSR + csrs[k].csr;
                h->csr[k].reg = r->handle;
            }
        }
        if (!strcmp(r->name, "priv")) {
            h->priv = r->handle;
        } else if (!strcmp(r->name, "pc")) {
            h->pc = r->handle;
        }
    }
}

static void hart_starts(qemu_plugin_id_t id, unsigned hart)
{
    Hart *h = &harts[hart];

    h->buf = g_byte_array_new();
    observer_find_x("frames", h->x);
    find_registers(h);
    g_byte_array_set_size(h->buf, 0);
    xlen_bytes = qemu_plugin_read_register(h->x[REG_SP], h->buf);
}

static void at_exit(qemu_plugin_id_t id, void *opaque)
{
    if (fclose(out)) {
        fprintf(stderr, "frames: cannot write: %s\n", strerror(errno));
        _exit(1);
    }
}

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id,
                                           const qemu_info_t *info,
                                           int argc, char **argv)
{
    bool programs = false;

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
        } else if (g_str_has_prefix(argv[i], "elf=")) {
            good = programs = files_add_program(value);
        } else if (g_str_has_prefix(argv[i], "libraries=")) {
            files_add_folder(g_strdup(value));
            good = is_linux = true;
        } else if (g_str_equal(argv[i], "kernel=on")) {
            good = programs = is_kernel = true;
        } else if (g_str_has_prefix(argv[i], "every=")) {
            every = g_ascii_strtoull(value, NULL, 10);
            good = every;
        } else if (g_str_has_prefix(argv[i], "priv=")) {
            only_priv = g_ascii_strtoull(value, NULL, 10);
            good = true;
        }
        if (!good) {
            fprintf(stderr, "frames: cannot use '%s'\n", argv[i]);
            return -1;
        }
    }
    if (!out || !retired_before || !programs) {
        fprintf(stderr, "frames: out=FILE, retired=FILE and elf=FILE are "
                "needed\n");
        return -1;
    }
    harts = g_new0(Hart, info->system.max_vcpus);
    board = qemu_plugin_scoreboard_new(sizeof(uint64_t));
    wanted = qemu_plugin_scoreboard_u64(board);
    qemu_plugin_register_vcpu_init_cb(id, hart_starts);
    qemu_plugin_register_vcpu_tb_trans_cb(id, block_translated);
    qemu_plugin_register_atexit_cb(id, at_exit, NULL);
    return 0;
}
