/*
 * Locks: who has which, by the names of functions that take them
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "views/questions/locks.h"

/* Words for taking; each with one for giving back, if NULL is not behind it */
static const struct {
    const char *take, *give, *with;     /* with: another word that is needed */
} words[] = {
    { "lock", "unlock", NULL },
    { "acquire", "release", NULL },
    { "take", "give", "mutex" },
    { "take", "give", "semaphore" },
    { "take", "give", "lock" },
    { "enter", "exit", "critical" },
    { "enter", "leave", "critical" },
    { "get", "put", "lock" },
    { "get", "release", "lock" },
    { "take", "release", "lock" },
};

/* What is done to a lock otherwise, or may not get it */
static const char *const others[] = {
    "unlock", "release", "try", "init", "destroy", "free", "is", "assert",
    "exit", "leave", "give", "put", "alloc", "create", "delete",
};

/* What is known of a frame: whether it was looked at, what it does */
#define FRAME_SEEN  1
#define FRAME_TAKES 2
#define FRAME_GIVES 4

struct Locks {
    const Profile *profile;
    GByteArray *frames;         /* FRAME_*, by number */
    GArray *held;               /* HeldLock, the latest one last */
    GHashTable *gave_back;      /* names, of those that took them */
};

/*
 * A word of a name: spin_lock, SpinLock, spinlock, lock_irq, mutex::lock; but no
 * clock, blocks, or lockdep
 */
static bool begins_word(const char *name, const char *at)
{
    static const char *const joined[] = { "spin", "mutex", "rw", "seq" };

    if (at == name || !g_ascii_isalpha(at[-1]) ||
        (g_ascii_isupper(*at) && g_ascii_islower(at[-1]))) {
        return true;
    }
    for (size_t i = 0; i < G_N_ELEMENTS(joined); i++) {
        size_t len = strlen(joined[i]);

        if ((size_t)(at - name) >= len &&
            !g_ascii_strncasecmp(at - len, joined[i], len)) {
            return true;
        }
    }
    return false;
}

/* Where the word is in @name; NULL: nowhere */
static const char *find_word(const char *name, const char *word)
{
    size_t len = strlen(word);

    for (const char *at = name; *at; at++) {
        if (!g_ascii_strncasecmp(at, word, len) &&
            !g_ascii_islower(at[len]) && begins_word(name, at)) {
            return at;
        }
    }
    return NULL;
}

bool lock_is_taken_by(const char *function)
{
    for (size_t i = 0; i < G_N_ELEMENTS(others); i++) {
        if (find_word(function, others[i])) {
            return false;
        }
    }
    for (size_t i = 0; i < G_N_ELEMENTS(words); i++) {
        if (find_word(function, words[i].take) &&
            (!words[i].with || find_word(function, words[i].with))) {
            return true;
        }
    }
    return false;
}

/* Has it the same beginning, and then the word for giving back? */
static bool is_pair(const char *function, const char *taker, const char *take,
                    const char *give)
{
    const char *at = find_word(taker, take);
    size_t before = at ? at - taker : 0;

    return at && !strncmp(function, taker, before) &&
           !g_ascii_strncasecmp(function + before, give, strlen(give)) &&
           !g_ascii_islower(function[before + strlen(give)]);
}

static bool gives(const char *function)
{
    for (size_t i = 0; i < G_N_ELEMENTS(words); i++) {
        if (find_word(function, words[i].give)) {
            return true;
        }
    }
    return false;
}

bool lock_is_given_back_by(const char *function, const char *taker)
{
    for (size_t i = 0; i < G_N_ELEMENTS(words); i++) {
        if (is_pair(function, taker, words[i].take, words[i].give)) {
            return true;
        }
    }
    return false;
}

Locks *locks_new(const Profile *profile)
{
    Locks *l = g_new0(Locks, 1);

    l->profile = profile;
    l->frames = g_byte_array_new();
    l->held = g_array_new(false, false, sizeof(HeldLock));
    l->gave_back = g_hash_table_new_full(g_str_hash, g_str_equal, g_free,
                                         NULL);
    return l;
}

void locks_free(Locks *l)
{
    g_byte_array_unref(l->frames);
    g_array_unref(l->held);
    g_hash_table_unref(l->gave_back);
    g_free(l);
}

static const char *name_of(const Locks *l, unsigned frame)
{
    return profile_frame(l->profile, frame)->name;
}

static HeldLock *held(const Locks *l, guint i)
{
    return &g_array_index(l->held, HeldLock, i);
}

/* What it does: FRAME_* */
static unsigned frame_does(Locks *l, unsigned frame)
{
    const char *name = name_of(l, frame);
    guint known = l->frames->len;

    if (frame >= known) {
        g_byte_array_set_size(l->frames, frame + 1);
        memset(l->frames->data + known, 0, frame + 1 - known);
    }
    if (!l->frames->data[frame]) {
        l->frames->data[frame] = FRAME_SEEN |
            (lock_is_taken_by(name) ? FRAME_TAKES : 0) |
            (gives(name) ? FRAME_GIVES : 0);
    }
    return l->frames->data[frame];
}

/* The latest one that it may be */
void locks_begin(Locks *l, const OpenCall *call)
{
    const char *name = name_of(l, call->frame);
    guint i = frame_does(l, call->frame) & FRAME_GIVES ? l->held->len : 0;

    for (; i; i--) {
        const char *taker = name_of(l, held(l, i - 1)->frame);

        if (lock_is_given_back_by(name, taker)) {
            if (!g_hash_table_contains(l->gave_back, taker)) {
                g_hash_table_add(l->gave_back, g_strdup(taker));
            }
            g_array_remove_index(l->held, i - 1);
            return;
        }
    }
}

void locks_end(Locks *l, const EndedCall *ended)
{
    const OpenCall *call = ended->call;
    unsigned parent = profile_node(l->profile, call->node)->parent;
    HeldLock lock = {
        call->frame, profile_node(l->profile, parent)->frame, ended->to.insns,
        ended->task,
    };

    if (ended->end != CALL_RETURNED || call->kind != CALL_FUNCTION ||
        !(frame_does(l, call->frame) & FRAME_TAKES)) {
        return;
    }
    /* What functions that it called have taken is this lock. */
    while (l->held->len &&
           held(l, l->held->len - 1)->since > call->from.insns) {
        g_array_set_size(l->held, l->held->len - 1);
    }
    if (l->held->len == LOCKS_MAX_HELD) {
        g_array_remove_index(l->held, 0);
    }
    g_array_append_val(l->held, lock);
}

void locks_forget(Locks *l)
{
    g_array_set_size(l->held, 0);
}

const HeldLock *locks_find(const Locks *l, const char *taker)
{
    for (guint i = l->held->len; i; i--) {
        if (g_str_equal(name_of(l, held(l, i - 1)->frame), taker)) {
            return held(l, i - 1);
        }
    }
    return NULL;
}

bool locks_gave_back(const Locks *l, const char *taker)
{
    return g_hash_table_contains(l->gave_back, taker);
}
