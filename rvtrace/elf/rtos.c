/*
 * Real-time operating systems as ELF files: where they keep the task that runs
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gio/gio.h>
#include "elf/rtos.h"

/* Types that are made of types are followed no further than this. */
#define MAX_NESTING 16

typedef struct Rtos {
    const char *name;
    const char *variable;       /* with the pointer, or one for each hart */
    /* Members that lead there, with dots; NULL: the variable is the pointer */
    const char *path;
    /* Members of what it points to; the first one that there is counts */
    const char *names[3];
    const char *id;             /* or NULL */
} Rtos;

static const Rtos known[] = {
    { "FreeRTOS", "pxCurrentTCB", NULL, { "pcTaskName" }, "uxTCBNumber" },
    { "FreeRTOS", "pxCurrentTCBs", NULL, { "pcTaskName" }, "uxTCBNumber" },
    { "Zephyr", "_kernel", "cpus.current", { "name" }, NULL },
    { "ThreadX", "_tx_thread_current_ptr", NULL, { "tx_thread_name" }, NULL },
    { "NuttX", "g_running_tasks", NULL, { "name" }, "pid" },
    { "RT-Thread", "rt_current_thread", NULL, { "parent.name", "name" }, NULL },
    { "RT-Thread", "_cpu", "current_thread", { "parent.name", "name" }, NULL },
};

/* The address of the variable called @name; false: there is none */
static bool find_variable(const ElfFile *file, const char *name, uint64_t *at)
{
    Elf_Scn *scn = NULL;

    while ((scn = elf_nextscn(file->elf, scn))) {
        Elf_Data *data;
        GElf_Shdr shdr;
        GElf_Sym sym;

        if (!gelf_getshdr(scn, &shdr) || shdr.sh_type != SHT_SYMTAB) {
            continue;
        }
        data = elf_getdata(scn, NULL);
        for (int i = 0; data && gelf_getsym(data, i, &sym); i++) {
            const char *of = elf_strptr(file->elf, shdr.sh_link, sym.st_name);

            if (GELF_ST_TYPE(sym.st_info) == STT_OBJECT &&
                sym.st_shndx != SHN_UNDEF && !g_strcmp0(of, name)) {
                *at = sym.st_value;
                return true;
            }
        }
    }
    return false;
}

/* The type of @die, without names for it, const and volatile */
static bool type_of(Dwarf_Die *die, Dwarf_Die *type)
{
    Dwarf_Attribute attr;

    for (unsigned i = 0; i < MAX_NESTING; i++) {
        if (!dwarf_formref_die(dwarf_attr_integrate(die, DW_AT_type, &attr),
                               type)) {
            return false;
        }
        switch (dwarf_tag(type)) {
        case DW_TAG_typedef:
        case DW_TAG_const_type:
        case DW_TAG_volatile_type:
            die = type;
            break;
        default:
            return true;
        }
    }
    return false;
}

/*
 * Replace @type, if it is an array, by that of its elements. Sets *@stride to
 * their size if there is more than one.
 */
static bool enter_array(Dwarf_Die *type, uint32_t *stride)
{
    Dwarf_Die element;
    Dwarf_Word all, one;

    if (dwarf_tag(type) != DW_TAG_array_type) {
        return true;
    }
    if (!type_of(type, &element) || dwarf_aggregate_size(type, &all) ||
        dwarf_aggregate_size(&element, &one) || !one ||
        one > ETRACE_GUEST_OFFSET_MAX) {
        return false;
    }
    if (all > one) {
        *stride = one;
    }
    *type = element;
    return true;
}

/* Replace @type, a structure, by that of its member, which is at *@offset. */
static bool enter_member(Dwarf_Die *type, const char *name, size_t len,
                         uint64_t *offset)
{
    Dwarf_Die die;

    if (dwarf_tag(type) != DW_TAG_structure_type || dwarf_child(type, &die)) {
        return false;
    }
    do {
        const char *is = dwarf_diename(&die);
        Dwarf_Attribute attr;
        Dwarf_Word at;

        if (dwarf_tag(&die) == DW_TAG_member && is && strlen(is) == len &&
            !strncmp(is, name, len) &&
            !dwarf_formudata(dwarf_attr(&die, DW_AT_data_member_location,
                                        &attr), &at)) {
            *offset += at;
            return type_of(&die, type);
        }
    } while (dwarf_siblingof(&die, &die) == 0);
    return false;
}

/* Follow members, "a.b"; they may be arrays. */
static bool enter_path(Dwarf_Die *type, const char *path, uint64_t *offset,
                       uint32_t *stride)
{
    while (path && *path) {
        size_t len = strcspn(path, ".");

        if (!enter_array(type, stride) ||
            !enter_member(type, path, len, offset)) {
            return false;
        }
        path += len + (path[len] == '.');
    }
    return true;
}

static bool fits(uint64_t offset)
{
    return offset <= ETRACE_GUEST_OFFSET_MAX;
}

/* Where in @task, a structure, its name is */
static void take_name(const Rtos *rtos, const Dwarf_Die *task,
                      ETraceGuestInfo *info)
{
    for (unsigned i = 0; i < G_N_ELEMENTS(rtos->names) && rtos->names[i]; i++) {
        Dwarf_Die type = *task;
        uint32_t stride;
        uint64_t at = 0;

        if (!enter_path(&type, rtos->names[i], &at, &stride) || !fits(at)) {
            continue;
        }
        if (dwarf_tag(&type) == DW_TAG_array_type) {
            info->name = at;
            return;
        }
        if (dwarf_tag(&type) == DW_TAG_pointer_type) {
            info->name_pointer = at;
            return;
        }
    }
}

static void take_id(const Rtos *rtos, const Dwarf_Die *task,
                    ETraceGuestInfo *info)
{
    Dwarf_Die type = *task;
    uint32_t stride;
    uint64_t at = 0;

    if (rtos->id && enter_path(&type, rtos->id, &at, &stride) && fits(at) &&
        dwarf_tag(&type) == DW_TAG_base_type && dwarf_bytesize(&type) >= 4) {
        info->id = at;
    }
}

/* What the type of the variable says; false: it is not all there */
static bool take_type(const Rtos *rtos, Dwarf_Die *variable,
                      ETraceGuestInfo *info)
{
    uint64_t at = info->current;
    uint32_t stride = 0;
    Dwarf_Die type, task;

    if (!type_of(variable, &type) ||
        !enter_path(&type, rtos->path, &at, &stride) ||
        !enter_array(&type, &stride) ||
        dwarf_tag(&type) != DW_TAG_pointer_type || !type_of(&type, &task) ||
        dwarf_tag(&task) != DW_TAG_structure_type ||
        !dwarf_haschildren(&task)) {
        return false;
    }
    info->current = at;
    info->stride = stride;
    take_name(rtos, &task, info);
    take_id(rtos, &task, info);
    return true;
}

/* The same, of whichever unit has the variable and its type */
static bool take_debug_info(const ElfFile *file, const Rtos *rtos,
                            ETraceGuestInfo *info)
{
    Dwarf *dwarf = dwarf_begin_elf(file->elf, DWARF_C_READ, NULL);
    Dwarf_CU *cu = NULL;
    bool found = false;
    Dwarf_Die unit, die;

    while (dwarf && !found &&
           dwarf_get_units(dwarf, cu, &cu, NULL, NULL, &unit, NULL) == 0) {
        if (dwarf_child(&unit, &die)) {
            continue;
        }
        do {
            found = dwarf_tag(&die) == DW_TAG_variable &&
                    !g_strcmp0(dwarf_diename(&die), rtos->variable) &&
                    take_type(rtos, &die, info);
        } while (!found && dwarf_siblingof(&die, &die) == 0);
    }
    dwarf_end(dwarf);
    return found;
}

const char *rtos_guest_info(const ElfFile *file, ETraceGuestInfo *info,
                            GError **errp)
{
    const Rtos *untyped = NULL;

    for (unsigned i = 0; i < G_N_ELEMENTS(known); i++) {
        const Rtos *rtos = &known[i];
        ETraceGuestInfo got = {
            .system = ETRACE_GUEST_RTOS,
            .name = ETRACE_GUEST_ABSENT,
            .name_pointer = ETRACE_GUEST_ABSENT,
            .id = ETRACE_GUEST_ABSENT,
            .priv = 3,
        };

        if (!find_variable(file, rtos->variable, &got.current)) {
            continue;
        }
        if (take_debug_info(file, rtos, &got) || !rtos->path) {
            *info = got;
            return rtos->name;
        }
        untyped = rtos;
    }
    if (untyped) {
        g_set_error(errp, G_IO_ERROR, G_IO_ERROR_NOT_FOUND,
                    "it has a variable %s, as %s has, whose type is not "
                    "known: build it with -g", untyped->variable,
                    untyped->name);
    }
    return NULL;
}
