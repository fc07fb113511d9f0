/*
 * A page of code, decoded once
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "code/code-page.h"

/* Pages of several harts are made at the same time. */
static uint64_t new_version(void)
{
    static uint64_t last;

    return __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
}

CodePage *code_page_new(void)
{
    CodePage *page = g_new0(CodePage, 1);

    page->version = new_version();
    return page;
}

void code_page_free(CodePage *page)
{
    g_free(page->ends);
    g_free(page);
}

bool code_page_put(CodePage *page, unsigned off, const uint8_t *bytes,
                   unsigned len)
{
    bool changed = false, replaced = false;

    for (unsigned i = 0; i < len; i += 2) {
        unsigned at = off + i;
        bool valid = code_page_valid(page, at);

        if (valid && memcmp(&page->bytes[at], &bytes[i], 2) == 0) {
            continue;
        }
        changed = true;
        replaced |= valid;
        page->valid[at >> 7] |= 1ull << ((at >> 1) & 63);
        memcpy(&page->bytes[at], &bytes[i], 2);
        page->wide[at >> 7] &= ~(1ull << ((at >> 1) & 63));
        page->wide[at >> 7] |= (uint64_t)(insn_length(bytes[i]) == 4) <<
                               ((at >> 1) & 63);
    }
    if (changed) {
        page->version = new_version();
    }
    if (changed && page->nr_ends) {
        memset(page->slots, 0, sizeof(page->slots));
        page->nr_ends = 0;
    }
    return replaced;
}

static unsigned add_end(CodePage *page, const CodeEnd *end)
{
    if (page->nr_ends == page->max_ends) {
        page->max_ends = MAX(32, page->max_ends * 2);
        page->ends = g_renew(CodeEnd, page->ends, page->max_ends);
    }
    page->ends[page->nr_ends] = *end;
    return page->nr_ends++;
}

/*
 * Could the instruction before the one at @off be lui, c.lui or auipc with the
 * register @rd? Nobody knows yet where it begins.
 */
static bool follows_upper(const CodePage *page, const InsnIsa *isa,
                          unsigned off, unsigned rd)
{
    for (unsigned size = 2; size <= 4; size += 2) {
        uint32_t raw;
        Insn insn;

        if (off < size) {
            return true;
        }
        raw = code_page_half(page, off - size);
        if (size == 4) {
            raw |= (uint32_t)code_page_half(page, off - 2) << 16;
        }
        insn_classify(isa, raw, &insn);
        if (insn.size == size && insn.rd == rd &&
            (insn.flags & (INSN_LUI | INSN_AUIPC))) {
            return true;
        }
    }
    return false;
}

/* Look at the instruction at @off. Returns true if it ends the line. */
static bool decode_one(const CodePage *page, const InsnIsa *isa, unsigned off,
                       CodeEnd *end)
{
    static const uint8_t kinds[] = {
        [INSN_BRANCH] = CODE_END_BRANCH,
        [INSN_JUMP] = CODE_END_JUMP,
        [INSN_UPDISCON] = CODE_END_UPDISCON,
        [INSN_XRET] = CODE_END_XRET,
    };
    uint32_t raw;
    Insn insn;

    *end = (CodeEnd) { .off = off, .kind = CODE_END_MISSING };
    if (!code_page_valid(page, off)) {
        return true;
    }
    raw = code_page_half(page, off);
    if (insn_is_long(raw)) {
        /* Vendors have branches among them: nobody knows what is next. */
        return true;
    }
    if (insn_length(raw) == 4) {
        if (off + 2 == CODE_PAGE_SIZE) {
            end->kind = CODE_END_CROSS;
            end->size = 4;
            return true;
        }
        if (!code_page_valid(page, off + 2)) {
            return true;
        }
        raw |= (uint32_t)code_page_half(page, off + 2) << 16;
    }
    insn_classify(isa, raw, &insn);
    end->size = insn.size;
    end->itype = insn.itype;
    end->offset = insn.offset;
    if (insn.kind == INSN_UPDISCON) {
        end->upper = insn.rs1 && follows_upper(page, isa, off, insn.rs1);
    }
    if (insn.kind != INSN_SEQUENTIAL) {
        end->kind = kinds[insn.kind];
        return true;
    }
    end->kind = CODE_END_PAGE;
    return off + insn.size == CODE_PAGE_SIZE;
}

const CodeSlot *code_page_decode(CodePage *page, const InsnIsa *isa,
                                 unsigned off)
{
    CodeSlot last = { 0 };
    CodeEnd end;
    unsigned at = off, count = 0;

    /* To the line's end, or to where another line was decoded before. */
    for (;;) {
        if (page->slots[at >> 1].count) {
            last = page->slots[at >> 1];
            break;
        }
        if (decode_one(page, isa, at, &end)) {
            if (at == off && end.kind == CODE_END_MISSING) {
                break;      /* nothing to remember */
            }
            last.end = add_end(page, &end);
            if (end.kind != CODE_END_MISSING) {
                last.count = 1;
                page->slots[at >> 1] = last;
            }
            break;
        }
        at += end.size;
        count++;
    }
    for (at = off; count; count--) {
        page->slots[at >> 1].count = last.count + count;
        page->slots[at >> 1].end = last.end;
        at += insn_length(code_page_half(page, at));
    }
    return &page->slots[off >> 1];
}
