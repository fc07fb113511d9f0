/*
 * Instructions executed again: what is known of registers and memory
 *
 * That results are right is compared with a machine in tests/machines/state.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "tests/fixtures/check.h"
#include "replay/cpu.h"
#include "replay/fpu.h"
#include "replay/memory.h"
#include "replay/rvc.h"
#include "replay/stamps.h"

#define RA  1
#define SP  2
#define S0  8
#define S1  9
#define A0  10
#define A1  11

static const CpuAccesses no_access;

static void init(Cpu *cpu)
{
    cpu_init(cpu, &(InsnIsa) { .xlen = 64, .zcmp = true });
}

static void expect(const Cpu *cpu, unsigned reg, uint64_t value)
{
    check_true(cpu->known_x >> reg & 1);
    check_cmphex(cpu->x[reg], ==, value);
}

static void expect_unknown(const Cpu *cpu, unsigned reg)
{
    check_false(cpu->known_x >> reg & 1);
}

/* An instruction with one access */
static void access_one(Cpu *cpu, uint32_t raw, unsigned dtype, unsigned size,
                       uint64_t data)
{
    ETraceDataAccess a = { .dtype = dtype, .size = size, .data = data };

    cpu_execute(cpu, 0x1000, raw, &(CpuAccesses) { .all = &a, .n = 1 });
}

static void test_unknown(void)
{
    Cpu cpu;

    init(&cpu);
    expect(&cpu, 0, 0);
    cpu_execute(&cpu, 0, 0x00b50533, &no_access);   /* add a0,a0,a1 */
    expect_unknown(&cpu, A0);
    cpu_execute(&cpu, 0, 0x00700593, &no_access);   /* li a1,7 */
    expect(&cpu, A1, 7);
    cpu_execute(&cpu, 0, 0x00b50533, &no_access);   /* add a0,a0,a1 */
    expect_unknown(&cpu, A0);
    cpu_execute(&cpu, 0, 0x00b58533, &no_access);   /* add a0,a1,a1 */
    expect(&cpu, A0, 14);
    /* a load of which nothing is known */
    cpu_execute(&cpu, 0, 0x0005b503, &no_access);   /* ld a0,0(a1) */
    expect_unknown(&cpu, A0);
    /* x0 stays what it is */
    cpu_execute(&cpu, 0, 0x00700013, &no_access);   /* li zero,7 */
    expect(&cpu, 0, 0);
    /* what nobody knows may do anything */
    cpu_execute(&cpu, 0, 0x0000000b, &no_access);
    expect_unknown(&cpu, A1);
    expect(&cpu, 0, 0);
}

static void test_loads(void)
{
    Cpu cpu;

    init(&cpu);
    access_one(&cpu, 0x00050583, ETRACE_DTYPE_LOAD, 0, 0x80);   /* lb a1 */
    expect(&cpu, A1, 0xffffffffffffff80);
    access_one(&cpu, 0x00054583, ETRACE_DTYPE_LOAD, 0, 0x80);   /* lbu a1 */
    expect(&cpu, A1, 0x80);
    /* an access of another size is not its */
    access_one(&cpu, 0x00054583, ETRACE_DTYPE_LOAD, 2, 0x80);
    expect_unknown(&cpu, A1);
    access_one(&cpu, 0x300025f3, ETRACE_DTYPE_CSR_RS, 3, 0x1800);   /* csrr */
    expect(&cpu, A1, 0x1800);
    access_one(&cpu, 0x00b525af, ETRACE_DTYPE_ADD, 2, 0x80000000);  /* amoadd */
    expect(&cpu, A1, 0xffffffff80000000);
    access_one(&cpu, 0x18b525af, ETRACE_DTYPE_STORE, 2, 5);     /* sc.w a1 */
    expect(&cpu, A1, 0);
    cpu_execute(&cpu, 0, 0x18b525af, &(CpuAccesses) { .sc_failed = true });
    expect(&cpu, A1, 1);
    cpu_execute(&cpu, 0, 0x18b525af, &(CpuAccesses) { });
    expect_unknown(&cpu, A1);
}

/* An instruction whose access is at @address */
static void access_at(Cpu *cpu, uint32_t raw, unsigned dtype, unsigned size,
                      uint64_t address, uint64_t data)
{
    ETraceDataAccess a = {
        .dtype = dtype, .size = size, .address = address, .data = data,
    };

    cpu_execute(cpu, 0x1000, raw, &(CpuAccesses) { .all = &a, .n = 1 });
}

/* An access says what its registers were: imm + rs1 is its address. */
static void test_addresses(void)
{
    Cpu cpu;

    init(&cpu);
    cpu_execute(&cpu, 0, 0x1141, &no_access);           /* c.addi sp,-16 */
    expect_unknown(&cpu, SP);
    access_at(&cpu, 0xe406, ETRACE_DTYPE_STORE, 3, 0x7ff8, 5);
    expect(&cpu, SP, 0x7ff0);                           /* c.sdsp ra,8 */
    expect(&cpu, RA, 5);
    access_at(&cpu, 0xfe853583, ETRACE_DTYPE_LOAD, 3, 0x1000, 7);
    expect(&cpu, A0, 0x1018);                           /* ld a1,-24(a0) */
    expect(&cpu, A1, 7);
    cpu_forget(&cpu);
    access_at(&cpu, 0xfeb52ea3, ETRACE_DTYPE_STORE, 2, 0x1000, 7);
    expect(&cpu, A0, 0x1003);                           /* sw a1,-3(a0) */
    expect_unknown(&cpu, A1);                           /* its upper half */
    cpu_forget(&cpu);
    access_at(&cpu, 0x00053503, ETRACE_DTYPE_LOAD, 3, 0x1000, 7);
    expect(&cpu, A0, 7);                                /* ld a0,0(a0) */
    cpu_forget(&cpu);
    access_at(&cpu, 0x00b525af, ETRACE_DTYPE_ADD, 2, 0x1000, 1);
    expect(&cpu, A0, 0x1000);                           /* amoadd.w a1,a1 */
    cpu_forget(&cpu);
    access_at(&cpu, 0x00b53427, ETRACE_DTYPE_STORE, 3, 0x1008, 9);
    expect(&cpu, A0, 0x1000);                           /* fsd fa1,8(a0) */
    check_true(cpu.known_f >> 11 & 1);
    check_cmphex(cpu.f[11], ==, 9);
    /* One of another size is not its, nor are two. */
    cpu_forget(&cpu);
    access_at(&cpu, 0xfe853583, ETRACE_DTYPE_LOAD, 2, 0x1000, 7);
    expect_unknown(&cpu, A0);
    /* the number of a CSR says nothing of rs1, nor does a vector's access */
    access_at(&cpu, 0x300525f3, ETRACE_DTYPE_CSR_RS, 3, 0x300, 7);
    expect_unknown(&cpu, A0);                           /* csrrs a1,mstatus */
    access_at(&cpu, 0x02057407, ETRACE_DTYPE_LOAD, 3, 0x1000, 7);
    expect_unknown(&cpu, A0);                           /* vle64.v v8,(a0) */
    /* With pointer masking, the register may have more. */
    cpu.isa.tags = true;
    access_at(&cpu, 0xfe853583, ETRACE_DTYPE_LOAD, 3, 0x1000, 7);
    expect_unknown(&cpu, A0);
    expect(&cpu, A1, 7);
    /* What is known stays so. */
    init(&cpu);
    cpu.isa.xlen = 32;
    access_at(&cpu, 0x00b52423, ETRACE_DTYPE_STORE, 2, 0, 0x80000000);
    expect(&cpu, A0, 0xfffffff8);                       /* sw a1,8(a0) */
    expect(&cpu, A1, 0x80000000);
}

/* With Zfinx, results of floating point are in x registers. */
static void test_zfinx(void)
{
    Cpu cpu;

    init(&cpu);
    cpu_execute(&cpu, 0, 0x00700593, &no_access);   /* li a1,7 */
    cpu_execute(&cpu, 0, 0x00c6f5d3, &no_access);   /* fadd.s a1,a3,a2 */
    expect_unknown(&cpu, A1);
    cpu_execute(&cpu, 0, 0x00700593, &no_access);
    cpu_execute(&cpu, 0, 0xf0058553, &no_access);   /* fmv.w.x fa0,a1 */
    cpu_execute(&cpu, 0, 0x00c6f5d3, &no_access);   /* fadd.s fa1,fa3,fa2 */
    expect(&cpu, A1, 7);
    cpu_execute(&cpu, 0, 0xe00505d3, &no_access);   /* fmv.x.w a1,fa0 */
    expect(&cpu, A1, 7);
}

/* An instruction of OP-FP; what it reads is given to fpu(). */
#define OP(funct7, rs2, rm) \
    ((uint32_t)(funct7) << 25 | (rs2) << 20 | (rm) << 12 | 0x53)
#define BOX(v)  (0xffffffff00000000 | (v))
#define NAN_D   0x7ff8000000000000

static const struct {
    uint32_t raw;
    uint64_t a, b, want;
} fpu_cases[] = {
    /* 1 + 2^-53: "round to nearest, ties to even", towards 0, down, up */
    { OP(1, 0, 0), 0x3ff0000000000000, 0x3ca0000000000000, 0x3ff0000000000000 },
    { OP(1, 0, 1), 0x3ff0000000000000, 0x3ca0000000000000, 0x3ff0000000000000 },
    { OP(1, 0, 2), 0x3ff0000000000000, 0x3ca0000000000000, 0x3ff0000000000000 },
    { OP(1, 0, 3), 0x3ff0000000000000, 0x3ca0000000000000, 0x3ff0000000000001 },
    /* "the result of a floating-point operation is NaN, it is the canonical" */
    { OP(1, 0, 0), 0xfff8000000000123, 0, NAN_D },
    /* "otherwise, the input is treated as the canonical NaN" if not boxed */
    { OP(0x00, 0, 0), 0x3f800000, BOX(0x3f800000), BOX(0x7fc00000) },
    { OP(0x00, 0, 0), BOX(0x3f800000), BOX(0x3f800000), BOX(0x40000000) },
    /* fmin.s and fmax.s: "-0.0 is considered to be less than +0.0" */
    { OP(0x14, 0, 0), BOX(0), BOX(0x80000000), BOX(0x80000000) },
    { OP(0x14, 0, 1), BOX(0x80000000), BOX(0), BOX(0) },
    /* "If only one operand is a NaN, the result is the non-NaN operand" */
    { OP(0x15, 0, 0), NAN_D, 0x4000000000000000, 0x4000000000000000 },
    { OP(0x15, 0, 1), 0x7ff0000000000001, NAN_D, NAN_D },
    /* fcvt.w.d, fcvt.wu.d, fcvt.lu.d: the table of invalid inputs */
    { OP(0x61, 0, 1), 0x41f0000000000000, 0, 0x7fffffff },
    { OP(0x61, 0, 1), 0xfff0000000000000, 0, 0xffffffff80000000 },
    { OP(0x61, 0, 1), NAN_D, 0, 0x7fffffff },
    { OP(0x61, 1, 1), NAN_D, 0, UINT64_MAX },
    { OP(0x61, 1, 1), 0xbff0000000000000, 0, 0 },
    { OP(0x61, 1, 1), 0x41e0000000000000, 0, 0xffffffff80000000 },
    { OP(0x61, 3, 1), 0x43f0000000000000, 0, UINT64_MAX },
    /* 2.5: RNE, RTZ, RDN, RUP, RMM */
    { OP(0x61, 0, 0), 0x4004000000000000, 0, 2 },
    { OP(0x61, 0, 1), 0x4004000000000000, 0, 2 },
    { OP(0x61, 0, 2), 0xc004000000000000, 0, -3ull },
    { OP(0x61, 0, 3), 0xc004000000000000, 0, -2ull },
    { OP(0x61, 0, 4), 0x4004000000000000, 0, 3 },
    /* fclass.d: -inf, -normal, +subnormal, signaling and quiet NaN */
    { OP(0x71, 0, 1), 0xfff0000000000000, 0, 1 << 0 },
    { OP(0x71, 0, 1), 0xbff0000000000000, 0, 1 << 1 },
    { OP(0x71, 0, 1), 1, 0, 1 << 5 },
    { OP(0x71, 0, 1), 0x7ff0000000000001, 0, 1 << 8 },
    { OP(0x71, 0, 1), NAN_D, 0, 1 << 9 },
    /* feq.d, flt.d, fle.d: "the result is 0 if either operand is NaN" */
    { OP(0x51, 0, 2), NAN_D, NAN_D, 0 },
    { OP(0x51, 0, 0), 0, 0x8000000000000000, 1 },
    { OP(0x51, 0, 1), 0, 0x8000000000000000, 0 },
};

static bool fpu(uint32_t raw, uint64_t a, uint64_t b, FpuRound frm,
                uint64_t *rd)
{
    return fpu_compute(64, raw, &(FpuSources) {
        .f = { a, b }, .x = a, .frm = frm,
    }, rd);
}

static void test_fpu(void)
{
    uint64_t rd;

    for (unsigned i = 0; i < ARRAY_SIZE(fpu_cases); i++) {
        check_true(fpu(fpu_cases[i].raw, fpu_cases[i].a, fpu_cases[i].b,
                       FPU_UNKNOWN, &rd));
        check_cmphex(rd, ==, fpu_cases[i].want);
    }
    /* The mode that frm has: 1 + 2^-53 again */
    check_false(fpu(OP(1, 0, 7), 0x3ff0000000000000, 0x3ca0000000000000,
                    FPU_UNKNOWN, &rd));
    check_true(fpu(OP(1, 0, 7), 0x3ff0000000000000, 0x3ca0000000000000,
                   FPU_RUP, &rd));
    check_cmphex(rd, ==, 0x3ff0000000000001);
    /* of 16 bits, and fround.d of Zfa */
    check_false(fpu(OP(2, 0, 0), 0, 0, FPU_RNE, &rd));
    check_false(fpu(OP(0x21, 4, 0), 0, 0, FPU_RNE, &rd));
}

/* csrw frm, csrc fcsr, and a write that the trace says nothing of */
static void test_frm(void)
{
    ETraceDataAccess a = { .dtype = ETRACE_DTYPE_CSR_RW, .operand = 3 };
    Cpu cpu;

    init(&cpu);
    check_cmpuint(cpu.frm, ==, FPU_UNKNOWN);
    cpu_execute(&cpu, 0, 0x00259073, &(CpuAccesses) { .all = &a, .n = 1 });
    check_cmpuint(cpu.frm, ==, FPU_RUP);
    a = (ETraceDataAccess) {
        .dtype = ETRACE_DTYPE_CSR_RC, .data = 0x7f, .operand = 0x40,
    };
    cpu_execute(&cpu, 0, 0x0035b073, &(CpuAccesses) { .all = &a, .n = 1 });
    check_cmpuint(cpu.frm, ==, FPU_RTZ);
    cpu_execute(&cpu, 0, 0x00259073, &no_access);
    check_cmpuint(cpu.frm, ==, FPU_UNKNOWN);
}

/* cm.pop {ra, s0-s1}, 32: the list is in memory from ra on */
static void test_pop(void)
{
    ETraceDataAccess a[3];
    Cpu cpu;

    init(&cpu);
    cpu_execute(&cpu, 0, 0x10000113, &no_access);   /* li sp,256 */
    for (unsigned i = 0; i < 3; i++) {
        /* ra, s0, s1 are stored below 288, the last one at the top */
        a[i] = (ETraceDataAccess) {
            .dtype = ETRACE_DTYPE_LOAD, .size = 3, .data = 100 + i,
            .address = 288 - 8 * (3 - i),
        };
    }
    cpu_execute(&cpu, 0, 0xba62, &(CpuAccesses) { .all = a, .n = 3 });
    expect(&cpu, RA, 100);
    expect(&cpu, S0, 101);
    expect(&cpu, S1, 102);
    expect(&cpu, SP, 288);
    cpu_execute(&cpu, 0, 0xba62, &no_access);
    expect_unknown(&cpu, RA);
    expect_unknown(&cpu, S1);
    expect(&cpu, SP, 320);
}

static void test_links(void)
{
    Cpu cpu;

    init(&cpu);
    cpu_execute(&cpu, 0x1000, 0x008000ef, &no_access);  /* jal ra,.+8 */
    expect(&cpu, RA, 0x1004);
    cpu_execute(&cpu, 0x2000, 0x9082, &no_access);      /* c.jalr ra */
    expect(&cpu, RA, 0x2002);
    cpu_execute(&cpu, 0x2000, 0x00001517, &no_access);  /* auipc a0,1 */
    expect(&cpu, A0, 0x3000);
}

static void test_rvc(void)
{
    static const struct {
        uint16_t raw;
        uint32_t wide32, wide64;
    } expects[] = {
        { 0x0001, 0x00000013, 0x00000013 },     /* c.nop */
        { 0x1141, 0xff010113, 0xff010113 },     /* c.addi sp,-16 */
        { 0x7139, 0xfc010113, 0xfc010113 },     /* c.addi16sp -64 */
        { 0x0068, 0x00c10513, 0x00c10513 },     /* c.addi4spn a0,12 */
        { 0xe406, 0x00112427, 0x00113423 },   /* c.sdsp ra,8 */
        { 0x8082, 0x00008067, 0x00008067 },     /* ret */
        { 0x852e, 0x00b00533, 0x00b00533 },     /* c.mv a0,a1 */
        { 0x9002, 0x00100073, 0x00100073 },     /* c.ebreak */
        { 0x0000, 0, 0 },                       /* illegal */
    };

    for (size_t i = 0; i < G_N_ELEMENTS(expects); i++) {
        check_cmphex(rvc_expand(32, expects[i].raw), ==, expects[i].wide32);
        check_cmphex(rvc_expand(64, expects[i].raw), ==, expects[i].wide64);
    }
}

static size_t read_word(const Memory *m, uint64_t addr, uint64_t *value)
{
    *value = 0;
    return memory_read(m, 1, addr, (uint8_t *)value, 8);
}

static void test_memory(void)
{
    Memory *m = memory_new(), *copy;
    uint64_t value;

    check_cmpuint(read_word(m, 0x1000, &value), ==, 0);
    memory_put(m, 1, 0x13fc, 0x1122334455667788, 8);    /* across pages */
    check_cmpuint(read_word(m, 0x13fc, &value), ==, 8);
    check_cmphex(value, ==, 0x1122334455667788);
    check_cmpuint(read_word(m, 0x13fe, &value), ==, 6);
    check_cmpuint(memory_read(m, 2, 0x13fc, (uint8_t *)&value, 8), ==, 0);
    copy = memory_copy(m);
    memory_put(m, 1, 0x13fc, 5, 1);
    memory_put(copy, 1, 0x13fd, 6, 1);
    read_word(m, 0x13fc, &value);
    check_cmphex(value, ==, 0x1122334455667705);
    read_word(copy, 0x13fc, &value);
    check_cmphex(value, ==, 0x1122334455660688);
    memory_forget(m, 1, 0x13fd, 2);
    check_cmpuint(read_word(m, 0x13fc, &value), ==, 1);
    check_cmpuint(read_word(copy, 0x13fc, &value), ==, 8);
    memory_free(m);
    check_cmpuint(read_word(copy, 0x13fc, &value), ==, 8);
    memory_put(copy, 1, 0x1000, 1, 8);
    memory_put(copy, 1, 0x9000, 2, 8);
    memory_put(copy, 2, 0x2000, 3, 8);
    memory_forget(copy, 1, 0x1004, 0x8000);
    check_cmpuint(read_word(copy, 0x1000, &value), ==, 4);
    check_cmpuint(read_word(copy, 0x13fc, &value), ==, 0);
    check_cmpuint(read_word(copy, 0x9004, &value), ==, 4);
    check_cmpuint(memory_read(copy, 1, 0x9003, (uint8_t *)&value, 1), ==, 0);
    check_cmpuint(memory_read(copy, 2, 0x2000, (uint8_t *)&value, 8), ==, 8);
    memory_put(copy, 1, 0x2000, 4, 8);
    memory_forget(copy, 1, 0x1000, UINT64_MAX - 0x1000);
    check_cmpuint(read_word(copy, 0x2000, &value), ==, 0);
    memory_put(copy, 1, 0x13fc, 4, 8);
    memory_forget_all(copy);
    check_cmpuint(read_word(copy, 0x13fc, &value), ==, 0);
    memory_free(copy);
}

static void test_stamps(void)
{
    Memory *m = memory_new(), *copy;

    check_cmpuint(stamps_get(m, 0, 0x1000), ==, 0);
    check_true(stamps_put(m, 0, 0x1001, 7, 15));
    check_true(stamps_put(m, 0, 0x1007, 0x80000001, 2));
    check_true(stamps_put(m, 0, 0x1004, 0x80000002, 4));
    check_true(stamps_put(m, 0, 0x1006, 0x80000003, 1));
    for (unsigned i = 0; i < 0x20; i++) {
        check_cmpuint(stamps_get(m, 0, 0x1000 + i), ==,
                      i < 1 || i > 15 ? 0 : i == 6 ? 0x80000003 :
                      i >= 4 && i < 8 ? 0x80000002 : i == 8 ? 0x80000001 : 7);
    }
    check_cmpuint(stamps_get(m, 1, 0x1002), ==, 0);
    /* no address is another one's, at the ends of their quarters, too */
    for (uint64_t i = 0; i < 4; i++) {
        check_true(stamps_put(m, 0, (i << 62) - 1, 10 + i, 2));
        check_true(stamps_put(m, 0, (i << 62) + 4, 10 + i, 4));
    }
    for (uint64_t i = 0; i < 4; i++) {
        check_cmpuint(stamps_get(m, 0, (i << 62) - 1), ==, 10 + i);
        check_cmpuint(stamps_get(m, 0, i << 62), ==, 10 + i);
        check_cmpuint(stamps_get(m, 0, (i << 62) + 1), ==, 0);
        check_cmpuint(stamps_get(m, 0, (i << 62) + 7), ==, 10 + i);
    }
    copy = memory_copy(m);
    check_true(stamps_put(copy, 0, 0x1002, 8, 1));
    check_cmpuint(stamps_get(m, 0, 0x1002), ==, 7);
    check_cmpuint(stamps_get(copy, 0, 0x1002), ==, 8);
    memory_free(copy);
    memory_free(m);
}

/* Without room for more, all stamps are lost, and the caller learns it once. */
static void test_full(void)
{
    Memory *m = memory_new();
    unsigned full = 0;

    for (uint64_t i = 0; i < 1 << 19; i++) {
        if (!stamps_put(m, 0, i << 8, 1, 1)) {
            check_cmpuint(stamps_get(m, 0, i << 8), ==, 1);
            check_cmpuint(stamps_get(m, 0, (i - 1) << 8), ==, 0);
            full++;
        }
    }
    check_cmpuint(full, ==, 1);
    memory_free(m);
}

/* What atomics leave in memory: chapter "A", the table of AMOs */
static void test_atomics(void)
{
    static const struct {
        uint32_t raw;
        uint8_t dtype;
        uint64_t value;
    } expects[] = {
        { 0x08b525af, ETRACE_DTYPE_SWAP, 3 },
        { 0x00b525af, ETRACE_DTYPE_ADD, 0x80000001 },
        { 0x80b525af, ETRACE_DTYPE_MIN, 0xfffffffe },
        { 0xa0b525af, ETRACE_DTYPE_MAX, 3 },
        { 0xc0b525af, ETRACE_DTYPE_MIN, 3 },
        { 0xe0b525af, ETRACE_DTYPE_MAX, 0xfffffffe },
    };

    for (size_t i = 0; i < G_N_ELEMENTS(expects); i++) {
        ETraceDataAccess a = {
            .dtype = expects[i].dtype, .size = 2, .operand = 3,
            .data = i == 1 ? 0x7ffffffe : 0xfffffffe,
        };
        uint64_t value;

        check_true(cpu_memory_after(expects[i].raw, &a, &value));
        check_cmphex((uint32_t)value, ==, expects[i].value);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/replay/unknown", test_unknown);
    g_test_add_func("/replay/loads", test_loads);
    g_test_add_func("/replay/addresses", test_addresses);
    g_test_add_func("/replay/zfinx", test_zfinx);
    g_test_add_func("/replay/fpu", test_fpu);
    g_test_add_func("/replay/frm", test_frm);
    g_test_add_func("/replay/pop", test_pop);
    g_test_add_func("/replay/links", test_links);
    g_test_add_func("/replay/rvc", test_rvc);
    g_test_add_func("/replay/memory", test_memory);
    g_test_add_func("/replay/stamps", test_stamps);
    g_test_add_func("/replay/full", test_full);
    g_test_add_func("/replay/atomics", test_atomics);
    return g_test_run();
}
