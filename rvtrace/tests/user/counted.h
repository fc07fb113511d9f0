/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
enum { COUNTED_STEPS, COUNTED_SIGN, COUNTED_NEVER, COUNTED_OTHER };

int counted(int kind, int n);
