/*
 * RISC-V trace of programs: where code is, for the sideband
 *
 * The reader takes the addresses of a program for physical ones, as in M mode,
 * and code is reported by these. Which files it is of, texts say that have the
 * lines of /proc/PID/maps, as those of a guest that rvtrace-guest runs in.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "qemu/interval-tree.h"
#include "qemu/selfmap.h"
#include "hw/core/cpu.h"
#include "user/abitypes.h"
#include "exec/abi_ptr.h"
#include "user/guest-base.h"
#include "user/guest-host.h"
#include "user/page-protection.h"
#include "../hooks.h"
#include "../internal.h"
#include "user.h"

/*
 * Programs that make code may map memory of no file often. So many times what
 * is mapped is told again for that alone.
 */
#define ANONYMOUS_MAX   64

static bool changed = true;         /* atomic */
static unsigned anonymous;          /* atomic */

void riscv_trace_user_maps_changed(void)
{
    qatomic_set(&changed, true);
}

void riscv_trace_user_mapped(bool exec, bool anon)
{
    if (exec &&
        (!anon || qatomic_fetch_inc(&anonymous) < ANONYMOUS_MAX)) {
        riscv_trace_user_maps_changed();
    }
}

/* What a walk through the memory of the program needs */
typedef struct MapsWalk {
    IntervalTreeRoot *host;     /* what QEMU has mapped */
    RISCVTraceReader *reader;
} MapsWalk;

static void put_line(RISCVTraceReader *reader, target_ulong start,
                     target_ulong end, uint64_t offset, const char *path)
{
    g_autofree char *text = g_strdup_printf(
        "maps %d " TARGET_FMT_lx "-" TARGET_FMT_lx " r-xp %08" PRIx64
        " 00:00 0 %s", getpid(), start, end, offset, path ?: "");
    size_t len = strlen(text);
    g_autofree uint8_t *record =
        g_malloc(ETRACE_SB_HEADER_SIZE + ETRACE_SB_NOTE_SIZE(len));

    riscv_trace_reader_record(reader, record,
                              etrace_sb_pack_note(record, ETRACE_SB_ALL_HARTS,
                                                  ETRACE_SB_NOTE_TEXT, text,
                                                  len));
}

static int put_region(void *opaque, vaddr start, vaddr end, int flags)
{
    const MapsWalk *walk = opaque;

    while (flags & PAGE_EXEC && start < end) {
        uint64_t first = (uintptr_t)g2h_untagged(start);
        IntervalTreeNode *n = interval_tree_iter_first(walk->host, first,
                                                       first);
        MapInfo *map = container_of(n, MapInfo, itree);
        vaddr next;

        if (!n) {
            put_line(walk->reader, start, end, 0, NULL);
            break;
        }
        next = MIN(end - 1, h2g_nocheck(n->last)) + 1;
        put_line(walk->reader, start, next, map->offset + (first - n->start),
                 map->path && *map->path == '/' ? map->path : NULL);
        start = next;
    }
    return 0;
}

/* The reader's lock is held. */
static void put_maps(RISCVTraceReader *reader)
{
    MapsWalk walk = { .host = read_self_maps(), .reader = reader };

    if (walk.host) {
        walk_memory_regions(&walk, put_region);
        free_self_maps(walk.host);
    }
}

bool riscv_trace_maps_find(RISCVTraceHart *hart, vaddr va, uint64_t *pa)
{
    if (qatomic_read(&changed) && qatomic_xchg(&changed, false)) {
        RISCVTraceReader *reader = riscv_trace_reader_lock(hart);

        put_maps(reader);
        qemu_mutex_unlock(&reader->lock);
    }
    *pa = va & ~(uint64_t)(ETRACE_SB_PAGE_SIZE - 1);
    return true;
}

void riscv_trace_maps_start(RISCVTraceHart *hart)
{
    hart->session = riscv_trace_reader_session(hart->reader);
}

/* What a hart has and a program cannot see */

void riscv_trace_maps_pending(RISCVTraceHart *hart)
{
}

void riscv_trace_maps_reset(RISCVTraceHart *hart)
{
}

void riscv_trace_append_context(RISCVTraceHart *hart)
{
}

void riscv_trace_append_time(RISCVTraceHart *hart, bool report)
{
}

bool riscv_trace_tvec_is_known(RISCVTraceHart *hart, bool async,
                               target_ulong cause)
{
    return false;
}

void riscv_trace_tvec_report(RISCVTraceHart *hart)
{
}

void riscv_trace_stall_init(RISCVTraceHart *hart)
{
}

void riscv_trace_stall_end(RISCVTraceHart *hart)
{
}
