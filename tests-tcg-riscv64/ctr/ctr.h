/*
 * What the tests of Smctr/Ssctr share
 *
 * The tests are written from the ratified text "RISC-V Control Transfer
 * Records", version 1.0; section and table numbers are that text's. Tests run
 * in M-mode and hand short pieces of code to the mode under test with run();
 * the first trap to M-mode ends the piece.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef CTR_TEST_H
#define CTR_TEST_H

/* Section 2.6 and Sscsrind */
#define CSR_SCTRCTL     0x14e
#define CSR_SCTRSTATUS  0x14f
#define CSR_SISELECT    0x150
#define CSR_SIREG       0x151
#define CSR_SIREG2      0x152
#define CSR_SIREG3      0x153
#define CSR_SIREG4      0x155
#define CSR_SIREG5      0x156
#define CSR_SIREG6      0x157
#define CSR_SCTRDEPTH   0x15f
#define CSR_VSCTRCTL    0x24e
#define CSR_VSISELECT   0x250
#define CSR_VSIREG      0x251
#define CSR_VSIREG2     0x252
#define CSR_VSIREG3     0x253
#define CSR_VSIREG4     0x255
#define CSR_VSIREG5     0x256
#define CSR_VSIREG6     0x257
#define CSR_MCTRCTL     0x34e
#define CSR_MSTATEEN0   0x30c
#define CSR_MSTATEEN0H  0x31c
#define CSR_HSTATEEN0   0x60c
#define CSR_HSTATEEN0H  0x61c
#define CSR_VSSTATUS    0x200
#define CSR_VSIE        0x204
#define CSR_VSTVEC      0x205
#define CSR_VSEPC       0x241
#define CSR_VSCAUSE     0x242
#define CSR_HSTATUS     0x600
#define CSR_HEDELEG     0x602
#define CSR_HIDELEG     0x603
#define CSR_HIE         0x604
#define CSR_HVIEN       0x608
#define CSR_HENVCFG     0x60a
#define CSR_HVIP        0x645
#define CSR_MENVCFG     0x30a
#define CSR_SENVCFG     0x10a
#define CSR_MSTATUSH    0x310
#define CSR_MNEPC       0x741
#define CSR_MNCAUSE     0x742
#define CSR_MNSTATUS    0x744
#define CSR_JVT         0x017

#define SCTRCLR         0x10400073

#ifdef CTR_ASM
/* offset in struct run; it is 8-aligned there */
#ifndef RV32
#define RUN_MCTRCTL 264
#else
#define RUN_MCTRCTL 136
#endif
#else

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef unsigned long xlen_t;

#define BIT(n)          (1ull << (n))

/* Table 1: fields of mctrctl; sctrctl and vsctrctl lack M and MTE */
#define CTL_U           BIT(0)
#define CTL_S           BIT(1)
#define CTL_M           BIT(2)
#define CTL_RASEMU      BIT(7)
#define CTL_STE         BIT(8)
#define CTL_MTE         BIT(9)
#define CTL_BPFRZ       BIT(11)
#define CTL_LCOFIFRZ    BIT(12)
#define CTL_EXCINH      BIT(33)
#define CTL_INTRINH     BIT(34)
#define CTL_TRETINH     BIT(35)
#define CTL_NTBREN      BIT(36)
#define CTL_TKBRINH     BIT(37)
#define CTL_INDCALLINH  BIT(40)
#define CTL_DIRCALLINH  BIT(41)
#define CTL_INDJMPINH   BIT(42)
#define CTL_DIRJMPINH   BIT(43)
#define CTL_CORSWAPINH  BIT(44)
#define CTL_RETINH      BIT(45)
#define CTL_INDLJMPINH  BIT(46)
#define CTL_DIRLJMPINH  BIT(47)

#define STATUS_WRPTR    0xffu
#define STATUS_FROZEN   0x80000000u

/* Table 6: ctrdata */
#define DATA_TYPE       0xfull
#define DATA_CCV        BIT(15)
#define DATA_CC_SHIFT   16
#define DATA_CC         0xffff0000ull

/* The virt machine's UART, a NS16550A: data, line status */
#define UART_BASE       0x10000000
#define UART            ((volatile uint8_t *)UART_BASE) /* registers */
#define UART_LSR        5
#define UART_LSR_DR     0x01
#define UART_LSR_THRE   0x20

#define STATEEN_CTR     BIT(54)
#define STATEEN_CSRIND  BIT(60)
#define STATEEN_ALL     (~0ull)

/* Table 9: transfer types */
enum {
    EXCEPTION = 1, INTERRUPT, TRAP_RETURN, NOT_TAKEN, TAKEN,
    IND_CALL = 8, DIR_CALL, IND_JUMP, DIR_JUMP, SWAP, RETURN,
    IND_LINK, DIR_LINK,
};

enum mode { M, S, U, VS, VU, MODES };
extern const char *const mode_name[MODES];

#define CAUSE_FETCH_ACCESS  1
#define CAUSE_ILLEGAL       2
#define CAUSE_BREAKPOINT    3
#define CAUSE_LOAD_ACCESS   5
#define CAUSE_ECALL_U       8
#define CAUSE_ECALL_S       9
#define CAUSE_ECALL_VS      10
#define CAUSE_ECALL_M       11
#define CAUSE_DOUBLE_TRAP   16
#define CAUSE_SW_CHECK      18
#define CAUSE_VIRTUAL       22
#define CAUSE_INTERRUPT     (1ul << (__riscv_xlen - 1))

#define MSTATUS_SIE   0x2
#define MSTATUS_MIE   0x8
#define MSTATUS_SPIE  0x20
#define MSTATUS_MPIE  0x80
#define MSTATUS_SPP   0x100
#define MSTATUS_MPP   0x1800
#define HSTATUS_SPV   0x80

#define STRING_(x) #x
#define STRING(x) STRING_(x)
#define csr_read(csr) \
    ({ \
        xlen_t v_; \
        asm volatile("csrr %0, " STRING(csr) : "=r"(v_) : : "memory"); \
        v_; \
    })
#define csr_write(csr, value) \
    asm volatile("csrw " STRING(csr) ", %0" \
                 : : "r"((xlen_t)(value)) : "memory")
#define csr_set(csr, value) \
    asm volatile("csrs " STRING(csr) ", %0" \
                 : : "r"((xlen_t)(value)) : "memory")
#define csr_clear(csr, value) \
    asm volatile("csrc " STRING(csr) ", %0" \
                 : : "r"((xlen_t)(value)) : "memory")
#define sctrclr() asm volatile(".word " STRING(SCTRCLR) : : : "memory")

/* -- lib.c: results ----------------------------------------------------- */

/* Prints with %s, %u, %d, %x (xlen_t) and %X (uint64_t). */
void print(const char *format, ...);
/*
 * Begins the test of a rule; the one before it ends. The name of the rule
 * is that of the TAP line.
 */
void rule(const char *format, ...);
/* Ends the last test and stops the machine. */
void finish(void) __attribute__((noreturn));
/* Stops the machine without an end of the tests: a failure. */
void bail(const char *format, ...) __attribute__((noreturn));
/* Says why the rule that began last cannot be tested here. */
void skip(const char *why);
/* What the checks that follow are about; printed if one of them fails. */
void about(const char *format, ...);
/* Fails the test unless both are equal; true if they are. */
bool check_eq(const char *what, uint64_t got, uint64_t expected);
bool check(const char *what, bool condition);

/* -- lib.c: CTR ---------------------------------------------------------- */

struct transfer {
    uint64_t source;        /* ctrsource.PC */
    uint64_t target;        /* ctrtarget.PC */
    unsigned type;          /* ctrdata.TYPE */
};

/* The registers of one entry, read through sireg*; on RV32 the low halves. */
struct entry {
    uint64_t source, target, data;
};

extern bool have_h;         /* misa.H */
extern bool have_stateen;   /* Smstateen */
extern unsigned depth;      /* of the buffer, as set by set_depth */

/* Sets sctrdepth to the largest depth that the hart has. */
void set_depth_max(void);
/* Clears the buffer, WRPTR and FROZEN, and stops recording. */
void ctr_clear(void);
struct entry entry_read(unsigned logical);
void entry_write(unsigned logical, struct entry e);
/* Sets mctrctl. */
void set_mctrctl(uint64_t value);
/* Sets mstateen0, and hstateen0 if there is one. */
void set_stateen(uint64_t mstateen0, uint64_t hstateen0);
/*
 * Compares the buffer with these transfers, oldest first: exactly they must
 * be in it, with V set and each PC of 64 bits, and the others invalid.
 */
bool check_buffer(const struct transfer *expected, unsigned n);

/* -- lib.c: running code in a mode --------------------------------------- */

struct run {
    xlen_t x[32];           /* registers before and after; see start.S */
    xlen_t pc;
    uint64_t mctrctl;       /* at the start; 0 again from the trap on */
    xlen_t mode;
    xlen_t mpie;            /* M-mode runs with interrupts enabled */
    /* the trap that ended it */
    xlen_t cause, epc, tval, from;
    xlen_t mtval2;
};

/* Runs code from r->pc in r->mode until the first trap to M-mode. */
void run(struct run *r);
/* As run(), with all else zero. */
struct run run_at(enum mode mode, const void *pc, uint64_t mctrctl);
/* Executes one 32-bit instruction in a mode, with a0 = in. */
struct run run_insn(enum mode mode, uint32_t insn, xlen_t in);

void fence_i(void);
/* start.S: run() without what it does to mstatus and mepc */
void enter(struct run *r);

/* The ways into a mode and out of it, as CTR shall see them (start.S). */
extern const char enter_mret[];     /* run()'s mret */
extern const char trap_vector[];    /* mtvec */
extern const char quiet_trap[];     /* [v]stvec: sctrctl = 0, then ecall */
extern const char ecall_stub[];     /* ecall */
extern const char illegal_stub[];   /* an illegal instruction */
extern const char ebreak_stub[];
extern const char sret_stub[];
extern const char mret_stub[];
extern const char spin_stub[];      /* j . */

static inline uint64_t addr(const void *p)
{
    return (xlen_t)p;
}

/* -- gen.c: code with known transfers ------------------------------------ */

#define GEN_MAX 2048
extern struct transfer gen_list[GEN_MAX];   /* in the order of retirement */
extern unsigned gen_count;
extern uint16_t gen_code[];

/* Begins a piece of code; returns its address. */
void *gen_begin(void);
/* One transfer of that type (Table 9, 4 to 15), over a hole to what follows */
void gen_transfer(unsigned type);
void gen_word(uint32_t insn);
void gen_half(uint16_t insn);
void gen_nops(unsigned n);
/* A loop of 2 * n + 1 or 2 * n + 2 instructions; returns how many. */
uint64_t gen_loop(uint32_t n);
/* Loads a 32-bit constant, sign-extended: always two instructions. */
void gen_li(unsigned reg, uint32_t value);
/* ecall at the end, and fence.i */
void gen_end(void);
/* Where the next instruction will be. */
xlen_t gen_here(void);
/* Encodings */
uint32_t insn_i(unsigned opcode, unsigned funct3, unsigned rd, unsigned rs1,
                int imm);
uint32_t insn_jal(unsigned rd, int offset);
uint32_t insn_branch(unsigned funct3, unsigned rs1, unsigned rs2, int offset);
uint32_t insn_csrr(unsigned csr, unsigned rd);
uint32_t insn_csrw(unsigned csr, unsigned rs1);

/* What is left of gen_list without the types whose bits are set. */
unsigned without(struct transfer *out, unsigned types);

void test_main(void);

#endif
#endif
