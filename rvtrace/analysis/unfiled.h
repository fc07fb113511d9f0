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
 * Which shares of what ran are in no known file, and which files would help, as
 * a line for people that the caller frees: by @counts, or if that is NULL, by
 * @profile. NULL: they are less than 1 %, each.
 */
char *unfiled_text(const Counts *counts, const Profile *profile);

#endif /* ETRACE_UNFILED_H */
