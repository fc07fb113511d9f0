/*
 * Linux kernels as files: what is known of their types
 *
 * A kernel has its BTF in itself, between the read-only data. An Image does
 * not say where, but BTF says where it begins, and how long it is. That finds
 * the section .BTF of a vmlinux, too, which is not compressed.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <gio/gio.h>
#include "names/btf.h"
#include "base/input.h"
#include "names/kernel-btf.h"
#include "base/packed.h"

/* Places that look like the beginning of BTF; the largest are looked at. */
#define MAX_PLACES      64

#define TASK            "task_struct"
#define COMM_SIZE       16

typedef struct Place {
    size_t at, size;
} Place;

static gint compare_places(gconstpointer pa, gconstpointer pb)
{
    const Place *a = pa, *b = pb;

    return a->size < b->size ? 1 : a->size > b->size ? -1 : 0;
}

/* Keep the largest ones, largest first. */
static void keep_place(GArray *places, Place place)
{
    g_array_append_val(places, place);
    if (places->len > MAX_PLACES) {
        g_array_sort(places, compare_places);
        g_array_set_size(places, MAX_PLACES / 2);
    }
}

/* The largest BTF in which there is a task, or NULL */
static Btf *find_btf(const uint8_t *data, size_t size)
{
    g_autoptr(GArray) places = g_array_new(FALSE, FALSE, sizeof(Place));
    static const uint8_t magic[] = { 0x9f, 0xeb, 0x01, 0x00 };
    size_t at = 0;
    Btf *found = NULL;

    while (at < size) {
        const uint8_t *p = memchr(data + at, magic[0], size - at);

        if (!p) {
            break;
        }
        at = p - data;
        if (size - at >= sizeof(magic) && !memcmp(p, magic, sizeof(magic))) {
            Place place = { at, btf_blob_size(p, size - at) };

            if (place.size) {
                keep_place(places, place);
            }
        }
        at++;
    }
    g_array_sort(places, compare_places);
    for (guint i = 0; i < places->len && !found; i++) {
        const Place *place = &g_array_index(places, Place, i);

        found = btf_parse(data + place->at, place->size);
        if (found && !btf_has_struct(found, TASK)) {
            g_clear_pointer(&found, btf_free);
        }
    }
    return found;
}

static bool find_pid(const Btf *btf, const char *name, uint32_t *offset)
{
    BtfMember member;

    if (!btf_member(btf, TASK, name, &member) ||
        member.class != BTF_CLASS_INT || member.size != 4 ||
        member.offset > ETRACE_GUEST_OFFSET_MAX) {
        return false;
    }
    *offset = member.offset;
    return true;
}

static bool find_comm(const Btf *btf, uint32_t *offset)
{
    BtfMember member;

    if (!btf_member(btf, TASK, "comm", &member) ||
        member.class != BTF_CLASS_ARRAY || member.size != 1 ||
        member.count < COMM_SIZE ||
        member.offset > ETRACE_GUEST_OFFSET_MAX) {
        return false;
    }
    *offset = member.offset;
    return true;
}

bool kernel_btf_parse(const uint8_t *data, size_t size,
                        ETraceGuestInfo *info, GError **errp)
{
    ETraceGuestInfo got = { .system = ETRACE_GUEST_LINUX };
    Btf *btf = find_btf(data, size);
    bool all;

    if (!btf) {
        g_set_error(errp, G_IO_ERROR, G_IO_ERROR_NOT_FOUND,
                    "there is no BTF of a Linux kernel in it: give an Image, "
                    "an Image.gz or a vmlinux that was built with "
                    "CONFIG_DEBUG_INFO_BTF");
        return false;
    }
    all = find_pid(btf, "pid", &got.pid) &&
          find_pid(btf, "tgid", &got.tgid) && find_comm(btf, &got.comm);
    btf_free(btf);
    if (!all) {
        g_set_error(errp, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED,
                    "its struct " TASK " has no pid, tgid or comm as Linux "
                    "has them; trace-guest-info can be written by hand");
        return false;
    }
    *info = got;
    return true;
}

bool kernel_btf_guest_info(const char *path, ETraceGuestInfo *info,
                             GError **errp)
{
    g_autoptr(GBytes) file = packed_open(path, errp);
    const uint8_t *data;
    size_t size;
    bool ok;

    if (!file) {
        return false;
    }
    data = input_data(file, &size);
    ok = kernel_btf_parse(data, size, info, errp);
    if (!ok) {
        g_prefix_error(errp, "%s: ", path);
    }
    return ok;
}
