/*
 * Random programs on the hart and on the model of CTR
 *
 * Runs each program in many short bursts, from a random place in a random
 * mode with random CTR controls, on the hart; then lets the interpreter walk
 * the same way and the model record it, and compares every register of CTR.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include <stddef.h>
#include "program.h"

#define CSR_SISELECT    0x150
#define CSR_SIREG       0x151
#define CSR_SIREG2      0x152
#define CSR_SIREG3      0x153
#define CSR_VSSTATUS    0x200
#define CSR_VSTVEC      0x205
#define CSR_VSEPC       0x241
#define CSR_VSCAUSE     0x242
#define CSR_VSATP       0x280
#define CSR_MSTATEEN0   0x30c
#define CSR_HEDELEG     0x602
#define CSR_HIDELEG     0x603
#define CSR_HSTATEEN0   0x60c
#define CSR_JVT         0x017
#define STATEEN_OTHERS  (1ull << 63 | 1ull << 60 | 1ull << 2)
#define STATEEN_CTR     (1ull << 54)
#define CTR_FIRST       0x200
#define CTRDATA_CYCLES  0xffff8000ull   /* CC and CCV, which time decides */

/* A device's registers, hence volatile */
#define UART            ((volatile uint8_t *)0x10000000)
#define UART_STATUS     5
#define UART_EMPTY      0x20
/* volatile as above */
#define SIFIVE_TEST     ((volatile uint32_t *)0x100000)
#define TEST_PASS       0x5555
#define TEST_FAIL       (0x3333 | 1 << 16)

/* The CSR is a name that the assembler knows, or a macro for a number. */
#define csr_op(op, csr, value) \
    asm volatile(#op " " #csr ", %0" : : "r"((uint64_t)(value)) : "memory")
#define write_csr(csr, value)   csr_op(csrw, csr, value)
#define set_csr(csr, value)     csr_op(csrs, csr, value)
#define clear_csr(csr, value)   csr_op(csrc, csr, value)
#define read_csr(csr)           csr_get(csr)
#define csr_get(csr) \
    ({ \
        uint64_t v_; \
        asm volatile("csrr %0, " #csr : "=r"(v_) : : "memory"); \
        v_; \
    })

#define SETTINGS        4       /* for each program */
#define BURSTS          16      /* for each setting */
#define COMPLAINTS      8

/* What to do, put here by the "loader" device */
#define PARAMETERS      ((const struct parameters *)0x82000000)
struct parameters {
    uint64_t seed;
    uint64_t transfers;         /* stop after as many */
    uint64_t flags;
    uint64_t mutants;           /* rules that the model has wrong */
};
#define FLAG_STATEEN    1
#define FLAG_ZCM        2
#define FLAG_STOP       4       /* at the first difference */

static struct program program;
static struct program_options options;
static bool has_stateen;
static struct hart hart;
static struct ctr model;
static uint64_t transfers, recorded, bursts, differences, compared;
static uint64_t seen_type[OUTCOMES][TYPES];
static uint64_t seen_modes[OUTCOMES][MODES][MODES];

static const char *const outcome_name[OUTCOMES] = {
    "disabled", "while-frozen", "freezes", "filtered", "recorded",
    "no-source", "no-target", "external", "external-off", "ras-call",
    "ras-return", "ras-swap", "ras-ignored"
};
static const char *const type_name[TYPES] = {
    "0", "exception", "interrupt", "trap-return", "not-taken", "taken", "6",
    "7", "indirect-call", "direct-call", "indirect-jump", "direct-jump",
    "swap", "return", "other-indirect", "other-direct"
};
static const char *const mode_name[MODES] = { "U", "S", "M", "VU", "VS" };

/* The compiler may call it. */
void *memset(void *to, int value, size_t n)
{
    for (uint8_t *p = to; n; n--) {
        *p++ = value;
    }
    return to;
}

void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
    uint8_t *p = to;

    for (const uint8_t *q = from; n; n--) {
        *p++ = *q++;
    }
    return to;
}

static void print(const char *text)
{
    for (; *text; text++) {
        while (!(UART[UART_STATUS] & UART_EMPTY)) {
            continue;
        }
        *UART = *text;
    }
}

static void print_hex(uint64_t value)
{
    char text[] = " 0x0000000000000000";

    for (int i = 18; i > 2; i--, value >>= 4) {
        text[i] = "0123456789abcdef"[value & 15];
    }
    print(text);
}

static void __attribute__((noreturn)) finish(uint32_t status)
{
    *SIFIVE_TEST = status;
    for (;;) {
        continue;
    }
}

/* An exception of this harness itself */
void unexpected_trap(uint64_t cause, uint64_t pc)
{
    print("# unexpected trap: cause and pc");
    print_hex(cause);
    print_hex(pc);
    print("\n");
    finish(TEST_FAIL);
}

static void print_decimal(uint64_t value)
{
    char text[24];
    char *p = text + sizeof(text);

    *--p = 0;
    do {
        *--p = '0' + value % 10;
        value /= 10;
    } while (value);
    print(p);
}

static void print_count(const char *name, uint64_t value)
{
    print(name);
    print("=");
    print_decimal(value);
}

static void retired(const struct transfer *t, enum ctr_outcome outcome)
{
    transfers++;
    recorded += outcome == RECORDED || outcome == NO_SOURCE ||
                outcome == NO_TARGET || outcome == EXTERNAL_ON ||
                outcome == RAS_CALL || outcome == RAS_RETURN ||
                outcome == RAS_SWAP;
    seen_type[outcome][t->type]++;
    if (t->from != t->to) {
        seen_modes[outcome][t->from][t->to]++;
    }
}

/* Returns the hart's value if it is not what the model expects. */
static uint64_t compare(const char *name, int entry, uint64_t expected,
                        uint64_t actual)
{
    if (expected != actual) {
        if (differences++ < COMPLAINTS) {
            print("# burst ");
            print_decimal(bursts);
            print(" ");
            print(name);
            if (entry >= 0) {
                print(" ");
                print_decimal(entry);
            }
            print(": expected");
            print_hex(expected);
            print(", is");
            print_hex(actual);
            print("\n");
        }
    }
    return actual;
}

/* Writes a random entry everywhere, to begin with what is known. */
static void write_entries(void)
{
    for (unsigned i = 0; i < model.depth; i++) {
        struct ctr_entry *e = &model.entry[ctr_place(&model, i)];

        e->source = program.data[DATA_TARGETS + i % TARGETS] | (i & 1);
        e->target = program.data[DATA_TARGETS + (i + 1) % TARGETS];
        e->type = random64() & 0xf;
        write_csr(CSR_SISELECT, CTR_FIRST + i);
        write_csr(CSR_SIREG, e->source);
        write_csr(CSR_SIREG2, e->target);
        write_csr(CSR_SIREG3, e->type);
    }
}

static void compare_entries(void)
{
    for (unsigned i = 0; i < model.depth; i++) {
        struct ctr_entry *e = &model.entry[ctr_place(&model, i)];

        write_csr(CSR_SISELECT, CTR_FIRST + i);
        e->source = compare("ctrsource", i, e->source, read_csr(CSR_SIREG));
        e->target = compare("ctrtarget", i, e->target, read_csr(CSR_SIREG2));
        e->type = compare("ctrdata", i, e->type,
                          read_csr(CSR_SIREG3) & ~CTRDATA_CYCLES);
    }
    compared += model.depth;
    if (model.depth < 256) {
        /* [2.4] "read as '0' and are read-only" */
        unsigned i = model.depth + random_below(256 - model.depth);

        write_csr(CSR_SISELECT, CTR_FIRST + i);
        write_csr(CSR_SIREG, ~0ull);
        compare("ctrsource beyond depth", i, 0, read_csr(CSR_SIREG));
        compare("ctrtarget beyond depth", i, 0, read_csr(CSR_SIREG2));
        compare("ctrdata beyond depth", i, 0, read_csr(CSR_SIREG3));
    }
}

/* Any depth that the hart has; what the text leaves open is written. */
static void choose_depth(void)
{
    uint64_t code;

    write_csr(CSR_SCTRDEPTH, random_below(8));
    code = read_csr(CSR_SCTRDEPTH);
    if (code > 4) {
        compare("sctrdepth is reserved", -1, 4, code);
        code = 4;
    }
    model.depth = 16u << code;
    program.data[DATA_DEPTH] = code;
    ctr_write_status(&model, random64() & 0xff);
    write_csr(CSR_SCTRSTATUS, model.wrptr);
    ctr_clear(&model);
    ctr_write_status(&model, model.wrptr);
    asm volatile(".word 0x10400073" : : : "memory");
    write_entries();
}

/* Delegation and state enables: what the hart makes of them is taken. */
static void choose_setting(void)
{
    uint64_t all = random_below(4) == 0 ? ~0ull : 0;

    choose_depth();
    /* But an ecall of S-mode, which is the way out for its handler */
    write_csr(medeleg, (random64() | all) & ~(1ull << 9));
    write_csr(mideleg, random64() | all);
    hart.medeleg = read_csr(medeleg);
    hart.mideleg = read_csr(mideleg);
    write_csr(mie, IP(IRQ_SSI) | IP(IRQ_VSSI) | IP(IRQ_LCOFI));
    if (options.has_h) {
        write_csr(CSR_HEDELEG, random64() | all);
        write_csr(CSR_HIDELEG, random64() | all);
        hart.hedeleg = read_csr(CSR_HEDELEG);
        hart.hideleg = read_csr(CSR_HIDELEG);
    }
    hart.mstateen_ctr = hart.hstateen_ctr = true;
    if (has_stateen) {
        hart.mstateen_ctr = random_below(4) != 0;
        hart.hstateen_ctr = hart.mstateen_ctr && random_below(4) != 0;
        write_csr(CSR_MSTATEEN0, STATEEN_OTHERS |
                  (hart.mstateen_ctr ? STATEEN_CTR : 0));
        if (options.has_h) {
            write_csr(CSR_HSTATEEN0, STATEEN_OTHERS |
                      (hart.hstateen_ctr ? STATEEN_CTR : 0));
        }
    }
}

static void new_program(void)
{
    program_generate(&program, &options, (uint64_t)leave);
    asm volatile("fence.i" : : : "memory");
    hart.code = (uint64_t)program.code;
    hart.code_end = program.end;
    hart.data = (uint64_t)program.data;
    hart.data_end = (uint64_t)(program.data + DATA_WORDS);
    hart.stop = program.stop;
    hart.mtvec = program.m_handler;
    hart.stvec = program.s_handler;
    hart.vstvec = program.vs_handler;
    write_csr(mtvec, hart.mtvec);
    write_csr(stvec, hart.stvec);
    if (options.has_h) {
        write_csr(CSR_VSTVEC, hart.vstvec);
    }
    if (options.has_zcm) {
        hart.jvt = (uint64_t)program.jump_table;
        write_csr(CSR_JVT, hart.jvt);
    }
}

static uint64_t random_target(void)
{
    return program.data[DATA_TARGETS + random_below(TARGETS)];
}

/* The state that a burst starts with, on both sides */
static void prepare(void)
{
    const uint64_t sstatus = STATUS_SIE | STATUS_SPIE | STATUS_SPP;
    uint64_t status = ctr_read_status(&model);
    uint64_t value;

    for (unsigned i = 1; i < 32; i++) {
        hart.x[i] = random64();
    }
    hart.x[REG_SP] = hart.x[REG_GP] = hart.data;
    hart.x[REG_POINTER] = hart.data;
    hart.x[REG_FUEL] = random_below(model.depth) + 4;
    hart.x[REG_FACTOR] = 6364136223846793005ull;
    hart.x[REG_ADDEND] |= 1;
    for (unsigned i = 1; i <= 11; i++) {
        if (i == 1 || (i >= 5 && i != REG_RANDOM && i != REG_FUEL)) {
            hart.x[i] = random_target();
        }
    }
    for (unsigned i = 20; i <= 28; i += 4) {
        hart.x[i] = random_target();
    }
    hart.x[31] = program.entry;

    hart.pc = program.entry;
    hart.mode = MODE_M;
    value = (random64() & sstatus) | (random64() & STATUS_MPIE) |
            program.data[DATA_MODES + random_below(MODE_WORDS)];
    hart.mstatus = (value & hart.mstatus_fields) |
                   (hart.mstatus & ~hart.mstatus_fields);
    hart.mepc = random_target();
    hart.sepc = random_target();
    hart.mcause = hart.scause = 0;
    hart.ip = 0;
    clear_csr(mip, IP(IRQ_SSI) | IP(IRQ_LCOFI));
    clear_csr(mstatus, STATUS_FIELDS);
    set_csr(mstatus, hart.mstatus);
    write_csr(mepc, hart.mepc);
    write_csr(sepc, hart.sepc);
    write_csr(mcause, 0);
    write_csr(scause, 0);
    if (options.has_h) {
        hart.vsstatus = random64() & sstatus;
        hart.hstatus = random64() & HSTATUS_SPV;
        hart.vsepc = random_target();
        hart.vscause = 0;
        write_csr(CSR_HVIP, 0);
        clear_csr(CSR_VSSTATUS, sstatus);
        set_csr(CSR_VSSTATUS, hart.vsstatus);
        clear_csr(CSR_HSTATUS, HSTATUS_SPV);
        set_csr(CSR_HSTATUS, hart.hstatus);
        write_csr(CSR_VSEPC, hart.vsepc);
        write_csr(CSR_VSCAUSE, 0);
        if (random_below(2)) {
            value = program.data[DATA_CONTROL + random_below(CONTROLS)];
            write_csr(CSR_VSCTRCTL, value);
            ctr_write_vsctrctl(&model, value);
        }
    }
    hart.x[REG_CONTROL] = program.data[DATA_CONTROL + random_below(CONTROLS)];

    if (random_below(8)) {
        status &= ~STATUS_FROZEN;
    }
    if (random_below(8) == 0) {
        status ^= random64() & 0xff;
    }
    write_csr(CSR_SCTRSTATUS, status);
    ctr_write_status(&model, status);
}

static void burst(void)
{
    static uint64_t x[32];

    prepare();
    for (unsigned i = 0; i < 32; i++) {
        x[i] = hart.x[i];
    }
    enter(x, program.entry);
    if (!hart_run(&hart)) {
        print("# the interpreter got lost: pc");
        print_hex(hart.pc);
        print("\n");
        finish(TEST_FAIL);
    }
    for (unsigned i = 1; i < 30; i++) {
        if (x[i] != hart.x[i]) {
            print("# the interpreter went another way in burst ");
            print_decimal(bursts);
            print_count(": x", i);
            print_hex(hart.x[i]);
            print(" is");
            print_hex(x[i]);
            print(" on the hart\n");
            finish(TEST_FAIL);
        }
    }
    compare("mctrctl", -1, hart.x[REG_CONTROL], x[REG_CONTROL]);
    if (options.has_h) {
        ctr_write_vsctrctl(&model, compare("vsctrctl", -1, model.vsctrctl,
                                           read_csr(CSR_VSCTRCTL)));
    }
    compare("sctrdepth", -1, program.data[DATA_DEPTH],
            read_csr(CSR_SCTRDEPTH));
    ctr_write_status(&model, compare("sctrstatus", -1,
                                     ctr_read_status(&model),
                                     read_csr(CSR_SCTRSTATUS)));
    compare_entries();
    bursts++;
}

static void print_seen(void)
{
    for (unsigned o = 0; o < OUTCOMES; o++) {
        for (unsigned t = 0; t < TYPES; t++) {
            if (seen_type[o][t]) {
                print("seen ");
                print(outcome_name[o]);
                print(" ");
                print_count(type_name[t], seen_type[o][t]);
                print("\n");
            }
        }
        for (unsigned from = 0; from < MODES; from++) {
            for (unsigned to = 0; to < MODES; to++) {
                if (seen_modes[o][from][to]) {
                    print("seen ");
                    print(outcome_name[o]);
                    print(" ");
                    print(mode_name[from]);
                    print(">");
                    print_count(mode_name[to], seen_modes[o][from][to]);
                    print("\n");
                }
            }
        }
    }
}

int main(void)
{
    uint64_t misa = read_csr(misa);

    random_state = 2 * PARAMETERS->seed + 1;
    ctr_mutants = PARAMETERS->mutants;
    has_stateen = PARAMETERS->flags & FLAG_STATEEN;
    options.has_zcm = PARAMETERS->flags & FLAG_ZCM;
    options.has_h = misa >> ('H' - 'A') & 1;
    options.has_c = misa >> ('C' - 'A') & 1;
    hart.has_h = options.has_h;
    hart.ctr = &model;
    hart.retired = retired;

    write_csr(pmpaddr0, ~0ull);
    write_csr(pmpcfg0, 0x1f);
    write_csr(satp, 0);
    /* QEMU 10.0 does not let software write mie.LCOFIE. */
    write_csr(mie, IP(IRQ_LCOFI));
    options.has_lcofi = read_csr(mie) & IP(IRQ_LCOFI);
    /* Nor mstatus.MPV */
    hart.mstatus_fields = STATUS_FIELDS;
    if (options.has_h) {
        set_csr(mstatus, STATUS_MPV);
    }
    hart.mstatus_fields ^= ~read_csr(mstatus) & STATUS_MPV;
    clear_csr(mstatus, STATUS_MPV);
    write_csr(CSR_MCTRCTL, 0);
    if (options.has_h) {
        write_csr(CSR_VSCTRCTL, 0);
        write_csr(hgatp, 0);
        write_csr(CSR_VSATP, 0);
    }

    while (transfers < PARAMETERS->transfers) {
        new_program();
        for (unsigned s = 0; s < SETTINGS; s++) {
            choose_setting();
            for (unsigned b = 0; b < BURSTS; b++) {
                burst();
                if (differences && PARAMETERS->flags & FLAG_STOP) {
                    goto out;
                }
            }
        }
    }
out:
    print_seen();
    print_count("transfers", transfers);
    print_count(" recorded", recorded);
    print_count(" bursts", bursts);
    print_count(" entries", compared);
    print_count(" differences", differences);
    print("\n");
    finish(differences ? TEST_FAIL : TEST_PASS);
}
