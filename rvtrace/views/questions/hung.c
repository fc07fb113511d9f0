/*
 * Why a hart hangs: what it did last
 *
 * Of what ran, the last taken transfers are kept, without what interrupts did:
 * a loop that a timer interrupts is one. Names are looked up as it runs, since
 * where code was is not known later.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "base/trap-text.h"
#include "views/questions/hung.h"
#include "views/questions/locks.h"
#include "views/questions/rounds.h"
#include "views/questions/sheet.h"

#define NR_CALLS    4           /* the last ones */
#define NR_FRAMES   8           /* of the stack: the innermost ones */
#define NR_BODY     6           /* functions of a loop */
#define KNOWN_BITS  10
#define WFI         0x10500073

/* A taken transfer leads to @pc, and @count instructions follow. */
typedef struct Step {
    uint64_t pc;
    const Object *object;
    const Symbol *symbol;       /* NULL: it has none there */
    uint64_t count;
} Step;

typedef struct KnownStep {
    Step step;
    unsigned generation, space; /* generation 0: the entry is empty */
    uint8_t priv;
} KnownStep;

typedef struct LastCall {
    unsigned frame;
    uint64_t place;
} LastCall;

struct HungHart {
    unsigned hart;
    const Profile *profile;
    const Names *names;
    Follower *follower;
    KnownStep *known;
    Step *steps;                /* HUNG_STEPS, a ring ... */
    uint64_t nr_steps;          /* ... of all that there were */
    bool goes_on;               /* what runs next is of the last step */
    bool interrupted;           /* ... but not until it is at: */
    uint64_t back, skipped;
    uint64_t next;              /* behind the last instruction of the runs */
    bool sleeps;                /* ... which is wfi */
    uint8_t back_priv, priv;
    uint64_t interrupts, last_interrupt;
    FlowTrap interrupt, exception;  /* the last ones */
    Step place;                 /* ... where the exception was */
    uint64_t in_row, row_since, row_last;
    LastCall calls[NR_CALLS];
    uint64_t nr_calls;
    const Task *task;
    Locks *locks;
    GArray *open;               /* OpenCall: those at the end */
    Rounds loop;                /* the last one; .period 0: there is none */
    uint64_t end;
};

struct Hung {
    TableFormat format;
    GPtrArray *harts;           /* HungHart */
};

static void on_begin(void *opaque, OpenCall *calls, unsigned n,
                     const Task *task)
{
    HungHart *h = opaque;

    if (calls[n - 1].kind == CALL_FUNCTION) {
        h->calls[h->nr_calls++ % NR_CALLS] = (LastCall) {
            calls[n - 1].frame, calls[n - 1].from.insns,
        };
        locks_begin(h->locks, &calls[n - 1]);
    }
}

static void on_end(void *opaque, const EndedCall *ended)
{
    HungHart *h = opaque;

    locks_end(h->locks, ended);
}

static const FollowOps follow_ops = { .begin = on_begin, .end = on_end };

static void hart_free(gpointer opaque)
{
    HungHart *h = opaque;

    follow_free(h->follower);
    locks_free(h->locks);
    g_array_unref(h->open);
    g_free(h->known);
    g_free(h->steps);
    g_free(h);
}

Hung *hung_new(TableFormat format)
{
    Hung *u = g_new0(Hung, 1);

    u->format = format;
    u->harts = g_ptr_array_new_with_free_func(hart_free);
    return u;
}

void hung_free(Hung *u)
{
    g_ptr_array_unref(u->harts);
    g_free(u);
}

HungHart *hung_hart(Hung *u, unsigned hart, const Profile *profile,
                    const Names *names, const TaskTable *tasks)
{
    HungHart *h = g_new0(HungHart, 1);

    h->hart = hart;
    h->profile = profile;
    h->names = names;
    h->follower = follow_new(profile, tasks, &follow_ops, h);
    h->known = g_new0(KnownStep, 1u << KNOWN_BITS);
    h->steps = g_new0(Step, HUNG_STEPS);
    h->locks = locks_new(profile);
    h->open = g_array_new(false, false, sizeof(OpenCall));
    h->task = task_get(tasks, TASK_NONE);
    g_ptr_array_add(u->harts, h);
    return h;
}

/* What is at @pc, with a count of 0 */
static const Step *look_up(HungHart *h, uint64_t pc, unsigned priv,
                           const CallStackSite *site)
{
    unsigned generation = site->image ? site->image->generation : 1;
    KnownStep *k = &h->known[pc * UINT64_C(0x9e3779b97f4a7c15) >>
                             (64 - KNOWN_BITS)];
    NamePlace place;

    if (k->generation != generation || k->step.pc != pc ||
        k->space != site->space || k->priv != priv) {
        names_find(h->names, site->image, priv, pc, &place);
        *k = (KnownStep) {
            .step = { pc, place.object, place.symbol, 0 },
            .generation = generation, .space = site->space, .priv = priv,
        };
    }
    return &k->step;
}

/* Is @run part of a handler of an interrupt? */
static bool is_skipped(HungHart *h, const FlowRun *run)
{
    if (!h->interrupted) {
        return false;
    }
    if (run->count && run->pc == h->back && run->priv == h->back_priv) {
        h->interrupted = false;
        /* A jump in front of an interrupt may not be known as one. */
        h->goes_on &= h->back == h->next;
        return false;
    }
    h->skipped += run->count;
    if (h->skipped > HUNG_INTERRUPT) {
        /* It has gone elsewhere, and has not come back. */
        h->interrupted = h->goes_on = false;
        h->nr_steps = 0;
    }
    return h->interrupted;
}

/* The hart has come to the end of @run, which is not empty. */
static void come_behind(HungHart *h, const FlowRun *run)
{
    const uint8_t *code = run->code, *last = code;

    for (unsigned i = 0; i < run->count; i++) {
        last = code;
        code += flow_insn_length(code);
    }
    h->next = run->pc + (code - run->code);
    h->sleeps = code - last == 4 && ldl_le_p(last) == WFI;
}

static bool is_taken(unsigned itype)
{
    return itype != ETRACE_ITYPE_NONE && itype != ETRACE_ITYPE_NONTAKEN_BRANCH;
}

void hung_runs(void *hart, const FlowRun *runs, unsigned n,
               const CallStackSite *site)
{
    HungHart *h = hart;

    for (unsigned i = 0; i < n; i++) {
        const FlowRun *run = &runs[i];

        if (is_skipped(h, run)) {
            h->sleeps = false;
            continue;
        }
        if (run->count && !h->goes_on) {
            h->steps[h->nr_steps++ % HUNG_STEPS] =
                *look_up(h, run->pc, run->priv, site);
        }
        if (run->count) {
            h->steps[(h->nr_steps - 1) % HUNG_STEPS].count += run->count;
            h->priv = run->priv;
            h->task = site->task ?: h->task;
            /* Traps come behind the last run of several. */
            h->next = 0;
            if (i + 1 == n || !runs[i + 1].count) {
                come_behind(h, run);
            }
        }
        if (run->count || run->itype) {
            h->goes_on = h->nr_steps && !is_taken(run->itype);
        }
    }
}

void hung_moment(void *hart, const CallStackMoment *moment)
{
    follow_moment(((HungHart *)hart)->follower, moment);
}

void hung_mark(void *hart, const CallStackMoment *when, const MomentMark *mark)
{
    HungHart *h = hart;

    follow_mark(h->follower, when, mark);
    if (mark->kind == MOMENT_LOST || mark->kind == MOMENT_RESET) {
        locks_forget(h->locks);
    }
}

static void put_exception(HungHart *h, uint64_t place, const FlowTrap *trap,
                          const CallStackSite *site)
{
    const FlowTrap *was = &h->exception;

    if (!h->in_row || was->cause != trap->cause || was->epc != trap->epc ||
        was->epc_known != trap->epc_known) {
        h->in_row = 0;
        h->row_since = place;
        h->place = (Step) { 0 };
        if (trap->epc_known) {
            h->place = *look_up(h, trap->epc, trap->priv, site);
        }
    }
    h->in_row++;
    h->row_last = place;
    h->exception = *trap;
    h->goes_on = false;
}

void hung_trap(void *hart, uint64_t place, const FlowTrap *trap,
               const CallStackSite *site)
{
    HungHart *h = hart;

    if (!trap->interrupt) {
        put_exception(h, place, trap, site);
        return;
    }
    h->interrupts++;
    h->last_interrupt = place;
    h->interrupt = *trap;
    if (!h->interrupted && trap->epc_known) {
        h->interrupted = true;
        h->back = trap->epc;
        h->back_priv = trap->priv;
        h->skipped = 0;
    }
}

/* The steps that are known, but for the last one: more may follow of that. */
static const Step *step_back(const HungHart *h, unsigned back)
{
    return &h->steps[(h->nr_steps - 2 - back) % HUNG_STEPS];
}

static Rounds find_loop(const HungHart *h)
{
    unsigned n = MIN(h->nr_steps, HUNG_STEPS);
    g_autofree uint64_t *values = NULL;
    Rounds none = { 0 }, found;

    if (n < HUNG_LEAST) {
        return none;
    }
    n--;
    values = g_new(uint64_t, n);
    for (unsigned i = 0; i < n; i++) {
        const Step *s = step_back(h, i);

        values[n - 1 - i] = s->pc ^ s->count << 48;
    }
    found = rounds_find(values, n);
    return found.length >= HUNG_LEAST ? found : none;
}

void hung_end(void *hart, const CallStackMoment *when)
{
    HungHart *h = hart;
    unsigned n;
    const OpenCall *calls = follow_open(h->follower, &n);

    if (n) {
        g_array_append_vals(h->open, calls, n);
    }
    follow_end(h->follower, when);
    h->end = when->place;
    h->loop = find_loop(h);
}

static const char *open_name(const HungHart *h, guint i)
{
    return profile_frame(h->profile,
                         g_array_index(h->open, OpenCall, i).frame)->name;
}

/* The innermost frames, the outermost of them first; the caller frees it. */
static char *stack_text(const HungHart *h)
{
    guint n = h->open->len, from = n > NR_FRAMES ? n - NR_FRAMES : 0;
    GString *text = g_string_new(from ? "... > " : "");

    for (guint i = from; i < n; i++) {
        g_string_append_printf(text, "%s%s", i > from ? " > " : "",
                               open_name(h, i));
    }
    return g_string_free(text, false);
}

static const char *step_name(const Step *s)
{
    return s->symbol ? s->symbol->name : s->object ? s->object->name : "-";
}

/* One line: @count, from, to; UINT64_MAX: not known */
static void add_line(Sheet *s, const HungHart *h, const char *what,
                     uint64_t count, uint64_t from, uint64_t to,
                     const char *text)
{
    const uint64_t numbers[] = { count, from, to };

    sheet_number(s, h->hart);
    sheet_text(s, what);
    for (unsigned i = 0; i < G_N_ELEMENTS(numbers); i++) {
        if (numbers[i] == UINT64_MAX) {
            sheet_none(s);
        } else {
            sheet_number(s, numbers[i]);
        }
    }
    sheet_text(s, text);
}

/* Functions of the loop, each with the address where it was come to first */
static char *loop_text(const HungHart *h, unsigned period, uint64_t insns)
{
    GString *text = g_string_new(NULL);
    g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);

    g_string_append_printf(text, "%" PRIu64 " instructions a round:", insns);
    for (unsigned i = period; i; i--) {
        const Step *s = step_back(h, i - 1);
        gconstpointer what = s->symbol ? (gconstpointer)s->symbol : s->object;

        if (!g_hash_table_add(seen, (gpointer)what)) {
            continue;
        }
        if (g_hash_table_size(seen) > NR_BODY) {
            g_string_append(text, " ...");
            break;
        }
        g_string_append_printf(text, " %s (0x%" PRIx64 ")", step_name(s),
                               s->pc);
    }
    return g_string_free(text, false);
}

static void add_loop(Sheet *s, const HungHart *h)
{
    Rounds loop = h->loop;
    uint64_t insns = 0, all = h->steps[(h->nr_steps - 1) % HUNG_STEPS].count;
    g_autofree char *text = NULL;

    if (!loop.period) {
        return;
    }
    for (unsigned i = 0; i < loop.length; i++) {
        insns += i < loop.period ? step_back(h, i)->count : 0;
        all += step_back(h, i)->count;
    }
    text = loop_text(h, loop.period, insns);
    add_line(s, h, "loop", loop.length / loop.period, h->end - MIN(all, h->end),
             h->end, text);
}

static void add_traps(Sheet *s, const HungHart *h)
{
    const char *cause = trap_cause_text(false, h->exception.cause);
    g_autofree char *text = g_strdup_printf(
        "%s %u at 0x%" PRIx64 ", %s, tval 0x%" PRIx64, cause ?: "exception",
        h->exception.cause, h->exception.epc, step_name(&h->place),
        h->exception.tval);

    if (h->in_row) {
        add_line(s, h, "exception", h->in_row, h->row_since, h->row_last,
                 text);
    }
    cause = trap_cause_text(true, h->interrupt.cause);
    if (h->interrupts) {
        add_line(s, h, "interrupt", h->interrupts, h->last_interrupt,
                 UINT64_MAX, cause ?: "interrupt");
    }
}

/* Is the function part of the loop? */
static bool is_in_loop(const HungHart *h, unsigned frame)
{
    const ProfileFrame *f = profile_frame(h->profile, frame);

    for (unsigned i = 0; f->symbol && i < h->loop.period; i++) {
        if (step_back(h, i)->symbol == f->symbol) {
            return true;
        }
    }
    return false;
}

/*
 * The open call that takes the lock that the loop waits for: the outermost one
 * that is called for that; NULL: nothing says that it is a lock.
 */
static const OpenCall *find_taker(const HungHart *h)
{
    guint i = 0, first;

    while (i < h->open->len &&
           !is_in_loop(h, g_array_index(h->open, OpenCall, i).frame)) {
        i++;
    }
    if (i == h->open->len) {
        return NULL;
    }
    for (first = i; first && lock_is_taken_by(open_name(h, first - 1));
         first--) {
    }
    return lock_is_taken_by(open_name(h, first)) ?
           &g_array_index(h->open, OpenCall, first) : NULL;
}

/* Harts that have taken such a lock and not given it back, each in a line */
static void add_holders(Sheet *s, const Hung *u, const HungHart *h,
                        const OpenCall *taker)
{
    const char *name = profile_frame(h->profile, taker->frame)->name;
    bool gave_back = false;
    unsigned n = 0;

    for (guint i = 0; i < u->harts->len; i++) {
        const HungHart *other = u->harts->pdata[i];

        gave_back |= locks_gave_back(other->locks, name);
        n += locks_find(other->locks, name) != NULL;
    }
    for (guint i = 0; i < u->harts->len; i++) {
        const HungHart *other = u->harts->pdata[i];
        const HeldLock *held = locks_find(other->locks, name);
        g_autofree char *text = held ? g_strdup_printf(
            "hart %u has one of %s: %s, for %s%s", other->hart, name,
            held->task->name, profile_frame(other->profile, held->caller)->name,
            gave_back ? "" : "; nothing is seen to give one back") : NULL;

        if (held) {
            add_line(s, h, "held", UINT64_MAX, held->since, UINT64_MAX, text);
        }
    }
    if (!n) {
        add_line(s, h, "held", UINT64_MAX, UINT64_MAX, UINT64_MAX,
                 "no call has taken such a lock and not given it back");
    }
}

static void add_spin(Sheet *s, const Hung *u, const HungHart *h)
{
    const OpenCall *taker = h->loop.period ? find_taker(h) : NULL;
    guint i = taker ? taker - &g_array_index(h->open, OpenCall, 0) : 0;
    g_autofree char *text = NULL;

    if (!taker) {
        return;
    }
    text = g_strdup_printf("waits for a lock in %s%s%s", open_name(h, i),
                           i ? ", called by " : "",
                           i ? open_name(h, i - 1) : "");
    add_line(s, h, "spins", UINT64_MAX,
             taker->began ? taker->from.insns : UINT64_MAX, h->end, text);
    add_holders(s, u, h, taker);
}

static void add_sleep(Sheet *s, const HungHart *h)
{
    g_autofree char *text = h->sleeps ? g_strdup_printf(
        "wfi at 0x%" PRIx64 ", %s", h->next - 4,
        step_name(&h->steps[(h->nr_steps - 1) % HUNG_STEPS])) : NULL;

    if (text) {
        add_line(s, h, "sleeps", UINT64_MAX, h->end, h->end, text);
    }
}

static void add_hart(Sheet *s, const Hung *u, const HungHart *h)
{
    g_autofree char *stack = stack_text(h);
    g_autofree char *who = g_strdup_printf(
        "%s, %s, %s", h->nr_steps ? priv_text(h->priv) : "-", h->task->name,
        h->nr_steps ? step_name(&h->steps[(h->nr_steps - 1) % HUNG_STEPS]) :
        "-");

    add_line(s, h, "end", h->end, UINT64_MAX, h->end, who);
    add_line(s, h, "stack", UINT64_MAX, UINT64_MAX, UINT64_MAX, stack);
    if (h->nr_steps) {
        add_loop(s, h);
    }
    add_spin(s, u, h);
    add_sleep(s, h);
    add_traps(s, h);
    for (unsigned i = 0; i < MIN(h->nr_calls, NR_CALLS); i++) {
        const LastCall *call = &h->calls[(h->nr_calls - 1 - i) % NR_CALLS];

        add_line(s, h, "call", UINT64_MAX, call->place, UINT64_MAX,
                 profile_frame(h->profile, call->frame)->name);
    }
}

void hung_write(const Hung *u, FILE *f)
{
    g_autoptr(Sheet) s = sheet_new(u->format);

    sheet_column(s, "hart", true);
    sheet_column(s, "what", false);
    sheet_column(s, "count", true);
    sheet_column(s, "from", true);
    sheet_column(s, "to", true);
    sheet_column(s, "text", false);
    for (guint i = 0; i < u->harts->len; i++) {
        add_hart(s, u, u->harts->pdata[i]);
    }
    if (u->format == TABLE_JSON) {
        table_begin_json("why-hung", f);
        fputs("\"rows\": ", f);
    }
    sheet_write(s, f);
    if (u->format == TABLE_JSON) {
        fputs("}\n", f);
    }
}
