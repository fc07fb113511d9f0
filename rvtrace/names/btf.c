/*
 * BTF: types of a program
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "etrace/sideband.h"
#include "names/btf.h"

#define BTF_MAGIC       0xeb9f
#define BTF_VERSION     1
/* u16 magic, u8 version, u8 flags, u32 header length; u32 type offset ... */
#define BTF_HEADER_SIZE 24
/* u32 name, u32 info, u32 size or type */
#define BTF_TYPE_SIZE   12
/* u32 name, u32 type, u32 offset */
#define BTF_MEMBER_SIZE 12

/* Structures without a name in each other, names for a type in a row */
#define MAX_NESTED      16
#define MAX_NAMES       64
/* Members that are looked at for one; a structure of Linux has 300. */
#define MAX_MEMBERS     (1u << 20)

typedef enum BtfKind {
    BTF_INT = 1,
    BTF_PTR = 2,
    BTF_ARRAY = 3,
    BTF_STRUCT = 4,
    BTF_UNION = 5,
    BTF_ENUM = 6,
    BTF_FWD = 7,
    BTF_TYPEDEF = 8,
    BTF_VOLATILE = 9,
    BTF_CONST = 10,
    BTF_RESTRICT = 11,
    BTF_FUNC = 12,
    BTF_FUNC_PROTO = 13,
    BTF_VAR = 14,
    BTF_DATASEC = 15,
    BTF_FLOAT = 16,
    BTF_DECL_TAG = 17,
    BTF_TYPE_TAG = 18,
    BTF_ENUM64 = 19,
    BTF_NR_KINDS
} BtfKind;

/* Bytes behind a type: always, and for each of vlen */
static const struct {
    uint8_t fixed, each;
} extra[BTF_NR_KINDS] = {
    [BTF_INT] = { 4, 0 },
    [BTF_ARRAY] = { 12, 0 },
    [BTF_STRUCT] = { 0, BTF_MEMBER_SIZE },
    [BTF_UNION] = { 0, BTF_MEMBER_SIZE },
    [BTF_ENUM] = { 0, 8 },
    [BTF_FUNC_PROTO] = { 0, 8 },
    [BTF_VAR] = { 4, 0 },
    [BTF_DATASEC] = { 0, 12 },
    [BTF_DECL_TAG] = { 4, 0 },
    [BTF_ENUM64] = { 0, 12 },
};

struct Btf {
    const uint8_t *types;
    const char *strings;    /* NUL terminated, as a whole */
    uint32_t types_len, strings_len;
    GArray *at;             /* uint32_t: where each type is, from 1 */
};

typedef struct BtfType {
    const char *name;
    BtfKind kind;
    bool flag;
    unsigned vlen;
    uint32_t size;          /* ... or a type */
    const uint8_t *behind;  /* it: members, ... */
} BtfType;

static uint32_t get_u32(const uint8_t *p)
{
    return etrace_sb_get(p, 4);
}

size_t btf_blob_size(const uint8_t *data, size_t size)
{
    uint64_t header, types, strings, end;

    if (size < BTF_HEADER_SIZE || etrace_sb_get(data, 2) != BTF_MAGIC ||
        data[2] != BTF_VERSION || data[3]) {
        return 0;
    }
    header = get_u32(data + 4);
    types = (uint64_t)get_u32(data + 8) + get_u32(data + 12);
    strings = (uint64_t)get_u32(data + 16) + get_u32(data + 20);
    end = header + MAX(types, strings);
    return header >= BTF_HEADER_SIZE && end <= size ? end : 0;
}

static BtfType read_type(const Btf *btf, uint32_t at)
{
    const uint8_t *p = btf->types + at;
    uint32_t name = get_u32(p), info = get_u32(p + 4);

    return (BtfType) {
        .name = name < btf->strings_len ? btf->strings + name : NULL,
        .kind = (info >> 24) & 0x1f,
        .flag = info >> 31,
        .vlen = info & 0xffff,
        .size = get_u32(p + 8),
        .behind = p + BTF_TYPE_SIZE,
    };
}

/* Find out where each type is; false if one is not as it has to be. */
static bool index_types(Btf *btf)
{
    uint32_t at = 0;

    while (at < btf->types_len) {
        uint64_t room = btf->types_len - at, size;
        BtfType type;

        if (room < BTF_TYPE_SIZE) {
            return false;
        }
        type = read_type(btf, at);
        if (!type.name || !type.kind || type.kind >= BTF_NR_KINDS) {
            return false;
        }
        size = BTF_TYPE_SIZE + extra[type.kind].fixed +
               (uint64_t)extra[type.kind].each * type.vlen;
        if (size > room) {
            return false;
        }
        g_array_append_val(btf->at, at);
        at += size;
    }
    return true;
}

Btf *btf_parse(const uint8_t *data, size_t size)
{
    size_t blob = btf_blob_size(data, size);
    const uint8_t *body;
    Btf *btf;

    if (!blob) {
        return NULL;
    }
    body = data + get_u32(data + 4);
    btf = g_new0(Btf, 1);
    btf->types = body + get_u32(data + 8);
    btf->types_len = get_u32(data + 12);
    btf->strings = (const char *)body + get_u32(data + 16);
    btf->strings_len = get_u32(data + 20);
    btf->at = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    if (!btf->strings_len || btf->strings[0] ||
        btf->strings[btf->strings_len - 1] || !index_types(btf)) {
        btf_free(btf);
        return NULL;
    }
    return btf;
}

void btf_free(Btf *btf)
{
    g_array_unref(btf->at);
    g_free(btf);
}

/* Type @id without typedef, const and so on; false if there is none. */
static bool resolve(const Btf *btf, uint32_t id, BtfType *type)
{
    for (unsigned n = 0; n < MAX_NAMES; n++) {
        if (!id || id > btf->at->len) {
            return false;
        }
        *type = read_type(btf, g_array_index(btf->at, uint32_t, id - 1));
        switch (type->kind) {
        case BTF_TYPEDEF:
        case BTF_VOLATILE:
        case BTF_CONST:
        case BTF_RESTRICT:
        case BTF_TYPE_TAG:
            id = type->size;
            break;
        default:
            return true;
        }
    }
    return false;
}

static bool is_int(const BtfType *type)
{
    /* Offset and bits behind it, which are for bit fields of old. */
    return type->kind == BTF_INT && !(get_u32(type->behind) & 0x00ff0000) &&
           (get_u32(type->behind) & 0xff) == type->size * 8;
}

static void describe(const Btf *btf, const BtfType *type, BtfMember *found)
{
    BtfType element;

    found->class = BTF_CLASS_OTHER;
    found->size = type->size;
    found->count = 1;
    if (is_int(type)) {
        found->class = BTF_CLASS_INT;
    } else if (type->kind == BTF_ARRAY &&
               resolve(btf, get_u32(type->behind), &element) &&
               is_int(&element)) {
        found->class = BTF_CLASS_ARRAY;
        found->size = element.size;
        found->count = get_u32(type->behind + 8);
    }
}

/* A search: how many more members it may look at */
static bool find_member(const Btf *btf, const BtfType *type,
                        const char *member, unsigned depth, unsigned *left,
                        BtfMember *found)
{
    for (unsigned i = 0; i < type->vlen; i++) {
        const uint8_t *p = type->behind + i * BTF_MEMBER_SIZE;
        uint32_t name = get_u32(p), offset = get_u32(p + 8);
        bool bit_field = type->flag && offset >> 24;
        BtfType of;

        if (!*left) {
            return false;
        }
        --*left;
        if (name >= btf->strings_len || !resolve(btf, get_u32(p + 4), &of)) {
            continue;
        }
        if (type->flag) {
            offset &= 0xffffff;
        }
        if (!btf->strings[name]) {
            if ((of.kind != BTF_STRUCT && of.kind != BTF_UNION) ||
                depth == MAX_NESTED ||
                !find_member(btf, &of, member, depth + 1, left, found)) {
                continue;
            }
            found->offset += offset / 8;
            return true;
        }
        if (!strcmp(btf->strings + name, member)) {
            describe(btf, &of, found);
            if (bit_field || offset % 8) {
                found->class = BTF_CLASS_OTHER;
            }
            found->offset = offset / 8;
            return true;
        }
    }
    return false;
}

/* The struct of that name, if it has members: else it is but announced. */
static bool find_struct(const Btf *btf, const char *structure, BtfType *type)
{
    for (guint i = 0; i < btf->at->len; i++) {
        *type = read_type(btf, g_array_index(btf->at, uint32_t, i));
        if (type->kind == BTF_STRUCT && type->vlen &&
            !strcmp(type->name, structure)) {
            return true;
        }
    }
    return false;
}

bool btf_has_struct(const Btf *btf, const char *structure)
{
    BtfType type;

    return find_struct(btf, structure, &type);
}

bool btf_member(const Btf *btf, const char *structure, const char *member,
                BtfMember *found)
{
    unsigned left = MAX_MEMBERS;
    BtfType type;

    *found = (BtfMember) { 0 };
    return find_struct(btf, structure, &type) &&
           find_member(btf, &type, member, 0, &left, found);
}
