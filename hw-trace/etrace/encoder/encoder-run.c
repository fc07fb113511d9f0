/*
 * E-Trace instruction trace encoder: addresses that mean one place only
 *
 * The run is what has retired since the last report or branch, as stretches
 * of code between jumps that the decoder infers: direct jumps, sequentially
 * inferable ones, implicit returns. run[] holds the finished ones, run_start
 * is where the current one begins. The instruction reported last is not part
 * of it: the decoder starts from there and looks at the ones behind it.
 *
 * A decoder that reads "go on to address X" goes to the first X it comes to
 * once the branches are used up. Hence X must not be in the run before; else
 * the jumps that divide the run into parts without repetition are reported
 * first, with notify, which says "here, and not the target of an updiscon".
 * That may be done late, as long as nothing else has been sent in between.
 *
 * Without implicit returns, code that was executed twice in a row without a
 * branch or an updiscon is an infinite loop. With them it is a recursion that
 * unwinds. This is where 2.0 offers irdepth; but a decoder also takes irdepth
 * for the number of the return that went elsewhere (chapter 11), and can be
 * wrong about either (trace-spec issue 254). A report in between is always
 * understood.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "encoder-private.h"

bool etrace_encoder_run_contains(const ETraceEncoder *enc, uint64_t last,
                                 uint64_t pc)
{
    if (enc->run_unknown || (pc >= enc->run_start && pc <= last)) {
        return true;
    }
    for (unsigned i = 0; i < enc->run_count; i++) {
        if (pc >= enc->run[i].first && pc <= enc->run[i].last) {
            return true;
        }
    }
    return false;
}

/*
 * @irets: implicit returns before it, since the last report or branch. Only
 * draft 2.1 wants to know, and only if there are any.
 */
static void send_report(ETraceEncoder *enc, uint64_t pc, bool notify,
                        uint8_t irets)
{
    ETraceReport r = { .pc = pc, .notify = notify };

    if (irets && etrace_encoder_is_2_1(enc)) {
        r.irreport = true;
        r.irets = irets;
    }
    etrace_encoder_send_address(enc, &r);
}

/* Report the ends of ranges, so that nothing is twice in what is left. */
static void divide_run(ETraceEncoder *enc, uint64_t last)
{
    unsigned begin = 0;
    uint8_t irets = 0;          /* before the last report */

    enc->run[enc->run_count] = (ETraceRun) {
        enc->run_start, last, enc->irets,
    };
    for (unsigned i = 1; i <= enc->run_count; i++) {
        for (unsigned j = begin; j < i; j++) {
            if (enc->run[i].first <= enc->run[j].last &&
                enc->run[j].first <= enc->run[i].last) {
                const ETraceRun *end = &enc->run[i - 1];

                send_report(enc, end->last, true, end->irets - irets);
                irets = end->irets;
                begin = i;
                break;
            }
        }
    }
    enc->irets -= irets;
}

void etrace_encoder_report(ETraceEncoder *enc, uint64_t last, bool notify)
{
    for (unsigned i = 0; i < enc->run_count; i++) {
        if (last >= enc->run[i].first && last <= enc->run[i].last) {
            divide_run(enc, last);
            break;
        }
    }
    send_report(enc, last, notify, enc->irets);
    enc->run_count = 0;
    enc->irets = 0;
}

void etrace_encoder_run_jump(ETraceEncoder *enc, uint64_t pc, uint64_t target)
{
    if (enc->run_count == ETRACE_RUN_MAX) {
        etrace_encoder_report(enc, pc, true);
    } else {
        enc->run[enc->run_count++] = (ETraceRun) {
            enc->run_start, pc, enc->irets,
        };
    }
    enc->run_start = target;
}
