/*
 * Synthetic harts: random programs, run for real, traced by the encoder
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "check.h"
#include "etrace/encap.h"
#include "sb-build.h"
#include "synth.h"
#include "synth-program.h"
#include "truth.h"

#define PAGE            ETRACE_SB_PAGE_SIZE
#define NR_HANDLERS     3
#define MAX_HARTS       8

/* Where privileges have their programs; S and U share one, and VS and VU. */
typedef enum RegionId {
    REGION_M,
    REGION_S,
    REGION_V,
    NR_REGIONS,
} RegionId;

typedef struct Runner {
    Synth *synth;
    GRand *rand;
    unsigned hart;
    Region *regions;            /* shared by all harts */
    uint64_t *next_phys;
    uint64_t *next_change;
    ETraceEncoder enc;
    uint64_t packets;           /* emitted */
    unsigned region, at;        /* the next instruction */
    uint8_t priv;
    bool stalled;               /* the sink refuses packets */
    uint64_t atp[2];
    bool trapped;               /* ... and nothing has retired since */
    const Op *upper;            /* the last one that retired, or NULL */
    struct {
        unsigned region, at;
    } calls[32];                /* where to return to */
    unsigned depth;
    ETraceBlock block;          /* open if iretire is not 0 */
} Runner;

static void put_op(Synth *s, const Region *region, const Op *op)
{
    for (unsigned i = 0; i < op->size; i += 2) {
        uint64_t off = op->pc + i - region->vbase;
        uint8_t half[2];

        etrace_sb_put(half, op->raw >> (8 * i), 2);
        sb_code(s->sideband, region->phys[off / PAGE] + off % PAGE, half, 2);
    }
}

static void put_code(Synth *s, const Region *region)
{
    for (guint i = 0; i < region->ops->len; i++) {
        put_op(s, region, &g_array_index(region->ops, Op, i));
    }
}

static void put_maps(Synth *s, unsigned hart, const Region *region, bool virt)
{
    for (unsigned i = 0; i < region->nr_pages; i++) {
        sb_map(s->sideband, hart, virt, region->vbase + (uint64_t)i * PAGE,
               region->phys[i]);
    }
}

/* The sink */

static bool emit(void *opaque, const ETracePacket *pkt,
                 const uint8_t *payload, size_t len)
{
    Runner *run = opaque;
    uint8_t buf[ETRACE_ENCAP_MAX];
    size_t size;

    if (run->stalled ||
        synth_chance(run->rand, run->synth->opts.lose_permille)) {
        run->stalled = true;
        run->synth->packets_lost++;
        return false;
    }
    size = etrace_encap_wrap(&run->enc.params, payload, len, buf);
    g_byte_array_append(run->synth->trace, buf, size);
    size = run->synth->trace->len;
    g_array_append_val(run->synth->ends, size);
    run->packets++;
    return true;
}

static bool ready(void *opaque)
{
    Runner *run = opaque;

    run->stalled = run->stalled && !synth_chance(run->rand, 300);
    return !run->stalled;
}

static const ETraceEncoderOps encoder_ops = { .emit = emit, .ready = ready };

/* Execution */

static const Op *current_op(const Runner *run)
{
    return &g_array_index(run->regions[run->region].ops, Op, run->at);
}

static void flush_block(Runner *run)
{
    if (run->block.iretire) {
        etrace_encoder_block(&run->enc, &run->block, 0);
        run->block.iretire = 0;
    }
}

static unsigned region_of(uint8_t priv)
{
    switch (priv) {
    case ETRACE_PRIV_M:
        return REGION_M;
    case ETRACE_PRIV_U:
    case ETRACE_PRIV_S:
        return REGION_S;
    default:
        return REGION_V;
    }
}

static void enter(Runner *run, uint8_t priv, unsigned at)
{
    run->priv = priv;
    run->region = region_of(priv);
    run->at = at % run->regions[run->region].ops->len;
}

static uint64_t first_pc(const Region *region)
{
    return g_array_index(region->ops, Op, 0).pc;
}

static void take_trap(Runner *run, bool interrupt, uint8_t cause)
{
    SynthHart *hart = &run->synth->harts[run->hart];
    static const uint8_t handlers[] = {
        ETRACE_PRIV_M, ETRACE_PRIV_S, ETRACE_PRIV_VS, ETRACE_PRIV_M,
    };
    SynthTrap trap = {
        .index = hart->pcs->len,
        .interrupt = interrupt,
        .cause = cause,
        .epc = current_op(run)->pc,
        .tval = interrupt ? 0 : current_op(run)->pc >> 1,
    };
    ETraceBlock block = {
        .iaddr = trap.epc,
        .itype = interrupt ? ETRACE_ITYPE_INTERRUPT : ETRACE_ITYPE_EXCEPTION,
        .priv = run->priv,
        .cause = cause,
    };

    uint8_t priv = handlers[synth_pick(run->rand, ARRAY_SIZE(handlers))];
    unsigned at = synth_pick(run->rand, NR_HANDLERS);

    if (at == 0 && !(first_pc(&run->regions[region_of(priv)]) & 3)) {
        /* what the sideband says: a base that xtvec can have */
        block.flags = ETRACE_BLOCK_TVEC;
    }
    flush_block(run);
    etrace_encoder_block(&run->enc, &block, trap.tval);
    g_array_append_val(hart->traps, trap);
    run->upper = NULL;
    run->trapped = true;
    enter(run, priv, at);
}

/* Where a handler starts, and what the hart says about that */
static void put_tvecs(Runner *run)
{
    static const uint8_t privs[] = {
        ETRACE_PRIV_M, ETRACE_PRIV_S, ETRACE_PRIV_VS,
    };

    for (unsigned i = 0; i < ARRAY_SIZE(privs); i++) {
        sb_u64s(run->synth->sideband, ETRACE_SB_TVEC, run->hart, 2,
                (uint64_t)privs[i],
                first_pc(&run->regions[region_of(privs[i])]));
    }
}

static void retire(Runner *run, const Op *op, uint8_t itype)
{
    SynthHart *hart = &run->synth->harts[run->hart];

    if (!run->block.iretire) {
        run->block = (ETraceBlock) { .iaddr = op->pc, .priv = run->priv };
    }
    run->block.iretire += op->size / 2;
    run->block.ilastsize = op->size / 4;
    run->block.itype = itype;
    run->trapped = false;
    if (op->kind == OP_PAIR && run->upper) {
        run->block.flags = ETRACE_BLOCK_SIJUMP;
    }
    run->upper = op->kind == OP_UPPER ? op : NULL;
    if (itype == ETRACE_ITYPE_INFERABLE_CALL ||
        itype == ETRACE_ITYPE_UNINFERABLE_CALL) {
        unsigned i = run->depth++ % ARRAY_SIZE(run->calls);

        run->calls[i].region = run->region;
        run->calls[i].at = run->at + 1;
    }
    g_array_append_val(hart->pcs, op->pc);
    if (itype || synth_chance(run->rand, 100)) {
        flush_block(run);
    }
}

/* Targets repeat themselves, as in real programs, but not always. */
static unsigned jump_target(Runner *run)
{
    unsigned n = run->regions[run->region].ops->len;

    return synth_chance(run->rand, 600) ? synth_pick(run->rand, MIN(n, 3))
                                  : synth_pick(run->rand, n);
}

/* Mostly to where the call was */
static unsigned return_target(Runner *run)
{
    unsigned i;

    if (!run->depth || synth_chance(run->rand, 200)) {
        return jump_target(run);
    }
    i = --run->depth % ARRAY_SIZE(run->calls);
    if (run->calls[i].region != run->region) {
        return jump_target(run);
    }
    return run->calls[i].at;
}

static void random_modes(Runner *run, ETraceParams *p, uint8_t *ioptions)
{
    GRand *r = run->rand;

    if (synth_chance(r, 400)) {
        p->wire_format = synth_chance(r, 500) ? ETRACE_WIRE_2_1_DRAFT
                                              : ETRACE_WIRE_1_1_1;
    }
    p->time_width = p->wire_format == ETRACE_WIRE_1_1_1
                    ? 0 : 16 * synth_pick(r, 3);
    p->context_width = 16 * synth_pick(r, 3);
    p->sijump = 1;
    p->return_stack_size = synth_pick(r, 6);
    p->call_counter_size = synth_pick(r, 4);
    p->bpred_size = synth_pick(r, 8);
    p->cache_size = synth_pick(r, 8);
    p->f0s_width = p->bpred_size && p->cache_size;
    *ioptions = synth_pick(r, 64);
}

static void step(Runner *run)
{
    static const uint8_t privs[] = {
        ETRACE_PRIV_U, ETRACE_PRIV_S, ETRACE_PRIV_M,
        ETRACE_PRIV_VU, ETRACE_PRIV_VS,
    };
    const Op *op = current_op(run);

    if (op->kind == OP_ECALL) {
        take_trap(run, false, 8);
        return;
    }
    if (synth_chance(run->rand, run->synth->opts.trap_permille)) {
        bool interrupt = synth_chance(run->rand, 500);

        take_trap(run, interrupt, interrupt ? 5 : 13);
        return;
    }
    switch (op->kind) {
    case OP_BRANCH:
        if (synth_chance(run->rand, op->taken)) {
            retire(run, op, ETRACE_ITYPE_TAKEN_BRANCH);
            run->at = op->target;
        } else {
            retire(run, op, ETRACE_ITYPE_NONTAKEN_BRANCH);
            run->at++;
        }
        break;
    case OP_JUMP:
        retire(run, op, op->itype);
        run->at = op->target;
        break;
    case OP_UPDISCON:
        retire(run, op, op->itype);
        run->at = op->itype == ETRACE_ITYPE_RETURN ? return_target(run)
                                                   : jump_target(run);
        break;
    case OP_PAIR:
        if (run->upper) {
            retire(run, op, op->itype);
            run->at = op->target;
        } else {
            retire(run, op, op->itype);
            run->at = jump_target(run);
        }
        break;
    case OP_XRET:
        retire(run, op, op->itype);
        if (synth_chance(run->rand, 700)) {
            enter(run, privs[synth_pick(run->rand, ARRAY_SIZE(privs))], 0);
        }
        run->at = jump_target(run);
        break;
    default:
        retire(run, op, ETRACE_ITYPE_NONE);
        run->at++;
        break;
    }
}

/* The draft 1.1.1 cannot report a trap without its handler. */
static void forget_trap(Runner *run)
{
    GArray *traps = run->synth->harts[run->hart].traps;

    if (run->trapped && run->enc.params.wire_format == ETRACE_WIRE_1_1_1) {
        g_array_set_size(traps, traps->len - 1);
    }
    run->trapped = false;
}

static void close_window(Runner *run)
{
    flush_block(run);
    forget_trap(run);
    etrace_encoder_end_window(&run->enc);
}

static void fence(Runner *run)
{
    close_window(run);
    sb_fence(run->synth->sideband, run->hart, run->packets);
}

/* Software says that it has come this far, after each quarter. */
static void take_note(Runner *run)
{
    GByteArray *sb = run->synth->sideband;
    SynthHart *h = &run->synth->harts[run->hart];
    uint64_t insns = h->pcs->len;
    bool end = h->notes->len & 1;

    if (insns < (h->notes->len + 1) * (run->synth->opts.insns / 4)) {
        return;
    }
    fence(run);
    sb_note(sb, run->hart, ETRACE_SB_NOTE_MARK, end ? "b" : "a");
    sb_note(sb, run->hart, end ? ETRACE_SB_NOTE_END : ETRACE_SB_NOTE_BEGIN,
            "work");
    g_array_append_val(h->notes, insns);
}

/* Another address space, in which the pages lie elsewhere; or back again */
static void change_space(Runner *run)
{
    uint64_t bare_free = run->synth->opts.xlen == 32 ? 0x80000000u
                                                     : 8ull << 60;
    bool virt = synth_chance(run->rand, 500);
    Region *region = &run->regions[virt ? REGION_V : REGION_S];

    fence(run);
    run->atp[virt] = bare_free | synth_pick(run->rand, 3);
    sb_space(run->synth->sideband, run->hart, virt, run->atp[virt]);
    put_maps(run->synth, run->hart, region, virt);
}

/* A page is mapped to a copy of itself, by every hart in its current space. */
static void change_map(Runner *runs, Runner *run)
{
    bool virt = synth_chance(run->rand, 500);
    Region *region = &run->regions[virt ? REGION_V : REGION_S];
    unsigned page = synth_pick(run->rand, region->nr_pages);

    region->phys[page] = *run->next_phys;
    *run->next_phys += PAGE;
    for (guint i = 0; i < region->ops->len; i++) {
        put_op(run->synth, region, &g_array_index(region->ops, Op, i));
    }
    for (unsigned i = 0; i < run->synth->opts.nr_harts; i++) {
        fence(&runs[i]);
        put_maps(run->synth, i, region, virt);
    }
}

/* Other targets for an instruction: every hart has to see it in its place. */
static void change_code(Runner *runs, Runner *run)
{
    Synth *s = run->synth;
    Region *region = &run->regions[synth_pick(run->rand, NR_REGIONS)];
    Op *op = &g_array_index(region->ops, Op,
                            synth_pick(run->rand, region->ops->len));
    uint64_t id = ++*run->next_change;

    if (op->kind != OP_BRANCH && op->kind != OP_JUMP) {
        return;
    }
    sb_change(s->sideband, id);
    for (unsigned i = 0; i < s->opts.nr_harts; i++) {
        close_window(&runs[i]);
    }
    synth_choose_target(run->rand, region, op);
    put_op(s, region, op);
    for (unsigned i = 0; i < s->opts.nr_harts; i++) {
        sb_place(s->sideband, i, id, runs[i].packets);
    }
}

static void put_align(Synth *s, Runner *runs)
{
    uint8_t buf[ETRACE_ALIGN_MAX], payload[8 + 8 * MAX_HARTS];

    g_byte_array_append(s->trace, buf,
                        etrace_encap_align(&runs[0].enc.params, buf));
    etrace_sb_put(payload, s->trace->len, 8);
    for (unsigned i = 0; i < s->opts.nr_harts; i++) {
        etrace_sb_put(payload + 8 + 8 * i, runs[i].packets, 8);
    }
    sb_record(s->sideband, ETRACE_SB_ALIGN, ETRACE_SB_ALL_HARTS, payload,
              8 + 8 * s->opts.nr_harts);
}

static void init_runner(Runner *run)
{
    Synth *s = run->synth;
    uint8_t ioptions = s->opts.ioptions;
    ETraceParams params;

    etrace_params_init(&params, s->opts.xlen);
    params.src_bits = s->opts.nr_harts > 1 ? 8 : 0;
    params.src_id = run->hart;
    if (s->opts.modes) {
        random_modes(run, &params, &ioptions);
    }
    etrace_encoder_init(&run->enc, &params, &encoder_ops, run);
    run->enc.sync_mode = s->opts.sync_mode;
    run->enc.sync_max = s->opts.sync_max;
    run->enc.ioptions = ioptions;
    sb_params(s->sideband, run->hart, &params);
    run->atp[0] = s->opts.xlen == 32 ? 0x80000000u : 8ull << 60;
    for (int virt = 0; virt < 2; virt++) {
        sb_space(s->sideband, run->hart, virt, run->atp[virt]);
        put_maps(s, run->hart, &run->regions[virt ? REGION_V : REGION_S],
                 virt);
    }
    put_tvecs(run);
    enter(run, ETRACE_PRIV_M, 0);
    s->harts[run->hart] = (SynthHart) {
        .pcs = g_array_new(FALSE, FALSE, sizeof(uint64_t)),
        .traps = g_array_new(FALSE, FALSE, sizeof(SynthTrap)),
        .notes = g_array_new(FALSE, FALSE, sizeof(uint64_t)),
    };
}

static bool some_left(const Synth *s)
{
    for (unsigned i = 0; i < s->opts.nr_harts; i++) {
        if (s->harts[i].pcs->len < s->opts.insns) {
            return true;
        }
    }
    return false;
}

static void run_all(Synth *s, Runner *runs, GRand *r)
{
    for (unsigned i = 0; i < s->opts.nr_harts; i++) {
        etrace_encoder_start(&runs[i].enc);
    }
    while (some_left(s)) {
        Runner *run = &runs[synth_pick(r, s->opts.nr_harts)];
        unsigned steps = 1 + synth_pick(r, 40);

        while (steps--) {
            step(run);
            if (synth_chance(r, s->opts.window_permille)) {
                close_window(run);
            }
        }
        if (synth_chance(r, s->opts.change_permille)) {
            switch (synth_pick(r, 3)) {
            case 0:
                change_space(run);
                break;
            case 1:
                change_map(runs, run);
                break;
            case 2:
                change_code(runs, run);
                break;
            }
        }
        if (s->opts.notes) {
            take_note(run);
        }
        if (synth_chance(r, 20)) {
            put_align(s, runs);
        }
    }
    for (unsigned i = 0; i < s->opts.nr_harts; i++) {
        flush_block(&runs[i]);
        forget_trap(&runs[i]);
        etrace_encoder_stop(&runs[i].enc);
    }
}

Synth *synth_run(const SynthOptions *opts)
{
    Synth *s = g_new0(Synth, 1);
    g_autofree Runner *runs = g_new0(Runner, opts->nr_harts);
    Region regions[NR_REGIONS] = { 0 };
    uint64_t next_phys = 0x90000000, next_change = 0;
    GRand *r = g_rand_new_with_seed(opts->seed);

    check_cmpuint(opts->nr_harts, <=, MAX_HARTS);
    s->opts = *opts;
    s->trace = g_byte_array_new();
    s->sideband = g_byte_array_new();
    s->ends = g_array_new(FALSE, FALSE, sizeof(size_t));
    s->harts = g_new0(SynthHart, opts->nr_harts);
    for (unsigned i = 0; i < opts->nr_harts; i++) {
        runs[i] = (Runner) {
            .synth = s,
            .rand = r,
            .hart = i,
            .regions = regions,
            .next_phys = &next_phys,
            .next_change = &next_change,
        };
    }
    synth_make_region(r, &regions[REGION_M], 0x80000000, opts->code_bytes,
                      &next_phys);
    synth_make_region(r, &regions[REGION_S],
                      opts->xlen == 32 ? 0xc0000000 : 0xffffffff80000000ull,
                      opts->code_bytes, &next_phys);
    synth_make_region(r, &regions[REGION_V], 0x10000, opts->code_bytes,
                      &next_phys);

    sb_session(s->sideband, 1, opts->nr_harts, 0);
    for (unsigned i = 0; i < NR_REGIONS; i++) {
        put_code(s, &regions[i]);
    }
    for (unsigned i = 0; i < opts->nr_harts; i++) {
        init_runner(&runs[i]);
    }
    run_all(s, runs, r);

    for (unsigned i = 0; i < NR_REGIONS; i++) {
        g_array_unref(regions[i].ops);
    }
    g_rand_free(r);
    return s;
}

void synth_free(Synth *s)
{
    for (unsigned i = 0; i < s->opts.nr_harts; i++) {
        g_array_unref(s->harts[i].pcs);
        g_array_unref(s->harts[i].traps);
        g_array_unref(s->harts[i].notes);
    }
    g_free(s->harts);
    g_array_unref(s->ends);
    g_byte_array_unref(s->trace);
    g_byte_array_unref(s->sideband);
    g_free(s);
}

GString *synth_truth(const Synth *s, unsigned every)
{
    GString *text = g_string_new("# rvtruth 1\n");

    for (unsigned i = 0; i < s->opts.nr_harts; i++) {
        const GArray *pcs = s->harts[i].pcs;
        uint64_t hash = 0;

        for (guint j = 0; j < pcs->len; j++) {
            hash = truth_hash(hash, g_array_index(pcs, uint64_t, j));
            if ((j + 1) % every == 0) {
                g_string_append_printf(text, "H %u %u %" PRIx64 "\n", i,
                                       j + 1, hash);
            }
        }
        g_string_append_printf(text, "E %u %u %" PRIx64 "\n", i, pcs->len,
                               hash);
    }
    return text;
}
