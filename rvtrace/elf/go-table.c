/*
 * Names of functions in Go's own table, which stripped programs keep
 *
 * Go's src/runtime/symtab.go (pcHeader, functab, _func) has the format: a
 * header; names; and "functab", where each function begins and, relative to
 * the functab, where more is said of it, which includes its name. Numbers have
 * the size of a pointer before Go 1.18, of four bytes since.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "base/little-endian.h"
#include "elf/go-table.h"

#ifndef R_RISCV_RELATIVE
#define R_RISCV_RELATIVE 3
#endif

/* First word of the header */
#define MAGIC_1_16  0xfffffffa
#define MAGIC_1_18  0xfffffff0
#define MAGIC_1_20  0xfffffff1

#define ALIGNMENT   8       /* at least */
#define HEADER_SIZE 8       /* and then numbers of the size of a pointer */

typedef struct GoTable {
    const ElfFile *file;
    const uint8_t *data;
    uint64_t size;
    uint64_t addr;          /* of the section */
    unsigned word;          /* bytes of a pointer */
    unsigned field;         /* bytes of a number of the functab */
    uint64_t text;          /* what the functab's addresses are relative to */
    uint64_t nr;            /* functions */
    uint64_t code_lo, code_hi;
    uint64_t names;         /* offset of the names */
    uint64_t functab;       /* offset of the functab */
    uint64_t budget;        /* bytes of names that may still come */
} GoTable;

static bool inside(const GoTable *t, uint64_t off, uint64_t len)
{
    return off <= t->size && len <= t->size - off;
}

/* Number @i behind the header's first bytes */
static uint64_t header_word(const GoTable *t, unsigned i)
{
    return get_le(t->data + HEADER_SIZE + i * t->word, t->word);
}

/*
 * The address that the header's word @i is. In position-independent programs
 * the loader adds to it; what it adds to is in a relocation then.
 */
static uint64_t header_address(const GoTable *t, unsigned i)
{
    uint64_t at = t->addr + HEADER_SIZE + i * t->word;
    Elf_Scn *scn = elf_file_section(t->file, ".rela.dyn");
    Elf_Data *data = scn ? elf_getdata(scn, NULL) : NULL;
    GElf_Rela rela;

    for (int k = 0; data && gelf_getrela(data, k, &rela); k++) {
        if (rela.r_offset == at &&
            GELF_R_TYPE(rela.r_info) == R_RISCV_RELATIVE) {
            return rela.r_addend;
        }
    }
    return header_word(t, i);
}

/* False if it is none, or of a version that is not known */
static bool is_header(GoTable *t)
{
    uint64_t magic = t->size < HEADER_SIZE ? 0 : get_le(t->data, 4);

    t->word = t->file->xlen / 8;
    return (magic == MAGIC_1_16 || magic == MAGIC_1_18 ||
            magic == MAGIC_1_20) &&
           !t->data[4] && !t->data[5] && t->data[7] == t->word &&
           inside(t, HEADER_SIZE, 8 * t->word);
}

/* False if what it says is not in the table */
static bool read_header(GoTable *t)
{
    unsigned offsets = 2;       /* the word of the first one of the offsets */

    t->field = t->word;
    if (get_le(t->data, 4) != MAGIC_1_16) {
        t->field = 4;
        t->text = header_address(t, 2);
        offsets = 3;
    }
    t->nr = header_word(t, 0);
    t->names = header_word(t, offsets);
    t->functab = header_word(t, offsets + 4);
    return inside(t, t->names, 0) && inside(t, t->functab, 0);
}

/* Number @i of the functab: for each function two of them, then the end */
static uint64_t functab(const GoTable *t, uint64_t i)
{
    return get_le(t->data + t->functab + i * t->field, t->field);
}

/*
 * The name of function @i; NULL if it has none. Names that overlap could take
 * any amount of memory: together they are no longer than the table.
 */
static const char *read_name(GoTable *t, uint64_t i)
{
    uint64_t about = functab(t, 2 * i + 1), off;
    const char *name;
    size_t len;

    if (about > t->size ||
        !inside(t, t->functab + about, t->field + 4)) {
        return NULL;
    }
    /* An offset in the names, behind the function's address */
    off = t->names + get_le(t->data + t->functab + about + t->field, 4);
    if (!inside(t, off, 1)) {
        return NULL;
    }
    name = (const char *)t->data + off;
    len = strnlen(name, t->size - off);
    if (!len || len == t->size - off || len > t->budget) {
        return NULL;
    }
    t->budget -= len;
    return name;
}

/* Where the file has code, from the lowest address to the highest one */
static void find_code(GoTable *t)
{
    Elf_Scn *scn = NULL;
    GElf_Shdr s;

    t->code_lo = UINT64_MAX;
    while ((scn = elf_nextscn(t->file->elf, scn))) {
        if (gelf_getshdr(scn, &s) && (s.sh_flags & SHF_EXECINSTR)) {
            t->code_lo = MIN(t->code_lo, s.sh_addr);
            t->code_hi = MAX(t->code_hi, s.sh_addr + s.sh_size);
        }
    }
}

static unsigned add_functions(SymbolTable *table, GoTable *t)
{
    uint64_t room = (t->size - t->functab) / t->field;
    unsigned count = 0;

    find_code(t);
    if (!room || t->nr > (room - 1) / 2) {
        return 0;
    }
    for (uint64_t i = 0; i < t->nr; i++) {
        uint64_t lo = t->text + functab(t, 2 * i);
        uint64_t hi = t->text + functab(t, 2 * i + 2);
        bool code = t->code_lo <= lo && lo < hi && hi <= t->code_hi;
        const char *name = code ? read_name(t, i) : NULL;

        if (name) {
            symbols_add(table, lo, hi - lo, name);
            count++;
        }
    }
    return count;
}

/* False if there is no such section */
static bool read_section(GoTable *t, const char *name)
{
    Elf_Scn *scn = elf_file_section(t->file, name);
    Elf_Data *data = scn ? elf_rawdata(scn, NULL) : NULL;
    GElf_Shdr shdr;

    if (!data || !data->d_buf || !gelf_getshdr(scn, &shdr)) {
        return false;
    }
    t->data = data->d_buf;
    t->size = t->budget = data->d_size;
    t->addr = shdr.sh_addr;
    return true;
}

/* Where other linkers put it, it is among other data, and begins somewhere. */
static bool find_header(GoTable *t)
{
    GoTable all = *t;

    for (uint64_t off = 0; off + HEADER_SIZE <= all.size; off += ALIGNMENT) {
        t->data = all.data + off;
        t->size = t->budget = all.size - off;
        t->addr = all.addr + off;
        if (is_header(t)) {
            return true;
        }
    }
    return false;
}

unsigned symbols_add_go(SymbolTable *table, const ElfFile *file)
{
    GoTable t = { .file = file };
    bool found = read_section(&t, ".gopclntab") ||
                 read_section(&t, ".data.rel.ro.gopclntab") ?
                 is_header(&t) :
                 read_section(&t, ".data.rel.ro") && find_header(&t);

    return found && read_header(&t) ? add_functions(table, &t) : 0;
}
