/*
 * Names for addresses: from ELF files and kallsyms
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <gio/gio.h>
#include "elf/demangle.h"
#include "base/input.h"
#include "base/text-plain.h"
#include "elf/symbols.h"

/* A function without a size at the end of everything: one page */
#define LAST_SIZE 4096

struct SymbolTable {
    GArray *symbols;        /* Symbol; end 0 if not known */
    GStringChunk *names;
};

SymbolTable *symbols_new(void)
{
    SymbolTable *table = g_new(SymbolTable, 1);

    table->symbols = g_array_new(FALSE, FALSE, sizeof(Symbol));
    table->names = g_string_chunk_new(65536);
    return table;
}

void symbols_free(SymbolTable *table)
{
    g_array_unref(table->symbols);
    g_string_chunk_free(table->names);
    g_free(table);
}

void symbols_add(SymbolTable *table, uint64_t start, uint64_t size,
                 const char *name)
{
    Symbol sym = {
        .start = start,
        .end = size ? start + size : 0,
        .name = g_string_chunk_insert_const(table->names, text_plain(name)),
    };

    sym.linkage = sym.name;
    g_array_append_val(table->symbols, sym);
}

/* Mapping symbols and local labels name no functions. */
static bool is_function_name(const char *name)
{
    return name[0] && name[0] != '$' && !g_str_has_prefix(name, ".L");
}

static unsigned add_section(SymbolTable *table, ElfFile *file, Elf_Scn *scn,
                            const GElf_Shdr *shdr, uint64_t bias,
                            const uint64_t *bases)
{
    Elf_Data *data = elf_getdata(scn, NULL);
    unsigned count = 0;
    GElf_Sym sym;

    for (int i = 0; data && gelf_getsym(data, i, &sym); i++) {
        unsigned type = GELF_ST_TYPE(sym.st_info);
        const char *name = elf_strptr(file->elf, shdr->sh_link, sym.st_name);
        Elf_Scn *in = elf_getscn(file->elf, sym.st_shndx);
        GElf_Shdr in_shdr;

        if ((type != STT_FUNC && type != STT_NOTYPE) ||
            sym.st_shndx == SHN_UNDEF || sym.st_shndx >= SHN_LORESERVE ||
            !name || !is_function_name(name) ||
            !in || !gelf_getshdr(in, &in_shdr) ||
            !(in_shdr.sh_flags & SHF_EXECINSTR)) {
            continue;
        }
        symbols_add(table, sym.st_value + (bases ? bases[sym.st_shndx] : bias),
                    sym.st_size, name);
        g_array_index(table->symbols, Symbol, table->symbols->len - 1).label =
            type == STT_NOTYPE && !sym.st_size;
        count++;
    }
    return count;
}

unsigned symbols_add_elf_file(SymbolTable *table, ElfFile *file,
                              uint64_t bias, const uint64_t *bases)
{
    unsigned count = 0;
    Elf_Scn *scn = NULL;

    while ((scn = elf_nextscn(file->elf, scn))) {
        GElf_Shdr shdr;

        if (gelf_getshdr(scn, &shdr) && (shdr.sh_type == SHT_SYMTAB ||
                                         shdr.sh_type == SHT_DYNSYM)) {
            count += add_section(table, file, scn, &shdr, bias, bases);
        }
    }
    return count;
}

bool symbols_add_elf(SymbolTable *table, const char *path, uint64_t bias,
                     GError **errp)
{
    g_autoptr(ElfFile) file = elf_file_open(path, errp);

    if (!file) {
        return false;
    }
    if (!symbols_add_elf_file(table, file, bias, NULL)) {
        g_set_error(errp, G_IO_ERROR, G_IO_ERROR_NOT_FOUND,
                    "%s: has no function symbols (stripped?)", path);
        return false;
    }
    return true;
}

unsigned symbols_count(const SymbolTable *table)
{
    return table->symbols->len;
}

/* "address type name [module]", of which the module may be missing */
static bool parse_kallsyms_line(SymbolTable *table, char *line,
                                unsigned *zeros)
{
    g_auto(GStrv) words = g_strsplit_set(g_strchomp(line), " \t", -1);
    guint n = g_strv_length(words);
    uint64_t addr;
    char *end;

    if (n == 0) {
        return true;
    }
    if (n < 3 || strlen(words[1]) != 1) {
        return false;
    }
    addr = g_ascii_strtoull(words[0], &end, 16);
    if (*end || end == words[0]) {
        return false;
    }
    if (strchr("tTwW", words[1][0]) && is_function_name(words[2])) {
        if (addr) {
            symbols_add(table, addr, 0, words[2]);
        } else {
            ++*zeros;
        }
    }
    return true;
}

bool symbols_parse_kallsyms(SymbolTable *table, const char *text, size_t size,
                            GError **errp)
{
    const char *end = text + size;
    guint before = table->symbols->len;
    unsigned nr = 0, zeros = 0;

    while (text < end) {
        const char *nl = memchr(text, '\n', end - text);
        g_autofree char *line = g_strndup(text, (nl ? nl : end) - text);

        nr++;
        text = nl ? nl + 1 : end;
        if (!parse_kallsyms_line(table, line, &zeros)) {
            g_set_error(errp, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                        "line %u is not 'address type name'", nr);
            return false;
        }
    }
    if (table->symbols->len == before) {
        g_set_error(errp, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                    zeros ? "all addresses are 0; read /proc/kallsyms as "
                    "root" : "no symbols");
        return false;
    }
    return true;
}

bool symbols_add_kallsyms(SymbolTable *table, const char *path, GError **errp)
{
    g_autoptr(GBytes) file = input_open(path, errp);
    const char *text;
    size_t size;

    if (!file) {
        return false;
    }
    text = (const char *)input_data(file, &size);
    if (!symbols_parse_kallsyms(table, text, size, errp)) {
        g_prefix_error(errp, "%s: ", path);
        return false;
    }
    return true;
}

/* By address; of those at the same address, the best name last */
static int compare(gconstpointer a, gconstpointer b)
{
    const Symbol *x = a, *y = b;

    if (x->start != y->start) {
        return x->start < y->start ? -1 : 1;
    }
    /* One with a size says more; then the shorter name, for a fixed order */
    if (!x->end != !y->end) {
        return x->end ? 1 : -1;
    }
    if (strlen(x->name) != strlen(y->name)) {
        return strlen(x->name) < strlen(y->name) ? 1 : -1;
    }
    return strcmp(y->name, x->name);
}

void symbols_sort(SymbolTable *table)
{
    GArray *s = table->symbols;
    uint64_t end = 0;           /* of all that have a size so far */
    guint n = 0;

    g_array_sort(s, compare);
    for (guint i = 0; i < s->len; i++) {
        const Symbol *sym = &g_array_index(s, Symbol, i);

        if (sym->label && sym->start < end) {
            continue;
        }
        end = MAX(end, sym->end);
        if (n && g_array_index(s, Symbol, n - 1).start == sym->start) {
            n--;
        }
        g_array_index(s, Symbol, n++) = *sym;
    }
    g_array_set_size(s, n);
    for (guint i = 0; i < n; i++) {
        Symbol *sym = &g_array_index(s, Symbol, i);

        if (i + 1 < n) {
            uint64_t next = g_array_index(s, Symbol, i + 1).start;

            sym->end = sym->end ? MIN(sym->end, next) : next;
        } else if (!sym->end) {
            sym->end = sym->start + LAST_SIZE;
        }
    }
}

void symbols_demangle(SymbolTable *table)
{
    for (guint i = 0; i < table->symbols->len; i++) {
        Symbol *sym = &g_array_index(table->symbols, Symbol, i);
        g_autofree char *name = demangle(sym->linkage);

        if (name) {
            sym->name = g_string_chunk_insert_const(table->names, name);
        }
    }
}

const Symbol *symbols_find(const SymbolTable *table, uint64_t addr,
                           uint64_t *lo, uint64_t *hi)
{
    const Symbol *s = (const Symbol *)table->symbols->data;
    guint first = 0, last = table->symbols->len;
    uint64_t from = 0, to = UINT64_MAX;
    const Symbol *found = NULL;

    while (first < last) {          /* first one behind addr */
        guint mid = first + (last - first) / 2;

        if (s[mid].start <= addr) {
            first = mid + 1;
        } else {
            last = mid;
        }
    }
    if (first < table->symbols->len) {
        to = s[first].start;
    }
    if (first > 0) {
        const Symbol *sym = &s[first - 1];

        if (addr < sym->end) {
            found = sym;
            from = sym->start;
            to = sym->end;
        } else {
            from = sym->end;
        }
    }
    if (lo) {
        *lo = from;
    }
    if (hi) {
        *hi = to;
    }
    return found;
}

const Symbol *symbols_all(const SymbolTable *table, unsigned *n)
{
    *n = table->symbols->len;
    return (const Symbol *)table->symbols->data;
}
