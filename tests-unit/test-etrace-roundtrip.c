/*
 * Encoder against the specification's decoder, over random programs
 *
 * A random hart runs a random program: branches, direct and indirect jumps,
 * trap returns, exceptions, interrupts, traps in trap handlers, privilege
 * changes, windows that end, packets that get lost, in all modes. What it
 * retires goes to the encoder as blocks, the encoder's bytes go to the decoder
 * of chapter 11, and what that decodes must be what retired, instruction for
 * instruction.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "etrace-roundtrip.h"

/*
 * The hart
 */

/* What the hart says about the next block */
static void change_context(World *w)
{
    ETraceCtype ctype = random_below(&w->program, 4);
    unsigned width = w->params.context_width;
    ETraceCtype time_ctype = random_chance(&w->program, 20)
                             ? ETRACE_CTYPE_PRECISE : ETRACE_CTYPE_UNREPORTED;

    w->time = random_number(&w->program);
    w->time &= (UINT64_C(1) << w->params.time_width) - 1;
    etrace_encoder_time(&w->enc, w->time, time_ctype);
    if (w->params.time_width) {
        w->ctype = MAX(w->ctype, time_ctype);
    }
    if (random_chance(&w->program, 500)) {
        return;
    }
    if (width) {
        w->context = random_number(&w->program) & ((1u << width) - 1);
        w->ctype = MAX(w->ctype, ctype);
    }
    etrace_encoder_context(&w->enc, w->context, ctype);
}

/* @next: index of the instruction that comes next */
static void flush_block(World *w, ETraceItype itype, unsigned next)
{
    if (w->block.iretire) {
        ETraceBlock b = w->block;
        ETraceCtype ctype = w->ctype;
        ETraceHistoryModes modes;
        uint64_t next_pc = w->program.instr[next].pc;

        b.itype = itype;
        w->sync_address = 1;            /* none */
        w->block.iretire = 0;
        if (history_take(w, &b, next_pc)) {
            w->block_index = w->retired_count;
            return;
        }
        etrace_encoder_block(&w->enc, &b, random_number(&w->program));
        if (!w->gap) {
            g_assert_cmpuint(w->ctype, ==, ETRACE_CTYPE_UNREPORTED);
            /* "Report the address of the 1st instruction in this block" */
            g_assert_true(ctype < ETRACE_CTYPE_PRECISE ||
                          w->sync_address == b.iaddr);
        }
        if (random_chance(&w->program, w->mix->context)) {
            change_context(w);
        }
        if (random_chance(&w->program, w->mix->notify)) {
            etrace_encoder_notify(&w->enc);
            w->notified = w->retired_count;
        }
        if (w->mix->history &&
            random_chance(&w->program, w->mix->history) &&
            etrace_encoder_detail(&w->enc, &modes) ==
            ETRACE_DETAIL_HISTORY) {
            history_begin(w, &b, next_pc, &modes);
        }
    }
    w->block_index = w->retired_count;
}

/* The encoder is to see all that retired. */
static void report_all(World *w)
{
    flush_block(w, ETRACE_ITYPE_NONE, w->cur);
    history_end(w);
}

static uint8_t random_priv(World *w)
{
    static const uint8_t priv[] = {
        ETRACE_PRIV_U, ETRACE_PRIV_S, ETRACE_PRIV_M, ETRACE_PRIV_VU,
        ETRACE_PRIV_VS,
    };

    if (random_chance(&w->program, 400)) {
        return w->priv;
    }
    return priv[random_below(&w->program, ARRAY_SIZE(priv))];
}

static void take_trap(World *w, bool exception)
{
    bool interrupt = !exception && random_chance(&w->program, 500);
    Trap *t;
    ETraceBlock b = {
        .iaddr = w->program.instr[w->cur].pc,
        .itype = interrupt ? ETRACE_ITYPE_INTERRUPT : ETRACE_ITYPE_EXCEPTION,
        .priv = w->priv,
        .cause = random_below(&w->program, 64),
    };
    uint8_t priv = random_priv(w);
    unsigned target = random_program_indirect(&w->program, w->cur);

    if (random_chance(&w->program, 700)) {
        target = w->tvec[priv];
        b.flags = ETRACE_BLOCK_TVEC;
    }
    report_all(w);
    t = &w->traps[w->trap_count++];
    *t = (Trap) {
        .epc = b.iaddr,
        .tval = wrap(w, random_number(&w->program)),
        .cause = b.cause,
        .priv = b.priv,
        .interrupt = interrupt,
        .epc_inferable = w->after_retire,
    };
    w->trap_again = w->handler_next;
    etrace_encoder_block(&w->enc, &b, t->tval);
    w->trap_again = false;
    w->handler_next = true;
    w->after_retire = false;
    w->after_upper = false;
    w->stuck = 0;
    w->cur = target;
    w->priv = priv;
}

/* A return: mostly where the call came from */
static int return_target(World *w)
{
    unsigned honest = random_chance(&w->program, 500) ? 1000 : 800;

    if (w->depth && random_chance(&w->program, honest)) {
        return random_program_find(&w->program,
                                   w->calls[--w->depth %
                                            ARRAY_SIZE(w->calls)]);
    }
    if (w->depth && random_chance(&w->program, 500)) {
        w->depth--;
    }
    return -1;
}

static unsigned jump_target(World *w, const RandomInstr *in)
{
    int target = -1;

    if (w->block.flags & ETRACE_BLOCK_SIJUMP) {
        return random_program_find(&w->program, in->pair_target);
    }
    if (in->ref.ret) {
        target = return_target(w);
    }
    if (target < 0) {
        target = random_program_indirect(&w->program, w->cur);
    }
    return target;
}

static void retire(World *w)
{
    const RandomInstr *in = &w->program.instr[w->cur];
    ETraceItype itype = in->itype;
    unsigned next = w->cur + 1;
    uint8_t priv = w->priv;

    if (w->block.iretire == 0) {
        w->block = (ETraceBlock) { .iaddr = in->pc, .priv = w->priv };
        w->block_index = w->retired_count;
    }
    w->block.iretire += in->ref.size / 2;
    w->block.ilastsize = in->ref.size == 4;
    if (w->after_upper && in->ref.op == REF_JALR &&
        in->ref.reg == in[-1].ref.reg) {
        w->block.flags = ETRACE_BLOCK_SIJUMP;
    }
    w->retired[w->retired_count++] = (Retired) { in->pc, w->priv };
    w->after_retire = true;
    w->handler_next = false;
    w->after_upper = in->ref.op == REF_UPPER;

    switch (in->ref.op) {
    case REF_BRANCH:
        itype = random_chance(&w->program, in->taken)
                ? ETRACE_ITYPE_TAKEN_BRANCH : ETRACE_ITYPE_NONTAKEN_BRANCH;
        break;
    case REF_JALR:
        next = jump_target(w, in);
        break;
    case REF_XRET:
        next = random_program_indirect(&w->program, w->cur);
        priv = random_priv(w);
        break;
    default:
        break;
    }
    w->stuck = in->ref.op == REF_BRANCH ? 0 : w->stuck + (in->itype != 0);
    if (in->ref.op == REF_JAL || itype == ETRACE_ITYPE_TAKEN_BRANCH) {
        next = random_program_find(&w->program, in->ref.target);
    }
    if (in->ref.call) {
        w->calls[w->depth++ % ARRAY_SIZE(w->calls)] =
            wrap(w, in->pc + in->ref.size);
    }
    if (itype != ETRACE_ITYPE_NONE ||
        random_chance(&w->program, w->mix->split)) {
        flush_block(w, itype, next);
    }
    w->cur = next;
    w->priv = priv;
}

/*
 * All that retired has been decoded, unless a packet was lost. A trap whose
 * handler is not traced cannot be reported in 1.1.1.
 */
static void check_complete(World *w)
{
    if (w->params.wire_format == ETRACE_WIRE_1_1_1 && !w->after_retire &&
        w->decoded_traps + 1 == w->trap_count) {
        w->decoded_traps++;
    }
    if (!w->gap) {
        g_assert_cmpuint(w->decoded, ==, w->retired_count);
        g_assert_cmpuint(w->decoded_traps, ==, w->trap_count);
    }
}

static void end_window(World *w)
{
    report_all(w);
    etrace_encoder_end_window(&w->enc);
    check_complete(w);
    w->after_retire = false;
    w->handler_next = false;
}

static void restart(World *w)
{
    report_all(w);
    etrace_encoder_stop(&w->enc);
    check_complete(w);
    etrace_encoder_start(&w->enc);
    w->after_retire = false;
    w->handler_next = false;
}

/* The modes change in the middle of the trace. */
static void change_modes(World *w)
{
    uint8_t ioptions = w->enc.params.ioptions;

    report_all(w);
    w->enc.ioptions = random_number(&w->program) & 0x3f;
    etrace_encoder_reconfigure(&w->enc);
    if (w->enc.params.ioptions != ioptions ||
        w->params.wire_format == ETRACE_WIRE_1_1_1) {
        check_complete(w);
        w->after_retire = false;
        w->handler_next = false;
    }
}

static void random_params(World *w)
{
    static const ETraceWireFormat formats[] = {
        ETRACE_WIRE_2_0, ETRACE_WIRE_2_0, ETRACE_WIRE_2_1_DRAFT,
        ETRACE_WIRE_1_1_1,
    };
    RandomProgram *r = &w->program;
    ETraceParams *p = &w->params;

    etrace_params_init(p, random_chance(r, 300) ? 32 : 64);
    p->src_bits = random_below(r, 17);
    p->src_id = random_below(r, 1u << p->src_bits);
    p->data_width = random_chance(r, 300) ? 64 : 0;
    p->daddress_width = p->iaddress_width;
    if (!w->mix->modes) {
        return;
    }
    p->wire_format = formats[random_below(r, ARRAY_SIZE(formats))];
    p->privilege_width = 3;
    p->context_width = 8 * random_below(r, 3);
    p->time_width = p->wire_format == ETRACE_WIRE_1_1_1
                    ? 0 : 16 * random_below(r, 3);
    p->sijump = random_below(r, 2) || p->wire_format == ETRACE_WIRE_2_1_DRAFT;
    p->return_stack_size = random_below(r, 6);
    p->call_counter_size = random_below(r, 5);
    p->bpred_size = random_below(r, 8);
    p->cache_size = random_below(r, 8);
    p->f0s_width = p->bpred_size && p->cache_size ? 1 : random_below(r, 2);
}

static void run_program(World *w, uint64_t seed)
{
    static const ETraceSyncMode sync_mode[] = {
        ETRACE_SYNC_OFF, ETRACE_SYNC_PACKETS, ETRACE_SYNC_HALFWORDS,
        ETRACE_SYNC_CYCLES,
    };
    static const unsigned sync_max[] = { 1, 2, 3, 5, 16, 100, 1000 };
    const Mix *m = w->mix;

    random_seed(&w->program, seed);
    random_params(w);
    random_program(&w->program, &m->program, w->params.iaddress_width);

    w->cur = random_below(&w->program, w->program.count);
    w->priv = ETRACE_PRIV_M;
    w->block.iretire = 0;
    w->block_index = 0;
    w->history.on = false;
    w->after_retire = false;
    w->handler_next = false;
    w->after_upper = false;
    w->depth = 0;
    w->stuck = 0;
    w->context = 0;
    w->time = 0;
    w->ctype = ETRACE_CTYPE_UNREPORTED;
    w->notified = 0;
    for (unsigned i = 0; i < ARRAY_SIZE(w->tvec); i++) {
        w->tvec[i] = random_below(&w->program, w->program.count);
    }
    w->retired_count = 0;
    w->trap_count = 0;
    w->decoded = 0;
    w->decoded_traps = 0;
    w->gap = false;
    w->trap_gap = false;
    w->refusing = false;
    w->updiscon = false;
    ref_decoder_init(&w->dec, &w->params, &roundtrip_decoder_ops, w);
    etrace_encoder_init(&w->enc, &w->params,
                        w->one_by_one ? &roundtrip_one_by_one_ops :
                                        &roundtrip_encoder_ops, w);
    w->enc.sync_mode = sync_mode[random_below(&w->program,
                                              ARRAY_SIZE(sync_mode))];
    w->enc.sync_max = sync_max[random_below(&w->program,
                                            ARRAY_SIZE(sync_max))];
    if (m->modes) {
        w->enc.ioptions = random_number(&w->program) & 0x3f;
        w->enc.itype_width = random_chance(&w->program, 100) ? 3 : 4;
    } else if (random_chance(&w->program, 200)) {
        w->enc.ioptions = ETRACE_IOPT_FULL_ADDRESS;
    }

    etrace_encoder_start(&w->enc);
    while (w->retired_count < RUN_LENGTH &&
           w->trap_count < ARRAY_SIZE(w->traps)) {
        if (w->program.instr[w->cur].ref.op == REF_ECALL) {
            take_trap(w, true);
        } else if (random_chance(&w->program, m->trap) || w->stuck > 60) {
            /* Nothing else leads out of some loops. */
            take_trap(w, false);
        } else {
            retire(w);
        }
        if (random_chance(&w->program, m->end_window)) {
            end_window(w);
        }
        if (random_chance(&w->program, m->restart)) {
            restart(w);
        }
        if (m->modes && random_chance(&w->program, m->restart)) {
            change_modes(w);
        }
        etrace_encoder_cycles(&w->enc, random_below(&w->program, 3));
    }
    report_all(w);
    etrace_encoder_stop(&w->enc);
    check_complete(w);
    w->total_retired += w->retired_count;
}

static void test_mix(gconstpointer data)
{
    const Mix *m = data;
    /* sanitizers need a minute for all of them: -m slow */
    unsigned programs = g_test_slow() ? m->programs : m->programs / 4;
    World *w = g_new0(World, 1);

    w->mix = m;
    w->bytes[false] = g_checksum_new(G_CHECKSUM_SHA256);
    w->bytes[true] = g_checksum_new(G_CHECKSUM_SHA256);
    for (unsigned i = 0; i < programs; i++) {
        run_program(w, i);
        if (m->history && !m->refuse) {
            w->one_by_one = true;
            run_program(w, i);
            w->one_by_one = false;
        }
    }
    if (m->history && !m->refuse) {
        g_assert_cmpstr(g_checksum_get_string(w->bytes[false]), ==,
                        g_checksum_get_string(w->bytes[true]));
    }
    g_test_message("%s: %u programs, %" PRIu64 " instructions retired, "
                   "%" PRIu64 " decoded, %" PRIu64 " traps, %" PRIu64
                   " packets, %" PRIu64 " bytes, %" PRIu64 " losses",
                   m->name, programs, w->total_retired, w->total_decoded,
                   w->total_traps, w->total_packets, w->total_bytes,
                   w->total_lost);
    if (m->modes) {
        /* 0.0, 0.1, a trap's handler left out, 1, 2, 3.0 .. 3.3 */
        static const uint8_t kinds[] = { 0, 1, 2, 4, 8, 12, 13, 14, 15 };

        for (unsigned i = 0; i < ARRAY_SIZE(kinds); i++) {
            g_assert_cmpuint(w->total_kind[kinds[i]], >, 0);
        }
    }
    if (m->history) {
        g_assert_cmpuint(w->total_histories, >, 0);
    }
    if (m->refuse) {
        g_assert_cmpuint(w->total_lost, >, 0);
    } else {
        g_assert_cmpuint(w->total_decoded, ==, w->total_retired);
    }
    g_checksum_free(w->bytes[false]);
    g_checksum_free(w->bytes[true]);
    g_free(w);
}

#define MODES_PROGRAM                                                   \
    .program = {                                                        \
        .branch = 150, .jal = 120, .jalr = 50, .ret = 70, .xret = 10,   \
        .ecall = 5, .sijump = 30, .near = 500, .biased = 700,           \
    }

static const Mix mixes[] = {
    {
        .name = "everything",
        .program = {
            .branch = 150, .jal = 100, .jalr = 80, .xret = 30, .ecall = 10,
            .near = 500,
        },
        .trap = 20, .split = 100, .end_window = 5, .restart = 2,
        .programs = 1000,
    }, {
        .name = "branches",
        .program = {
            .branch = 400, .jal = 20, .jalr = 5,
            .near = 700,
        },
        .trap = 2, .split = 50, .end_window = 1,
        .programs = 500,
    }, {
        .name = "indirect-loops-with-branches",
        .program = {
            .branch = 350, .jal = 40, .jalr = 15,
            .near = 900,
        },
        .trap = 1,
        .programs = 1000,
    }, {
        .name = "indirect-loops",
        .program = {
            .branch = 20, .jal = 60, .jalr = 150, .xret = 10,
            .near = 800,
        },
        .trap = 5, .split = 100, .end_window = 3,
        .programs = 1000,
    }, {
        .name = "direct-loops",
        .program = {
            .branch = 10, .jal = 250, .jalr = 20, .xret = 10,
            .near = 600,
        },
        .trap = 30, .split = 100, .end_window = 10,
        .programs = 1000,
    }, {
        .name = "traps",
        .program = {
            .branch = 150, .jal = 50, .jalr = 150, .xret = 150, .ecall = 100,
            .near = 500,
        },
        .trap = 250, .split = 200, .end_window = 30,
        .programs = 500,
    }, {
        .name = "single-instruction-blocks",
        .program = {
            .branch = 150, .jal = 100, .jalr = 80, .xret = 30, .ecall = 10,
            .near = 500,
        },
        .trap = 30, .split = 1000, .end_window = 10,
        .programs = 500,
    }, {
        .name = "losses",
        .program = {
            .branch = 150, .jal = 100, .jalr = 80, .xret = 30, .ecall = 10,
            .near = 500,
        },
        .trap = 30, .split = 100, .end_window = 10, .restart = 3, .refuse = 20,
        .programs = 500,
    }, {
        .name = "history",
        .program = {
            .branch = 150, .jal = 100, .jalr = 80, .xret = 10, .ecall = 3,
            .near = 500,
        },
        .trap = 3, .split = 100, .end_window = 3, .restart = 1,
        .history = 500,
        .programs = 1000,
    }, {
        .name = "history-branches",
        .program = {
            .branch = 400, .jal = 20, .jalr = 5,
            .near = 700,
        },
        .trap = 2, .split = 50, .end_window = 1, .history = 800,
        .programs = 500,
    }, {
        .name = "history-indirect-loops",
        .program = {
            .branch = 60, .jal = 60, .jalr = 150, .xret = 2,
            .near = 800,
        },
        .trap = 3, .split = 100, .end_window = 2, .history = 800,
        .programs = 1000,
    }, {
        .name = "history-direct-loops",
        .program = {
            .branch = 20, .jal = 250, .jalr = 20,
            .near = 600,
        },
        .trap = 10, .split = 100, .end_window = 5, .history = 800,
        .programs = 1000,
    }, {
        .name = "history-losses",
        .program = {
            .branch = 150, .jal = 100, .jalr = 80, .xret = 10, .ecall = 3,
            .near = 500,
        },
        .trap = 10, .split = 100, .end_window = 3, .refuse = 20,
        .history = 800,
        .programs = 500,
    }, {
        .name = "history-modes",
        MODES_PROGRAM,
        .trap = 3, .split = 100, .end_window = 2, .restart = 10,
        .notify = 3, .context = 3, .modes = true, .history = 900,
        .programs = 1000,
    }, {
        .name = "history-modes-undisturbed",
        MODES_PROGRAM,
        .trap = 1, .context = 1, .modes = true, .history = 900,
        .programs = 2000,
    }, {
        .name = "history-modes-branches",
        .program = {
            .branch = 350, .jal = 30, .jalr = 5, .ret = 5, .sijump = 5,
            .near = 700, .biased = 990,
        },
        .trap = 1, .split = 50, .context = 1, .modes = true, .history = 900,
        .programs = 1000,
    }, {
        .name = "history-modes-recursion",
        .program = {
            .branch = 40, .jal = 200, .ret = 200, .jalr = 10, .sijump = 20,
            .near = 700, .biased = 500,
        },
        .trap = 1, .split = 50, .context = 1, .modes = true, .history = 900,
        .programs = 2000,
    }, {
        .name = "history-modes-losses",
        MODES_PROGRAM,
        .trap = 10, .split = 100, .end_window = 3, .refuse = 20,
        .context = 3, .modes = true, .history = 900,
        .programs = 1000,
    }, {
        .name = "modes",
        MODES_PROGRAM,
        .trap = 5, .split = 100, .end_window = 2, .restart = 1,
        .notify = 5, .context = 5, .modes = true,
        .programs = 2000,
    }, {
        .name = "modes-undisturbed",
        MODES_PROGRAM,
        .trap = 1, .modes = true, .context = 1,
        .programs = 2000,
    }, {
        .name = "modes-traps",
        MODES_PROGRAM,
        .trap = 100, .split = 300, .end_window = 30, .restart = 2,
        .notify = 50, .context = 50, .modes = true,
        .programs = 1000,
    }, {
        .name = "modes-branches",
        .program = {
            .branch = 350, .jal = 30, .jalr = 5, .ret = 5, .sijump = 5,
            .near = 700, .biased = 990,
        },
        .trap = 1, .split = 50, .notify = 1, .context = 1, .modes = true,
        .programs = 1000,
    }, {
        .name = "modes-recursion",
        .program = {
            .branch = 40, .jal = 200, .ret = 200, .jalr = 10, .sijump = 20,
            .near = 500, .biased = 500,
        },
        .trap = 3, .split = 100, .end_window = 2, .notify = 5, .context = 3,
        .modes = true,
        .programs = 2000,
    }, {
        .name = "modes-returns-without-branches",
        .program = {
            .branch = 5, .jal = 200, .ret = 250, .jalr = 5, .sijump = 5,
            .near = 600, .biased = 500,
        },
        .trap = 20, .split = 300, .end_window = 2, .notify = 20, .context = 3,
        .modes = true,
        .programs = 2000,
    }, {
        .name = "modes-losses",
        MODES_PROGRAM,
        .trap = 10, .split = 100, .end_window = 10, .restart = 3, .refuse = 20,
        .notify = 10, .context = 10, .modes = true,
        .programs = 500,
    },
};

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (unsigned i = 0; i < ARRAY_SIZE(mixes); i++) {
        g_autofree char *path = g_strdup_printf("/etrace/roundtrip/%s",
                                                mixes[i].name);

        g_test_add_data_func(path, &mixes[i], test_mix);
    }
    return g_test_run();
}
