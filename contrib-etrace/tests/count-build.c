/*
 * Counts from a list of the instructions that ran, in their order
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "build-id.h"
#include "check.h"
#include "count-build.h"
#include "elf-file.h"
#include "insn.h"

CountBuild *count_build_new(void)
{
    CountBuild *b = g_new0(CountBuild, 1);

    b->objects = object_table_new();
    b->tasks = task_table_new();
    b->counts = counts_new(b->objects, b->tasks);
    b->place[0] = counts_place(b->counts, &(CountPlace) {
        .object = OBJECT_UNKNOWN,
    });
    return b;
}

void count_build_free(CountBuild *b)
{
    counts_free(b->counts);
    task_table_free(b->tasks);
    object_table_free(b->objects);
    g_free(b);
}

Object *count_build_elf(CountBuild *b, const char *path)
{
    g_autoptr(GError) err = NULL;
    g_autoptr(ElfFile) elf = elf_file_open(path, &err);
    Object *o = object_new(b->objects, OBJECT_PROGRAM, path, path);
    const uint8_t *bytes;
    size_t nr, size;
    GElf_Phdr ph;

    check_no_error(err);
    check_cmpuint(o->id, <, ARRAY_SIZE(b->place));
    o->bytes = g_bytes_ref(elf->file);
    bytes = g_bytes_get_data(o->bytes, &size);
    check_cmpint(elf_getphdrnum(elf->elf, &nr), ==, 0);
    for (size_t i = 0; i < nr; i++) {
        check_nonnull(gelf_getphdr(elf->elf, i, &ph));
        if (ph.p_type == PT_LOAD && (ph.p_flags & PF_X)) {
            ObjectCode code = {
                .addr = ph.p_vaddr,
                .size = ph.p_filesz,
                .bytes = bytes + ph.p_offset,
            };

            check_cmpuint(ph.p_offset + ph.p_filesz, <=, size);
            g_array_append_val(o->code, code);
        }
    }
    o->build_id = build_id_of(elf);
    symbols_add_elf(o->symbols, path, 0, NULL);
    symbols_sort(o->symbols);
    b->place[o->id] = counts_place(b->counts, &(CountPlace) {
        .object = o->id,
    });
    return o;
}

static const Object *object_of(CountBuild *b, uint64_t pc,
                               const uint8_t **bytes)
{
    for (unsigned i = 1; i < object_table_size(b->objects); i++) {
        if (object_bytes(object_get(b->objects, i), pc, 4, bytes) >= 2) {
            return object_get(b->objects, i);
        }
    }
    return object_get(b->objects, OBJECT_UNKNOWN);
}

/* Control went from the block's end to @pc, in @object. */
static void leave(CountBuild *b, uint64_t pc, unsigned object)
{
    CountRange *r = &b->block;

    if (!r->insns) {
        return;
    }
    if (r->itype == ETRACE_ITYPE_TAKEN_BRANCH && pc == r->end) {
        r->itype = ETRACE_ITYPE_NONTAKEN_BRANCH;
    }
    r->place = b->place[b->object];
    counts_add_range(b->counts, r, 1);
    if (r->itype > ETRACE_ITYPE_NONTAKEN_BRANCH) {
        counts_add_edge(b->counts, &(CountEdge) {
            .from_place = b->place[b->object],
            .to_place = b->place[object],
            .itype = r->itype,
            .from = r->last,
            .to = pc,
        }, 1);
    }
    r->insns = 0;
}

void count_build_pc(CountBuild *b, uint64_t pc)
{
    static const InsnIsa isa = { .xlen = 64 };
    CountRange *r = &b->block;
    Insn insn = { .size = 4 };
    const uint8_t *p = NULL;
    const Object *o = object_of(b, pc, &p);

    if (r->insns && b->kind == INSN_SEQUENTIAL &&
        (pc != r->end || o->id != b->object)) {
        r->itype = ETRACE_ITYPE_EXCEPTION;
        leave(b, pc, o->id);
    } else if (b->kind != INSN_SEQUENTIAL) {
        leave(b, pc, o->id);
    }
    if (p) {
        insn_classify(&isa, p[0] | p[1] << 8 |
                      (insn_length(p[0]) == 4 ?
                       p[2] << 16 | (uint32_t)p[3] << 24 : 0), &insn);
        if (insn.flags & INSN_ENV) {    /* It does not retire. */
            r->itype = ETRACE_ITYPE_EXCEPTION;
            leave(b, pc, o->id);
            return;
        }
    }
    if (!r->insns) {
        *r = (CountRange) { .start = pc };
        b->object = o->id;
    }
    r->insns++;
    r->last = pc;
    r->end = pc + insn.size;
    r->itype = insn.itype;
    b->kind = insn.kind;
}

Counts *count_build_end(CountBuild *b)
{
    b->block.itype = ETRACE_ITYPE_NONE;
    leave(b, 0, OBJECT_UNKNOWN);
    counts_sort(b->counts);
    return b->counts;
}
