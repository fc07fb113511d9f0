/*
 * What the trace core needs of QEMU's osdep.h, for building it without QEMU
 *
 * hw/trace/etrace-*.c are QEMU sources and start with this include like all of
 * them; the host tool and the unit tests compile the same files against this
 * directory.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_SHIM_QEMU_OSDEP_H
#define ETRACE_SHIM_QEMU_OSDEP_H

#include <assert.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <glib.h>

#ifndef ARRAY_SIZE
#define ARRAY_SIZE(x) (sizeof(x) / sizeof((x)[0]))
#endif

#ifndef QEMU_ALWAYS_INLINE
#define QEMU_ALWAYS_INLINE __attribute__((always_inline))
#endif

#ifndef QEMU_BUILD_BUG_ON
#define QEMU_BUILD_BUG_ON(x) _Static_assert(!(x), #x)
#endif

#ifndef ROUND_UP
#define ROUND_UP(n, d) (((n) + (d) - 1) & -(0 ? (n) : (d)))
#endif

#ifndef DIV_ROUND_UP
#define DIV_ROUND_UP(n, d) (((n) + (d) - 1) / (d))
#endif

#endif /* ETRACE_SHIM_QEMU_OSDEP_H */
