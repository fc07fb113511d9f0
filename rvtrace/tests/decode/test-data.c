/*
 * Data flow: accesses and the instructions that made them
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "tests/fixtures/check.h"
#include "flow/data-flow.h"
#include "tests/fixtures/flow-fixture.h"

#define LW      0x0005a503      /* lw a0, 0(a1) */
#define SW      0x00a5a023
#define AMOADD  0x00c5a52f
#define AMOCAS  0x28c5a52f
#define LR      0x1005a52f
#define SC      0x18c5a52f
#define CSRRW   0x34059573      /* csrrw a0, mscratch, a1 */
#define VSETVLI 0x0c05f557
#define VLE32   0x0205e207
#define VSE32   0x0205e227
#define CM_POP  0xba52          /* ra, s0 */

#define LOAD    (1u << ETRACE_DTYPE_LOAD)
#define STORE   (1u << ETRACE_DTYPE_STORE)
#define D(name) (1u << ETRACE_DTYPE_##name)

/* From the assembler: what they access */
static const struct {
    uint32_t raw;
    const char *text;
    unsigned xlen, dtypes, sizes, min, max;
} insns[] = {
    { 0x00158503, "lb a0,1(a1)", 64, LOAD, 1, 1, 1 },
    { 0x0015d503, "lhu a0,1(a1)", 64, LOAD, 2, 1, 1 },
    { 0x0015e503, "lwu a0,1(a1)", 64, LOAD, 4, 1, 1 },
    { 0x0015b503, "ld a0,1(a1)", 64, LOAD, 8, 1, 1 },
    { 0x00a580a3, "sb a0,1(a1)", 64, STORE, 1, 1, 1 },
    { 0x00a5b0a3, "sd a0,1(a1)", 64, STORE, 8, 1, 1 },
    { 0x0045a507, "flw fa0,4(a1)", 64, LOAD, 4, 1, 1 },
    { 0x00a5b227, "fsd fa0,4(a1)", 64, STORE, 8, 1, 1 },
    { LR, "lr.w a0,(a1)", 64, LOAD, 4, 1, 1 },
    { 0x18c5b52f, "sc.d a0,a2,(a1)", 64, STORE | D(SC_FAILURE), 8, 0, 1 },
    { 0x08c5a52f, "amoswap.w a0,a2,(a1)", 64, D(SWAP), 4, 1, 1 },
    { 0xc0c5b52f, "amominu.d a0,a2,(a1)", 64, D(MIN), 8, 1, 1 },
    { 0x28c5c52f, "amocas.q a0,a2,(a1)", 64,
      LOAD | D(SWAP) | D(CAS_FAILURE), 8, 2, 2 },
    { CSRRW, "csrrw a0,mscratch,a1", 64, D(CSR_RW), 8, 1, 1 },
    { 0xc001e573, "csrrsi a0,cycle,3", 32, D(CSR_RS), 4, 1, 1 },
    { 0x3405b573, "csrrc a0,mscratch,a1", 64, D(CSR_RC), 8, 1, 1 },
    { 0x6c05c573, "hlv.d a0,(a1)", 64, LOAD, 8, 1, 1 },
    { 0x62a5c073, "hsv.b a0,(a1)", 64, STORE, 1, 1, 1 },
    { 0x0205e407, "vle32.v v8,(a1)", 64, LOAD, 4, 0, DATA_INSN_MANY },
    { 0x0005f427, "vse64.v v8,(a1),v0.t", 64, STORE, 8, 0, DATA_INSN_MANY },
    { 0x06458427, "vsuxei8.v v8,(a1),v4", 64, STORE, 15, 0, DATA_INSN_MANY },
    { 0x0045a00f, "cbo.zero (a1)", 64, STORE, 8, 8, 8 },
    { 0x41c8, "c.lw a0,4(a1)", 64, LOAD, 4, 1, 1 },
    { 0x2588, "c.fld fa0,8(a1)", 64, LOAD, 8, 1, 1 },
    { 0x6588, "c.ld a0,8(a1)", 64, LOAD, 8, 1, 1 },
    { 0x6588, "c.flw fa0,8(a1)", 32, LOAD, 4, 1, 1 },
    { 0xc1c8, "c.sw a0,4(a1)", 64, STORE, 4, 1, 1 },
    { 0xe588, "c.sd a0,8(a1)", 64, STORE, 8, 1, 1 },
    { 0x4512, "c.lwsp a0,4", 64, LOAD, 4, 1, 1 },
    { 0xa42a, "c.fsdsp fa0,8", 64, STORE, 8, 1, 1 },
    { 0xe42a, "c.sdsp a0,8", 64, STORE, 8, 1, 1 },
    { 0x00150513, "addi a0,a0,1", 64, 0, 0, 0, 0 },
    { ECALL, "ecall", 64, 0, 0, 0, 0 },
    { MRET, "mret", 64, 0, 0, 0, 0 },
    { BNE_P8, "bne", 64, 0, 0, 0, 0 },
    { VSETVLI, "vsetvli", 64, 0, 0, 0, 0 },
};

static void test_insns(void)
{
    DataInsn d;

    for (size_t i = 0; i < ARRAY_SIZE(insns); i++) {
        InsnIsa isa = { .xlen = insns[i].xlen };

        data_insn_classify(&isa, insns[i].raw, &d);
        if (d.dtypes != insns[i].dtypes || d.sizes != insns[i].sizes ||
            d.min != insns[i].min || d.max != insns[i].max) {
            g_error("%s: dtypes %x, sizes %x, %u to %u", insns[i].text,
                    d.dtypes, d.sizes, d.min, d.max);
        }
    }
    /* The lists of Zcmp: ra; ra, s0; ... ra, s0 to s9; ra, s0 to s11 */
    for (unsigned rlist = 4; rlist < 16; rlist++) {
        InsnIsa isa = { .xlen = 64, .zcmp = true };

        data_insn_classify(&isa, 0xb802 | rlist << 4, &d);
        check_cmpuint(d.dtypes, ==, STORE);
        check_cmpuint(d.min, ==, rlist == 15 ? 13 : rlist - 3);
        check_cmpuint(d.max, ==, d.min);
    }
}

/* A program, its data flow, and what came out: "offset:accesses..." */
typedef struct Fixture {
    FlowFixture f;
    DataFlow df;
    GString *out;
} Fixture;

static void on_insn(void *opaque, const DataFlowInsn *insn)
{
    Fixture *x = opaque;

    g_string_append_printf(x->out, " @%x", (unsigned)(insn->pc - BASE));
}

static void on_access(void *opaque, const DataFlowAccess *access)
{
    Fixture *x = opaque;

    g_string_append(x->out, access->pc_known ? " " : " ?");
    if (access->pc_known) {
        g_string_append_printf(x->out, "%x=",
                               (unsigned)(access->pc - BASE));
    }
    if (access->inferred) {
        g_string_append(x->out, "failed");
    } else {
        g_string_append_printf(x->out, "%" PRIx64, access->access.address);
    }
}

static const DataFlowOps ops = { .insn = on_insn, .access = on_access };

#define SET_UP(x, ...) do { \
    set_up(&(x)->f, 64, __VA_ARGS__, 0); \
    begin(x); \
} while (0)

static void begin(Fixture *x)
{
    x->f.params.data_width = 64;
    x->f.params.daddress_width = 64;
    x->f.image->isa.zcmp = true;
    x->out = g_string_new(NULL);
    data_flow_init(&x->df, &x->f.params, x->f.image, &ops, x);
}

static void expect(Fixture *x, const char *text)
{
    data_flow_end(&x->df);
    check_cmpstr(x->out->str, ==, text);
    g_string_free(x->out, TRUE);
    data_flow_destroy(&x->df);
    tear_down(&x->f);
}

/* @count instructions from the one at @at on retire. */
static void retire(Fixture *x, uint64_t at, unsigned count)
{
    CodePage *page = image_page(x->f.image, ETRACE_PRIV_M, BASE);

    data_flow_run(&x->df, &(FlowRun) {
        .pc = BASE + at, .code = &page->bytes[at], .count = count,
        .priv = ETRACE_PRIV_M,
    });
}

static DataFlowStatus packet(Fixture *x, const ETraceDataPacket *pkt)
{
    uint8_t buf[ETRACE_PACKET_MAX];
    ETraceDataPacket shortened = *pkt;
    size_t len;

    etrace_data_packet_shorten(&x->df.params, &shortened);
    len = etrace_data_packet_pack(&x->df.params, NULL, &shortened, buf);
    return data_flow_packet(&x->df, buf, len, NULL);
}

static void access4(Fixture *x, unsigned format, uint64_t address)
{
    check_cmpuint(packet(x, &(ETraceDataPacket) {
        .format = format, .size = 2, .address = address,
    }), ==, DATA_FLOW_OK);
}

static void sync_packet(Fixture *x, unsigned subformat, bool thaddr)
{
    data_flow_inst_packet(&x->df, &(ETracePacket) {
        .format = ETRACE_FORMAT_SYNC, .subformat = subformat,
        .thaddr = thaddr,
    });
}

static void dloss_packet(Fixture *x)
{
    data_flow_inst_packet(&x->df, &(ETracePacket) {
        .format = ETRACE_FORMAT_SYNC, .subformat = ETRACE_SYNC_SUPPORT,
        .dloss = true,
    });
}

/* The instruction that a sync packet reports is in the next stretch. */
static void test_in_order(void)
{
    Fixture x;

    SET_UP(&x, LW, NOP, SW, AMOADD, CSRRW);
    retire(&x, 0, 1);
    sync_packet(&x, ETRACE_SYNC_START, false);
    access4(&x, ETRACE_DATA_LOAD, 0x100);
    access4(&x, ETRACE_DATA_STORE, 0x104);
    retire(&x, 4, 3);
    sync_packet(&x, ETRACE_SYNC_START, false);
    check_cmpuint(packet(&x, &(ETraceDataPacket) {
        .format = ETRACE_DATA_ATOMIC, .subtype = ETRACE_ATOMIC_ADD,
        .size = 2, .address = 0x108,
    }), ==, DATA_FLOW_OK);
    check_cmpuint(packet(&x, &(ETraceDataPacket) {
        .format = ETRACE_DATA_CSR, .subtype = ETRACE_CSR_RW,
        .address = 0x340,
    }), ==, DATA_FLOW_OK);
    retire(&x, 16, 1);
    expect(&x, " @0 0=100 @4 @8 8=104 @c c=108 @10 10=340");
}

/* Too few, too many, another type: nobody can know whose they are. */
static void test_uneven(void)
{
    Fixture x;

    SET_UP(&x, LW, SW, LW);
    retire(&x, 0, 3);
    access4(&x, ETRACE_DATA_LOAD, 0x100);
    access4(&x, ETRACE_DATA_STORE, 0x104);
    expect(&x, " @0 @4 @8 ?100 ?104");

    SET_UP(&x, LW, SW);
    retire(&x, 0, 2);
    access4(&x, ETRACE_DATA_LOAD, 0x100);
    access4(&x, ETRACE_DATA_LOAD, 0x104);
    expect(&x, " @0 @4 ?100 ?104");

    SET_UP(&x, NOP);
    access4(&x, ETRACE_DATA_LOAD, 0x100);
    expect(&x, " ?100");
}

/* Only the stretch with the loss is affected. */
static void test_loss(void)
{
    Fixture x;

    SET_UP(&x, LW, LW);
    retire(&x, 0, 1);
    sync_packet(&x, ETRACE_SYNC_START, false);
    access4(&x, ETRACE_DATA_LOAD, 0x100);
    dloss_packet(&x);
    check_cmpuint(packet(&x, &(ETraceDataPacket) {
        .format = ETRACE_DATA_LOAD, .size = 2, .diff = 2, .address = 4,
    }), ==, DATA_FLOW_NO_BASE);
    retire(&x, 4, 1);
    sync_packet(&x, ETRACE_SYNC_START, false);
    access4(&x, ETRACE_DATA_LOAD, 0x104);
    expect(&x, " @0 ?100 @4 4=104");
}

static void test_malformed(void)
{
    static const uint8_t bad[] = { 0x04 };  /* a response of a split load */
    Fixture x;

    SET_UP(&x, LW);
    retire(&x, 0, 1);
    access4(&x, ETRACE_DATA_LOAD, 0x100);
    check_cmpuint(data_flow_packet(&x.df, bad, 1, NULL), ==,
                  DATA_FLOW_MALFORMED);
    expect(&x, " @0 ?100");
}

/* An sc that fails has no packet; one that does not stores where lr was. */
static void test_sc(void)
{
    Fixture x;

    SET_UP(&x, LR, SC, SC, SW);
    retire(&x, 0, 4);
    access4(&x, ETRACE_DATA_LOAD, 0x100);
    access4(&x, ETRACE_DATA_STORE, 0x100);
    access4(&x, ETRACE_DATA_STORE, 0x200);
    expect(&x, " @0 0=100 @4 4=100 @8 8=failed @c c=200");

    SET_UP(&x, LR, SC, SW);
    retire(&x, 0, 3);
    access4(&x, ETRACE_DATA_LOAD, 0x100);
    access4(&x, ETRACE_DATA_STORE, 0x200);
    expect(&x, " @0 0=100 @4 4=failed @8 8=200");
}

/* The draft 2.1 has a packet for a compare and swap that did not store. */
static void test_failed_cas(void)
{
    Fixture x;

    set_up(&x.f, 64, LW, AMOCAS, SW, 0);
    x.f.params.wire_format = ETRACE_WIRE_2_1_DRAFT;
    begin(&x);
    retire(&x, 0, 3);
    access4(&x, ETRACE_DATA_LOAD, 0x100);
    check_cmpuint(packet(&x, &(ETraceDataPacket) {
        .format = ETRACE_DATA_ATOMIC, .subtype = ETRACE_ATOMIC_CAS_FAILURE,
        .size = 2, .address = 0x200,
    }), ==, DATA_FLOW_OK);
    access4(&x, ETRACE_DATA_STORE, 0x104);
    expect(&x, " @0 0=100 @4 4=200 @8 8=104");
}

/* Elements: as many for each until vl changes, one behind the other */
static void test_vector(void)
{
    Fixture x;

    /* The first load could have all of them, but the store has two. */
    SET_UP(&x, VSETVLI, VLE32, VLE32, VSE32, LW);
    retire(&x, 0, 5);
    for (unsigned i = 0; i < 4; i++) {
        access4(&x, ETRACE_DATA_LOAD, 0x100 + 4 * i);
    }
    access4(&x, ETRACE_DATA_STORE, 0x200);
    access4(&x, ETRACE_DATA_STORE, 0x204);
    access4(&x, ETRACE_DATA_LOAD, 0x110);
    expect(&x, " @0 @4 4=100 4=104 @8 8=108 8=10c @c c=200 c=204 @10 10=110");

    /* The load behind it is not where the next element would be. */
    SET_UP(&x, VLE32, LW);
    retire(&x, 0, 2);
    access4(&x, ETRACE_DATA_LOAD, 0x100);
    access4(&x, ETRACE_DATA_LOAD, 0x104);
    access4(&x, ETRACE_DATA_LOAD, 0x10c);
    expect(&x, " @0 0=100 0=104 @4 4=10c");
}

/* cm.pop traps behind the first of two loads, and is done anew later. */
static void test_partial(void)
{
    Fixture x;

    SET_UP(&x, LW, CM_POP, C_NOP, SW);
    retire(&x, 0, 1);
    access4(&x, ETRACE_DATA_LOAD, 0x100);
    check_cmpuint(packet(&x, &(ETraceDataPacket) {
        .format = ETRACE_DATA_LOAD, .size = 3, .address = 0x208,
    }), ==, DATA_FLOW_OK);
    data_flow_trap(&x.df, &(FlowTrap) {
        .cause = 13, .priv = ETRACE_PRIV_M, .epc_known = true,
        .epc = BASE + 4,
    });
    retire(&x, 8, 1);
    sync_packet(&x, ETRACE_SYNC_TRAP, true);
    access4(&x, ETRACE_DATA_STORE, 0x104);
    expect(&x, " @0 0=100 4=208 @8 8=104");
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/data/insns", test_insns);
    g_test_add_func("/data/in-order", test_in_order);
    g_test_add_func("/data/uneven", test_uneven);
    g_test_add_func("/data/loss", test_loss);
    g_test_add_func("/data/malformed", test_malformed);
    g_test_add_func("/data/sc", test_sc);
    g_test_add_func("/data/failed-cas", test_failed_cas);
    g_test_add_func("/data/vector", test_vector);
    g_test_add_func("/data/partial", test_partial);
    return g_test_run();
}
