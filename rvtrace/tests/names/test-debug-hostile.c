/*
 * Damaged debug info: answers or none, but no crash and no wait
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <gelf.h>
#include "tests/fixtures/check.h"
#include "elf/debug-info.h"
#include "tests/fixtures/debug-program.h"
#include "tests/fixtures/guest-build.h"

#define MAX_FRAMES 8

/* What debug info consists of: where a file is damaged */
static const char *const sections[] = {
    ".debug_info", ".debug_abbrev", ".debug_line", ".debug_ranges",
    ".debug_rnglists", ".debug_str", ".debug_line_str",
};

typedef struct Victim {
    char *dir;
    char *path;             /* of the damaged file */
    char *data;             /* the whole one */
    gsize size;
} Victim;

typedef struct Part {
    size_t from;
    size_t size;
} Part;

static Victim make_victim(const char *flags)
{
    Victim v = { .dir = debug_program_dir() };
    g_autofree char *path = debug_program_build(v.dir, flags, "whole");
    g_autoptr(GError) err = NULL;

    v.path = g_build_filename(v.dir, "damaged", NULL);
    g_file_get_contents(path, &v.data, &v.size, &err);
    check_no_error(err);
    return v;
}

static void victim_clear(Victim *v)
{
    g_free(v->path);
    g_free(v->data);
    guest_dir_remove(v->dir);
}

static void see_line(void *opaque, const DebugLine *line)
{
    check_cmphex(line->lo, <, line->hi);
    *(size_t *)opaque += line->file ? strlen(line->file) : 0;
}

static void see_function(void *opaque, const DebugFunction *f)
{
    *(size_t *)opaque += (f->name ? strlen(f->name) : 0) +
                         (f->file ? strlen(f->file) : 0) +
                         (f->call_file ? strlen(f->call_file) : 0);
    for (unsigned i = 0; i < f->nr_ranges; i++) {
        check_cmphex(f->ranges[i].lo, <, f->ranges[i].hi);
    }
}

/* Ask everything. Every string is looked at. */
static void ask(const char *path)
{
    g_autoptr(GError) err = NULL;
    g_autoptr(DebugInfo) info = debug_info_open(path, NULL, &err);
    DebugFrame frames[MAX_FRAMES];
    size_t total = 0;

    if (!info) {
        check_nonnull(err);
        return;
    }
    check_no_error(err);
    for (uint64_t addr = 0x10000; addr < 0x10600; addr += 2) {
        unsigned n = debug_info_frames(info, addr, frames, MAX_FRAMES);

        for (unsigned i = 0; i < MIN(n, MAX_FRAMES); i++) {
            total += frames[i].file ? strlen(frames[i].file) : 0;
        }
    }
    debug_info_lines(info, see_line, &total);
    debug_info_functions(info, see_function, see_function, &total);
}

static void ask_damaged(const Victim *v, const char *data, size_t size)
{
    g_autoptr(GError) err = NULL;

    g_file_set_contents(v->path, data, size, &err);
    check_no_error(err);
    ask(v->path);
}

static void test_truncated(const void *flags)
{
    Victim v = make_victim(flags);

    for (size_t size = 0; size < v.size; size += 1 + v.size / 150) {
        ask_damaged(&v, v.data, size);
    }
    victim_clear(&v);
}

/* The parts of the file that are sections of debug info */
static GArray *find_parts(Victim *v)
{
    GArray *parts = g_array_new(FALSE, FALSE, sizeof(Part));
    Elf_Scn *scn = NULL;
    size_t strings;
    Elf *elf;

    elf_version(EV_CURRENT);
    elf = elf_memory(v->data, v->size);
    check_cmpint(elf_getshdrstrndx(elf, &strings), ==, 0);
    while ((scn = elf_nextscn(elf, scn))) {
        GElf_Shdr shdr;
        const char *name;

        check_nonnull(gelf_getshdr(scn, &shdr));
        name = elf_strptr(elf, strings, shdr.sh_name);
        for (size_t i = 0; i < ARRAY_SIZE(sections); i++) {
            if (!strcmp(name, sections[i])) {
                Part part = { shdr.sh_offset, shdr.sh_size };

                g_array_append_val(parts, part);
            }
        }
    }
    elf_end(elf);
    check_cmpuint(parts->len, >, 3);
    return parts;
}

static void flip(GRand *r, uint8_t *data, size_t size)
{
    for (int n = g_rand_int_range(r, 1, 9); n; n--) {
        data[g_rand_int_range(r, 0, size)] ^= 1 << g_rand_int_range(r, 0, 8);
    }
}

/* Anywhere in the debug info, a section at a time */
static void test_flipped(const void *flags)
{
    Victim v = make_victim(flags);
    g_autoptr(GArray) parts = find_parts(&v);
    g_autoptr(GRand) r = g_rand_new_with_seed(7);

    for (int i = 0; i < 700; i++) {
        g_autofree char *data = g_memdup2(v.data, v.size);
        const Part *part = &g_array_index(parts, Part, i % parts->len);

        flip(r, (uint8_t *)data + part->from, part->size);
        ask_damaged(&v, data, v.size);
    }
    victim_clear(&v);
}

/* What says where sections are */
static void test_headers(const void *flags)
{
    Victim v = make_victim(flags);
    g_autoptr(GRand) r = g_rand_new_with_seed(8);
    GElf_Ehdr ehdr;
    Elf *elf;

    elf_version(EV_CURRENT);
    elf = elf_memory(v.data, v.size);
    check_nonnull(gelf_getehdr(elf, &ehdr));
    elf_end(elf);
    for (int i = 0; i < 300; i++) {
        g_autofree char *data = g_memdup2(v.data, v.size);

        if (i & 1) {
            flip(r, (uint8_t *)data + 16, 48);
        } else {
            flip(r, (uint8_t *)data + ehdr.e_shoff, v.size - ehdr.e_shoff);
        }
        ask_damaged(&v, data, v.size);
    }
    victim_clear(&v);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        const char *flags;
    } variants[] = {
        { "dwarf-4", "-O2 -gdwarf-4" },
        { "dwarf-5", "-O2 -gdwarf-5" },
        { "compressed", "-O2 -gdwarf-5 -gz=zlib" },
    };

    g_test_init(&argc, &argv, NULL);
    g_setenv("DEBUGINFOD_CACHE_PATH", "/nonexistent", true);
    for (size_t i = 0; i < ARRAY_SIZE(variants); i++) {
        g_autofree char *truncated = g_strconcat("/debug-hostile/truncated/",
                                                 variants[i].name, NULL);
        g_autofree char *flipped = g_strconcat("/debug-hostile/flipped/",
                                               variants[i].name, NULL);
        g_autofree char *headers = g_strconcat("/debug-hostile/headers/",
                                               variants[i].name, NULL);

        g_test_add_data_func(truncated, variants[i].flags, test_truncated);
        g_test_add_data_func(flipped, variants[i].flags, test_flipped);
        g_test_add_data_func(headers, variants[i].flags, test_headers);
    }
    return g_test_run();
}
