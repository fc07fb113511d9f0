/*
 * Instruction classification: words assembled by the ISA manual's tables
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <glib.h>
#include "tests/fixtures/check.h"
#include "code/insn.h"

typedef struct Expect {
    const char *text;
    uint32_t raw;
    uint8_t xlens;              /* bit 0: RV32, bit 1: RV64 */
    uint8_t size;
    uint8_t kind;
    uint8_t itype;
    int32_t offset;             /* of branches and jumps */
} Expect;

#define RV32    1
#define RV64    2
#define BOTH    3

static const Expect expects[] = {
    /* unprivileged ISA, chapter 2: conditional branches, B-type */
    { "beq x0,x0,.", 0x00000063, BOTH, 4, INSN_BRANCH, 5, 0 },
    { "beq a0,a1,.+8", 0x00b50463, BOTH, 4, INSN_BRANCH, 5, 8 },
    { "bne a0,a1,.-4", 0xfeb51ee3, BOTH, 4, INSN_BRANCH, 5, -4 },
    { "blt a0,a1,.+4094", 0x7eb54fe3, BOTH, 4, INSN_BRANCH, 5, 4094 },
    { "bge a0,a1,.-4096", 0x80b55063, BOTH, 4, INSN_BRANCH, 5, -4096 },
    { "bltu a0,a1,.+2048", 0x00b560e3, BOTH, 4, INSN_BRANCH, 5, 2048 },
    { "bgeu a0,a1,.-2", 0xfeb57fe3, BOTH, 4, INSN_BRANCH, 5, -2 },
    { "beqi a0, 11, +8", 0x00b52463, BOTH, 4,
      INSN_BRANCH, ETRACE_ITYPE_TAKEN_BRANCH, 8 },
    { "bnei a0, 11, +8", 0x00b53463, BOTH, 4,
      INSN_BRANCH, ETRACE_ITYPE_TAKEN_BRANCH, 8 },
    /* jal: J-type; classes of E-Trace section 4.1.1 */
    { "jal x0,.", 0x0000006f, BOTH, 4, INSN_JUMP, 11, 0 },
    { "jal ra,.+8", 0x008000ef, BOTH, 4, INSN_JUMP, 9, 8 },
    { "jal t0,.-4", 0xffdff2ef, BOTH, 4, INSN_JUMP, 9, -4 },
    { "jal a0,.+2048", 0x0010056f, BOTH, 4, INSN_JUMP, 15, 2048 },
    { "jal x0,.-1048576", 0x8000006f, BOTH, 4, INSN_JUMP, 11, -1048576 },
    { "jal ra,.+1048574", 0x7ffff0ef, BOTH, 4, INSN_JUMP, 9, 1048574 },
    { "jal x0,.+4096", 0x0000106f, BOTH, 4, INSN_JUMP, 11, 4096 },
    /* jalr */
    { "jalr x0,0(ra)", 0x00008067, BOTH, 4, INSN_UPDISCON, 13, 0 },
    { "jalr x0,0(t0)", 0x00028067, BOTH, 4, INSN_UPDISCON, 13, 0 },
    { "jalr a0,0(ra)", 0x00008567, BOTH, 4, INSN_UPDISCON, 13, 0 },
    { "jalr x0,4(a5)", 0x00478067, BOTH, 4, INSN_UPDISCON, 10, 0 },
    { "jalr ra,0(a5)", 0x000780e7, BOTH, 4, INSN_UPDISCON, 8, 0 },
    { "jalr t0,0(a5)", 0x000782e7, BOTH, 4, INSN_UPDISCON, 8, 0 },
    { "jalr ra,0(ra)", 0x000080e7, BOTH, 4, INSN_UPDISCON, 8, 0 },
    { "jalr t0,0(t0)", 0x000282e7, BOTH, 4, INSN_UPDISCON, 8, 0 },
    { "jalr ra,0(t0)", 0x000280e7, BOTH, 4, INSN_UPDISCON, 12, 0 },
    { "jalr t0,0(ra)", 0x000082e7, BOTH, 4, INSN_UPDISCON, 12, 0 },
    { "jalr a0,0(a5)", 0x00078567, BOTH, 4, INSN_UPDISCON, 14, 0 },
    { "jalr x0,16(x0)", 0x01000067, BOTH, 4, INSN_UPDISCON, 10, 0 },
    { "jalr ra,16(x0)", 0x010000e7, BOTH, 4, INSN_UPDISCON, 8, 0 },
    { "funct3 1 of JALR, reserved", 0x00009067, BOTH, 4,
      INSN_SEQUENTIAL, 0, 0 },
    /* SYSTEM */
    { "ecall", 0x00000073, BOTH, 4, INSN_SEQUENTIAL, 0, 0 },
    { "ebreak", 0x00100073, BOTH, 4, INSN_SEQUENTIAL, 0, 0 },
    { "sret", 0x10200073, BOTH, 4, INSN_XRET, 3, 0 },
    { "mret", 0x30200073, BOTH, 4, INSN_XRET, 3, 0 },
    { "mnret", 0x70200073, BOTH, 4, INSN_XRET, 3, 0 },
    { "dret", 0x7b200073, BOTH, 4, INSN_XRET, 3, 0 },
    { "wfi", 0x10500073, BOTH, 4, INSN_SEQUENTIAL, 0, 0 },
    { "sfence.vma", 0x12000073, BOTH, 4, INSN_SEQUENTIAL, 0, 0 },
    { "csrw satp,a0", 0x18051073, BOTH, 4, INSN_SEQUENTIAL, 0, 0 },
    { "fence.i", 0x0000100f, BOTH, 4, INSN_SEQUENTIAL, 0, 0 },
    { "fence", 0x0ff0000f, BOTH, 4, INSN_SEQUENTIAL, 0, 0 },
    /* what looks like a jump, but is none */
    { "lw a0,0(a1)", 0x0005a503, BOTH, 4, INSN_SEQUENTIAL, 0, 0 },
    { "amoadd.w a0,a1,(a2)", 0x00b6252f, BOTH, 4, INSN_SEQUENTIAL, 0, 0 },
    { "fmadd.d fa0,fa1,fa2,fa3", 0x6ac5f543, BOTH, 4,
      INSN_SEQUENTIAL, 0, 0 },
    { "fsd fa0,0(a1)", 0x00a5b027, BOTH, 4, INSN_SEQUENTIAL, 0, 0 },
    /* C, quadrant 0: never */
    { "c.addi4spn a0,sp,16", 0x0808, BOTH, 2, INSN_SEQUENTIAL, 0, 0 },
    { "c.fld fa0,0(a0)", 0x2108, BOTH, 2, INSN_SEQUENTIAL, 0, 0 },
    /* C, quadrant 1 */
    { "c.nop", 0x0001, BOTH, 2, INSN_SEQUENTIAL, 0, 0 },
    { "c.j .", 0xa001, BOTH, 2, INSN_JUMP, 11, 0 },
    { "c.j .-2", 0xbffd, BOTH, 2, INSN_JUMP, 11, -2 },
    { "c.j .+2046", 0xaffd, BOTH, 2, INSN_JUMP, 11, 2046 },
    { "c.j .-2048", 0xb001, BOTH, 2, INSN_JUMP, 11, -2048 },
    { "c.j .+32", 0xa005, BOTH, 2, INSN_JUMP, 11, 32 },
    { "c.j .+64", 0xa081, BOTH, 2, INSN_JUMP, 11, 64 },
    { "c.j .+128", 0xa041, BOTH, 2, INSN_JUMP, 11, 128 },
    { "c.j .+1024", 0xa101, BOTH, 2, INSN_JUMP, 11, 1024 },
    { "c.jal .+16", 0x2801, RV32, 2, INSN_JUMP, 9, 16 },
    { "c.jal .-2", 0x3ffd, RV32, 2, INSN_JUMP, 9, -2 },
    { "c.addiw a0,1", 0x2505, RV64, 2, INSN_SEQUENTIAL, 0, 0 },
    { "c.beqz a0,.+8", 0xc501, BOTH, 2, INSN_BRANCH, 5, 8 },
    { "c.beqz a0,.+254", 0xcd7d, BOTH, 2, INSN_BRANCH, 5, 254 },
    { "c.bnez a5,.-2", 0xfffd, BOTH, 2, INSN_BRANCH, 5, -2 },
    { "c.bnez s0,.-256", 0xf001, BOTH, 2, INSN_BRANCH, 5, -256 },
    { "c.bnez s0,.+32", 0xe005, BOTH, 2, INSN_BRANCH, 5, 32 },
    { "c.bnez s0,.+64", 0xe021, BOTH, 2, INSN_BRANCH, 5, 64 },
    /* C, quadrant 2 */
    { "c.jr ra", 0x8082, BOTH, 2, INSN_UPDISCON, 13, 0 },
    { "c.jr t0", 0x8282, BOTH, 2, INSN_UPDISCON, 13, 0 },
    { "c.jr a5", 0x8782, BOTH, 2, INSN_UPDISCON, 10, 0 },
    { "c.jalr a5", 0x9782, BOTH, 2, INSN_UPDISCON, 8, 0 },
    { "c.jalr ra", 0x9082, BOTH, 2, INSN_UPDISCON, 8, 0 },
    { "c.jalr t0", 0x9282, BOTH, 2, INSN_UPDISCON, 12, 0 },
    { "c.ebreak", 0x9002, BOTH, 2, INSN_SEQUENTIAL, 0, 0 },
    { "c.jr x0, reserved", 0x8002, BOTH, 2, INSN_SEQUENTIAL, 0, 0 },
    { "c.mv a0,a1", 0x852e, BOTH, 2, INSN_SEQUENTIAL, 0, 0 },
    { "c.add a0,a1", 0x952e, BOTH, 2, INSN_SEQUENTIAL, 0, 0 },
    { "c.fsdsp fs0,8(sp)", 0xa422, BOTH, 2, INSN_SEQUENTIAL, 0, 0 },
    { "c.slli a0,1", 0x0506, BOTH, 2, INSN_SEQUENTIAL, 0, 0 },
    /* the Zc encodings are c.fsdsp without Zc */
    { "cm.popret {ra},16", 0xbe42, BOTH, 2, INSN_SEQUENTIAL, 0, 0 },
    { "cm.jt 0", 0xa002, BOTH, 2, INSN_SEQUENTIAL, 0, 0 },
};

static void check_all(unsigned xlen)
{
    InsnIsa isa = { .xlen = xlen };

    for (size_t i = 0; i < ARRAY_SIZE(expects); i++) {
        const Expect *e = &expects[i];
        Insn insn;

        if (!(e->xlens & (xlen == 32 ? RV32 : RV64))) {
            continue;
        }
        g_test_message("%s", e->text);
        insn_classify(&isa, e->raw, &insn);
        check_cmpuint(insn.size, ==, e->size);
        check_cmpuint(insn.kind, ==, e->kind);
        check_cmpuint(insn.itype, ==, e->itype);
        if (e->kind == INSN_BRANCH || e->kind == INSN_JUMP) {
            check_cmpint(insn.offset, ==, e->offset);
        }
    }
}

static void test_rv32(void)
{
    check_all(32);
}

static void test_rv64(void)
{
    check_all(64);
}

/* Code size reduction extensions 1.0: cm.popret, cm.popretz, cm.jt, cm.jalt */
static void test_zc(void)
{
    static const struct {
        uint32_t raw;
        bool zcmp, zcmt;
        uint8_t kind, itype;
    } table[] = {
        { 0xb842, true, true, INSN_SEQUENTIAL, 0 },     /* cm.push */
        { 0xba42, true, true, INSN_SEQUENTIAL, 0 },     /* cm.pop */
        { 0xbc42, true, false, INSN_UPDISCON, 13 },     /* cm.popretz */
        { 0xbe42, true, false, INSN_UPDISCON, 13 },     /* cm.popret */
        { 0xbe42, false, true, INSN_SEQUENTIAL, 0 },
        { 0xac22, true, true, INSN_SEQUENTIAL, 0 },     /* cm.mvsa01 */
        { 0xa002, false, true, INSN_UPDISCON, 10 },     /* cm.jt 0 */
        { 0xa07e, false, true, INSN_UPDISCON, 10 },     /* cm.jt 31 */
        { 0xa082, false, true, INSN_UPDISCON, 8 },      /* cm.jalt 32 */
        { 0xa3fe, false, true, INSN_UPDISCON, 8 },      /* cm.jalt 255 */
        { 0xa002, true, false, INSN_SEQUENTIAL, 0 },
    };

    for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
        InsnIsa isa = {
            .xlen = 64, .zcmp = table[i].zcmp, .zcmt = table[i].zcmt,
        };
        Insn insn;

        g_test_message("0x%04x", table[i].raw);
        insn_classify(&isa, table[i].raw, &insn);
        check_cmpuint(insn.size, ==, 2);
        check_cmpuint(insn.kind, ==, table[i].kind);
        check_cmpuint(insn.itype, ==, table[i].itype);
    }
}

/* lui and auipc, for jumps that follow them */
static void test_upper(void)
{
    InsnIsa isa = { .xlen = 64 };
    Insn insn;

    insn_classify(&isa, 0x80000537, &insn);     /* lui a0,0x80000 */
    check_cmpuint(insn.flags, ==, INSN_LUI);
    check_cmpuint(insn.rd, ==, 10);
    check_cmpint(insn.offset, ==, INT32_MIN);
    insn_classify(&isa, 0x00001317, &insn);     /* auipc t1,1 */
    check_cmpuint(insn.flags, ==, INSN_AUIPC);
    check_cmpuint(insn.rd, ==, 6);
    check_cmpint(insn.offset, ==, 4096);
    insn_classify(&isa, 0x757d, &insn);         /* c.lui a0,0xfffff */
    check_cmpuint(insn.flags, ==, INSN_LUI);
    check_cmpuint(insn.rd, ==, 10);
    check_cmpint(insn.offset, ==, -4096);
    insn_classify(&isa, 0x6141, &insn);         /* c.addi16sp sp,16 */
    check_cmpuint(insn.flags, ==, 0);
}

/* Whatever the upper half of a 2-byte instruction's word is */
static void test_upper_half_ignored(void)
{
    InsnIsa isa = { .xlen = 64 };
    Insn a, b;

    for (size_t i = 0; i < ARRAY_SIZE(expects); i++) {
        if (expects[i].size == 2) {
            insn_classify(&isa, expects[i].raw, &a);
            insn_classify(&isa, expects[i].raw | 0xffff0000, &b);
            check_cmpuint(a.size, ==, b.size);
            check_cmpuint(a.kind, ==, b.kind);
            check_cmpuint(a.itype, ==, b.itype);
            check_cmpuint(a.flags, ==, b.flags);
            check_cmpint(a.offset, ==, b.offset);
        }
    }
}

/* Zibi: bits 31:25 and 11:7 are the offset, as of beq */
static void test_zibi(void)
{
    static const struct {
        uint32_t raw;
        int32_t offset;
    } insns[] = {
        { 0x00152463, 8 },          /* beqi a0, 1, +8 */
        { 0x00553463, 8 },          /* bnei a0, 5, +8 */
        { 0xfe052ee3, -4 },         /* beqi a0, -1, -4 */
    };
    const InsnIsa isa = { .xlen = 64 };

    for (size_t i = 0; i < G_N_ELEMENTS(insns); i++) {
        Insn insn;

        insn_classify(&isa, insns[i].raw, &insn);
        check_cmpint(insn.kind, ==, INSN_BRANCH);
        check_cmpint(insn.offset, ==, insns[i].offset);
        check_cmpint(insn.size, ==, 4);
    }
}

static void test_isa_unknown(void)
{
    static const char *const known[] = {
        "rv64gc", "RV32IMAC_Zcmp_zcmt", "rv64imafdc_zba_zbb_sstc_svpbmt",
        "rv64i2p1_m2p0_a2p1_f2p2_d2p2_c2p0_zicsr2p0_zifencei2p0_zmmul1p0",
        "rv64gcv_zvl128b_zve64d_zvbb", "rv64gc_zibi", "rv64gch_xtheadba1p0",
        "rv32imc_zic64b_ssu64xl",
    };
    static const char *const unknown[][2] = {
        { "rv64gc_whatever", "whatever" }, { "rv64gc_zba_zxyz", "zxyz" },
        { "rv64gcy", "rv64gcy" }, { "rv32imc_xqcibi", "xqcibi" },
        { "rv64gc__zba", "" }, { "rv32imc_xcvbi1p0", "xcvbi1p0" },
    };

    for (size_t i = 0; i < G_N_ELEMENTS(known); i++) {
        g_autofree char *got = insn_isa_unknown(known[i]);

        check_cmpstr(got, ==, NULL);
    }
    for (size_t i = 0; i < G_N_ELEMENTS(unknown); i++) {
        g_autofree char *got = insn_isa_unknown(unknown[i][0]);

        check_cmpstr(got, ==, unknown[i][1]);
    }
}

static void test_isa_string(void)
{
    InsnIsa isa;

    check_true(insn_isa_parse(&isa, "rv32imac_zcmp_zcmt"));
    check_cmpuint(isa.xlen, ==, 32);
    check_true(isa.zcmp && isa.zcmt);
    check_true(insn_isa_parse(&isa, "RV64GC"));
    check_cmpuint(isa.xlen, ==, 64);
    check_false(isa.zcmp || isa.zcmt);
    check_false(insn_isa_parse(&isa, "x86_64"));
    check_false(insn_isa_parse(&isa, ""));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/insn/rv32", test_rv32);
    g_test_add_func("/insn/rv64", test_rv64);
    g_test_add_func("/insn/zibi", test_zibi);
    g_test_add_func("/insn/isa-unknown", test_isa_unknown);
    g_test_add_func("/insn/zc", test_zc);
    g_test_add_func("/insn/upper", test_upper);
    g_test_add_func("/insn/upper-half-ignored", test_upper_half_ignored);
    g_test_add_func("/insn/isa-string", test_isa_string);
    return g_test_run();
}
