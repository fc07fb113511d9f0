/*
 * The program that a hart runs: from virtual address to decoded code
 *
 * Code comes from the hart's view of the sideband stream or, without one,
 * from ELF files. A small cache in front keeps the usual fetch cheap.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_IMAGE_H
#define ETRACE_IMAGE_H

#include "code/code-page.h"
#include "code/elf-code.h"
#include "code/sideband.h"

#define IMAGE_CACHE_BITS    10
#define IMAGE_CACHE_SIZE    (1u << IMAGE_CACHE_BITS)

typedef enum ImageRegime {
    IMAGE_PHYSICAL,
    IMAGE_SUPERVISOR,       /* S and U */
    IMAGE_VIRTUAL,          /* VS and VU */
    IMAGE_NR_REGIMES,
} ImageRegime;

typedef struct ImageCacheEntry {
    uint64_t vpage;
    CodePage *page;         /* NULL: the entry is empty */
} ImageCacheEntry;

typedef struct Image {
    InsnIsa isa;
    SidebandView *view;     /* NULL: code comes from @elf */
    ElfCode *elf;           /* not ours; may be NULL */
    bool crowded;           /* image_trim() has something to do */
    /*
     * From 1 on; changes when addresses may lead to other bytes than before,
     * or to those of another program, or be called otherwise: who remembers
     * one of these gets the same as who asks for the first time
     */
    unsigned generation;
    /* Changes, and never back, when pages may be others than before */
    uint64_t epoch;
    ImageCacheEntry cache[IMAGE_NR_REGIMES][IMAGE_CACHE_SIZE];
} Image;

/*
 * @sb and @elf, either of which may be NULL, must live as long as the image.
 * Code comes from @sb if there is one.
 */
Image *image_new(const InsnIsa *isa, const Sideband *sb, unsigned hart,
                 ElfCode *elf);
void image_free(Image *im);

/*
 * The trace goes on in another part: @sb replaces the sideband, if there was
 * one. See sideband_view_restart().
 */
void image_restart(Image *im, const Sideband *sb);

/* The decoder has consumed @packets of the hart's packets. */
void image_advance(Image *im, uint64_t packets);

/* See sideband_view_grown(). */
void image_grown(Image *im);

/* See sideband_view_barrier(). */
uint64_t image_barrier(const Image *im);

/* See sideband_view_fenced(). */
bool image_fenced(const Image *im, uint64_t packets);

/* See sideband_view_space(). */
unsigned image_space(const Image *im, unsigned priv);

/* See sideband_view_tvec(). */
bool image_tvec(const Image *im, unsigned priv, uint64_t *xtvec);

/* See sideband_view_registers(). */
const ETraceSbRegs *image_registers(const Image *im, uint64_t packets);

/* See sideband_view_task(). */
bool image_task(const Image *im, SidebandTask *task);

/* See sideband_view_next_note(). */
bool image_next_note(Image *im, SidebandNote *note);

CodePage *image_page_slow(Image *im, unsigned regime, unsigned priv,
                          uint64_t vaddr);

static inline unsigned image_regime(unsigned priv)
{
    switch (priv) {
    case ETRACE_PRIV_U:
    case ETRACE_PRIV_S:
        return IMAGE_SUPERVISOR;
    case ETRACE_PRIV_VU:
    case ETRACE_PRIV_VS:
        return IMAGE_VIRTUAL;
    default:
        return IMAGE_PHYSICAL;
    }
}

/* Decoded pages, 13 to 36 KiB each, that are kept, nearly */
#define IMAGE_MAX_PAGES     4096

void image_trim_slow(Image *im);

/*
 * Nobody holds a page: let go of all of them if they have become too many.
 * They are made again from what is known of the code.
 */
static inline void image_trim(Image *im)
{
    if (G_UNLIKELY(im->crowded)) {
        image_trim_slow(im);
    }
}

/*
 * The page of code at @vaddr as privilege @priv sees it, or NULL. Valid until
 * image_advance() or image_trim().
 */
static inline CodePage *image_page(Image *im, unsigned priv, uint64_t vaddr)
{
    uint64_t vpage = vaddr >> CODE_PAGE_BITS;
    unsigned regime = image_regime(priv);
    ImageCacheEntry *e = &im->cache[regime][vpage & (IMAGE_CACHE_SIZE - 1)];

    if (G_LIKELY(e->page && e->vpage == vpage)) {
        return e->page;
    }
    return image_page_slow(im, regime, priv, vaddr);
}

/* The bytes of the instruction at @vaddr, as for image_insn() */
bool image_raw(Image *im, unsigned priv, uint64_t vaddr, uint64_t mask,
               uint32_t *raw);

/*
 * The instruction at @vaddr. Returns false if its bytes are not known.
 * @mask is what addresses wrap at.
 */
bool image_insn(Image *im, unsigned priv, uint64_t vaddr, uint64_t mask,
                Insn *insn);

#endif /* ETRACE_IMAGE_H */
