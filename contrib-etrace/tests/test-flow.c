/*
 * Instruction flow: packets written by hand after the specification's text
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <stdarg.h>
#include "flow.h"
#include "sb-build.h"

#define BASE        0x80000000ull
#define NOP         0x00000013
#define C_NOP       0x0001
#define JALR        0x00078067      /* jalr x0, 0(a5) */
#define JALR_X0     0x01000067      /* jalr x0, 16(x0) */
#define MRET        0x30200073
#define ECALL       0x00000073
#define BNE_M4      0xfe059ee3      /* bne a1, x0, .-4 */
#define BNE_P8      0x00059463      /* bne a1, x0, .+8 */
#define J_SELF      0x0000006f      /* j . */
#define J_M8        0xff9ff06f      /* j .-8 */
#define J_P8        0x0080006f      /* j .+8 */
#define END         UINT64_MAX

typedef struct Fixture {
    Sideband *sb;
    GByteArray *bytes;
    ETraceParams params;
    Image *image;
    Flow flow;
    GArray *pcs;            /* uint64_t */
    GArray *privs;          /* guint, of each pc */
    GArray *traps;          /* FlowTrap */
    GArray *losses;         /* FlowLoss */
    unsigned starts, ends;
} Fixture;

static void on_run(void *opaque, const FlowRun *run)
{
    Fixture *f = opaque;
    const uint8_t *code = run->code;
    uint64_t pc = run->pc;
    guint priv = run->priv;

    for (unsigned i = 0; i < run->count; i++) {
        g_array_append_val(f->pcs, pc);
        g_array_append_val(f->privs, priv);
        pc += flow_insn_length(code);
        code += flow_insn_length(code);
    }
}

static void on_trap(void *opaque, const FlowTrap *trap)
{
    Fixture *f = opaque;

    g_array_append_val(f->traps, *trap);
}

static void on_start(void *opaque, uint64_t pc)
{
    Fixture *f = opaque;

    f->starts++;
}

static void on_end(void *opaque, FlowWindowEnd why)
{
    Fixture *f = opaque;

    f->ends++;
}

static void on_loss(void *opaque, const FlowLoss *loss)
{
    Fixture *f = opaque;

    g_array_append_val(f->losses, *loss);
}

static const FlowOps ops = {
    .run = on_run,
    .trap = on_trap,
    .window_start = on_start,
    .window_end = on_end,
};

/* A program at BASE: instructions, 2 or 4 bytes each, ended by 0 */
static void set_up(Fixture *f, unsigned xlen, ...)
{
    g_autoptr(GError) err = NULL;
    g_autoptr(GByteArray) code = g_byte_array_new();
    InsnIsa isa = { .xlen = xlen };
    uint32_t raw;
    va_list ap;

    *f = (Fixture) {
        .bytes = g_byte_array_new(),
        .pcs = g_array_new(FALSE, FALSE, sizeof(uint64_t)),
        .privs = g_array_new(FALSE, FALSE, sizeof(guint)),
        .traps = g_array_new(FALSE, FALSE, sizeof(FlowTrap)),
        .losses = g_array_new(FALSE, FALSE, sizeof(FlowLoss)),
    };
    va_start(ap, xlen);
    while ((raw = va_arg(ap, uint32_t))) {
        uint8_t buf[4];

        etrace_sb_put(buf, raw, 4);
        g_byte_array_append(code, buf, insn_length(raw));
    }
    va_end(ap);
    etrace_params_init(&f->params, xlen);
    sb_session(f->bytes, 1, 1, 0);
    sb_params(f->bytes, 0, &f->params);
    sb_code(f->bytes, BASE, code->data, code->len);
    f->sb = sideband_parse(f->bytes->data, f->bytes->len, 0, &err);
    g_assert_no_error(err);
    f->image = image_new(&isa, f->sb, 0, NULL);
    flow_init(&f->flow, &f->params, f->image, &ops, f, on_loss, f);
}

static void tear_down(Fixture *f)
{
    image_free(f->image);
    sideband_free(f->sb);
    g_byte_array_unref(f->bytes);
    g_array_unref(f->pcs);
    g_array_unref(f->privs);
    g_array_unref(f->traps);
    g_array_unref(f->losses);
}

/* Packets; addresses in bytes from BASE, as far as they are absolute */

static bool start(Fixture *f, uint64_t at, bool branch, unsigned priv)
{
    return flow_packet(&f->flow, &(ETracePacket) {
        .format = ETRACE_FORMAT_SYNC,
        .subformat = ETRACE_SYNC_START,
        .branch = branch,
        .privilege = priv,
        .address = BASE + at,
    });
}

static bool start_m(Fixture *f, uint64_t at)
{
    return start(f, at, true, ETRACE_PRIV_M);
}

static bool trap(Fixture *f, unsigned cause, bool thaddr, uint64_t at)
{
    return flow_packet(&f->flow, &(ETracePacket) {
        .format = ETRACE_FORMAT_SYNC,
        .subformat = ETRACE_SYNC_TRAP,
        .branch = true,
        .privilege = ETRACE_PRIV_M,
        .ecause = cause,
        .thaddr = thaddr,
        .address = BASE + at,
        .tval = 0x1234,
    });
}

static bool support(Fixture *f, ETraceQualStatus qual_status)
{
    return flow_packet(&f->flow, &(ETracePacket) {
        .format = ETRACE_FORMAT_SYNC,
        .subformat = ETRACE_SYNC_SUPPORT,
        .ienable = true,
        .qual_status = qual_status,
    });
}

#define NOTIFY      1
#define UPDISCON    2

static bool addr(Fixture *f, int64_t delta, unsigned flags)
{
    return flow_packet(&f->flow, &(ETracePacket) {
        .format = ETRACE_FORMAT_ADDR_ONLY,
        .address = delta,
        .notify = flags & NOTIFY,
        .updiscon = flags & UPDISCON,
    });
}

static bool map_addr(Fixture *f, unsigned branches, uint32_t map,
                     int64_t delta, unsigned flags)
{
    return flow_packet(&f->flow, &(ETracePacket) {
        .format = ETRACE_FORMAT_DIFF_DELTA,
        .branches = branches,
        .branch_map = map,
        .address = delta,
        .notify = flags & NOTIFY,
        .updiscon = flags & UPDISCON,
    });
}

static bool full_map(Fixture *f, uint32_t map)
{
    return flow_packet(&f->flow, &(ETracePacket) {
        .format = ETRACE_FORMAT_DIFF_DELTA,
        .branch_map = map,
    });
}

/* Everything executed so far: offsets from BASE, ended by END */
static void assert_pcs(Fixture *f, ...)
{
    va_list ap;
    uint64_t want;
    guint i = 0;

    va_start(ap, f);
    for (; (want = va_arg(ap, uint64_t)) != END; i++) {
        g_assert_cmpuint(i, <, f->pcs->len);
        g_assert_cmphex(g_array_index(f->pcs, uint64_t, i), ==, BASE + want);
    }
    va_end(ap);
    g_assert_cmpuint(f->pcs->len, ==, i);
}

#define A(x) ((uint64_t)(x))

static void assert_loss(Fixture *f, FlowLossKind kind)
{
    g_assert_cmpuint(f->losses->len, ==, 1);
    g_assert_cmpint(g_array_index(f->losses, FlowLoss, 0).kind, ==, kind);
}

/*
 * Section 6.6.2, the loop: looplabel is at 8, the jump at 16 leads there; the
 * handler is at 20.
 */
static void set_up_loop(Fixture *f)
{
    set_up(f, 64, NOP, NOP, NOP, NOP, JALR, NOP, NOP, NOP, 0);
}

/* "1. ... carries on executing the 2nd pass of the loop." */
static void test_looplabel_1(void)
{
    Fixture f;

    set_up_loop(&f);
    g_assert_true(start_m(&f, 0));
    g_assert_true(addr(&f, 8, 0));
    assert_pcs(&f, A(0), A(4), A(8), END);
    g_assert_true(addr(&f, 0, 0));
    assert_pcs(&f, A(0), A(4), A(8), A(12), A(16), A(8), A(12), A(16), A(8),
               END);
    tear_down(&f);
}

/* "2. ... an exception ... in the second iteration at looplabel + 4." */
static void test_looplabel_2(void)
{
    Fixture f;

    set_up_loop(&f);
    g_assert_true(start_m(&f, 0));
    g_assert_true(addr(&f, 8, UPDISCON));
    assert_pcs(&f, A(0), A(4), A(8), A(12), A(16), A(8), END);
    g_assert_true(trap(&f, 2, true, 20));
    assert_pcs(&f, A(0), A(4), A(8), A(12), A(16), A(8), A(20), END);
    g_assert_cmpuint(f.traps->len, ==, 1);
    g_assert_true(g_array_index(f.traps, FlowTrap, 0).epc_known);
    g_assert_cmphex(g_array_index(f.traps, FlowTrap, 0).epc, ==, BASE + 12);
    tear_down(&f);
}

/* "3. An exception occurs immediately after the 1st execution." */
static void test_looplabel_3(void)
{
    Fixture f;

    set_up_loop(&f);
    g_assert_true(start_m(&f, 0));
    g_assert_true(addr(&f, 8, 0));
    g_assert_true(trap(&f, 2, true, 20));
    assert_pcs(&f, A(0), A(4), A(8), A(20), END);
    g_assert_cmphex(g_array_index(f.traps, FlowTrap, 0).epc, ==, BASE + 12);
    tear_down(&f);
}

/* "4. ... reports the 1st execution of looplabel with notify" */
static void test_looplabel_4(void)
{
    Fixture f;

    set_up_loop(&f);
    g_assert_true(start_m(&f, 0));
    g_assert_true(addr(&f, 8, NOTIFY));
    assert_pcs(&f, A(0), A(4), A(8), END);
    g_assert_true(addr(&f, 0, 0));
    assert_pcs(&f, A(0), A(4), A(8), A(12), A(16), A(8), END);
    tear_down(&f);
}

/* Section 6.5.1: "stopped after executing looplabel in the 1st iteration" */
static void test_ended_rep(void)
{
    Fixture f;

    set_up_loop(&f);
    start_m(&f, 0);
    addr(&f, 8, 0);
    g_assert_true(support(&f, ETRACE_QUAL_ENDED_REP));
    assert_pcs(&f, A(0), A(4), A(8), END);
    g_assert_cmpuint(f.ends, ==, 1);
    /* and what follows starts with a synchronisation packet */
    g_assert_true(start_m(&f, 12));
    assert_pcs(&f, A(0), A(4), A(8), A(12), END);
    g_assert_cmpuint(f.starts, ==, 2);
    tear_down(&f);
}

/* "... in the 2nd loop iteration" */
static void test_ended_ntr(void)
{
    Fixture f;

    set_up_loop(&f);
    start_m(&f, 0);
    addr(&f, 8, 0);
    g_assert_true(support(&f, ETRACE_QUAL_ENDED_NTR));
    assert_pcs(&f, A(0), A(4), A(8), A(12), A(16), A(8), END);
    tear_down(&f);
}

/* The same, but the address was not inferred: it was updiscon's */
static void test_ended_ntr_updiscon(void)
{
    Fixture f;

    set_up_loop(&f);
    start_m(&f, 0);
    addr(&f, 8, UPDISCON);
    g_assert_true(support(&f, ETRACE_QUAL_ENDED_NTR));
    assert_pcs(&f, A(0), A(4), A(8), A(12), A(16), A(8), END);
    tear_down(&f);
}

/*
 * A full branch map without an address: the last branch is reached, but
 * "we do not yet know whether it retires" what follows it.
 */
static void test_full_map(void)
{
    Fixture f;

    set_up(&f, 64, NOP, BNE_M4, NOP, JALR, 0);
    start_m(&f, 0);
    g_assert_true(full_map(&f, 0));
    g_assert_cmpuint(f.pcs->len, ==, 62);
    for (guint i = 0; i < 62; i++) {
        g_assert_cmphex(g_array_index(f.pcs, uint64_t, i), ==,
                        BASE + 4 * (i & 1));
    }
    /* the 31st was taken; then one that is not, and on to an address */
    g_assert_true(map_addr(&f, 1, 1, 8, 0));
    g_assert_cmpuint(f.pcs->len, ==, 65);
    g_assert_cmphex(g_array_index(f.pcs, uint64_t, 62), ==, BASE);
    g_assert_cmphex(g_array_index(f.pcs, uint64_t, 63), ==, BASE + 4);
    g_assert_cmphex(g_array_index(f.pcs, uint64_t, 64), ==, BASE + 8);
    g_assert_cmpuint(f.losses->len, ==, 0);
    tear_down(&f);
}

/* Two full maps on end: the bit that is left is the oldest. */
static void test_full_map_twice(void)
{
    Fixture f;

    set_up(&f, 64, NOP, BNE_M4, NOP, JALR, 0);
    start_m(&f, 0);
    full_map(&f, 0);
    g_assert_true(full_map(&f, 0));
    g_assert_cmpuint(f.pcs->len, ==, 124);
    tear_down(&f);
}

/* branches = 31 with an address: all 31 are used up on the way. */
static void test_map_31_with_address(void)
{
    Fixture f;

    set_up(&f, 64, NOP, BNE_M4, NOP, JALR, 0);
    start_m(&f, 0);
    g_assert_true(map_addr(&f, 31, 1u << 30, 8, 0));
    g_assert_cmpuint(f.pcs->len, ==, 63);
    g_assert_cmphex(g_array_index(f.pcs, uint64_t, 62), ==, BASE + 8);
    tear_down(&f);
}

/* The reported instruction is a branch itself: its bit is in the map. */
static void test_report_branch(void)
{
    Fixture f;

    set_up(&f, 64, NOP, BNE_P8, NOP, NOP, JALR, NOP, 0);
    start_m(&f, 0);
    g_assert_true(map_addr(&f, 1, 0, 4, NOTIFY));
    assert_pcs(&f, A(0), A(4), END);
    /* taken: to 12; then the jump, to 20 */
    g_assert_true(addr(&f, 16, 0));
    assert_pcs(&f, A(0), A(4), A(12), A(16), A(20), END);
    tear_down(&f);
}

/* An exception after a branch: EPC is where the branch led to. */
static void test_trap_after_branch(void)
{
    for (unsigned not_taken = 0; not_taken < 2; not_taken++) {
        Fixture f;

        set_up(&f, 64, NOP, BNE_P8, NOP, NOP, JALR, NOP, 0);
        start_m(&f, 0);
        g_assert_true(map_addr(&f, 1, not_taken, 4, 0));
        g_assert_true(trap(&f, 13, true, 20));
        assert_pcs(&f, A(0), A(4), A(20), END);
        g_assert_cmphex(g_array_index(f.traps, FlowTrap, 0).epc, ==,
                        BASE + (not_taken ? 8 : 12));
        tear_down(&f);
    }
}

/* Section 6.2.1: branch says whether the first instruction is taken. */
static void test_start_at_branch(void)
{
    for (unsigned branch = 0; branch < 2; branch++) {
        Fixture f;

        set_up(&f, 64, BNE_P8, NOP, NOP, JALR, NOP, 0);
        g_assert_true(start(&f, 0, branch, ETRACE_PRIV_M));
        g_assert_true(addr(&f, 16, 0));
        if (branch) {
            assert_pcs(&f, A(0), A(4), A(8), A(12), A(16), END);
        } else {
            assert_pcs(&f, A(0), A(8), A(12), A(16), END);
        }
        tear_down(&f);
    }
}

/* branch is 1 for what is no branch: it must not stay in the map. */
static void test_start_not_at_branch(void)
{
    Fixture f;

    set_up(&f, 64, NOP, BNE_P8, NOP, NOP, JALR, NOP, 0);
    start(&f, 0, true, ETRACE_PRIV_M);
    g_assert_true(map_addr(&f, 1, 0, 20, 0));
    assert_pcs(&f, A(0), A(4), A(12), A(16), A(20), END);
    tear_down(&f);
}

/*
 * Section 6.3.1: "if a second interrupt or exception occurs immediately, ...
 * thaddr is 0, and address is undefined"
 */
static void test_back_to_back(void)
{
    Fixture f;
    const FlowTrap *t;

    set_up_loop(&f);
    start_m(&f, 0);
    addr(&f, 4, 0);
    g_assert_true(trap(&f, 5, false, 8));
    g_assert_true(trap(&f, 7, true, 20));
    assert_pcs(&f, A(0), A(4), A(20), END);
    g_assert_cmpuint(f.traps->len, ==, 2);
    t = &g_array_index(f.traps, FlowTrap, 0);
    g_assert_cmpuint(t[0].cause, ==, 5);
    g_assert_cmpuint(t[1].cause, ==, 7);
    /* the first handler's address is nowhere in the trace */
    g_assert_false(t[1].epc_known);
    g_assert_cmpuint(f.losses->len, ==, 0);
    g_assert_true(addr(&f, 4, 0));
    g_assert_cmphex(g_array_index(f.pcs, uint64_t, 3), ==, BASE + 24);
    tear_down(&f);
}

/* "an exception occurs at the target of an uninferable PC discontinuity" */
static void test_trap_on_target(void)
{
    Fixture f;

    set_up_loop(&f);
    start_m(&f, 0);
    g_assert_true(addr(&f, 16, 0));
    g_assert_true(trap(&f, 12, false, 0x4000));
    g_assert_true(start_m(&f, 20));
    assert_pcs(&f, A(0), A(4), A(8), A(12), A(16), A(20), END);
    g_assert_true(g_array_index(f.traps, FlowTrap, 0).epc_known);
    g_assert_cmphex(g_array_index(f.traps, FlowTrap, 0).epc, ==,
                    BASE + 0x4000);
    g_assert_cmpuint(f.starts, ==, 1);
    tear_down(&f);
}

/* "An exception occuring on the 1st traced instruction is treated" so, too */
static void test_trap_on_first(void)
{
    Fixture f;

    set_up_loop(&f);
    g_assert_true(support(&f, ETRACE_QUAL_NO_CHANGE));
    g_assert_true(trap(&f, 1, false, 0));
    g_assert_true(start_m(&f, 20));
    assert_pcs(&f, A(20), END);
    g_assert_cmphex(g_array_index(f.traps, FlowTrap, 0).epc, ==, BASE);
    g_assert_cmphex(g_array_index(f.traps, FlowTrap, 0).tval, ==, 0x1234);
    g_assert_cmpuint(f.losses->len, ==, 0);
    tear_down(&f);
}

/* An ecall does not retire: it is where the trap hits. */
static void test_ecall(void)
{
    Fixture f;

    set_up(&f, 64, NOP, NOP, ECALL, NOP, NOP, 0);
    start_m(&f, 0);
    g_assert_true(addr(&f, 4, 0));
    g_assert_true(trap(&f, 11, true, 12));
    assert_pcs(&f, A(0), A(4), A(12), END);
    g_assert_cmphex(g_array_index(f.traps, FlowTrap, 0).epc, ==, BASE + 8);
    tear_down(&f);
}

/* Resynchronisation: followed "up to and through the format 3 packet" */
static void test_resync(void)
{
    Fixture f;

    set_up(&f, 64, NOP, J_P8, NOP, NOP, NOP, JALR, 0);
    start_m(&f, 0);
    g_assert_true(start_m(&f, 16));
    assert_pcs(&f, A(0), A(4), A(12), A(16), END);
    g_assert_cmpuint(f.starts, ==, 1);
    g_assert_cmpuint(f.losses->len, ==, 0);
    tear_down(&f);
}

/*
 * A return from a trap into another privilege level: an address on the way
 * there is not the place, only behind the return is.
 */
static void test_privilege_change(void)
{
    Fixture f;

    set_up(&f, 64, NOP, NOP, NOP, MRET, NOP, 0);
    start_m(&f, 0);
    g_assert_true(start(&f, 4, true, ETRACE_PRIV_U));
    assert_pcs(&f, A(0), A(4), A(8), A(12), A(4), END);
    g_assert_cmpuint(g_array_index(f.privs, guint, 3), ==, ETRACE_PRIV_M);
    g_assert_cmpuint(g_array_index(f.privs, guint, 4), ==, ETRACE_PRIV_U);
    tear_down(&f);
}

/* mret to M: an uninferable jump like any other */
static void test_xret_same_privilege(void)
{
    Fixture f;

    set_up(&f, 64, NOP, MRET, NOP, NOP, 0);
    start_m(&f, 0);
    g_assert_true(addr(&f, 12, 0));
    assert_pcs(&f, A(0), A(4), A(12), END);
    tear_down(&f);
}

/* The target is encoded in jalr x0, 16(x0), but is reported nevertheless. */
static void test_jalr_x0(void)
{
    Fixture f;

    set_up(&f, 64, NOP, JALR_X0, NOP, NOP, 0);
    start_m(&f, 0);
    g_assert_true(addr(&f, 12, 0));
    assert_pcs(&f, A(0), A(4), A(12), END);
    tear_down(&f);
}

/* A loop of inferable jumps: notify tells the visits apart. */
static void test_jump_loop(void)
{
    Fixture f;

    set_up(&f, 64, NOP, NOP, J_M8, NOP, 0);
    start_m(&f, 0);
    g_assert_true(addr(&f, 8, NOTIFY));
    g_assert_true(addr(&f, 0, NOTIFY));
    g_assert_true(addr(&f, -4, 0));
    g_assert_true(trap(&f, 2, true, 12));
    assert_pcs(&f, A(0), A(4), A(8), A(0), A(4), A(8), A(0), A(4), A(12),
               END);
    tear_down(&f);
}

/* j . is its own next instruction. */
static void test_jump_to_self(void)
{
    Fixture f;

    set_up(&f, 64, J_SELF, NOP, 0);
    start_m(&f, 0);
    g_assert_true(addr(&f, 0, NOTIFY));
    g_assert_true(addr(&f, 0, NOTIFY));
    g_assert_true(addr(&f, 0, 0));
    g_assert_true(trap(&f, 7, true, 4));
    assert_pcs(&f, A(0), A(0), A(0), A(0), A(4), END);
    g_assert_cmphex(g_array_index(f.traps, FlowTrap, 0).epc, ==, BASE);
    tear_down(&f);
}

/* Full-address mode: addresses are no differences. */
static void test_full_address(void)
{
    Fixture f;

    set_up_loop(&f);
    flow_packet(&f.flow, &(ETracePacket) {
        .format = ETRACE_FORMAT_SYNC,
        .subformat = ETRACE_SYNC_SUPPORT,
        .ioptions = ETRACE_IOPT_FULL_ADDRESS,
    });
    start_m(&f, 0);
    g_assert_true(addr(&f, BASE + 8, UPDISCON));
    assert_pcs(&f, A(0), A(4), A(8), A(12), A(16), A(8), END);
    tear_down(&f);
}

/* RV32: 2-byte instructions, and addresses of 32 bits */
static void test_rv32(void)
{
    Fixture f;

    /* c.nop; c.jal .+4; c.nop; c.jr a5 */
    set_up(&f, 32, C_NOP, 0x2011, C_NOP, 0x8782, C_NOP, 0);
    start_m(&f, 0);
    g_assert_true(addr(&f, (int64_t)-2 + 2, 0));
    assert_pcs(&f, A(0), A(2), A(6), A(0), END);
    g_assert_true(addr(&f, -0x80000000ll, UPDISCON));
    g_assert_cmphex(g_array_index(f.pcs, uint64_t, f.pcs->len - 1), ==, 0);
    tear_down(&f);
}

/* Losses */

static void test_in_band_loss(void)
{
    Fixture f;

    set_up_loop(&f);
    start_m(&f, 0);
    g_assert_false(support(&f, ETRACE_QUAL_TRACE_LOST));
    assert_loss(&f, FLOW_LOST_IN_BAND);
    g_assert_cmphex(g_array_index(f.losses, FlowLoss, 0).pc, ==, BASE);
    g_assert_true(addr(&f, 8, 0));          /* skipped */
    g_assert_true(start_m(&f, 12));
    assert_pcs(&f, A(0), A(12), END);
    g_assert_cmpuint(f.flow.skipped, ==, 1);
    tear_down(&f);
}

static void test_lost_code(void)
{
    Fixture f;

    set_up(&f, 64, NOP, NOP, 0);
    start_m(&f, 0);
    g_assert_false(addr(&f, 16, 0));
    assert_loss(&f, FLOW_LOST_CODE);
    g_assert_cmphex(g_array_index(f.losses, FlowLoss, 0).address, ==,
                    BASE + 8);
    assert_pcs(&f, A(0), A(4), END);
    tear_down(&f);
}

static void test_too_few_branches(void)
{
    Fixture f;

    set_up(&f, 64, NOP, BNE_P8, NOP, NOP, JALR, 0);
    start_m(&f, 0);
    g_assert_false(addr(&f, 12, 0));
    assert_loss(&f, FLOW_LOST_BRANCHES);
    tear_down(&f);
}

static void test_too_many_branches(void)
{
    Fixture f;

    set_up(&f, 64, NOP, BNE_P8, NOP, NOP, JALR, 0);
    start_m(&f, 0);
    g_assert_false(map_addr(&f, 3, 0, 12, 0));
    assert_loss(&f, FLOW_LOST_BRANCHES);
    tear_down(&f);
}

/* "ERROR: unexpected uninferable discontinuity" */
static void test_updiscon_in_full_map(void)
{
    Fixture f;

    set_up_loop(&f);
    start_m(&f, 0);
    g_assert_false(full_map(&f, 0));
    assert_loss(&f, FLOW_LOST_UPDISCON);
    tear_down(&f);
}

/* "ERROR: Expecting trace to start with format 3" */
static void test_starts_with_format_2(void)
{
    Fixture f;

    set_up_loop(&f);
    g_assert_false(addr(&f, 8, 0));
    assert_loss(&f, FLOW_LOST_ORDER);
    assert_pcs(&f, END);
    tear_down(&f);
}

/* The path is a circle, and the address is not on it. */
static void test_endless_loop(void)
{
    Fixture f;

    set_up(&f, 64, NOP, NOP, J_M8, NOP, NOP, 0);
    start_m(&f, 0);
    g_assert_false(addr(&f, 16, 0));
    assert_loss(&f, FLOW_LOST_LOOP);
    g_assert_cmpuint(f.pcs->len, <, 100);
    tear_down(&f);
}

static void test_endless_jump_to_self(void)
{
    Fixture f;

    set_up(&f, 64, J_SELF, NOP, 0);
    start_m(&f, 0);
    g_assert_false(map_addr(&f, 3, 0, 4, 0));
    assert_loss(&f, FLOW_LOST_LOOP);
    tear_down(&f);
}

/* Modes that change what the packets mean must not be decoded wrongly. */
static void test_unsupported(void)
{
    Fixture f;

    set_up_loop(&f);
    g_assert_false(flow_packet(&f.flow, &(ETracePacket) {
        .format = ETRACE_FORMAT_SYNC,
        .subformat = ETRACE_SYNC_SUPPORT,
        .ioptions = ETRACE_IOPT_IMPLICIT_RETURN,
    }));
    assert_loss(&f, FLOW_LOST_UNSUPPORTED);
    start_m(&f, 0);
    assert_pcs(&f, END);
    g_assert_true(support(&f, ETRACE_QUAL_NO_CHANGE));
    start_m(&f, 0);
    assert_pcs(&f, A(0), END);
    tear_down(&f);
}

/* A sync packet that the path does not lead to is good to go on from. */
static void test_sync_elsewhere(void)
{
    Fixture f;

    set_up(&f, 64, NOP, NOP, J_M8, NOP, NOP, 0);
    start_m(&f, 0);
    g_assert_false(start_m(&f, 12));
    assert_loss(&f, FLOW_LOST_LOOP);
    g_assert_cmphex(g_array_index(f.pcs, uint64_t, f.pcs->len - 1), ==,
                    BASE + 12);
    g_assert_true(addr(&f, 4, 0));
    g_assert_cmphex(g_array_index(f.pcs, uint64_t, f.pcs->len - 1), ==,
                    BASE + 16);
    tear_down(&f);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/flow/looplabel-1", test_looplabel_1);
    g_test_add_func("/flow/looplabel-2", test_looplabel_2);
    g_test_add_func("/flow/looplabel-3", test_looplabel_3);
    g_test_add_func("/flow/looplabel-4", test_looplabel_4);
    g_test_add_func("/flow/ended-rep", test_ended_rep);
    g_test_add_func("/flow/ended-ntr", test_ended_ntr);
    g_test_add_func("/flow/ended-ntr-updiscon", test_ended_ntr_updiscon);
    g_test_add_func("/flow/full-map", test_full_map);
    g_test_add_func("/flow/full-map-twice", test_full_map_twice);
    g_test_add_func("/flow/map-31-with-address", test_map_31_with_address);
    g_test_add_func("/flow/report-branch", test_report_branch);
    g_test_add_func("/flow/trap-after-branch", test_trap_after_branch);
    g_test_add_func("/flow/start-at-branch", test_start_at_branch);
    g_test_add_func("/flow/start-not-at-branch", test_start_not_at_branch);
    g_test_add_func("/flow/back-to-back", test_back_to_back);
    g_test_add_func("/flow/trap-on-target", test_trap_on_target);
    g_test_add_func("/flow/trap-on-first", test_trap_on_first);
    g_test_add_func("/flow/ecall", test_ecall);
    g_test_add_func("/flow/resync", test_resync);
    g_test_add_func("/flow/privilege-change", test_privilege_change);
    g_test_add_func("/flow/xret-same-privilege", test_xret_same_privilege);
    g_test_add_func("/flow/jalr-x0", test_jalr_x0);
    g_test_add_func("/flow/jump-loop", test_jump_loop);
    g_test_add_func("/flow/jump-to-self", test_jump_to_self);
    g_test_add_func("/flow/full-address", test_full_address);
    g_test_add_func("/flow/rv32", test_rv32);
    g_test_add_func("/flow/in-band-loss", test_in_band_loss);
    g_test_add_func("/flow/lost-code", test_lost_code);
    g_test_add_func("/flow/too-few-branches", test_too_few_branches);
    g_test_add_func("/flow/too-many-branches", test_too_many_branches);
    g_test_add_func("/flow/updiscon-in-full-map", test_updiscon_in_full_map);
    g_test_add_func("/flow/starts-with-format-2", test_starts_with_format_2);
    g_test_add_func("/flow/endless-loop", test_endless_loop);
    g_test_add_func("/flow/endless-jump-to-self", test_endless_jump_to_self);
    g_test_add_func("/flow/unsupported", test_unsupported);
    g_test_add_func("/flow/sync-elsewhere", test_sync_elsewhere);
    return g_test_run();
}
