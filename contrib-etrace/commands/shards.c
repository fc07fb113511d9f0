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
#include "index/saved-counts.h"
#include "index/sealed-file.h"
#include "shards.h"

static const SealedKind kind = {
    .magic = "rvtrace shard\n\x1a",
    .version = 1,
    .what = "result of --shard",
    .remedy = "make it again with --shard K/N",
};

/* Bytes that a text takes at least */
#define TEXT_SIZE   4

/* What a shard begins with */
typedef struct ShardHeader {
    unsigned shard, shards;
    char *index;            /* digest of the index */
    char *names;            /* names_digest() */
    uint64_t losses;
    bool gave_up;
    unsigned nr_harts;
} ShardHeader;

static void header_clear(ShardHeader *h)
{
    g_free(h->index);
    g_free(h->names);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(ShardHeader, header_clear)

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

static void put_options(GByteArray *out, const CliTrace *ct,
                        const ProfileOptions *o)
{
    put_words(out, ct->traces);
    put_words(out, ct->sidebands);
    put_words(out, ct->session_args);
    put_words(out, ct->elfs);
    put_words(out, ct->params);
    put_words(out, ct->tvecs);
    put_option(out, ct->isa);
    bytes_put_u32(out, ct->hart + 1);
    put_words(out, ct->select.processes);
    put_words(out, ct->select.regions);
    put_option(out, ct->select.from);
    put_option(out, ct->select.to);
    put_words(out, o->kallsyms);
    put_words(out, o->sysroots);
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

static void get_options(ByteReader *in, CliTrace *ct)
{
    take_words(&ct->traces, get_words(in));
    take_words(&ct->sidebands, get_words(in));
    take_words(&ct->session_args, get_words(in));
    take_words(&ct->elfs, get_words(in));
    take_words(&ct->params, get_words(in));
    take_words(&ct->tvecs, get_words(in));
    take_option(&ct->isa, get_option(in));
    ct->hart = (int)bytes_get_u32(in) - 1;
    take_words(&ct->select.processes, get_words(in));
    take_words(&ct->select.regions, get_words(in));
    take_option(&ct->select.from, get_option(in));
    take_option(&ct->select.to, get_option(in));
    take_words(&ct->shard_kallsyms, get_words(in));
    take_words(&ct->shard_sysroots, get_words(in));
}

static void put_hart(GByteArray *out, const HartResult *h)
{
    bytes_put_u8(out, h != NULL);
    if (h) {
        bytes_put_u64(out, h->counts.insns);
        bytes_put_u64(out, h->counts.selected);
        saved_counts_put(h->profile, h->ranges, out);
    }
}

int shards_write(const Results *r, const ProfileOptions *o, FILE *f)
{
    g_autoptr(GByteArray) out = g_byte_array_new();
    g_autofree char *names = results_index_names(r);

    sealed_file_begin(&kind, out);
    put_options(out, r->ct, o);
    bytes_put_u32(out, r->ct->shard);
    bytes_put_u32(out, r->ct->shards);
    bytes_put_text(out, r->index->digest);
    bytes_put_text(out, names);
    bytes_put_u64(out, r->ct->losses);
    bytes_put_u8(out, r->ct->gave_up);
    bytes_put_u32(out, r->t->nr_harts);
    for (unsigned i = 0; i < r->t->nr_harts; i++) {
        put_hart(out, r->harts[i]);
    }
    sealed_file_end(out);
    fwrite(out->data, out->len, 1, f);
    return cli_finish_losses(r->ct);
}

bool shards_take_options(CliTrace *ct, const char *path)
{
    g_autoptr(GError) err = NULL;
    g_autoptr(GBytes) file = NULL;
    ByteReader in;

    file = sealed_file_open(&kind, path, &in, NULL, &err);
    if (file) {
        get_options(&in, ct);
        if (in.failed || !ct->traces) {
            sealed_file_fail(&kind, path, "the file makes no sense", &err);
        }
    }
    if (err) {
        cli_error("%s", err->message);
    }
    return !err;
}

static bool get_header(ByteReader *in, ShardHeader *h)
{
    g_auto(CliTrace) unused = { 0 };

    get_options(in, &unused);
    h->shard = bytes_get_u32(in);
    h->shards = bytes_get_u32(in);
    h->index = bytes_get_text(in);
    h->names = bytes_get_text(in);
    h->losses = bytes_get_u64(in);
    h->gave_up = bytes_get_u8(in);
    h->nr_harts = bytes_get_u32(in);
    return !in->failed && h->shard && h->shard <= h->shards &&
           h->shards <= CLI_MAX_SHARDS;
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
    return saved_counts_get(in, hart, r->tasks, names_objects(r->names),
                            h->profile, &r->layers, h->ranges);
}

/* Which shards there are, and what all of them have */
typedef struct Sum {
    ShardHeader first;
    bool *there;            /* by number; NULL: none yet */
    char *options;          /* digest of what the first one was made with */
} Sum;

static void sum_clear(Sum *s)
{
    header_clear(&s->first);
    g_free(s->there);
    g_free(s->options);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Sum, sum_clear)

/* Why can the shard not be added? NULL if it can; the caller frees it. */
static char *find_problem(const Results *r, const Sum *s,
                          const ShardHeader *h, const char *options)
{
    g_autofree char *names = results_index_names(r);

    if (strcmp(h->names, names)) {
        return g_strdup("its functions have other names now: give the same "
                        "--sysroot, --elf and --kallsyms, with the same files "
                        "in them");
    }
    if (h->nr_harts != r->t->nr_harts) {
        return g_strdup("it is of another trace");
    }
    if (s->there && (h->shards != s->first.shards ||
                     strcmp(h->index, s->first.index))) {
        return g_strdup("it is of another trace or index, or of another "
                        "number of pieces, than the ones before it");
    }
    if (s->there && strcmp(options, s->options)) {
        return g_strdup("it was made with other options than the ones before "
                        "it");
    }
    if (s->there && s->there[h->shard - 1]) {
        return g_strdup_printf("piece %u is there twice", h->shard);
    }
    return NULL;
}

/* Prints what is wrong and returns false. */
static bool add_shard(Results *r, const char *path, Sum *s)
{
    g_auto(ShardHeader) h = { 0 };
    g_autoptr(GError) err = NULL;
    g_autoptr(GBytes) file = NULL;
    g_autofree char *why = NULL, *options = NULL;
    g_auto(CliTrace) unused = { 0 };
    ByteReader in, before;
    bool ok;

    file = sealed_file_open(&kind, path, &in, NULL, &err);
    if (!file) {
        cli_error("%s", err->message);
        return false;
    }
    before = in;
    get_options(&before, &unused);
    options = g_compute_checksum_for_data(G_CHECKSUM_SHA256,
                                          in.data + in.pos,
                                          before.pos - in.pos);
    ok = get_header(&in, &h);
    why = ok ? find_problem(r, s, &h, options) : NULL;
    if (why) {
        cli_error("%s: %s", path, why);
        return false;
    }
    for (unsigned i = 0; ok && i < r->t->nr_harts; i++) {
        ok = add_hart(&in, r, i);
    }
    if (!ok || in.failed || in.pos != in.size) {
        sealed_file_fail(&kind, path, "the file makes no sense", &err);
        cli_error("%s", err->message);
        return false;
    }
    r->ct->losses += h.losses;
    r->ct->gave_up |= h.gave_up;
    if (!s->there) {
        s->there = g_new0(bool, h.shards);
        s->first = h;
        s->options = g_steal_pointer(&options);
        h = (ShardHeader) { 0 };
        s->there[s->first.shard - 1] = true;
    } else {
        s->there[h.shard - 1] = true;
    }
    return true;
}

/* The number of the piece that the file @path is of; 0 if it is no good */
static unsigned number_of(const char *path)
{
    g_auto(ShardHeader) h = { 0 };
    ByteReader in;
    g_autoptr(GBytes) file = sealed_file_open(&kind, path, &in, NULL, NULL);

    return file && get_header(&in, &h) ? h.shard : 0;
}

static int compare_numbers(gconstpointer a, gconstpointer b)
{
    unsigned x = number_of(*(char *const *)a);
    unsigned y = number_of(*(char *const *)b);

    return x < y ? -1 : x > y;
}

bool shards_load(Results *r)
{
    g_auto(Sum) s = { 0 };

    /* As the whole has them: what is found first may come first in a view. */
    qsort(r->ct->shard_files, g_strv_length(r->ct->shard_files),
          sizeof(char *), compare_numbers);
    for (char **path = r->ct->shard_files; *path; path++) {
        if (!add_shard(r, *path, &s)) {
            return false;
        }
    }
    for (unsigned i = 0; i < s.first.shards; i++) {
        if (!s.there[i]) {
            cli_error("piece %u of %u is missing: make it with --shard %u/%u",
                      i + 1, s.first.shards, i + 1, s.first.shards);
            return false;
        }
    }
    if (r->ct->losses) {
        cli_warn("%" PRIu64 " losses in all pieces", r->ct->losses);
    }
    return true;
}
