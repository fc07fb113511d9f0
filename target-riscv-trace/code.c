/*
 * RISC-V trace: the code that ran (sideband stream)
 *
 * Two traps decide the shape of this file.
 *
 * A TB is found by physical page, so another mapping of the page runs without
 * being translated again. Therefore bytes are told by physical address when
 * they are translated, and virtual to physical pages whenever the instruction
 * TLB is filled. The TLB is filled before a hart fetches from a page that was
 * flushed, which is also when a changed satp, vsatp or hgatp shows: writing
 * one flushes the TLB.
 *
 * Packets lag behind retirement. Therefore whatever replaces something that a
 * hart's reader may still need is put behind a fence, at a TB boundary of the
 * hart, where its packet window is closed.
 *
 * Bytes that change concern every hart. CHANGE announces them; each hart's
 * PLACE says where in its packets that is. Whatever a hart adds to the stream
 * behind CHANGE its reader sees only behind its PLACE. Therefore the lock is
 * held from CHANGE until every other hart has been kicked, so that no TB which
 * is published later can run before its hart's PLACE; and a hart puts its
 * PLACE before it puts anything else.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "qemu/lockable.h"
#include "qemu/thread.h"
#include "exec/cputlb.h"
#include "exec/exec-all.h"
#include "exec/tb-flush.h"
#include "exec/page-protection.h"
#include "exec/translation-block.h"
#include "hw/trace/etrace/sideband.h"
#include "hooks.h"
#include "internal.h"
#include "internals.h"

#define CODE_PAGE_SIZE  ETRACE_SB_PAGE_SIZE
#define CODE_PAGE_MASK  (~(uint64_t)(CODE_PAGE_SIZE - 1))

/* Mappings kept for one hart; then they are forgotten and told again. */
#define MAPS_MAX        (1u << 20)

/* A physical page as the reader knows it. */
typedef struct CodePage {
    uint64_t pa;
    uint64_t known[CODE_PAGE_SIZE / 2 / 64];         /* bit per half-word */
    uint8_t bytes[CODE_PAGE_SIZE];
} CodePage;

/* The machine has one trace system, hence one sideband stream. */
static struct {
    QemuMutex lock;             /* of what follows, but for session */
    uint32_t session;           /* number of the present one, atomic */
    RISCVTraceRecordFn *put;    /* NULL: nobody reads */
    void *opaque;
    uint64_t change;            /* id of the last CHANGE, atomic */
    uint64_t replaced;          /* value of change when bytes were replaced */
    GHashTable *pages;          /* CodePage by pa */
} code;

static void __attribute__((constructor)) code_init(void)
{
    qemu_mutex_init(&code.lock);
    code.pages = g_hash_table_new_full(g_int64_hash, g_int64_equal,
                                       NULL, g_free);
}

/* Records. code.lock is held. */

static void put_record(ETraceSbType type, unsigned hart,
                       const uint8_t *payload, size_t len)
{
    g_autofree uint8_t *rec = g_malloc(ETRACE_SB_HEADER_SIZE + len);

    if (!code.put) {
        return;
    }
    etrace_sb_put(rec, type, 2);
    etrace_sb_put(rec + 2, hart, 2);
    etrace_sb_put(rec + 4, len, 4);
    if (len) {
        memcpy(rec + ETRACE_SB_HEADER_SIZE, payload, len);
    }
    if (!code.put(code.opaque, rec, ETRACE_SB_HEADER_SIZE + len)) {
        qatomic_set(&code.put, NULL);
    }
}

static void put_words(ETraceSbType type, unsigned hart,
                      const uint64_t *words, size_t n)
{
    g_autofree uint8_t *payload = g_malloc(8 * n);

    for (size_t i = 0; i < n; i++) {
        etrace_sb_put(payload + 8 * i, words[i], 8);
    }
    put_record(type, hart, payload, 8 * n);
}

#define PUT_WORDS(type, hart, ...) do {                         \
        const uint64_t words_[] = { __VA_ARGS__ };              \
        put_words(type, hart, words_, ARRAY_SIZE(words_));      \
    } while (0)

static void put_params(unsigned hart, const ETraceParams *p,
                       CPURISCVState *env)
{
    const RISCVCPUConfig *cfg = riscv_cpu_cfg(env);
    uint32_t isa = (cfg->ext_zcmp ? ETRACE_SB_ISA_ZCMP : 0) |
                   (cfg->ext_zcmt ? ETRACE_SB_ISA_ZCMT : 0);
    uint8_t payload[ETRACE_SB_PARAMS_SIZE] = {
        p->wire_format, p->iaddress_width, p->iaddress_lsb,
        p->privilege_width, p->ecause_width, p->time_width, p->context_width,
        p->call_counter_size, p->return_stack_size, p->bpred_size,
        p->cache_size, p->f0s_width, p->src_bits, p->ts_bytes,
    };

    etrace_sb_put(payload + 14, p->src_id, 2);
    etrace_sb_put(payload + 16, env->mhartid, 8);
    etrace_sb_put(payload + 24, isa, 4);
    payload[28] = p->sijump;
    payload[29] = p->data_width;
    payload[30] = p->daddress_width;
    payload[31] = p->lrid_width;
    put_record(ETRACE_SB_PARAMS, hart, payload, sizeof(payload));
}

/* Sessions */

uint32_t riscv_trace_session(void)
{
    return qatomic_read(&code.session);
}

void riscv_trace_session_begin(RISCVTraceRecordFn *put, void *opaque,
                               unsigned nharts, const ETraceParams *params,
                               uint64_t trace_offset)
{
    uint8_t payload[32] = ETRACE_SB_MAGIC;
    CPUState *cs;

    QEMU_LOCK_GUARD(&code.lock);
    qatomic_set(&code.session, code.session + 1);
    if (!((uint64_t)code.session << RISCV_TRACE_KEY_SESSION_SHIFT)) {
        /*
         * TBs of the session that had this number in their key may be left;
         * and no key is 0.
         */
        qatomic_set(&code.session, code.session + 1);
        tb_flush(first_cpu);
    }
    qatomic_set(&code.put, put);
    code.opaque = opaque;
    g_hash_table_remove_all(code.pages);

    etrace_sb_put(payload + 8, ETRACE_SB_VERSION_MAJOR, 2);
    etrace_sb_put(payload + 10, ETRACE_SB_VERSION_MINOR, 2);
    etrace_sb_put(payload + 12, nharts, 2);
    etrace_sb_put(payload + 14, 0, 2);
    etrace_sb_put(payload + 16, code.session, 4);
    etrace_sb_put(payload + 20, 0, 4);
    etrace_sb_put(payload + 24, trace_offset, 8);
    put_record(ETRACE_SB_SESSION, ETRACE_SB_ALL_HARTS,
               payload, sizeof(payload));
    RCU_READ_LOCK_GUARD();
    CPU_FOREACH(cs) {
        RISCVTraceHart *hart = riscv_trace_hart(cs);

        if (hart) {
            /* What was announced before is of no use to the new reader. */
            hart->change = code.change;
            if (hart->index < nharts) {
                put_params(hart->index, &params[hart->index], cpu_env(cs));
            }
        }
    }
}

void riscv_trace_session_end(void)
{
    QEMU_LOCK_GUARD(&code.lock);
    qatomic_set(&code.put, NULL);
}

void riscv_trace_session_align(uint64_t trace_offset, const uint64_t *packets,
                               unsigned nharts)
{
    g_autofree uint64_t *words = g_new(uint64_t, 1 + nharts);

    words[0] = trace_offset;
    memcpy(words + 1, packets, nharts * sizeof(*packets));
    QEMU_LOCK_GUARD(&code.lock);
    put_words(ETRACE_SB_ALIGN, ETRACE_SB_ALL_HARTS, words, 1 + nharts);
}

void riscv_trace_session_ram(const uint64_t *words, unsigned n)
{
    QEMU_LOCK_GUARD(&code.lock);
    put_words(ETRACE_SB_RAM, ETRACE_SB_ALL_HARTS, words, n);
}

/* True if @hart's trace belongs to a session that somebody reads. */
static bool is_told(RISCVTraceHart *hart)
{
    return hart && hart->active && qatomic_read(&code.put) &&
           hart->session == riscv_trace_session();
}

/* Address spaces and pages of a hart */

static guint page_hash(gconstpointer p)
{
    const RISCVTracePage *page = p;
    uint64_t h = page->va / CODE_PAGE_SIZE;

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

/* The reader knows nothing about @hart. */
static void forget_hart(RISCVTraceHart *hart)
{
    memset(hart->space, 0, sizeof(hart->space));
    memset(hart->tvec, 0, sizeof(hart->tvec));
    if (hart->maps) {
        g_hash_table_destroy(hart->maps);
    }
    hart->maps = g_hash_table_new_full(page_hash, page_equal, NULL, g_free);
}

/*
 * Tracing may begin anew in a session: what the reader knows holds until it
 * gets to know something else.
 */
void riscv_trace_code_start(RISCVTraceHart *hart)
{
    if (!hart->maps || hart->session != riscv_trace_session()) {
        hart->session = riscv_trace_session();
        forget_hart(hart);
    }
}

/*
 * Everything that @hart retired so far has been put into packets; the reader
 * is to consume them before it reads on. In the hart's thread, between TBs.
 */
static uint64_t close_window(RISCVTraceHart *hart)
{
    uint64_t packets;
    bool can_do_io;

    riscv_trace_flush(hart);
    if (riscv_trace_key_is_sparse(cpu_env(hart->cs)->trace.key)) {
        /* A TB that is being looked up or translated has the old key. */
        cpu_exit(hart->cs);
    }
    riscv_trace_history_off(hart);
    can_do_io = riscv_trace_clock_begin(hart);
    packets = hart->ops->fence(hart->opaque);
    riscv_trace_clock_end(hart, can_do_io);
    return packets;
}

/* Put @hart's place of each change that was announced since its last one. */
void riscv_trace_code_place(RISCVTraceHart *hart)
{
    uint64_t packets;

    if (hart->change == qatomic_read(&code.change)) {
        return;
    }
    packets = close_window(hart);
    QEMU_LOCK_GUARD(&code.lock);
    while (hart->change != code.change) {
        hart->change++;
        PUT_WORDS(ETRACE_SB_PLACE, hart->index, hart->change, packets);
    }
}

/* Take the lock, with @hart's place of every change in the stream. */
static void lock_in_place(RISCVTraceHart *hart)
{
    for (;;) {
        riscv_trace_code_place(hart);
        qemu_mutex_lock(&code.lock);
        if (hart->change == code.change) {
            return;
        }
        qemu_mutex_unlock(&code.lock);
    }
}

/* Close @hart's window and begin a record behind a fence there. */
static void lock_behind_fence(RISCVTraceHart *hart)
{
    uint64_t packets = close_window(hart);

    lock_in_place(hart);
    PUT_WORDS(ETRACE_SB_FENCE, hart->index, packets);
}

void riscv_trace_code_reset(RISCVTraceHart *hart)
{
    if (!is_told(hart)) {
        return;
    }
    lock_behind_fence(hart);
    forget_hart(hart);
    put_record(ETRACE_SB_RESET, hart->index, NULL, 0);
    qemu_mutex_unlock(&code.lock);
}

static bool space_is_told(RISCVTraceHart *hart, const RISCVTracePage *page)
{
    const RISCVTraceSpace *told = &hart->space[page->virt];

    return told->atp == page->space.atp && told->gatp == page->space.gatp;
}

static bool is_bare(CPURISCVState *env, const RISCVTracePage *page)
{
    if (page->virt) {
        return false;
    }
    return riscv_cpu_mxl(env) == MXL_RV32 ? !(page->space.atp & SATP32_MODE)
                                          : !(page->space.atp & SATP64_MODE);
}

/* Tell that @page is mapped so. Between TBs. */
static void tell_page(RISCVTraceHart *hart, const RISCVTracePage *page)
{
    CPURISCVState *env = cpu_env(hart->cs);
    bool new_space = !space_is_told(hart, page);
    bool bare = is_bare(env, page);
    RISCVTracePage *old = bare ? NULL : g_hash_table_lookup(hart->maps, page);
    bool new_page = !bare && (!old || old->pa != page->pa);

    if (!new_space && !new_page) {
        return;
    }
    if (new_space || old) {
        lock_behind_fence(hart);
    } else {
        lock_in_place(hart);
    }
    if (new_space) {
        PUT_WORDS(ETRACE_SB_SPACE, hart->index, page->virt,
                  page->space.atp, page->space.gatp);
        hart->space[page->virt] = page->space;
    }
    if (new_page) {
        RISCVTracePage *copy = g_memdup2(page, sizeof(*page));

        PUT_WORDS(ETRACE_SB_MAP, hart->index, page->virt, page->va, page->pa);
        g_hash_table_replace(hart->maps, copy, copy);
        if (g_hash_table_size(hart->maps) > MAPS_MAX) {
            /* Not here: the TB that is being translated needs its pages. */
            riscv_trace_interrupt_tb(hart);
        }
    }
    qemu_mutex_unlock(&code.lock);
}

static void forget_maps(RISCVTraceHart *hart)
{
    g_hash_table_remove_all(hart->maps);
    tlb_flush(hart->cs);
    lock_behind_fence(hart);
    put_record(ETRACE_SB_FORGET, hart->index, NULL, 0);
    qemu_mutex_unlock(&code.lock);
}

/* Trap vectors that changed; the traps before this said so themselves. */
static void tell_tvecs(RISCVTraceHart *hart)
{
    static const ETracePriv priv[RISCV_TRACE_TVECS] = {
        ETRACE_PRIV_M, ETRACE_PRIV_S, ETRACE_PRIV_VS
    };

    for (unsigned i = 0; i < RISCV_TRACE_TVECS; i++) {
        RISCVTraceTvec *tvec = &hart->tvec[i];

        if (!tvec->pending) {
            continue;
        }
        tvec->pending = false;
        if (is_told(hart)) {
            lock_behind_fence(hart);
            PUT_WORDS(ETRACE_SB_TVEC, hart->index, priv[i], tvec->value);
            qemu_mutex_unlock(&code.lock);
            tvec->told = true;
        }
    }
}

void riscv_trace_code_pending(RISCVTraceHart *hart)
{
    bool full = g_hash_table_size(hart->maps) > MAPS_MAX;

    tell_tvecs(hart);
    if (!hart->pending->len && !full) {
        return;
    }
    /* tell_page() may flush the ring, but adds nothing to the list. */
    for (guint i = 0; i < hart->pending->len; i++) {
        tell_page(hart, &g_array_index(hart->pending, RISCVTracePage, i));
    }
    g_array_set_size(hart->pending, 0);
    if (full) {
        forget_maps(hart);
    }
    /*
     * TBs of one page jump to each other without a look at the TLB. Leave
     * them, so that the next fetch goes through the mapping just told.
     */
    cpu_exit(hart->cs);
}

/* The page of @va for instruction fetches with V = @virt, without its pa */
static RISCVTracePage page_of(CPURISCVState *env, vaddr va, bool virt)
{
    RISCVTracePage page = { .va = va & CODE_PAGE_MASK, .virt = virt };

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

    if (!(prot & PAGE_EXEC) || !is_told(hart)) {
        return;
    }
    /* M mode fetches from physical addresses, S_SUM is for data only. */
    if (mmuidx_priv(mmu_idx) == PRV_M || mmuidx_sum(mmu_idx)) {
        return;
    }
    page = page_of(env, va, mmuidx_2stage(mmu_idx));
    page.pa = pa & CODE_PAGE_MASK;
    if (retaddr) {
        /* The TB that runs is still the one of the old mapping. */
        g_array_append_val(hart->pending, page);
        riscv_trace_interrupt_tb(hart);
    } else {
        tell_page(hart, &page);
    }
}

/* Code bytes */

static bool half_known(const CodePage *page, unsigned half)
{
    return (page->known[half / 64] >> (half % 64)) & 1;
}

/* What the reader would learn from @bytes at @pa (inside one page). */
typedef enum { CODE_KNOWN, CODE_NEW, CODE_CHANGED } CodeNews;

static CodeNews code_news(uint64_t pa, const uint8_t *bytes, unsigned len)
{
    uint64_t base = pa & CODE_PAGE_MASK;
    const CodePage *page = g_hash_table_lookup(code.pages, &base);
    unsigned start = pa - base;
    CodeNews news = CODE_KNOWN;

    if (!page) {
        return CODE_NEW;
    }
    for (unsigned ofs = start; ofs < start + len; ofs += 2) {
        if (!half_known(page, ofs / 2)) {
            news = CODE_NEW;
        } else if (memcmp(page->bytes + ofs, bytes + ofs - start, 2)) {
            return CODE_CHANGED;
        }
    }
    return news;
}

static void tell_code(uint64_t pa, const uint8_t *bytes, unsigned len)
{
    uint64_t base = pa & CODE_PAGE_MASK;
    CodePage *page = g_hash_table_lookup(code.pages, &base);
    uint8_t payload[8 + CODE_PAGE_SIZE];

    if (!page) {
        page = g_new0(CodePage, 1);
        page->pa = base;
        g_hash_table_insert(code.pages, &page->pa, page);
    }
    memcpy(page->bytes + (pa - base), bytes, len);
    for (unsigned ofs = pa - base; ofs < pa - base + len; ofs += 2) {
        page->known[ofs / 128] |= 1ull << (ofs / 2 % 64);
    }
    etrace_sb_put(payload, pa, 8);
    memcpy(payload + 8, bytes, len);
    put_record(ETRACE_SB_CODE, ETRACE_SB_ALL_HARTS, payload, 8 + len);
}

/*
 * In the hart's thread, between two TBs, whether it is traced or not. QEMU
 * drops the TBs of a page before bytes are stored to it, so that another hart
 * may translate the old bytes once more, and run them for good: none of those
 * may run behind the hart's place.
 */
static void place_work(CPUState *cs, run_on_cpu_data data)
{
    tb_page_addr_t page = data.target_ptr;

    riscv_trace_code_place(riscv_trace_hart(cs));
    if (page != -1) {
        page &= TARGET_PAGE_MASK;
        tb_invalidate_phys_range(page, page + TARGET_PAGE_SIZE - 1);
    }
}

/*
 * Known bytes of @page are going to be others. The lock is held, and stays so
 * until every hart has been kicked: see the top of this file. Harts that are
 * not traced now may have been before, so they are kicked, too.
 */
static void announce_change(tb_page_addr_t page)
{
    CPUState *cs;

    qatomic_set(&code.change, code.change + 1);
    PUT_WORDS(ETRACE_SB_CHANGE, ETRACE_SB_ALL_HARTS, code.change);
    RCU_READ_LOCK_GUARD();
    CPU_FOREACH(cs) {
        RISCVTraceHart *hart = riscv_trace_hart(cs);

        if (hart) {
            async_run_on_cpu(cs, place_work, RUN_ON_CPU_TARGET_PTR(page));
        }
    }
}

/* @page: where QEMU has the page that @pa is in */
static void code_at(RISCVTraceHart *hart, uint64_t pa, tb_page_addr_t page,
                    const uint8_t *bytes, unsigned len)
{
    uint64_t announced = 0;

    for (;;) {
        CodeNews news;

        lock_in_place(hart);
        news = code_news(pa, bytes, len);
        /*
         * The lock is given up between the announcement and the bytes, for
         * this hart's own place. Another hart may have replaced bytes since.
         */
        if (news != CODE_CHANGED || announced > code.replaced) {
            if (news == CODE_CHANGED) {
                code.replaced = code.change;
            }
            if (news != CODE_KNOWN) {
                tell_code(pa, bytes, len);
            }
            qemu_mutex_unlock(&code.lock);
            return;
        }
        announce_change(page);
        announced = code.change;
        qemu_mutex_unlock(&code.lock);
    }
}

void riscv_trace_translated(CPURISCVState *env, const DisasContextBase *db)
{
    RISCVTraceHart *hart = env->trace.hart;
    g_autofree uint8_t *bytes = NULL;
    vaddr va = db->pc_first;
    unsigned len = db->tb->size, done = 0;
    bool virt = env->virt_enabled;

    if (!is_told(hart)) {
        return;
    }
    bytes = g_malloc(len);
    if (!translator_st(db, bytes, va, len)) {
        return;
    }
    while (done < len) {
        RISCVTracePage page = page_of(env, va + done, virt);
        unsigned ofs = (va + done) & ~CODE_PAGE_MASK;
        unsigned n = MIN(len - done, CODE_PAGE_SIZE - ofs);
        uint64_t pa = page.va;

        if (env->priv != PRV_M && !is_bare(env, &page)) {
            const RISCVTracePage *map = g_hash_table_lookup(hart->maps, &page);

            /* The fetch filled the TLB, which told the page. */
            g_assert(map);
            pa = map->pa;
        }
        code_at(hart, pa + ofs,
                done ? tb_page_addr1(db->tb) : tb_page_addr0(db->tb),
                bytes + done, n);
        done += n;
    }
}
