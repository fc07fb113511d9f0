/*
 * The program that a hart runs: from virtual address to decoded code
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "code/image.h"

Image *image_new(const InsnIsa *isa, const Sideband *sb, unsigned hart,
                 ElfCode *elf)
{
    Image *im = g_new0(Image, 1);

    im->isa = *isa;
    im->elf = elf;
    im->generation = 1;
    if (sb) {
        im->view = sideband_view_new(sb, hart);
        image_advance(im, 0);
    }
    return im;
}

void image_free(Image *im)
{
    g_clear_pointer(&im->view, sideband_view_free);
    g_free(im);
}

void image_restart(Image *im, const Sideband *sb)
{
    if (im->view) {
        im->generation++;
        sideband_view_restart(im->view, sb);
        image_advance(im, 0);
    }
}

void image_advance(Image *im, uint64_t packets)
{
    if (!im->view) {
        return;
    }
    im->generation += sideband_view_advance(im->view, packets);
    im->epoch++;
    /* Cheap next to what stands between two barriers. */
    memset(im->cache, 0, sizeof(im->cache));
}

void image_grown(Image *im)
{
    if (im->view) {
        sideband_view_grown(im->view);
        im->epoch++;
    }
}

uint64_t image_barrier(const Image *im)
{
    return im->view ? sideband_view_barrier(im->view) : UINT64_MAX;
}

bool image_fenced(const Image *im, uint64_t packets)
{
    return im->view && sideband_view_fenced(im->view, packets);
}

unsigned image_space(const Image *im, unsigned priv)
{
    return im->view ? sideband_view_space(im->view, priv) : 0;
}

bool image_tvec(const Image *im, unsigned priv, uint64_t *xtvec)
{
    return im->view && sideband_view_tvec(im->view, priv, xtvec);
}

const ETraceSbRegs *image_registers(const Image *im, uint64_t packets)
{
    return im->view ? sideband_view_registers(im->view, packets) : NULL;
}

bool image_task(const Image *im, SidebandTask *task)
{
    if (!im->view) {
        *task = (SidebandTask) { 0 };
        return false;
    }
    return sideband_view_task(im->view, task);
}

bool image_next_note(Image *im, SidebandNote *note)
{
    return im->view && sideband_view_next_note(im->view, note);
}

CodePage *image_page_slow(Image *im, unsigned regime, unsigned priv,
                          uint64_t vaddr)
{
    uint64_t vpage = vaddr >> CODE_PAGE_BITS;
    ImageCacheEntry *e = &im->cache[regime][vpage & (IMAGE_CACHE_SIZE - 1)];
    CodePage *page = NULL;

    if (im->view) {
        page = sideband_view_page(im->view, priv, vaddr);
    } else if (im->elf) {
        page = elf_code_page(im->elf, vaddr);
    }
    if (page) {
        im->crowded = (im->view ? sideband_view_nr_pages(im->view)
                                : elf_code_nr_pages(im->elf)) >
                      IMAGE_MAX_PAGES;
        e->vpage = vpage;
        e->page = page;
    }
    return page;
}

void image_trim_slow(Image *im)
{
    if (im->view) {
        sideband_view_trim(im->view);
    } else {
        elf_code_trim(im->elf);
    }
    memset(im->cache, 0, sizeof(im->cache));
    im->epoch++;
    im->crowded = false;
}

bool image_raw(Image *im, unsigned priv, uint64_t vaddr, uint64_t mask,
               uint32_t *raw)
{
    CodePage *page = image_page(im, priv, vaddr);
    unsigned off = vaddr & CODE_PAGE_MASK;

    if (!page || (off & 1) || !code_page_valid(page, off)) {
        return false;
    }
    *raw = code_page_half(page, off);
    if (insn_length(*raw) == 4) {
        off += 2;
        if (off == CODE_PAGE_SIZE) {
            page = image_page(im, priv, (vaddr + 2) & mask);
            off = 0;
        }
        if (!page || !code_page_valid(page, off)) {
            return false;
        }
        *raw |= (uint32_t)code_page_half(page, off) << 16;
    }
    return true;
}

bool image_insn(Image *im, unsigned priv, uint64_t vaddr, uint64_t mask,
                Insn *insn)
{
    uint32_t raw;

    if (!image_raw(im, priv, vaddr, mask, &raw)) {
        return false;
    }
    insn_classify(&im->isa, raw, insn);
    return true;
}
