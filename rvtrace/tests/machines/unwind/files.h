/*
 * The guest's ELF files, and their call frame information
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef FILES_H
#define FILES_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct Program Program;

/* Reads 8 bytes of the running program; false if they are not there. */
typedef bool ReadWord(void *opaque, uint64_t address, uint64_t *value);

/* What is known of the code at an address */
typedef struct Code {
    Dwarf_Frame *frame;     /* valid until the process ends; or NULL */
    /*
     * It has no frame information and needs none: the return address is in ra,
     * the caller's stack pointer in sp. Linkers make such code.
     */
    bool leaf;
    /* ... but these bytes of the stack are its own, with ra at saved_ra. */
    unsigned frame_size, saved_ra;
} Code;

/* A program at the addresses that its file has; false: it cannot be read. */
bool files_add_program(const char *path);

/* A folder where shared libraries are; valid as long as the caller's. */
void files_add_folder(const char *path);

/* Can any program that is known, or a library, run at @address? */
bool files_may_be_at(uint64_t address);

/* The program that runs, of which code is at @pc; NULL: another one */
Program *files_program(uint64_t pc, ReadWord *read, void *opaque);

/*
 * The code at @address. Libraries that the program has loaded since are found
 * in its memory, as debuggers do it.
 */
Code files_code(Program *p, uint64_t address, ReadWord *read, void *opaque);

#endif
