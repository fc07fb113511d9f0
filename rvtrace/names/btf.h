/*
 * BTF: the types of a program as compact as the Linux kernel carries them
 *
 * Documentation/bpf/btf.rst of Linux describes the format. Only that of one
 * little-endian blob is read, which needs no other one, as the kernel's own.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_BTF_H
#define ETRACE_BTF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Btf Btf;

/* What a member of a structure is */
typedef enum BtfClass {
    BTF_CLASS_OTHER,
    BTF_CLASS_INT,          /* that is no bit field */
    BTF_CLASS_ARRAY,        /* of integers */
} BtfClass;

typedef struct BtfMember {
    uint64_t offset;        /* in the structure, bytes */
    BtfClass class;
    uint64_t size;          /* of an integer, or of the array's elements */
    uint64_t count;         /* elements of an array, else 1 */
} BtfMember;

/*
 * How many of @size bytes at @data are a blob, as its header says: 0 if there
 * is no header, or not all of the blob is there. Looks at nothing else.
 */
size_t btf_blob_size(const uint8_t *data, size_t size);

/*
 * Read a blob; @data must stay until btf_free(). Returns NULL if any of it is
 * not as it has to be. Takes time and memory in proportion to @size.
 */
Btf *btf_parse(const uint8_t *data, size_t size);
void btf_free(Btf *btf);

/*
 * Look for @member of struct @structure, also in structures and unions without
 * a name in it. Returns false if there is none, and fills @found else.
 */
bool btf_member(const Btf *btf, const char *structure, const char *member,
                BtfMember *found);

/* True if there is a struct @structure that has members. */
bool btf_has_struct(const Btf *btf, const char *structure);

#endif /* ETRACE_BTF_H */
