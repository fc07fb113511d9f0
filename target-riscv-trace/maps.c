/*
 * RISC-V trace: address spaces, mappings and trap vectors, for the sideband
 *
 * A TB is found by physical page, so another mapping of the page runs without
 * being translated again. Therefore bytes are reported by physical address when
 * they are translated (code.c), and virtual to physical pages whenever the
 * instruction TLB is filled. The TLB is filled before a hart fetches from a
 * page that was flushed, which is also when a changed satp, vsatp or hgatp
 * shows: writing one flushes the TLB.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "qemu/error-report.h"
#include "exec/cputlb.h"
#include "exec/page-protection.h"
#include "hw/trace/etrace/sideband.h"
#include "hooks.h"
#include "internal.h"
#include "internals.h"

/*
 * Mappings kept for one hart; then they are forgotten, and those still in use
 * are reported again. Most are of processes that have ended.
 */
#define MAPS_MAX        (1u << 14)

static guint page_hash(gconstpointer p)
{
    const RISCVTracePage *page = p;
    uint64_t h = page->va / ETRACE_SB_PAGE_SIZE;

    h = (h ^ page->space.atp) * 0x9e3779b97f4a7c15ull;
    h = (h ^ page->space.gatp ^ page->virt) * 0x9e3779b97f4a7c15ull;
    return h >> 32;
}

static gboolean page_equal(gconstpointer pa, gconstpointer pb)
{
    const RISCVTracePage *a = pa, *b = pb;

    return a->va == b->va && a->virt == b->virt &&
           a->space.atp == b->space.atp && a->space.gatp == b->space.gatp;
}

/* Where @page is at hand, if it is */
static RISCVTracePage *recent_map(RISCVTraceHart *hart,
                                  const RISCVTracePage *page)
{
    return &hart->recent_maps[page_hash(page) % RISCV_TRACE_RECENT_MAPS];
}

/*
 * How @page was reported to be mapped, or NULL. Most times that the TLB is
 * filled, it is with a page that it had a while ago: these are at hand. One
 * that is all zeroes is none, as nothing is mapped where atp and gatp are 0.
 */
static const RISCVTracePage *find_map(RISCVTraceHart *hart,
                                      const RISCVTracePage *page)
{
    RISCVTracePage *recent = recent_map(hart, page);
    const RISCVTracePage *map;

    if (page_equal(recent, page)) {
        return recent;
    }
    map = g_hash_table_lookup(hart->maps, page);
    if (map) {
        *recent = *map;
    }
    return map;
}

static void add_map(RISCVTraceHart *hart, const RISCVTracePage *page)
{
    RISCVTracePage *copy = g_memdup2(page, sizeof(*page));

    g_hash_table_replace(hart->maps, copy, copy);
    *recent_map(hart, page) = *page;
}

static void forget_maps(RISCVTraceHart *hart)
{
    g_hash_table_remove_all(hart->maps);
    memset(hart->recent_maps, 0, sizeof(hart->recent_maps));
}

/* The reader knows nothing about @hart. */
static void forget_hart(RISCVTraceHart *hart)
{
    memset(hart->space, 0, sizeof(hart->space));
    memset(hart->tvec, 0, sizeof(hart->tvec));
    hart->task = (RISCVTraceTask) { };
    if (!hart->maps) {
        hart->maps = g_hash_table_new_full(page_hash, page_equal, NULL, g_free);
    }
    forget_maps(hart);
}

/*
 * Tracing may begin anew in a session: what the reader knows holds until it
 * gets to know something else.
 */
void riscv_trace_maps_start(RISCVTraceHart *hart)
{
    uint32_t session = riscv_trace_reader_session(hart->reader);

    if (!hart->maps || hart->session != session) {
        hart->session = session;
        forget_hart(hart);
    }
}

void riscv_trace_maps_reset(RISCVTraceHart *hart)
{
    uint8_t bytes[ETRACE_SB_HEADER_SIZE];
    RISCVTraceReader *reader;

    if (!riscv_trace_has_reader(hart)) {
        return;
    }
    reader = riscv_trace_reader_lock_behind_fence(hart);
    forget_hart(hart);
    riscv_trace_reader_record(reader, bytes,
                              etrace_sb_pack_reset(bytes, hart->index));
    qemu_mutex_unlock(&reader->lock);
}

static bool space_is_known(RISCVTraceHart *hart, const RISCVTracePage *page)
{
    const RISCVTraceSpace *last = &hart->space[page->virt];

    return last->atp == page->space.atp && last->gatp == page->space.gatp;
}

static bool is_bare(CPURISCVState *env, const RISCVTracePage *page)
{
    if (page->virt) {
        return false;
    }
    return riscv_cpu_mxl(env) == MXL_RV32 ? !(page->space.atp & SATP32_MODE)
                                          : !(page->space.atp & SATP64_MODE);
}

static void put_space(RISCVTraceReader *reader, unsigned index,
                      const RISCVTracePage *page)
{
    ETraceSbSpace record = {
        .virt = page->virt, .atp = page->space.atp, .gatp = page->space.gatp,
    };
    uint8_t bytes[ETRACE_SB_HEADER_SIZE + ETRACE_SB_SPACE_SIZE];

    riscv_trace_reader_record(reader, bytes,
                              etrace_sb_pack_space(bytes, index, &record));
}

static void put_map(RISCVTraceReader *reader, unsigned index,
                    const RISCVTracePage *page)
{
    ETraceSbMap record = {
        .virt = page->virt, .va = page->va, .pa = page->pa,
    };
    uint8_t bytes[ETRACE_SB_HEADER_SIZE + ETRACE_SB_MAP_SIZE];

    riscv_trace_reader_record(reader, bytes,
                              etrace_sb_pack_map(bytes, index, &record));
}

/* Report that @page is mapped so. Between TBs. */
static void report_page(RISCVTraceHart *hart, const RISCVTracePage *page)
{
    CPURISCVState *env = cpu_env(hart->cs);
    bool new_space = !space_is_known(hart, page);
    bool bare = is_bare(env, page);
    const RISCVTracePage *old = bare ? NULL : find_map(hart, page);
    bool new_page = !bare && (!old || old->pa != page->pa);
    RISCVTraceReader *reader;

    if (!new_space && !new_page) {
        return;
    }
    if (new_space || old) {
        reader = riscv_trace_reader_lock_behind_fence(hart);
    } else {
        reader = riscv_trace_reader_lock(hart);
    }
    if (new_space) {
        put_space(reader, hart->index, page);
        hart->space[page->virt] = page->space;
    }
    if (new_page) {
        put_map(reader, hart->index, page);
        add_map(hart, page);
        if (g_hash_table_size(hart->maps) > MAPS_MAX) {
            /* Not here: the TB that is being translated needs its pages. */
            riscv_trace_ask_drain(hart);
        }
    }
    qemu_mutex_unlock(&reader->lock);
}

/* There are too many: reader and hart forget them. */
static void report_forgotten(RISCVTraceHart *hart)
{
    uint8_t bytes[ETRACE_SB_HEADER_SIZE];
    RISCVTraceReader *reader;

    forget_maps(hart);
    tlb_flush(hart->cs);
    reader = riscv_trace_reader_lock_behind_fence(hart);
    riscv_trace_reader_record(reader, bytes,
                              etrace_sb_pack_forget(bytes, hart->index));
    qemu_mutex_unlock(&reader->lock);
}

/* Trap vectors that changed; the traps before this said so themselves. */
static void report_tvecs(RISCVTraceHart *hart)
{
    static const ETracePriv priv[RISCV_TRACE_TVECS] = {
        ETRACE_PRIV_M, ETRACE_PRIV_S, ETRACE_PRIV_VS
    };

    for (unsigned i = 0; i < RISCV_TRACE_TVECS; i++) {
        RISCVTraceTvec *tvec = &hart->tvec[i];
        ETraceSbTvec record = { .priv = priv[i], .value = tvec->value };
        uint8_t bytes[ETRACE_SB_HEADER_SIZE + ETRACE_SB_TVEC_SIZE];
        RISCVTraceReader *reader;

        if (!tvec->pending) {
            continue;
        }
        tvec->pending = false;
        if (riscv_trace_has_reader(hart)) {
            reader = riscv_trace_reader_lock_behind_fence(hart);
            riscv_trace_reader_record(reader, bytes,
                                      etrace_sb_pack_tvec(bytes, hart->index,
                                                          &record));
            qemu_mutex_unlock(&reader->lock);
            tvec->reported = true;
        }
    }
}

void riscv_trace_maps_pending(RISCVTraceHart *hart)
{
    bool full = g_hash_table_size(hart->maps) > MAPS_MAX;

    report_tvecs(hart);
    if (!hart->pending->len && !full) {
        return;
    }
    /* report_page() may flush the ring, but adds nothing to the list. */
    for (guint i = 0; i < hart->pending->len; i++) {
        report_page(hart, &g_array_index(hart->pending, RISCVTracePage, i));
    }
    g_array_set_size(hart->pending, 0);
    if (full) {
        report_forgotten(hart);
    }
    /*
     * TBs of one page jump to each other without a look at the TLB. Leave
     * them, so that the next fetch goes through the mapping just reported.
     */
    cpu_exit(hart->cs);
}

/* The page of @va for instruction fetches with V = @virt, without its pa */
static RISCVTracePage page_of(CPURISCVState *env, vaddr va, bool virt)
{
    RISCVTracePage page = {
        .va = va & ~(uint64_t)(ETRACE_SB_PAGE_SIZE - 1),
        .virt = virt,
    };

    /* While V is 1, satp is swapped with vsatp. */
    page.space.atp = virt && !env->virt_enabled ? env->vsatp : env->satp;
    page.space.gatp = virt ? env->hgatp : 0;
    return page;
}

void riscv_trace_tlb_fill(CPURISCVState *env, vaddr va, hwaddr pa, int prot,
                          int mmu_idx, uintptr_t retaddr)
{
    RISCVTraceHart *hart = env->trace.hart;
    RISCVTracePage page;

    if (!(prot & PAGE_EXEC) || !riscv_trace_has_reader(hart)) {
        return;
    }
    /* M mode fetches from physical addresses, S_SUM is for data only. */
    if (mmuidx_priv(mmu_idx) == PRV_M || mmuidx_sum(mmu_idx)) {
        return;
    }
    page = page_of(env, va, mmuidx_2stage(mmu_idx));
    page.pa = pa & ~(uint64_t)(ETRACE_SB_PAGE_SIZE - 1);
    if (retaddr) {
        /* The TB that runs is still the one of the old mapping. */
        g_array_append_val(hart->pending, page);
        riscv_trace_ask_drain(hart);
    } else {
        report_page(hart, &page);
    }
}

bool riscv_trace_maps_find(RISCVTraceHart *hart, vaddr va, uint64_t *pa)
{
    CPURISCVState *env = cpu_env(hart->cs);
    RISCVTracePage page = page_of(env, va, env->virt_enabled);
    const RISCVTracePage *map;

    if (env->priv == PRV_M || is_bare(env, &page)) {
        *pa = page.va;
        return true;
    }
    /* The fetch filled the TLB, which reported the page. */
    map = find_map(hart, &page);
    if (!map) {
        warn_report_once("hart %u: code at 0x%" VADDR_PRIx " is missing in the "
                         "sideband", hart->index, va);
        return false;
    }
    *pa = map->pa;
    return true;
}
