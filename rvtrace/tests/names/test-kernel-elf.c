/*
 * A kernel's symbols as an ELF file: what others read in it
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <glib/gstdio.h>
#include "tests/fixtures/check.h"
#include "elf/build-id.h"
#include "names/kernel-elf.h"
#include "names/kernel-image.h"

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
    check_true(kernel_elf_write(o, BASE, file, false, NULL));

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

/* A note of an Image, or of the vdso in it */
static void put_note(GByteArray *image, size_t at, uint8_t first_byte)
{
    static const uint8_t note[] = {
        4, 0, 0, 0, 20, 0, 0, 0, NT_GNU_BUILD_ID, 0, 0, 0, 'G', 'N', 'U', 0,
    };

    check_cmpuint(at + sizeof(note) + 20, <=, image->len);
    memcpy(image->data + at, note, sizeof(note));
    memset(image->data + at + sizeof(note), 0xcd, 20);
    image->data[at + sizeof(note)] = first_byte;
}

/* An ELF file of @size bytes, which end with its section headers */
static void put_elf(GByteArray *image, size_t at, size_t size, int class)
{
    uint8_t *p = image->data + at;

    check_cmpuint(at + size, <=, image->len);
    if (class == ELFCLASS64) {
        Elf64_Ehdr h = {
            .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
                         ELFDATA2LSB, EV_CURRENT },
            .e_type = GUINT16_TO_LE(ET_DYN),
            .e_machine = GUINT16_TO_LE(EM_RISCV),
            .e_version = GUINT32_TO_LE(EV_CURRENT),
            .e_ehsize = GUINT16_TO_LE(sizeof(h)),
            .e_shentsize = GUINT16_TO_LE(sizeof(Elf64_Shdr)),
            .e_shnum = GUINT16_TO_LE(1),
            .e_shoff = GUINT64_TO_LE(size - sizeof(Elf64_Shdr)),
        };

        memcpy(p, &h, sizeof(h));
    } else {
        Elf32_Ehdr h = {
            .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS32,
                         ELFDATA2LSB, EV_CURRENT },
            .e_type = GUINT16_TO_LE(ET_DYN),
            .e_machine = GUINT16_TO_LE(EM_RISCV),
            .e_version = GUINT32_TO_LE(EV_CURRENT),
            .e_ehsize = GUINT16_TO_LE(sizeof(h)),
            .e_shentsize = GUINT16_TO_LE(sizeof(Elf32_Shdr)),
            .e_shnum = GUINT16_TO_LE(1),
            .e_shoff = GUINT32_TO_LE(size - sizeof(Elf32_Shdr)),
        };

        memcpy(p, &h, sizeof(h));
    }
}

/* An Image of 16 KiB, of zeros */
static GByteArray *new_image(void)
{
    GByteArray *image = g_byte_array_new();

    g_byte_array_set_size(image, 0x4000);
    memset(image->data, 0, image->len);
    memcpy(image->data + 56, "RSC\x05", 4);
    return image;
}

/* The build-id that is found in @image, which is freed */
static char *build_id_in(GByteArray *image)
{
    g_autoptr(ObjectTable) table = object_table_new();
    g_autoptr(GError) err = NULL;
    Object *o;

    check_true(g_file_set_contents(file, (const char *)image->data,
                                   image->len, NULL));
    g_byte_array_unref(image);
    o = kernel_image_load(table, file, &err);
    check_no_error(err);
    return g_strdup(o->build_id);
}

/* The kernel's own, and not that of a vdso of either width */
static void test_build_id(void)
{
    GByteArray *image = new_image();
    g_autofree char *id = NULL, *far = NULL, *twice = NULL, *end = NULL;

    put_elf(image, 0x1000, 0x800, ELFCLASS64);
    put_note(image, 0x1400, 0x01);
    put_elf(image, 0x2000, 0x800, ELFCLASS32);
    put_note(image, 0x2400, 0x02);
    put_note(image, 0x2800, 0x03);
    id = build_id_in(image);
    check_cmpstr(id, ==, "03cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd");

    /* In front of them, and up to the last byte */
    image = new_image();
    put_elf(image, 0x1000, 0x800, ELFCLASS64);
    put_note(image, 0x1400, 0x01);
    put_note(image, 0x100, 0x04);
    far = build_id_in(image);
    check_cmpstr(far, ==, "04cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd");
    image = new_image();
    put_note(image, 0x4000 - 36, 0x05);
    end = build_id_in(image);
    check_cmpstr(end, ==, "05cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd");

    /* There may be a copy. */
    image = new_image();
    put_note(image, 0x100, 0x06);
    put_note(image, 0x200, 0x06);
    twice = build_id_in(image);
    check_cmpstr(twice, ==, "06cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd");
}

/* Rather none than a wrong one */
static void test_no_build_id(void)
{
    GByteArray *image = new_image();
    g_autofree char *two = NULL, *odd = NULL, *cut = NULL, *none = NULL;

    put_note(image, 0x100, 0x01);
    put_note(image, 0x200, 0x02);
    two = build_id_in(image);
    check_null(two);
    image = new_image();
    put_note(image, 0x102, 0x01);
    odd = build_id_in(image);
    check_null(odd);
    image = new_image();
    put_note(image, 0x4000 - 36, 0x01);
    g_byte_array_set_size(image, 0x4000 - 1);
    cut = build_id_in(image);
    check_null(cut);
    image = new_image();
    put_elf(image, 0x1000, 0x800, ELFCLASS64);
    put_note(image, 0x1400, 0x01);
    none = build_id_in(image);
    check_null(none);
}

/* The file of a kernel that has one has it where others look. */
static void test_build_id_written(void)
{
    g_autoptr(ObjectTable) table = object_table_new();
    g_autoptr(ElfFile) elf = NULL;
    g_autofree char *id = NULL;
    Object *o = kernel(table);

    symbols_add(o->symbols, 0, 0x10, "_start");
    symbols_sort(o->symbols);
    o->build_id = g_strdup("0123456789abcdef0123456789abcdef01234567");
    /* What this process has read is not replaced. */
    g_unlink(file);
    check_true(kernel_elf_write(o, BASE, file, false, NULL));
    elf = elf_file_open(file, NULL);
    check_nonnull(elf);
    id = build_id_of(elf);
    check_cmpstr(id, ==, o->build_id);
}

/* For disassemblers that do not see the guest */
static void test_code(void)
{
    g_autoptr(ObjectTable) table = object_table_new();
    g_autoptr(ElfFile) elf = NULL;
    Object *o = kernel(table);
    const ObjectCode *code = &g_array_index(o->code, ObjectCode, 0);
    Elf_Data *data;
    GElf_Shdr section;

    symbols_add(o->symbols, 0, 0x10, "_start");
    symbols_sort(o->symbols);
    g_unlink(file);
    check_true(kernel_elf_write(o, BASE, file, true, NULL));
    elf = elf_file_open(file, NULL);
    check_nonnull(elf);
    check_true(gelf_getshdr(elf_getscn(elf->elf, 1), &section) == &section);
    check_cmpuint(section.sh_type, ==, SHT_PROGBITS);
    check_cmphex(section.sh_addr, ==, BASE);
    data = elf_rawdata(elf_getscn(elf->elf, 1), NULL);
    check_cmpuint(data->d_size, ==, code->size);
    check_true(!memcmp(data->d_buf, code->bytes, code->size));
}

static void test_errors(void)
{
    g_autoptr(ObjectTable) table = object_table_new();
    g_autoptr(GError) none = NULL, full = NULL;
    Object *o = kernel(table);

    check_true(!kernel_elf_write(o, BASE, file, false, &none));
    check_true(strstr(none->message, "CONFIG_KALLSYMS"));
    symbols_add(o->symbols, 0, 0x10, "_start");
    symbols_sort(o->symbols);
    check_true(!kernel_elf_write(o, BASE, "/nowhere/kernel.elf", false,
                                 &full));
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
    g_test_add_func("/kernel-elf/build-id", test_build_id);
    g_test_add_func("/kernel-elf/no-build-id", test_no_build_id);
    g_test_add_func("/kernel-elf/build-id-written", test_build_id_written);
    g_test_add_func("/kernel-elf/code", test_code);
    g_test_add_func("/kernel-elf/errors", test_errors);
    status = g_test_run();
    g_unlink(file);
    g_free(file);
    return status;
}
