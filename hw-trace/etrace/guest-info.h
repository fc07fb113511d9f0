/*
 * What has to be known of a guest's operating system to see which task runs:
 * "linux:pid=0x590:tgid=0x594:comm=0x7a8", "rtos:current=0x80001230:name=0x34"
 *
 *     info = "linux" ":pid=" number ":tgid=" number ":comm=" number
 *          | "rtos" ":current=" number [ ":stride=" number ]
 *            [ ":name=" number | ":name-pointer=" number ] [ ":id=" number ]
 *            [ ":priv=" ( "1" | "3" ) ]
 *
 * Numbers are decimal, or hexadecimal behind 0x; members may have any order,
 * and each is there once.
 *
 * Of Linux, they are how many bytes behind the beginning of struct task_struct
 * the member is. Of others, which may run in M mode:
 *
 *   current       address of the pointer to the task that runs: FreeRTOS'
 *                 pxCurrentTCB
 *   stride        how many bytes behind it the next hart's is; else all harts
 *                 have one
 *   name          how many bytes behind what it points to the task's name is
 *   name-pointer  ... or a pointer to it
 *   id            ... or a number of 32 bits that the task is known by
 *   priv          where the system runs: 3, M mode, unless it is 1, S mode,
 *                 with firmware in M mode
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef HW_TRACE_ETRACE_GUEST_INFO_H
#define HW_TRACE_ETRACE_GUEST_INFO_H

/* A descriptor of a task has a few KiB. */
#define ETRACE_GUEST_OFFSET_MAX 0xffff
/* An offset that was not given */
#define ETRACE_GUEST_ABSENT     UINT32_MAX

typedef enum ETraceGuestSystem {
    ETRACE_GUEST_UNKNOWN,
    ETRACE_GUEST_LINUX,
    ETRACE_GUEST_RTOS,
} ETraceGuestSystem;

/* Members of other systems are 0; offsets in bytes */
typedef struct ETraceGuestInfo {
    ETraceGuestSystem system;
    /* Linux */
    uint32_t pid, tgid, comm;
    /* RTOS; offsets may be ETRACE_GUEST_ABSENT */
    uint64_t current;           /* address */
    uint32_t stride;
    uint32_t name, name_pointer, id;
    uint32_t priv;              /* 1 or 3 */
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
