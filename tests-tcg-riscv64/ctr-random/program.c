/*
 * Random programs
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "program.h"

#define BLOCKS          60
#define FIXUPS_MAX      1024

/* Registers for numbers that mean nothing, and for code addresses */
static const uint8_t number_reg[] = { 12, 13, 14, 15 };
static const uint8_t code_reg[] = { 1, 5, 6, 7, 10, 11 };

static struct program *prog;
static const struct program_options *opt;
static unsigned at;             /* halfwords of code so far */
static unsigned block[BLOCKS];
static struct fixup {
    unsigned at;
    enum { FIX_BRANCH, FIX_JAL, FIX_C_J, FIX_C_BRANCH } kind;
} fixups[FIXUPS_MAX];
static unsigned n_fixups;

uint64_t random_state;

uint64_t random64(void)
{
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return random_state * 0x2545f4914f6cdd1dull;
}

unsigned random_below(unsigned n)
{
    return (random64() >> 32) * n >> 32;
}

static bool one_in(unsigned n)
{
    return random_below(n) == 0;
}

static unsigned pick(const uint8_t *from, unsigned n)
{
    return from[random_below(n)];
}

#define PICK(array) pick(array, sizeof(array))

uint64_t random_control(void)
{
    uint64_t value = 0;

    for (unsigned mode = 0; mode < 3; mode++) {
        value |= one_in(4) ? 0 : 1ull << mode;
    }
    value |= random64() & (CTL_STE | CTL_MTE);
    value |= one_in(4) ? CTL_RASEMU : 0;
    value |= one_in(10) ? CTL_BPFRZ : 0;
    value |= one_in(3) ? CTL_LCOFIFRZ : 0;
    if (one_in(2)) {
        value |= random64() & random64() & CTL_FILTERS;
    }
    value |= one_in(3) ? CTL_NTBREN : 0;
    /* Fields that do not exist, but for the custom ones */
    value |= one_in(8) ? random64() & 0x0fff00c1ffffe478ull : 0;
    return value;
}

/* --- Encodings --- */

static void emit16(uint16_t insn)
{
    prog->code[at++] = insn;
}

static void emit(uint32_t insn)
{
    emit16(insn);
    emit16(insn >> 16);
}

static void emit_i(unsigned opcode, unsigned funct3, unsigned rd,
                   unsigned rs1, int imm)
{
    emit(opcode | rd << 7 | funct3 << 12 | rs1 << 15 | (uint32_t)imm << 20);
}

static void emit_r(unsigned funct7, unsigned rd, unsigned rs1, unsigned rs2)
{
    emit(0x33 | rd << 7 | rs1 << 15 | rs2 << 20 | funct7 << 25);
}

static void addi(unsigned rd, unsigned rs1, int imm)
{
    emit_i(0x13, 0, rd, rs1, imm);
}

static void andi(unsigned rd, unsigned rs1, int imm)
{
    emit_i(0x13, 7, rd, rs1, imm);
}

static void srli(unsigned rd, unsigned rs1, int shift)
{
    emit_i(0x13, 5, rd, rs1, shift);
}

static void ld(unsigned rd, unsigned rs1, int imm)
{
    emit_i(0x03, 3, rd, rs1, imm);
}

static void ld_data(unsigned rd, unsigned word)
{
    ld(rd, REG_GP, 8 * word);
}

enum { CSRRW = 1, CSRRS, CSRRC };

static void csr(unsigned op, unsigned rd, unsigned number, unsigned rs1)
{
    emit_i(0x73, op, rd, rs1, number);
}

static uint32_t branch_offset(int offset)
{
    uint32_t o = offset;

    return (o >> 12 & 1) << 31 | (o >> 5 & 0x3f) << 25 | (o >> 1 & 0xf) << 8 |
           (o >> 11 & 1) << 7;
}

static uint32_t jal_offset(int offset)
{
    uint32_t o = offset;

    return (o >> 20 & 1) << 31 | (o >> 1 & 0x3ff) << 21 |
           (o >> 11 & 1) << 20 | (o >> 12 & 0xff) << 12;
}

static uint16_t c_j_offset(int offset)
{
    uint32_t o = offset;

    return (o >> 11 & 1) << 12 | (o >> 4 & 1) << 11 | (o >> 8 & 3) << 9 |
           (o >> 10 & 1) << 8 | (o >> 6 & 1) << 7 | (o >> 7 & 1) << 6 |
           (o >> 1 & 7) << 3 | (o >> 5 & 1) << 2;
}

static uint16_t c_branch_offset(int offset)
{
    uint32_t o = offset;

    return (o >> 8 & 1) << 12 | (o >> 3 & 3) << 10 | (o >> 6 & 3) << 5 |
           (o >> 1 & 3) << 3 | (o >> 5 & 1) << 2;
}

enum { BEQ = 0, BNE = 1, BLT = 4, BGE = 5 };

static void branch_to(unsigned funct3, unsigned rs1, unsigned rs2, int offset)
{
    emit(0x63 | funct3 << 12 | rs1 << 15 | rs2 << 20 | branch_offset(offset));
}

static void jal_to(unsigned rd, int offset)
{
    emit(0x6f | rd << 7 | jal_offset(offset));
}

static void jalr(unsigned rd, unsigned rs1, int imm)
{
    emit_i(0x67, 0, rd, rs1, imm);
}

/* --- Targets that are chosen when all blocks have their place --- */

static void fix_later(int kind)
{
    fixups[n_fixups].at = at;
    fixups[n_fixups++].kind = kind;
}

static void or_32(unsigned place, uint32_t value)
{
    prog->code[place] |= value;
    prog->code[place + 1] |= value >> 16;
}

static void fix(const struct fixup *f)
{
    static const int reach[] = { 4000, 100000, 2000, 250 };
    int offset = f->kind == FIX_C_J || f->kind == FIX_C_BRANCH ? 2 : 4;

    for (int tries = 0; tries < 200; tries++) {
        int to = 2 * ((int)block[random_below(BLOCKS)] - (int)f->at);

        if (to > -reach[f->kind] && to < reach[f->kind]) {
            offset = to;
            break;
        }
    }
    switch (f->kind) {
    case FIX_BRANCH:
        or_32(f->at, branch_offset(offset));
        break;
    case FIX_JAL:
        or_32(f->at, jal_offset(offset));
        break;
    case FIX_C_J:
        prog->code[f->at] |= c_j_offset(offset);
        break;
    default:
        prog->code[f->at] |= c_branch_offset(offset);
    }
}

/* --- Pieces --- */

/* The next random number; its high bits are the good ones. */
static void step_random(void)
{
    emit_r(1, REG_RANDOM, REG_RANDOM, REG_FACTOR);
    emit_r(0, REG_RANDOM, REG_RANDOM, REG_ADDEND);
}

static void random_bits(unsigned rd, unsigned mask)
{
    srli(rd, REG_RANDOM, 30 + random_below(20));
    andi(rd, rd, mask);
}

/* Loads the address of some code, found when the program is run or now. */
static void load_target(unsigned rd, unsigned pointer)
{
    if (one_in(2)) {
        srli(pointer, REG_RANDOM, 20 + random_below(30));
        andi(pointer, pointer, 8 * (TARGETS - 1));
        emit_r(0, pointer, pointer, REG_GP);
        ld(rd, pointer, 8 * DATA_TARGETS);
    } else {
        ld_data(rd, DATA_TARGETS + random_below(TARGETS));
    }
}

/* A conditional branch to some block */
static void random_branch(void)
{
    unsigned a = PICK(number_reg), b = PICK(number_reg);
    unsigned funct3 = (BEQ | random_below(2)) ^ (one_in(2) ? 0 : BLT);

    random_bits(a, one_in(3) ? 3 : 1);
    if (opt->has_c && one_in(2)) {
        fix_later(FIX_C_BRANCH);
        emit16(0xc001 | (one_in(2) ? 0 : 1 << 13) | (a - 8) << 7);
        return;
    }
    if (funct3 & BLT) {
        funct3 |= random_below(2) << 1;
        random_bits(b, 3);
    } else {
        b = 0;
    }
    fix_later(FIX_BRANCH);
    branch_to(funct3, a, b, 0);
}

/* A CSR instruction that only some modes may execute */
static void random_csr(void)
{
    unsigned value = PICK(number_reg);
    unsigned op = CSRRW + random_below(3);

    switch (random_below(opt->has_h ? 14 : 12)) {
    case 0:
    case 1:
    case 2:
        ld_data(value, DATA_CONTROL + random_below(CONTROLS));
        csr(op, 0, CSR_SCTRCTL, value);
        break;
    case 3:
        ld_data(value, DATA_CONTROL + random_below(CONTROLS));
        csr(op, 0, CSR_MCTRCTL, value);
        break;
    case 4:
    case 5:
        ld_data(value, DATA_STATUS + random_below(STATUSES));
        csr(op, 0, CSR_SCTRSTATUS, value);
        break;
    case 6:
        ld_data(value, DATA_DEPTH);
        csr(CSRRW, 0, CSR_SCTRDEPTH, value);
        break;
    case 7:
        emit(SCTRCLR);
        break;
    case 8:
        ld_data(value, DATA_SIE);
        csr(CSRRS + random_below(2), 0, CSR_SSTATUS, value);
        break;
    case 9:
    case 10:
    case 11:
        /* An interrupt */
        ld_data(value, one_in(2) ? DATA_LCOFIP : DATA_SSIP);
        csr(CSRRS, 0, one_in(2) ? CSR_MIP : CSR_SIP, value);
        break;
    default:
        if (one_in(2)) {
            ld_data(value, DATA_CONTROL + random_below(CONTROLS));
            csr(op, 0, CSR_VSCTRCTL, value);
        } else {
            ld_data(value, DATA_VSSIP);
            csr(CSRRS, 0, CSR_HVIP, value);
        }
    }
}

/* An exception, in most modes */
static void random_exception(void)
{
    switch (random_below(opt->has_c ? 7 : 5)) {
    case 0:
    case 1:
        emit(0x00000073);               /* ECALL */
        break;
    case 2:
        emit(0x00100073);               /* EBREAK */
        break;
    case 3:
    case 4:
        emit(~0u);                      /* no instruction */
        break;
    case 5:
        emit16(0x9002);                 /* C.EBREAK */
        emit16(0x0001);                 /* C.NOP: handlers skip 4 bytes */
        break;
    default:
        emit16(0);                      /* defined to be illegal */
        emit16(0x0001);
    }
}

/* Counts the fuel down; ends the program by an ecall. */
static void burn(void)
{
    if (opt->has_c && one_in(2)) {
        emit16(0x107d | REG_FUEL << 7);                 /* C.ADDI -1 */
    } else {
        addi(REG_FUEL, REG_FUEL, -1);
    }
    branch_to(BGE, REG_FUEL, 0, 8);
    emit(0x00000073);
}

/* sret or mret, which traps where it may not be executed */
static void random_return(void)
{
    unsigned value = PICK(number_reg);

    load_target(6, REG_POINTER);
    if (one_in(3)) {
        csr(CSRRW, 0, CSR_MEPC, 6);
        ld_data(value, DATA_MPP_MPV);
        csr(CSRRC, 0, CSR_MSTATUS, value);
        ld_data(value, DATA_MODES + random_below(MODE_WORDS));
        csr(CSRRS, 0, CSR_MSTATUS, value);
        burn();         /* mepc may be in here, if the write of it trapped */
        emit(0x30200073);
        return;
    }
    csr(CSRRW, 0, CSR_SEPC, 6);
    ld_data(value, DATA_SPP);
    csr(CSRRS + random_below(2), 0, CSR_SSTATUS, value);
    if (opt->has_h) {
        ld_data(value, DATA_SPV);
        csr(CSRRS + random_below(2), 0, CSR_HSTATUS, value);
    }
    burn();
    emit(0x10200073);
}

static void random_jump(bool may_fall_through)
{
    unsigned rd = one_in(3) ? 0 : PICK(code_reg);
    unsigned rs = PICK(code_reg);

    if (!may_fall_through) {
        rd = 0;
    }
    switch (random_below(opt->has_zcm ? 12 : 9)) {
    case 0:
    case 1:
        if (opt->has_c && rd == 0) {
            fix_later(FIX_C_J);
            emit16(0xa001);
            break;
        }
        fix_later(FIX_JAL);
        jal_to(rd, 0);
        break;
    case 2:
    case 3:
    case 4:
        load_target(rs, REG_POINTER);
        /* fall through */
    case 5:
    case 6:
        /* Without a load: back to where the last call or so came from */
        if (opt->has_c && rd <= 1 && one_in(2)) {
            emit16(0x8002 | rd << 12 | rs << 7);
        } else {
            jalr(rd, rs, one_in(4) ? 1 : 0);
        }
        break;
    case 7:
        random_return();
        break;
    case 8:
        if (!may_fall_through) {
            fix_later(FIX_JAL);
            jal_to(0, 0);
        }
        break;
    case 9:
    case 10:
        emit16(0xa002 | random_below(may_fall_through ? 64 : 32) << 2);
        break;
    default:
        addi(REG_SP, REG_GP, 8 * (DATA_TARGETS + random_below(TARGETS) - 1));
        emit16(one_in(4) ? 0xbc42 : 0xbe42);
    }
}

static void generate_block(bool last)
{
    burn();
    step_random();
    for (unsigned n = random_below(3); n; n--) {
        random_branch();
    }
    if (one_in(4)) {
        random_exception();
    }
    if (one_in(4)) {
        random_csr();
    }
    if (one_in(3)) {
        random_branch();
    }
    random_jump(!last);
    if (last) {
        /* What traps in that jump may be skipped. */
        for (int i = 0; i < 8; i++) {
            fix_later(FIX_JAL);
            jal_to(0, 0);
        }
    }
}

/*
 * A trap handler: ends an interrupt by clearing what is pending; skips the
 * instruction of an exception, or goes elsewhere, perhaps in another mode.
 * It has four registers, the first for code addresses.
 */
static void generate_handler(enum ctr_mode mode, unsigned reg)
{
    unsigned epc = mode == MODE_M ? CSR_MEPC : CSR_SEPC;
    unsigned cause = mode == MODE_M ? CSR_MCAUSE : CSR_SCAUSE;
    unsigned ret = mode == MODE_M ? 0x30200073 : 0x10200073;
    unsigned interrupt, skip;

    /* No link: nothing may come here but a trap. */
    jal_to(0, 4);
    csr(CSRRS, reg, epc, 0);
    csr(CSRRS, reg + 1, cause, 0);
    addi(REG_FUEL, REG_FUEL, -1);
    step_random();
    if (mode == MODE_M) {
        branch_to(BGE, REG_FUEL, 0, 16);
        csr(CSRRW, REG_CONTROL, CSR_MCTRCTL, 0);
        prog->stop = (uint64_t)&prog->code[at];
        ld_data(31, DATA_EXIT);
        jalr(0, 31, 0);
    } else {
        branch_to(BGE, REG_FUEL, 0, 8);
        emit(0x00000073);
    }
    interrupt = at;
    branch_to(BLT, reg + 1, 0, 0);
    addi(reg, reg, 4);
    random_bits(reg + 1, one_in(2) ? 1 : 3);
    skip = at;
    branch_to(BEQ, reg + 1, 0, 0);
    load_target(reg, reg + 2);
    or_32(skip, branch_offset(2 * (at - skip)));
    csr(CSRRW, 0, epc, reg);
    random_bits(reg + 1, 1);
    skip = at;
    branch_to(BEQ, reg + 1, 0, 0);
    if (mode == MODE_M) {
        ld_data(reg + 1, DATA_MPP_MPV);
        csr(CSRRC, 0, CSR_MSTATUS, reg + 1);
        srli(reg + 2, REG_RANDOM, 25);
        andi(reg + 2, reg + 2, 8 * (MODE_WORDS - 1));
        emit_r(0, reg + 2, reg + 2, REG_GP);
        ld(reg + 1, reg + 2, 8 * DATA_MODES);
        csr(CSRRS, 0, CSR_MSTATUS, reg + 1);
    } else {
        ld_data(reg + 1, DATA_SPP);
        csr(CSRRS + random_below(2), 0, CSR_SSTATUS, reg + 1);
        if (opt->has_h && mode == MODE_S) {
            ld_data(reg + 1, DATA_SPV);
            csr(CSRRS + random_below(2), 0, CSR_HSTATUS, reg + 1);
        }
    }
    or_32(skip, branch_offset(2 * (at - skip)));
    emit(ret);

    or_32(interrupt, branch_offset(2 * (at - interrupt)));
    ld_data(reg + 1, DATA_CLEAR_IP);
    csr(CSRRC, 0, mode == MODE_M ? CSR_MIP : CSR_SIP, reg + 1);
    if (opt->has_h && mode != MODE_VS) {
        csr(CSRRW, 0, CSR_HVIP, 0);
    }
    emit(ret);
}

static void fill_data(uint64_t exit)
{
    uint64_t *d = prog->data;

    for (unsigned i = 0; i < TARGETS; i++) {
        d[DATA_TARGETS + i] = (uint64_t)&prog->code[block[i % BLOCKS]];
        prog->jump_table[i] = d[DATA_TARGETS + i];
    }
    d[DATA_TARGETS + random_below(TARGETS)] = NOWHERE;
    for (unsigned i = 0; i < CONTROLS; i++) {
        d[DATA_CONTROL + i] = random_control();
    }
    for (unsigned i = 0; i < STATUSES; i++) {
        d[DATA_STATUS + i] = random64() & 0x1ff;
    }
    d[DATA_STATUS] |= STATUS_FROZEN;
    for (unsigned i = 0; i < MODE_WORDS; i++) {
        /* U, S, M, S, VU, VS, M again (MPV must not matter), VU */
        static const uint16_t mpp[MODE_WORDS] = {
            0, 0x800, 0x1800, 0x800, 0, 0x800, 0x1800, 0
        };

        d[DATA_MODES + i] = mpp[i] | (opt->has_h && i >= 4 ? STATUS_MPV : 0);
    }
    d[DATA_SPP] = STATUS_SPP;
    d[DATA_MPP_MPV] = STATUS_MPP | (opt->has_h ? STATUS_MPV : 0);
    d[DATA_SPV] = HSTATUS_SPV;
    d[DATA_SIE] = STATUS_SIE;
    d[DATA_SSIP] = IP(IRQ_SSI);
    d[DATA_VSSIP] = IP(IRQ_VSSI);
    d[DATA_LCOFIP] = opt->has_lcofi ? IP(IRQ_LCOFI) : IP(IRQ_SSI);
    d[DATA_CLEAR_IP] = IP(IRQ_SSI) | IP(IRQ_LCOFI);
    d[DATA_EXIT] = exit;
}

/* The address of the next instruction, which is made a multiple of 4 */
static uint64_t here(void)
{
    if (at & 1) {
        emit16(0x0001);
    }
    return (uint64_t)&prog->code[at];
}

void program_generate(struct program *p, const struct program_options *o,
                      uint64_t exit)
{
    prog = p;
    opt = o;
    at = 0;
    n_fixups = 0;

    /* Nothing falls into this; the handlers are followed by a block. */
    p->entry = here();
    csr(CSRRW, 0, CSR_MCTRCTL, REG_CONTROL);
    emit(one_in(2) ? 0x30200073 : 0x10200073);          /* MRET or SRET */
    p->m_handler = here();
    generate_handler(MODE_M, 28);
    p->s_handler = here();
    generate_handler(MODE_S, 24);
    p->vs_handler = here();
    generate_handler(MODE_VS, 20);
    for (unsigned i = 0; i < BLOCKS; i++) {
        block[i] = at;
        generate_block(i == BLOCKS - 1);
    }
    p->end = here();
    for (unsigned i = 0; i < n_fixups; i++) {
        fix(&fixups[i]);
    }
    fill_data(exit);
}
