/*
 * The kernel as it is booted: a flat Image of Linux for RISC-V
 *
 * Documentation/arch/riscv/boot-image-header.rst of Linux has the header.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <gio/gio.h>
#include "base/input.h"
#include "names/kallsyms-table.h"
#include "names/kernel-image.h"
#include "names/kernel-note.h"
#include "names/object-elf.h"
#include "base/packed.h"

#define HEADER_SIZE     64
#define HEADER_MAGIC2   56
#define VDSO_ALIGN      4096
#define MAX_VDSOS       8

bool kernel_image_is(const uint8_t *data, size_t size)
{
    return size >= HEADER_SIZE && !memcmp(data + HEADER_MAGIC2, "RSC\x05", 4);
}

static void add_vdsos(ObjectTable *table, const Object *kernel)
{
    size_t size;
    const uint8_t *data = input_data(kernel->bytes, &size);
    unsigned found = 0;

    for (size_t off = 0; off < size && found < MAX_VDSOS;
         off += VDSO_ALIGN) {
        size_t len = kernel_note_elf_size(data + off, size - off);

        if (len && object_elf_parse(table, found ? "[vdso32]" : "[vdso]",
                                    NULL, kernel->bytes, data + off, len,
                                    OBJECT_VDSO, NULL)) {
            found++;
        }
    }
}

Object *kernel_image_load(ObjectTable *table, const char *file, GError **errp)
{
    g_autoptr(GBytes) bytes = packed_open(file, errp);
    ObjectCode code = { 0 };
    Object *o;

    if (!bytes) {
        return NULL;
    }
    code.bytes = input_data(bytes, &code.size);
    if (!kernel_image_is(code.bytes, code.size)) {
        g_set_error(errp, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                    "%s: not a flat Image of Linux for RISC-V", file);
        return NULL;
    }
    o = object_new(table, OBJECT_KERNEL, "[kernel]", file);
    o->movable = true;
    o->bytes = g_steal_pointer(&bytes);
    o->build_id = kernel_note_build_id(code.bytes, code.size);
    g_array_append_val(o->code, code);
    add_vdsos(table, o);
    return o;
}

void kernel_image_symbols(Object *kernel)
{
    size_t size;
    const uint8_t *data = input_data(kernel->bytes, &size);

    kallsyms_table_read(data, size, kernel->symbols);
    symbols_sort(kernel->symbols);
}
