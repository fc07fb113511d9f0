/*
 * What has to be known of a guest's operating system to see which task runs:
 * "linux:pid=0x590:tgid=0x594:comm=0x7a8"
 *
 *     info   = system ":" member { ":" member }
 *     system = "linux"
 *     member = ( "pid" | "tgid" | "comm" ) "=" number
 *
 * Numbers are decimal, or hexadecimal behind 0x: how many bytes behind the
 * beginning of struct task_struct the member is. Each is there once.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef HW_TRACE_ETRACE_GUEST_INFO_H
#define HW_TRACE_ETRACE_GUEST_INFO_H

/* A task_struct has a few KiB. */
#define ETRACE_GUEST_OFFSET_MAX 0xffff

typedef struct ETraceGuestInfo {
    bool present;               /* false: nothing is known of the guest */
    uint32_t pid, tgid, comm;   /* offsets in struct task_struct, bytes */
} ETraceGuestInfo;

/*
 * Read @text into @info; the empty one says that nothing is known. If it is
 * wrong, returns false, and *@problem is a new string, the caller's, that says
 * what is wrong and what to write instead; @info is as before then.
 */
bool etrace_guest_info_parse(ETraceGuestInfo *info, const char *text,
                             char **problem);

/* @info as text, always the same for the same. A new string, the caller's. */
char *etrace_guest_info_text(const ETraceGuestInfo *info);

#endif /* HW_TRACE_ETRACE_GUEST_INFO_H */
