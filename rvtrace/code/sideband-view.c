/*
 * What one hart's decoder sees of the sideband stream
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "code/code-store.h"
#include "code/sideband-private.h"

/* An address space: what satp or vsatp with hgatp say. */
typedef struct Space {
    bool virt;
    uint64_t atp, hgatp;
    bool bare;
    unsigned id;
    GHashTable *pages;      /* virtual page -> PageMap; NULL: none yet */
} Space;

typedef struct PageMap {
    uint64_t vpage, ppage;
} PageMap;

typedef struct PhysPage {
    uint64_t ppage;
    CodeStore code;
} PhysPage;

struct SidebandView {
    const Sideband *sb;
    unsigned hart;
    size_t pos;
    uint64_t barrier;       /* packets to consume before going on at pos */
    uint64_t place;         /* ... before known bytes are replaced */
    uint64_t change;        /* the CHANGE that @place is of */
    GHashTable *phys;       /* physical page -> PhysPage */
    unsigned nr_pages;      /* of them, that were handed out */
    GHashTable *spaces;     /* Space, keyed by what it consists of */
    Space *current[2];      /* S and U; VS and VU */
    bool tvec_known[SIDEBAND_NR_PRIVS];
    uint64_t tvec[SIDEBAND_NR_PRIVS];
    bool task_known;
    SidebandTask task;
    uint64_t fence;         /* packets of the last FENCE */
    uint64_t regs_at;       /* ... in front of @regs; UINT64_MAX: none */
    ETraceSbRegs regs;      /* the last ones */
    GArray *notes;          /* SidebandNote */
    guint notes_taken;
    GHashTable *numbers;    /* of spaces, for ever: Space without pages */
};

static guint space_hash(gconstpointer key)
{
    const Space *s = key;
    uint64_t h = s->atp * 0x9e3779b97f4a7c15ull ^ s->hgatp;

    return (h ^ h >> 32) + s->virt;
}

static gboolean space_equal(gconstpointer a, gconstpointer b)
{
    const Space *x = a, *y = b;

    return x->virt == y->virt && x->atp == y->atp && x->hgatp == y->hgatp;
}

static void space_free(gpointer opaque)
{
    Space *s = opaque;

    g_clear_pointer(&s->pages, g_hash_table_unref);
    g_free(s);
}

static void phys_free(gpointer opaque)
{
    PhysPage *p = opaque;

    code_store_clear(&p->code);
    g_free(p);
}

/* Is the mode field of @hart's satp Bare? */
static bool atp_bare(const SidebandView *view, unsigned hart, uint64_t atp)
{
    return view->sb->harts[hart].params.iaddress_width == 32 ?
           !(atp & 0x80000000u) : !(atp >> 60);
}

/*
 * The same one each time that the space comes back, from 1. All harts' spaces
 * are numbered as the stream has them, so that it does not matter which of them
 * this hart has used, or was told of, by then.
 */
static unsigned number_of(SidebandView *view, const Space *key)
{
    Space *s = g_hash_table_lookup(view->numbers, key);

    if (!s) {
        s = g_memdup2(key, sizeof(*key));
        s->id = g_hash_table_size(view->numbers) + 1;
        g_hash_table_add(view->numbers, s);
    }
    return s->id;
}

static Space *get_space(SidebandView *view, bool virt, uint64_t atp,
                        uint64_t hgatp)
{
    Space key = { .virt = virt, .atp = atp, .hgatp = hgatp };
    Space *s = g_hash_table_lookup(view->spaces, &key);

    if (!s) {
        s = g_new(Space, 1);
        *s = key;
        /* With virt, even a bare first stage is translated by the second. */
        s->bare = !virt && atp_bare(view, view->hart, atp);
        s->id = s->bare ? 0 : number_of(view, &key);
        s->pages = NULL;
        g_hash_table_add(view->spaces, s);
    }
    return s;
}

/* Forget every mapping, but not which space is the current one. */
static void forget_maps(SidebandView *view)
{
    Space now[2] = { *view->current[0], *view->current[1] };

    g_hash_table_remove_all(view->spaces);
    for (int i = 0; i < 2; i++) {
        view->current[i] = get_space(view, now[i].virt, now[i].atp,
                                     now[i].hgatp);
    }
}

static void forget_task(SidebandView *view)
{
    if (view->task_known) {
        view->task_known = false;
        view->task.serial++;
    }
}

static void reset_spaces(SidebandView *view)
{
    g_hash_table_remove_all(view->spaces);
    view->current[0] = get_space(view, false, 0, 0);
    view->current[1] = get_space(view, true, 0, 0);
}

static void begin(SidebandView *view, const Sideband *sb)
{
    view->sb = sb;
    view->pos = sb->begin;
    view->barrier = 0;
    view->place = 0;
    g_hash_table_remove_all(view->phys);
    view->nr_pages = 0;
    reset_spaces(view);
    forget_task(view);
    view->regs_at = UINT64_MAX;
    memset(view->tvec_known, 0, sizeof(view->tvec_known));
}

SidebandView *sideband_view_new(const Sideband *sb, unsigned hart)
{
    SidebandView *view = g_new0(SidebandView, 1);

    view->hart = hart;
    view->notes = g_array_new(FALSE, FALSE, sizeof(SidebandNote));
    view->phys = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL,
                                       phys_free);
    view->spaces = g_hash_table_new_full(space_hash, space_equal, space_free,
                                         NULL);
    view->numbers = g_hash_table_new_full(space_hash, space_equal, space_free,
                                          NULL);
    begin(view, sb);
    return view;
}

void sideband_view_free(SidebandView *view)
{
    g_hash_table_unref(view->phys);
    g_hash_table_unref(view->spaces);
    g_hash_table_unref(view->numbers);
    g_array_unref(view->notes);
    g_free(view);
}

/* The page that a CODE record is about; NULL: nothing of it is known. */
static PhysPage *code_page_of(const SidebandView *view,
                              const SidebandRecord *rec)
{
    uint64_t ppage = etrace_sb_get(rec->payload, 8) >> CODE_PAGE_BITS;

    return g_hash_table_lookup(view->phys, &ppage);
}

/* Does a CODE record replace bytes that are known? */
static bool code_replaces(const SidebandView *view, const SidebandRecord *rec)
{
    const PhysPage *p = code_page_of(view, rec);
    unsigned off = etrace_sb_get(rec->payload, 8) & CODE_PAGE_MASK;

    return p && code_store_differs(&p->code, off, rec->payload + 8,
                                   rec->len - 8);
}

static void apply_code(SidebandView *view, const SidebandRecord *rec)
{
    uint64_t addr = etrace_sb_get(rec->payload, 8);
    PhysPage *p = code_page_of(view, rec);

    if (!p) {
        p = g_new0(PhysPage, 1);
        p->ppage = addr >> CODE_PAGE_BITS;
        g_hash_table_insert(view->phys, &p->ppage, p);
    }
    code_store_put(&p->code, addr & CODE_PAGE_MASK, rec->payload + 8,
                   rec->len - 8);
}

static void apply_space(SidebandView *view, const SidebandRecord *rec)
{
    const uint8_t *p = rec->payload;

    view->current[p[0] & 1] = get_space(view, p[0] & 1,
                                        etrace_sb_get(p + 8, 8),
                                        etrace_sb_get(p + 16, 8));
}

/* Another hart goes on in a space. */
static void number_space(SidebandView *view, const SidebandRecord *rec)
{
    const uint8_t *p = rec->payload;
    Space key;

    if (!sideband_record_valid(view->sb, rec)) {
        return;
    }
    key = (Space) {
        .virt = p[0] & 1,
        .atp = etrace_sb_get(p + 8, 8),
        .hgatp = etrace_sb_get(p + 16, 8),
    };
    if (key.virt || !atp_bare(view, rec->hart, key.atp)) {
        number_of(view, &key);
    }
}

/* The hart leaves a part of the trace: others may go on there. */
static void number_rest(SidebandView *view)
{
    size_t pos = view->pos;
    SidebandRecord rec;

    while (sideband_next(view->sb->data, view->sb->end, &pos, &rec)) {
        if (rec.type == ETRACE_SB_SPACE) {
            number_space(view, &rec);
        }
    }
}

void sideband_view_restart(SidebandView *view, const Sideband *sb)
{
    number_rest(view);
    begin(view, sb);
}

static void apply_map(SidebandView *view, const SidebandRecord *rec)
{
    const uint8_t *p = rec->payload;
    PageMap key, *map;
    Space *s;

    s = view->current[p[0] & 1];
    key.vpage = etrace_sb_get(p + 8, 8) >> CODE_PAGE_BITS;
    key.ppage = etrace_sb_get(p + 16, 8) >> CODE_PAGE_BITS;
    if (!s->pages) {
        s->pages = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free,
                                         NULL);
    }
    map = g_hash_table_lookup(s->pages, &key.vpage);
    if (map) {
        map->ppage = key.ppage;
        return;
    }
    map = g_new(PageMap, 1);
    *map = key;
    g_hash_table_insert(s->pages, &map->vpage, map);
}

/* Does the record hold the reader up until more packets are consumed? */
static uint64_t record_barrier(const SidebandView *view,
                               const SidebandRecord *rec, uint64_t packets)
{
    switch (rec->type) {
    case ETRACE_SB_FENCE:
        return etrace_sb_get(rec->payload, 8);
    case ETRACE_SB_CODE:
        return view->place > packets && code_replaces(view, rec) ? view->place
                                                                 : 0;
    default:
        return 0;
    }
}

static void apply_change(SidebandView *view, const SidebandRecord *rec)
{
    uint64_t place;

    view->change = etrace_sb_get(rec->payload, 8);
    place = sideband_place(view->sb, view->hart, view->change);
    view->place = MAX(view->place, place);
}

static void apply_tvec(SidebandView *view, const SidebandRecord *rec)
{
    uint64_t priv = etrace_sb_get(rec->payload, 8);

    if (priv < SIDEBAND_NR_PRIVS) {
        view->tvec[priv] = etrace_sb_get(rec->payload + 8, 8);
        view->tvec_known[priv] = true;
    }
}

static void apply_task(SidebandView *view, const SidebandRecord *rec)
{
    ETraceSbTask task;

    etrace_sb_unpack_task(rec->payload, rec->len, &task);
    if (view->task_known && view->task.task == task.task &&
        view->task.tid == task.tid && view->task.tgid == task.tgid &&
        !strcmp(view->task.comm, task.comm)) {
        return;
    }
    view->task_known = true;
    view->task.serial++;
    view->task.task = task.task;
    view->task.tid = task.tid;
    view->task.tgid = task.tgid;
    view->task.in_m_mode = task.flags & ETRACE_SB_TASK_MACHINE;
    memcpy(view->task.comm, task.comm, sizeof(task.comm));
}

static void note_reset(SidebandView *view)
{
    SidebandNote note = { .kind = SIDEBAND_NOTE_RESET, .text = "" };

    g_array_append_val(view->notes, note);
}

static void keep_note(SidebandView *view, const SidebandRecord *rec)
{
    SidebandNote note = { .all_harts = rec->hart == ETRACE_SB_ALL_HARTS };

    etrace_sb_unpack_note(rec->payload, rec->len, &note.kind, &note.text,
                          &note.len);
    if (note.kind != SIDEBAND_NOTE_RESET) {
        g_array_append_val(view->notes, note);
    }
}

static void apply_record(SidebandView *view, const SidebandRecord *rec)
{
    switch (rec->type) {
    case ETRACE_SB_CODE:
        apply_code(view, rec);
        break;
    case ETRACE_SB_CHANGE:
        apply_change(view, rec);
        break;
    case ETRACE_SB_SPACE:
        apply_space(view, rec);
        break;
    case ETRACE_SB_MAP:
        apply_map(view, rec);
        break;
    case ETRACE_SB_RESET:
        reset_spaces(view);
        forget_task(view);
        note_reset(view);
        break;
    case ETRACE_SB_FORGET:
        forget_maps(view);
        break;
    case ETRACE_SB_TVEC:
        apply_tvec(view, rec);
        break;
    case ETRACE_SB_TASK:
        apply_task(view, rec);
        break;
    case ETRACE_SB_FENCE:
        view->fence = etrace_sb_get(rec->payload, 8);
        break;
    case ETRACE_SB_REGS:
        etrace_sb_unpack_regs(rec->payload, rec->len, &view->regs);
        view->regs_at = view->fence;
        break;
    case ETRACE_SB_NOTE:
        keep_note(view, rec);
        break;
    default:
        break;
    }
}

/*
 * What addresses are called depends on the place in the sideband, whichever
 * hart's record stands there.
 */
static bool may_rename(const SidebandRecord *rec)
{
    switch (rec->type) {
    case ETRACE_SB_CODE:
    case ETRACE_SB_SPACE:
    case ETRACE_SB_MAP:
    case ETRACE_SB_RESET:
    case ETRACE_SB_FORGET:
    case ETRACE_SB_TASK:
    case ETRACE_SB_NOTE:
        return true;
    default:
        return false;
    }
}

bool sideband_view_advance(SidebandView *view, uint64_t packets)
{
    bool changed = false;
    SidebandRecord rec;

    while (view->barrier <= packets) {
        size_t pos = view->pos;

        if (pos >= view->sb->end ||
            !sideband_next(view->sb->data, view->sb->end, &pos, &rec)) {
            view->barrier = UINT64_MAX;
            break;
        }
        if ((rec.hart == view->hart || rec.hart == ETRACE_SB_ALL_HARTS) &&
            sideband_record_valid(view->sb, &rec)) {
            view->barrier = record_barrier(view, &rec, packets);
            if (view->barrier > packets) {
                break;
            }
            apply_record(view, &rec);
        } else if (rec.type == ETRACE_SB_SPACE) {
            number_space(view, &rec);
        }
        changed |= may_rename(&rec);
        view->pos = pos;
    }
    return changed;
}

void sideband_view_grown(SidebandView *view)
{
    view->barrier = 0;
    if (view->place == UINT64_MAX) {
        view->place = sideband_place(view->sb, view->hart, view->change);
    }
}

uint64_t sideband_view_barrier(const SidebandView *view)
{
    return view->barrier;
}

bool sideband_view_fenced(const SidebandView *view, uint64_t packets)
{
    return (view->barrier == packets ||
            sideband_has_place(view->sb, view->hart, packets)) &&
           !sideband_has_gap(view->sb, view->hart, packets);
}

static const Space *space_of(const SidebandView *view, unsigned priv)
{
    switch (priv) {
    case ETRACE_PRIV_U:
    case ETRACE_PRIV_S:
        return view->current[0];
    case ETRACE_PRIV_VU:
    case ETRACE_PRIV_VS:
        return view->current[1];
    default:
        return NULL;        /* M and debug mode: physical */
    }
}

/* The physical page at @vaddr in @s, NULL being physical addresses */
static bool translate(const Space *s, uint64_t vaddr, uint64_t *ppage)
{
    uint64_t vpage = vaddr >> CODE_PAGE_BITS;
    const PageMap *map;

    if (!s || s->bare) {
        *ppage = vpage;
        return true;
    }
    map = s->pages ? g_hash_table_lookup(s->pages, &vpage) : NULL;
    if (map) {
        *ppage = map->ppage;
    }
    return map;
}

void sideband_view_where(const SidebandView *view, unsigned priv,
                         uint64_t vaddr, SidebandWhere *where)
{
    const Space *s = space_of(view, priv);

    *where = (SidebandWhere) { .sb = view->sb, .pos = view->pos };
    if (s && !s->bare) {
        where->space = (SidebandSpace) {
            .virt = s->virt,
            .atp = s->atp,
            .gatp = s->hgatp,
        };
    }
    where->mapped = translate(s, vaddr, &where->ppage);
}

CodePage *sideband_view_page(SidebandView *view, unsigned priv,
                             uint64_t vaddr)
{
    uint64_t page;
    PhysPage *p;

    if (!translate(space_of(view, priv), vaddr, &page)) {
        return NULL;
    }
    p = g_hash_table_lookup(view->phys, &page);
    if (!p) {
        return NULL;
    }
    view->nr_pages += !p->code.page;
    return code_store_page(&p->code);
}

unsigned sideband_view_nr_pages(const SidebandView *view)
{
    return view->nr_pages;
}

void sideband_view_trim(SidebandView *view)
{
    GHashTableIter iter;
    gpointer value;

    g_hash_table_iter_init(&iter, view->phys);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        code_store_trim(&((PhysPage *)value)->code);
    }
    view->nr_pages = 0;
}

unsigned sideband_view_space(const SidebandView *view, unsigned priv)
{
    const Space *s = space_of(view, priv);

    return s ? s->id : 0;
}

size_t sideband_view_pos(const SidebandView *view)
{
    return view->pos;
}

bool sideband_view_tvec(const SidebandView *view, unsigned priv,
                        uint64_t *xtvec)
{
    if (priv >= SIDEBAND_NR_PRIVS || !view->tvec_known[priv]) {
        return false;
    }
    *xtvec = view->tvec[priv];
    return true;
}

bool sideband_view_task(const SidebandView *view, SidebandTask *task)
{
    *task = view->task;
    return view->task_known;
}

bool sideband_view_next_note(SidebandView *view, SidebandNote *note)
{
    if (view->notes_taken == view->notes->len) {
        g_array_set_size(view->notes, 0);
        view->notes_taken = 0;
        return false;
    }
    *note = g_array_index(view->notes, SidebandNote, view->notes_taken++);
    return true;
}

const ETraceSbRegs *sideband_view_registers(const SidebandView *view,
                                            uint64_t packets)
{
    return view->regs_at == packets &&
           !sideband_has_gap(view->sb, view->hart, packets) ? &view->regs
                                                            : NULL;
}
