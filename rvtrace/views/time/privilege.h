/*
 * Privilege levels: how many instructions ran in each, by intervals of time
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_PRIVILEGE_H
#define ETRACE_PRIVILEGE_H

#include "profile/callstack.h"
#include "views/report/table.h"

/* Intervals, at most; where there are more, they become twice as wide. */
#define PRIVILEGE_MAX_INTERVALS 100000

typedef struct PrivilegeTable PrivilegeTable;
typedef struct PrivilegeHart PrivilegeHart;

/*
 * @interval, which is not 0, is the width of each: ns if moments are in
 * @virtual_time, else instructions of a hart. The caller frees the table.
 */
PrivilegeTable *privilege_new(uint64_t interval, bool virtual_time);
void privilege_free(PrivilegeTable *t);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(PrivilegeTable, privilege_free)

/*
 * One hart more, which belongs to the table. Harts may be used at the same
 * time, but none of them meanwhile when one is added.
 */
PrivilegeHart *privilege_hart(PrivilegeTable *t);

/* For CallStackOptions.moment, where @opaque is a PrivilegeHart */
void privilege_moment(void *opaque, const CallStackMoment *moment);

/* The hart ran @insns instructions in all, up to @time, as that of moments. */
void privilege_end(PrivilegeHart *h, uint64_t insns, uint64_t time);

/*
 * When all harts have ended: write a row for each interval in which something
 * ran, with the sum of all harts. Text has shares, the other formats have
 * numbers. Returns 0, or the width that intervals have if there would have been
 * too many of that of privilege_new().
 */
uint64_t privilege_write(const PrivilegeTable *t, TableFormat format, FILE *f);

#endif /* ETRACE_PRIVILEGE_H */
