/*
 * Code from ELF files
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <gio/gio.h>
#include "elf-code.h"
#include "elf-file.h"

typedef struct ElfPage {
    uint64_t vpage;
    CodePage *code;
} ElfPage;

struct ElfCode {
    unsigned xlen;
    GHashTable *pages;      /* virtual page -> ElfPage */
};

static void page_free(gpointer opaque)
{
    ElfPage *p = opaque;

    code_page_free(p->code);
    g_free(p);
}

ElfCode *elf_code_new(void)
{
    ElfCode *elf = g_new0(ElfCode, 1);

    elf->pages = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL,
                                       page_free);
    return elf;
}

void elf_code_free(ElfCode *elf)
{
    g_hash_table_unref(elf->pages);
    g_free(elf);
}

static CodePage *get_page(ElfCode *elf, uint64_t vaddr)
{
    uint64_t vpage = vaddr >> CODE_PAGE_BITS;
    ElfPage *p = g_hash_table_lookup(elf->pages, &vpage);

    if (!p) {
        p = g_new(ElfPage, 1);
        p->vpage = vpage;
        p->code = code_page_new();
        g_hash_table_insert(elf->pages, &p->vpage, p);
    }
    return p->code;
}

static void put_bytes(ElfCode *elf, uint64_t vaddr, const uint8_t *bytes,
                      size_t len)
{
    while (len >= 2) {
        unsigned off = vaddr & CODE_PAGE_MASK;
        size_t part = MIN(len, CODE_PAGE_SIZE - off) & ~(size_t)1;

        code_page_put(get_page(elf, vaddr), off, bytes, part);
        vaddr += part;
        bytes += part;
        len -= part;
    }
}

static bool load_segments(ElfCode *code, Elf *elf, const uint8_t *file,
                          size_t file_size, uint64_t bias, GError **errp)
{
    size_t n, loaded = 0;

    if (elf_getphdrnum(elf, &n) != 0) {
        n = 0;
    }
    for (size_t i = 0; i < n; i++) {
        GElf_Phdr ph;

        if (!gelf_getphdr(elf, i, &ph) || ph.p_type != PT_LOAD ||
            !(ph.p_flags & PF_X)) {
            continue;
        }
        if (ph.p_offset > file_size || ph.p_filesz > file_size - ph.p_offset ||
            (ph.p_vaddr + bias) & 1) {
            g_set_error(errp, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                        "segment %zu lies outside of the file or at an odd "
                        "address", i);
            return false;
        }
        put_bytes(code, ph.p_vaddr + bias, file + ph.p_offset, ph.p_filesz);
        loaded++;
    }
    if (!loaded) {
        g_set_error(errp, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                    "no executable segment to load");
        return false;
    }
    return true;
}

bool elf_code_load(ElfCode *code, const char *path, uint64_t bias,
                   GError **errp)
{
    g_autoptr(ElfFile) file = elf_file_open(path, errp);
    size_t size;
    char *raw;

    if (!file) {
        return false;
    }
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
    if (!load_segments(code, file->elf, (const uint8_t *)raw, size, bias,
                       errp)) {
        g_prefix_error(errp, "%s: ", path);
        return false;
    }
    return true;
}

unsigned elf_code_xlen(const ElfCode *elf)
{
    return elf->xlen;
}

CodePage *elf_code_page(ElfCode *elf, uint64_t vaddr)
{
    uint64_t vpage = vaddr >> CODE_PAGE_BITS;
    ElfPage *p = g_hash_table_lookup(elf->pages, &vpage);

    return p ? p->code : NULL;
}
