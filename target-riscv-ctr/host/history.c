/*
 * RISC-V control transfer records: what a hart executed last
 *
 * Between the target of a transfer and the source of the next one instructions
 * follow one another: that is a block. Where it ends is not always known from
 * the records alone: an interrupt's source has not run, and what is before it
 * is 2 or 4 bytes long. So each block is walked, in memory as it is now. That
 * also finds records that do not belong together, as where the guest's filters
 * have left something out: the history begins behind them.
 *
 * Whoever looks at the history reads the code through the present address
 * space. Blocks of another one (firmware while a kernel runs, other processes)
 * are left out, just as if they were recorded with a filter.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "exec/cpu-common.h"
#include "exec/target_page.h"
#include "system/memory.h"
#include "hw/core/cpu.h"
#include "history.h"
#include "host.h"
#include "ctr/ctr.h"
#include "ctr/cycles.h"
#include "ctr/internal.h"
#include "ctr/packed.h"
#include "ctr/tb-key.h"

#define BLOCK_MAX   (1 << 20)   /* bytes without any transfer: not to believe */

typedef struct Page {
    uint64_t va;
    bool readable;
    uint8_t bytes[];
} Page;

typedef struct Walk {
    CPURISCVState *env;
    GHashTable *pages;          /* Page by its address */
    GArray *blocks;             /* RISCVCTRBlock, newest first */
    uint64_t instructions;
} Walk;

/* How the instruction at the end of a block ended */
typedef enum End {
    END_RETIRED,
    END_TRIED,                  /* it raised an exception */
    END_NOT_TRIED,              /* something else came first */
    END_FETCH,                  /* it could not be fetched, or its table */
    END_PRESENT,                /* it is what runs next: the pc */
} End;

typedef enum Result {
    WALK_OK,
    WALK_UNREADABLE,
    WALK_WRONG,                 /* this cannot have run so */
} Result;

/* Only memory: reading a device's registers may change them. */
static bool read_page(CPUState *cs, Page *page)
{
    MemTxAttrs attrs;
    hwaddr pa = cpu_get_phys_page_attrs_debug(cs, page->va, &attrs);
    hwaddr offset, len = TARGET_PAGE_SIZE;
    AddressSpace *as;
    MemoryRegion *mr;

    if (pa == -1) {
        return false;
    }
    RCU_READ_LOCK_GUARD();
    as = cpu_get_address_space(cs, cpu_asidx_from_attrs(cs, attrs));
    mr = address_space_translate(as, pa, &offset, &len, false, attrs);
    return (memory_region_is_ram(mr) || memory_region_is_romd(mr)) &&
           address_space_read(as, pa, attrs, page->bytes, TARGET_PAGE_SIZE) ==
           MEMTX_OK;
}

static const Page *get_page(Walk *w, uint64_t va)
{
    Page *page = g_hash_table_lookup(w->pages, &va);

    if (!page) {
        page = g_malloc(sizeof(*page) + TARGET_PAGE_SIZE);
        page->va = va;
        page->readable = read_page(env_cpu(w->env), page);
        g_hash_table_insert(w->pages, &page->va, page);
    }
    return page;
}

static bool read_half(Walk *w, uint64_t pc, uint32_t *half)
{
    const Page *page = get_page(w, pc & TARGET_PAGE_MASK);

    *half = page->readable ? lduw_le_p(page->bytes + (pc & ~TARGET_PAGE_MASK))
                           : 0;
    return page->readable;
}

/* The instruction at @pc and its size in bytes, 0 if it cannot be read */
static unsigned read_insn(Walk *w, uint64_t pc, uint32_t *insn)
{
    uint32_t upper;

    if ((pc & 1) || !read_half(w, pc, insn)) {
        return 0;
    }
    if ((*insn & 3) != 3) {
        return 2;
    }
    if (!read_half(w, pc + 2, &upper)) {
        return 0;
    }
    *insn |= upper << 16;
    return 4;
}

/* Jumps that are always taken: none can be inside a block. */
static bool always_jumps(CPURISCVState *env, uint32_t insn)
{
    switch (insn & 3) {
    case 1:     /* c.j; c.jal */
        return (insn & 0xe000) == 0xa000 ||
               ((insn & 0xe000) == 0x2000 && riscv_cpu_mxl(env) == MXL_RV32);
    case 2:     /* c.jr, c.jalr */
        return (insn & 0xe07f) == 0x8002 && (insn & 0x0f80);
    case 3:     /* jal, jalr */
        return (insn & 0x7f) == 0x6f || (insn & 0x7f) == 0x67;
    default:
        return false;
    }
}

static void add_block(Walk *w, uint64_t begin, uint64_t end, uint64_t n)
{
    RISCVCTRBlock block = { .begin = begin, .end = end };

    g_array_append_val(w->blocks, block);
    w->instructions += n;
}

/* The block from @begin to @end, which is before all that w has. */
static Result walk_block(Walk *w, uint64_t begin, uint64_t end, End how)
{
    uint64_t pc = begin, last = begin, n = 0;
    uint32_t insn;

    if (end - begin > BLOCK_MAX) {
        return WALK_WRONG;
    }
    while (pc != end) {
        unsigned size = read_insn(w, pc, &insn);

        if (!size) {
            return WALK_UNREADABLE;
        }
        if (pc - begin > end - begin || always_jumps(w->env, insn)) {
            return WALK_WRONG;
        }
        last = pc;
        pc += size;
        n++;
    }
    if (how == END_FETCH) {
        /* cm.jt and cm.jalt fetch twice; the first time all was well */
        how = riscv_cpu_cfg(w->env)->ext_zcmt && read_insn(w, end, &insn) &&
              (insn & 0xfc03) == 0xa002 ? END_TRIED : END_NOT_TRIED;
    }
    if (how != END_PRESENT && how != END_NOT_TRIED) {
        if (!read_insn(w, end, &insn)) {
            return WALK_UNREADABLE;
        }
        n++;
    }
    if (how != END_NOT_TRIED) {
        add_block(w, begin, end, n);
    } else if (n) {
        add_block(w, begin, last, n);
    }
    return WALK_OK;
}

static End entry_end(const RISCVCTREntry *e)
{
    if (e->type & RISCV_CTR_HOST_FETCH) {
        return END_FETCH;
    }
    if (e->type & RISCV_CTR_HOST_NOT_TRIED) {
        return END_NOT_TRIED;
    }
    switch (e->type & CTRDATA_TYPE_MASK) {
    case CTRDATA_TYPE_EXCEPTION:
        return END_TRIED;
    case CTRDATA_TYPE_INTERRUPT:
        return END_NOT_TRIED;
    default:
        return END_RETIRED;
    }
}

/*
 * Does gdb, which reads through the present mode's eyes, find at these
 * addresses what ran in the mode that @e left?
 */
static bool in_view(CPURISCVState *env, const RISCVCTREntry *e)
{
    target_ulong priv = extract64(e->type, RISCV_CTR_HOST_PRIV_SHIFT,
                                  RISCV_CTR_HOST_PRIV_BITS);
    bool virt = e->type & RISCV_CTR_HOST_VIRT;
    uint64_t present = riscv_ctr_host_space(env, env->priv, env->virt_enabled);

    if (!e->cycles || !present) {
        return !e->cycles && !present;
    }
    return virt == env->virt_enabled &&
           e->cycles == riscv_ctr_host_space(env, priv, virt);
}

static void walk_start(Walk *w, CPURISCVState *env)
{
    w->env = env;
    w->pages = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, g_free);
    w->blocks = g_array_new(false, false, sizeof(RISCVCTRBlock));
    w->instructions = 0;
}

static uint64_t present_pc(CPURISCVState *env)
{
    return riscv_cpu_mxl(env) == MXL_RV32 ? (uint32_t)env->pc : env->pc;
}

/*
 * The host's ring. @e is the transfer that ended a block, the one before it
 * says where the block began.
 */
static void walk_host(Walk *w)
{
    const RISCVCTRHost *h = &w->env->ctr_host;
    uint32_t entries = h->entries;
    size_t head = h->head - h->ring;
    uint64_t end = present_pc(w->env);
    End how = END_PRESENT;
    bool visible = true;

    for (uint32_t n = 1; n <= entries; n++) {
        RISCVCTREntry e = h->ring[(head - n) & (entries - 1)];
        Result result = WALK_UNREADABLE;

        riscv_ctr_unpack(&e);
        if (!(e.source & CTRSOURCE_VALID)) {
            break;
        }
        if (visible) {
            result = walk_block(w, e.target, end, how);
        }
        if (how == END_PRESENT && result != WALK_OK) {
            /* There must be one for where the hart is. */
            add_block(w, end, end, 0);
        }
        if (result == WALK_WRONG || (e.type & RISCV_CTR_HOST_START)) {
            break;
        }
        if (e.type & RISCV_CTR_HOST_MODE) {
            visible = in_view(w->env, &e);
        }
        how = entry_end(&e);
        end = e.source & ~(uint64_t)CTRSOURCE_VALID;
    }
}

/*
 * The guest's records: not if they are those of a stack (RASEMU). What ran
 * since recording ended, by a freeze or in a mode without, is not known.
 */
static void walk_guest(Walk *w)
{
    RISCVCTRState *s = &w->env->ctr;
    uint64_t end = present_pc(w->env);
    End how = END_PRESENT;
    bool known = s->key & RISCV_CTR_KEY_ACTIVE;

    if (!riscv_ctr_present(w->env) ||
        ((s->mctrctl | s->vsctrctl) & XCTRCTL_RASEMU)) {
        return;
    }
    for (unsigned n = 0; n < riscv_ctr_depth(s); n++) {
        RISCVCTREntry e = *riscv_ctr_entry(s, n);
        Result result = WALK_UNREADABLE;

        riscv_ctr_unpack(&e);
        if (!(e.source & CTRSOURCE_VALID)) {
            break;
        }
        if (known && e.target) {
            result = walk_block(w, e.target, end, how);
        }
        if (how == END_PRESENT && result != WALK_OK) {
            add_block(w, end, end, 0);
        }
        end = e.source & ~(uint64_t)CTRSOURCE_VALID;
        if ((known && result == WALK_WRONG) || !end) {
            break;
        }
        known = true;
        how = entry_end(&e);
    }
}

GArray *riscv_ctr_history(CPURISCVState *env)
{
    Walk host, guest;
    bool use_guest;

    walk_start(&host, env);
    walk_start(&guest, env);
    walk_host(&host);
    walk_guest(&guest);
    use_guest = guest.instructions > host.instructions;
    g_hash_table_unref(host.pages);
    g_hash_table_unref(guest.pages);
    g_array_unref(use_guest ? host.blocks : guest.blocks);
    return use_guest ? guest.blocks : host.blocks;
}
