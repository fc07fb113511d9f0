/*
 * Selection: what options say
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <math.h>
#include <gio/gio.h>
#include "base/option-error.h"
#include "profile/selection-private.h"

bool selection_parse_count(const char *text, uint64_t *count)
{
    static const struct {
        char suffix;
        uint64_t scale;
    } scales[] = { { 'k', 1000 }, { 'M', 1000000 }, { 'G', 1000000000 } };
    size_t len = strlen(text);
    g_autofree char *digits = g_strdup(text);
    uint64_t scale = 1;
    guint64 n;

    for (size_t i = 0; i < ARRAY_SIZE(scales); i++) {
        if (len && text[len - 1] == scales[i].suffix) {
            scale = scales[i].scale;
            digits[len - 1] = '\0';
        }
    }
    if (!g_ascii_isdigit(digits[0]) ||
        !g_ascii_string_to_unsigned(digits, 10, 0, UINT64_MAX / scale, &n,
                                    NULL)) {
        return false;
    }
    *count = n * scale;
    return true;
}

static bool wrong(GError **errp, OptionError option, const char *text,
                  const char *what)
{
    g_set_error(errp, OPTION_ERROR, option, "%s: %s", text, what);
    return false;
}

/* A decimal fraction and its unit, in ns; returns false if it is none. */
bool selection_parse_time(const char *text, uint64_t *ns)
{
    static const struct {
        const char *unit;
        double scale;
    } units[] = { { "s", 1e9 }, { "ms", 1e6 }, { "us", 1e3 }, { "ns", 1 } };
    char *end;
    double value = g_ascii_strtod(text, &end);

    /* Neither signs nor blanks, hexadecimal digits, or infinity */
    if (!g_ascii_isdigit(*text) ||
        strspn(text, "0123456789.e") != (size_t)(end - text)) {
        return false;
    }
    for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
        if (g_str_equal(end, units[i].unit)) {
            value *= units[i].scale;
            if (value >= 0x1p63) {
                return false;
            }
            *ns = llround(value);
            return true;
        }
    }
    return false;
}

/* The name may have a # itself, as a lambda of C++ has. */
char *selection_split_nth(const char *text, uint64_t *nth)
{
    const char *hash = strrchr(text, '#');
    guint64 n;

    *nth = 0;
    if (!hash || !g_ascii_string_to_unsigned(hash + 1, 10, 0, UINT64_MAX, &n,
                                             NULL)) {
        return g_strdup(text);
    }
    *nth = n;
    return n ? g_strndup(text, hash - text) : NULL;
}

static bool parse_function(Border *border, const char *text)
{
    border->name = selection_split_nth(text, &border->nth);
    return border->name && *border->name;
}

static bool parse_border(Border *border, OptionError option, const char *text,
                         GError **errp)
{
    const char *number;

    if (!text) {
        return true;
    }
    if (g_str_has_prefix(text, "mark:")) {
        border->kind = BORDER_MARK;
        border->name = g_strdup(text + strlen("mark:"));
        return *border->name || wrong(errp, option, text, "has no name");
    }
    if (g_str_has_prefix(text, "sym:")) {
        border->kind = BORDER_FUNCTION;
        return parse_function(border, text + strlen("sym:")) ||
               wrong(errp, option, text,
                     "must be sym:FUNCTION or sym:FUNCTION#N, N from 1 on");
    }
    border->from_end = *text == '-';
    number = text + border->from_end;
    border->kind = BORDER_INSNS;
    if (selection_parse_count(number, &border->number)) {
        return true;
    }
    border->kind = BORDER_TIME;
    return selection_parse_time(number, &border->number) ||
           wrong(errp, option, text, "must be a number of instructions, with "
                 "k, M or G behind it or not; a time, with s, ms, us or ns "
                 "behind it; mark:NOTE; sym:FUNCTION; or "
                 "sym:FUNCTION#N");
}

/* Does --to come no later than --from, as far as numbers say? */
static bool is_backwards(const Border *from, const Border *to)
{
    if (from->nth && to->nth) {
        return from->nth >= to->nth && !strcmp(from->name, to->name);
    }
    return from->kind == to->kind && !from->name &&
           from->from_end == to->from_end &&
           (from->from_end ? from->number <= to->number :
                             from->number >= to->number);
}

static bool parse_borders(Selection *s, const SelectionOptions *o,
                          GError **errp)
{
    if (!parse_border(&s->from, OPTION_FROM, o->from, errp) ||
        !parse_border(&s->to, OPTION_TO, o->to, errp)) {
        return false;
    }
    if (is_backwards(&s->from, &s->to)) {
        g_set_error(errp, OPTION_ERROR, OPTION_FROM,
                    "%s: must be before %s, or nothing is left", o->from ?: "0",
                    o->to ?: "the end");
        return false;
    }
    return true;
}

static bool parse_processes(Selection *s, char **texts, GError **errp)
{
    for (; texts && *texts; texts++) {
        Process p = { 0 };
        guint64 number;

        if (!**texts) {
            return wrong(errp, OPTION_PROCESS, "''",
                         "must be a task's name or number");
        }
        p.numeric = g_ascii_string_to_unsigned(*texts, 10, 0, UINT32_MAX,
                                               &number, NULL);
        if (p.numeric) {
            p.number = number;
        } else {
            p.name = g_strdup(*texts);
        }
        g_array_append_val(s->processes, p);
    }
    return true;
}

static bool parse_regions(Selection *s, char **texts, GError **errp)
{
    for (; texts && *texts; texts++) {
        const char *dots = strstr(*texts, "..");
        Region r;

        if (!**texts || dots == *texts || (dots && !dots[2])) {
            return wrong(errp, OPTION_REGION, **texts ? *texts : "''",
                         "must be the name of a region, or two marks as A..B");
        }
        if (s->regions->len == MAX_REGIONS) {
            return wrong(errp, OPTION_REGION, *texts, "one too many");
        }
        if (dots) {
            r.begin_kind = r.end_kind = ETRACE_SB_NOTE_MARK;
            r.begin = g_strndup(*texts, dots - *texts);
            r.end = g_strdup(dots + 2);
        } else {
            r.begin_kind = ETRACE_SB_NOTE_BEGIN;
            r.end_kind = ETRACE_SB_NOTE_END;
            r.begin = g_strdup(*texts);
            r.end = g_strdup(*texts);
        }
        g_array_append_val(s->regions, r);
    }
    return true;
}

static void process_clear(gpointer opaque)
{
    Process *p = opaque;

    g_clear_pointer(&p->name, g_free);
}

static void region_clear(gpointer opaque)
{
    Region *r = opaque;

    g_free(r->begin);
    g_free(r->end);
}

Selection *selection_all(void)
{
    Selection *s = g_new0(Selection, 1);

    s->to.number = UINT64_MAX;
    s->pinned = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    s->processes = g_array_new(false, false, sizeof(Process));
    s->regions = g_array_new(false, false, sizeof(Region));
    g_array_set_clear_func(s->processes, process_clear);
    g_array_set_clear_func(s->regions, region_clear);
    return s;
}

Selection *selection_new(const SelectionOptions *o, GError **errp)
{
    g_autoptr(Selection) s = selection_all();

    if (!parse_borders(s, o, errp) ||
        !parse_processes(s, o->processes, errp) ||
        !parse_regions(s, o->regions, errp)) {
        return NULL;
    }
    if (!o->from && !o->to && !s->processes->len && !s->regions->len) {
        return NULL;
    }
    return g_steal_pointer(&s);
}

void selection_free(Selection *s)
{
    g_free(s->from.name);
    g_free(s->to.name);
    g_array_unref(s->processes);
    g_array_unref(s->regions);
    g_hash_table_unref(s->pinned);
    g_free(s);
}
