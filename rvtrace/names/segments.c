/*
 * Segments: which parts of an object's file are mapped as code
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "elf/elf-file.h"
#include "names/segments.h"

#define PAGE_MASK 0xfffull

static void add_segment(GArray *segments, uint64_t addr, uint64_t size,
                        uint64_t offset)
{
    Segment s = { .addr = addr, .size = size, .offset = offset };

    if (size) {
        g_array_append_val(segments, s);
    }
}

static void add_from_file(GArray *segments, const char *path)
{
    g_autoptr(ElfFile) file = elf_file_open(path, NULL);
    size_t n;

    if (!file || elf_getphdrnum(file->elf, &n) != 0) {
        return;
    }
    for (size_t i = 0; i < n; i++) {
        GElf_Phdr ph;
        uint64_t before;

        if (!gelf_getphdr(file->elf, i, &ph) || ph.p_type != PT_LOAD ||
            !(ph.p_flags & PF_X)) {
            continue;
        }
        before = ph.p_vaddr & PAGE_MASK;
        if ((ph.p_vaddr ^ ph.p_offset) & PAGE_MASK) {
            before = 0;
        }
        add_segment(segments, ph.p_vaddr - before, ph.p_filesz + before,
                    ph.p_offset - before);
    }
}

static void add_symbols(GArray *segments, const SymbolTable *table)
{
    unsigned n;
    const Symbol *symbols = symbols_all(table, &n);

    if (n) {
        add_segment(segments, symbols[0].start,
                    symbols[n - 1].end - symbols[0].start, symbols[0].start);
    }
}

GArray *object_segments(const Object *object)
{
    GArray *segments = g_array_new(false, false, sizeof(Segment));
    bool from_file;

    if (object->file) {
        add_from_file(segments, object->file);
    }
    from_file = segments->len;
    for (guint i = 0; !from_file && i < object->code->len; i++) {
        const ObjectCode *c = &g_array_index(object->code, ObjectCode, i);

        add_segment(segments, c->addr, c->size, c->addr);
    }
    if (!segments->len) {
        add_symbols(segments, object->symbols);
    }
    return segments;
}
