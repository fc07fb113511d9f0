/*
 * Names of C++ and Rust
 *
 * Linkage names and what they mean are from the Itanium C++ ABI (5.1) and from
 * Rust's RFC 2603; those of a program are the compiler's own.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "tests/fixtures/check.h"
#include "elf/demangle.h"
#include "tests/fixtures/guest-build.h"
#include "elf/symbols.h"

static void means(const char *name, const char *wanted)
{
    g_autofree char *is = demangle(name);

    check_cmpstr(is, ==, wanted);
}

static void test_cxx(void)
{
    means("_Z3foov", "foo");
    means("_ZN1N1fEv", "N::f");
    means("_ZN6SystemC1Ev", "System::System");
    means("_ZN6SystemD0Ev", "System::~System");
    means("_ZNK6SystemeqERKS_", "System::operator==");
    means("_Z5firstI3DuoEvS0_", "first<Duo>");
    means("_ZThn8_N1B1fEv", "non-virtual thunk to B::f()");
}

/* What compilers made of one function; c++filt says what that means. */
static void test_clones(void)
{
    means("_Z7counteri.actor", "counter [clone .actor]");
    means("_Z7counteri.isra.0.cold",
          "counter [clone .isra.0] [clone .cold]");
    means("_ZN1A1fEv.constprop.3", "A::f [clone .constprop.3]");
    means("_Z5firstI3DuoEvS0_.part.0", "first<Duo> [clone .part.0]");
    means("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE.llvm.77",
          "core::fmt::Formatter::pad");
    means("plain.isra.0", NULL);
}

static void test_rust(void)
{
    means("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE",
          "core::fmt::Formatter::pad");
    means("_RNvC6_123foo3bar", "123foo::bar");
    means("_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar");
    means("_RNCNvCs1234_7mycrate3foos_0", "mycrate::foo::{closure#1}");
    means("_RINvNtC3std3mem8align_ofjE", "std::mem::align_of::<usize>");
}

static void test_other(void)
{
    means("main", NULL);
    means("", NULL);
    means("_start", NULL);
    means("_Z", NULL);
    means("_ZN", NULL);
    means("_R", NULL);
    means("_Zebra", NULL);
    means("_Restore", NULL);
}

/* Each part stands for the one before twice: 2^60 times the first one. */
static void test_large(void)
{
    g_autoptr(GString) name = g_string_new("_Z1fI1xE");
    g_autoptr(GString) deep = g_string_new("_Z");

    g_string_assign(name, "_Z1fSt4pairI1xS0_E");
    for (int i = 1; i < 30; i++) {
        g_string_append_printf(name, "St4pairIS%d_S%d_E", i, i);
    }
    g_free(demangle(name->str));
    for (int i = 0; i < 2000; i++) {
        g_string_append(deep, "N");
    }
    g_free(demangle(deep->str));
    g_string_truncate(deep, 2);
    for (int i = 0; i < 4000; i++) {
        g_string_append(deep, "1aI");
    }
    g_free(demangle(deep->str));
    g_string_assign(name, "_RINvC1a1f");
    for (int i = 0; i < 40; i++) {
        g_string_append(name, "T");
    }
    for (int i = 0; i < 40; i++) {
        g_string_append(name, "Ba_Ba_E");
    }
    g_free(demangle(name->str));
}

static const char program[] =
    "namespace zoo {\n"
    "struct Cat { int feed(int n); template<typename T> T eat(T t); };\n"
    "__attribute__((noinline)) int Cat::feed(int n) { return n + 1; }\n"
    "template<typename T> T Cat::eat(T t) { return t; }\n"
    "template long Cat::eat<long>(long);\n"
    "}\n"
    "extern \"C\" int plain(int n) { return zoo::Cat().feed(n); }\n";

static const Symbol *find(const SymbolTable *table, const char *name)
{
    unsigned n;
    const Symbol *all = symbols_all(table, &n);

    for (unsigned i = 0; i < n; i++) {
        if (g_str_equal(all[i].name, name)) {
            return &all[i];
        }
    }
    return NULL;
}

/* What the compiler makes of a program: both names are there. */
static void test_program(void)
{
    char *dir = guest_dir_new();
    g_autofree char *path = g_build_filename(dir, "zoo.o", NULL);
    g_autoptr(SymbolTable) table = symbols_new();
    const Symbol *feed;

    if (!guest_try(dir, GUEST_TOOLS "g++ --version")) {
        g_test_skip(GUEST_TOOLS "g++ is not installed");
        guest_dir_remove(dir);
        return;
    }
    guest_write(dir, "zoo.cc", program);
    g_free(guest_run(dir, NULL, GUEST_TOOLS "g++ -nostdlib -shared -o zoo.o "
                     "-O1 zoo.cc"));
    check_true(symbols_add_elf(table, path, 0, NULL));
    symbols_sort(table);
    check_null(find(table, "zoo::Cat::feed"));
    symbols_demangle(table);
    feed = find(table, "zoo::Cat::feed");
    check_nonnull(feed);
    check_cmpstr(feed->linkage, ==, "_ZN3zoo3Cat4feedEi");
    check_nonnull(find(table, "zoo::Cat::eat<long>"));
    check_nonnull(find(table, "plain"));
    guest_dir_remove(dir);
}

/* What rustc 1.95 makes of one program, in either way, and what it means */
static const struct {
    const char *linkage, *name;
} rust[] = {
    { "_RNvCsdrzbAzSuyJg_3zoo3all", "zoo::all" },
    { "_RINvNtCsdrzbAzSuyJg_3zoo3zoo4eachNCNvB4_3all0EB4_",
      "zoo::zoo::each::<zoo::all::{closure#0}>" },
    { "_RNvMs_NtCsdrzbAzSuyJg_3zoo3zooINtB4_3CatyE3eatB6_",
      "<zoo::zoo::Cat<u64>>::eat" },
    { "_RNvNtCsdrzbAzSuyJg_3zoo3zoou8nave_6pa", "zoo::zoo::na\xc3\xafve" },
    { "_RNvXNtCsdrzbAzSuyJg_3zoo3zooINtB2_3CatmENtB2_4Feed4feed",
      "<zoo::zoo::Cat<u32> as zoo::zoo::Feed>::feed" },
    { "_ZN3zoo3zoo12Cat$LT$T$GT$3eat17hcdc4bb8449c1417aE",
      "zoo::zoo::Cat<T>::eat" },
    { "_ZN3zoo3zoo4each17h79bb21bfb456c117E.llvm.1234", "zoo::zoo::each" },
    { "_ZN59_$LT$zoo..zoo..Cat$LT$u32$GT$$u20$as$u20$zoo..zoo..Feed$GT$"
      "4feed17h48dc0676ff02f5ceE",
      "<zoo::zoo::Cat<u32> as zoo::zoo::Feed>::feed" },
};

static void test_rust_program(void)
{
    char *dir = guest_dir_new();
    g_autofree char *path = g_build_filename(dir, "zoo.o", NULL);
    g_autoptr(GString) text = g_string_new("    .text\n");
    g_autoptr(SymbolTable) table = symbols_new();
    const Symbol *all;
    unsigned n;

    for (size_t i = 0; i < ARRAY_SIZE(rust); i++) {
        g_string_append_printf(text, "    .globl \"%s\"\n"
                               "    .type \"%s\", @function\n"
                               "\"%s\":\n    ret\n"
                               "    .size \"%s\", . - \"%s\"\n",
                               rust[i].linkage, rust[i].linkage,
                               rust[i].linkage, rust[i].linkage,
                               rust[i].linkage);
    }
    guest_write(dir, "zoo.s", text->str);
    g_free(guest_run(dir, NULL, GUEST_TOOLS "gcc -nostdlib -shared -o zoo.o "
                     "zoo.s"));
    check_true(symbols_add_elf(table, path, 0, NULL));
    symbols_sort(table);
    symbols_demangle(table);
    all = symbols_all(table, &n);
    check_cmpuint(n, ==, ARRAY_SIZE(rust));
    for (unsigned i = 0; i < n; i++) {
        check_cmpstr(all[i].linkage, ==, rust[i].linkage);
        check_cmpstr(all[i].name, ==, rust[i].name);
    }
    guest_dir_remove(dir);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/demangle/c++", test_cxx);
    g_test_add_func("/demangle/clones", test_clones);
    g_test_add_func("/demangle/rust", test_rust);
    g_test_add_func("/demangle/other", test_other);
    g_test_add_func("/demangle/large", test_large);
    g_test_add_func("/demangle/program", test_program);
    g_test_add_func("/demangle/rust-program", test_rust_program);
    return g_test_run();
}
