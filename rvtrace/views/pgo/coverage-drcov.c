/*
 * Coverage as DynamoRIO's drcov writes it, for Lighthouse and its like
 *
 * The version of the file, and that of the module table, are 2.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "base/text-plain.h"
#include "views/pgo/coverage.h"

/* What the table's entries have room for */
#define MAX_SIZE        0xfffe
#define MAX_MODULES     0xffff

typedef struct DrcovModule {
    const Object *object;
    uint64_t base, end;
} DrcovModule;

typedef struct DrcovBlock {
    uint32_t start;
    uint16_t size, module;
} DrcovBlock;

typedef struct Drcov {
    GArray *modules;        /* DrcovModule */
    GArray *blocks;         /* DrcovBlock */
    uint64_t left_out;      /* instructions */
} Drcov;

static void add_block(Drcov *d, uint64_t base, const ObjectBlock *b)
{
    uint64_t start = b->start - base, left = b->end - b->start;

    while (left) {
        DrcovBlock block = {
            .start = start,
            .size = MIN(left, MAX_SIZE),
            .module = d->modules->len,
        };

        g_array_append_val(d->blocks, block);
        start += block.size;
        left -= block.size;
    }
}

/* The lowest address that is loaded; code begins in that page at least. */
static uint64_t base_of(const ObjectCounts *oc)
{
    g_autoptr(ObjectText) text = object_text_open(oc->object, NULL, NULL);
    uint64_t first = object_block(oc, 0)->start & ~0xfffull;

    return text && text->base <= first ? text->base & ~0xfffull : first;
}

static void add_object(Drcov *d, const Counts *c, const Object *object)
{
    g_autoptr(ObjectCounts) oc = object_counts_new(c, object);
    DrcovModule m = { .object = object };
    const ObjectBlock *prev = NULL;

    if (!oc->blocks->len) {
        return;
    }
    if (object->kind == OBJECT_NONE || d->modules->len == MAX_MODULES) {
        d->left_out += oc->insns;
        return;
    }
    m.base = base_of(oc);
    m.end = m.base;
    for (guint i = 0; i < oc->blocks->len; i++) {
        const ObjectBlock *b = object_block(oc, i);

        if (b->end < b->start || b->end - m.base > UINT32_MAX) {
            d->left_out += b->insns * b->count;
            continue;
        }
        if (!prev || prev->start != b->start || prev->end != b->end) {
            add_block(d, m.base, b);
        }
        m.end = MAX(m.end, (b->end + 0xfff) & ~0xfffull);
        prev = b;
    }
    for (guint i = 0; i < object->code->len; i++) {
        const ObjectCode *code = &g_array_index(object->code, ObjectCode, i);

        m.end = MAX(m.end, code->addr + code->size);
    }
    g_array_append_val(d->modules, m);
}

static void write_blocks(const Drcov *d, bool text, FILE *f)
{
    fprintf(f, "BB Table: %u bbs\n", d->blocks->len);
    if (text) {
        fprintf(f, "module id, start, size:\n");
    }
    for (guint i = 0; i < d->blocks->len; i++) {
        const DrcovBlock *b = &g_array_index(d->blocks, DrcovBlock, i);

        if (text) {
            fprintf(f, "module[%3u]: 0x%016" PRIx32 ", %3u\n", b->module,
                    b->start, b->size);
        } else {
            uint8_t bytes[] = {
                b->start, b->start >> 8, b->start >> 16, b->start >> 24,
                b->size, b->size >> 8, b->module, b->module >> 8,
            };

            fwrite(bytes, sizeof(bytes), 1, f);
        }
    }
}

static void write_modules(const Drcov *d, FILE *f)
{
    fprintf(f, "DRCOV VERSION: 2\nDRCOV FLAVOR: drcov\n"
            "Module Table: version 2, count %u\n"
            "Columns: id, base, end, entry, path\n", d->modules->len);
    for (guint i = 0; i < d->modules->len; i++) {
        const DrcovModule *m = &g_array_index(d->modules, DrcovModule, i);

        fprintf(f, "%3u, 0x%016" PRIx64 ", 0x%016" PRIx64 ", 0x%016x, %s\n",
                i, m->base, m->end, 0,
                text_plain(m->object->file ?: m->object->path));
    }
}

uint64_t coverage_write_drcov(const Counts *c, bool text, FILE *f)
{
    Drcov d = {
        .modules = g_array_new(false, false, sizeof(DrcovModule)),
        .blocks = g_array_new(false, false, sizeof(DrcovBlock)),
    };

    for (unsigned i = 0; i < object_table_size(c->objects); i++) {
        add_object(&d, c, object_get(c->objects, i));
    }
    write_modules(&d, f);
    write_blocks(&d, text, f);
    g_array_unref(d.modules);
    g_array_unref(d.blocks);
    return d.left_out;
}
