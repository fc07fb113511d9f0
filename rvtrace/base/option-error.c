/*
 * Errors that options are the reason for
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "base/option-error.h"

G_DEFINE_QUARK(option-error, option_error)
