/*
 * What is known of a guest's operating system, as text
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "guest-info.h"

#define LINUX   "linux"
#define EXAMPLE "linux:pid=0x590:tgid=0x594:comm=0x7a8"

static const struct {
    const char *name;
    size_t offset;
} members[] = {
    { "pid", offsetof(ETraceGuestInfo, pid) },
    { "tgid", offsetof(ETraceGuestInfo, tgid) },
    { "comm", offsetof(ETraceGuestInfo, comm) },
};

/* "31" or "0x1f", that is no larger than a structure */
static bool read_offset(const char *text, uint32_t *val)
{
    bool hex = g_str_has_prefix(text, "0x") || g_str_has_prefix(text, "0X");
    guint64 num;

    if (!g_ascii_string_to_unsigned(text + 2 * hex, hex ? 16 : 10, 0,
                                    ETRACE_GUEST_OFFSET_MAX, &num, NULL)) {
        return false;
    }
    *val = num;
    return true;
}

static bool read_member(ETraceGuestInfo *info, const char *text,
                        unsigned *seen, char **problem)
{
    for (unsigned i = 0; i < ARRAY_SIZE(members); i++) {
        size_t len = strlen(members[i].name);

        if (strncmp(text, members[i].name, len) || text[len] != '=') {
            continue;
        }
        if (*seen & (1u << i)) {
            *problem = g_strdup_printf("%s is there twice: leave one out",
                                       members[i].name);
            return false;
        }
        *seen |= 1u << i;
        if (!read_offset(text + len + 1,
                         (uint32_t *)((char *)info + members[i].offset))) {
            *problem = g_strdup_printf("'%s': needs an offset in struct "
                                       "task_struct, 0 to %u bytes, as in "
                                       EXAMPLE, text,
                                       ETRACE_GUEST_OFFSET_MAX);
            return false;
        }
        return true;
    }
    *problem = g_strdup_printf("'%s' is none of pid=OFFSET, tgid=OFFSET and "
                               "comm=OFFSET, as in " EXAMPLE, text);
    return false;
}

bool etrace_guest_info_parse(ETraceGuestInfo *info, const char *text,
                             char **problem)
{
    g_auto(GStrv) parts = g_strsplit(text, ":", -1);
    ETraceGuestInfo got = { .present = true };
    unsigned seen = 0;

    if (!text[0]) {
        *info = (ETraceGuestInfo) { };
        return true;
    }
    if (strcmp(parts[0], LINUX)) {
        *problem = g_strdup_printf("'%s' is no operating system that is "
                                   "known, which is linux, as in " EXAMPLE,
                                   parts[0]);
        return false;
    }
    for (unsigned i = 1; parts[i]; i++) {
        if (!read_member(&got, parts[i], &seen, problem)) {
            return false;
        }
    }
    for (unsigned i = 0; i < ARRAY_SIZE(members); i++) {
        if (!(seen & (1u << i))) {
            *problem = g_strdup_printf("%s=OFFSET is missing, as in " EXAMPLE,
                                       members[i].name);
            return false;
        }
    }
    *info = got;
    return true;
}

char *etrace_guest_info_text(const ETraceGuestInfo *info)
{
    if (!info->present) {
        return g_strdup("");
    }
    return g_strdup_printf(LINUX ":pid=%u:tgid=%u:comm=%u", info->pid,
                           info->tgid, info->comm);
}
