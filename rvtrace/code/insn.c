/*
 * RISC-V instructions as an instruction trace sees them
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <glib.h>
#include "code/insn.h"

#define OPCODE_LUI      0x37
#define OPCODE_AUIPC    0x17
#define OPCODE_JAL      0x6f
#define OPCODE_JALR     0x67
#define OPCODE_BRANCH   0x63

#define INSN_WORD_ECALL     0x00000073
#define INSN_WORD_EBREAK    0x00100073
#define INSN_WORD_SRET      0x10200073
#define INSN_WORD_MRET      0x30200073
#define INSN_WORD_MNRET     0x70200073
#define INSN_WORD_DRET      0x7b200073

/* Bits @hi..@lo of @v, moved to bit @to */
#define FIELD(v, hi, lo, to) \
    ((((v) >> (lo)) & ((1u << ((hi) - (lo) + 1)) - 1)) << (to))

static int32_t sign_extend(uint32_t v, unsigned bits)
{
    return (int32_t)(v << (32 - bits)) >> (32 - bits);
}

/* x1 and x5 are the link registers of the calling convention. */
static bool is_link(unsigned reg)
{
    return reg == 1 || reg == 5;
}

static uint8_t jal_itype(unsigned rd)
{
    if (is_link(rd)) {
        return ETRACE_ITYPE_INFERABLE_CALL;
    }
    return rd ? ETRACE_ITYPE_OTHER_INFERABLE_JUMP
              : ETRACE_ITYPE_INFERABLE_JUMP;
}

/*
 * jalr with rs1 = x0 has a constant target, but the port reports it by its
 * registers like any other jalr: uninferable.
 */
static uint8_t jalr_itype(unsigned rd, unsigned rs1)
{
    if (is_link(rd)) {
        return is_link(rs1) && rs1 != rd ? ETRACE_ITYPE_COROUTINE_SWAP
                                         : ETRACE_ITYPE_UNINFERABLE_CALL;
    }
    if (is_link(rs1)) {
        return ETRACE_ITYPE_RETURN;
    }
    return rd ? ETRACE_ITYPE_OTHER_UNINFERABLE_JUMP
              : ETRACE_ITYPE_UNINFERABLE_JUMP;
}

static void set_jump(Insn *insn, uint8_t itype, int32_t offset)
{
    insn->kind = INSN_JUMP;
    insn->itype = itype;
    insn->offset = offset;
}

static void set_updiscon(Insn *insn, uint8_t itype)
{
    insn->kind = INSN_UPDISCON;
    insn->itype = itype;
}

static void set_branch(Insn *insn, int32_t offset)
{
    insn->kind = INSN_BRANCH;
    insn->itype = ETRACE_ITYPE_TAKEN_BRANCH;
    insn->offset = offset;
}

static int32_t cj_offset(uint32_t raw)
{
    return sign_extend(FIELD(raw, 12, 12, 11) | FIELD(raw, 11, 11, 4) |
                       FIELD(raw, 10, 9, 8) | FIELD(raw, 8, 8, 10) |
                       FIELD(raw, 7, 7, 6) | FIELD(raw, 6, 6, 7) |
                       FIELD(raw, 5, 3, 1) | FIELD(raw, 2, 2, 5), 12);
}

static int32_t cb_offset(uint32_t raw)
{
    return sign_extend(FIELD(raw, 12, 12, 8) | FIELD(raw, 11, 10, 3) |
                       FIELD(raw, 6, 5, 6) | FIELD(raw, 4, 3, 1) |
                       FIELD(raw, 2, 2, 5), 9);
}

static void classify_quadrant1(const InsnIsa *isa, uint32_t raw, Insn *insn)
{
    switch (FIELD(raw, 15, 13, 0)) {
    case 1:     /* c.jal; c.addiw on RV64 */
        if (isa->xlen == 32) {
            set_jump(insn, ETRACE_ITYPE_INFERABLE_CALL, cj_offset(raw));
        }
        break;
    case 3:     /* c.lui; c.addi16sp for x2 */
        insn->rd = FIELD(raw, 11, 7, 0);
        if (insn->rd != 0 && insn->rd != 2) {
            insn->flags = INSN_LUI;
            insn->offset = sign_extend(FIELD(raw, 12, 12, 17) |
                                       FIELD(raw, 6, 2, 12), 18);
        }
        break;
    case 5:     /* c.j */
        set_jump(insn, ETRACE_ITYPE_INFERABLE_JUMP, cj_offset(raw));
        break;
    case 6:     /* c.beqz */
    case 7:     /* c.bnez */
        set_branch(insn, cb_offset(raw));
        break;
    }
}

static void classify_quadrant2(const InsnIsa *isa, uint32_t raw, Insn *insn)
{
    unsigned rs1 = FIELD(raw, 11, 7, 0);
    unsigned rs2 = FIELD(raw, 6, 2, 0);

    switch (FIELD(raw, 15, 13, 0)) {
    case 4:
        if (rs2) {              /* c.mv, c.add */
            break;
        }
        if (!FIELD(raw, 12, 12, 0)) {
            if (rs1) {          /* c.jr */
                set_updiscon(insn, jalr_itype(0, rs1));
                insn->rs1 = rs1;
            }
        } else if (rs1) {       /* c.jalr */
            set_updiscon(insn, jalr_itype(1, rs1));
            insn->rs1 = rs1;
        } else {                /* c.ebreak */
            insn->flags = INSN_ENV;
        }
        break;
    case 5:     /* c.fsdsp; Zcmp and Zcmt */
        if (isa->zcmt && FIELD(raw, 12, 10, 0) == 0) {
            /* cm.jt, from index 32 on cm.jalt; the target is in memory */
            set_updiscon(insn, FIELD(raw, 9, 2, 0) < 32 ?
                               ETRACE_ITYPE_UNINFERABLE_JUMP :
                               ETRACE_ITYPE_UNINFERABLE_CALL);
        } else if (isa->zcmp && (FIELD(raw, 15, 8, 0) == 0xbc ||
                                 FIELD(raw, 15, 8, 0) == 0xbe)) {
            /* cm.popretz, cm.popret */
            set_updiscon(insn, ETRACE_ITYPE_RETURN);
        }
        break;
    }
}

static void classify_word(uint32_t raw, Insn *insn)
{
    unsigned rd = FIELD(raw, 11, 7, 0);
    unsigned funct3 = FIELD(raw, 14, 12, 0);

    switch (raw & 0x7f) {
    case OPCODE_BRANCH:
        /* funct3 2 and 3: beqi and bnei of Zibi, or illegal */
        set_branch(insn, sign_extend(FIELD(raw, 31, 31, 12) |
                                     FIELD(raw, 30, 25, 5) |
                                     FIELD(raw, 11, 8, 1) |
                                     FIELD(raw, 7, 7, 11), 13));
        break;
    case OPCODE_JAL:
        set_jump(insn, jal_itype(rd),
                 sign_extend(FIELD(raw, 31, 31, 20) | FIELD(raw, 30, 21, 1) |
                             FIELD(raw, 20, 20, 11) | FIELD(raw, 19, 12, 12),
                             21));
        break;
    case OPCODE_JALR:
        if (funct3 == 0) {
            insn->rs1 = FIELD(raw, 19, 15, 0);
            insn->offset = sign_extend(raw >> 20, 12);
            set_updiscon(insn, jalr_itype(rd, insn->rs1));
        }
        break;
    case OPCODE_LUI:
    case OPCODE_AUIPC:
        insn->flags = (raw & 0x7f) == OPCODE_LUI ? INSN_LUI : INSN_AUIPC;
        insn->rd = rd;
        insn->offset = (int32_t)(raw & 0xfffff000);
        break;
    default:
        switch (raw) {
        case INSN_WORD_SRET:
        case INSN_WORD_MRET:
        case INSN_WORD_MNRET:
        case INSN_WORD_DRET:
            insn->kind = INSN_XRET;
            insn->itype = ETRACE_ITYPE_TRAP_RETURN;
            break;
        case INSN_WORD_ECALL:
        case INSN_WORD_EBREAK:
            insn->flags = INSN_ENV;
            break;
        }
        break;
    }
}

void insn_classify(const InsnIsa *isa, uint32_t raw, Insn *insn)
{
    *insn = (Insn) {
        .kind = INSN_SEQUENTIAL,
        .itype = ETRACE_ITYPE_NONE,
        .size = insn_length(raw),
    };
    switch (raw & 3) {
    case 0:
        break;
    case 1:
        classify_quadrant1(isa, raw & 0xffff, insn);
        break;
    case 2:
        classify_quadrant2(isa, raw & 0xffff, insn);
        break;
    case 3:
        classify_word(raw, insn);
        break;
    }
}

/*
 * Extensions that have no jumps and branches but those above, or none at all,
 * separated and followed by spaces
 */
static const char known_extensions[] = " "
    "sdext sdtrig sha shcounterenw shgatpa shtvala shvsatpa shvstvala "
    "shvstvecd smaia smcdeleg smcntrpmf smcsrind smctr smdbltrp smepmp "
    "smmpm smnpm smrnmi smstateen ssaia ssccfg ssccptr sscofpmf "
    "sscounterenw sscsrind ssctr ssdbltrp ssnpm sspm ssqosid ssstateen sstc "
    "sstvala sstvecd ssu64xl supm svade svadu svinval svnapot svpbmt "
    "svrsw60t59b svukte svvptc xtheadba xtheadbb xtheadbs xtheadcmo "
    "xtheadcondmov xtheadfmemidx xtheadfmv xtheadmac xtheadmemidx "
    "xtheadmempair xtheadsync xventanacondops za64rs zaamo zabha zacas "
    "zalasr zalrsc zama16b zawrs zba zbb zbc zbkb zbkc zbkx zbs zca zcb zcd "
    "zce zcf zclsd zcmop zcmp zcmt zdinx zfa zfbfmin zfh zfhmin zfinx zhinx "
    "zhinxmin zibi zic64b zicbom zicbop zicboz ziccamoa ziccif zicclsm "
    "ziccrse zicfilp zicfiss zicntr zicond zicsr zifencei zihintntl "
    "zihintpause zihpm zilsd zimop zk zkn zknd zkne zknh zkr zks zksed zksh "
    "zkt zmmul ztso zvbb zvbc zve32f zve32x zve64d zve64f zve64x zvfbfmin "
    "zvfbfwma zvfh zvfhmin zvkb zvkg zvkn zvknc zvkned zvkng zvknha zvknhb "
    "zvks zvksc zvksed zvksg zvksh zvkt ";

/* Its name, without a version such as 2p1 */
static char *extension_name(const char *part)
{
    size_t len = strlen(part), end = len;

    while (end && g_ascii_isdigit(part[end - 1])) {
        end--;
    }
    if (end > 1 && end < len && part[end - 1] == 'p' &&
        g_ascii_isdigit(part[end - 2])) {
        for (len = end - 1; len && g_ascii_isdigit(part[len - 1]); len--) {
            /* of the version's first number */
        }
    }
    return g_strndup(part, len);
}

/* Is @part of an ISA string known? The first one has single letters only. */
static bool extension_is_known(const char *part, bool first)
{
    g_autofree char *name = extension_name(part);
    g_autofree char *word = g_strdup_printf(" %s ", name);

    if (!first && !name[0]) {
        return false;
    }
    if (first || !name[1]) {
        return strspn(name, "iemafdgqcbpvhsun0123456789") == strlen(name);
    }
    return g_str_has_prefix(name, "zvl") || strstr(known_extensions, word);
}

char *insn_isa_unknown(const char *str)
{
    g_autofree char *lower = g_ascii_strdown(str, -1);
    g_auto(GStrv) parts = g_strsplit(lower, "_", -1);

    for (char **p = parts; *p; p++) {
        bool first = p == parts;

        if (!extension_is_known(first ? *p + MIN(strlen(*p), 4) : *p, first)) {
            return g_strdup(*p);
        }
    }
    return NULL;
}

bool insn_isa_parse(InsnIsa *isa, const char *str)
{
    g_autofree char *lower = g_ascii_strdown(str, -1);
    g_auto(GStrv) parts = g_strsplit(lower, "_", -1);

    if (!g_str_has_prefix(lower, "rv32") &&
        !g_str_has_prefix(lower, "rv64")) {
        return false;
    }
    *isa = (InsnIsa) { .xlen = lower[2] == '3' ? 32 : 64 };
    for (char **p = parts + 1; *p; p++) {
        isa->zcmp |= g_str_equal(*p, "zcmp");
        isa->zcmt |= g_str_equal(*p, "zcmt");
    }
    return true;
}
