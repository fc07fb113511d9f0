/*
 * Why a hart hangs: what is written
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "base/trap-text.h"
#include "views/questions/hung-private.h"
#include "views/questions/sheet.h"
#include "views/questions/syscalls.h"

#define NR_FRAMES   8           /* of the stack: the innermost ones */
#define NR_BODY     6           /* functions of a loop */
#define NR_WITHIN   8           /* calls that a lock's function may make */

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

/* Is the last thing a system call that has not returned, of all that is known? */
static bool is_in_syscall(const HungHart *h)
{
    return h->in_row && h->exception.cause == SYSCALL_CAUSE &&
           h->row_last == h->end;
}

static void add_traps(Sheet *s, const HungHart *h)
{
    const char *cause = trap_cause_text(false, h->exception.cause);
    g_autofree char *interrupt = trap_text(true, h->interrupt.cause);
    g_autofree char *text = g_strdup_printf(
        "%s %u at 0x%" PRIx64 ", %s, tval 0x%" PRIx64, cause ?: "exception",
        h->exception.cause, h->exception.epc, step_name(&h->place),
        h->exception.tval);

    if (h->in_row && !is_in_syscall(h)) {
        add_line(s, h, "exception", h->in_row, h->row_since, h->row_last,
                 text);
    }
    if (h->interrupts) {
        add_line(s, h, "interrupt", h->interrupts, h->last_interrupt,
                 UINT64_MAX, interrupt);
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

/* The outermost open call that goes round; their number: none does */
static guint find_looping(const HungHart *h)
{
    guint i = 0;

    while (i < h->open->len &&
           !is_in_loop(h, g_array_index(h->open, OpenCall, i).frame)) {
        i++;
    }
    return i;
}

/* The innermost open call that takes a lock, if it is near; else as above */
static guint find_locking(const HungHart *h)
{
    guint n = h->open->len;

    for (guint i = n; i && n - i < NR_WITHIN; i--) {
        if (lock_is_taken_by(open_name(h, i - 1))) {
            return i - 1;
        }
    }
    return n;
}

/*
 * The open call that takes the lock that the hart waits for: the outermost one
 * that is called for that; NULL: nothing says that it is a lock.
 */
static const OpenCall *find_taker(const HungHart *h)
{
    guint i = h->loop.period ? find_looping(h) :
              is_in_syscall(h) ? find_locking(h) : h->open->len;

    if (i == h->open->len) {
        return NULL;
    }
    while (i && lock_is_taken_by(open_name(h, i - 1))) {
        i--;
    }
    return lock_is_taken_by(open_name(h, i)) ?
           &g_array_index(h->open, OpenCall, i) : NULL;
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

static void add_lock(Sheet *s, const Hung *u, const HungHart *h)
{
    const OpenCall *taker = find_taker(h);
    guint i = taker ? taker - &g_array_index(h->open, OpenCall, 0) : 0;
    g_autofree char *text = NULL;

    if (!taker) {
        return;
    }
    text = g_strdup_printf("waits for a lock in %s%s%s", open_name(h, i),
                           i ? ", called by " : "",
                           i ? open_name(h, i - 1) : "");
    add_line(s, h, h->loop.period ? "spins" : "locks", UINT64_MAX,
             taker->began ? taker->from.insns : UINT64_MAX, h->end, text);
    add_holders(s, u, h, taker);
}

static void add_syscall(Sheet *s, const HungHart *h)
{
    g_autofree char *number = h->number == SYSCALL_UNKNOWN ? g_strdup("?") :
                              g_strdup_printf("%u", h->number);
    g_autofree char *text = g_strdup_printf("in system call %s at 0x%" PRIx64
                                            ", %s", number, h->exception.epc,
                                            step_name(&h->place));

    if (is_in_syscall(h)) {
        add_line(s, h, "waits", UINT64_MAX, h->row_last, h->end, text);
    }
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
    add_syscall(s, h);
    add_lock(s, u, h);
    add_sleep(s, h);
    add_traps(s, h);
    for (unsigned i = 0; i < MIN(h->nr_calls, HUNG_NR_CALLS); i++) {
        const LastCall *call = &h->calls[(h->nr_calls - 1 - i) % HUNG_NR_CALLS];

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
        HungHart *h = u->harts->pdata[i];

        h->loop = find_loop(h);
    }
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
