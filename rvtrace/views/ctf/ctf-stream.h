/*
 * CTF: the stream of a hart, and what all streams are described by
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_CTF_STREAM_H
#define ETRACE_CTF_STREAM_H

#include <stdbool.h>
#include <stdint.h>
#include "views/perf/view-folder.h"

/* System calls of which each number has events of its own; one more: others */
#define CTF_SYSCALLS    512

typedef enum CtfEvent {
    CTF_SCHED_SWITCH,
    CTF_IRQ_ENTRY,
    CTF_IRQ_EXIT,
    CTF_EXCEPTION_ENTRY,
    CTF_EXCEPTION_EXIT,
    CTF_NOTE,
    CTF_LOST,
    CTF_RESET,
    /* From here on, two of each system call: it begins, it returns. */
    CTF_SYSCALL,
    CTF_NR_EVENTS = CTF_SYSCALL + 2 * (CTF_SYSCALLS + 1),
} CtfEvent;

/* The event that system call number @number begins by; one more: it returns */
CtfEvent ctf_syscall(unsigned number);

typedef struct CtfStream CtfStream;

/* Of hart number @hart, in @folder; NULL: see view_folder_check() */
CtfStream *ctf_stream_new(ViewFolder *folder, unsigned hart);

/*
 * One event at @time; never before the last one. Its fields follow: numbers, least
 * significant byte first, and texts, which may be anything: they get clean, as
 * table_clean() says.
 */
void ctf_stream_event(CtfStream *s, CtfEvent event, uint64_t time);
void ctf_stream_number(CtfStream *s, uint64_t number, unsigned bytes);
void ctf_stream_text(CtfStream *s, const char *text, size_t len);

/* Of exactly @size bytes, with NULs at its end */
void ctf_stream_chars(CtfStream *s, const char *text, size_t size);

/* Was there such an event? */
bool ctf_stream_has(const CtfStream *s, CtfEvent event);

/* Close and free it; what could not be written is noted in the folder. */
void ctf_stream_end(CtfStream *s);

/*
 * The file "metadata" of @folder: of those events that @has() says are there.
 * @virtual_time: as ctf_new() has it.
 */
void ctf_write_metadata(ViewFolder *folder, bool virtual_time,
                        bool (*has)(void *opaque, CtfEvent event),
                        void *opaque);

#endif /* ETRACE_CTF_STREAM_H */
