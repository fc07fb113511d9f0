/*
 * Compressed instructions: what they are short for
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_REPLAY_RVC_H
#define ETRACE_REPLAY_RVC_H

#include <stdint.h>

/*
 * The instruction of 32 bits that the one of 16 bits @raw does the same as,
 * but for the length. Returns 0 if it is of C, F, D and Zcb no one, as those
 * of Zcmp and Zcmt, which the encodings of c.fsdsp have.
 */
uint32_t rvc_expand(unsigned xlen, uint16_t raw);

#endif /* ETRACE_REPLAY_RVC_H */
