/*
 * rvtrace: results of pieces of a trace, and how they are added up
 *
 * A shard says which piece of which index it is of, and with what options: the
 * names of functions are not in it, but found once more when shards are added
 * up. Then everything is as if the trace had been decoded at once.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "profile/saved-counts.h"
#include "base/sealed-file.h"
#include "analysis/shards.h"
#include "base/say.h"

static const SealedKind kind = {
    .magic = "rvtrace shard\n\x1a",
    .version = 4,
    .what = "result of --shard",
    .remedy = "make it again with --shard K/N",
};

/* Bytes that a text takes at least */
#define TEXT_SIZE   4

/* What a shard begins with */
typedef struct ShardHeader {
    char *options;          /* digest of what it was made with */
    unsigned shard, shards;
    char *index;            /* digest of the index */
    char *names;            /* names_digest() */
    uint64_t losses;
    bool gave_up;
    unsigned nr_harts;
} ShardHeader;

static void header_clear(ShardHeader *h)
{
    g_free(h->options);
    g_free(h->index);
    g_free(h->names);
}

static void put_words(GByteArray *out, char **words)
{
    bytes_put_u32(out, words ? g_strv_length(words) : 0);
    for (; words && *words; words++) {
        bytes_put_text(out, *words);
    }
}

/* NULL for none; the caller frees them. */
static char **get_words(ByteReader *in)
{
    uint32_t n = bytes_get_count(in, TEXT_SIZE);
    char **words = n ? g_new0(char *, n + 1) : NULL;

    for (uint32_t i = 0; i < n; i++) {
        words[i] = bytes_get_text(in);
    }
    return words;
}

static void put_option(GByteArray *out, const char *text)
{
    bytes_put_u8(out, text != NULL);
    bytes_put_text(out, text);
}

static char *get_option(ByteReader *in)
{
    bool has = bytes_get_u8(in);
    char *text = bytes_get_text(in);

    return has ? text : (g_free(text), NULL);
}

/* As words, which they are to the user */
static void put_sessions(GByteArray *out, const Job *job)
{
    bytes_put_u32(out, job->nr_sessions);
    for (unsigned i = 0; i < job->nr_sessions; i++) {
        g_autofree char *text = g_strdup_printf("%u", job->sessions[i]);

        bytes_put_text(out, text);
    }
}

static void get_sessions(ByteReader *in, Job *job)
{
    g_auto(GStrv) words = get_words(in);
    unsigned n = words ? g_strv_length(words) : 0;
    g_autofree unsigned *sessions = g_new0(unsigned, n);

    for (unsigned i = 0; i < n; i++) {
        guint64 number;

        if (!g_ascii_string_to_unsigned(words[i], 10, 1, UINT_MAX, &number,
                                        NULL)) {
            in->failed = true;
            return;
        }
        sessions[i] = number;
    }
    if (!job->sessions && n) {
        job->sessions = g_steal_pointer(&sessions);
        job->nr_sessions = n;
    }
}

static void put_options(GByteArray *out, const Job *job)
{
    put_words(out, job->traces);
    put_words(out, job->sidebands);
    put_sessions(out, job);
    put_words(out, job->elfs);
    put_words(out, job->params);
    put_words(out, job->tvecs);
    put_option(out, job->isa);
    put_option(out, job->unit);
    put_option(out, job->params_file);
    bytes_put_u32(out, job->hart + 1);
    put_words(out, job->select.processes);
    put_words(out, job->select.regions);
    put_option(out, job->select.from);
    put_option(out, job->select.to);
    put_words(out, job->names.kallsyms);
    put_words(out, job->names.sysroots);
}

/* Put @text into *@option, unless that was given. */
static void take_option(char **option, char *text)
{
    if (*option) {
        g_free(text);
    } else {
        *option = text;
    }
}

static void take_words(char ***option, char **words)
{
    if (*option) {
        g_strfreev(words);
    } else {
        *option = words;
    }
}

static void get_options(ByteReader *in, Job *job)
{
    take_words(&job->traces, get_words(in));
    take_words(&job->sidebands, get_words(in));
    get_sessions(in, job);
    take_words(&job->elfs, get_words(in));
    take_words(&job->params, get_words(in));
    take_words(&job->tvecs, get_words(in));
    take_option(&job->isa, get_option(in));
    take_option(&job->unit, get_option(in));
    take_option(&job->params_file, get_option(in));
    job->hart = (int)bytes_get_u32(in) - 1;
    take_words(&job->select.processes, get_words(in));
    take_words(&job->select.regions, get_words(in));
    take_option(&job->select.from, get_option(in));
    take_option(&job->select.to, get_option(in));
    take_words(&job->names.kallsyms, get_words(in));
    take_words(&job->names.sysroots, get_words(in));
}

static void put_hart(GByteArray *out, const HartResult *h)
{
    bytes_put_u8(out, h != NULL);
    if (h) {
        bytes_put_u64(out, h->counts.insns);
        bytes_put_u64(out, h->counts.selected);
        saved_counts_put(hart_profile(h), hart_ranges(h), out);
    }
}

void shards_write(const Results *r, FILE *f)
{
    g_autoptr(GByteArray) out = g_byte_array_new();
    g_autofree char *names = results_index_names(r);

    sealed_file_begin(&kind, out);
    put_options(out, r->job);
    bytes_put_u32(out, r->job->shard);
    bytes_put_u32(out, r->job->shards);
    bytes_put_text(out, r->index->digest);
    bytes_put_text(out, names);
    bytes_put_u64(out, r->losses->losses);
    bytes_put_u8(out, r->losses->gave_up);
    bytes_put_u32(out, r->t->nr_harts);
    for (unsigned i = 0; i < r->t->nr_harts; i++) {
        put_hart(out, r->harts[i]);
    }
    sealed_file_end(out);
    fwrite(out->data, out->len, 1, f);
}

bool shards_take_options(Job *job, const char *path)
{
    g_autoptr(GError) err = NULL;
    g_autoptr(GBytes) file = NULL;
    ByteReader in;

    file = sealed_file_open(&kind, path, &in, NULL, &err);
    if (file) {
        get_options(&in, job);
        if (in.failed || !job->traces) {
            sealed_file_fail(&kind, path, "the file makes no sense", &err);
        }
    }
    if (err) {
        say_error("%s", err->message);
    }
    return !err;
}

static bool get_header(ByteReader *in, ShardHeader *h)
{
    g_auto(Job) unused = { 0 };
    size_t begin = in->pos;

    get_options(in, &unused);
    h->options = g_compute_checksum_for_data(G_CHECKSUM_SHA256,
                                             in->data + begin,
                                             in->pos - begin);
    h->shard = bytes_get_u32(in);
    h->shards = bytes_get_u32(in);
    h->index = bytes_get_text(in);
    h->names = bytes_get_text(in);
    h->losses = bytes_get_u64(in);
    h->gave_up = bytes_get_u8(in);
    h->nr_harts = bytes_get_u32(in);
    return !in->failed && h->shard && h->shard <= h->shards &&
           h->shards <= JOB_MAX_SHARDS;
}

static bool add_counts(ByteReader *in, const Results *r, HartResult *h,
                       unsigned hart)
{
    Profile *p = hart_profile(h);
    unsigned limit = p ? p->limit : 0;
    bool ok;

    /* While a file is read, its nodes are known by their numbers. */
    if (p) {
        p->limit = UINT_MAX;
    }
    ok = saved_counts_get(in, hart, r->tasks, names_objects(r->names), p,
                          &r->layers, hart_ranges(h));
    if (p) {
        p->limit = limit;
    }
    if (p && profile_is_crowded(p)) {
        g_autofree uint8_t *used = g_malloc0(p->nodes->len);

        g_free(profile_merge_rare(p, used));
    }
    return ok;
}

/* Add one hart of a shard to @h, which may be NULL. */
static bool add_hart(ByteReader *in, const Results *r, unsigned hart)
{
    HartResult *h = r->harts[hart];
    bool has = bytes_get_u8(in);

    if (has != (h != NULL)) {
        return false;
    }
    if (!has) {
        return true;
    }
    h->counts.insns = bytes_get_u64(in);
    h->counts.selected += bytes_get_u64(in);
    return add_counts(in, r, h, hart);
}

/* A file that is to be added */
typedef struct Shard {
    const char *path;
    GBytes *file;
    ShardHeader header;
    ByteReader harts;       /* what is behind the header */
} Shard;

static void shard_clear(gpointer opaque)
{
    Shard *s = opaque;

    header_clear(&s->header);
    g_clear_pointer(&s->file, g_bytes_unref);
}

/* Prints what is wrong and returns false. */
static bool open_shard(const char *path, Shard *s)
{
    g_autoptr(GError) err = NULL;

    s->path = path;
    s->file = sealed_file_open(&kind, path, &s->harts, NULL, &err);
    if (s->file && !get_header(&s->harts, &s->header)) {
        sealed_file_fail(&kind, path, "the file makes no sense", &err);
    }
    if (err) {
        say_error("%s", err->message);
    }
    return !err;
}

/*
 * Why can @s not be added? @before: the piece before it in the order of their
 * numbers, or NULL. NULL if it can.
 */
static const char *find_problem(const Results *r, const Shard *s,
                                const Shard *before, const char *names)
{
    const ShardHeader *h = &s->header;
    const ShardHeader *b = before ? &before->header : NULL;

    if (strcmp(h->names, names)) {
        return "its functions have other names now: give the same --sysroot, "
               "--elf and --kallsyms, with the same files in them";
    }
    if (h->nr_harts != r->t->nr_harts) {
        return "it is of another trace";
    }
    if (b && (h->shards != b->shards || strcmp(h->index, b->index))) {
        return "it is of another trace or index, or of another number of "
               "pieces, than the ones before it";
    }
    if (b && strcmp(h->options, b->options)) {
        return "it was made with other options than the ones before it";
    }
    return NULL;
}

/* Prints what is wrong and returns false. */
static bool add_shard(Results *r, Shard *s)
{
    g_autoptr(GError) err = NULL;
    ByteReader *in = &s->harts;
    bool ok = true;

    for (unsigned i = 0; ok && i < r->t->nr_harts; i++) {
        ok = add_hart(in, r, i);
    }
    if (!ok || in->failed || in->pos != in->size) {
        sealed_file_fail(&kind, s->path, "the file makes no sense", &err);
        say_error("%s", err->message);
        return false;
    }
    r->losses->losses += s->header.losses;
    r->losses->gave_up |= s->header.gave_up;
    return true;
}

static int compare_shards(gconstpointer a, gconstpointer b)
{
    const Shard *x = a, *y = b;

    return x->header.shard < y->header.shard ? -1 :
           x->header.shard > y->header.shard;
}

/* Is each piece there, once? Prints what is wrong and returns false. */
static bool all_there(const GArray *shards)
{
    unsigned n = g_array_index(shards, Shard, 0).header.shards;

    for (unsigned i = 0; i < MAX(n, shards->len); i++) {
        const Shard *s = i < shards->len ? &g_array_index(shards, Shard, i) :
                                           NULL;
        unsigned number = s ? s->header.shard : n + 1;

        if (number < i + 1) {
            say_error("%s: piece %u is there twice", s->path, number);
            return false;
        }
        if (number > i + 1) {
            say_error("piece %u of %u is missing: make it with --shard %u/%u",
                      i + 1, n, i + 1, n);
            return false;
        }
    }
    return true;
}

bool shards_load(Results *r)
{
    g_autofree char *names = results_index_names(r);
    g_autoptr(GArray) shards = g_array_new(false, true, sizeof(Shard));

    g_array_set_clear_func(shards, shard_clear);
    for (char **path = r->job->shard_files; *path; path++) {
        g_array_set_size(shards, shards->len + 1);
        if (!open_shard(*path, &g_array_index(shards, Shard,
                                              shards->len - 1))) {
            return false;
        }
    }
    /* As the whole has them: what is found first may come first in a view. */
    g_array_sort(shards, compare_shards);
    for (guint i = 0; i < shards->len; i++) {
        Shard *s = &g_array_index(shards, Shard, i);
        const char *why = find_problem(r, s, i ? s - 1 : NULL, names);

        if (why) {
            say_error("%s: %s", s->path, why);
            return false;
        }
    }
    if (!all_there(shards)) {
        return false;
    }
    for (guint i = 0; i < shards->len; i++) {
        if (!add_shard(r, &g_array_index(shards, Shard, i))) {
            return false;
        }
    }
    if (r->losses->losses) {
        say_warn("%" PRIu64 " losses in all pieces", r->losses->losses);
    }
    return true;
}
