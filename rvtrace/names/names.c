/*
 * Names: what an address means, at a place of the trace
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "names/guest-text.h"
#include "names/kernel-image.h"
#include "names/names.h"
#include "names/object-elf.h"

/* An object that lies at the same place in every address space */
typedef struct FixedObject {
    const Object *object;
    uint64_t bias;
} FixedObject;

/* ... or only here */
typedef struct MappedObject {
    const Object *object;
    uint64_t bias;
    uint64_t lo, hi;        /* [lo, hi) */
} MappedObject;

struct Names {
    ObjectTable *table;
    GArray *fixed;          /* FixedObject */
    GArray *mapped;         /* MappedObject */
    GPtrArray *placements;  /* Placement, for each part of the trace */
    GPtrArray *texts;       /* GuestText of the same, or NULL if it has none */
    const Object *firmware, *jit;   /* names_add_unfiled(), or NULL */
};

static void texts_free(gpointer opaque)
{
    g_clear_pointer((GuestText **)&opaque, guest_text_free);
}

Names *names_new(ObjectTable *table)
{
    Names *names = g_new0(Names, 1);

    names->table = table;
    names->fixed = g_array_new(false, false, sizeof(FixedObject));
    names->mapped = g_array_new(false, false, sizeof(MappedObject));
    names->placements = g_ptr_array_new_with_free_func(
        (GDestroyNotify)placement_free);
    names->texts = g_ptr_array_new_with_free_func(texts_free);
    return names;
}

void names_free(Names *names)
{
    g_array_unref(names->fixed);
    g_array_unref(names->mapped);
    g_ptr_array_unref(names->placements);
    g_ptr_array_unref(names->texts);
    g_free(names);
}

const ObjectTable *names_objects(const Names *names)
{
    return names->table;
}

ObjectTable *names_table(Names *names)
{
    return names->table;
}

void names_add_fixed(Names *names, const Object *object, uint64_t bias)
{
    FixedObject fixed = { .object = object, .bias = bias };

    g_array_append_val(names->fixed, fixed);
}

Names *names_derive(const Names *names)
{
    Names *derived = names_new(names->table);

    g_array_append_vals(derived->fixed, names->fixed->data,
                        names->fixed->len);
    derived->firmware = names->firmware;
    derived->jit = names->jit;
    return derived;
}

void names_add_mapped(Names *names, const Object *object, uint64_t bias,
                      uint64_t lo, uint64_t hi)
{
    MappedObject mapped = { object, bias, lo, hi };

    g_array_append_val(names->mapped, mapped);
}

/* The range of *@place cannot extend beyond [@lo, @hi). */
static void narrow(NamePlace *place, uint64_t lo, uint64_t hi)
{
    place->lo = MAX(place->lo, lo);
    place->hi = MIN(place->hi, hi);
}

/*
 * The symbol of @object, moved by @bias, at @pc. If there is none, *@place is
 * only narrowed to where that is so.
 */
static bool find_symbol(const Object *object, uint64_t bias, uint64_t pc,
                        NamePlace *place)
{
    uint64_t lo, hi;
    const Symbol *symbol = symbols_find(object->symbols, pc - bias, &lo, &hi);

    /* What begins before the object's address 0 extends to no lower one. */
    narrow(place, lo ? lo + bias : 0,
           hi == UINT64_MAX ? UINT64_MAX : hi + bias);
    if (!symbol) {
        return false;
    }
    place->object = object;
    place->bias = bias;
    place->symbol = symbol;
    return true;
}

void names_add_sideband(Names *names, const Sideband *sb)
{
    g_ptr_array_add(names->placements, placement_new(sb));
    g_ptr_array_add(names->texts,
                    guest_text_in(sb) ? guest_text_new(sb) : NULL);
}

/* Can part number @part of the trace have run code of @object? */
static bool may_have(const Names *names, guint part, const Object *object)
{
    const GuestText *g = names->texts->pdata[part];

    return object->kind != OBJECT_MODULE || !g ||
           guest_text_may_have_module(g, object->name);
}

void names_try(Names *names, unsigned first)
{
    unsigned needed = first;

    for (unsigned i = first; i < object_table_size(names->table); i++) {
        for (guint k = 0; k < names->placements->len; k++) {
            Object *o = object_get(names->table, i);

            if (may_have(names, k, o) &&
                placement_try(names->placements->pdata[k], o)) {
                needed = i + 1;
            }
        }
    }
    while (object_table_size(names->table) > needed) {
        object_drop(names->table,
                    object_get(names->table,
                               object_table_size(names->table) - 1));
    }
}

bool names_begin_modules(Names *names)
{
    bool wanted = false;

    for (guint k = 0; k < names->placements->len; k++) {
        wanted |= placement_begin_modules(names->placements->pdata[k]);
    }
    return wanted;
}

void names_end_modules(Names *names)
{
    for (guint k = 0; k < names->placements->len; k++) {
        placement_end_modules(names->placements->pdata[k]);
    }
}

bool names_may_have_module(const Names *names, const char *name)
{
    for (guint k = 0; k < names->texts->len; k++) {
        const GuestText *g = names->texts->pdata[k];

        if (!g || guest_text_may_have_module(g, name)) {
            return true;
        }
    }
    return false;
}

void names_decide(Names *names)
{
    for (guint k = 0; k < names->placements->len; k++) {
        placement_decide(names->placements->pdata[k]);
    }
    for (unsigned i = 0; i < object_table_size(names->table); i++) {
        Object *o = object_get(names->table, i);
        bool found = false;

        for (guint k = 0; k < names->placements->len; k++) {
            found |= placement_has(names->placements->pdata[k], o);
        }
        if (found && o->kind == OBJECT_KERNEL) {
            kernel_image_symbols(o);
        } else if (found && (!o->brief || object_elf_complete(o))) {
            object_elf_symbols(names->table, o);
        }
        object_let_go(o);
    }
}

/* The one that is there, if the table is of several traces */
static const Object *unfiled(ObjectTable *table, const char *path)
{
    for (unsigned i = 1; i < object_table_size(table); i++) {
        const Object *o = object_get(table, i);

        if (o->kind == OBJECT_NONE && g_str_equal(o->path, path)) {
            return o;
        }
    }
    return object_new(table, OBJECT_NONE, path, NULL);
}

void names_add_unfiled(Names *names)
{
    names->firmware = unfiled(names->table, "[firmware]");
    names->jit = unfiled(names->table, "[jit]");
}

void names_demangle(Names *names)
{
    for (unsigned i = 0; i < object_table_size(names->table); i++) {
        symbols_demangle(object_get(names->table, i)->symbols);
    }
}

unsigned names_add_texts(Names *names, char **roots)
{
    unsigned malformed = 0;

    for (guint k = 0; k < names->placements->len; k++) {
        GuestText *g = names->texts->pdata[k];

        if (g) {
            guest_text_objects(g, names->table, roots);
            malformed += guest_text_malformed(g);
        }
    }
    return malformed;
}

void names_files(const Names *names,
                 void (*fn)(void *opaque, const Object *object, uint64_t bias),
                 void *opaque)
{
    for (guint k = 0; k < names->texts->len; k++) {
        if (names->texts->pdata[k]) {
            guest_text_files(names->texts->pdata[k], fn, opaque);
        }
    }
}

/* The part of the trace that @image's decoder is in: -1 if not known */
static int part_of(const Names *names, const Image *image, unsigned priv,
                   uint64_t pc, SidebandWhere *where)
{
    if (!image || !image->view || !names->placements->len) {
        return -1;
    }
    sideband_view_where(image->view, priv, pc, where);
    for (guint i = 0; i < names->placements->len; i++) {
        if (placement_sideband(names->placements->pdata[i]) == where->sb) {
            return i;
        }
    }
    return -1;
}

const Object *names_program(const Names *names, const Image *image,
                            unsigned priv)
{
    SidebandWhere where;
    int part = part_of(names, image, priv, 0, &where);

    return part < 0 ? NULL :
           placement_program(names->placements->pdata[part], &where);
}

/* Bytes around an address that are compared with the object's */
#define NEAR    32
/* ... and how much has to agree, at least, where something else is near */
#define ENOUGH  4

/*
 * May the kernel have changed instructions of @object itself? Where bytes of
 * its own once ran, code that it makes may be now; so the kernel is believed
 * only next to other pages of it.
 */
static bool may_be_patched(const Placement *p, const Object *object,
                           uint64_t bias)
{
    return object->kind == OBJECT_MODULE ||
           (object->kind == OBJECT_KERNEL &&
            placement_most_pages(p, object, bias) > 1);
}

/* Are two bytes of the page known at @off, and what @object has at @addr? */
static bool agrees_at(const CodePage *page, unsigned off,
                      const Object *object, uint64_t addr)
{
    size_t compared;

    return off < CODE_PAGE_SIZE && code_page_valid(page, off) &&
           object_matches(object, addr, page->bytes + off, 2, &compared);
}

/* Does what is just around offset @off of the page agree, without a gap? */
static bool agrees_around(const CodePage *page, unsigned off,
                          const Object *object, uint64_t addr)
{
    unsigned behind = 0, before = 0;

    while (behind < ENOUGH &&
           agrees_at(page, off + behind, object, addr + behind)) {
        behind += 2;
    }
    while (behind && before < MIN(ENOUGH, off) &&
           agrees_at(page, off - before - 2, object, addr - before - 2)) {
        before += 2;
    }
    return before + behind >= ENOUGH;
}

/*
 * Are the bytes at @pc those that @object has at @addr? A page may have been
 * filled with something else that is in no file. What it had before stands
 * there until something new has run: of that, some bytes are enough. If the
 * kernel may have changed single instructions, it is believed if most of what
 * is near agrees. *@known is set to whether anything near is known at all.
 */
static bool agrees(Image *image, unsigned priv, uint64_t pc,
                   const Object *object, uint64_t addr, bool patched,
                   bool *known)
{
    const CodePage *page = image_page(image, priv, pc);
    unsigned off = pc & CODE_PAGE_MASK;
    unsigned from = off >= NEAR ? off - NEAR : 0;
    unsigned to = MIN(off + NEAR, CODE_PAGE_SIZE);
    unsigned same = 0, other = 0;

    *known = false;
    for (unsigned i = from; page && i < to; i += 2) {
        size_t compared;

        if (!code_page_valid(page, i)) {
            continue;
        }
        *known = true;
        if (object_matches(object, addr + i - off, page->bytes + i, 2,
                           &compared)) {
            same += compared != 0;
        } else {
            other++;
        }
    }
    if (patched || !other) {
        return same > other;
    }
    return agrees_around(page, off, object, addr);
}

/* The range of *@place ends where the page does. */
static void narrow_to_page(NamePlace *place, uint64_t pc)
{
    narrow(place, pc & ~(uint64_t)CODE_PAGE_MASK,
           (pc | CODE_PAGE_MASK) + 1 ?: UINT64_MAX);
}

/* It is @object, moved by @bias, at @pc: all of the same piece of code is. */
static void put_object(NamePlace *place, const Object *object, uint64_t bias,
                       uint64_t pc)
{
    place->object = object;
    place->bias = bias;
    for (guint i = 0; i < object->code->len; i++) {
        const ObjectCode *c = &g_array_index(object->code, ObjectCode, i);

        if (pc - bias - c->addr < c->size) {
            narrow(place, c->addr + bias, c->addr + c->size + bias);
        }
    }
}

/* What the guest's own texts say of a process at @pc */
typedef struct Said {
    bool jit, mapped;
    GuestMapping function, file;
} Said;

static Said ask_texts(const Names *names, int part, const Image *image,
                      unsigned priv, uint64_t pc, const SidebandWhere *where)
{
    const GuestText *g = (guint)part < names->texts->len ?
                         names->texts->pdata[part] : NULL;
    SidebandTask task;
    Said said = { 0 };

    if (g && priv == ETRACE_PRIV_U && where->mapped &&
        sideband_view_task(image->view, &task)) {
        said.jit = guest_text_jit(g, where, task.tgid, pc, &said.function);
        said.mapped = guest_text_mapping(g, where, task.tgid, pc, &said.file);
    }
    return said;
}

/* Does one end of the range, if it is known, lie within the page of @pc? */
static bool has_border(const GuestMapping *range, uint64_t pc)
{
    uint64_t page = pc & ~(uint64_t)CODE_PAGE_MASK;

    return range->hi &&
           (range->lo > page || range->hi <= (pc | CODE_PAGE_MASK));
}

/*
 * The object at @pc: a function that the process says it made, or else what the
 * bytes there are of, or else what the process had mapped. What it said later
 * is only believed of files that have these bytes.
 */
static bool find_placed(const Names *names, Image *image, unsigned priv,
                        uint64_t pc, NamePlace *place)
{
    SidebandWhere where;
    int part = part_of(names, image, priv, pc, &where);
    const Placement *p;
    const Object *object;
    uint64_t addr;
    bool known, ahead;
    Said said;

    if (part < 0) {
        return false;
    }
    p = names->placements->pdata[part];
    said = ask_texts(names, part, image, priv, pc, &where);
    if (said.jit || has_border(&said.function, pc)) {
        narrow_to_page(place, pc);
        narrow(place, said.function.lo, said.function.hi);
        place->made = true;
    }
    if (said.jit) {
        put_object(place, said.function.object, said.function.bias, pc);
        return true;
    }
    object = placement_find(p, &where, priv, pc,
                            said.file.path ? said.file.path->path : NULL,
                            &addr, &ahead);
    /* A trap may come before the first instruction there has run. */
    if (object && (ahead ||
                   agrees(image, priv, pc, object, addr,
                          may_be_patched(p, object, pc - addr), &known) ||
                   !known)) {
        put_object(place, object, pc - addr, pc);
        return true;
    }
    narrow_to_page(place, pc);
    if (!said.mapped) {
        return false;
    }
    narrow(place, said.file.lo, said.file.hi);
    if (said.file.object && agrees(image, priv, pc, said.file.object,
                                   pc - said.file.bias, false, &known)) {
        put_object(place, said.file.object, said.file.bias, pc);
        return true;
    }
    if (said.file.later) {
        return false;
    }
    if (said.file.path) {
        put_object(place, said.file.path, said.file.lo, pc);
    } else if (names->jit) {
        place->object = names->jit;
    }
    return true;
}

/* The kernel's own symbols, by what the guest said; every part has its own. */
static bool find_said(const Names *names, Image *image, unsigned priv,
                      uint64_t pc, NamePlace *place)
{
    SidebandWhere where;
    int part = priv == ETRACE_PRIV_S ?
               part_of(names, image, priv, pc, &where) : -1;
    const GuestText *g = part >= 0 && (guint)part < names->texts->len ?
                         names->texts->pdata[part] : NULL;
    const Object *object;

    for (unsigned i = 0; g && (object = guest_text_kernel(g, i)); i++) {
        if (find_symbol(object, 0, pc, place)) {
            return true;
        }
    }
    return false;
}

/* The object that is mapped at @pc, if there is one */
static bool find_mapped(const Names *names, uint64_t pc, NamePlace *place)
{
    for (guint i = 0; i < names->mapped->len; i++) {
        const MappedObject *m = &g_array_index(names->mapped, MappedObject, i);

        if (pc >= m->lo && pc < m->hi) {
            narrow(place, m->lo, m->hi);
            put_object(place, m->object, m->bias, pc);
            find_symbol(m->object, m->bias, pc, place);
            return true;
        }
        if (pc < m->lo) {
            narrow(place, 0, m->lo);
        } else {
            narrow(place, m->hi, UINT64_MAX);
        }
    }
    return false;
}

void names_find(const Names *names, Image *image, unsigned priv, uint64_t pc,
                NamePlace *place)
{
    bool placed;

    /* Half-words have run, of which one may be an instruction's last. */
    pc &= ~1ull;
    *place = (NamePlace) {
        .object = object_get(names->table, OBJECT_UNKNOWN),
        .hi = UINT64_MAX,
    };
    if (find_mapped(names, pc, place)) {
        return;
    }
    placed = find_placed(names, image, priv, pc, place);
    if (placed && find_symbol(place->object, place->bias, pc, place)) {
        return;
    }
    for (guint i = 0; i < names->fixed->len; i++) {
        const FixedObject *f = &g_array_index(names->fixed, FixedObject, i);

        if (find_symbol(f->object, f->bias, pc, place)) {
            return;
        }
    }
    if (!find_said(names, image, priv, pc, place) && names->firmware &&
        place->object->kind == OBJECT_NONE && priv_is_machine(priv)) {
        place->object = names->firmware;
    }
}
