/*
 * Code from ELF files
 *
 * The files stay mapped, and a page is put together when it is asked for: a
 * file says in a few bytes that its code is in many places.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <gio/gio.h>
#include "code/elf-code.h"
#include "elf/elf-file.h"

typedef struct ElfPage {
    uint64_t vpage;
    CodePage *code;
} ElfPage;

typedef struct ElfSegment {
    uint64_t vaddr, size;   /* both even, not beyond the end of addresses */
    const uint8_t *bytes;
} ElfSegment;

typedef struct ElfPart {
    char *path;
    ElfFile *file;
    GArray *segments;       /* ElfSegment, by address, none over another */
} ElfPart;

struct ElfCode {
    unsigned xlen;
    GPtrArray *parts;       /* ElfPart; where several have code, it is alike */
    GHashTable *pages;      /* virtual page -> ElfPage; elf_code_trim() */
};

static void page_free(gpointer opaque)
{
    ElfPage *p = opaque;

    code_page_free(p->code);
    g_free(p);
}

static void part_free(gpointer opaque)
{
    ElfPart *part = opaque;

    g_clear_pointer(&part->file, elf_file_close);
    g_array_unref(part->segments);
    g_free(part->path);
    g_free(part);
}

ElfCode *elf_code_new(void)
{
    ElfCode *elf = g_new0(ElfCode, 1);

    elf->parts = g_ptr_array_new_with_free_func(part_free);
    elf->pages = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL,
                                       page_free);
    return elf;
}

void elf_code_free(ElfCode *elf)
{
    g_hash_table_unref(elf->pages);
    g_ptr_array_unref(elf->parts);
    g_free(elf);
}

static int compare_segments(gconstpointer a, gconstpointer b)
{
    const ElfSegment *x = a, *y = b;

    return x->vaddr < y->vaddr ? -1 : x->vaddr > y->vaddr;
}

static bool check_segments(GArray *segments, GError **errp)
{
    g_array_sort(segments, compare_segments);
    for (guint i = 1; i < segments->len; i++) {
        const ElfSegment *before = &g_array_index(segments, ElfSegment, i - 1);
        const ElfSegment *s = &g_array_index(segments, ElfSegment, i);

        if (s->vaddr - before->vaddr < before->size) {
            g_set_error(errp, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                        "executable segments overlap at 0x%" PRIx64 ": which "
                        "of them ran?", s->vaddr);
            return false;
        }
    }
    if (!segments->len) {
        g_set_error(errp, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                    "no executable segment to load");
        return false;
    }
    return true;
}

static bool load_segments(GArray *segments, Elf *elf, const uint8_t *file,
                          size_t file_size, uint64_t bias, GError **errp)
{
    size_t n;

    if (elf_getphdrnum(elf, &n) != 0) {
        n = 0;
    }
    for (size_t i = 0; i < n; i++) {
        ElfSegment segment;
        GElf_Phdr ph;

        if (!gelf_getphdr(elf, i, &ph) || ph.p_type != PT_LOAD ||
            !(ph.p_flags & PF_X)) {
            continue;
        }
        segment.vaddr = ph.p_vaddr + bias;
        segment.size = ph.p_filesz & ~UINT64_C(1);
        if (ph.p_offset > file_size || ph.p_filesz > file_size - ph.p_offset ||
            segment.vaddr & 1 || segment.size > -segment.vaddr - 1) {
            g_set_error(errp, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                        "segment %zu lies outside of the file, beyond the "
                        "last address or at an odd one", i);
            return false;
        }
        segment.bytes = file + ph.p_offset;
        if (segment.size) {
            g_array_append_val(segments, segment);
        }
    }
    return check_segments(segments, errp);
}

/* The first segment that ends behind @vaddr */
static guint find_segment(const GArray *segments, uint64_t vaddr)
{
    guint lo = 0, hi = segments->len;

    while (lo < hi) {
        guint mid = lo + (hi - lo) / 2;
        const ElfSegment *s = &g_array_index(segments, ElfSegment, mid);

        if (s->vaddr + s->size <= vaddr) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    return lo;
}

/* Has one of the earlier parts other code at an address of @part? */
static bool check_others(const ElfCode *code, const ElfPart *part,
                         const ElfPart *other, GError **errp)
{
    for (guint i = 0; i < part->segments->len; i++) {
        const ElfSegment *s = &g_array_index(part->segments, ElfSegment, i);

        for (guint k = find_segment(other->segments, s->vaddr);
             k < other->segments->len; k++) {
            const ElfSegment *o = &g_array_index(other->segments, ElfSegment,
                                                 k);
            uint64_t from = MAX(s->vaddr, o->vaddr);
            uint64_t to = MIN(s->vaddr + s->size, o->vaddr + o->size);

            if (o->vaddr >= s->vaddr + s->size) {
                break;
            }
            while (from < to && s->bytes[from - s->vaddr] ==
                                o->bytes[from - o->vaddr]) {
                from++;
            }
            if (from < to) {
                g_set_error(errp, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                            "%s and %s have different code at 0x%" PRIx64
                            ": leave out the one that did not run, or move it "
                            "to its place with FILE@BIAS", other->path,
                            part->path, from & ~UINT64_C(1));
                return false;
            }
        }
    }
    return true;
}

bool elf_code_load(ElfCode *code, const char *path, uint64_t bias,
                   GError **errp)
{
    ElfPart *part;
    ElfFile *file = elf_file_open(path, errp);
    size_t size;
    char *raw;

    if (!file) {
        return false;
    }
    part = g_new0(ElfPart, 1);
    part->path = g_strdup(path);
    part->file = file;
    part->segments = g_array_new(FALSE, FALSE, sizeof(ElfSegment));
    g_ptr_array_add(code->parts, part);
    if (code->xlen && code->xlen != file->xlen) {
        g_set_error(errp, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                    "%s: is for RV%u, but another file is for RV%u", path,
                    file->xlen, code->xlen);
        return false;
    }
    code->xlen = file->xlen;
    raw = elf_rawfile(file->elf, &size);
    if (!raw) {
        g_set_error(errp, G_IO_ERROR, G_IO_ERROR_FAILED, "%s: %s", path,
                    elf_errmsg(-1));
        return false;
    }
    if (!load_segments(part->segments, file->elf, (const uint8_t *)raw, size,
                       bias, errp)) {
        g_prefix_error(errp, "%s: ", path);
        return false;
    }
    for (guint i = 0; i + 1 < code->parts->len; i++) {
        if (!check_others(code, part, code->parts->pdata[i], errp)) {
            return false;
        }
    }
    return true;
}

unsigned elf_code_xlen(const ElfCode *elf)
{
    return elf->xlen;
}

/* Put what @part has of the page at @vaddr there; @page is made if need be. */
static void fill_page(const ElfPart *part, uint64_t vaddr, CodePage **page)
{
    uint64_t last = vaddr + CODE_PAGE_MASK;

    for (guint i = find_segment(part->segments, vaddr);
         i < part->segments->len; i++) {
        const ElfSegment *s = &g_array_index(part->segments, ElfSegment, i);
        uint64_t from = MAX(s->vaddr, vaddr);

        if (s->vaddr > last) {
            break;
        }
        if (!*page) {
            *page = code_page_new();
        }
        code_page_put(*page, from - vaddr, s->bytes + (from - s->vaddr),
                      MIN(s->vaddr + s->size - from, last - from + 1));
    }
}

CodePage *elf_code_page(ElfCode *elf, uint64_t vaddr)
{
    uint64_t vpage = vaddr >> CODE_PAGE_BITS;
    ElfPage *p = g_hash_table_lookup(elf->pages, &vpage);
    CodePage *page = NULL;

    if (p) {
        return p->code;
    }
    for (guint i = 0; i < elf->parts->len; i++) {
        fill_page(elf->parts->pdata[i], vpage << CODE_PAGE_BITS, &page);
    }
    if (page) {
        p = g_new(ElfPage, 1);
        p->vpage = vpage;
        p->code = page;
        g_hash_table_insert(elf->pages, &p->vpage, p);
    }
    return page;
}

unsigned elf_code_nr_pages(const ElfCode *elf)
{
    return g_hash_table_size(elf->pages);
}

void elf_code_trim(ElfCode *elf)
{
    g_hash_table_remove_all(elf->pages);
}
