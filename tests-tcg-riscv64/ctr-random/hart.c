/*
 * A small interpreter: where a generated program goes
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include <stddef.h>
#include "hart.h"

#define CAUSE_FETCH     1
#define CAUSE_ILLEGAL   2
#define CAUSE_BREAK     3
#define CAUSE_LOAD      5
#define CAUSE_VIRTUAL   22
#define UNKNOWN         (-1)    /* an instruction that is not generated */
#define STEPS_MAX       1000000

static bool virt(const struct hart *h)
{
    return h->mode == MODE_VU || h->mode == MODE_VS;
}

static bool user(const struct hart *h)
{
    return h->mode == MODE_U || h->mode == MODE_VU;
}

static int64_t sext(uint64_t value, int bits)
{
    return (int64_t)(value << (64 - bits)) >> (64 - bits);
}

static uint64_t bits(uint64_t value, int high, int low)
{
    return value >> low & ((2ull << (high - low)) - 1);
}

static void transfer(struct hart *h, enum ctr_type type, uint64_t target)
{
    struct transfer t = {
        .type = type, .source = h->pc, .target = target,
        .from = h->mode, .to = h->mode,
    };

    h->retired(&t, ctr_transfer(h->ctr, &t));
}

/* Saves and clears the interrupt enable of a status register. */
static uint64_t push_sie(uint64_t status, uint64_t spp)
{
    uint64_t spie = status & STATUS_SIE ? STATUS_SPIE : 0;

    return (status & ~(STATUS_SIE | STATUS_SPIE | STATUS_SPP)) | spie | spp;
}

static uint64_t pop_sie(uint64_t status)
{
    uint64_t sie = status & STATUS_SPIE ? STATUS_SIE : 0;

    return (status & ~(STATUS_SIE | STATUS_SPP)) | sie | STATUS_SPIE;
}

static void trap(struct hart *h, bool interrupt, unsigned cause)
{
    uint64_t code = cause | (uint64_t)interrupt << 63;
    uint64_t mdeleg = interrupt ? h->mideleg : h->medeleg;
    uint64_t hdeleg = interrupt ? h->hideleg : h->hedeleg;
    uint64_t spp = user(h) ? 0 : STATUS_SPP;
    struct transfer t = {
        .type = interrupt ? TYPE_INTERRUPT : TYPE_EXCEPTION,
        .source = h->pc,
        .from = h->mode,
        .breakpoint = !interrupt && cause == CAUSE_BREAK,
        .lcofi = interrupt && cause == IRQ_LCOFI,
    };

    if (h->mode == MODE_M || !(mdeleg >> cause & 1)) {
        uint64_t mpp = h->mode == MODE_M ? STATUS_MPP : spp << 3;
        uint64_t mpie = h->mstatus & STATUS_MIE ? STATUS_MPIE : 0;

        t.to = MODE_M;
        t.target = h->mtvec;
        h->mepc = h->pc;
        h->mcause = code;
        h->mstatus &= ~(STATUS_MPP | STATUS_MIE | STATUS_MPIE | STATUS_MPV);
        h->mstatus |= mpp | mpie | (virt(h) ? STATUS_MPV : 0);
    } else if (!virt(h) || !(hdeleg >> cause & 1)) {
        t.to = MODE_S;
        t.target = h->stvec;
        h->sepc = h->pc;
        h->scause = code;
        h->mstatus = push_sie(h->mstatus, spp);
        h->hstatus = virt(h) ? HSTATUS_SPV : 0;
    } else {
        t.to = MODE_VS;
        t.target = h->vstvec;
        h->vsepc = h->pc;
        h->vscause = interrupt && cause == IRQ_VSSI ? code - 1 : code;
        h->vsstatus = push_sie(h->vsstatus, spp);
    }
    h->mode = t.to;
    h->pc = t.target;
    h->retired(&t, ctr_transfer(h->ctr, &t));
}

static bool take_interrupt(struct hart *h)
{
    static const uint8_t priority[] = { IRQ_SSI, IRQ_VSSI, IRQ_LCOFI };
    uint64_t m = h->ip & ~h->mideleg;
    uint64_t s = h->ip & h->mideleg & ~h->hideleg;
    uint64_t vs = h->ip & h->mideleg & h->hideleg;
    uint64_t take = 0;

    if (h->mode != MODE_M || h->mstatus & STATUS_MIE) {
        take = m;
    }
    if (!take && (virt(h) || h->mode == MODE_U ||
                  (h->mode == MODE_S && h->mstatus & STATUS_SIE))) {
        take = s;
    }
    if (!take && (h->mode == MODE_VU ||
                  (h->mode == MODE_VS && h->vsstatus & STATUS_SIE))) {
        take = vs;
    }
    for (unsigned i = 0; i < sizeof(priority); i++) {
        if (take >> priority[i] & 1) {
            trap(h, true, priority[i]);
            return true;
        }
    }
    return false;
}

/* Returns 0, or the cause of the exception that mret and sret raise. */
static int trap_return(struct hart *h, bool mret)
{
    struct transfer t = {
        .type = TYPE_TRAP_RETURN, .source = h->pc, .from = h->mode
    };
    bool v;

    if (mret ? h->mode != MODE_M : user(h)) {
        return !mret && h->mode == MODE_VU ? CAUSE_VIRTUAL : CAUSE_ILLEGAL;
    }
    if (mret) {
        uint64_t mpp = h->mstatus & STATUS_MPP;
        uint64_t mie = h->mstatus & STATUS_MPIE ? STATUS_MIE : 0;

        v = h->mstatus & STATUS_MPV;
        t.target = h->mepc;
        t.to = mpp == STATUS_MPP ? MODE_M :
               mpp ? (v ? MODE_VS : MODE_S) : (v ? MODE_VU : MODE_U);
        h->mstatus &= ~(STATUS_MIE | STATUS_MPP | STATUS_MPV);
        h->mstatus |= mie | STATUS_MPIE;
    } else if (virt(h)) {
        t.target = h->vsepc;
        t.to = h->vsstatus & STATUS_SPP ? MODE_VS : MODE_VU;
        h->vsstatus = pop_sie(h->vsstatus);
    } else {
        v = h->hstatus & HSTATUS_SPV;
        t.target = h->sepc;
        t.to = h->mstatus & STATUS_SPP ? (v ? MODE_VS : MODE_S) :
               (v ? MODE_VU : MODE_U);
        h->mstatus = pop_sie(h->mstatus);
        h->hstatus = 0;
    }
    h->mode = t.to;
    h->pc = t.target;
    h->retired(&t, ctr_transfer(h->ctr, &t));
    return 0;
}

/*
 * Whether the mode may touch the CSR or execute SCTRCLR (as its number
 * 0x104): 0, or the cause of the exception. [5] is the CTR text's chapter
 * on state enables, the rest is the Privileged Architecture.
 */
static int csr_fault(const struct hart *h, unsigned csr)
{
    unsigned level = bits(csr, 9, 8);
    bool ctr = csr == CSR_SCTRCTL || csr == CSR_SCTRSTATUS ||
               csr == CSR_SCTRDEPTH || csr == CSR_VSCTRCTL ||
               csr == bits(SCTRCLR, 31, 20);

    if (h->mode == MODE_M) {
        return level == 2 && !h->has_h ? CAUSE_ILLEGAL : 0;
    }
    if (level == 3 || h->mode == MODE_U || (level == 2 && !h->has_h) ||
        (ctr && !h->mstateen_ctr)) {
        return CAUSE_ILLEGAL;
    }
    if (h->mode == MODE_S) {
        return 0;
    }
    if (h->mode == MODE_VU || level == 2 || csr == CSR_SCTRDEPTH ||
        (ctr && !h->hstateen_ctr)) {
        return CAUSE_VIRTUAL;
    }
    return 0;
}

/* Writes *field under the mask, by funct3 of the CSR instruction. */
static uint64_t modify(uint64_t old, int op, uint64_t value)
{
    return op == 1 ? value : op == 2 ? old | value : old & ~value;
}

static void modify_field(uint64_t *field, uint64_t mask, int op,
                         uint64_t value)
{
    *field = (*field & ~mask) | (modify(*field, op, value) & mask);
}

/* Returns 0 with the old value, CAUSE_*, or UNKNOWN. */
static int csr_access(struct hart *h, unsigned csr, int op, bool write,
                      uint64_t value, uint64_t *old)
{
    const uint64_t sstatus = STATUS_SIE | STATUS_SPIE | STATUS_SPP;
    int fault = csr_fault(h, csr);
    bool v = virt(h);
    uint64_t *epc = NULL;

    if (fault) {
        return fault;
    }
    *old = 0;
    if (csr == CSR_MEPC || csr == CSR_SEPC) {
        epc = csr == CSR_MEPC ? &h->mepc : v ? &h->vsepc : &h->sepc;
        *old = *epc;
        *epc = write ? value : *epc;
        return op == 1 || !write ? 0 : UNKNOWN;
    }
    if (csr == CSR_MCAUSE || csr == CSR_SCAUSE) {
        *old = csr == CSR_MCAUSE ? h->mcause : v ? h->vscause : h->scause;
        return write ? UNKNOWN : 0;
    }
    if (csr == CSR_MCTRCTL) {
        *old = h->ctr->mctrctl;
        if (write) {
            ctr_write_mctrctl(h->ctr, modify(*old, op, value));
        }
        return 0;
    }
    if (!write) {
        return UNKNOWN;
    }
    switch (csr) {
    case CSR_SCTRCTL:
        if (v) {
            ctr_write_vsctrctl(h->ctr, modify(h->ctr->vsctrctl, op, value));
        } else {
            ctr_write_sctrctl(h->ctr, modify(ctr_read_sctrctl(h->ctr), op,
                                             value));
        }
        return 0;
    case CSR_VSCTRCTL:
        ctr_write_vsctrctl(h->ctr, modify(h->ctr->vsctrctl, op, value));
        return 0;
    case CSR_SCTRSTATUS:
        ctr_write_status(h->ctr, modify(ctr_read_status(h->ctr), op, value));
        return 0;
    case CSR_SCTRDEPTH:
        /* Programs write the depth that is there. */
        return 0;
    case CSR_MSTATUS:
        modify_field(&h->mstatus, h->mstatus_fields, op, value);
        return 0;
    case CSR_SSTATUS:
        modify_field(v ? &h->vsstatus : &h->mstatus, sstatus, op, value);
        return 0;
    case CSR_HSTATUS:
        modify_field(&h->hstatus, HSTATUS_SPV, op, value);
        return 0;
    case CSR_MIP:
        modify_field(&h->ip, IP(IRQ_SSI) | IP(IRQ_LCOFI), op, value);
        return 0;
    case CSR_SIP:
        if (v) {
            /* vsip.SSIP is hip.VSSIP if that is delegated. */
            modify_field(&h->ip, IP(IRQ_VSSI) & h->hideleg, op, value << 1);
        } else {
            modify_field(&h->ip, (IP(IRQ_SSI) | IP(IRQ_LCOFI)) & h->mideleg,
                         op, value);
        }
        return 0;
    case CSR_HVIP:
        modify_field(&h->ip, IP(IRQ_VSSI), op, value);
        return 0;
    default:
        return UNKNOWN;
    }
}

/* Loads a doubleword: 0 or the cause. */
static int load(const struct hart *h, uint64_t address, uint64_t *value)
{
    if (address < h->data || address > h->data_end - 8 || address & 7) {
        return CAUSE_LOAD;
    }
    *value = *(const uint64_t *)address;
    return 0;
}

static void set_x(struct hart *h, unsigned reg, uint64_t value)
{
    if (reg) {
        h->x[reg] = value;
    }
}

static void jump_and_link(struct hart *h, enum ctr_type type, unsigned rd,
                          uint64_t target, int size)
{
    transfer(h, type, target);
    set_x(h, rd, h->pc + size);
    h->pc = target;
}

static void branch(struct hart *h, bool taken, int64_t offset, int size)
{
    uint64_t target = h->pc + (taken ? offset : size);

    transfer(h, taken ? TYPE_TAKEN : TYPE_NOT_TAKEN, target);
    h->pc = target;
}

static bool condition(int funct3, uint64_t a, uint64_t b)
{
    bool less = funct3 & 2 ? a < b : (int64_t)a < (int64_t)b;

    return (funct3 & 4 ? less : a == b) != (funct3 & 1);
}

/* SYSTEM: 0 with the pc updated, CAUSE_*, or UNKNOWN */
static int step_system(struct hart *h, uint32_t insn)
{
    unsigned rd = bits(insn, 11, 7), rs1 = bits(insn, 19, 15);
    int funct3 = bits(insn, 14, 12);
    static const uint8_t ecall[MODES] = { 8, 9, 11, 8, 10 };
    uint64_t old;
    int fault;

    switch (insn) {
    case 0x00000073:
        return ecall[h->mode];
    case 0x00100073:
        return CAUSE_BREAK;
    case 0x30200073:
    case 0x10200073:
        return trap_return(h, insn == 0x30200073);
    case SCTRCLR:
        fault = csr_fault(h, bits(insn, 31, 20));
        if (fault) {
            return fault;
        }
        ctr_clear(h->ctr);
        h->pc += 4;
        return 0;
    }
    if (funct3 < 1 || funct3 > 3) {
        return UNKNOWN;
    }
    fault = csr_access(h, bits(insn, 31, 20), funct3, funct3 == 1 || rs1,
                       h->x[rs1], &old);
    if (fault) {
        return fault;
    }
    if (rd && bits(insn, 31, 20) == CSR_MCTRCTL && funct3 != 1) {
        return UNKNOWN;
    }
    set_x(h, rd, old);
    h->pc += 4;
    return 0;
}

static int step_32(struct hart *h, uint32_t insn)
{
    unsigned rd = bits(insn, 11, 7);
    unsigned rs1 = bits(insn, 19, 15), rs2 = bits(insn, 24, 20);
    unsigned funct3 = bits(insn, 14, 12);
    uint64_t a = h->x[rs1], b = h->x[rs2], value;
    int64_t imm = sext(bits(insn, 31, 20), 12);
    int fault;

    switch (insn & 0x7f) {
    case 0x63:
        imm = sext(bits(insn, 31, 31) << 12 | bits(insn, 7, 7) << 11 |
                   bits(insn, 30, 25) << 5 | bits(insn, 11, 8) << 1, 13);
        branch(h, condition(funct3, a, b), imm, 4);
        return 0;
    case 0x6f:
        imm = sext(bits(insn, 31, 31) << 20 | bits(insn, 19, 12) << 12 |
                   bits(insn, 20, 20) << 11 | bits(insn, 30, 21) << 1, 21);
        jump_and_link(h, ctr_jal_type(rd), rd, h->pc + imm, 4);
        return 0;
    case 0x67:
        jump_and_link(h, ctr_jalr_type(rd, rs1), rd, (a + imm) & ~1ull, 4);
        return 0;
    case 0x73:
        return step_system(h, insn);
    case 0x0f:                                  /* fence, fence.i */
        break;
    case 0x03:
        fault = funct3 == 3 ? load(h, a + imm, &value) : UNKNOWN;
        if (fault) {
            return fault;
        }
        set_x(h, rd, value);
        break;
    case 0x13:
        if (funct3 == 0) {
            value = a + imm;
        } else if (funct3 == 5 && bits(insn, 31, 26) == 0) {
            value = a >> bits(insn, 25, 20);
        } else if (funct3 == 7) {
            value = a & imm;
        } else {
            return UNKNOWN;
        }
        set_x(h, rd, value);
        break;
    case 0x33:
        if (bits(insn, 31, 25) == 1 && funct3 == 0) {
            value = a * b;
        } else if (bits(insn, 31, 25) == 0 && funct3 == 0) {
            value = a + b;
        } else {
            return UNKNOWN;
        }
        set_x(h, rd, value);
        break;
    default:
        /* all ones: the longest encodings, which are reserved */
        return insn == ~0u ? CAUSE_ILLEGAL : UNKNOWN;
    }
    h->pc += 4;
    return 0;
}

static int step_16(struct hart *h, uint32_t insn)
{
    unsigned rs1 = bits(insn, 11, 7);
    unsigned rs1_c = 8 + bits(insn, 9, 7);
    unsigned index = bits(insn, 9, 2);
    uint64_t target;
    int64_t imm;
    int fault;

    switch (bits(insn, 15, 13) << 2 | (insn & 3)) {
    case 0:
        return insn == 0 ? CAUSE_ILLEGAL : UNKNOWN;
    case 1:                                     /* C.ADDI, C.NOP */
        imm = sext(bits(insn, 12, 12) << 5 | bits(insn, 6, 2), 6);
        set_x(h, rs1, h->x[rs1] + imm);
        h->pc += 2;
        return 0;
    case 5 << 2 | 1:                            /* C.J */
        imm = sext(bits(insn, 12, 12) << 11 | bits(insn, 8, 8) << 10 |
                   bits(insn, 10, 9) << 8 | bits(insn, 6, 6) << 7 |
                   bits(insn, 7, 7) << 6 | bits(insn, 2, 2) << 5 |
                   bits(insn, 11, 11) << 4 | bits(insn, 5, 3) << 1, 12);
        jump_and_link(h, ctr_jal_type(0), 0, h->pc + imm, 2);
        return 0;
    case 6 << 2 | 1:                            /* C.BEQZ, C.BNEZ */
    case 7 << 2 | 1:
        imm = sext(bits(insn, 12, 12) << 8 | bits(insn, 6, 5) << 6 |
                   bits(insn, 2, 2) << 5 | bits(insn, 11, 10) << 3 |
                   bits(insn, 4, 3) << 1, 9);
        branch(h, (h->x[rs1_c] == 0) != bits(insn, 13, 13), imm, 2);
        return 0;
    case 4 << 2 | 2:
        if (bits(insn, 6, 2) != 0) {
            return UNKNOWN;
        }
        if (rs1 == 0) {                         /* C.EBREAK */
            return bits(insn, 12, 12) ? CAUSE_BREAK : UNKNOWN;
        }
        /* C.JR, C.JALR */
        rs1_c = bits(insn, 12, 12);
        jump_and_link(h, ctr_jalr_type(rs1_c, rs1), rs1_c,
                      h->x[rs1] & ~1ull, 2);
        return 0;
    case 5 << 2 | 2:
        if (bits(insn, 12, 10) == 0) {          /* CM.JT, CM.JALT */
            target = *(const uint64_t *)(h->jvt + 8 * index) & ~1ull;
            jump_and_link(h, index < 32 ? TYPE_DIRECT_JUMP : TYPE_DIRECT_CALL,
                          index < 32 ? 0 : 1, target, 2);
            return 0;
        }
        if (insn != 0xbe42 && insn != 0xbc42) { /* CM.POPRET(Z) {ra}, 16 */
            return UNKNOWN;
        }
        fault = load(h, h->x[2] + 8, &target);
        if (fault) {
            return fault;
        }
        h->x[1] = target;
        h->x[2] += 16;
        if (insn == 0xbc42) {
            h->x[10] = 0;
        }
        jump_and_link(h, TYPE_RETURN, 0, target & ~1ull, 2);
        return 0;
    default:
        return UNKNOWN;
    }
}

static int step(struct hart *h)
{
    const uint16_t *at = (const uint16_t *)h->pc;

    if (h->pc < h->code || h->pc >= h->code_end) {
        return CAUSE_FETCH;
    }
    return (at[0] & 3) == 3 ? step_32(h, at[0] | (uint32_t)at[1] << 16)
                            : step_16(h, at[0]);
}

bool hart_run(struct hart *h)
{
    for (int steps = 0; steps < STEPS_MAX; steps++) {
        int cause;

        if (h->pc == h->stop) {
            return h->mode == MODE_M;
        }
        if (h->ip && take_interrupt(h)) {
            continue;
        }
        cause = step(h);
        if (cause == UNKNOWN) {
            return false;
        }
        if (cause) {
            trap(h, false, cause);
        }
    }
    return false;
}
