/*
 * Objects: what code belongs to
 *
 * A program, a library, the kernel, a module, the vdso, firmware: something
 * that has a file, or part of one, with symbols. Addresses in an object are
 * those of its file (st_value, p_vaddr); where it lies in memory is a matter
 * of each address space.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_OBJECT_H
#define ETRACE_OBJECT_H

#include "elf/symbols.h"

typedef enum ObjectKind {
    OBJECT_NONE,            /* code that belongs to no known object */
    OBJECT_PROGRAM,
    OBJECT_LIBRARY,
    OBJECT_KERNEL,
    OBJECT_MODULE,          /* of the kernel */
    OBJECT_VDSO,
    OBJECT_FIRMWARE,        /* runs in M-mode */
} ObjectKind;

/* Executable bytes of an object: one segment, or a section of a module */
typedef struct ObjectCode {
    uint64_t addr;          /* in the object */
    size_t size;
    const uint8_t *bytes;   /* owned by the object */
    /*
     * A bit for each half-word, least significant first: the loader changes
     * it (relocations of a module). NULL: it changes none.
     */
    const uint8_t *relocated;
} ObjectCode;

typedef struct Object {
    unsigned id;            /* index in its ObjectTable */
    ObjectKind kind;
    char *path;             /* as the guest knows it: /usr/bin/ls, [kernel] */
    const char *name;       /* last part of path; of a module its own */
    char *file;             /* on this machine; NULL: there is none */
    char *build_id;         /* hex digits; NULL: it has none */
    unsigned xlen;          /* 32 or 64 */
    bool movable;           /* position-independent: lies anywhere */
    bool brief;             /* a module's code alone: its file has the rest */
    GArray *code;           /* ObjectCode, by address; may be empty */
    /* Sorted, at the object's addresses; never NULL, may be empty */
    SymbolTable *symbols;
    GBytes *bytes;          /* what code points into, or NULL */
    bool mapped;            /* ... which are a file's as they are */
    GPtrArray *made;        /* memory that goes with the object, or NULL */
} Object;

typedef struct ObjectTable {
    GPtrArray *objects;     /* Object; 0 is OBJECT_NONE, for unknown code */
    /*
     * Where files with the symbols of stripped ones are looked for, besides
     * the host: a list that ends with NULL, not ours; NULL: nowhere
     */
    char **sysroots;
} ObjectTable;

/* The object of unknown code */
#define OBJECT_UNKNOWN  0

ObjectTable *object_table_new(void);
void object_table_free(ObjectTable *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ObjectTable, object_table_free)

static inline Object *object_get(const ObjectTable *table, unsigned id)
{
    return g_ptr_array_index(table->objects, id);
}

static inline unsigned object_table_size(const ObjectTable *table)
{
    return table->objects->len;
}

/*
 * A new object of @table, without code and symbols. @path is copied; @file
 * may be NULL.
 */
Object *object_new(ObjectTable *table, ObjectKind kind, const char *path,
                   const char *file);

/*
 * Is there no file of the object? That is so of unknown code, and of a program
 * or library that the guest has named and no sysroot has.
 */
bool object_is_unfiled(const Object *object);

/* Call @object @name, which is copied, and not after its path. */
void object_rename(Object *object, const char *name);

/* Free @object, the last one of @table. */
void object_drop(ObjectTable *table, Object *object);

/* What @object has of its file need not be in memory for now. */
void object_let_go(const Object *object);

/*
 * The bytes of the object from @addr on that one piece of code holds: returns
 * how many, at most @most, and sets *@bytes; 0 if there is no code.
 */
size_t object_bytes(const Object *object, uint64_t addr, size_t most,
                    const uint8_t **bytes);

/*
 * Are @len bytes at @addr of the object these? Half-words that the loader
 * changes are left out; *@compared is set to how many bytes were compared.
 */
bool object_matches(const Object *object, uint64_t addr, const uint8_t *bytes,
                    size_t len, size_t *compared);

#endif /* ETRACE_OBJECT_H */
