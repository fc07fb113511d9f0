/*
 * RISC-V trace: RAM sink, a ring of trace in memory: registers
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "qemu/atomic.h"
#include "qemu/bswap.h"
#include "qemu/lockable.h"
#include "qemu/log.h"
#include "qemu/main-loop.h"
#include "qemu/module.h"
#include "qemu/units.h"
#include "qapi/error.h"
#include "hw/qdev-properties.h"
#include "migration/vmstate.h"
#include "riscv-trace-compat.h"
#include "riscv-trace-memory.h"
#include "riscv-trace-ram.h"
#include "trace.h"

#define SRAM_SIZE_DEFAULT   (1 * MiB)
#define SRAM_SIZE_MAX       (1 * GiB)

/* Physical addresses of RV64 have 56 bits: what the "High" registers hold */
#define ADDRESS_HIGH_MASK   0x00ffffff

#define PAGE_MASK_LOW       (~(uint32_t)(RISCV_TRACE_RAM_PAGE - 1))

/*
 * Enable and disable. BQL.
 */

static void riscv_trace_ram_evict(RISCVTraceRAM *s)
{
    const RISCVTraceRing *ring = riscv_trace_ram_current(s);

    if (riscv_trace_ram_mode(s) == TR_RAM_MODE_SMEM) {
        /* Separately: it may be that there is no RAM at the start. */
        riscv_trace_memory_evict(&s->as, ring->wp, ring->limit +
                                 RISCV_TRACE_RAM_WORD - ring->wp);
        riscv_trace_memory_evict(&s->as, ring->start, ring->wp - ring->start);
    }
    qatomic_set(&s->evicting, false);
}

static void riscv_trace_ram_enable(RISCVTraceRAM *s)
{
    /* It may have stopped by itself before. */
    riscv_trace_ram_announce(s);
    riscv_trace_ram_evict(s);
    WITH_QEMU_LOCK_GUARD(&s->lock) {
        qatomic_set(&s->storing, true);
        qatomic_set(&s->stopped, false);
    }
    if (riscv_trace_replicator_update(s->replicator, &s->output)) {
        QEMU_LOCK_GUARD(&s->lock);
        riscv_trace_ram_align(s);
    }
}

static void riscv_trace_ram_disable(RISCVTraceRAM *s)
{
    WITH_QEMU_LOCK_GUARD(&s->lock) {
        riscv_trace_ram_pad(s);
        qatomic_set(&s->storing, false);
        qatomic_set(&s->stopped, false);
    }
    riscv_trace_ram_announce(s);
    riscv_trace_replicator_update(s->replicator, &s->output);
}

/* What put() found, which may be called in the middle of anything. */
static void riscv_trace_ram_bh(void *opaque)
{
    RISCVTraceRAM *s = opaque;

    if (qatomic_read(&s->evicting)) {
        riscv_trace_ram_evict(s);
    }
    if (qatomic_read(&s->stopped)) {
        riscv_trace_ram_announce(s);
    }
}

/*
 * Registers
 */

static uint32_t riscv_trace_ram_control_reset(RISCVTraceRAM *s)
{
    uint32_t val = 0;

    val = FIELD_DP32(val, TR_RAM_CONTROL, MODE,
                     s->memory ? TR_RAM_MODE_SMEM : TR_RAM_MODE_SRAM);
    val = FIELD_DP32(val, TR_RAM_CONTROL, ASYNC_FREQ, TR_ASYNC_FREQ_RESET);
    return val;
}

static bool riscv_trace_ram_may_enable(RISCVTraceRAM *s, unsigned mode)
{
    const RISCVTraceRing *ring = &s->rings[mode];

    if (ring->start <= ring->wp && ring->wp <= ring->limit) {
        return true;
    }
    qemu_log_mask(LOG_GUEST_ERROR, "riscv-trace-ram: not enabled, trRamWP "
                  "0x%" PRIx64 " is not between trRamStart 0x%" PRIx64
                  " and trRamLimit 0x%" PRIx64 "\n", ring->wp, ring->start,
                  ring->limit);
    return false;
}

static uint64_t riscv_trace_ram_control_pre_write(RegisterInfo *reg,
                                                  uint64_t val64)
{
    RISCVTraceRAM *s = reg->opaque;
    uint32_t old = s->regs[R_TR_RAM_CONTROL];
    uint32_t val = val64;

    if (s->stopped) {
        old = FIELD_DP32(old, TR_CONTROL, ENABLE, 0);
    }
    if (!s->memory || !s->sram_size) {
        val = FIELD_DP32(val, TR_RAM_CONTROL, MODE, !s->sram_size);
    }
    val = riscv_trace_control(old, val, riscv_trace_ram_control_reset(s));
    if (riscv_trace_enabled(val)) {
        if (riscv_trace_enabled(old)) {
            val = FIELD_DP32(val, TR_RAM_CONTROL, MODE,
                             riscv_trace_ram_mode(s));
        } else if (!riscv_trace_ram_may_enable(
                       s, FIELD_EX32(val, TR_RAM_CONTROL, MODE))) {
            val = FIELD_DP32(val, TR_CONTROL, ENABLE, 0);
        }
    }
    if ((s->storing || s->stopped) && !riscv_trace_enabled(val)) {
        /* While the mode is still the one that it was enabled with */
        riscv_trace_ram_disable(s);
    }
    return val;
}

static void riscv_trace_ram_control_post_write(RegisterInfo *reg,
                                               uint64_t val)
{
    RISCVTraceRAM *s = reg->opaque;

    trace_riscv_trace_ram_control(val);
    if (riscv_trace_enabled(val) && !qatomic_read(&s->storing)) {
        riscv_trace_ram_enable(s);
    }
}

static uint64_t riscv_trace_ram_control_post_read(RegisterInfo *reg,
                                                  uint64_t val)
{
    RISCVTraceRAM *s = reg->opaque;

    QEMU_LOCK_GUARD(&s->lock);
    if (s->stopped) {
        val = FIELD_DP32(val, TR_CONTROL, ENABLE, 0);
    }
    return FIELD_DP32(val, TR_CONTROL, EMPTY, !s->fill);
}

/* The half of an address that a register holds */
static uint32_t riscv_trace_ram_half(uint64_t addr, bool high)
{
    return extract64(addr, high ? 32 : 0, 32);
}

static uint64_t riscv_trace_ram_address_post_read(RegisterInfo *reg,
                                                  uint64_t val)
{
    RISCVTraceRAM *s = reg->opaque;
    const RISCVTraceRing *ring = riscv_trace_ram_current(s);
    bool high = reg->access->addr & 4;

    QEMU_LOCK_GUARD(&s->lock);
    switch (reg->access->addr & ~4) {
    case A_TR_RAM_START_LOW:
        return riscv_trace_ram_half(ring->start, high);
    case A_TR_RAM_LIMIT_LOW:
        return riscv_trace_ram_half(ring->limit, high);
    case A_TR_RAM_WP_LOW:
        return riscv_trace_ram_half(ring->wp | ring->wrapped, high);
    default:
        return riscv_trace_ram_half(ring->rp, high);
    }
}

/* What the low half of an address becomes that @val is written to. */
static uint32_t riscv_trace_ram_legal_low(hwaddr reg, uint32_t val)
{
    uint32_t page = RISCV_TRACE_RAM_PAGE;

    switch (reg) {
    case A_TR_RAM_START_LOW:
        /* Not below what was asked for, where something else may be */
        return val > PAGE_MASK_LOW ? PAGE_MASK_LOW
                                   : QEMU_ALIGN_UP(val, page);
    case A_TR_RAM_LIMIT_LOW:
        /* and not above */
        val = MAX(val, page - RISCV_TRACE_RAM_WORD);
        return QEMU_ALIGN_DOWN((uint64_t)(val | 3) + 1, page) -
               RISCV_TRACE_RAM_WORD;
    default:
        return QEMU_ALIGN_DOWN(val, RISCV_TRACE_RAM_WORD);
    }
}

static void riscv_trace_ram_write_smem(RISCVTraceRing *ring, hwaddr reg,
                                       uint32_t val)
{
    uint64_t *addr = reg < A_TR_RAM_LIMIT_LOW ? &ring->start :
                     reg < A_TR_RAM_WP_LOW ? &ring->limit : &ring->wp;

    if (reg & 4) {
        *addr = deposit64(*addr, 32, 32, val & ADDRESS_HIGH_MASK);
    } else {
        *addr = deposit64(*addr, 0, 32, riscv_trace_ram_legal_low(reg, val));
    }
}

/* trRamStart is 0, and no "High" register is implemented. */
static void riscv_trace_ram_write_sram(RISCVTraceRAM *s, RISCVTraceRing *ring,
                                       hwaddr reg, uint32_t val)
{
    uint32_t low = riscv_trace_ram_legal_low(reg, val);

    if (reg == A_TR_RAM_LIMIT_LOW) {
        ring->limit = MIN(low, s->sram_size - RISCV_TRACE_RAM_WORD);
        ring->rp = MIN(ring->rp, ring->limit);
        ring->wp = MIN(ring->wp, ring->limit);
    } else if (reg == A_TR_RAM_WP_LOW) {
        ring->wp = MIN(low, ring->limit);
    }
}

static void riscv_trace_ram_address_post_write(RegisterInfo *reg,
                                               uint64_t val)
{
    RISCVTraceRAM *s = reg->opaque;
    RISCVTraceRing *ring = riscv_trace_ram_current(s);
    hwaddr addr = reg->access->addr;

    QEMU_LOCK_GUARD(&s->lock);
    if (s->storing) {
        qemu_log_mask(LOG_GUEST_ERROR, "riscv-trace-ram: %s is written while "
                      "the sink is enabled\n", reg->access->name);
        return;
    }
    if (riscv_trace_ram_mode(s) == TR_RAM_MODE_SMEM) {
        riscv_trace_ram_write_smem(ring, addr, val);
    } else {
        riscv_trace_ram_write_sram(s, ring, addr, val);
    }
    if (addr == A_TR_RAM_WP_LOW) {
        ring->wrapped = false;
    }
}

/* In SMEM mode neither trRamRP nor trRamData is implemented. */
static void riscv_trace_ram_rp_post_write(RegisterInfo *reg, uint64_t val)
{
    RISCVTraceRAM *s = reg->opaque;
    RISCVTraceRing *ring = riscv_trace_ram_current(s);

    QEMU_LOCK_GUARD(&s->lock);
    if (riscv_trace_ram_mode(s) == TR_RAM_MODE_SRAM) {
        ring->rp = MIN(riscv_trace_ram_legal_low(A_TR_RAM_RP_LOW, val),
                       ring->limit);
    }
}

static uint64_t riscv_trace_ram_data_post_read(RegisterInfo *reg, uint64_t val)
{
    RISCVTraceRAM *s = reg->opaque;
    RISCVTraceRing *ring = riscv_trace_ram_current(s);
    uint32_t word;

    QEMU_LOCK_GUARD(&s->lock);
    if (riscv_trace_ram_mode(s) != TR_RAM_MODE_SRAM) {
        return 0;
    }
    word = ldl_le_p((uint8_t *)memory_region_get_ram_ptr(&s->sram) + ring->rp);
    ring->rp = ring->rp == ring->limit ? ring->start
                                       : ring->rp + RISCV_TRACE_RAM_WORD;
    return word;
}

#define ADDRESS_REGISTER(reg_name, reg_addr) { \
        .name = (reg_name), .addr = (reg_addr), \
        .post_read = riscv_trace_ram_address_post_read, \
        .post_write = riscv_trace_ram_address_post_write, \
    }

static const RegisterAccessInfo riscv_trace_ram_regs_info[] = {
    {   .name = "trRamControl", .addr = A_TR_RAM_CONTROL,
        .ro = R_TR_CONTROL_EMPTY_MASK | R_TR_RAM_CONTROL_MEM_FORMAT_MASK,
        .rsvd = TR_RAM_CONTROL_RSVD,
        .pre_write = riscv_trace_ram_control_pre_write,
        .post_write = riscv_trace_ram_control_post_write,
        .post_read = riscv_trace_ram_control_post_read,
    },{ .name = "trRamImpl", .addr = A_TR_RAM_IMPL,
        .ro = 0xffffffff,
    },
    ADDRESS_REGISTER("trRamStartLow", A_TR_RAM_START_LOW),
    ADDRESS_REGISTER("trRamStartHigh", A_TR_RAM_START_HIGH),
    ADDRESS_REGISTER("trRamLimitLow", A_TR_RAM_LIMIT_LOW),
    ADDRESS_REGISTER("trRamLimitHigh", A_TR_RAM_LIMIT_HIGH),
    ADDRESS_REGISTER("trRamWPLow", A_TR_RAM_WP_LOW),
    ADDRESS_REGISTER("trRamWPHigh", A_TR_RAM_WP_HIGH),
    {   .name = "trRamRPLow", .addr = A_TR_RAM_RP_LOW,
        .post_read = riscv_trace_ram_address_post_read,
        .post_write = riscv_trace_ram_rp_post_write,
    },{ .name = "trRamRPHigh", .addr = A_TR_RAM_RP_HIGH,
        .ro = 0xffffffff,
    },{ .name = "trRamData", .addr = A_TR_RAM_DATA,
        .ro = 0xffffffff,
        .post_read = riscv_trace_ram_data_post_read,
    },
};

/*
 * Device
 */

static void riscv_trace_ram_reset_enter(Object *obj, ResetType type)
{
    RISCVTraceRAM *s = RISCV_TRACE_RAM(obj);
    uint32_t impl = TR_IMPL_VALUE(TR_COMP_RAM);

    if (s->storing || s->stopped) {
        riscv_trace_ram_disable(s);
    }
    /* What was traced before a reset can be read after it. */
    s->regs[R_TR_RAM_CONTROL] = riscv_trace_ram_control_reset(s);
    impl = FIELD_DP32(impl, TR_RAM_IMPL, HAS_SRAM, s->sram_size != 0);
    impl = FIELD_DP32(impl, TR_RAM_IMPL, HAS_SMEM, s->memory != NULL);
    s->regs[R_TR_RAM_IMPL] = impl;
}

static void riscv_trace_ram_reset_exit(Object *obj, ResetType type)
{
    RISCVTraceRAM *s = RISCV_TRACE_RAM(obj);
    uint32_t control = s->regs[R_TR_RAM_CONTROL];

    if (s->autostart) {
        /* Never into memory that the guest has not set aside */
        control = FIELD_DP32(control, TR_RAM_CONTROL, MODE, TR_RAM_MODE_SRAM);
        control = FIELD_DP32(control, TR_CONTROL, ACTIVE, 1);
        control = FIELD_DP32(control, TR_CONTROL, ENABLE, 1);
        s->regs[R_TR_RAM_CONTROL] = control;
        riscv_trace_ram_enable(s);
    }
}

static void riscv_trace_ram_power_up_rings(RISCVTraceRAM *s)
{
    memset(s->rings, 0, sizeof(s->rings));
    if (s->sram_size) {
        s->rings[TR_RAM_MODE_SRAM].limit = s->sram_size -
                                           RISCV_TRACE_RAM_WORD;
    }
    s->rings[TR_RAM_MODE_SMEM].limit = RISCV_TRACE_RAM_PAGE -
                                       RISCV_TRACE_RAM_WORD;
}

static bool riscv_trace_ram_check(RISCVTraceRAM *s, Error **errp)
{
    if (!s->replicator) {
        error_setg(errp, "trace RAM sink needs a \"replicator\"");
        return false;
    }
    if (!s->memory && !s->sram_size) {
        error_setg(errp, "trace RAM sink needs \"memory\" or an sram-size");
        return false;
    }
    if (s->sram_size % RISCV_TRACE_RAM_PAGE || s->sram_size > SRAM_SIZE_MAX) {
        error_setg(errp, "sram-size of a trace RAM sink is a multiple of %u "
                   "bytes and at most 1 GiB, not %" PRIu32,
                   RISCV_TRACE_RAM_PAGE, s->sram_size);
        return false;
    }
    if (s->hart < -1 || s->hart >= RISCV_TRACE_MAX_SOURCES) {
        error_setg(errp, "hart of a trace RAM sink is -1 (all harts) to %u, "
                   "not %" PRId32, RISCV_TRACE_MAX_SOURCES - 1, s->hart);
        return false;
    }
    if (s->autostart && !s->sram_size) {
        error_setg(errp, "autostart of a trace RAM sink needs an sram-size");
        return false;
    }
    return true;
}

/* Migration knows memory by its name. */
static bool riscv_trace_ram_init_sram(RISCVTraceRAM *s, Error **errp)
{
    g_autofree char *name =
        s->hart < 0 ? g_strdup("riscv-trace-ram.sram") :
                      g_strdup_printf("riscv-trace-ram%" PRId32 ".sram",
                                      s->hart);

    return memory_region_init_ram(&s->sram, OBJECT(s), name, s->sram_size,
                                  errp);
}

static void riscv_trace_ram_realize(DeviceState *dev, Error **errp)
{
    RISCVTraceRAM *s = RISCV_TRACE_RAM(dev);

    if (!riscv_trace_ram_check(s, errp)) {
        return;
    }
    if (s->sram_size && !riscv_trace_ram_init_sram(s, errp)) {
        return;
    }
    riscv_trace_ram_power_up_rings(s);
    s->output.harts = s->hart < 0 ? RISCV_TRACE_ALL_SOURCES : 1u << s->hart;
    s->output.ops = &riscv_trace_ram_output_ops;
    if (!riscv_trace_replicator_add(s->replicator, &s->output, errp)) {
        return;
    }
    if (s->memory) {
        address_space_init(&s->as, s->memory, TYPE_RISCV_TRACE_RAM);
    }
    s->bh = qemu_bh_new(riscv_trace_ram_bh, s);
}

static void riscv_trace_ram_unrealize(DeviceState *dev)
{
    RISCVTraceRAM *s = RISCV_TRACE_RAM(dev);

    riscv_trace_replicator_remove(s->replicator, &s->output);
    qemu_bh_delete(s->bh);
    if (s->memory) {
        address_space_destroy(&s->as);
    }
}

static void riscv_trace_ram_init(Object *obj)
{
    RISCVTraceRAM *s = RISCV_TRACE_RAM(obj);

    qemu_mutex_init(&s->lock);
    s->reg_array = register_init_block32(DEVICE(obj),
                                         riscv_trace_ram_regs_info,
                                         ARRAY_SIZE(riscv_trace_ram_regs_info),
                                         s->regs_info, s->regs,
                                         &riscv_trace_mmio_ops, false,
                                         RISCV_TRACE_MMIO_SIZE);
    sysbus_init_mmio(SYS_BUS_DEVICE(obj), &s->reg_array->mem);
}

static void riscv_trace_ram_finalize(Object *obj)
{
    RISCVTraceRAM *s = RISCV_TRACE_RAM(obj);

    riscv_trace_finalize_block(s->reg_array);
    qemu_mutex_destroy(&s->lock);
}

/* Can the registers hold these addresses? */
static bool riscv_trace_ram_is_ring(const RISCVTraceRing *ring)
{
    uint64_t max = (uint64_t)ADDRESS_HIGH_MASK << 32 | UINT32_MAX;

    return QEMU_IS_ALIGNED(ring->start, RISCV_TRACE_RAM_PAGE) &&
           QEMU_IS_ALIGNED(ring->limit + RISCV_TRACE_RAM_WORD,
                           RISCV_TRACE_RAM_PAGE) &&
           QEMU_IS_ALIGNED(ring->wp | ring->rp, RISCV_TRACE_RAM_WORD) &&
           ring->start <= max && ring->limit <= max && ring->wp <= max;
}

static int riscv_trace_ram_post_load(void *opaque, int version_id)
{
    RISCVTraceRAM *s = opaque;
    const RISCVTraceRing *sram = &s->rings[TR_RAM_MODE_SRAM];
    const RISCVTraceRing *ring = riscv_trace_ram_current(s);

    if (s->fill >= sizeof(s->word) ||
        !riscv_trace_ram_is_ring(&s->rings[TR_RAM_MODE_SMEM]) ||
        (ring == sram ? !s->sram_size : !s->memory) ||
        (s->sram_size &&
         (!riscv_trace_ram_is_ring(sram) || sram->start ||
          sram->limit > s->sram_size - RISCV_TRACE_RAM_WORD ||
          sram->wp > sram->limit || sram->rp > sram->limit)) ||
        (s->storing && (ring->wp < ring->start || ring->wp > ring->limit))) {
        /* QEMU may go on (-no-shutdown): nothing may use what is wrong. */
        s->storing = false;
        s->stopped = false;
        s->fill = 0;
        riscv_trace_ram_power_up_rings(s);
        return -EINVAL;
    }
    riscv_trace_replicator_update(s->replicator, &s->output);
    return 0;
}

static const VMStateDescription vmstate_riscv_trace_ring = {
    .name = "riscv-trace-ring",
    .version_id = 1,
    .minimum_version_id = 1,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT64(start, RISCVTraceRing),
        VMSTATE_UINT64(limit, RISCVTraceRing),
        VMSTATE_UINT64(wp, RISCVTraceRing),
        VMSTATE_UINT64(rp, RISCVTraceRing),
        VMSTATE_BOOL(wrapped, RISCVTraceRing),
        VMSTATE_END_OF_LIST()
    }
};

/* What is counted for the sideband is of a session, which does not migrate. */
static const VMStateDescription vmstate_riscv_trace_ram = {
    .name = TYPE_RISCV_TRACE_RAM,
    .version_id = 1,
    .minimum_version_id = 1,
    .post_load = riscv_trace_ram_post_load,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT32(regs[R_TR_RAM_CONTROL], RISCVTraceRAM),
        VMSTATE_STRUCT_ARRAY(rings, RISCVTraceRAM, 2, 1,
                             vmstate_riscv_trace_ring, RISCVTraceRing),
        VMSTATE_BOOL(storing, RISCVTraceRAM),
        VMSTATE_BOOL(stopped, RISCVTraceRAM),
        VMSTATE_UINT8_ARRAY(word, RISCVTraceRAM, RISCV_TRACE_RAM_WORD),
        VMSTATE_UINT32(fill, RISCVTraceRAM),
        VMSTATE_UINT64(since_align, RISCVTraceRAM),
        VMSTATE_END_OF_LIST()
    }
};

static const Property riscv_trace_ram_properties[] = {
    DEFINE_PROP_LINK("replicator", RISCVTraceRAM, replicator,
                     TYPE_RISCV_TRACE_REPLICATOR, RISCVTraceReplicator *),
    DEFINE_PROP_LINK("memory", RISCVTraceRAM, memory, TYPE_MEMORY_REGION,
                     MemoryRegion *),
    DEFINE_PROP_SIZE32("sram-size", RISCVTraceRAM, sram_size,
                       SRAM_SIZE_DEFAULT),
    DEFINE_PROP_BOOL("autostart", RISCVTraceRAM, autostart, false),
    DEFINE_PROP_INT32("hart", RISCVTraceRAM, hart, -1),
};

static void riscv_trace_ram_class_init(ObjectClass *oc,
                                       RISCVTraceClassData data)
{
    DeviceClass *dc = DEVICE_CLASS(oc);
    ResettableClass *rc = RESETTABLE_CLASS(oc);

    dc->desc = "RISC-V trace RAM sink";
    dc->realize = riscv_trace_ram_realize;
    dc->unrealize = riscv_trace_ram_unrealize;
    dc->vmsd = &vmstate_riscv_trace_ram;
    device_class_set_props(dc, riscv_trace_ram_properties);
    object_class_property_set_description(oc, "replicator",
        "replicator that gives the packets");
    object_class_property_set_description(oc, "memory",
        "memory that SMEM mode writes to; none: there is no such mode");
    object_class_property_set_description(oc, "sram-size",
        "bytes of memory of its own, a multiple of 4096 (up to 1G); 0: there is "
        "no SRAM mode");
    object_class_property_set_description(oc, "autostart",
        "trace from reset, in SRAM mode");
    object_class_property_set_description(oc, "hart",
        "number of the hart whose sink it is; -1: all harts share it");
    set_bit(DEVICE_CATEGORY_MISC, dc->categories);
    /* Reason: has to be connected to a replicator */
    dc->user_creatable = false;
    rc->phases.enter = riscv_trace_ram_reset_enter;
    rc->phases.exit = riscv_trace_ram_reset_exit;
}

static const TypeInfo riscv_trace_ram_info = {
    .name = TYPE_RISCV_TRACE_RAM,
    .parent = TYPE_SYS_BUS_DEVICE,
    .instance_size = sizeof(RISCVTraceRAM),
    .instance_init = riscv_trace_ram_init,
    .instance_finalize = riscv_trace_ram_finalize,
    .class_init = riscv_trace_ram_class_init,
};

static void riscv_trace_ram_register_types(void)
{
    type_register_static(&riscv_trace_ram_info);
}

type_init(riscv_trace_ram_register_types)
