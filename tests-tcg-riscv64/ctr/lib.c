/*
 * Results, entry registers and modes: see ctr.h
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include <stdarg.h>
#include "ctr.h"

#define SIFIVE_TEST ((volatile uint32_t *)0x100000)     /* a register */

_Static_assert(offsetof(struct run, mctrctl) ==
               (__riscv_xlen == 64 ? 264 : 136), "RUN_MCTRCTL");

const char *const mode_name[MODES] = { "M", "S", "U", "VS", "VU" };

static unsigned tests, failed, complaints;
static bool open_rule;
static char name[200], subject[200];
static const char *skipped;

static void emit(char **to, char *end, char c)
{
    if (to) {
        if (*to < end - 1) {
            *(*to)++ = c;
        }
        return;
    }
    while (!(UART[UART_LSR] & UART_LSR_THRE)) {
        continue;
    }
    UART[0] = c;
}

static void decimal(char **to, char *end, unsigned value)
{
    char digits[12];
    int n = 0;

    do {
        digits[n++] = '0' + value % 10;
        value /= 10;
    } while (value);
    while (n) {
        emit(to, end, digits[--n]);
    }
}

static void hex(char **to, char *end, uint64_t value)
{
    int shift = 60;

    emit(to, end, '0');
    emit(to, end, 'x');
    while (shift && !(value >> shift)) {
        shift -= 4;
    }
    for (; shift >= 0; shift -= 4) {
        emit(to, end, "0123456789abcdef"[value >> shift & 15]);
    }
}

static void format_to(char **to, char *end, const char *f, va_list args)
{
    for (; *f; f++) {
        if (*f != '%') {
            emit(to, end, *f);
            continue;
        }
        switch (*++f) {
        case 's':
            for (const char *s = va_arg(args, const char *); *s; s++) {
                emit(to, end, *s);
            }
            break;
        case 'u':
            decimal(to, end, va_arg(args, unsigned));
            break;
        case 'x':
            hex(to, end, va_arg(args, xlen_t));
            break;
        case 'X':
            hex(to, end, va_arg(args, uint64_t));
            break;
        default:
            emit(to, end, *f);
        }
    }
}

void print(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    format_to(NULL, NULL, format, args);
    va_end(args);
}

static void end_rule(void)
{
    if (!open_rule) {
        return;
    }
    open_rule = false;
    tests++;
    failed += complaints != 0;
    print("%sok %u - %s", complaints ? "not " : "", tests, name);
    if (skipped && !complaints) {
        print(" # SKIP %s", skipped);
    }
    print("\n");
}

void rule(const char *format, ...)
{
    va_list args;
    char *to = name;

    end_rule();
    va_start(args, format);
    format_to(&to, name + sizeof(name), format, args);
    va_end(args);
    *to = 0;
    open_rule = true;
    complaints = 0;
    skipped = NULL;
    subject[0] = 0;
}

void skip(const char *why)
{
    skipped = why;
}

void about(const char *format, ...)
{
    va_list args;
    char *to = subject;

    va_start(args, format);
    format_to(&to, subject + sizeof(subject), format, args);
    va_end(args);
    *to = 0;
}

void finish(void)
{
    end_rule();
    print("1..%u\n", tests);
    *SIFIVE_TEST = 0x5555;
    for (;;) {
        continue;
    }
}

void bail(const char *format, ...)
{
    va_list args;

    print("# in \"%s\", %s\nBail out! ", name, subject);
    va_start(args, format);
    format_to(NULL, NULL, format, args);
    va_end(args);
    print("\n");
    *SIFIVE_TEST = 0x5555;
    for (;;) {
        continue;
    }
}

void __attribute__((noreturn)) unexpected_trap(xlen_t cause, xlen_t epc,
                                               xlen_t tval)
{
    bail("unexpected trap in M-mode: mcause %x mepc %x mtval %x",
         cause, epc, tval);
}

/* The first few complaints say enough. */
static bool complain(void)
{
    if (complaints == 0) {
        print("# %s:\n", name);
    }
    return ++complaints <= 6;
}

bool check_eq(const char *what, uint64_t got, uint64_t expected)
{
    if (got == expected) {
        return true;
    }
    if (complain()) {
        print("#   %s: %s is %X, should be %X\n", subject, what, got, expected);
    }
    return false;
}

bool check(const char *what, bool condition)
{
    if (!condition && complain()) {
        print("#   %s: %s does not hold\n", subject, what);
    }
    return condition;
}

bool have_h, have_stateen;
unsigned depth;

void set_depth_max(void)
{
    csr_write(CSR_SCTRDEPTH, 4);
    depth = 16u << (csr_read(CSR_SCTRDEPTH) & 7);
}

void set_mctrctl(uint64_t value)
{
#ifdef NO_MCTRCTL
    csr_write(CSR_SCTRCTL, value);
#else
    csr_write(CSR_MCTRCTL, value);
#endif
}

void ctr_clear(void)
{
    set_mctrctl(0);
    csr_write(CSR_SCTRSTATUS, 0);
    sctrclr();
}

struct entry entry_read(unsigned logical)
{
    struct entry e;

    csr_write(CSR_SISELECT, 0x200 + logical);
    e.source = csr_read(CSR_SIREG);
    e.target = csr_read(CSR_SIREG2);
    e.data = csr_read(CSR_SIREG3);
    return e;
}

void entry_write(unsigned logical, struct entry e)
{
    csr_write(CSR_SISELECT, 0x200 + logical);
    csr_write(CSR_SIREG, e.source);
    csr_write(CSR_SIREG2, e.target);
    csr_write(CSR_SIREG3, e.data);
}

void set_stateen(uint64_t mstateen0, uint64_t hstateen0)
{
    csr_write(CSR_MSTATEEN0, mstateen0);
#ifdef RV32
    csr_write(CSR_MSTATEEN0H, mstateen0 >> 32);
#endif
    if (have_h) {
        csr_write(CSR_HSTATEEN0, hstateen0);
#ifdef RV32
        csr_write(CSR_HSTATEEN0H, hstateen0 >> 32);
#endif
    }
}

static void show_buffer(const struct transfer *expected, unsigned n)
{
    for (unsigned i = 0; i < n && i < 20; i++) {
        print("#     expected %X -> %X type %u\n", expected[i].source,
              expected[i].target, expected[i].type);
    }
    for (int i = depth - 1; i >= 0; i--) {
        struct entry e = entry_read(i);

        if (e.source & 1 && i < 20) {
            print("#     recorded %X -> %X data %X\n", e.source - 1, e.target,
                  e.data);
        }
    }
}

bool check_buffer(const struct transfer *expected, unsigned n)
{
    unsigned kept = n < depth ? n : depth;
    bool same = true;

    for (unsigned i = 0; i < depth && same; i++) {
        struct entry e = entry_read(i);

        if (i < kept) {
            const struct transfer *t = &expected[n - 1 - i];

            same = e.source == (t->source | 1) && e.target == t->target &&
                   (e.data & ~(DATA_CC | DATA_CCV)) == t->type;
        } else {
            same = !(e.source & 1);
        }
    }
    if (!same && complain()) {
        print("#   %s: the buffer differs\n", subject);
        if (complaints <= 2) {
            show_buffer(expected, n);
        }
    }
    return same;
}

#ifndef RV32
#define MPV_CSR mstatus
#define MPV     BIT(39)
#else
#define MPV_CSR CSR_MSTATUSH
#define MPV     0x80
#endif

/*
 * Sets or clears mstatus.MPV. Where it cannot be written, a trap from V=1 sets
 * it, and one from M-mode clears it; with all of CTR off, they leave no trace.
 */
static void set_mpv(bool virt)
{
    struct run r = { .mode = virt ? S : M };
    xlen_t status, epc, hstatus, control, enabled;

    csr_clear(MPV_CSR, MPV);
    if (virt) {
        csr_set(MPV_CSR, MPV);
    }
    if (!(csr_read(MPV_CSR) & MPV) == !virt) {
        return;
    }
    enabled = csr_read(mie);
    csr_write(mie, 0);
    status = csr_read(sstatus);
    epc = csr_read(sepc);
    hstatus = csr_read(CSR_HSTATUS);
    control = csr_read(CSR_VSCTRCTL);
    csr_write(CSR_VSCTRCTL, 0);
    if (virt) {
        csr_set(CSR_HSTATUS, HSTATUS_SPV);
        csr_clear(sstatus, MSTATUS_SPP);
        csr_write(sepc, ecall_stub);
    }
    r.pc = (xlen_t)(virt ? sret_stub : ecall_stub);
    csr_clear(mstatus, MSTATUS_MPP | MSTATUS_MPIE);
    csr_set(mstatus, virt ? 0x800 : 0x1800);
    csr_write(mepc, r.pc);
    enter(&r);
    if (!(csr_read(MPV_CSR) & MPV) != !virt) {
        bail("mstatus.MPV cannot be set to %u", virt);
    }
    csr_write(mie, enabled);
    csr_write(sstatus, status);
    csr_write(sepc, epc);
    csr_write(CSR_HSTATUS, hstatus);
    csr_write(CSR_VSCTRCTL, control);
}

void run(struct run *r)
{
    static const uint8_t mpp[MODES] = { 3, 1, 0, 1, 0 };
    bool virt = r->mode == VS || r->mode == VU;
    xlen_t status;

    if (have_h && r->mode != M) {
        set_mpv(virt);
    }
    csr_clear(mstatus, MSTATUS_MPP | MSTATUS_MPIE);
    csr_set(mstatus, (xlen_t)mpp[r->mode] << 11 |
                     (r->mpie ? MSTATUS_MPIE : 0));
    csr_write(mepc, r->pc);
    enter(r);
    r->cause = csr_read(mcause);
    r->epc = csr_read(mepc);
    r->tval = csr_read(mtval);
    status = csr_read(mstatus);
    virt = false;
    if (have_h) {
        virt = csr_read(MPV_CSR) & MPV;
        r->mtval2 = csr_read(mtval2);
    }
    switch (status >> 11 & 3) {
    case 0:
        r->from = virt ? VU : U;
        break;
    case 1:
        r->from = virt ? VS : S;
        break;
    default:
        r->from = M;
    }
}

struct run run_at(enum mode mode, const void *pc, uint64_t mctrctl)
{
    struct run r = { .mode = mode, .pc = (xlen_t)pc, .mctrctl = mctrctl };

    run(&r);
    return r;
}

void fence_i(void)
{
    asm volatile("fence.i" : : : "memory");
}

void setup(void)
{
#ifdef NO_CTR
    test_main();
    finish();
#endif
    have_h = csr_read(misa) >> 7 & 1;
    have_stateen = run_insn(M, insn_csrr(CSR_MSTATEEN0, 10), 0).cause !=
                   CAUSE_ILLEGAL;
    if (have_stateen) {
        set_stateen(STATEEN_ALL, STATEEN_ALL);
    }
    csr_write(mcounteren, -1);
    csr_write(scounteren, -1);
    csr_write(stvec, quiet_trap);
    if (have_h) {
        csr_write(CSR_VSTVEC, quiet_trap);
        csr_write(hcounteren, -1);
    }
#ifndef KEEP_STATE
    set_depth_max();
    ctr_clear();
    if (have_h) {
        csr_write(CSR_VSCTRCTL, 0);
    }
#endif
    test_main();
    finish();
}

struct run run_insn(enum mode mode, uint32_t insn, xlen_t in)
{
    static uint32_t code[2];
    struct run r = { .mode = mode, .pc = (xlen_t)code };

    code[0] = insn;
    code[1] = 0x73;                             /* ecall */
    fence_i();
    r.x[10] = in;
    run(&r);
    return r;
}

/* The compiler calls these. */
void *memset(void *to, int value, size_t n);
void *memcpy(void *to, const void *from, size_t n);

void *memset(void *to, int value, size_t n)
{
    for (char *p = to; n--; ) {
        *p++ = value;
    }
    return to;
}

void *memcpy(void *to, const void *from, size_t n)
{
    const char *q = from;

    for (char *p = to; n--; ) {
        *p++ = *q++;
    }
    return to;
}
