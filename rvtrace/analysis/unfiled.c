/*
 * What ran in no known file
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "base/text-plain.h"
#include "analysis/unfiled.h"

/* Less is not worth a line, percent. */
#define LEAST   1

/* Privilege levels, and the files that usually name the code there */
static const struct {
    const char *where, *files;
} levels[FRAME_NR_KINDS] = {
    [FRAME_MACHINE] = { "in M-mode", "the firmware's ELF file; OpenSBI's is "
                        "fw_dynamic.elf" },
    [FRAME_SUPERVISOR] = { "in S-mode", "the kernel's Image and modules, or "
                           "--kallsyms" },
    [FRAME_USER] = { "in U-mode", "programs and libraries; of code made at run "
                     "time, what 'rvtrace-guest jit' sends" },
    [FRAME_GUEST] = { "in VS- and VU-mode", "a guest's kernel and programs" },
};

typedef struct Shares {
    uint64_t all;
    uint64_t unfiled[FRAME_NR_KINDS];
    const Object *named;        /* the guest names it, but it was not found */
} Shares;

static FrameKind level_of(unsigned priv)
{
    return priv_is_machine(priv) ? FRAME_MACHINE :
           priv == ETRACE_PRIV_S ? FRAME_SUPERVISOR :
           priv == ETRACE_PRIV_U ? FRAME_USER : FRAME_GUEST;
}

/* What ran in @o is in no file. */
static void add(Shares *s, FrameKind level, const Object *o, uint64_t insns)
{
    s->unfiled[level] += insns;
    if (o->kind != OBJECT_NONE) {
        s->named = s->named ?: o;
    }
}

static void add_counts(Shares *s, const Counts *c)
{
    for (guint i = 0; i < c->ranges->len; i++) {
        const CountRange *r = &g_array_index(c->ranges, CountRange, i);
        const CountPlace *p = count_place(c, r->place);
        const Object *o = object_get(c->objects, p->object);
        uint64_t insns = r->insns * r->count;

        s->all += insns;
        if (object_is_unfiled(o)) {
            add(s, level_of(p->priv), o, insns);
        }
    }
}

static void add_profile(Shares *s, const Profile *p)
{
    for (guint i = 0; i < p->nodes->len; i++) {
        const ProfileNode *n = profile_node(p, i);
        const ProfileFrame *f = profile_frame(p, n->frame);

        s->all += n->self;
        if (f->object && object_is_unfiled(f->object)) {
            add(s, f->kind, f->object, n->self);
        }
    }
}

char *unfiled_text(const Counts *counts, const Profile *profile)
{
    g_autoptr(GString) text = g_string_new(NULL);
    Shares s = { 0 };

    if (counts) {
        add_counts(&s, counts);
    } else {
        add_profile(&s, profile);
    }
    for (unsigned i = 0; i < FRAME_NR_KINDS; i++) {
        double share = s.all ? 100.0 * s.unfiled[i] / s.all : 0;

        if (levels[i].where && share >= LEAST) {
            g_string_append_printf(text, "%s%.0f %%%s ran %s (%s)",
                                   text->len ? ", " : "", share,
                                   text->len ? "" : " of the instructions",
                                   levels[i].where, levels[i].files);
        }
    }
    if (!text->len) {
        return NULL;
    }
    g_string_append(text, ", in no known file: name it with --sysroot or "
                    "--elf");
    if (s.named) {
        g_string_append_printf(text, "; one of them is %s: if that is this "
                               "machine's, give --sysroot /",
                               text_plain(s.named->path));
    }
    return g_string_free(g_steal_pointer(&text), false);
}
