/*
 * The code of an object, as one ELF file has it, against what ran
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <gio/gio.h>
#include "elf/build-id.h"
#include "base/input.h"
#include "views/pgo/object-text.h"

/* Of what kernels run, one in so many instructions may be patched. */
#define PATCHED_PART    100

static bool check_build_id(const ObjectText *text, GError **errp)
{
    g_autofree char *id = build_id_of(text->file);

    if (id && text->object->build_id &&
        !g_str_equal(id, text->object->build_id)) {
        g_set_error(errp, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                    "%s: is not the file that ran: its build-id is %s, that "
                    "of %s is %s", text->path, id, text->object->path,
                    text->object->build_id);
        return false;
    }
    return true;
}

/* Segments that lie outside the file, or hold nothing of it, are left out. */
static bool load(ObjectText *text, GError **errp)
{
    size_t size, nr;
    const uint8_t *bytes = input_data(text->file->file, &size);
    GElf_Phdr ph;

    if (elf_getphdrnum(text->file->elf, &nr)) {
        nr = 0;
    }
    text->base = UINT64_MAX;
    for (size_t i = 0; i < nr; i++) {
        if (!gelf_getphdr(text->file->elf, i, &ph) || ph.p_type != PT_LOAD) {
            continue;
        }
        text->base = MIN(text->base, ph.p_vaddr);
        if ((ph.p_flags & PF_X) && ph.p_filesz && ph.p_offset <= size &&
            ph.p_filesz <= size - ph.p_offset) {
            ObjectCode c = {
                .addr = ph.p_vaddr,
                .size = ph.p_filesz,
                .bytes = bytes + ph.p_offset,
            };

            g_array_append_val(text->code, c);
        }
    }
    if (text->base == UINT64_MAX) {
        text->base = 0;
    }
    if (nr && !text->code->len) {
        g_set_error(errp, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                    "%s: has no code (is it a file of debug information "
                    "only?); name the file that ran", text->path);
        return false;
    }
    return true;
}

ObjectText *object_text_open(const Object *object, const char *path,
                             GError **errp)
{
    g_autoptr(ObjectText) text = g_new0(ObjectText, 1);

    path = path ?: object->file;
    if (object->kind == OBJECT_MODULE) {
        path = NULL;        /* Its file has no addresses. */
    }
    text->object = object;
    text->path = g_strdup(path ?: object->path);
    text->code = g_array_new(false, false, sizeof(ObjectCode));
    text->isa.xlen = object->xlen;
    if (path) {
        text->file = elf_file_open(path, errp);
        if (!text->file || !check_build_id(text, errp) || !load(text, errp)) {
            return NULL;
        }
        text->isa.xlen = text->file->xlen;
    } else if (object->code->len) {
        text->base = g_array_index(object->code, ObjectCode, 0).addr &
                     ~0xfffull;
    }
    return g_steal_pointer(&text);
}

void object_text_free(ObjectText *text)
{
    g_clear_pointer(&text->file, elf_file_close);
    g_array_unref(text->code);
    g_free(text->path);
    g_free(text);
}

/* As object_bytes(), but of the file if there is one that has segments */
static size_t text_bytes(const ObjectText *text, uint64_t addr, size_t most,
                         const uint8_t **bytes)
{
    for (guint i = 0; i < text->code->len; i++) {
        const ObjectCode *c = &g_array_index(text->code, ObjectCode, i);

        if (addr >= c->addr && addr - c->addr < c->size) {
            *bytes = c->bytes + (addr - c->addr);
            return MIN(most, c->size - (addr - c->addr));
        }
    }
    return text->code->len ? 0 : object_bytes(text->object, addr, most, bytes);
}

static bool has_code(const ObjectText *text)
{
    return text->code->len || text->object->code->len;
}

static bool insn_at(const ObjectText *text, const InsnIsa *isa, uint64_t addr,
                    Insn *insn)
{
    const uint8_t *p;
    size_t n = text_bytes(text, addr, 4, &p);
    uint32_t raw;

    if (n < 2) {
        return false;
    }
    raw = p[0] | p[1] << 8;
    if (insn_length(raw) == 4) {
        if (n < 4) {
            return false;
        }
        raw |= p[2] << 16 | (uint32_t)p[3] << 24;
    }
    insn_classify(isa, raw, insn);
    return true;
}

bool object_text_insn(const ObjectText *text, uint64_t addr, Insn *insn)
{
    return insn_at(text, &text->isa, addr, insn);
}

bool object_text_is_env(const ObjectText *text, uint64_t addr)
{
    Insn insn;

    return object_text_insn(text, addr, &insn) && (insn.flags & INSN_ENV);
}

/* Can an instruction of that kind be left like this? */
static bool kind_fits(const Insn *insn, unsigned itype)
{
    switch (itype) {
    case ETRACE_ITYPE_NONE:
    case ETRACE_ITYPE_EXCEPTION:
    case ETRACE_ITYPE_INTERRUPT:
        return true;            /* cut short: wherever it was */
    case ETRACE_ITYPE_TRAP_RETURN:
        return insn->kind == INSN_XRET;
    case ETRACE_ITYPE_NONTAKEN_BRANCH:
    case ETRACE_ITYPE_TAKEN_BRANCH:
        return insn->kind == INSN_BRANCH;
    default:
        return insn->kind == INSN_JUMP || insn->kind == INSN_UPDISCON;
    }
}

static bool walk_fits(const ObjectText *text, const InsnIsa *isa,
                      const ObjectBlock *b)
{
    uint64_t addr = b->start;
    Insn insn;

    for (uint32_t n = 1; insn_at(text, isa, addr, &insn); n++) {
        if (n == b->insns) {
            return addr == b->last && addr + insn.size == b->end &&
                   kind_fits(&insn, b->itype);
        }
        if (insn.kind != INSN_SEQUENTIAL) {
            return false;
        }
        addr += insn.size;
    }
    return false;
}

static bool block_fits(const ObjectText *text, const ObjectBlock *b)
{
    InsnIsa other = text->isa;
    const uint8_t *p;
    size_t len = b->end - b->start, compared;

    /* Which of the two the hart had is not known. */
    other.zcmp = other.zcmt = true;
    if (!walk_fits(text, &text->isa, b) && !walk_fits(text, &other, b)) {
        return false;
    }
    if (!text->file || !text->object->code->len) {
        return true;
    }
    return text_bytes(text, b->start, len, &p) == len &&
           object_matches(text->object, b->start, p, len, &compared);
}

bool object_counts_check(ObjectCounts *oc, const ObjectText *text,
                         GError **errp)
{
    bool patches = oc->object->kind == OBJECT_KERNEL ||
                   oc->object->kind == OBJECT_MODULE;
    uint64_t wrong = 0, first = 0;
    guint n = 0;

    if (!has_code(text)) {
        return true;
    }
    for (guint i = 0; i < oc->blocks->len; i++) {
        ObjectBlock *b = &g_array_index(oc->blocks, ObjectBlock, i);

        if (block_fits(text, b)) {
            g_array_index(oc->blocks, ObjectBlock, n++) = *b;
        } else {
            first = wrong ? first : b->start;
            wrong += b->insns * b->count;
        }
    }
    if (wrong && (!patches || wrong > oc->insns / PATCHED_PART)) {
        g_set_error(errp, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                    "%s: is not the code that ran: %" PRIu64 " of %" PRIu64
                    " instructions ran at places where other ones are, the "
                    "first at 0x%" PRIx64 "; name the very file that ran, not "
                    "one that was built again or stripped of code",
                    text->path, wrong, oc->insns, first);
        return false;
    }
    g_array_set_size(oc->blocks, n);
    oc->dropped = wrong;
    return true;
}
