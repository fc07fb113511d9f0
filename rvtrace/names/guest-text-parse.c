/*
 * What the guest said of itself: the lines
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "names/guest-text-private.h"

/* No function is that large. */
#define MAX_JIT_SIZE    (1u << 30)

static void dump_free(gpointer opaque)
{
    GuestDump *d = opaque;

    g_array_unref(d->lines);
    g_free(d);
}

GuestProcess *guest_text_process(GuestText *g, uint32_t tgid)
{
    GuestProcess *p = g_hash_table_lookup(g->processes,
                                          GUINT_TO_POINTER(tgid));

    if (!p) {
        p = g_new0(GuestProcess, 1);
        p->tgid = tgid;
        p->epochs = g_array_new(false, false, sizeof(GuestEpoch));
        p->maps = g_ptr_array_new_with_free_func(dump_free);
        p->jits = g_ptr_array_new_with_free_func(dump_free);
        g_hash_table_insert(g->processes, GUINT_TO_POINTER(tgid), p);
    }
    return p;
}

bool guest_text_same_space(const SidebandSpace *a,
                           const SidebandSpace *b)
{
    return a->virt == b->virt && a->atp == b->atp && a->gatp == b->gatp;
}

int guest_text_epoch(const GuestProcess *p, const SidebandWhere *where)
{
    int i = p->epochs->len - 1;

    for (; i >= 0; i--) {
        const GuestEpoch *e = &g_array_index(p->epochs, GuestEpoch, i);

        if (e->pos < where->pos &&
            guest_text_same_space(&e->space, &where->space)) {
            break;
        }
    }
    return i;
}

/* A new dump of the process, of lines of @size bytes */
static GuestDump *dump_new(GPtrArray *dumps, const GuestProcess *p, size_t pos,
                           unsigned size)
{
    GuestDump *d = g_new0(GuestDump, 1);

    d->pos = pos;
    d->epoch = p->epochs->len ? p->epochs->len - 1 : 0;
    d->lines = g_array_new(false, false, size);
    g_ptr_array_add(dumps, d);
    return d;
}

static GuestDump *last_dump(GPtrArray *dumps)
{
    return dumps->len ? dumps->pdata[dumps->len - 1] : NULL;
}

/* A hexadecimal number at *@s, behind which @end stands; moves *@s behind. */
static bool get_hex(const char **s, char end, uint64_t *value)
{
    char *behind;

    if (!g_ascii_isxdigit(**s)) {
        return false;
    }
    *value = g_ascii_strtoull(*s, &behind, 16);
    *s = behind + 1;
    return *behind == end && end;
}

/* A decimal number and the blank behind it, or the end; 0 is none. */
static bool get_pid(const char **s, uint32_t *pid)
{
    char *behind;
    uint64_t value = g_ascii_isdigit(**s) ?
                     g_ascii_strtoull(*s, &behind, 10) : 0;

    if (!value || value > UINT32_MAX || (*behind && *behind != ' ')) {
        return false;
    }
    *s = behind + (*behind == ' ');
    *pid = value;
    return true;
}

/* Behind the next word of @s and the blanks there */
static const char *next_word(const char *s)
{
    s += strcspn(s, " ");
    return s + strspn(s, " ");
}

/* Has memory that is called @path no file? Programs can give it names, too. */
static bool is_anonymous(const char *path)
{
    return !*path || g_str_has_prefix(path, "[anon") ||
           g_str_equal(path, "[heap]") || g_str_has_prefix(path, "[stack");
}

/* The path at the end of a line of maps; the kernel writes "\\012" for '\n'. */
static char *parse_path(const char *text)
{
    g_auto(GStrv) lines = g_strsplit(text, "\\012", -1);
    char *path = g_strjoinv("\n", lines);

    if (g_str_has_suffix(path, " (deleted)")) {
        path[strlen(path) - strlen(" (deleted)")] = 0;
    }
    return path;
}

/* "lo-hi perms offset device inode path", of which the path may be missing */
static bool parse_map(GuestText *g, size_t pos, uint32_t pid, const char *s)
{
    GuestProcess *p = guest_text_process(g, pid);
    GuestDump *d = last_dump(p->maps);
    g_autofree char *path = NULL;
    const GuestMap *last;
    const char *perms;
    GuestMap map;

    if (!get_hex(&s, '-', &map.lo) || !get_hex(&s, ' ', &map.hi) ||
        map.hi <= map.lo || strcspn(s, " ") != 4) {
        return false;
    }
    perms = s;
    s = next_word(s);
    if (!get_hex(&s, ' ', &map.offset)) {
        return false;
    }
    s = next_word(next_word(s));
    path = parse_path(s);
    /* The file is sorted: where addresses begin anew, it is another one. */
    last = d && d->lines->len ?
           &g_array_index(d->lines, GuestMap, d->lines->len - 1) : NULL;
    if (!d || (last && map.lo < last->hi) ||
        d->epoch + 1 < p->epochs->len) {
        d = dump_new(p->maps, p, pos, sizeof(map));
    }
    map.path = perms[2] == 'x' && (path[0] == '/' ||
                                   g_str_equal(path, "[vdso]")) ?
               g_string_chunk_insert_const(g->strings, path) : NULL;
    map.anonymous = perms[2] == 'x' && is_anonymous(path);
    g_array_append_val(d->lines, map);
    return true;
}

/* "start size name", in hexadecimal; nothing at all: the file begins. */
static bool parse_jit(GuestText *g, size_t pos, uint32_t pid, const char *s)
{
    GuestProcess *p = guest_text_process(g, pid);
    GuestDump *d = last_dump(p->jits);
    GuestJit jit = { .pos = pos };
    uint64_t size;

    if (!*s) {
        dump_new(p->jits, p, pos, sizeof(jit));
        return true;
    }
    if (!d) {
        d = dump_new(p->jits, p, pos, sizeof(jit));
    }
    if (!get_hex(&s, ' ', &jit.lo) || !get_hex(&s, ' ', &size) || !size ||
        size > MAX_JIT_SIZE || size > UINT64_MAX - jit.lo || !*s) {
        return false;
    }
    jit.hi = jit.lo + size;
    jit.name = g_string_chunk_insert_const(g->strings, s);
    g_array_append_val(d->lines, jit);
    return true;
}

/* "address type name [module]", of which the module may be missing */
static bool parse_ksym(GuestText *g, const char *s)
{
    g_auto(GStrv) words = NULL;
    unsigned n;
    GuestKsym sym;

    if (!get_hex(&s, ' ', &sym.addr)) {
        return false;
    }
    words = g_strsplit_set(s, " \t", 4);
    n = g_strv_length(words);
    if (n < 2 || n > 3 || strlen(words[0]) != 1 || !*words[1]) {
        return false;
    }
    if (!strchr("tTwW", words[0][0]) || !sym.addr ||
        words[1][0] == '$' || g_str_has_prefix(words[1], ".L")) {
        return true;
    }
    sym.name = g_string_chunk_insert_const(g->strings, words[1]);
    sym.module = NULL;
    if (n == 3) {
        size_t len = strlen(words[2]);

        if (len < 3 || words[2][0] != '[' || words[2][len - 1] != ']') {
            return false;
        }
        words[2][len - 1] = 0;
        sym.module = g_string_chunk_insert_const(g->strings, words[2] + 1);
    }
    g_array_append_val(g->ksyms, sym);
    return true;
}

/* "name size users dependencies state address" */
static bool parse_module(GuestText *g, const char *s)
{
    g_auto(GStrv) words = g_strsplit(s, " ", 7);
    GuestModule module;
    const char *at;
    uint64_t size;
    char *end;

    if (g_strv_length(words) < 6 || !*words[0] ||
        !g_str_has_prefix(words[5], "0x")) {
        return false;
    }
    size = g_ascii_strtoull(words[1], &end, 10);
    at = words[5] + 2;
    module.lo = g_ascii_strtoull(at, NULL, 16);
    if (*end || !g_ascii_isxdigit(*at) || size > UINT64_MAX - module.lo) {
        return false;
    }
    module.hi = module.lo + size;
    module.name = g_string_chunk_insert_const(g->strings, words[0]);
    g_hash_table_add(g->module_names, (gpointer)module.name);
    if (module.lo && size) {
        g_array_append_val(g->modules, module);
    }
    return true;
}

bool guest_text_line(GuestText *g, size_t pos, const char *text, size_t len)
{
    g_autofree char *line = NULL;
    const char *s;
    uint32_t pid;

    if (memchr(text, 0, len)) {
        return false;
    }
    line = g_strndup(text, len);
    if (g_str_has_prefix(line, "maps ")) {
        s = line + strlen("maps ");
        return get_pid(&s, &pid) && parse_map(g, pos, pid, s);
    }
    if (g_str_has_prefix(line, "jit ")) {
        s = line + strlen("jit ");
        return get_pid(&s, &pid) && parse_jit(g, pos, pid, s);
    }
    if (g_str_has_prefix(line, "kallsyms ")) {
        return parse_ksym(g, line + strlen("kallsyms "));
    }
    if (g_str_has_prefix(line, "modules ")) {
        return parse_module(g, line + strlen("modules "));
    }
    return true;                /* Other texts are of no concern. */
}
