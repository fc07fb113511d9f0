/*
 * The independent observer: counts and hashes the instructions that retire
 *
 * A TCG plugin for tests. It knows nothing of the trace encoder: it uses the
 * plugin API and its own decoder of instruction kinds, and writes down what
 * each hart retired, so that a decoded trace can be compared with it.
 *
 * Arguments
 *   out=FILE     the truth file (required)
 *   pcs=FILE     every retired instruction, "hart pc" a line, pc in hex
 *   priv=N       write down only what retires at this privilege: 0 U, 1 S, 3 M
 *   from=ADDR, to=ADDR
 *                write down only what is at these addresses, both included
 *   inject=wrong@N|missing@N|extra@N
 *                corrupt the record at the N-th (from 1) retired instruction
 *                of hart 0, to prove that a comparison notices
 *
 * Truth file
 *   # rvtruth 1
 *   H <hart> <count> <hash>     after every 2^20 retired instructions
 *   E <hart> <count> <hash>     every hart, at exit
 *   # hart <hart>: <count> others   with priv, from or to: also retired
 * hash starts at 0; for each retired pc (RV32: zero-extended):
 *   hash = (rotl64(hash, 5) ^ pc) * 0x9E3779B97F4A7C15
 *
 * How retirement is known. Callbacks come before an instruction executes, and
 * an instruction that traps does not retire. Every instruction stores its
 * number within its block inline; the callback at the start of the next block
 * therefore knows exactly which instructions of the previous one began. All
 * but the last of them retired, because the next one began. Whether that
 * last one, P, retired follows from where the hart is now, X:
 *  - X is no trap vector: nothing was trapped. P retired, unless X is P again
 *    and P does not jump (an instruction that QEMU had to start anew).
 *  - X is a trap vector: epc says. It holds P's address (P trapped), the
 *    address behind P (P retired, then an interrupt, or a fault on fetching
 *    the next), or the vector of a less privileged mode whose handler could
 *    not begin: then that mode's epc says.
 * That last instruction is what resolve() is about. A hart that stops, because
 * it waits for an interrupt or because the machine stops, is asked then: maybe
 * no block starts any more.
 *
 * One thread for several harts (-icount, thread=single): QEMU 10.0 calls
 * back with the hart that translated the block, not the one that runs it, and
 * inline stores overwrite the constant that holds its index (plugin-gen.c,
 * gen_cpu_index without CF_PARALLEL). There the hart is found by mhartid, and
 * every instruction has a real callback.
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

#define CHECKPOINT_SHIFT 20
#define HASH_FACTOR 0x9E3779B97F4A7C15ULL
#define RESET_VECTOR 0x1000     /* of the virt machine */
#define MAX_PRINTED_DOUBTS 20

#define CAUSE_INST_MISALIGNED 0
#define CAUSE_ILLEGAL 2
#define CAUSE_VIRTUAL_INST 22

typedef enum Kind {
    KIND_PLAIN,         /* goes on behind itself */
    KIND_BRANCH,
    KIND_JAL,
    KIND_JALR,
    KIND_XRET,
    KIND_TRAP,          /* ecall, ebreak: only retires for semihosting */
    KIND_TABLE,         /* c.fsdsp, or a jump or return of Zcmp and Zcmt */
} Kind;

typedef struct Insn {
    int32_t target;     /* of KIND_BRANCH and KIND_JAL, relative to the insn */
    uint16_t offset;    /* from the block's start */
    uint8_t len;
    uint8_t kind;
} Insn;

/* What a block consists of. But for vaddr, it holds wherever it is mapped. */
typedef struct Block {
    uint64_t vaddr;     /* where it was translated */
    uint32_t n;
    uint32_t look;      /* changes CSRs that resolve() keeps in mind */
    Insn insn[];
} Block;

/* Modes that take traps, from the least privileged */
typedef enum TrapMode { VS, HS, M, N_TRAP_MODES } TrapMode;

/* Ranks of privilege: a mode that takes traps is TrapMode + 1 */
#define RANK_USER 0

typedef struct TrapCsrs {
    bool known;
    uint64_t tvec;
    uint64_t epc;
    uint64_t cause;
} TrapCsrs;

typedef struct Hart {
    const Block *block; /* the block that runs; NULL: none yet */
    uint64_t base;      /* where it runs */
    uint64_t count;
    uint64_t hash;
    uint64_t others;    /* retired, but not to be written down */
    bool wrong_priv;    /* the block runs at a privilege that is not */
    int rank;
    TrapCsrs trap[N_TRAP_MODES];    /* as last seen */
    struct qemu_plugin_register *pc;
    struct qemu_plugin_register *priv;
    struct qemu_plugin_register *mhartid;
    struct qemu_plugin_register *csr[N_TRAP_MODES][3];
    GByteArray *buf;
    GThread *thread;
    uint64_t id;        /* mhartid */
    uint64_t began;     /* of the block; while another hart runs */
} Hart;

/* In the scoreboard: written by translated code */
typedef struct Progress {
    uint64_t began;     /* instructions of the running block that began */
    uint8_t pad[120];   /* no cache line is shared by two harts */
} Progress;

static const char *const csr_names[N_TRAP_MODES][3] = {
    [VS] = { "vstvec", "vsepc", "vscause" },
    [HS] = { "stvec", "sepc", "scause" },
    [M] = { "mtvec", "mepc", "mcause" },
};

static GMutex lock;         /* files, blocks, and the counters below */
static GHashTable *blocks;
static Hart **harts;
static unsigned int n_harts;
static struct qemu_plugin_scoreboard *board;
static qemu_plugin_u64 began;
static bool rv32;
static bool has_mnret;      /* Smrnmi: else its encoding is reserved */

/* One thread runs several harts: who runs, and how far in its block */
static bool one_thread;
static unsigned int running;
static uint64_t running_began;

static FILE *out;
static FILE *pcs;

/* What is to be written down */
static bool selective;
static uint64_t only_priv = UINT64_MAX;      /* any */
static uint64_t only_from;
static uint64_t only_to = UINT64_MAX;

static enum { INJECT_NONE, WRONG, MISSING, EXTRA } inject;
static uint64_t inject_at;
static uint64_t doubts;

/* Decoder */

static int32_t bits(uint32_t insn, int from, int n, int to)
{
    return ((insn >> from) & ((1u << n) - 1)) << to;
}

static int32_t sign_extend(int32_t v, int width)
{
    return (int32_t)((uint32_t)v << (32 - width)) >> (32 - width);
}

/* Is the CSR one of those that TrapCsrs holds? */
static bool is_trap_csr(uint32_t csr)
{
    switch (csr) {
    case 0x105: case 0x141: case 0x142:     /* stvec, sepc, scause */
    case 0x205: case 0x241: case 0x242:     /* vstvec, vsepc, vscause */
    case 0x305: case 0x341: case 0x342:     /* mtvec, mepc, mcause */
        return true;
    default:
        return false;
    }
}

static void decode16(uint32_t c, Insn *insn)
{
    uint32_t funct3 = c >> 13;

    if ((c & 3) == 1 && (funct3 == 5 || (funct3 == 1 && rv32))) {
        insn->kind = KIND_JAL;      /* c.j, c.jal */
        insn->target = sign_extend(bits(c, 12, 1, 11) | bits(c, 11, 1, 4) |
                                   bits(c, 9, 2, 8) | bits(c, 8, 1, 10) |
                                   bits(c, 7, 1, 6) | bits(c, 6, 1, 7) |
                                   bits(c, 3, 3, 1) | bits(c, 2, 1, 5), 12);
    } else if ((c & 3) == 1 && funct3 >= 6) {
        insn->kind = KIND_BRANCH;   /* c.beqz, c.bnez */
        insn->target = sign_extend(bits(c, 12, 1, 8) | bits(c, 10, 2, 3) |
                                   bits(c, 5, 2, 6) | bits(c, 3, 2, 1) |
                                   bits(c, 2, 1, 5), 9);
    } else if (c == 0x9002) {
        insn->kind = KIND_TRAP;     /* c.ebreak */
    } else if ((c & 0xe07f) == 0x8002 && (c & 0x0f80)) {
        insn->kind = KIND_JALR;     /* c.jr, c.jalr */
    } else if ((c & 3) == 2 && funct3 == 5) {
        insn->kind = KIND_TABLE;
    }
}

static void decode32(uint32_t c, Insn *insn, Block *block)
{
    uint32_t funct3 = (c >> 12) & 7;

    /* Reserved encodings are plain: they trap, and that is all they do. */
    switch (c & 0x7f) {
    case 0x63:
        if (funct3 == 2 || funct3 == 3) {
            break;
        }
        insn->kind = KIND_BRANCH;
        insn->target = sign_extend(bits(c, 31, 1, 12) | bits(c, 25, 6, 5) |
                                   bits(c, 8, 4, 1) | bits(c, 7, 1, 11), 13);
        break;
    case 0x6f:
        insn->kind = KIND_JAL;
        insn->target = sign_extend(bits(c, 31, 1, 20) | bits(c, 21, 10, 1) |
                                   bits(c, 20, 1, 11) | bits(c, 12, 8, 12), 21);
        break;
    case 0x67:
        insn->kind = funct3 == 0 ? KIND_JALR : KIND_PLAIN;
        break;
    case 0x73:
        if (c == 0x00000073 || c == 0x00100073) {
            insn->kind = KIND_TRAP;
        } else if (c == 0x30200073 || c == 0x10200073 ||
                   (c == 0x70200073 && has_mnret)) {
            insn->kind = KIND_XRET; /* mret, sret, mnret */
            block->look = 1;
        } else if (funct3 != 0 && funct3 != 4 && is_trap_csr(c >> 20)) {
            block->look = 1;
        }
        break;
    default:
        break;
    }
}

static guint block_hash(gconstpointer p)
{
    const Block *b = p;
    guint h = b->n + b->vaddr;

    for (uint32_t i = 0; i < b->n; i++) {
        h = h * 31 + b->insn[i].target;
        h = h * 31 + b->insn[i].offset * 64 + b->insn[i].len * 8 +
            b->insn[i].kind;
    }
    return h;
}

static gboolean block_equal(gconstpointer p, gconstpointer q)
{
    const Block *a = p, *b = q;

    return a->vaddr == b->vaddr && a->n == b->n && a->look == b->look &&
           !memcmp(a->insn, b->insn, a->n * sizeof(Insn));
}

/* Registers */

/* Reads a register of the running hart; 0 if the hart does not have it. */
static uint64_t read_reg(Hart *h, struct qemu_plugin_register *reg)
{
    uint64_t v = 0;
    int n;

    if (!reg) {
        return 0;
    }
    g_byte_array_set_size(h->buf, 0);
    n = qemu_plugin_read_register(reg, h->buf);
    if (n != 4 && n != 8) {
        fprintf(stderr, "retired: cannot read a register of the hart\n");
        abort();
    }
    memcpy(&v, h->buf->data, n);
    return rv32 ? (uint32_t)v : v;
}

static int read_rank(Hart *h, bool *virt)
{
    uint64_t priv = read_reg(h, h->priv);

    *virt = priv & 4;
    switch (priv & 3) {
    case 3:
        return M + 1;
    case 1:
        return (*virt ? VS : HS) + 1;
    default:
        return RANK_USER;
    }
}

static void read_trap_csrs(Hart *h, TrapCsrs trap[N_TRAP_MODES], bool virt)
{
    for (int m = 0; m < N_TRAP_MODES; m++) {
        /*
         * In V=1 the s* registers are the guest's. HS's cannot be seen then,
         * and do not change.
         */
        int from = m == VS && virt ? HS : m;

        if ((m == HS && virt) || !h->csr[from][0]) {
            trap[m] = h->trap[m];
            trap[m].known = false;
            continue;
        }
        trap[m].known = true;
        trap[m].tvec = read_reg(h, h->csr[from][0]);
        trap[m].epc = read_reg(h, h->csr[from][1]);
        trap[m].cause = read_reg(h, h->csr[from][2]);
    }
}

/* Keeps in mind what resolve() compares with. */
static void look_at_traps(Hart *h)
{
    bool virt;

    h->rank = read_rank(h, &virt);
    read_trap_csrs(h, h->trap, virt);
}

static bool is_interrupt(uint64_t cause)
{
    return cause >> (rv32 ? 31 : 63);
}

/* Would the trap that the CSRs describe have gone to that address? */
static bool is_vector(const TrapCsrs *t, uint64_t address)
{
    uint64_t base = t->tvec & ~3ULL;

    if (!t->known) {
        return false;
    }
    if ((t->tvec & 3) == 1 && is_interrupt(t->cause)) {
        base += (t->cause & 0xff) * 4;
    }
    return address == base;
}

/* A cheap and generous form of is_vector: may the address be a vector? */
static bool maybe_vector(const Hart *h, uint64_t address)
{
    for (int m = 0; m < N_TRAP_MODES; m++) {
        uint64_t d = address - (h->trap[m].tvec & ~3ULL);

        if (d == 0 || ((h->trap[m].tvec & 1) && d < 256 * 4)) {
            return true;
        }
    }
    return false;
}

/* Retirement */

static uint64_t hash_step(uint64_t hash, uint64_t pc)
{
    return (((hash << 5) | (hash >> 59)) ^ pc) * HASH_FACTOR;
}

static void write_line(char tag, unsigned int hart, const Hart *h)
{
    fprintf(out, "%c %u %" PRIu64 " %016" PRIx64 "\n", tag, hart, h->count,
            h->hash);
}

static void record(unsigned int hart, Hart *h, uint64_t pc)
{
    h->hash = hash_step(h->hash, pc);
    h->count++;
    if (pcs) {
        g_mutex_lock(&lock);
        fprintf(pcs, "%u %" PRIx64 "\n", hart, pc);
        g_mutex_unlock(&lock);
    }
    if (!(h->count & ((1 << CHECKPOINT_SHIFT) - 1))) {
        g_mutex_lock(&lock);
        write_line('H', hart, h);
        g_mutex_unlock(&lock);
    }
}

static void retire(unsigned int hart, Hart *h, uint64_t pc)
{
    pc = rv32 ? (uint32_t)pc : pc;
    if (h->wrong_priv || pc < only_from || pc > only_to) {
        h->others++;
        return;
    }
    if (hart == 0 && inject != INJECT_NONE && h->count + 1 == inject_at) {
        switch (inject) {
        case WRONG:
            pc ^= 4;
            break;
        case EXTRA:
            record(hart, h, pc);
            break;
        default:
            break;
        }
        if (inject == MISSING) {
            inject = INJECT_NONE;
            return;
        }
        inject = INJECT_NONE;
    }
    record(hart, h, pc);
}

/* The first n instructions of the hart's block retired. */
static void retire_many(unsigned int hart, Hart *h, uint32_t n)
{
    const Insn *insn = h->block->insn;

    if (pcs || inject != INJECT_NONE || rv32 || selective ||
        ((h->count + n) ^ h->count) >> CHECKPOINT_SHIFT) {
        for (uint32_t i = 0; i < n; i++) {
            retire(hart, h, h->base + insn[i].offset);
        }
    } else {
        uint64_t hash = h->hash;

        for (uint32_t i = 0; i < n; i++) {
            hash = hash_step(hash, h->base + insn[i].offset);
        }
        h->hash = hash;
        h->count += n;
    }
}

static uint64_t wrap(uint64_t pc)
{
    return rv32 ? (uint32_t)pc : pc;
}

/* May the instruction at pc be followed by next without a trap? */
static bool may_follow(const Insn *p, uint64_t pc, uint64_t next)
{
    switch (p->kind) {
    case KIND_PLAIN:
        return next == wrap(pc + p->len);
    case KIND_BRANCH:
        return next == wrap(pc + p->len) || next == wrap(pc + p->target);
    case KIND_JAL:
        return next == wrap(pc + p->target);
    case KIND_TRAP:
        return false;
    default:
        return true;
    }
}

static bool is_jump(const Insn *p)
{
    return p->kind == KIND_BRANCH || p->kind == KIND_JAL ||
           p->kind == KIND_JALR || p->kind == KIND_XRET;
}

/* Something that the rules do not decide for certain: never silently. */
static void doubt(unsigned int hart, const char *what, uint64_t pc,
                  uint64_t now)
{
    g_mutex_lock(&lock);
    if (doubts++ < MAX_PRINTED_DOUBTS) {
        fprintf(stderr, "retired: hart %u: %s: %" PRIx64 " then %" PRIx64 "\n",
                hart, what, pc, now);
    }
    g_mutex_unlock(&lock);
}

/* A trap was taken at P whose epc is P's address: did P itself trap? */
static bool trapped_itself(const Insn *p, uint64_t cause)
{
    if (!is_jump(p)) {
        return true;
    }
    /* A jump to itself retires before the trap, unless it is the reason. */
    if (is_interrupt(cause)) {
        return false;
    }
    if (p->kind == KIND_XRET) {
        return cause == CAUSE_ILLEGAL || cause == CAUSE_VIRTUAL_INST;
    }
    return cause == CAUSE_INST_MISALIGNED;
}

/*
 * P began, and then a trap led to mode m. Follows the epcs down to the trap
 * that came first. Returns whether P retired.
 */
static bool retired_before_trap(unsigned int hart, Hart *h, const Insn *p,
                                uint64_t pc, uint64_t now,
                                const TrapCsrs trap[N_TRAP_MODES], int m)
{
    while (true) {
        uint64_t epc = trap[m].epc;
        int lower;

        if (p->kind == KIND_TRAP) {
            return false;
        }
        if (epc == pc) {
            return !trapped_itself(p, trap[m].cause);
        }
        for (lower = m - 1; lower >= 0; lower--) {
            if (is_vector(&trap[lower], epc) &&
                (!may_follow(p, pc, epc) ||
                 trap[lower].epc != h->trap[lower].epc)) {
                break;
            }
        }
        if (lower < 0) {
            if (!may_follow(p, pc, epc)) {
                doubt(hart, "trapped, with an epc from elsewhere", pc, now);
            }
            return true;
        }
        m = lower;
    }
}

/* Did P, which began and was followed by nothing until now, retire? */
static bool resolve(unsigned int hart, Hart *h, const Insn *p, uint64_t pc,
                    uint64_t now)
{
    TrapCsrs trap[N_TRAP_MODES];
    bool virt, trapped, retired;
    int rank = read_rank(h, &virt);

    read_trap_csrs(h, trap, virt);
    trapped = rank != RANK_USER && is_vector(&trap[rank - 1], now);
    if (trapped && rank <= h->rank && may_follow(p, pc, now)) {
        /* P may also just have led to the handler. */
        const TrapCsrs *t = &trap[rank - 1];
        const TrapCsrs *old = &h->trap[rank - 1];

        trapped = t->epc != old->epc || t->cause != old->cause;
        if (!trapped && t->epc == pc && !is_jump(p)) {
            doubt(hart, "a trap or not", pc, now);
        }
    }
    if (trapped) {
        retired = retired_before_trap(hart, h, p, pc, now, trap, rank - 1);
    } else if (now == pc && !is_jump(p)) {
        retired = false;
    } else {
        bool semihosting = p->kind == KIND_TRAP && now == wrap(pc + p->len);

        retired = p->kind != KIND_TRAP || semihosting;
        if (!semihosting && !may_follow(p, pc, now) && now != RESET_VECTOR) {
            doubt(hart, "no way from here to there", pc, now);
        }
    }
    h->rank = rank;
    memcpy(h->trap, trap, sizeof(trap));
    return retired;
}

/* For one_thread: takes down the progress of who ran; returns who runs. */
static unsigned int who_runs(unsigned int reported)
{
    uint64_t id = read_reg(harts[reported], harts[reported]->mhartid);

    harts[running]->began = running_began;
    for (unsigned int i = 0; i < n_harts; i++) {
        if (harts[i] && harts[i]->id == id) {
            return i;
        }
    }
    fprintf(stderr, "retired: no hart has the mhartid %" PRIu64 "\n", id);
    abort();
}

/* For one_thread: the instruction with that number within its block */
static void insn_begins(unsigned int hart, void *number)
{
    running_began = GPOINTER_TO_UINT(number);
}

/*
 * Where the block begins. Code may run at other addresses than the one that it
 * was translated for, so pc is asked. Code that was translated for one address
 * only need not keep pc up to date; then its place in the page differs, too.
 */
static uint64_t where(Hart *h, const Block *b)
{
    uint64_t now = read_reg(h, h->pc);

    return (now ^ b->vaddr) & 0xfff ? wrap(b->vaddr) : now;
}

/* n instructions of the hart's block began, and now it is at that address. */
static void block_ended(unsigned int hart, Hart *h, uint32_t n, uint64_t now)
{
    const Block *b = h->block;
    const Insn *last = &b->insn[n - 1];
    uint64_t pc = wrap(h->base + last->offset);

    if (!b->look && may_follow(last, pc, now) && !maybe_vector(h, now)) {
        /* A retry of c.fsdsp is the one that may_follow does not see. */
        if (last->kind == KIND_TABLE && now == pc) {
            n--;
        }
        retire_many(hart, h, n);
    } else {
        retire_many(hart, h, n - 1);
        if (resolve(hart, h, last, pc, now)) {
            retire(hart, h, pc);
        }
    }
}

static void block_starts(unsigned int hart, void *userdata)
{
    Progress *progress = NULL;
    uint64_t now;
    uint32_t n;
    Hart *h;

    if (one_thread) {
        running = who_runs(hart);
        hart = running;
        n = harts[hart]->began;
    } else {
        progress = qemu_plugin_scoreboard_find(board, hart);
        n = progress->began;
    }
    h = harts[hart];
    now = where(h, userdata);
    if (h->block && n) {
        block_ended(hart, h, n, now);
    } else {
        /* The hart has stopped, and a trap may have been taken since. */
        look_at_traps(h);
    }
    h->block = userdata;
    h->base = now;
    /* It is the same for the whole block: what changes it ends a block. */
    h->wrong_priv = only_priv != UINT64_MAX &&
                    read_reg(h, h->priv) != only_priv;
    if (one_thread) {
        running_began = 0;
    } else {
        progress->began = 0;
    }
}

/*
 * For another plugin of the run, which finds this function by its name: how
 * many instructions of the hart are written down that retired before the block
 * that runs. In callbacks of instructions, for harts with threads of their own.
 */
QEMU_PLUGIN_EXPORT uint64_t retired_before_block(unsigned int hart)
{
    return harts[hart]->count;
}

/* The hart waits, or the machine stops: nothing of it is under way. */
static void hart_stops(qemu_plugin_id_t id, unsigned int hart)
{
    Hart *h = harts[hart];
    Progress *progress;

    if (one_thread || !h || !h->block) {
        return;
    }
    progress = qemu_plugin_scoreboard_find(board, hart);
    if (progress->began) {
        block_ended(hart, h, progress->began, wrap(read_reg(h, h->pc)));
    }
    progress->began = 0;
}

/* Plugin */

static void block_translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    size_t n = qemu_plugin_tb_n_insns(tb);
    Block *block = g_malloc0(sizeof(Block) + n * sizeof(Insn));
    uint64_t start = qemu_plugin_tb_vaddr(tb);
    Block *known;

    block->vaddr = start;
    block->n = n;
    for (size_t i = 0; i < n; i++) {
        struct qemu_plugin_insn *q = qemu_plugin_tb_get_insn(tb, i);
        Insn *insn = &block->insn[i];
        uint32_t code = 0;

        insn->offset = qemu_plugin_insn_vaddr(q) - start;
        insn->len = qemu_plugin_insn_size(q);
        qemu_plugin_insn_data(q, &code, sizeof(code));
        if (insn->len == 2) {
            decode16(code & 0xffff, insn);
        } else {
            decode32(code, insn, block);
        }
        if (one_thread) {
            qemu_plugin_register_vcpu_insn_exec_cb(
                q, insn_begins, QEMU_PLUGIN_CB_NO_REGS,
                GUINT_TO_POINTER(i + 1));
        } else {
            qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(
                q, QEMU_PLUGIN_INLINE_STORE_U64, began, i + 1);
        }
    }

    /* Code is translated again and again: keep each content once. */
    g_mutex_lock(&lock);
    known = g_hash_table_lookup(blocks, block);
    if (known) {
        g_free(block);
        block = known;
    } else {
        g_hash_table_add(blocks, block);
    }
    g_mutex_unlock(&lock);
    qemu_plugin_register_vcpu_tb_exec_cb(tb, block_starts,
                                         QEMU_PLUGIN_CB_R_REGS, block);
}

static void hart_starts(qemu_plugin_id_t id, unsigned int hart)
{
    g_autoptr(GArray) regs = qemu_plugin_get_registers();
    Hart *h = g_new0(Hart, 1);

    h->buf = g_byte_array_new();
    for (guint i = 0; i < regs->len; i++) {
        qemu_plugin_reg_descriptor *r =
            &g_array_index(regs, qemu_plugin_reg_descriptor, i);

        if (!strcmp(r->name, "pc")) {
            h->pc = r->handle;
        } else if (!strcmp(r->name, "priv")) {
            h->priv = r->handle;
        } else if (!strcmp(r->name, "mhartid")) {
            h->mhartid = r->handle;
        } else if (!strcmp(r->name, "mnepc")) {
            has_mnret = true;
        }
        for (int m = 0; m < N_TRAP_MODES; m++) {
            for (int k = 0; k < 3; k++) {
                if (!strcmp(r->name, csr_names[m][k])) {
                    h->csr[m][k] = r->handle;
                }
            }
        }
    }
    if (!h->pc || !h->priv || !h->mhartid || !h->csr[M][0]) {
        fprintf(stderr, "retired: the hart lacks a register\n");
        abort();
    }
    g_mutex_lock(&lock);
    rv32 = qemu_plugin_read_register(h->pc, h->buf) == 4;
    if (hart >= n_harts) {
        fprintf(stderr, "retired: more harts than -smp allows\n");
        abort();
    }
    h->thread = g_thread_self();
    for (unsigned int i = 0; i < n_harts; i++) {
        one_thread |= harts[i] && harts[i]->thread == h->thread;
    }
    if (one_thread && g_hash_table_size(blocks)) {
        fprintf(stderr, "retired: a hart that was started late\n");
        abort();
    }
    harts[hart] = h;
    g_mutex_unlock(&lock);
    h->id = read_reg(h, h->mhartid);
    look_at_traps(h);
}

static void at_exit(qemu_plugin_id_t id, void *userdata)
{
    for (unsigned int i = 0; i < n_harts; i++) {
        Hart *h = harts[i];
        uint32_t n;

        if (!h) {
            continue;
        }
        if (!one_thread) {
            n = ((Progress *)qemu_plugin_scoreboard_find(board, i))->began;
        } else {
            n = i == running ? running_began : h->began;
        }
        if (h->block && n) {
            /*
             * One of several in a thread, of which nobody says that it stops.
             * It stops between blocks: what began is done.
             */
            retire_many(i, h, n - (h->block->insn[n - 1].kind == KIND_TRAP));
        }
        write_line('E', i, h);
        if (selective) {
            fprintf(out, "# hart %u: %" PRIu64 " others\n", i, h->others);
        }
    }
    if (fclose(out) || (pcs && fclose(pcs))) {
        fprintf(stderr, "retired: cannot write: %s\n", strerror(errno));
        _Exit(1);
    }
    if (inject != INJECT_NONE) {
        fprintf(stderr, "retired: the run ended before the injection\n");
    }
    if (doubts) {
        fprintf(stderr, "retired: %" PRIu64 " doubts\n", doubts);
    }
}

static FILE *open_or_complain(const char *path)
{
    FILE *f = fopen(path, "w");

    if (!f) {
        fprintf(stderr, "retired: %s: %s\n", path, strerror(errno));
    }
    return f;
}

static bool parse_inject(const char *arg)
{
    static const char *const names[] = {
        [WRONG] = "wrong@", [MISSING] = "missing@", [EXTRA] = "extra@",
    };

    for (int i = WRONG; i <= EXTRA; i++) {
        if (g_str_has_prefix(arg, names[i])) {
            inject = i;
            inject_at = g_ascii_strtoull(arg + strlen(names[i]), NULL, 10);
        }
    }
    return inject_at > 0;
}

static bool parse_selection(const char *arg)
{
    const char *number = strchr(arg, '=');
    uint64_t value;
    char *end;

    if (!number++ || !*number) {
        return false;
    }
    value = g_ascii_strtoull(number, &end, 0);
    if (*end) {
        return false;
    }
    if (g_str_has_prefix(arg, "priv=") && value < 8) {
        only_priv = value;
    } else if (g_str_has_prefix(arg, "from=")) {
        only_from = value;
    } else if (g_str_has_prefix(arg, "to=")) {
        only_to = value;
    } else {
        return false;
    }
    selective = true;
    return true;
}

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id,
                                           const qemu_info_t *info,
                                           int argc, char **argv)
{
    if (!info->system_emulation || strncmp(info->target_name, "riscv", 5)) {
        fprintf(stderr, "retired: for RISC-V system emulation only\n");
        return -1;
    }
    for (int i = 0; i < argc; i++) {
        if (g_str_has_prefix(argv[i], "out=")) {
            out = open_or_complain(argv[i] + 4);
            if (!out) {
                return -1;
            }
        } else if (g_str_has_prefix(argv[i], "pcs=")) {
            pcs = open_or_complain(argv[i] + 4);
            if (!pcs) {
                return -1;
            }
        } else if (!parse_selection(argv[i]) &&
                   (!g_str_has_prefix(argv[i], "inject=") ||
                    !parse_inject(argv[i] + 7))) {
            fprintf(stderr, "retired: cannot understand '%s'; arguments are "
                    "out=FILE, pcs=FILE, priv=N, from=ADDR, to=ADDR, "
                    "inject=wrong|missing|extra@N\n", argv[i]);
            return -1;
        }
    }
    if (!out) {
        fprintf(stderr, "retired: out=FILE is missing\n");
        return -1;
    }
    fprintf(out, "# rvtruth 1\n");

    n_harts = info->system.max_vcpus;
    harts = g_new0(Hart *, n_harts);
    blocks = g_hash_table_new(block_hash, block_equal);
    board = qemu_plugin_scoreboard_new(sizeof(Progress));
    began = qemu_plugin_scoreboard_u64_in_struct(board, Progress, began);

    qemu_plugin_register_vcpu_init_cb(id, hart_starts);
    qemu_plugin_register_vcpu_idle_cb(id, hart_stops);
    qemu_plugin_register_vcpu_tb_trans_cb(id, block_translated);
    qemu_plugin_register_atexit_cb(id, at_exit, NULL);
    return 0;
}
