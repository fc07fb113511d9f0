/*
 * Paging: a physical page at two virtual addresses, pages that change under
 * running code, two address spaces, page faults of every kind, instructions
 * across a border to a page that is elsewhere, missing or exchanged
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "guest.h"
#include "vm.h"

#if XLEN == 64          /* Sv39 */
#define LEVELS 3
#define VPN_BITS 9
#define SATP_MODE (8UL << 60)
#define SATP_ASID_SHIFT 44
#else                           /* Sv32 */
#define LEVELS 2
#define VPN_BITS 10
#define SATP_MODE (1UL << 31)
#define SATP_ASID_SHIFT 22
#endif

#define PAGE 4096UL
#define TABLE_ENTRIES (1 << VPN_BITS)

#define V 0x01
#define R 0x02
#define W 0x04
#define X 0x08
#define U 0x10
#define A 0x40
#define D 0x80
#define CODE (V | R | X | A)
#define DATA (V | R | W | A | D)

#define MODE_U 0
#define MODE_S MPP_S

/* Where the tests map things; far from the identity mapping of memory */
#define VA 0x40000000UL
#define VB 0x40400000UL

typedef uint32_t Code;

/* Instructions */
#define ADDI(rd, rs, imm) \
    (0x13U | (rd) << 7 | (rs) << 15 | ((uint32_t)(imm) & 0xfff) << 20)
#define ECALL 0x73U
#define NOP ADDI(0, 0, 0)
#define A0 10
#define ADD_A0(n) ADDI(A0, A0, n)
#define RET 0x00008067U
#define LW_A0_A1 0x0005a503U    /* lw a0, 0(a1) */
#define SW_A0_A1 0x00a5a023U    /* sw a0, 0(a1) */
#define JALR_RA_A1 0x000580e7U  /* jalr ra, a1 */
#define JUMP(n) (0x6fU | (((n) >> 1) & 0x3ff) << 21)    /* forward, < 2 KiB */
#define JR_X0(n) (0x67U | (n) << 20)    /* jalr zero, n(zero) */
#define SFENCE 0x12000073U
#define FENCE_I 0x100fU
#if XLEN == 64
#define STORE_A3_A2 0x00d63023U /* sd a3, 0(a2) */
#else
#define STORE_A3_A2 0x00d62023U /* sw a3, 0(a2) */
#endif
#define CSRW_SATP_A1 0x18059073U

xlen_t *fix_pte;
xlen_t fix_value;
xlen_t s_traps;
xlen_t m_a0;

static xlen_t tables[40][TABLE_ENTRIES] __attribute__((aligned(4096)));
static int n_tables;
static Code pages[8][PAGE / 4] __attribute__((aligned(4096)));

void *memset(void *to, int c, unsigned long n)
{
    char *t = to;

    while (n--) {
        *t++ = c;
    }
    return to;
}

static xlen_t pte_of(const void *page, xlen_t flags)
{
    return (((xlen_t)page >> 12) << 10) | flags;
}

/* The entry for va's page, with the tables above it */
static xlen_t *entry(xlen_t *root, xlen_t va)
{
    xlen_t *table = root;

    for (int level = LEVELS - 1; level > 0; level--) {
        xlen_t *e = &table[(va >> (12 + level * VPN_BITS)) &
                           (TABLE_ENTRIES - 1)];

        if (!*e) {
            CHECK(n_tables < 40);
            *e = pte_of(tables[n_tables++], V);
        }
        table = (xlen_t *)((*e >> 10) << 12);
    }
    return &table[(va >> 12) & (TABLE_ENTRIES - 1)];
}

static void map(xlen_t *root, xlen_t va, const void *page, xlen_t flags)
{
    *entry(root, va) = pte_of(page, flags);
}

static xlen_t *new_space(void)
{
    xlen_t *root = tables[n_tables++];

    /* All of memory as it is, for S-mode */
    root[0x80000000UL >> (12 + (LEVELS - 1) * VPN_BITS)] =
        pte_of((void *)0x80000000UL, CODE | DATA);
    return root;
}

static void use(xlen_t *root, xlen_t asid)
{
    csr_write(satp, SATP_MODE | asid << SATP_ASID_SHIFT |
                    (xlen_t)root >> 12);
    asm volatile("sfence.vma" : : : "memory");
}

static void fence_i(void)
{
    asm volatile("fence.i" : : : "memory");
}

/* Runs code; checks why it came back, and where. */
static void run4(xlen_t mode, xlen_t va, xlen_t a0, xlen_t a1, xlen_t a2,
                 xlen_t a3)
{
    csr_clear(mstatus, MSTATUS_MPP);
    csr_set(mstatus, mode);
    fence_i();
    run_asm(va, a0, a1, a2, a3);
}

static void run(xlen_t mode, xlen_t va, xlen_t a0, xlen_t a1)
{
    run4(mode, va, a0, a1, 0, 0);
}

#define EXPECT(cause, epc) \
    CHECK(csr_read(mcause) == (cause) && csr_read(mepc) == (epc))

static void put(Code *page, int index, Code insn)
{
    page[index] = insn;
}

/* A function: a0 += n, in a page, ended by ecall */
static void put_add(Code *page, int index, int n)
{
    put(page, index, ADD_A0(n));
    put(page, index + 1, ECALL);
}

static void test_two_addresses(xlen_t *root)
{
    put_add(pages[0], 0, 3);
    put(pages[0], 8, NOP);
    put_add(pages[0], 9, 5);
    map(root, VA, pages[0], CODE);
    map(root, VB, pages[0], CODE);
    map(root, VB + 5 * PAGE, pages[0], CODE | U);
    use(root, 0);
    for (int i = 0; i < 20; i++) {
        run(MODE_S, VA, i, 0);
        EXPECT(CAUSE_ECALL_S, VA + 4);
        CHECK(m_a0 == (xlen_t)i + 3);
        run(MODE_S, VB, i, 0);
        EXPECT(CAUSE_ECALL_S, VB + 4);
        run(MODE_S, VB + 32, i, 0);
        EXPECT(CAUSE_ECALL_S, VB + 40);
        CHECK(m_a0 == (xlen_t)i + 5);
        run(MODE_S, VA + 32, i, 0);
        EXPECT(CAUSE_ECALL_S, VA + 40);
        run(MODE_U, VB + 5 * PAGE, i, 0);
        EXPECT(CAUSE_ECALL_U, VB + 5 * PAGE + 4);
    }
    /* A call from one to the other: the same physical code, twice */
    put(pages[1], 0, JALR_RA_A1);
    put(pages[1], 1, JALR_RA_A1);
    put(pages[1], 2, ECALL);
    put(pages[1], 4, ADD_A0(7));
    put(pages[1], 5, RET);
    map(root, VA + PAGE, pages[1], CODE);
    map(root, VB + PAGE, pages[1], CODE);
    use(root, 0);
    run(MODE_S, VA + PAGE, 0, VB + PAGE + 16);
    EXPECT(CAUSE_ECALL_S, VA + PAGE + 8);
    CHECK(m_a0 == 14);
    run(MODE_S, VB + PAGE, 0, VA + PAGE + 16);
    EXPECT(CAUSE_ECALL_S, VB + PAGE + 8);
}

/* S-mode exchanges the page that it runs in. */
static void test_remap(xlen_t *root)
{
    xlen_t *e = entry(root, VA);

    for (int i = 0; i < 2; i++) {
        put(pages[i], 0, NOP);
        put(pages[i], 1, STORE_A3_A2);
        put(pages[i], 2, SFENCE);
        put(pages[i], 3, JUMP(8));
        put(pages[i], 5, ADD_A0(i + 1));
        put(pages[i], 6, ECALL);
        /* Without a jump: the change shows a few instructions later. */
        put(pages[i], 16, STORE_A3_A2);
        put(pages[i], 17, SFENCE);
        put(pages[i], 18, FENCE_I);
        put(pages[i], 19, ADD_A0(i + 1));
        put(pages[i], 20, ECALL);
        /* The page below the stack of calls: return into the other one */
        put(pages[i], 32, JALR_RA_A1);
        put(pages[i], 33, ADD_A0(i + 1));
        put(pages[i], 34, ECALL);
    }
    put(pages[2], 0, STORE_A3_A2);
    put(pages[2], 1, SFENCE);
    put(pages[2], 2, RET);
    map(root, VB, pages[2], CODE);
    for (int i = 0; i < 30; i++) {
        int now = i & 1, next = !now;

        for (int start = 0; start < 48; start += 16) {
            map(root, VA, pages[now], CODE);
            use(root, 0);
            run4(MODE_S, VA + start * 4, 0, VB, (xlen_t)e,
                 pte_of(pages[next], CODE));
            EXPECT(CAUSE_ECALL_S, VA + (start == 0 ? 24 : start == 16 ? 80 :
                                        136));
            CHECK(m_a0 == (xlen_t)next + 1);
        }
    }
}

/* Different code at the same address in two spaces */
static void test_spaces(xlen_t *one, xlen_t *two)
{
    put_add(pages[0], 0, 1);
    put_add(pages[1], 0, 2);
    put(pages[1], 1, ADD_A0(20));
    put(pages[1], 2, ECALL);
    map(one, VA, pages[0], CODE);
    map(two, VA, pages[1], CODE);
    for (int asid = 0; asid < 2; asid++) {
        for (int i = 0; i < 30; i++) {
            use(one, asid);
            run(MODE_S, VA, 0, 0);
            EXPECT(CAUSE_ECALL_S, VA + 4);
            CHECK(m_a0 == 1);
            use(two, asid * 2);
            run(MODE_S, VA, 0, 0);
            EXPECT(CAUSE_ECALL_S, VA + 8);
            CHECK(m_a0 == 22);
        }
    }
    /* S-mode switches itself, between pages that agree and differ behind */
    for (int i = 0; i < 2; i++) {
        put(pages[i], 8, CSRW_SATP_A1);
        put(pages[i], 9, SFENCE);
        put(pages[i], 10, JUMP(8));
        put(pages[i], 12, ADD_A0(3 + i));
        put(pages[i], 13, ECALL);
    }
    for (int i = 0; i < 30; i++) {
        xlen_t *to = i & 1 ? one : two;

        use(i & 1 ? two : one, 0);
        run(MODE_S, VA + 32, 0, SATP_MODE | (xlen_t)to >> 12);
        EXPECT(CAUSE_ECALL_S, VA + 52);
        CHECK(m_a0 == (i & 1 ? 3 : 4));
    }
    use(one, 0);
}

static void test_faults(xlen_t *root)
{
    /* Fetch, load, store: nothing there; then with the wrong rights */
    *entry(root, VA) = 0;
    *entry(root, VA + PAGE) = 0;
    put(pages[0], 0, ADD_A0(1));
    put(pages[0], 1, LW_A0_A1);
    put(pages[0], 2, ECALL);
    put(pages[0], 4, SW_A0_A1);
    put(pages[0], 5, ECALL);
    put(pages[0], 8, ADD_A0(1));
    put(pages[0], 9, JALR_RA_A1);
    map(root, VB, pages[0], CODE);
    map(root, VB + PAGE, pages[0], CODE | U);
    use(root, 0);
    for (int i = 0; i < 10; i++) {
        run(MODE_S, VA + 16, 0, 0);
        EXPECT(CAUSE_FETCH_PAGE, VA + 16);
        run(MODE_S, VB, 0, VA);
        EXPECT(CAUSE_LOAD_PAGE, VB + 4);
        CHECK(csr_read(mtval) == VA);
        run(MODE_S, VB + 16, 0, VB);        /* not writable */
        EXPECT(CAUSE_STORE_PAGE, VB + 16);
        run(MODE_S, VB + 32, 0, VA + 64);   /* on a jump's target */
        EXPECT(CAUSE_FETCH_PAGE, VA + 64);
        run(MODE_S, VB + 32, 0, VB + PAGE); /* a user page */
        EXPECT(CAUSE_FETCH_PAGE, VB + PAGE);
        run(MODE_U, VB, 0, 0);              /* not a user page */
        EXPECT(CAUSE_FETCH_PAGE, VB);
        run(MODE_U, VB + PAGE, 0, VB);
        EXPECT(CAUSE_LOAD_PAGE, VB + PAGE + 4);
        run(MODE_U, VB + PAGE, 0, VB + PAGE);
        EXPECT(CAUSE_ECALL_U, VB + PAGE + 8);
    }

    /* Delegated: S-mode maps the page, and the instruction is tried again */
    csr_write(medeleg, 1 << CAUSE_FETCH_PAGE | 1 << CAUSE_LOAD_PAGE |
                       1 << CAUSE_STORE_PAGE);
    csr_write(stvec, s_fix);
    s_traps = 0;
    put_add(pages[1], 0, 9);
    for (int i = 0; i < 10; i++) {
        fix_pte = entry(root, VA);
        fix_value = pte_of(pages[1], CODE | U);
        *fix_pte = 0;
        use(root, 0);
        run(MODE_U, VB + PAGE + 32, 0, VA); /* an instruction page fault */
        EXPECT(CAUSE_ECALL_U, VA + 4);
        CHECK(m_a0 == 10);
        fix_pte = entry(root, VA + PAGE);
        fix_value = pte_of(pages[2], DATA | U);
        *fix_pte = 0;
        use(root, 0);
        run(MODE_U, VB + PAGE + 16, 5, VA + PAGE);
        EXPECT(CAUSE_ECALL_U, VB + PAGE + 20);
    }
    CHECK(s_traps == 20);
    /* The S handler's own page is missing: a page fault to M on top */
    csr_write(medeleg, 1 << CAUSE_LOAD_PAGE);
    csr_write(stvec, VA + 2 * PAGE);
    *entry(root, VA + PAGE) = 0;
    use(root, 0);
    for (int i = 0; i < 5; i++) {
        run(MODE_U, VB + PAGE, 0, VA + PAGE);
        EXPECT(CAUSE_FETCH_PAGE, VA + 2 * PAGE);
        CHECK(csr_read(sepc) == VB + PAGE + 4);
    }
    /* Back to back, skipped by S-mode */
    csr_write(stvec, s_skip);
    s_traps = 0;
    put(pages[0], 1, LW_A0_A1);
    put(pages[0], 2, LW_A0_A1);
    put(pages[0], 3, LW_A0_A1);
    put(pages[0], 4, ECALL);
    for (int i = 0; i < 10; i++) {
        run(MODE_U, VB + PAGE, 0, VA + PAGE);
        EXPECT(CAUSE_ECALL_U, VB + PAGE + 16);
    }
    CHECK(s_traps == 30);
    csr_write(medeleg, 0);
}

/* jalr through x0: needs something mapped at the address space's start */
static void test_zero_page(xlen_t *root)
{
    map(root, 0, pages[3], CODE);
    map(root, VA, pages[4], CODE);
    use(root, 0);
    put(pages[4], 0, JR_X0(0x400));
    put_add(pages[3], 0x400 / 4, 6);
    for (int i = 0; i < 10; i++) {
        run(MODE_S, VA, i, 0);
        EXPECT(CAUSE_ECALL_S, 0x404);
        CHECK(m_a0 == (xlen_t)i + 6);
    }
}

#if COMPRESSED
/* Writes an instruction at a half-word, over a page's border if need be. */
static void put_at(Code *first, Code *second, unsigned int offset, Code insn)
{
    for (int i = 0; i < 2; i++, offset += 2, insn >>= 16) {
        uint16_t *p = (uint16_t *)(offset < PAGE ? first : second);

        p[(offset % PAGE) / 2] = insn;
    }
}

/* An instruction that begins in one page and ends in the next */
static void test_across(xlen_t *root)
{
    xlen_t at = VA + PAGE - 2;

    for (int i = 0; i < 3; i++) {
        put_at(pages[5], pages[i], PAGE - 2, ADD_A0(0));
        /* The immediate is in the second half: 16 * (i + 1) */
        ((uint16_t *)pages[i])[0] = ADD_A0(16 * (i + 1)) >> 16;
        ((uint16_t *)pages[i])[1] = 1;     /* c.nop */
        put(pages[i], 1, ECALL);
    }
    put_at(pages[5], pages[5], PAGE - 6, ADD_A0(1));
    map(root, VA, pages[5], CODE);
    for (int i = 0; i < 30; i++) {
        map(root, VA + PAGE, pages[i % 3], CODE);
        use(root, 0);
        run(MODE_S, at, 0, 0);
        EXPECT(CAUSE_ECALL_S, VA + PAGE + 4);
        CHECK(m_a0 == 16 * ((xlen_t)i % 3 + 1));
        run(MODE_S, at - 4, 0, 0);
        EXPECT(CAUSE_ECALL_S, VA + PAGE + 4);
        CHECK(m_a0 == 16 * ((xlen_t)i % 3 + 1) + 1);
        /* The second page goes away. */
        *entry(root, VA + PAGE) = 0;
        use(root, 0);
        run(MODE_S, at - 4, 0, 0);
        EXPECT(CAUSE_FETCH_PAGE, at);
        CHECK(csr_read(mtval) == VA + PAGE);
        run(MODE_S, at, 0, 0);
        EXPECT(CAUSE_FETCH_PAGE, at);
    }
}
#endif

int main(void)
{
    xlen_t *one = new_space(), *two = new_space();

    csr_write(pmpaddr0, -1);
    csr_write(pmpcfg0, 0x1f);
    csr_write(mtvec, run_trap);
    test_two_addresses(one);
    test_remap(one);
    test_spaces(one, two);
    test_faults(one);
    test_zero_page(one);
#if COMPRESSED
    test_across(two);
#endif
    csr_write(satp, 0);
    pass();
}
