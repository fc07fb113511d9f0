/*
 * Text of instructions: against binutils
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "tests/fixtures/check.h"
#include "code/disasm.h"
#include "tests/fixtures/guest-build.h"

/*
 * What a program for RISC-V is made of, each in a way that reading it back
 * gives the same text.
 */
static const char *const common =
    "addi sp,sp,-16\n" "ret\n" "nop\n" "li a0,5\n" "li a0,-2048\n" "li a0,0\n"
    "mv a0,a1\n" "not a0,a1\n" "neg a0,a1\n" "seqz a0,a1\n" "snez a0,a1\n"
    "csrr a0,sstatus\n" "csrw sepc,a1\n" "csrs sie,a2\n" "csrc sip,a3\n"
    "csrsi sstatus,2\n" "csrci sstatus,2\n" "csrwi sstatus,2\n"
    "csrrw a0,sscratch,a1\n" "csrrs a0,satp,a1\n" "csrrc a0,scause,a1\n"
    "csrrwi a0,stval,3\n" "csrr a0,stimecmp\n" "csrw mscratch,t0\n"
    "rdcycle a0\n" "rdtime a0\n" "rdinstret a0\n"
    "sh1add a0,a1,a2\n" "sh2add a0,a1,a2\n" "sh3add a0,a1,a2\n"
    "clz a0,a1\n" "ctz a0,a1\n" "cpop a0,a1\n" "rev8 a0,a1\n"
    "orc.b a0,a1\n" "andn a0,a1,a2\n" "orn a0,a1,a2\n" "xnor a0,a1,a2\n"
    "max a0,a1,a2\n" "minu a0,a1,a2\n" "rol a0,a1,a2\n" "sext.b a0,a1\n"
    "sext.h a0,a1\n"
    "bset a0,a1,a2\n" "bclr a0,a1,a2\n" "binv a0,a1,a2\n" "bext a0,a1,a2\n"
    "cbo.zero (a0)\n" "cbo.clean (a1)\n" "cbo.flush (t6)\n" "cbo.inval (s0)\n"
    "amoadd.w.aqrl a0,a1,(a2)\n" "amoswap.w a0,a1,(a2)\n"
    "amomax.w.rl a0,a1,(a2)\n" "lr.w.aq a0,(a1)\n" "sc.w.rl a0,a1,(a2)\n"
    "fence\n" "fence rw,w\n" "fence.i\n" "fence.tso\n" "pause\n"
    "sfence.vma\n" "sfence.vma a0,a1\n" "sret\n" "mret\n" "wfi\n" "ecall\n"
    "ebreak\n"
    "fadd.d fa0,fa1,fa2\n" "fmul.s fa0,fa1,fa2\n" "fld fa0,8(sp)\n"
    "fsw fa0,-4(a0)\n" "fcvt.w.d a0,fa0,rtz\n" "fmadd.d fa0,fa1,fa2,fa3\n"
    "feq.d a0,fa0,fa1\n" "fsqrt.s fa0,fa1\n" "fmv.x.w a0,fa0\n"
    "lui a0,0x12345\n" "lui a0,0xfffff\n" "auipc a0,0xfffff\n"
    "lw ra,8(sp)\n" "lb a0,-1(a1)\n" "lbu a0,0(a1)\n" "sh s0,16(a0)\n"
    "sw a2,4(a3)\n" "and a0,a1,a2\n" "sub a0,a1,a2\n" "sltu a0,a1,a2\n"
    "mul a0,a1,a2\n" "divu a0,a1,a2\n" "remu a0,a1,a2\n" "mulhu a0,a1,a2\n"
    "jr a0\n" "jalr a0\n" "jalr ra,a0,8\n" "jr t0\n";

static const char *const only64 =
    "ld ra,8(sp)\n" "sd s0,16(a0)\n" "lwu a0,4(a1)\n" "addiw a0,a1,3\n"
    "sext.w a0,a1\n" "addw a0,a1,a2\n" "subw a0,a1,a2\n" "negw a0,a1\n"
    "add.uw a0,a1,a2\n" "sh2add.uw a0,a1,a2\n" "zext.h a0,a1\n"
    "clzw a0,a1\n" "rolw a0,a1,a2\n" "amoadd.d.aq a0,a1,(a2)\n"
    "lr.d a0,(a1)\n" "sc.d a0,a1,(a2)\n" "fcvt.d.l fa0,a0\n"
    "fmv.x.d a0,fa0\n" "mulw a0,a1,a2\n" "divw a0,a1,a2\n";

/* CSRs that older assemblers do not know by name */
static const struct {
    unsigned nr;
    const char *name;
} csrs[] = {
    { 0x14e, "sctrctl" }, { 0x14f, "sctrstatus" }, { 0x15f, "sctrdepth" },
    { 0x24e, "vsctrctl" }, { 0x34e, "mctrctl" }, { 0x150, "siselect" },
    { 0x151, "sireg" }, { 0x157, "sireg6" }, { 0x10a, "senvcfg" },
    { 0x30a, "menvcfg" }, { 0x10c, "sstateen0" }, { 0x5a8, "scontext" },
    { 0xda0, "scountovf" },
};

typedef struct Code {
    uint8_t *bytes;
    gsize size;
} Code;

static void code_clear(Code *c)
{
    g_free(c->bytes);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Code, code_clear)

static bool have_disassembler(void)
{
    if (!disasm_available()) {
        g_test_skip("built without QEMU's tree, which has the disassembler");
    }
    return disasm_available();
}

/* Assemble, and link to 0x10000. */
static Code assemble(const char *dir, const char *text, unsigned xlen)
{
    g_autofree char *source = g_strconcat(".globl _start\n_start:\n", text,
                                          NULL);
    g_autofree char *path = g_build_filename(dir, "t.bin", NULL);
    g_autofree char *out = NULL, *copied = NULL;
    g_autoptr(GError) err = NULL;
    Code c;

    guest_write(dir, "t.s", source);
    out = guest_run(dir, NULL, GUEST_TOOLS "gcc -march=rv%ugc_zba_zbb_zbs_"
                    "zicbom_zicboz_zihintpause -mabi=%s -nostdlib -static "
                    "-Wl,-Ttext=0x10000,--build-id=none,--no-relax t.s -o t",
                    xlen, xlen == 64 ? "lp64d" : "ilp32d");
    copied = guest_run(dir, NULL, GUEST_TOOLS "objcopy -O binary "
                       "-j .text t t.bin");
    g_file_get_contents(path, (char **)&c.bytes, &c.size, &err);
    check_no_error(err);
    return c;
}

static void check_texts(const char *texts, unsigned xlen)
{
    char *dir = guest_dir_new();
    g_auto(Code) c = assemble(dir, texts, xlen);
    g_auto(GStrv) want = g_strsplit(texts, "\n", -1);
    g_autoptr(Disasm) d = disasm_new(&(InsnIsa) { .xlen = xlen });
    size_t at = 0;

    for (guint i = 0; want[i][0]; i++) {
        g_autofree char *text = NULL;

        check_cmpuint(at, <, c.size);
        text = disasm_text(d, 0x10000 + at, c.bytes + at, c.size - at);
        check_cmpstr(text, ==, want[i]);
        at += insn_length(c.bytes[at]);
    }
    check_cmpuint(at, ==, c.size);
    guest_dir_remove(dir);
}

static void test_rv64(void)
{
    if (have_disassembler()) {
        check_texts(common, 64);
        check_texts(only64, 64);
    }
}

static void test_rv32(void)
{
    if (have_disassembler()) {
        check_texts(common, 32);
        check_texts("zext.h a0,a1\n", 32);
    }
}

/* Targets are absolute, of jumps both ways, compressed or not. */
static void test_targets(void)
{
    static const char *const source =
        "beq a0,a1,f\n" "bnez a0,f\n" "c.bnez a0,f\n" "jal f\n" "j f\n"
        "c.j f\n" "jal t0,f\n" "f:\n" "bgeu a0,a1,_start\n" "c.beqz s0,_start\n"
        "bltz a0,_start\n" "j _start\n" "c.j _start\n" "jal _start\n";
    static const char *const want[] = {
        "beq a0,a1,0x10018", "bnez a0,0x10018", "bnez a0,0x10018",
        "jal 0x10018", "j 0x10018", "j 0x10018", "jal t0,0x10018",
        "bgeu a0,a1,0x10000", "beqz s0,0x10000", "bltz a0,0x10000",
        "j 0x10000", "j 0x10000", "jal 0x10000",
    };

    if (!have_disassembler()) {
        return;
    }
    for (unsigned xlen = 32; xlen <= 64; xlen += 32) {
        char *dir = guest_dir_new();
        g_autofree char *text = NULL;
        g_auto(GStrv) lines = g_strsplit(source, "\n", -1);
        GString *all = g_string_new(NULL);
        g_autoptr(Disasm) d = disasm_new(&(InsnIsa) { .xlen = xlen });
        size_t at = 0;

        /* What is written without c. has to have 4 bytes. */
        for (char **line = lines; **line; line++) {
            g_string_append_printf(all, ".option %srvc\n%s\n",
                                   g_str_has_prefix(*line, "c.") ? "" : "no",
                                   *line);
        }
        text = g_string_free(all, FALSE);
        {
            g_auto(Code) c = assemble(dir, text, xlen);

            for (size_t i = 0; i < ARRAY_SIZE(want); i++) {
                g_autofree char *got = disasm_text(d, 0x10000 + at,
                                                   c.bytes + at, c.size - at);

                check_cmpstr(got, ==, want[i]);
                at += insn_length(c.bytes[at]);
            }
            check_cmpuint(at, ==, c.size);
        }
        guest_dir_remove(dir);
    }
}

static void test_csrs(void)
{
    g_autoptr(Disasm) d = disasm_new(&(InsnIsa) { .xlen = 64 });

    if (!have_disassembler()) {
        return;
    }
    for (size_t i = 0; i < ARRAY_SIZE(csrs); i++) {
        uint32_t insn = csrs[i].nr << 20 | 10 << 15 | 1 << 12 | 0x73;
        uint8_t bytes[4] = { insn, insn >> 8, insn >> 16, insn >> 24 };
        g_autofree char *want = g_strdup_printf("csrw %s,a0", csrs[i].name);
        g_autofree char *text = disasm_text(d, 0, bytes, 4);

        check_cmpstr(text, ==, want);
    }
}

/* With or without a disassembler */
static void test_unknown(void)
{
    static const struct {
        uint8_t bytes[4];
        size_t len;
        const char *text;
    } cases[] = {
        { { 0x0b, 0xee, 0xff, 0xc0 }, 4, ".insn 4, 0xc0ffee0b" },
        { { 0x00, 0x00 }, 2, ".2byte 0x0000" },
        { { 0x00, 0x00, 0x01, 0x02 }, 4, ".2byte 0x0000" },
        { { 0xff, 0xff, 0xff, 0xff }, 4, ".insn 4, 0xffffffff" },
        { { 0x1f, 0x00, 0x00, 0x80 }, 4, ".insn 4, 0x8000001f" },
        { { 0x13, 0x05, 0x05 }, 3, ".byte 0x13, 0x05, 0x05" },
        { { 0x13 }, 1, ".byte 0x13" },
        { { 0 }, 0, "" },
    };
    g_autoptr(Disasm) d = disasm_new(&(InsnIsa) { .xlen = 64 });

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        g_autofree uint8_t *exact = g_memdup2(cases[i].bytes,
                                              MAX(cases[i].len, 1));
        g_autofree char *text = disasm_text(d, 0x1000, exact, cases[i].len);

        check_cmpstr(text, ==, cases[i].text);
    }
}

/* Any bytes: text on one line, as the same every time */
static void test_random(void)
{
    g_autoptr(GRand) r = g_rand_new_with_seed(1);

    for (unsigned xlen = 32; xlen <= 64; xlen += 32) {
        for (int zc = 0; zc < 3; zc++) {
            g_autoptr(Disasm) d = disasm_new(&(InsnIsa) {
                .xlen = xlen, .zcmp = zc == 1, .zcmt = zc == 2,
            });

            for (int i = 0; i < 50000; i++) {
                uint32_t insn = g_rand_int(r);
                uint8_t bytes[4] = { insn, insn >> 8, insn >> 16, insn >> 24 };
                g_autofree char *text = disasm_text(d, insn, bytes, 4);

                check_true(text[0] && !strpbrk(text, "#\n"));
                check_null(strstr(text, "illegal"));
            }
        }
    }
}

/* Mnemonics of a real program, where both have one, are those of objdump. */
static void test_program(void)
{
    char *dir;
    g_auto(GStrv) lines = NULL;
    g_autofree char *built = NULL, *text = NULL;
    g_autoptr(Disasm) d = disasm_new(&(InsnIsa) { .xlen = 64 });
    unsigned compared = 0;

    if (!have_disassembler()) {
        return;
    }
    dir = guest_dir_new();
    guest_write(dir, "p.c",
                "double g; long a[64];\n"
                "long f(long n, double x, unsigned *u)\n"
                "{ long s = 0; for (long i = 0; i < n; i++) {\n"
                "  a[i & 63] = s * i / (n | 1) - (s % 7); s += a[n & 63] ^ *u;"
                "\n  g += x * s / 3; *u = (*u << 3) + (int)g;\n"
                "  __atomic_add_fetch(u, 3, __ATOMIC_SEQ_CST);\n"
                "  switch (s & 7) { case 0: s++; break; case 1: s *= 5; break;"
                "\n  case 2: g = -g; break; case 5: s = ~s; } }\n"
                "  return s < 0 ? -s : s; }\n"
                "void _start(void) { unsigned u = 3; f(9, g, &u); }\n");
    built = guest_run(dir, NULL, GUEST_TOOLS "gcc -O2 -nostdlib -static "
                      "-o p p.c");
    text = guest_run(dir, NULL, GUEST_TOOLS "objdump -d p");
    lines = g_strsplit(text, "\n", -1);
    for (char **line = lines; *line; line++) {
        g_auto(GStrv) columns = g_strsplit(*line, "\t", 4);
        g_autofree char *got = NULL;
        uint8_t bytes[4];
        const char *name;
        uint32_t insn;

        if (g_strv_length(columns) < 3 || !g_str_has_suffix(columns[0], ":")) {
            continue;
        }
        insn = g_ascii_strtoull(columns[1], NULL, 16);
        for (int i = 0; i < 4; i++) {
            bytes[i] = insn >> 8 * i;
        }
        got = disasm_text(d, g_ascii_strtoull(columns[0], NULL, 16), bytes, 4);
        got[strcspn(got, " ")] = 0;
        name = columns[2];
        /* binutils leaves the i of immediate forms out, before 2.41 */
        if (strcmp(got, name)) {
            g_autofree char *longer = g_str_has_suffix(name, "w") ?
                g_strdup_printf("%.*siw", (int)strlen(name) - 1, name) :
                g_strconcat(name, "i", NULL);

            check_cmpstr(got, ==, longer);
        }
        compared++;
    }
    check_cmpuint(compared, >, 60);
    guest_dir_remove(dir);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/disasm/rv64", test_rv64);
    g_test_add_func("/disasm/rv32", test_rv32);
    g_test_add_func("/disasm/targets", test_targets);
    g_test_add_func("/disasm/csrs", test_csrs);
    g_test_add_func("/disasm/unknown", test_unknown);
    g_test_add_func("/disasm/random", test_random);
    g_test_add_func("/disasm/program", test_program);
    return g_test_run();
}
