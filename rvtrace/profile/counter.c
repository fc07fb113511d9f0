/*
 * Counting what runs: from an instruction flow to Counts
 *
 * A run is counted when it is known how it was left, which the flow may say
 * only afterwards; a transfer when it is known where to.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "profile/counter.h"

#define PAGES       512     /* known pages */
#define LINE        64      /* bytes of the processor's cache */
#define AHEAD       6       /* runs for which a line is asked for in advance */
#define PIECE_BITS  10      /* known pieces of pages */
#define RANGE_BITS  15      /* known ranges */
#define EDGE_BITS   14      /* known edges, but for the last one of a range */
#define MAX_ROUND   65536   /* ranges of a loop's round */

/* Which place the code of a page, or of a piece of one, has: [lo, lo + size) */
typedef struct KnownPage {
    uint64_t lo, size, bias;
    unsigned generation;    /* of the image; 0: the entry is empty */
    unsigned space;
    unsigned task;
    unsigned place;
    uint8_t priv;
} KnownPage;

/*
 * A run that was counted before, and where control went from it the last time.
 * All that a run needs is in one line of the processor's cache. How often it
 * ran comes into the counts when the entry is needed for another run.
 */
typedef struct KnownRange {
    uint64_t pc;
    unsigned place, count;
    unsigned index;         /* of the range, + 1; 0: the entry is empty */
    uint32_t reach;         /* from pc to the last instruction */
    uint32_t ran;           /* how often, since it is here */
    uint8_t itype;
    uint64_t to;
    unsigned to_place;
    unsigned edge;          /* its index, + 1; 0: none is known */
    uint32_t went;          /* how often, since it is here */
} __attribute__((aligned(LINE))) KnownRange;

G_STATIC_ASSERT(sizeof(KnownRange) == LINE);

typedef struct KnownEdge {
    uint64_t from, to;
    unsigned from_place, to_place;
    unsigned index;
    uint8_t itype;
} KnownEdge;

struct Counter {
    Counts *counts;
    const Names *names;
    unsigned hart;
    void (*ran)(void *opaque, unsigned range);      /* counter_watch() */
    void *opaque;
    uint64_t insns;         /* counter_insns() */
    const KnownPage *page;  /* of the last run at this site; or NULL */
    KnownPage pages[PAGES];
    KnownPage pieces[1u << PIECE_BITS];     /* by the address that was asked */
    KnownRange *ranges;     /* 1 << RANGE_BITS */
    KnownEdge edges[1u << EDGE_BITS];
    /* The last run, which may not be complete, and where it is */
    const FlowRun *run;     /* NULL: it has been counted */
    FlowRun kept;           /* a copy, when the caller's is gone */
    uint64_t last, bias;    /* last: of its last instruction; 0: not yet */
    unsigned place;
    KnownRange *left;       /* ends with a transfer; its target comes next */
    /* counter_mark() */
    bool marked, first;
    uint64_t first_pc;
    unsigned first_place;
    GArray *round;          /* index of a range, or of an edge + 1 << 31 */
};

#define ROUND_EDGE  (1u << 31)

Counter *counter_new(Counts *counts, const Names *names, unsigned hart)
{
    size_t size = sizeof(KnownRange) << RANGE_BITS;
    Counter *c = g_new0(Counter, 1);

    c->counts = counts;
    c->names = names;
    c->hart = hart;
    c->ranges = aligned_alloc(LINE, size);
    if (!c->ranges) {
        g_error("no memory for %zu bytes", size);   /* as g_malloc() does */
    }
    memset(c->ranges, 0, size);
    c->round = g_array_new(false, false, sizeof(unsigned));
    return c;
}

void counter_watch(Counter *c, void (*ran)(void *opaque, unsigned range),
                   void *opaque)
{
    c->ran = ran;
    c->opaque = opaque;
}

uint64_t counter_insns(const Counter *c)
{
    return c->insns;
}

bool counter_is_behind(const Counter *c)
{
    return c->run != NULL;
}

static unsigned hash(uint64_t a, uint64_t b, unsigned bits)
{
    return (a * 0x9e3779b97f4a7c15ull ^ b * 0xc2b2ae3d27d4eb4full) >>
           (64 - bits);
}

/* The address of the last instruction of @run, and of what is behind it */
static void find_last(const FlowRun *run, uint64_t *last, uint64_t *end)
{
    const uint8_t *code = run->code;

    *end = run->pc;
    for (unsigned i = 0; i < run->count; i++) {
        unsigned size = flow_insn_length(code);

        *last = *end;
        *end += size;
        code += size;
    }
}

static bool is_known(const KnownPage *k, unsigned priv, unsigned task,
                     unsigned generation, unsigned space)
{
    return k->generation == generation && k->priv == priv && k->task == task &&
           k->space == space;
}

static const KnownPage *find_page(Counter *c, uint64_t pc, unsigned priv,
                                  const CallStackSite *site)
{
    uint64_t lo = pc & ~(uint64_t)CODE_PAGE_MASK;
    unsigned task = site->task && c->counts->tasks ? site->task->id :
                                                     TASK_NONE;
    unsigned generation = site->image ? site->image->generation : 1;
    KnownPage *k = &c->pages[((pc >> CODE_PAGE_BITS) ^ priv * 37) % PAGES];
    NamePlace place;

    if (is_known(k, priv, task, generation, site->space) &&
        (k->lo ^ pc) <= CODE_PAGE_MASK) {
        if (pc - k->lo < k->size) {
            return k;
        }
        k = &c->pieces[hash(pc, priv, PIECE_BITS)];
        if (is_known(k, priv, task, generation, site->space) &&
            pc - k->lo < k->size) {
            return k;
        }
    }
    names_find(c->names, site->image, priv, pc, &place);
    *k = (KnownPage) {
        .lo = place.made ? place.lo : lo,
        .size = place.made ? place.hi - place.lo : CODE_PAGE_SIZE,
        .bias = place.bias,
        .generation = generation,
        .space = site->space,
        .task = task,
        .place = counts_place(c->counts, &(CountPlace) {
            .hart = c->hart,
            .task = task,
            .object = place.object->id,
            .priv = priv,
            .bias = place.bias,
        }),
        .priv = priv,
    };
    return k;
}

static void add_to_round(Counter *c, unsigned what)
{
    if (c->marked) {
        g_array_append_val(c->round, what);
        c->marked = c->round->len < MAX_ROUND;
    }
}

static void flush_edge(Counter *c, KnownRange *k)
{
    if (k->went) {
        g_array_index(c->counts->edges, CountEdge, k->edge - 1).count +=
            k->went;
        k->went = 0;
    }
}

/* Its counts come to where the others are. */
static void flush_range(Counter *c, KnownRange *k)
{
    if (k->ran) {
        g_array_index(c->counts->ranges, CountRange, k->index - 1).count +=
            k->ran;
        k->ran = 0;
    }
    flush_edge(c, k);
}

static void flush_all(Counter *c)
{
    for (size_t i = 0; i < 1u << RANGE_BITS; i++) {
        flush_range(c, &c->ranges[i]);
    }
}

static KnownRange *range_slot(Counter *c, const FlowRun *run, unsigned place)
{
    /* Where a branch ends a run, both ways out of it are used in turn. */
    uint64_t what = (uint64_t)place << 32 | run->itype << 16 | run->count;

    return &c->ranges[hash(run->pc, what, RANGE_BITS)];
}

static bool is_last_run(const Counter *c, const KnownRange *k)
{
    const FlowRun *run = c->run;

    return k->index && k->pc == run->pc && k->place == c->place &&
           k->count == run->count && k->itype == run->itype;
}

/* The last run takes the entry @k, which may be another one's. */
static void know_range(Counter *c, KnownRange *k)
{
    const FlowRun *run = c->run;
    uint64_t end = run->end;

    flush_range(c, k);
    if (!c->last) {
        find_last(run, &c->last, &end);
    }
    *k = (KnownRange) {
        .pc = run->pc,
        .place = c->place,
        .count = run->count,
        .itype = run->itype,
        .reach = c->last - run->pc,
        .index = counts_range(c->counts, &(CountRange) {
            .place = c->place,
            .itype = run->itype,
            .insns = run->count,
            .start = run->pc - c->bias,
            .last = c->last - c->bias,
            .end = end - c->bias,
        }) + 1,
    };
}

/* How often the last run was left like this is one more. */
static void commit_range(Counter *c)
{
    const FlowRun *run = c->run;
    KnownRange *k;

    if (!run) {
        return;
    }
    k = range_slot(c, run, c->place);
    if (!is_last_run(c, k) || G_UNLIKELY(k->ran == UINT32_MAX)) {
        know_range(c, k);
    }
    c->run = NULL;
    k->ran++;
    c->insns += run->count;
    if (G_UNLIKELY(c->ran)) {
        /* What is told of each run looks at what has been counted. */
        flush_range(c, k);
        c->ran(c->opaque, k->index - 1);
    }
    add_to_round(c, k->index - 1);
    c->left = run->itype >= ETRACE_ITYPE_TRAP_RETURN &&
              run->itype != ETRACE_ITYPE_NONTAKEN_BRANCH ? k : NULL;
}

static unsigned find_edge(Counter *c, uint64_t to, unsigned to_place)
{
    const KnownRange *left = c->left;
    uint64_t from = left->pc + left->reach -
                    count_place(c->counts, left->place)->bias;
    KnownEdge *k = &c->edges[hash(from, to, EDGE_BITS)];

    if (!k->index || k->from != from || k->to != to ||
        k->from_place != left->place || k->to_place != to_place ||
        k->itype != left->itype) {
        *k = (KnownEdge) {
            .from = from,
            .to = to,
            .from_place = left->place,
            .to_place = to_place,
            .itype = left->itype,
            .index = counts_edge(c->counts, &(CountEdge) {
                .from_place = left->place,
                .to_place = to_place,
                .itype = left->itype,
                .from = from,
                .to = to,
            }) + 1,
        };
    }
    return k->index - 1;
}

static void commit_edge(Counter *c, uint64_t to, unsigned to_place)
{
    KnownRange *k = c->left;

    if (!k) {
        return;
    }
    if (!k->edge || k->to != to || k->to_place != to_place ||
        G_UNLIKELY(k->went == UINT32_MAX)) {
        flush_edge(c, k);
        k->to = to;
        k->to_place = to_place;
        k->edge = find_edge(c, to, to_place) + 1;
    }
    c->left = NULL;
    k->went++;
    /* Into a round, the transfer that repeats is another one. */
    if (!c->first) {
        add_to_round(c, (k->edge - 1) | ROUND_EDGE);
    }
}

/* The copy can be changed, and is there when the caller's runs are gone. */
static void keep_run(Counter *c)
{
    if (c->run != &c->kept) {
        c->kept = *c->run;
        c->run = &c->kept;
    }
}

static void add_run(Counter *c, const FlowRun *run, const CallStackSite *site)
{
    const KnownPage *page;

    if (!run->count) {
        if (c->run && run->itype) {
            keep_run(c);
            c->kept.itype = run->itype;
            c->kept.end = run->end;
        }
        return;
    }
    commit_range(c);
    page = c->page;
    if (!page || run->pc - page->lo >= page->size || page->priv != run->priv) {
        page = c->page = find_page(c, run->pc, run->priv, site);
    }
    commit_edge(c, run->pc - page->bias, page->place);
    if (c->first) {
        c->first = false;
        c->first_pc = run->pc - page->bias;
        c->first_place = page->place;
    }
    c->run = run;
    c->bias = page->bias;
    c->place = page->place;
    c->last = 0;
}

void counter_runs(Counter *c, const FlowRun *runs, unsigned n,
                  const CallStackSite *site)
{
    c->page = NULL;
    for (unsigned i = 0; i < n; i++) {
        /* To wait for memory was a third of counting. */
        if (i + AHEAD < n) {
            __builtin_prefetch(range_slot(c, &runs[i + AHEAD], c->place), 1);
        }
        add_run(c, &runs[i], site);
    }
    /* Its code may not be there any more when it is counted. */
    if (c->run) {
        keep_run(c);
        if (!c->last) {
            find_last(&c->kept, &c->last, &c->kept.end);
        }
    }
}

void counter_trap(Counter *c, const FlowTrap *trap,
                  const CallStackSite *site)
{
    if (c->run && !c->run->itype) {
        keep_run(c);
        c->kept.itype = trap->interrupt ? ETRACE_ITYPE_INTERRUPT
                                        : ETRACE_ITYPE_EXCEPTION;
    }
    commit_range(c);
    if (c->left && trap->epc_known) {
        /* It hit the target of a jump, which had got there. */
        const KnownPage *page = find_page(c, trap->epc, trap->priv, site);

        commit_edge(c, trap->epc - page->bias, page->place);
    }
    c->left = NULL;
    c->marked = false;
}

void counter_skip(Counter *c, const FlowRun *runs, unsigned n,
                  const CallStackSite *site)
{
    unsigned i = 0;

    /* How the last one was left that was counted */
    while (c->run && i < n && !runs[i].count) {
        add_run(c, &runs[i++], site);
    }
    if (i == n) {
        return;
    }
    commit_range(c);
    for (unsigned k = i; k < n; k++) {
        c->insns += runs[k].count;
    }
    if (c->left) {
        const KnownPage *page = find_page(c, runs[i].pc, runs[i].priv, site);

        commit_edge(c, runs[i].pc - page->bias, page->place);
    }
    c->marked = false;
}

void counter_handler(Counter *c, uint64_t pc, unsigned priv,
                     const CallStackSite *site)
{
    const KnownPage *page = find_page(c, pc, priv, site);

    counts_add_edge(c->counts, &(CountEdge) {
        .from_place = page->place,
        .to_place = page->place,
        .itype = ETRACE_ITYPE_INTERRUPT,
        .from = pc - page->bias,
        .to = pc - page->bias,
    }, 1);
}

void counter_lost(Counter *c)
{
    commit_range(c);
    c->left = NULL;
    c->marked = false;
}

void counter_mark(Counter *c)
{
    commit_range(c);
    g_array_set_size(c->round, 0);
    c->marked = true;
    c->first = true;
}

bool counter_can_repeat(const Counter *c)
{
    return c->marked && !c->first && c->round->len + 1 < MAX_ROUND;
}

void counter_repeat(Counter *c, uint64_t times)
{
    commit_range(c);
    if (c->left) {
        /* Back to where the round began */
        unsigned edge = find_edge(c, c->first_pc, c->first_place);

        add_to_round(c, edge | ROUND_EDGE);
    }
    for (guint i = 0; i < c->round->len; i++) {
        unsigned what = g_array_index(c->round, unsigned, i);

        if (what & ROUND_EDGE) {
            g_array_index(c->counts->edges, CountEdge,
                          what & ~ROUND_EDGE).count += times;
        } else {
            g_array_index(c->counts->ranges, CountRange,
                          what).count += times;
        }
    }
    c->marked = false;
}

void counter_free(Counter *c)
{
    commit_range(c);
    flush_all(c);
    free(c->ranges);
    g_array_unref(c->round);
    g_free(c);
}
