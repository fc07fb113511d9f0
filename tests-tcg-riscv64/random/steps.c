/*
 * What each hart did, step by step: a TCG plugin for the random guests
 *
 * The guests keep a rule that makes this simple: nothing but a trap leads to
 * a trap handler, whose first instruction is a "lui x0" with a number that
 * nothing else uses. So an instruction retired unless what the hart begins
 * next is a handler whose epc is that instruction, or the instruction itself
 * once more (no instruction jumps to itself). history.c goes by that; here is
 * only written down what begins, and where a hart that rests would go on: one
 * that is reset or loaded then does not begin its handler.
 *
 * It shares nothing with the trace encoder, and little with retired.c: it
 * decodes no instructions, and every one of them has a callback of its own.
 *
 * Arguments: out=PREFIX; PREFIX.N is of the hart whose mhartid is N.
 * thread=single: as -accel tcg has it. data=on: loads and stores, too. A step is
 * 16 bytes, in the host's order:
 *     u64 pc; u32 code; u8 length (of the code); u8 mode; u8 kind; u8 from
 * kind 0: an instruction began. kind 1: a trap was taken; pc is epc, code the
 * cause without the interrupt's bit, length is that bit. mode is QEMU's
 * register "priv": privilege, and 4 for V=1; of a trap, the handler's, and
 * from is the mode before it. kind 2: the hart rests, and pc is what it would
 * go on with. kinds 3, 4 and 5, behind that and at the reset vector: mepc, sepc
 * and what sepc is, or would be, with V=1. With one thread for all vCPUs QEMU
 * 10.0 does not report who rests. kind 6: the instruction that began last has
 * loaded or stored; pc is the address, length the bytes, mode 1 for a store.
 * kind 7, behind that: pc is the data.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <glib.h>
#include <qemu-plugin.h>

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;

#define MAX_HARTS 16
/* lui x0, MARK + 0 for M, + 1 for S and VS */
#define MARK 0xabc01000u
#define MARK_M (MARK | 0x37)
#define MARK_S ((MARK + 0x1000) | 0x37)
#define RESET_VECTOR 0x1000

typedef struct Step {
    uint64_t pc;
    uint32_t code;
    uint8_t length;
    uint8_t mode;
    uint8_t kind;
    uint8_t from;
} Step;

typedef struct Insn {
    uint32_t code;
    uint16_t offset;    /* from the block's start */
    uint8_t length;
} Insn;

typedef struct Block {
    uint64_t start;     /* where it was translated for */
    uint32_t first;     /* the first instruction's code */
    Insn insn[];
} Block;

/* Registers: every vCPU names them by itself */
typedef struct Registers {
    struct qemu_plugin_register *pc, *priv, *mhartid;
    struct qemu_plugin_register *epc[2], *cause[2], *status[2];     /* M, S */
    struct qemu_plugin_register *hstatus, *vsepc;   /* NULL: no hypervisor */
} Registers;

/* Written in large parts, only by the thread that runs the hart */
typedef struct Hart {
    FILE *file;
    size_t count;
    Step steps[4096];
} Hart;

static const char *prefix;
static Registers registers[MAX_HARTS];
static Hart *harts[MAX_HARTS];
static bool one_thread; /* for all harts */
static bool data;       /* is wanted */
static bool over;       /* files are closed */
static GMutex lock;

/* Who runs in this thread, and where its block is */
static __thread Hart *hart;
static __thread uint64_t base;
static __thread uint8_t mode;
static __thread GByteArray *buf;

static uint64_t read_reg(struct qemu_plugin_register *reg)
{
    uint64_t v = 0;
    int n;

    if (!buf) {
        buf = g_byte_array_new();
    }
    g_byte_array_set_size(buf, 0);
    n = qemu_plugin_read_register(reg, buf);
    if (n != 4 && n != 8) {
        fprintf(stderr, "steps: cannot read a register\n");
        abort();
    }
    memcpy(&v, buf->data, n);
    return v;
}

static bool flush(Hart *h)
{
    size_t n = h->count;

    h->count = 0;
    return fwrite(h->steps, sizeof(Step), n, h->file) == n;
}

static void put(Step step)
{
    hart->steps[hart->count++] = step;
    if (hart->count == G_N_ELEMENTS(hart->steps) && !flush(hart)) {
        fprintf(stderr, "steps: %s\n", strerror(errno));
        abort();
    }
}

static Hart *make_hart(uint64_t number)
{
    g_autofree char *name = g_strdup_printf("%s.%" PRIu64, prefix, number);
    Hart *h = g_new0(Hart, 1);

    h->file = fopen(name, "wb");
    if (!h->file) {
        fprintf(stderr, "steps: %s: %s\n", name, strerror(errno));
        abort();
    }
    return h;
}

/* Nobody else makes the hart that runs in this thread. */
static Hart *hart_of(uint64_t number)
{
    if (number >= MAX_HARTS) {
        fprintf(stderr, "steps: too many harts\n");
        abort();
    }
    if (!harts[number]) {
        harts[number] = make_hart(number);
    }
    return harts[number];
}

static void put_epcs(const Registers *r)
{
    uint64_t sepc = read_reg(r->epc[1]);
    bool virt = read_reg(r->priv) & 4;

    put((Step) { .pc = read_reg(r->epc[0]), .kind = 3 });
    put((Step) { .pc = sepc, .kind = 4 });
    put((Step) { .pc = virt || !r->vsepc ? sepc : read_reg(r->vsepc),
                 .kind = 5 });
}

/* The mode that the trap came from, which mode took */
static uint8_t mode_before(const Registers *r, bool is_m)
{
    uint64_t status = read_reg(r->status[!is_m]);

    if (is_m) {
        bool v = r->hstatus && status >> 39 & 1;    /* MPV */
        uint8_t mpp = status >> 11 & 3;

        return mpp | (v && mpp != 3 ? 4 : 0);
    }
    return (status >> 8 & 1) |                      /* SPP */
           (mode & 4 || (r->hstatus && read_reg(r->hstatus) >> 7 & 1) ? 4 : 0);
}

static void block_begins(unsigned int vcpu, void *userdata)
{
    const Block *b = userdata;
    /* With one thread QEMU 10.0 names another vCPU; their handles are equal. */
    const Registers *r = &registers[vcpu];
    uint64_t pc = read_reg(r->pc);
    bool is_m = b->first == MARK_M;

    mode = read_reg(r->priv);
    if (!hart || one_thread) {
        hart = hart_of(read_reg(r->mhartid));
    }
    /*
     * A block that runs at the place it was translated for need not have
     * written pc. One that can run at other places has, and is in the same
     * place of a page.
     */
    base = (pc ^ b->start) & 0xfff ? b->start : pc;
    if (base == RESET_VECTOR) {
        put_epcs(r);
    }
    if (is_m || b->first == MARK_S) {
        uint64_t cause = read_reg(r->cause[!is_m]);
        uint64_t epc = read_reg(r->epc[!is_m]);

        /* RV32 has the bit in another place; causes are small numbers. */
        put((Step) { .pc = epc, .code = cause & 0xff,
                     .length = cause >> 63 || (cause >> 31 & 1),
                     .mode = mode, .kind = 1, .from = mode_before(r, is_m) });
    }
}

static void insn_begins(unsigned int vcpu, void *userdata)
{
    const Insn *insn = userdata;

    put((Step) { .pc = base + insn->offset, .code = insn->code,
                 .length = insn->length, .mode = mode });
}

static void put_access(uint64_t addr, unsigned int bytes, bool store,
                       uint64_t value)
{
    put((Step) { .pc = addr, .length = bytes, .mode = store, .kind = 6 });
    put((Step) { .pc = value, .kind = 7 });
}

static void accessed(unsigned int vcpu, qemu_plugin_meminfo_t info,
                     uint64_t addr, void *unused)
{
    qemu_plugin_mem_value value = qemu_plugin_mem_get_value(info);
    unsigned int bytes = 1u << qemu_plugin_mem_size_shift(info);
    bool store = qemu_plugin_mem_is_store(info);

    switch (value.type) {
    case QEMU_PLUGIN_MEM_VALUE_U8:
        put_access(addr, bytes, store, value.data.u8);
        break;
    case QEMU_PLUGIN_MEM_VALUE_U16:
        put_access(addr, bytes, store, value.data.u16);
        break;
    case QEMU_PLUGIN_MEM_VALUE_U32:
        put_access(addr, bytes, store, value.data.u32);
        break;
    case QEMU_PLUGIN_MEM_VALUE_U64:
        put_access(addr, bytes, store, value.data.u64);
        break;
    default:
        put_access(addr, 8, store, value.data.u128.low);
        put_access(addr + 8, 8, store, value.data.u128.high);
    }
}

static void hart_rests(qemu_plugin_id_t id, unsigned int vcpu)
{
    const Registers *r = &registers[vcpu];

    /* QEMU can report it once more while it ends. */
    g_mutex_lock(&lock);
    if (hart && !over) {
        put((Step) { .pc = read_reg(r->pc), .mode = read_reg(r->priv),
                     .kind = 2 });
        put_epcs(r);
    }
    g_mutex_unlock(&lock);
}

static void block_translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    size_t n = qemu_plugin_tb_n_insns(tb);
    Block *block = g_malloc0(sizeof(Block) + n * sizeof(Insn));

    block->start = qemu_plugin_tb_vaddr(tb);
    for (size_t i = 0; i < n; i++) {
        struct qemu_plugin_insn *q = qemu_plugin_tb_get_insn(tb, i);
        Insn *insn = &block->insn[i];

        insn->offset = qemu_plugin_insn_vaddr(q) - block->start;
        insn->length = qemu_plugin_insn_size(q);
        qemu_plugin_insn_data(q, &insn->code, MIN(insn->length, 4));
        qemu_plugin_register_vcpu_insn_exec_cb(q, insn_begins,
                                               QEMU_PLUGIN_CB_NO_REGS, insn);
        if (data) {
            qemu_plugin_register_vcpu_mem_cb(q, accessed,
                                             QEMU_PLUGIN_CB_NO_REGS,
                                             QEMU_PLUGIN_MEM_RW, NULL);
        }
    }
    block->first = block->insn[0].code;
    qemu_plugin_register_vcpu_tb_exec_cb(tb, block_begins,
                                         QEMU_PLUGIN_CB_R_REGS, block);
}

static void hart_starts(qemu_plugin_id_t id, unsigned int vcpu)
{
    g_autoptr(GArray) regs = qemu_plugin_get_registers();
    Registers *r = &registers[vcpu % MAX_HARTS];
    struct {
        const char *name;
        struct qemu_plugin_register **where;
    } wanted[] = {
        { "pc", &r->pc }, { "priv", &r->priv }, { "mhartid", &r->mhartid },
        { "mepc", &r->epc[0] }, { "mcause", &r->cause[0] },
        { "sepc", &r->epc[1] }, { "scause", &r->cause[1] },
        { "mstatus", &r->status[0] }, { "sstatus", &r->status[1] },
        { "hstatus", &r->hstatus }, { "vsepc", &r->vsepc },
    };

    for (size_t k = 0; k < G_N_ELEMENTS(wanted); k++) {
        for (guint i = 0; i < regs->len; i++) {
            qemu_plugin_reg_descriptor *d =
                &g_array_index(regs, qemu_plugin_reg_descriptor, i);

            if (!strcmp(d->name, wanted[k].name)) {
                *wanted[k].where = d->handle;
            }
        }
        if (!*wanted[k].where && wanted[k].where != &r->hstatus &&
            wanted[k].where != &r->vsepc) {
            fprintf(stderr, "steps: no register %s\n", wanted[k].name);
            abort();
        }
    }
}

static void at_exit(qemu_plugin_id_t id, void *userdata)
{
    g_mutex_lock(&lock);
    over = true;
    for (int i = 0; i < MAX_HARTS; i++) {
        if (harts[i] && (!flush(harts[i]) || fclose(harts[i]->file))) {
            fprintf(stderr, "steps: %s\n", strerror(errno));
            _Exit(1);
        }
    }
    g_mutex_unlock(&lock);
}

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id,
                                           const qemu_info_t *info,
                                           int argc, char **argv)
{
    for (int i = 0; i < argc; i++) {
        if (g_str_has_prefix(argv[i], "out=")) {
            prefix = g_strdup(argv[i] + 4);
        } else if (!strcmp(argv[i], "thread=single")) {
            one_thread = true;
        } else if (!strcmp(argv[i], "data=on")) {
            data = true;
        } else if (strcmp(argv[i], "thread=multi")) {
            fprintf(stderr, "steps: what is %s?\n", argv[i]);
            return -1;
        }
    }
    if (!prefix) {
        fprintf(stderr, "steps: out=PREFIX is missing\n");
        return -1;
    }
    qemu_plugin_register_vcpu_init_cb(id, hart_starts);
    qemu_plugin_register_vcpu_idle_cb(id, hart_rests);
    qemu_plugin_register_vcpu_tb_trans_cb(id, block_translated);
    qemu_plugin_register_atexit_cb(id, at_exit, NULL);
    return 0;
}
