/*
 * What ran in no known file
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_UNFILED_H
#define ETRACE_UNFILED_H

#include "profile/counts.h"
#include "profile/profile.h"

/*
 * A warning: the share of instructions at each privilege level whose file is not
 * known, and the files that would name them. Counts @counts, or @profile if that
 * is NULL. The caller frees it. Returns NULL if each share is below 1 %.
 */
char *unfiled_text(const Counts *counts, const Profile *profile);

#endif /* ETRACE_UNFILED_H */
