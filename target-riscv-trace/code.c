/*
 * RISC-V trace: the bytes of the code that ran, for the sideband
 *
 * Reported by physical address, when they are translated and a reader does not
 * know them. See reader.c for what is done when they change.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "exec/mmap-lock.h"
#include "exec/target_page.h"
#include "exec/translation-block.h"
#include "hw/trace/etrace/sideband.h"
#include "hooks.h"
#include "internal.h"

#define CODE_PAGE_SIZE  ETRACE_SB_PAGE_SIZE
#define CODE_PAGE_MASK  (~(uint64_t)(CODE_PAGE_SIZE - 1))

/* A physical page as the reader knows it. */
typedef struct CodePage {
    uint64_t pa;
    uint64_t known[CODE_PAGE_SIZE / 2 / 64];         /* bit per half-word */
    uint8_t bytes[CODE_PAGE_SIZE];
} CodePage;

static bool half_known(const CodePage *page, unsigned half)
{
    return (page->known[half / 64] >> (half % 64)) & 1;
}

/* What the reader would learn from @bytes at @pa (inside one page). */
typedef enum { CODE_KNOWN, CODE_NEW, CODE_CHANGED } CodeNews;

static CodeNews code_news(RISCVTraceReader *reader, uint64_t pa,
                          const uint8_t *bytes, unsigned len)
{
    uint64_t base = pa & CODE_PAGE_MASK;
    const CodePage *page = g_hash_table_lookup(reader->pages, &base);
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

static void report_code(RISCVTraceReader *reader, uint64_t pa,
                        const uint8_t *bytes, unsigned len)
{
    uint64_t base = pa & CODE_PAGE_MASK;
    CodePage *page = g_hash_table_lookup(reader->pages, &base);
    uint8_t record[ETRACE_SB_HEADER_SIZE + 8 + CODE_PAGE_SIZE];

    if (!page) {
        page = g_new0(CodePage, 1);
        page->pa = base;
        g_hash_table_insert(reader->pages, &page->pa, page);
    }
    memcpy(page->bytes + (pa - base), bytes, len);
    for (unsigned ofs = pa - base; ofs < pa - base + len; ofs += 2) {
        page->known[ofs / 128] |= 1ull << (ofs / 2 % 64);
    }
    riscv_trace_reader_record(reader, record,
                              etrace_sb_pack_code(record, pa, bytes, len));
}

/*
 * In the hart's thread, between two TBs, whether it is traced or not. QEMU
 * drops the TBs of a page before bytes are stored to it, so that another hart
 * may translate the old bytes once more, and run them for good: none of those
 * may run behind the hart's place.
 */
static void place_work(CPUState *cs, run_on_cpu_data data)
{
    RISCVTraceHart *hart = riscv_trace_hart(cs);
    tb_page_addr_t page = data.target_ptr;

    if (!hart) {
        return;             /* the child of fork() that it was not queued for */
    }
    riscv_trace_work_begin(cs);
    riscv_trace_reader_place(hart);
    if (page != -1) {
        page &= TARGET_PAGE_MASK;
        mmap_lock();
        tb_invalidate_phys_range(NULL, page, page + TARGET_PAGE_SIZE - 1);
        mmap_unlock();
    }
    riscv_trace_work_end(cs);
}

/*
 * Known bytes of @page are going to be others. The lock is held, and stays so
 * until every hart has been kicked: see reader.c. Harts that are not traced
 * now may have been before, so they are kicked, too.
 */
static void announce_change(RISCVTraceReader *reader, tb_page_addr_t page)
{
    uint8_t record[ETRACE_SB_HEADER_SIZE + 8];
    RISCVTraceHart *hart;

    qatomic_set_u64(&reader->change, reader->change + 1);
    riscv_trace_reader_record(reader, record,
                              etrace_sb_pack_change(record, reader->change));
    QLIST_FOREACH(hart, &reader->harts, next) {
        async_run_on_cpu(hart->cs, place_work, RUN_ON_CPU_TARGET_PTR(page));
    }
}

/* @page: where QEMU has the page that @pa is in */
static void code_at(RISCVTraceHart *hart, uint64_t pa, tb_page_addr_t page,
                    const uint8_t *bytes, unsigned len)
{
    uint64_t announced = 0;

    for (;;) {
        RISCVTraceReader *reader = riscv_trace_reader_lock(hart);
        CodeNews news = code_news(reader, pa, bytes, len);

        /*
         * The lock is given up between the announcement and the bytes, for
         * this hart's own place. Another hart may have replaced bytes since.
         */
        if (news != CODE_CHANGED || announced > reader->replaced) {
            if (news == CODE_CHANGED) {
                reader->replaced = reader->change;
            }
            if (news != CODE_KNOWN) {
                report_code(reader, pa, bytes, len);
            }
            qemu_mutex_unlock(&reader->lock);
            return;
        }
        announce_change(reader, page);
        announced = reader->change;
        qemu_mutex_unlock(&reader->lock);
    }
}

/* Where QEMU has the first or the second page of a TB */
static tb_page_addr_t tb_page(const DisasContextBase *db, unsigned which)
{
#ifdef CONFIG_USER_ONLY
    return (db->pc_first & TARGET_PAGE_MASK) + which * TARGET_PAGE_SIZE;
#else
    return db->tb->page_addr[which];
#endif
}

void riscv_trace_translated(CPURISCVState *env, const DisasContextBase *db)
{
    RISCVTraceHart *hart = env->trace.hart;
    g_autofree uint8_t *bytes = NULL;
    vaddr va = db->pc_first;
    unsigned len = db->tb->size, done = 0;
    uint64_t page;

    if (!riscv_trace_has_reader(hart)) {
        return;
    }
    bytes = g_malloc(len);
    if (!translator_st(db, bytes, va, len)) {
        return;
    }
    while (done < len) {
        unsigned ofs = (va + done) & ~CODE_PAGE_MASK;
        unsigned n = MIN(len - done, CODE_PAGE_SIZE - ofs);

        if (riscv_trace_maps_find(hart, va + done, &page)) {
            code_at(hart, page + ofs, tb_page(db, done != 0), bytes + done, n);
        }
        done += n;
    }
}
