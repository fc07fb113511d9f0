/*
 * ELF files as the source of code and of names
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <glib/gstdio.h>
#include <gelf.h>
#include "tests/fixtures/check.h"
#include "etrace/encap.h"
#include "tests/fixtures/guest-build.h"
#include "names/object-elf.h"
#include "elf/symbols.h"
#include "tests/fixtures/test-util.h"
#include "base/option-error.h"
#include "trace/trace-text.h"

#define VADDR   0x10000

/* nop; nop; jalr x0, 0(a5); nop */
static const uint32_t code[] = {
    0x00000013, 0x00000013, 0x00078067, 0x00000013,
};

static const char strings[] = "\0.text\0.symtab\0.strtab\0main\0end\0$x\0data";

/*
 * An ELF file made by hand: header, one program header, code, section headers
 * (none, .text, .symtab, .strtab), symbols, strings
 */
typedef struct TestElf {
    Elf64_Ehdr ehdr;
    Elf64_Phdr phdr;
    uint32_t text[ARRAY_SIZE(code)];
    Elf64_Shdr shdrs[4];
    Elf64_Sym syms[5];
    char strings[sizeof(strings)];
} TestElf;

/* As the file has it: little endian */
static TestElf make_elf(void)
{
    TestElf e = {
        .ehdr = {
            .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB,
                         EV_CURRENT },
            .e_type = GUINT16_TO_LE(ET_EXEC),
            .e_machine = GUINT16_TO_LE(243),
            .e_version = GUINT32_TO_LE(EV_CURRENT),
            .e_phoff = GUINT64_TO_LE(offsetof(TestElf, phdr)),
            .e_shoff = GUINT64_TO_LE(offsetof(TestElf, shdrs)),
            .e_ehsize = GUINT16_TO_LE(sizeof(Elf64_Ehdr)),
            .e_phentsize = GUINT16_TO_LE(sizeof(Elf64_Phdr)),
            .e_phnum = GUINT16_TO_LE(1),
            .e_shentsize = GUINT16_TO_LE(sizeof(Elf64_Shdr)),
            .e_shnum = GUINT16_TO_LE(4),
            .e_shstrndx = GUINT16_TO_LE(3),
        },
        .phdr = {
            .p_type = GUINT32_TO_LE(PT_LOAD),
            .p_flags = GUINT32_TO_LE(PF_R | PF_X),
            .p_offset = GUINT64_TO_LE(offsetof(TestElf, text)),
            .p_vaddr = GUINT64_TO_LE(VADDR),
            .p_filesz = GUINT64_TO_LE(sizeof(code)),
            .p_memsz = GUINT64_TO_LE(sizeof(code)),
        },
        .shdrs = {
            [1] = {
                .sh_name = GUINT32_TO_LE(1),
                .sh_type = GUINT32_TO_LE(SHT_PROGBITS),
                .sh_flags = GUINT64_TO_LE(SHF_ALLOC | SHF_EXECINSTR),
                .sh_addr = GUINT64_TO_LE(VADDR),
                .sh_offset = GUINT64_TO_LE(offsetof(TestElf, text)),
                .sh_size = GUINT64_TO_LE(sizeof(code)),
            },
            [2] = {
                .sh_name = GUINT32_TO_LE(7),
                .sh_type = GUINT32_TO_LE(SHT_SYMTAB),
                .sh_offset = GUINT64_TO_LE(offsetof(TestElf, syms)),
                .sh_size = GUINT64_TO_LE(sizeof(e.syms)),
                .sh_link = GUINT32_TO_LE(3),
                .sh_info = GUINT32_TO_LE(1),
                .sh_entsize = GUINT64_TO_LE(sizeof(Elf64_Sym)),
            },
            [3] = {
                .sh_name = GUINT32_TO_LE(15),
                .sh_type = GUINT32_TO_LE(SHT_STRTAB),
                .sh_offset = GUINT64_TO_LE(offsetof(TestElf, strings)),
                .sh_size = GUINT64_TO_LE(sizeof(strings)),
            },
        },
        .syms = {
            [1] = { .st_name = GUINT32_TO_LE(23), .st_info = STT_FUNC,
                    .st_shndx = GUINT16_TO_LE(1),
                    .st_value = GUINT64_TO_LE(VADDR),
                    .st_size = GUINT64_TO_LE(12) },
            [2] = { .st_name = GUINT32_TO_LE(28), .st_info = STT_NOTYPE,
                    .st_shndx = GUINT16_TO_LE(1),
                    .st_value = GUINT64_TO_LE(VADDR + 12) },
            [3] = { .st_name = GUINT32_TO_LE(32), .st_info = STT_NOTYPE,
                    .st_shndx = GUINT16_TO_LE(1),
                    .st_value = GUINT64_TO_LE(VADDR) },
            [4] = { .st_name = GUINT32_TO_LE(35), .st_info = STT_OBJECT,
                    .st_shndx = GUINT16_TO_LE(1),
                    .st_value = GUINT64_TO_LE(VADDR + 4),
                    .st_size = GUINT64_TO_LE(4) },
        },
    };

    for (unsigned i = 0; i < ARRAY_SIZE(code); i++) {
        e.text[i] = GUINT32_TO_LE(code[i]);
    }
    memcpy(e.strings, strings, sizeof(strings));
    return e;
}

static void put_packet(GByteArray *trace, const ETraceParams *params,
                       const ETracePacket *pkt)
{
    uint8_t payload[ETRACE_PACKET_MAX], buf[ETRACE_ENCAP_MAX];
    size_t len = etrace_packet_pack(params, pkt, payload);

    g_byte_array_append(trace, buf, etrace_encap_wrap(params, payload, len,
                                                      buf));
}

/* start at the first instruction; the jump's target is the last one */
static GByteArray *make_trace(uint64_t bias, uint8_t src_bits,
                              uint16_t src_id, uint8_t privilege_width)
{
    GByteArray *trace = g_byte_array_new();
    ETraceParams params;

    etrace_params_init(&params, 64);
    params.src_bits = src_bits;
    params.src_id = src_id;
    params.privilege_width = privilege_width;
    put_packet(trace, &params, &(ETracePacket) {
        .format = ETRACE_FORMAT_SYNC,
        .subformat = ETRACE_SYNC_START,
        .branch = true,
        .privilege = 3,
        .address = VADDR + bias,
    });
    put_packet(trace, &params, &(ETracePacket) {
        .format = ETRACE_FORMAT_ADDR_ONLY,
        .address = 12,
        .updiscon = true,
    });
    return trace;
}

/* A trace without a sideband, of the program @elfs */
static Trace *open_trace(char **traces, char **elfs, char **params,
                         GError **errp)
{
    ETraceParams parsed;
    ElfCode *elf = trace_load_program(elfs, errp);

    if (!elf) {
        return NULL;
    }
    trace_default_params(&parsed, elf_code_xlen(elf), false);
    if (!trace_parse_params(&parsed, params, errp)) {
        elf_code_free(elf);
        return NULL;
    }
    return trace_open(&(TraceOptions) {
        .traces = traces,
        .elf = elf,
        .params = params ? &parsed : NULL,
    }, errp);
}

static void check(const char *suffix, uint64_t bias, uint8_t src_bits,
                  uint8_t privilege_width, char **params)
{
    g_autoptr(GByteArray) trace = make_trace(bias, src_bits, 5,
                                             privilege_width);
    g_autofree char *trace_name = test_file(trace->data, trace->len);
    TestElf e = make_elf();
    g_autofree char *elf_name = test_file(&e, sizeof(e));
    g_autofree char *elf_arg = g_strconcat(elf_name, suffix, NULL);
    char *traces[] = { trace_name, NULL };
    char *elfs[] = { elf_arg, NULL };
    g_autoptr(GError) err = NULL;
    g_autoptr(Trace) t = open_trace(traces, elfs, params, &err);
    unsigned hart = src_bits ? 5 : 0;
    Recording *rec;

    check_no_error(err);
    check_cmpuint(t->nr_harts, ==, hart + 1);
    check_true(t->harts[hart].present);
    rec = test_record(t, hart);
    check_cmpuint(rec->losses->len, ==, 0);
    check_cmpuint(rec->pcs->len, ==, 4);
    for (guint i = 0; i < 4; i++) {
        check_cmphex(g_array_index(rec->pcs, uint64_t, i), ==,
                     VADDR + bias + 4 * i);
    }
    recording_free(rec);
    g_unlink(trace_name);
    g_unlink(elf_name);
}

static void test_code(void)
{
    check("", 0, 0, 3, NULL);
}

static void test_bias(void)
{
    check("@0x7ff0000000", 0x7ff0000000, 0, 3, NULL);
}

static void test_params(void)
{
    char src_bits[] = "src_bits=8", width[] = "privilege_width=2";
    char *params[] = { src_bits, width, NULL };

    check("", 0, 8, 2, params);
}

/* Parts without sidebands: a hart need not be in all of them. */
static void test_parts(void)
{
    g_autoptr(GByteArray) five = make_trace(0, 8, 5, 3);
    g_autoptr(GByteArray) two = make_trace(0, 8, 2, 3);
    g_autofree char *five_name = test_file(five->data, five->len);
    g_autofree char *two_name = test_file(two->data, two->len);
    TestElf e = make_elf();
    g_autofree char *elf_name = test_file(&e, sizeof(e));
    char *traces[] = { two_name, five_name, two_name, NULL };
    char *elfs[] = { elf_name, NULL };
    char src_bits[] = "src_bits=8";
    char *params[] = { src_bits, NULL };
    g_autoptr(GError) err = NULL;
    g_autoptr(Trace) t = open_trace(traces, elfs, params, &err);

    check_no_error(err);
    check_cmpuint(t->nr_harts, ==, 6);
    for (unsigned hart = 0; hart < 6; hart++) {
        check_cmpint(t->harts[hart].present, ==, hart == 2 || hart == 5);
        if (t->harts[hart].present) {
            Recording *rec = test_record(t, hart);

            check_cmpuint(rec->losses->len, ==, 0);
            check_cmpuint(rec->pcs->len, ==, hart == 2 ? 8 : 4);
            recording_free(rec);
        }
    }
    g_unlink(five_name);
    g_unlink(two_name);
    g_unlink(elf_name);
}

static void expect_error(const void *elf, size_t len, const char *param,
                         const char *what)
{
    g_autoptr(GByteArray) trace = make_trace(0, 0, 0, 3);
    g_autofree char *trace_name = test_file(trace->data, trace->len);
    g_autofree char *elf_name = test_file(elf, len);
    g_autofree char *param_copy = g_strdup(param);
    char *traces[] = { trace_name, NULL };
    char *elfs[] = { elf_name, NULL };
    char *params[] = { param_copy, NULL };
    g_autoptr(GError) err = NULL;

    check_null(open_trace(traces, elfs, params, &err));
    check_nonnull(strstr(err->message, what));
    g_unlink(trace_name);
    g_unlink(elf_name);
}

static void test_bad_files(void)
{
    TestElf e = make_elf();

    expect_error("no ELF", 6, NULL, "not an ELF file");
    expect_error("", 0, NULL, "not an ELF file");

    e.ehdr.e_machine = GUINT16_TO_LE(62);
    expect_error(&e, sizeof(e), NULL, "not for RISC-V");

    e = make_elf();
    e.phdr.p_offset = GUINT64_TO_LE(sizeof(e) - 4);
    expect_error(&e, sizeof(e), NULL, "outside of the file");

    e = make_elf();
    e.phdr.p_filesz = GUINT64_TO_LE(UINT64_MAX);
    expect_error(&e, sizeof(e), NULL, "outside of the file");

    e = make_elf();
    e.phdr.p_vaddr = GUINT64_TO_LE(0x10001);
    expect_error(&e, sizeof(e), NULL, "odd");

    e = make_elf();
    e.phdr.p_flags = GUINT32_TO_LE(PF_R);
    expect_error(&e, sizeof(e), NULL, "no executable segment");
}

static void expect_bad_param(const char *param, OptionError code,
                             const char *what)
{
    g_autofree char *copy = g_strdup(param);
    char *params[] = { copy, NULL };
    g_autoptr(GError) err = NULL;
    ETraceParams parsed;

    trace_default_params(&parsed, 64, false);
    check_false(trace_parse_params(&parsed, params, &err));
    check_true(g_error_matches(err, OPTION_ERROR, code));
    check_nonnull(strstr(err->message, what));
}

static void test_bad_params(void)
{
    TestElf e = make_elf();

    expect_bad_param("nonsense=1", OPTION_PARAM,
                     "nonsense=1: not the name of a parameter");
    expect_bad_param("src_bits", OPTION_PARAM, "src_bits: not NAME=VALUE");
    expect_bad_param("src_bits=", OPTION_PARAM,
                     "must be a number from 0 to 255");
    expect_bad_param("src_bits=x", OPTION_PARAM,
                     "src_bits=x: must be a number from 0 to 255");
    expect_bad_param("src_bits=256", OPTION_PARAM,
                     "must be a number from 0 to 255");
    expect_bad_param("src_id=65536", OPTION_PARAM,
                     "must be a number from 0 to 65535");
    expect_bad_param("wire_format=3", OPTION_PARAM, "there are 2.0");
    expect_bad_param("src_bits=17", OPTION_PARAMS, "src_bits");
    expect_bad_param("iaddress_width=48", OPTION_PARAMS, "iaddress_width");
    expect_error(&e, sizeof(e), "src_bits=x", "must be a number");
}

/* Functions and labels; no mapping symbols, no data */
static void test_symbols(void)
{
    TestElf e = make_elf();
    g_autofree char *name = test_file(&e, sizeof(e));
    SymbolTable *t = symbols_new();
    g_autoptr(GError) err = NULL;

    check_true(symbols_add_elf(t, name, 0x1000, &err));
    check_no_error(err);
    symbols_sort(t);
    check_cmpstr(symbols_find(t, VADDR + 0x1004, NULL, NULL)->name, ==,
                 "main");
    check_cmpstr(symbols_find(t, VADDR + 0x100c, NULL, NULL)->name, ==,
                 "end");
    check_null(symbols_find(t, VADDR, NULL, NULL));
    symbols_free(t);

    t = symbols_new();
    e.ehdr.e_shnum = 0;
    e.ehdr.e_shoff = 0;
    e.ehdr.e_shstrndx = 0;
    check_true(g_file_set_contents(name, (char *)&e, sizeof(e), NULL));
    check_false(symbols_add_elf(t, name, 0, &err));
    check_nonnull(strstr(err->message, "stripped"));
    symbols_free(t);
    g_unlink(name);
}

/* Nothing but .eh_frame says that there are functions here. */
static const char *const unnamed_s =
    "    .option norvc\n"
    "    .text\n"
    "    .globl _start\n"
    "_start:\n"
    "    .cfi_startproc\n"
    "    nop\n"
    "    ret\n"
    "    .cfi_endproc\n"
    "    .cfi_startproc\n"
    "    nop\n"
    "    nop\n"
    "    ret\n"
    "    .cfi_endproc\n";

/* The program that is made of @text, an object of @table with its symbols */
static Object *assemble(ObjectTable *table, const char *text,
                        const char *options)
{
    char *dir = guest_dir_new();
    g_autofree char *file = g_build_filename(dir, "program", NULL);
    g_autoptr(GError) err = NULL;
    Object *o;

    guest_write(dir, "program.S", text);
    g_free(guest_run(dir, NULL, GUEST_TOOLS "gcc -nostdlib -static -no-pie "
                     "%s -Wl,--build-id=none,-Ttext=0x%x program.S "
                     "-o program", options, VADDR));
    o = object_elf_load(table, "/bin/program", file, &err);
    check_no_error(err);
    object_elf_symbols(table, o);
    guest_dir_remove(dir);
    return o;
}

static void test_unnamed(void)
{
    g_autoptr(ObjectTable) table = object_table_new();
    const Object *o = assemble(table, unnamed_s, "-s");
    const Symbol *all;
    unsigned n;

    all = symbols_all(o->symbols, &n);
    check_cmpuint(n, ==, 2);
    check_cmpstr(all[0].name, ==, "program+0x10000");
    check_cmphex(all[0].start, ==, VADDR);
    check_cmphex(all[0].end, ==, VADDR + 8);
    check_cmpstr(all[1].name, ==, "program+0x10008");
    check_cmphex(all[1].start, ==, VADDR + 8);
    check_cmphex(all[1].end, ==, VADDR + 20);
}

/* Symbols of what the assembler makes of @text, "NAME START END " each */
static char *symbols_of(const char *text, const char *options)
{
    g_autoptr(ObjectTable) table = object_table_new();
    g_autoptr(GString) s = g_string_new(NULL);
    /* With data, what linkers call _end is there and not in the code. */
    g_autofree char *source = g_strconcat(text, ".data\n.word 0\n", NULL);
    const Object *o = assemble(table, source, options);
    const Symbol *all;
    unsigned n;

    all = symbols_all(o->symbols, &n);
    for (unsigned i = 0; i < n; i++) {
        g_string_append_printf(s, "%s %" PRIx64 " %" PRIx64 "\n", all[i].name,
                               all[i].start - VADDR, all[i].end - VADDR);
    }
    return g_string_free(g_steal_pointer(&s), false);
}

/* Untyped labels in a function are none; others, and other entries, are. */
static void test_labels(void)
{
    g_autofree char *got = symbols_of(
        "    .option norvc\n"
        "    .globl _start\n"
        "_start:\n"
        "    nop\n"
        "    .type main, @function\n"
        "main:\n"
        "    nop\n"
        "retry:\n"
        "    nop\n"
        "    .type other_entry, @function\n"
        "other_entry:\n"
        "    ret\n"
        "last: nop\n"
        "    .size main, . - main\n"
        "behind:\n"
        "    ret\n", "-g0");

    check_cmpstr(got, ==, "_start 0 4\nmain 4 c\nother_entry c 14\n"
                          "behind 14 1014\n");
}

/* A size is believed, however large, of the last function, too. */
static void test_large(void)
{
    g_autofree char *got = symbols_of(
        "    .option norvc\n"
        "    .globl _start\n"
        "    .type _start, @function\n"
        "_start:\n"
        "    .rept 3000\n"
        "    nop\n"
        "    .endr\n"
        "    ret\n"
        "    .size _start, . - _start\n", "-g0");

    check_cmpstr(got, ==, "_start 0 2ee4\n");
}

/* Direct calls, forwards and backwards, tell where functions begin. */
static void test_guessed(void)
{
    g_autofree char *got = symbols_of(
        "    .option norvc\n"
        "    .globl _start\n"
        "_start:\n"
        "    nop\n"
        "    nop\n"
        "    ret\n"
        "leaf:\n"                  /* 0xc, called backwards */
        "    nop\n"
        "    ret\n"
        "    jal ra, leaf\n"       /* 0x14, by nobody */
        "    jal ra, forwards\n"
        "    auipc ra, 0\n"        /* 0x1c: to 0 */
        "    jalr ra, -0x1c(ra)\n"
        "    ret\n"
        "forwards:\n"              /* 0x28 */
        "    nop\n"
        "    nop\n"
        "    nop\n"
        "    ret\n", "-s");

    check_cmpstr(got, ==, "program+0x10000 0 c\nprogram+0x1000c c 28\n"
                          "program+0x10028 28 1028\n");
}

/* Any damage: an error or not, but no crash */
static void test_damaged(void)
{
    g_autoptr(GRand) r = g_rand_new_with_seed(3);

    for (int i = 0; i < 500; i++) {
        TestElf e = make_elf();
        g_autofree char *name = NULL;
        g_autoptr(GError) err = NULL;
        SymbolTable *t = symbols_new();
        ElfCode *c = elf_code_new();

        for (int j = g_rand_int_range(r, 1, 8); j; j--) {
            ((uint8_t *)&e)[g_rand_int_range(r, 16, sizeof(e))] =
                g_rand_int(r);
        }
        name = test_file(&e, g_rand_int_range(r, 1, sizeof(e) + 1));
        if (elf_code_load(c, name, 0, &err)) {
            check_no_error(err);
        }
        g_clear_error(&err);
        symbols_add_elf(t, name, 0, &err);
        g_unlink(name);
        symbols_free(t);
        elf_code_free(c);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/elf/code", test_code);
    g_test_add_func("/elf/bias", test_bias);
    g_test_add_func("/elf/params", test_params);
    g_test_add_func("/elf/parts", test_parts);
    g_test_add_func("/elf/bad-files", test_bad_files);
    g_test_add_func("/elf/bad-params", test_bad_params);
    g_test_add_func("/elf/symbols", test_symbols);
    g_test_add_func("/elf/unnamed", test_unnamed);
    g_test_add_func("/elf/labels", test_labels);
    g_test_add_func("/elf/large", test_large);
    g_test_add_func("/elf/guessed", test_guessed);
    g_test_add_func("/elf/damaged", test_damaged);
    return g_test_run();
}
