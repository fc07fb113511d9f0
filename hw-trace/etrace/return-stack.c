/*
 * E-Trace return address stack, as encoder and decoder keep it
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "return-stack.h"

void etrace_return_stack_init(ETraceReturnStack *s,
                              const ETraceParams *params)
{
    unsigned bits = params->return_stack_size;

    *s = (ETraceReturnStack) { };
    if (bits == 0) {
        bits = params->call_counter_size;
    } else if (params->wire_format == ETRACE_WIRE_2_1_DRAFT) {
        s->repeat_max = (1u << MIN(params->call_counter_size, 16)) - 1;
    }
    assert(bits <= ETRACE_RETURN_STACK_BITS_MAX);
    s->max = bits ? 1u << bits : 0;
}

static unsigned top_index(const ETraceReturnStack *s)
{
    return (uint8_t)(s->base + s->depth - 1) & (s->max - 1);
}

void etrace_return_stack_push(ETraceReturnStack *s, uint64_t link)
{
    unsigned top;

    if (s->depth) {
        top = top_index(s);
        if (s->link[top] == link && s->repeat[top] < s->repeat_max) {
            s->repeat[top]++;
            return;
        }
    }
    if (s->depth == s->max) {
        s->base = (s->base + 1) & (s->max - 1);
    } else {
        s->depth++;
    }
    top = top_index(s);
    s->link[top] = link;
    s->repeat[top] = 0;
}

void etrace_return_stack_pop(ETraceReturnStack *s)
{
    unsigned top = top_index(s);

    if (s->repeat[top]) {
        s->repeat[top]--;
    } else {
        s->depth--;
    }
}
