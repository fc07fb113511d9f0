/*
 * Registers of a hart, as far as they are known
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "replay/alu.h"
#include "replay/cpu.h"
#include "replay/rvc.h"

#define RA  1
#define SP  2
#define A0  10

/* Opcodes */
#define LOAD        0x03
#define LOAD_FP     0x07
#define MISC_MEM    0x0f
#define OP_IMM      0x13
#define AUIPC       0x17
#define OP_IMM_32   0x1b
#define STORE       0x23
#define STORE_FP    0x27
#define AMO         0x2f
#define OP          0x33
#define LUI         0x37
#define OP_32       0x3b
#define OP_FP       0x53
#define OP_V        0x57
#define BRANCH      0x63
#define JALR        0x67
#define JAL         0x6f
#define SYSTEM      0x73

#define EBREAK      0x00100073

#define CSR_FRM     0x002
#define CSR_FCSR    0x003

void cpu_init(Cpu *cpu, const InsnIsa *isa)
{
    *cpu = (Cpu) { .isa = *isa };
    cpu_forget(cpu);
}

void cpu_forget(Cpu *cpu)
{
    cpu->known_x = 1;
    cpu->known_f = 0;
    cpu->frm = FPU_UNKNOWN;
}

void cpu_set(Cpu *cpu, const ETraceSbRegs *regs)
{
    for (unsigned reg = 1; reg < 32; reg++) {
        cpu->x[reg] = alu_word(cpu->isa.xlen, regs->x[reg]);
    }
    memcpy(cpu->f, regs->f, sizeof(cpu->f));
    cpu->has_f = regs->flags & ETRACE_SB_REGS_F;
    cpu->frm = regs->flags >> ETRACE_SB_REGS_FRM_SHIFT & 7;
    cpu->known_x = UINT32_MAX;
    cpu->known_f = cpu->has_f ? UINT32_MAX : 0;
}

static bool knows(const Cpu *cpu, unsigned reg)
{
    return cpu->known_x >> reg & 1;
}

static void set_x(Cpu *cpu, unsigned reg, bool known, uint64_t value)
{
    if (reg) {
        cpu->x[reg] = known ? alu_word(cpu->isa.xlen, value) : 0;
        cpu->known_x = (cpu->known_x & ~(1u << reg)) | (uint32_t)known << reg;
    }
}

static void forget_x(Cpu *cpu, unsigned reg)
{
    set_x(cpu, reg & 31, false, 0);
}

static void set_f(Cpu *cpu, unsigned reg, bool known, uint64_t value)
{
    cpu->f[reg] = known ? value : 0;
    cpu->known_f = (cpu->known_f & ~(1u << reg)) | (uint32_t)known << reg;
}

/*
 * A result of floating point. With Zfinx that is in x registers; a hart that
 * loads, stores or moves f registers has those.
 */
static void set_result(Cpu *cpu, unsigned reg, bool known, uint64_t value)
{
    set_f(cpu, reg, known, value);
    if (!cpu->has_f) {
        forget_x(cpu, reg);
        forget_x(cpu, reg | 1);
    }
}

/* The only access, or NULL */
static const ETraceDataAccess *single(const CpuAccesses *a)
{
    return a->n == 1 ? a->all : NULL;
}

static uint64_t sign_extend(uint64_t v, unsigned bytes)
{
    unsigned shift = 64 - 8 * bytes;

    return (int64_t)(v << shift) >> shift;
}

static uint64_t zero_extend(uint64_t v, unsigned bytes)
{
    return bytes == 8 ? v : v & ((1ull << 8 * bytes) - 1);
}

static bool is_load(const ETraceDataAccess *a, unsigned size)
{
    return a && a->dtype == ETRACE_DTYPE_LOAD && a->size == size;
}

static void load(Cpu *cpu, uint32_t raw, unsigned rd, const CpuAccesses *all)
{
    const ETraceDataAccess *a = single(all);
    unsigned f3 = raw >> 12 & 7, size = f3 & 3;

    if (f3 == 3 && cpu->isa.xlen == 32) {
        /* Zilsd: a pair of registers */
        forget_x(cpu, rd);
        forget_x(cpu, rd | 1);
        return;
    }
    if (!is_load(a, size)) {
        forget_x(cpu, rd);
        return;
    }
    set_x(cpu, rd, true, f3 & 4 ? zero_extend(a->data, 1 << size) :
                                  sign_extend(a->data, 1 << size));
}

static void load_fp(Cpu *cpu, uint32_t raw, unsigned rd,
                    const CpuAccesses *all)
{
    const ETraceDataAccess *a = single(all);
    unsigned f3 = raw >> 12 & 7;

    if (f3 == 0 || f3 >= 5) {
        return;                 /* a vector */
    }
    cpu->has_f |= all->n == 1 && cpu->isa.xlen == 64;
    if (cpu->isa.xlen == 32 && (raw & 3) == 3 && f3 == 2 && !is_load(a, 2)) {
        /* c.flw may be c.ld of Zclsd, with a pair of registers. */
        forget_x(cpu, rd);
        forget_x(cpu, rd | 1);
    }
    set_f(cpu, rd, f3 < 4 && is_load(a, f3), a ? fpu_box(a->data, 1 << f3) : 0);
}

static void amo(Cpu *cpu, uint32_t raw, unsigned rd, const CpuAccesses *all)
{
    const ETraceDataAccess *a = single(all);
    unsigned size = raw >> 12 & 7, f5 = raw >> 27;

    if (f5 == 3) {
        /* sc; numbers of a failure but 1 are reserved (Zalrsc). */
        set_x(cpu, rd, (a && a->dtype == ETRACE_DTYPE_STORE) || all->sc_failed,
              all->sc_failed);
        return;
    }
    if (f5 == 5 && size > (cpu->isa.xlen == 32 ? 2 : 3)) {
        forget_x(cpu, rd | 1);  /* amocas: a pair of registers */
        forget_x(cpu, rd);
        return;
    }
    set_x(cpu, rd, a && a->size == size && size <= 3 &&
          a->dtype != ETRACE_DTYPE_STORE,
          a && size <= 3 ? sign_extend(a->data, 1 << size) : 0);
}

/* OP-FP, and fmadd and so on, which read three registers */
static void op_fp(Cpu *cpu, uint32_t raw, unsigned rd)
{
    unsigned f5 = raw >> 27, rs1 = raw >> 15 & 31, rs2 = raw >> 20 & 31;
    bool fused = (raw & 0x7f) != OP_FP;
    bool from_x = !fused && (f5 == 0x1a || f5 == 0x1e);
    bool to_x = !fused && (f5 == 0x14 || f5 == 0x18 || f5 == 0x1c);
    bool two = fused || f5 < 0x06 || f5 == 0x14;
    bool known = from_x ? knows(cpu, rs1) : cpu->known_f >> rs1 & 1;
    FpuSources in = {
        .f = { cpu->f[rs1], cpu->f[rs2], cpu->f[f5] },
        .x = cpu->x[rs1],
        .frm = cpu->frm,
    };
    uint64_t value = 0;

    known = known && (!two || (cpu->known_f >> rs2 & 1)) &&
            (!fused || (cpu->known_f >> f5 & 1)) &&
            fpu_compute(cpu->isa.xlen, raw, &in, &value);
    if (to_x) {
        set_x(cpu, rd, known, value);
        return;
    }
    if (f5 == 0x1e && !fused) {
        cpu->has_f = true;      /* fmv.w.x and so on: Zfinx has none */
    }
    set_result(cpu, rd, known, value);
}

/* fcsr and frm: rounding modes */
static void write_frm(Cpu *cpu, uint32_t raw, const ETraceDataAccess *a)
{
    unsigned csr = raw >> 20;
    uint64_t value = 0;

    if (csr != CSR_FRM && csr != CSR_FCSR) {
        return;
    }
    switch (a ? a->dtype : ETRACE_DTYPE_LOAD) {
    case ETRACE_DTYPE_CSR_RW:
        value = a->operand;
        break;
    case ETRACE_DTYPE_CSR_RS:
        value = a->data | a->operand;
        break;
    case ETRACE_DTYPE_CSR_RC:
        value = a->data & ~a->operand;
        break;
    default:
        cpu->frm = FPU_UNKNOWN;
        return;
    }
    cpu->frm = (csr == CSR_FCSR ? value >> 5 : value) & 7;
}

static void read_csr(Cpu *cpu, uint32_t raw, unsigned rd,
                     const CpuAccesses *all)
{
    const ETraceDataAccess *a = single(all);
    unsigned f3 = raw >> 12 & 7;

    if (f3 & 3) {
        write_frm(cpu, raw, a);
        set_x(cpu, rd, a && a->dtype >= ETRACE_DTYPE_CSR_RW &&
              a->dtype <= ETRACE_DTYPE_CSR_RC, a ? a->data : 0);
    } else if (f3 == 4) {
        forget_x(cpu, rd);      /* of a hypervisor, or Zimop */
    } else if (raw == EBREAK) {
        forget_x(cpu, A0);      /* It retires if it is a semihosting call. */
    }
}

static void compute(Cpu *cpu, uint32_t raw, unsigned rd)
{
    unsigned rs1 = raw >> 15 & 31, rs2 = raw >> 20 & 31;
    bool two = raw & 0x20;      /* OP and OP-32 */
    bool known = knows(cpu, rs1) && (!two || knows(cpu, rs2));
    uint64_t value = 0;

    known = known && alu_compute(cpu->isa.xlen, raw, cpu->x[rs1],
                                 two ? cpu->x[rs2] : 0, &value);
    set_x(cpu, rd, known, value);
}

/* Some instructions of vectors have a result in another register. */
static void vector(Cpu *cpu, uint32_t raw, unsigned rd)
{
    unsigned f3 = raw >> 12 & 7;

    if (f3 == 7 || f3 == 2) {
        forget_x(cpu, rd);
    } else if (f3 == 1) {
        set_f(cpu, rd, false, 0);
    }
}

static void learn_x(Cpu *cpu, unsigned reg, uint64_t value)
{
    if (!knows(cpu, reg)) {
        set_x(cpu, reg, true, value);
    }
}

/*
 * What registers were before the instruction, by its access: where the trace
 * begins, and behind a loss or a signal, nothing else says where the stack is.
 */
static void learn(Cpu *cpu, uint32_t raw, const CpuAccesses *all)
{
    const ETraceDataAccess *a = single(all);
    unsigned opcode = raw & 0x7f, f3 = raw >> 12 & 7, bytes;
    unsigned rs1 = raw >> 15 & 31, rs2 = raw >> 20 & 31;
    bool stores = opcode == STORE || opcode == STORE_FP;
    int32_t upper = (int32_t)raw >> 20, lower = raw >> 7 & 31;
    int64_t offset = opcode == AMO ? 0 :
                     stores ? (upper & ~31) | lower : upper;

    if (!(stores || opcode == LOAD || opcode == LOAD_FP || opcode == AMO) ||
        ((opcode == LOAD_FP || opcode == STORE_FP) && (!f3 || f3 >= 5)) ||
        !a || a->size != (opcode == LOAD ? f3 & 3 : f3)) {
        return;                 /* none, or of a vector, or of another one */
    }
    bytes = 1u << a->size;
    if (!cpu->isa.tags) {
        learn_x(cpu, rs1, a->address - offset);
    }
    if (opcode == STORE && 8 * bytes == cpu->isa.xlen) {
        learn_x(cpu, rs2, a->data);
    } else if (opcode == STORE_FP && bytes == 8) {
        set_f(cpu, rs2, true, a->data);
    }
}

static void execute(Cpu *cpu, uint64_t pc, uint32_t raw, unsigned len,
                    const CpuAccesses *all)
{
    unsigned rd = raw >> 7 & 31;
    int32_t upper = raw & 0xfffff000;

    learn(cpu, raw, all);
    switch (raw & 0x7f) {
    case LOAD:
        load(cpu, raw, rd, all);
        break;
    case LOAD_FP:
        load_fp(cpu, raw, rd, all);
        break;
    case OP:
    case OP_32:
    case OP_IMM:
    case OP_IMM_32:
        compute(cpu, raw, rd);
        break;
    case AUIPC:
        set_x(cpu, rd, true, pc + upper);
        break;
    case LUI:
        set_x(cpu, rd, true, upper);
        break;
    case JAL:
    case JALR:
        set_x(cpu, rd, true, pc + len);
        break;
    case AMO:
        amo(cpu, raw, rd, all);
        break;
    case OP_FP:
    case 0x43:                  /* fmadd and so on */
    case 0x47:
    case 0x4b:
    case 0x4f:
        op_fp(cpu, raw, rd);
        break;
    case SYSTEM:
        read_csr(cpu, raw, rd, all);
        break;
    case OP_V:
        vector(cpu, raw, rd);
        break;
    case MISC_MEM:
    case STORE:
    case STORE_FP:
    case BRANCH:
    case 0x77:                  /* of vectors alone */
        break;
    default:
        cpu_forget(cpu);
        break;
    }
}

/* Zcmp: the number of a register, of s0 to s11 */
static unsigned saved_register(unsigned s)
{
    return s < 2 ? 8 + s : 16 + s;
}

/* Registers of a list: ra, s0 and so on, into @regs, the last one first */
static unsigned register_list(unsigned list, unsigned regs[13])
{
    unsigned n = 0, nr_saved = list == 15 ? 12 : list - 4;

    for (unsigned s = nr_saved; s > 0; s--) {
        regs[n++] = saved_register(s - 1);
    }
    regs[n++] = RA;
    return n;
}

/* cm.pop, cm.popret, cm.popretz, cm.push: @pops: all but the last one */
static void push_or_pop(Cpu *cpu, uint32_t raw, bool pops,
                        const CpuAccesses *all)
{
    unsigned bytes = cpu->isa.xlen / 8, regs[13];
    unsigned n = register_list(raw >> 4 & 15, regs);
    unsigned adjust = ROUND_UP(n * bytes, 16) + 16 * (raw >> 2 & 3);
    uint64_t last = 0;

    for (unsigned i = 0; i < all->n; i++) {
        last = MAX(last, all->all[i].address);
    }
    for (unsigned k = 0; pops && k < n; k++) {
        forget_x(cpu, regs[k]);
        /* The last register is where the stack begins. */
        for (unsigned i = 0; all->n == n && i < n; i++) {
            const ETraceDataAccess *a = &all->all[i];

            if (a->dtype == ETRACE_DTYPE_LOAD &&
                a->address == last - k * bytes && 1u << a->size == bytes) {
                set_x(cpu, regs[k], true, a->data);
            }
        }
    }
    set_x(cpu, SP, knows(cpu, SP), cpu->x[SP] +
          (pops ? adjust : -(uint64_t)adjust));
}

/* cm.mvsa01 and cm.mva01s */
static void move_pair(Cpu *cpu, uint32_t raw, bool to_arguments)
{
    unsigned s1 = saved_register(raw >> 7 & 7);
    unsigned s2 = saved_register(raw >> 2 & 7);
    Cpu before = *cpu;

    if (to_arguments) {
        set_x(cpu, A0, knows(&before, s1), before.x[s1]);
        set_x(cpu, A0 + 1, knows(&before, s2), before.x[s2]);
    } else {
        set_x(cpu, s1, knows(&before, A0), before.x[A0]);
        set_x(cpu, s2, knows(&before, A0 + 1), before.x[A0 + 1]);
    }
}

/* Of Zcmp and Zcmt, by bits 12 to 8 */
static void execute_zc(Cpu *cpu, uint64_t pc, uint32_t raw,
                       const CpuAccesses *all)
{
    unsigned which = raw >> 8 & 31, index = raw >> 2 & 0xff;

    if (cpu->isa.zcmt && (raw >> 10 & 7) == 0) {
        if (index >= 32) {
            set_x(cpu, RA, true, pc + 2);       /* cm.jalt */
        }
    } else if (!cpu->isa.zcmp) {
        cpu_forget(cpu);
    } else if ((which & 0x1d) == 0x18 || (which & 0x1d) == 0x1c) {
        if ((raw >> 4 & 15) < 4) {
            cpu_forget(cpu);
            return;
        }
        push_or_pop(cpu, raw, which != 0x18, all);
        if (which == 0x1c) {
            set_x(cpu, A0, true, 0);            /* cm.popretz */
        }
    } else if ((which & 0x1c) == 0x0c && (raw >> 5 & 1)) {
        move_pair(cpu, raw, raw >> 6 & 1);
    } else {
        cpu_forget(cpu);
    }
}

/* c.mop.N, of which c.sspush and c.sspopchk are two: no register of ours */
static bool is_c_mop(uint32_t raw)
{
    return (raw & 0xf8ff) == 0x6081;
}

void cpu_execute(Cpu *cpu, uint64_t pc, uint32_t raw,
                 const CpuAccesses *accesses)
{
    uint32_t wide;

    if (insn_length(raw) == 4) {
        execute(cpu, pc, raw, 4, accesses);
        return;
    }
    raw &= 0xffff;
    if ((cpu->isa.zcmp || cpu->isa.zcmt) && (raw & 0xe003) == 0xa002) {
        execute_zc(cpu, pc, raw, accesses);
        return;
    }
    wide = rvc_expand(cpu->isa.xlen, raw);
    if (wide) {
        execute(cpu, pc, wide, 2, accesses);
    } else if (!is_c_mop(raw)) {
        cpu_forget(cpu);
    }
}

static uint64_t least(uint64_t a, uint64_t b, bool is_signed, bool greatest)
{
    bool less = is_signed ? (int64_t)a < (int64_t)b : a < b;

    return less != greatest ? a : b;
}

bool cpu_memory_after(uint32_t raw, const ETraceDataAccess *access,
                      uint64_t *value)
{
    unsigned bytes = 1u << access->size;
    uint64_t a = sign_extend(access->data, bytes);
    uint64_t b = sign_extend(access->operand, bytes);
    /* amomin, amomax, amominu, amomaxu */
    bool is_signed = !(raw >> 30 & 1);

    if (!is_signed) {
        a = zero_extend(a, bytes);
        b = zero_extend(b, bytes);
    }
    *value = a;
    switch (access->dtype) {
    case ETRACE_DTYPE_LOAD:
    case ETRACE_DTYPE_STORE:
        return true;
    case ETRACE_DTYPE_SWAP:
        *value = b;
        return true;
    case ETRACE_DTYPE_ADD:
        *value = a + b;
        return true;
    case ETRACE_DTYPE_AND:
        *value = a & b;
        return true;
    case ETRACE_DTYPE_OR:
        *value = a | b;
        return true;
    case ETRACE_DTYPE_XOR:
        *value = a ^ b;
        return true;
    case ETRACE_DTYPE_MAX:
        *value = least(a, b, is_signed, true);
        return true;
    case ETRACE_DTYPE_MIN:
        *value = least(a, b, is_signed, false);
        return true;
    default:
        return false;
    }
}

bool cpu_may_store(uint32_t raw)
{
    if (insn_length(raw) == 4) {
        return (raw & 0x7f) == 0x23 || (raw & 0x7f) == 0x27 ||
               (raw & 0x7f) == 0x2f || (raw & 0x707f) == 0x4073;
    }
    /* c.fsd, c.sw, c.sd and so on, Zcb's and Zcmp's */
    return ((raw & 3) != 1 && (raw & 0xe000) >= 0xa000) ||
           (raw & 0xe003) == 0x8000 || (raw & 0xf8ff) == 0x6081;
}
