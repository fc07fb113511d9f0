/*
 * What is known of a guest's operating system, as text
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "guest-info.h"

/* What the value of a member is */
typedef enum Kind {
    ADDRESS,                    /* a uint64_t; the others are uint32_t */
    OFFSET,
    LEVEL,
} Kind;

static const struct {
    const char *name;
    uint64_t max;
} kinds[] = {
    [ADDRESS] = { "ADDRESS", UINT64_MAX },
    [OFFSET] = { "OFFSET", ETRACE_GUEST_OFFSET_MAX },
    [LEVEL] = { "LEVEL", 3 },
};

typedef struct Member {
    const char *name;
    Kind kind;
    size_t at;                  /* in ETraceGuestInfo */
    bool needed;
    uint32_t otherwise;         /* its value if it is not given */
} Member;

#define AT(member)  offsetof(ETraceGuestInfo, member)
#define ABSENT      ETRACE_GUEST_ABSENT

static const Member linux_members[] = {
    { "pid", OFFSET, AT(pid), true, 0 },
    { "tgid", OFFSET, AT(tgid), true, 0 },
    { "comm", OFFSET, AT(comm), true, 0 },
    { }
};

static const Member rtos_members[] = {
    { "current", ADDRESS, AT(current), true, 0 },
    { "stride", OFFSET, AT(stride), false, 0 },
    { "name", OFFSET, AT(name), false, ABSENT },
    { "name-pointer", OFFSET, AT(name_pointer), false, ABSENT },
    { "id", OFFSET, AT(id), false, ABSENT },
    { "priv", LEVEL, AT(priv), false, 3 },
    { }
};

static const struct {
    const char *name;
    const Member *members;
    const char *of;             /* what offsets are in */
    const char *example;
} systems[] = {
    [ETRACE_GUEST_LINUX] = {
        "linux", linux_members, "struct task_struct",
        "linux:pid=0x590:tgid=0x594:comm=0x7a8"
    },
    [ETRACE_GUEST_RTOS] = {
        "rtos", rtos_members, "the descriptor of a task",
        "rtos:current=0x80001230:name=0x34"
    },
};

static void set_member(ETraceGuestInfo *info, const Member *m, uint64_t val)
{
    char *p = (char *)info + m->at;

    if (m->kind == ADDRESS) {
        *(uint64_t *)p = val;
    } else {
        *(uint32_t *)p = val;
    }
}

static uint64_t get_member(const ETraceGuestInfo *info, const Member *m)
{
    const char *p = (const char *)info + m->at;

    return m->kind == ADDRESS ? *(const uint64_t *)p : *(const uint32_t *)p;
}

/* "31" or "0x1f", that is at most @max */
static bool read_number(const char *text, uint64_t max, uint64_t *val)
{
    bool hex = g_str_has_prefix(text, "0x") || g_str_has_prefix(text, "0X");

    return g_ascii_string_to_unsigned(text + 2 * hex, hex ? 16 : 10, 0, max,
                                      val, NULL);
}

/* "pid=OFFSET, tgid=OFFSET and comm=OFFSET" */
static char *list_of(const Member *members)
{
    GString *s = g_string_new(NULL);

    for (const Member *m = members; m->name; m++) {
        g_string_append_printf(s, "%s%s=%s", m == members ? "" :
                               m[1].name ? ", " : " and ", m->name,
                               kinds[m->kind].name);
    }
    return g_string_free(s, FALSE);
}

/* What is wrong with "NAME=VALUE" of @m, in a new string */
static char *bad_value(const ETraceGuestInfo *info, const Member *m,
                       const char *text)
{
    const char *example = systems[info->system].example;

    switch (m->kind) {
    case ADDRESS:
        return g_strdup_printf("'%s': needs an address, as in %s", text,
                               example);
    case LEVEL:
        return g_strdup_printf("'%s': needs 1 (S mode) or 3 (M mode), as in %s",
                               text, example);
    default:
        return g_strdup_printf("'%s': needs an offset in %s, 0 to %u bytes, as "
                               "in %s", text, systems[info->system].of,
                               ETRACE_GUEST_OFFSET_MAX, example);
    }
}

static bool read_member(ETraceGuestInfo *info, const char *text,
                        unsigned *seen, char **problem)
{
    const Member *members = systems[info->system].members;
    g_autofree char *list = NULL;

    for (const Member *m = members; m->name; m++) {
        size_t len = strlen(m->name);
        uint64_t val;

        if (strncmp(text, m->name, len) || text[len] != '=') {
            continue;
        }
        if (*seen & (1u << (m - members))) {
            *problem = g_strdup_printf("%s is there twice: leave one out",
                                       m->name);
            return false;
        }
        *seen |= 1u << (m - members);
        if (read_number(text + len + 1, kinds[m->kind].max, &val) &&
            (m->kind != LEVEL || val % 2)) {
            set_member(info, m, val);
            return true;
        }
        *problem = bad_value(info, m, text);
        return false;
    }
    list = list_of(members);
    *problem = g_strdup_printf("'%s' is none of %s, as in %s", text, list,
                               systems[info->system].example);
    return false;
}

/* Is all there that has to be? What was not given is as if it was not there. */
static bool complete(ETraceGuestInfo *info, unsigned seen, char **problem)
{
    const Member *members = systems[info->system].members;

    for (const Member *m = members; m->name; m++) {
        if (seen & (1u << (m - members))) {
            continue;
        }
        if (m->needed) {
            *problem = g_strdup_printf("%s=%s is missing, as in %s", m->name,
                                       kinds[m->kind].name,
                                       systems[info->system].example);
            return false;
        }
        set_member(info, m, m->otherwise);
    }
    if (info->system == ETRACE_GUEST_RTOS && info->name != ABSENT &&
        info->name_pointer != ABSENT) {
        *problem = g_strdup("a task has one name: leave name or name-pointer "
                            "out");
        return false;
    }
    return true;
}

bool etrace_guest_info_parse(ETraceGuestInfo *info, const char *text,
                             char **problem)
{
    g_auto(GStrv) parts = g_strsplit(text, ":", -1);
    ETraceGuestInfo got = { };
    unsigned seen = 0;

    if (!text[0]) {
        *info = got;
        return true;
    }
    for (unsigned i = 1; i < ARRAY_SIZE(systems); i++) {
        if (g_str_equal(parts[0], systems[i].name)) {
            got.system = i;
        }
    }
    if (got.system == ETRACE_GUEST_UNKNOWN) {
        *problem = g_strdup_printf("'%s' is no operating system that is known "
                                   "here: give linux, as in %s, or rtos, as in "
                                   "%s", parts[0],
                                   systems[ETRACE_GUEST_LINUX].example,
                                   systems[ETRACE_GUEST_RTOS].example);
        return false;
    }
    for (unsigned i = 1; parts[i]; i++) {
        if (!read_member(&got, parts[i], &seen, problem)) {
            return false;
        }
    }
    if (!complete(&got, seen, problem)) {
        return false;
    }
    *info = got;
    return true;
}

char *etrace_guest_info_text(const ETraceGuestInfo *info)
{
    GString *s = g_string_new(NULL);

    if (info->system != ETRACE_GUEST_UNKNOWN) {
        g_string_append(s, systems[info->system].name);
        for (const Member *m = systems[info->system].members; m->name; m++) {
            uint64_t val = get_member(info, m);

            if (m->needed || val != m->otherwise) {
                g_string_append_printf(s, m->kind == ADDRESS ?
                                       ":%s=0x%" PRIx64 : ":%s=%" PRIu64,
                                       m->name, val);
            }
        }
    }
    return g_string_free(s, FALSE);
}
