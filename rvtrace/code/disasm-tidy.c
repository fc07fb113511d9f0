/*
 * Text of QEMU's disassembler as the RISC-V assembly manual writes it
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "code/disasm-tidy.h"

/* What QEMU does not know, or takes for something else: cbo.zero */
static const struct {
    uint32_t mask;
    uint32_t match;
    const char *name;
    bool rs1;                   /* (rs1) is its operand */
} fixed[] = {
    { 0xfff07fff, 0x0000200f, "cbo.inval", true },
    { 0xfff07fff, 0x0010200f, "cbo.clean", true },
    { 0xfff07fff, 0x0020200f, "cbo.flush", true },
    { 0xfff07fff, 0x0040200f, "cbo.zero", true },
    { 0xffffffff, 0x0100000f, "pause", false },
    { 0xffffffff, 0x8330000f, "fence.tso", false },
    { 0xffffffff, 0x10400073, "sctrclr", false },
    { 0xffffffff, 0x18000073, "sfence.w.inval", false },
    { 0xffffffff, 0x18100073, "sfence.inval.ir", false },
};

static const char *const registers[32] = {
    "zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0", "a1",
    "a2", "a3", "a4", "a5", "a6", "a7", "s2", "s3", "s4", "s5", "s6", "s7",
    "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6",
};

/* CSRs that QEMU's disassembler shows as a number */
static const struct {
    uint16_t nr;
    const char *name;
} csrs[] = {
    { 0x10a, "senvcfg" }, { 0x10c, "sstateen0" }, { 0x14d, "stimecmp" },
    { 0x14e, "sctrctl" }, { 0x14f, "sctrstatus" }, { 0x150, "siselect" },
    { 0x151, "sireg" }, { 0x152, "sireg2" }, { 0x153, "sireg3" },
    { 0x155, "sireg4" }, { 0x156, "sireg5" }, { 0x157, "sireg6" },
    { 0x15c, "stopei" }, { 0x15f, "sctrdepth" }, { 0x24d, "vstimecmp" },
    { 0x24e, "vsctrctl" }, { 0x250, "vsiselect" }, { 0x251, "vsireg" },
    { 0x252, "vsireg2" }, { 0x253, "vsireg3" }, { 0x30a, "menvcfg" },
    { 0x30c, "mstateen0" }, { 0x31a, "menvcfgh" }, { 0x34e, "mctrctl" },
    { 0x350, "miselect" }, { 0x351, "mireg" }, { 0x352, "mireg2" },
    { 0x353, "mireg3" }, { 0x35c, "mtopei" }, { 0x5a8, "scontext" },
    { 0x60a, "henvcfg" }, { 0x60c, "hstateen0" }, { 0x747, "mseccfg" },
    { 0xda0, "scountovf" }, { 0xdb0, "stopi" }, { 0xfb0, "mtopi" },
};

/*
 * What @name is called if it has @n operands and these among them, which are
 * left out then; NULL stands for any operand, which stays.
 */
static const struct {
    const char *name;
    unsigned n;
    const char *operands[3];
    const char *other;
} pseudo[] = {
    { "csrrs", 3, { NULL, NULL, "zero" }, "csrr" },
    { "csrrw", 3, { "zero", NULL, NULL }, "csrw" },
    { "csrrs", 3, { "zero", NULL, NULL }, "csrs" },
    { "csrrc", 3, { "zero", NULL, NULL }, "csrc" },
    { "csrrwi", 3, { "zero", NULL, NULL }, "csrwi" },
    { "csrrsi", 3, { "zero", NULL, NULL }, "csrsi" },
    { "csrrci", 3, { "zero", NULL, NULL }, "csrci" },
    { "addi", 3, { NULL, "zero", NULL }, "li" },
    { "jalr", 3, { "ra", NULL, "0" }, "jalr" },
    { "jal", 2, { "ra", NULL }, "jal" },
    { "fmv.x.s", 2, { NULL, NULL }, "fmv.x.w" },
    { "fmv.s.x", 2, { NULL, NULL }, "fmv.w.x" },
    { "fence", 2, { "iorw", "iorw" }, "fence" },
    { "sfence.vma", 2, { "zero", "zero" }, "sfence.vma" },
};

static char *fixed_text(uint32_t insn)
{
    for (size_t i = 0; i < ARRAY_SIZE(fixed); i++) {
        if ((insn & fixed[i].mask) == fixed[i].match) {
            return fixed[i].rs1 ?
                g_strdup_printf("%s (%s)", fixed[i].name,
                                registers[insn >> 15 & 31]) :
                g_strdup(fixed[i].name);
        }
    }
    return NULL;
}

static void replace(char **operand, char *by)
{
    g_free(*operand);
    *operand = by;
}

/* Move operands up until there are none that are NULL. */
static void drop(char **operands, guint i)
{
    g_free(operands[i]);
    for (; operands[i]; i++) {
        operands[i] = operands[i + 1];
    }
}

static void name_csr(char **operand)
{
    guint64 nr = g_ascii_strtoull(*operand, NULL, 16);

    for (size_t i = 0; i < ARRAY_SIZE(csrs); i++) {
        if (g_str_has_prefix(*operand, "0x") && csrs[i].nr == nr) {
            replace(operand, g_strdup(csrs[i].name));
            return;
        }
    }
}

static bool is_pseudo(size_t which, const char *name, char **operands, guint n)
{
    if (strcmp(name, pseudo[which].name) || n != pseudo[which].n) {
        return false;
    }
    for (guint i = 0; i < n; i++) {
        const char *want = pseudo[which].operands[i];

        if (want && strcmp(operands[i], want)) {
            return false;
        }
    }
    return true;
}

static void find_pseudo(char **name, char **operands, guint n)
{
    for (size_t i = 0; i < ARRAY_SIZE(pseudo); i++) {
        if (is_pseudo(i, *name, operands, n)) {
            for (guint j = n; j-- > 0;) {
                if (pseudo[i].operands[j]) {
                    drop(operands, j);
                }
            }
            replace(name, g_strdup(pseudo[i].other));
            return;
        }
    }
}

/* Every branch the other way round is no help. */
static void turn_branch(char **name, char **operands, guint n)
{
    static const char *const turned[][2] = {
        { "bgt", "blt" }, { "ble", "bge" },
        { "bgtu", "bltu" }, { "bleu", "bgeu" },
    };

    for (size_t i = 0; n == 3 && i < ARRAY_SIZE(turned); i++) {
        if (!strcmp(*name, turned[i][0])) {
            char *first = operands[0];

            operands[0] = operands[1];
            operands[1] = first;
            replace(name, g_strdup(turned[i][1]));
            return;
        }
    }
}

/* The rounding mode comes first in QEMU, and last or not at all elsewhere. */
static void move_rounding(char **operands, guint n)
{
    static const char *const modes[] = { "rne", "rtz", "rdn", "rup", "rmm" };

    if (n && !strcmp(operands[0], "dyn")) {
        drop(operands, 0);
        return;
    }
    for (size_t i = 0; n && i < ARRAY_SIZE(modes); i++) {
        if (!strcmp(operands[0], modes[i])) {
            char *mode = operands[0];

            memmove(operands, operands + 1, (n - 1) * sizeof(*operands));
            operands[n - 1] = mode;
            return;
        }
    }
}

static char *acquire_release(const char *name)
{
    const char *dot = strstr(name, ".aq.rl");

    return dot ? g_strdup_printf("%.*s.aqrl", (int)(dot - name), name)
               : g_strdup(name);
}

/* @target: what the displacement leads to, or NULL */
static char *join(const char *first, char **operands, const char *target)
{
    g_autofree char *name = acquire_release(first);
    g_autofree char *all = NULL;
    guint n = g_strv_length(operands);

    if (n && (!strcmp(name, "lui") || !strcmp(name, "auipc"))) {
        gint64 upper = g_ascii_strtoll(operands[n - 1], NULL, 10);

        replace(&operands[n - 1],
                g_strdup_printf("0x%x", (unsigned)upper & 0xfffff));
    } else if (n && target) {
        replace(&operands[n - 1], g_strdup(target));
    }
    if (n > 1 && g_str_has_prefix(name, "csrr")) {
        name_csr(&operands[1]);
    }
    move_rounding(operands, n);
    if (n == 2 && !strcmp(name, "mv") && !strcmp(operands[1], "zero")) {
        replace(&name, g_strdup("li"));
        replace(&operands[1], g_strdup("0"));
    }
    turn_branch(&name, operands, n);
    find_pseudo(&name, operands, g_strv_length(operands));
    all = g_strjoinv(",", operands);
    return all[0] ? g_strconcat(name, " ", all, NULL) : g_strdup(name);
}

char *disasm_tidy(const char *raw, uint32_t insn, unsigned xlen)
{
    const char *comment = strstr(raw, "# 0x");
    g_autofree char *text = g_strndup(raw, comment ? (size_t)(comment - raw)
                                                   : strlen(raw));
    g_autofree char *target = NULL;
    g_auto(GStrv) operands = NULL;
    char *known = fixed_text(insn);
    char *space;

    if (known) {
        return known;
    }
    if (comment) {
        uint64_t addr = g_ascii_strtoull(comment + 4, NULL, 16);

        target = g_strdup_printf("0x%" PRIx64,
                                 xlen == 32 ? (uint32_t)addr : addr);
    }
    g_strstrip(text);
    if (!text[0] || strstr(text, "illegal")) {
        return NULL;
    }
    space = text + strcspn(text, " ");
    if (*space) {
        *space++ = 0;
    }
    operands = g_strsplit(g_strchug(space), ",", -1);
    return join(text, operands, target);
}
