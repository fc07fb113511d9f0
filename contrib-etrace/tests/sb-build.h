/*
 * Sideband streams to order, for tests; the layouts of etrace/sideband.h
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_TESTS_SB_BUILD_H
#define ETRACE_TESTS_SB_BUILD_H

#include <glib.h>
#include "etrace/sideband.h"

void sb_record(GByteArray *sb, unsigned type, unsigned hart,
               const void *payload, size_t len);

/* A record of @n u64, which follow */
void sb_u64s(GByteArray *sb, unsigned type, unsigned hart, unsigned n, ...);

void sb_session(GByteArray *sb, unsigned number, unsigned nr_harts,
                uint64_t trace_offset);
void sb_origin(GByteArray *sb, uint64_t id, uint64_t origin);
void sb_params(GByteArray *sb, unsigned hart, const ETraceParams *params);
void sb_code(GByteArray *sb, uint64_t phys, const void *bytes, size_t len);
void sb_fence(GByteArray *sb, unsigned hart, uint64_t packets);
void sb_change(GByteArray *sb, uint64_t id);
void sb_place(GByteArray *sb, unsigned hart, uint64_t id, uint64_t packets);
void sb_space(GByteArray *sb, unsigned hart, bool virt, uint64_t atp);
void sb_note(GByteArray *sb, unsigned hart, ETraceSbNoteKind kind,
             const char *text);
void sb_task(GByteArray *sb, unsigned hart, uint64_t task, unsigned tid,
             const char *comm);
/* The same of a thread of process @tgid */
void sb_thread(GByteArray *sb, unsigned hart, uint64_t task, unsigned tid,
               unsigned tgid, const char *comm);
void sb_map(GByteArray *sb, unsigned hart, bool virt, uint64_t vaddr,
            uint64_t phys);

#endif /* ETRACE_TESTS_SB_BUILD_H */
