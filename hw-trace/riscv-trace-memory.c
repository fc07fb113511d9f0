/*
 * RISC-V trace: guest memory that trace is written to
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "qemu/rcu.h"
#include "qemu/units.h"
#include "exec/translation-block.h"
#include "system/physmem.h"
#include "riscv-trace-memory.h"

/* All pages of a call are locked at the same time. */
#define EVICT_CHUNK     (64 * KiB)

/*
 * The RAM at @addr: its address as dirty logging counts, its host address if
 * @host is not NULL, and in *@len how many bytes of it there are in a row, at
 * most as many as before. Returns NULL if there is no RAM. RCU.
 */
static MemoryRegion *riscv_trace_memory_find(AddressSpace *as, hwaddr addr,
                                             hwaddr *len, ram_addr_t *ram,
                                             uint8_t **host)
{
    hwaddr offset;
    MemoryRegion *mr = address_space_translate(as, addr, &offset, len, true,
                                               MEMTXATTRS_UNSPECIFIED);

    if (!memory_access_is_direct(mr, true, MEMTXATTRS_UNSPECIFIED) ||
        !memory_region_is_ram(mr)) {
        return NULL;
    }
    *ram = memory_region_get_ram_addr(mr) + offset;
    if (host) {
        *host = (uint8_t *)memory_region_get_ram_ptr(mr) + offset;
    }
    return mr;
}

RISCVTraceMemory riscv_trace_memory_look(AddressSpace *as, hwaddr addr,
                                         hwaddr len)
{
    RISCVTraceMemory found = RISCV_TRACE_MEMORY_RAM;

    RCU_READ_LOCK_GUARD();
    while (len) {
        hwaddr n = len;
        ram_addr_t ram;

        if (!riscv_trace_memory_find(as, addr, &n, &ram, NULL)) {
            return RISCV_TRACE_MEMORY_OTHER;
        }
        if (physical_memory_range_includes_clean(ram, n,
                                                 1 << DIRTY_MEMORY_CODE)) {
            found = RISCV_TRACE_MEMORY_CODE;
        }
        addr += n;
        len -= n;
    }
    return found;
}

void riscv_trace_memory_evict(AddressSpace *as, hwaddr addr, hwaddr len)
{
    RCU_READ_LOCK_GUARD();
    while (len) {
        hwaddr n = MIN(len, EVICT_CHUNK);
        ram_addr_t ram;

        if (!riscv_trace_memory_find(as, addr, &n, &ram, NULL)) {
            return;
        }
        if (physical_memory_range_includes_clean(ram, n,
                                                 1 << DIRTY_MEMORY_CODE)) {
            tb_invalidate_phys_range(NULL, ram, ram + n - 1);
        }
        addr += n;
        len -= n;
    }
}

bool riscv_trace_memory_store(AddressSpace *as, hwaddr addr,
                              const uint8_t *bytes, hwaddr len)
{
    RCU_READ_LOCK_GUARD();
    while (len) {
        hwaddr n = len;
        ram_addr_t ram;
        uint8_t *host;
        MemoryRegion *mr = riscv_trace_memory_find(as, addr, &n, &ram, &host);
        uint8_t clients;

        if (!mr) {
            return false;
        }
        memcpy(host, bytes, n);
        clients = memory_region_get_dirty_log_mask(mr);
        physical_memory_set_dirty_range(ram, n, clients &
                                        ~(1 << DIRTY_MEMORY_CODE));
        addr += n;
        bytes += n;
        len -= n;
    }
    return true;
}

bool riscv_trace_memory_load(AddressSpace *as, hwaddr addr, uint8_t *bytes,
                             hwaddr len)
{
    RCU_READ_LOCK_GUARD();
    while (len) {
        hwaddr n = len;
        ram_addr_t ram;
        uint8_t *host;

        if (!riscv_trace_memory_find(as, addr, &n, &ram, &host)) {
            return false;
        }
        memcpy(bytes, host, n);
        addr += n;
        bytes += n;
        len -= n;
    }
    return true;
}
