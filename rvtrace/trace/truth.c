/*
 * Truth files: what really retired
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <gio/gio.h>
#include "base/input.h"
#include "trace/truth.h"

#define MAGIC "# rvtruth 1"

/* A trace has no more sources. */
#define MAX_HARTS 65536

static TruthHart *get_hart(Truth *truth, unsigned hart)
{
    TruthHart fresh = { .hart = hart };
    guint lo = 0, hi = truth->harts->len;

    while (lo < hi) {
        guint mid = lo + (hi - lo) / 2;
        TruthHart *h = &g_array_index(truth->harts, TruthHart, mid);

        if (h->hart == hart) {
            return h;
        }
        if (h->hart < hart) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    fresh.points = g_array_new(FALSE, FALSE, sizeof(TruthPoint));
    g_array_insert_val(truth->harts, lo, fresh);
    return &g_array_index(truth->harts, TruthHart, lo);
}

/* One line, which is 0-terminated. Returns what is wrong with it, or NULL. */
static const char *parse_line(Truth *truth, GHashTable *ended, char *line)
{
    unsigned hart;
    TruthPoint point = { 0 };
    TruthHart *h;
    char kind, rest;

    g_strchomp(line);
    if (line[0] == '#' || !line[0]) {
        return NULL;
    }
    if (sscanf(line, "%c %u %" SCNu64 " %" SCNx64 "%c", &kind, &hart,
               &point.count, &point.hash, &rest) != 4 ||
        (kind != 'H' && kind != 'E')) {
        return "not of the form 'H hart count hash' or 'E hart count hash'";
    }
    if (hart >= MAX_HARTS) {
        return "harts are numbered from 0 to 65535";
    }
    if (g_hash_table_contains(ended, GUINT_TO_POINTER(hart))) {
        return "this hart has ended before";
    }
    h = get_hart(truth, hart);
    if (h->points->len) {
        TruthPoint *last = &g_array_index(h->points, TruthPoint,
                                          h->points->len - 1);

        if (point.count < last->count ||
            (point.count == last->count && point.hash != last->hash)) {
            return "counts do not grow";
        }
    }
    g_array_append_val(h->points, point);
    if (kind == 'E') {
        g_hash_table_add(ended, GUINT_TO_POINTER(hart));
    }
    return NULL;
}

Truth *truth_parse(const char *text, size_t size, GError **errp)
{
    g_autoptr(Truth) truth = g_new0(Truth, 1);
    g_autoptr(GHashTable) ended = g_hash_table_new(NULL, NULL);
    const char *end = text + size;
    unsigned nr = 0;

    truth->harts = g_array_new(FALSE, FALSE, sizeof(TruthHart));
    while (text < end) {
        const char *nl = memchr(text, '\n', end - text);
        g_autofree char *line = g_strndup(text, (nl ? nl : end) - text);
        const char *wrong = NULL;

        text = nl ? nl + 1 : end;
        if (++nr == 1) {
            if (strcmp(g_strchomp(line), MAGIC) != 0) {
                wrong = "does not begin with '" MAGIC "'";
            }
        } else {
            wrong = parse_line(truth, ended, line);
        }
        if (wrong) {
            g_set_error(errp, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                        "line %u: %s", nr, wrong);
            return NULL;
        }
    }
    for (guint i = 0; i < truth->harts->len; i++) {
        unsigned hart = g_array_index(truth->harts, TruthHart, i).hart;

        if (!g_hash_table_contains(ended, GUINT_TO_POINTER(hart))) {
            g_set_error(errp, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                        "hart %u has no final line (E): the file is cut off",
                        hart);
            return NULL;
        }
    }
    if (!truth->harts->len) {
        g_set_error(errp, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                    "no harts in it: the file is cut off");
        return NULL;
    }
    return g_steal_pointer(&truth);
}

Truth *truth_load(const char *path, GError **errp)
{
    g_autoptr(GBytes) file = input_open(path, errp);
    const char *text;
    Truth *truth;
    size_t size;

    if (!file) {
        return NULL;
    }
    text = (const char *)input_data(file, &size);
    truth = truth_parse(text, size, errp);
    if (!truth) {
        g_prefix_error(errp, "%s: ", path);
    }
    return truth;
}

void truth_append(Truth *truth, const Truth *more)
{
    for (guint i = 0; i < more->harts->len; i++) {
        const TruthHart *from = &g_array_index(more->harts, TruthHart, i);
        TruthHart *to = get_hart(truth, from->hart);
        uint64_t base = 0;

        if (to->points->len) {
            TruthPoint *last = &g_array_index(to->points, TruthPoint,
                                              to->points->len - 1);

            last->restart = true;
            base = last->count;
        }
        for (guint j = 0; j < from->points->len; j++) {
            TruthPoint point = g_array_index(from->points, TruthPoint, j);

            point.count += base;
            g_array_append_val(to->points, point);
        }
    }
}

void truth_free(Truth *truth)
{
    for (guint i = 0; i < truth->harts->len; i++) {
        g_array_unref(g_array_index(truth->harts, TruthHart, i).points);
    }
    g_array_unref(truth->harts);
    g_free(truth);
}

static const TruthPoint *point_at(const TruthCheck *check, unsigned i)
{
    return &g_array_index(check->truth->points, TruthPoint, i);
}

static void set_next_count(TruthCheck *check)
{
    check->next_count = check->next < check->truth->points->len ?
                        point_at(check, check->next)->count : UINT64_MAX;
}

static void compare_next(TruthCheck *check)
{
    if (point_at(check, check->next)->hash == check->hash) {
        check->matched++;
    } else if (check->differing++ == 0) {
        check->first_bad = check->next;
    }
    if (point_at(check, check->next)->restart) {
        check->hash = 0;
    }
    check->next++;
    set_next_count(check);
}

void truth_check_init(TruthCheck *check, const TruthHart *truth)
{
    *check = (TruthCheck) { .truth = truth };
    set_next_count(check);
    while (check->next_count == 0) {
        compare_next(check);
    }
}

/* Instructions that no checkpoint is among */
static uint64_t hash_wide(uint64_t hash, const FlowRun *run)
{
    uint64_t pc = run->pc, wide = run->wide;

    for (unsigned i = 0; i < run->count; i++) {
        unsigned more = wide & 1;

        hash = truth_hash(hash, pc);
        pc += 2 + 2 * more;
        wide >>= 1 + more;
    }
    return hash;
}

static void check_run_slowly(TruthCheck *check, const FlowRun *run)
{
    const uint8_t *code = run->code;
    uint64_t pc = run->pc, hash = check->hash;
    unsigned left = run->count;

    while (left) {
        unsigned part = MIN(left, check->next_count - check->count);

        for (unsigned i = 0; i < part; i++) {
            unsigned len = flow_insn_length(code);

            hash = truth_hash(hash, pc);
            pc += len;
            code += len;
        }
        check->hash = hash;
        check->count += part;
        left -= part;
        while (check->count == check->next_count) {
            compare_next(check);
        }
        hash = check->hash;
    }
}

void truth_check_run(TruthCheck *check, const FlowRun *run)
{
    if (run->count <= FLOW_WIDE_INSNS &&
        run->count < check->next_count - check->count) {
        check->hash = hash_wide(check->hash, run);
        check->count += run->count;
    } else {
        check_run_slowly(check, run);
    }
}

bool truth_check_finish(TruthCheck *check)
{
    uint64_t end = point_at(check, check->truth->points->len - 1)->count;

    /* Checkpoints that were never reached: instructions are missing. */
    while (check->next < check->truth->points->len) {
        if (check->differing++ == 0) {
            check->first_bad = check->next;
        }
        check->next++;
    }
    return !check->differing && check->count == end;
}
