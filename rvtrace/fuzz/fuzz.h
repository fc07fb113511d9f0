/*
 * What libFuzzer calls
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_FUZZ_H
#define ETRACE_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* One input, which stays libFuzzer's. Returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif /* ETRACE_FUZZ_H */
