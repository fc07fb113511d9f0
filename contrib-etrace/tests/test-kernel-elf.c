/*
 * A kernel's symbols as an ELF file: what others read in it
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <glib/gstdio.h>
#include "check.h"
#include "names/kernel-elf.h"

#define SIZE    0x1000
#define BASE    0xffffffe000200000ull

static char *file;

static Object *kernel(ObjectTable *table)
{
    static const uint8_t bytes[SIZE];
    ObjectCode code = { .bytes = bytes, .size = SIZE };
    Object *o = object_new(table, OBJECT_KERNEL, "[kernel]", NULL);

    g_array_append_val(o->code, code);
    return o;
}

static void test_symbols(void)
{
    g_autoptr(ObjectTable) table = object_table_new();
    g_autoptr(SymbolTable) read = symbols_new();
    g_autoptr(ElfFile) elf = NULL;
    Object *o = kernel(table);
    const Symbol *all;
    GElf_Shdr section;
    unsigned n;

    symbols_add(o->symbols, 0, 0x10, "_start");
    symbols_add(o->symbols, 0x40, 0x20, "panic");
    symbols_add(o->symbols, SIZE - 2, 2, "last");
    symbols_add(o->symbols, SIZE, 2, "behind");
    symbols_sort(o->symbols);
    check_true(kernel_elf_write(o, BASE, file, NULL));

    check_true(symbols_add_elf(read, file, 0, NULL));
    symbols_sort(read);
    all = symbols_all(read, &n);
    check_cmpuint(n, ==, 3);
    check_cmphex(all[0].start, ==, BASE);
    check_cmpstr(all[0].name, ==, "_start");
    check_cmphex(all[1].start, ==, BASE + 0x40);
    check_cmphex(all[1].end, ==, BASE + 0x60);
    check_cmpstr(all[1].name, ==, "panic");
    check_cmphex(all[2].end, ==, BASE + SIZE);
    check_cmpstr(all[2].name, ==, "last");

    /* Debuggers may read code, but not here; and nothing may be written. */
    elf = elf_file_open(file, NULL);
    check_true(elf && elf->xlen == 64);
    check_true(gelf_getshdr(elf_getscn(elf->elf, 1), &section) == &section);
    check_cmpuint(section.sh_type, ==, SHT_NOBITS);
    check_cmphex(section.sh_addr, ==, BASE);
    check_cmphex(section.sh_size, ==, SIZE);
    check_cmphex(section.sh_flags, ==, SHF_ALLOC | SHF_EXECINSTR);
}

static void test_errors(void)
{
    g_autoptr(ObjectTable) table = object_table_new();
    g_autoptr(GError) none = NULL, full = NULL;
    Object *o = kernel(table);

    check_true(!kernel_elf_write(o, BASE, file, &none));
    check_true(strstr(none->message, "CONFIG_KALLSYMS"));
    symbols_add(o->symbols, 0, 0x10, "_start");
    symbols_sort(o->symbols);
    check_true(!kernel_elf_write(o, BASE, "/nowhere/kernel.elf", &full));
    check_true(strstr(full->message, "/nowhere/kernel.elf"));
}

int main(int argc, char **argv)
{
    int fd, status;

    g_test_init(&argc, &argv, NULL);
    fd = g_file_open_tmp("test-kernel-elf-XXXXXX", &file, NULL);
    check_cmpint(fd, >=, 0);
    close(fd);
    g_test_add_func("/kernel-elf/symbols", test_symbols);
    g_test_add_func("/kernel-elf/errors", test_errors);
    status = g_test_run();
    g_unlink(file);
    g_free(file);
    return status;
}
