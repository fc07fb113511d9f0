/*
 * RISC-V trace: the monitor's view
 *
 * What software in the guest could do, and in the same way: through the
 * registers of the trace components, in the order that the RISC-V Trace
 * Control Interface 1.0 lays down ("Enabling and Disabling").
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qapi/qapi-commands-riscv-trace.h"
#include "qapi/type-helpers.h"
#include "system/address-spaces.h"
#include "hw/boards.h"
#include "hw/core/cpu.h"
#include "hw/sysbus.h"
#include "system/runstate.h"
#include "riscv-trace-encoder.h"
#include "riscv-trace-memory.h"
#include "riscv-trace-pib.h"
#include "riscv-trace-regs.h"
#include "riscv-trace-sink.h"

/* Components are children of the machine. */
static SysBusDevice *component(const char *name)
{
    Object *obj = object_resolve_path_component(qdev_get_machine(), name);

    return obj ? SYS_BUS_DEVICE(obj) : NULL;
}

static SysBusDevice *encoder(unsigned i)
{
    g_autofree char *name = g_strdup_printf("trace-encoder%u", i);

    return component(name);
}

/* Hart @i's own RAM sink; NULL if there is none, or one for all of them */
static SysBusDevice *hart_ram(unsigned i)
{
    g_autofree char *name = g_strdup_printf("trace-ram%u", i);

    return component(name);
}

/* RAM sink number @i of the machine, NULL behind the last one */
static SysBusDevice *ram_sink(unsigned i)
{
    SysBusDevice *shared = component("trace-ram");

    return shared ? (i ? NULL : shared) : hart_ram(i);
}

static uint32_t reg_read(SysBusDevice *dev, hwaddr reg)
{
    uint64_t val = 0;

    memory_region_dispatch_read(sysbus_mmio_get_region(dev, 0), reg, &val,
                                MO_LEUL, MEMTXATTRS_UNSPECIFIED);
    return val;
}

static void reg_write(SysBusDevice *dev, hwaddr reg, uint32_t val)
{
    memory_region_dispatch_write(sysbus_mmio_get_region(dev, 0), reg, val,
                                 MO_LEUL, MEMTXATTRS_UNSPECIFIED);
}

static uint64_t reg_read_address(SysBusDevice *dev, hwaddr reg)
{
    return reg_read(dev, reg) | (uint64_t)reg_read(dev, reg + 4) << 32;
}

static bool has_trace(Error **errp)
{
    if (!encoder(0)) {
        error_setg(errp, "the machine has no trace components: "
                   "use -machine virt,trace=on, or -device riscv-trace");
        return false;
    }
    return true;
}

/*
 * x-query-riscv-trace
 */

typedef struct ControlBit {
    uint32_t mask;
    const char *name;
} ControlBit;

static void print_control(GString *buf, const char *name, uint32_t control,
                          const ControlBit *bits, size_t n)
{
    g_string_append_printf(buf, "%-12s control 0x%08x", name, control);
    for (size_t i = 0; i < n; i++) {
        if (control & bits[i].mask) {
            g_string_append_printf(buf, " %s", bits[i].name);
        }
    }
}

static const ControlBit common_bits[] = {
    { R_TR_CONTROL_ACTIVE_MASK, "active" },
    { R_TR_CONTROL_ENABLE_MASK, "enabled" },
    { R_TR_CONTROL_EMPTY_MASK, "empty" },
};

static const ControlBit encoder_bits[] = {
    { R_TR_CONTROL_ACTIVE_MASK, "active" },
    { R_TR_CONTROL_ENABLE_MASK, "enabled" },
    { R_TR_TE_CONTROL_INST_TRACING_MASK, "tracing" },
    { R_TR_CONTROL_EMPTY_MASK, "empty" },
    { R_TR_TE_CONTROL_INST_STALL_ENA_MASK, "stall" },
    { R_TR_TE_CONTROL_INST_STALL_OR_OVERFLOW_MASK, "stalled-or-overflow" },
};

static const ControlBit ram_bits[] = {
    { R_TR_CONTROL_ACTIVE_MASK, "active" },
    { R_TR_CONTROL_ENABLE_MASK, "enabled" },
    { R_TR_CONTROL_EMPTY_MASK, "empty" },
    { R_TR_RAM_CONTROL_STOP_ON_WRAP_MASK, "stop-on-wrap" },
};

static void print_encoder(GString *buf, unsigned i, SysBusDevice *dev)
{
    g_autofree char *name = g_strdup_printf("encoder %u", i);
    uint32_t features = reg_read(dev, A_TR_TE_INST_FEATURES);
    g_autofree char *filter = object_property_get_str(OBJECT(dev), "filter",
                                                      &error_abort);

    print_control(buf, name, reg_read(dev, A_TR_CONTROL), encoder_bits,
                  ARRAY_SIZE(encoder_bits));
    g_string_append_printf(buf, ", features 0x%08x", features);
    if (*filter) {
        g_string_append_printf(buf, ", filter %s", filter);
    }
    g_string_append_c(buf, '\n');
}

static void print_ram(GString *buf, const char *name, SysBusDevice *dev)
{
    uint32_t control = reg_read(dev, A_TR_RAM_CONTROL);
    uint64_t wp = reg_read_address(dev, A_TR_RAM_WP_LOW);

    print_control(buf, name, control, ram_bits, ARRAY_SIZE(ram_bits));
    g_string_append_printf(buf, ", %s 0x%" PRIx64 "-0x%" PRIx64
                           ", next 0x%" PRIx64 "%s\n",
                           FIELD_EX32(control, TR_RAM_CONTROL, MODE) ?
                           "memory" : "SRAM",
                           reg_read_address(dev, A_TR_RAM_START_LOW),
                           reg_read_address(dev, A_TR_RAM_LIMIT_LOW) + 3,
                           wp & ~(uint64_t)R_TR_RAM_WP_LOW_WRAP_MASK,
                           wp & R_TR_RAM_WP_LOW_WRAP_MASK ? ", wrapped" : "");
}

static void print_link(GString *buf, const char *name, SysBusDevice *dev)
{
    print_control(buf, name, reg_read(dev, A_TR_CONTROL), common_bits,
                  ARRAY_SIZE(common_bits));
    g_string_append_c(buf, '\n');
}

HumanReadableText *qmp_x_query_riscv_trace(Error **errp)
{
    g_autoptr(GString) buf = g_string_new("");
    SysBusDevice *dev;

    if (!has_trace(errp)) {
        return NULL;
    }
    for (unsigned i = 0; (dev = encoder(i)); i++) {
        print_encoder(buf, i, dev);
    }
    for (unsigned i = 0; (dev = hart_ram(i)); i++) {
        g_autofree char *name = g_strdup_printf("RAM sink %u", i);

        print_ram(buf, name, dev);
    }
    dev = component("trace-funnel");
    if (dev) {
        print_control(buf, "funnel", reg_read(dev, A_TR_CONTROL), common_bits,
                      ARRAY_SIZE(common_bits));
        g_string_append_printf(buf, ", disabled inputs 0x%04x\n",
                               reg_read(dev, A_TR_FUNNEL_DIS_INPUT));
    }
    dev = component("trace-atb-bridge");
    if (dev) {
        print_link(buf, "ATB bridge", dev);
    }
    dev = component("trace-ram");
    if (dev) {
        print_ram(buf, "RAM sink", dev);
    }
    dev = component("trace-pib");
    if (dev) {
        print_link(buf, "PIB sink", dev);
    }
    return human_readable_text_from_str(buf);
}

/*
 * x-riscv-trace-start, x-riscv-trace-stop
 */

/* Set @bits; of the fields of a component that is active nothing else. */
static void control_set(SysBusDevice *dev, uint32_t bits)
{
    uint32_t control = reg_read(dev, A_TR_CONTROL);

    if (!(control & R_TR_CONTROL_ACTIVE_MASK)) {
        reg_write(dev, A_TR_CONTROL, R_TR_CONTROL_ACTIVE_MASK);
        control = reg_read(dev, A_TR_CONTROL);
    }
    reg_write(dev, A_TR_CONTROL, control | bits);
}

static void control_clear(SysBusDevice *dev, uint32_t bits)
{
    uint32_t control = reg_read(dev, A_TR_CONTROL);

    if (control & R_TR_CONTROL_ACTIVE_MASK) {
        reg_write(dev, A_TR_CONTROL, control & ~bits);
    }
}

/* A bit of an encoder that is cleared by writing what was read */
static void encoder_clear(SysBusDevice *dev, uint32_t bits)
{
    control_clear(dev, bits | R_TR_TE_CONTROL_INST_STALL_OR_OVERFLOW_MASK);
}

static bool start_ram(SysBusDevice *dev, Error **errp)
{
    if (reg_read(dev, A_TR_CONTROL) & R_TR_CONTROL_ENABLE_MASK) {
        return true;
    }
    if (!FIELD_EX32(reg_read(dev, A_TR_RAM_IMPL), TR_RAM_IMPL, HAS_SRAM)) {
        error_setg(errp, "the RAM sink has no memory of its own, and only "
                   "the guest knows what memory it can have");
        return false;
    }
    control_set(dev, 0);
    control_clear(dev, R_TR_RAM_CONTROL_MODE_MASK);
    control_set(dev, R_TR_CONTROL_ENABLE_MASK);
    return true;
}

static bool start_sinks(RiscvTraceSink sink, Error **errp)
{
    SysBusDevice *dev = component("trace-pib");

    if (sink == RISCV_TRACE_SINK_PIB) {
        if (!dev) {
            error_setg(errp, "with trace-topology=per-hart there is no PIB "
                       "sink: leave out \"sink\", or use ram");
            return false;
        }
        control_set(dev, R_TR_CONTROL_ENABLE_MASK);
        return true;
    }
    for (unsigned i = 0; (dev = ram_sink(i)); i++) {
        if (!start_ram(dev, errp)) {
            return false;
        }
    }
    return true;
}

/* An encoder in reset has not been programmed by anybody else. */
static void start_modes(SysBusDevice *dev)
{
    control_set(dev, 0);
    reg_write(dev, A_TR_TE_INST_FEATURES,
              reg_read(dev, A_TR_TE_INST_FEATURES) |
              riscv_trace_encoder_modes_start(RISCV_TRACE_ENCODER(dev)));
}

void qmp_x_riscv_trace_start(bool has_sink, RiscvTraceSink sink, Error **errp)
{
    SysBusDevice *dev;

    if (!has_trace(errp)) {
        return;
    }
    if (!has_sink) {
        dev = component("trace-pib");
        sink = dev &&
               qemu_chr_fe_backend_connected(&RISCV_TRACE_PIB(dev)->out.chr) ?
               RISCV_TRACE_SINK_PIB : RISCV_TRACE_SINK_RAM;
    }
    if (!start_sinks(sink, errp)) {
        return;
    }
    dev = component("trace-atb-bridge");
    if (dev) {
        control_set(dev, R_TR_CONTROL_ENABLE_MASK);
    }
    dev = component("trace-funnel");
    if (dev) {
        control_set(dev, R_TR_CONTROL_ENABLE_MASK);
    }
    for (unsigned i = 0; (dev = encoder(i)); i++) {
        if (!(reg_read(dev, A_TR_CONTROL) & R_TR_CONTROL_ACTIVE_MASK)) {
            start_modes(dev);
        }
        control_set(dev, R_TR_CONTROL_ENABLE_MASK);
        control_set(dev, R_TR_TE_CONTROL_INST_TRACING_MASK);
    }
}

static void nothing(CPUState *cs, run_on_cpu_data data)
{
}

void qmp_x_riscv_trace_stop(Error **errp)
{
    static const char *const behind[] = {
        "trace-funnel", "trace-atb-bridge", "trace-pib",
    };
    SysBusDevice *dev;
    CPUState *cs;

    if (!has_trace(errp)) {
        return;
    }
    for (unsigned i = 0; (dev = encoder(i)); i++) {
        encoder_clear(dev, R_TR_TE_CONTROL_INST_TRACING_MASK);
        encoder_clear(dev, R_TR_CONTROL_ENABLE_MASK);
    }
    /* A hart stops tracing when it comes to it: wait for the last packets. */
    CPU_FOREACH(cs) {
        run_on_cpu(cs, nothing, RUN_ON_CPU_NULL);
    }
    for (size_t i = 0; i < ARRAY_SIZE(behind); i++) {
        dev = component(behind[i]);
        if (dev) {
            control_clear(dev, R_TR_CONTROL_ENABLE_MASK);
        }
    }
    for (unsigned i = 0; (dev = ram_sink(i)); i++) {
        control_clear(dev, R_TR_CONTROL_ENABLE_MASK);
    }
}

/*
 * x-riscv-trace-save
 */

static bool save_sram(SysBusDevice *dev, FILE *f, uint64_t from, uint64_t to)
{
    uint32_t rp = reg_read(dev, A_TR_RAM_RP_LOW);
    bool ok = true;

    reg_write(dev, A_TR_RAM_RP_LOW, from);
    for (; ok && from < to; from += 4) {
        uint32_t word = cpu_to_le32(reg_read(dev, A_TR_RAM_DATA));

        ok = fwrite(&word, sizeof(word), 1, f) == 1;
    }
    reg_write(dev, A_TR_RAM_RP_LOW, rp);
    return ok;
}

static bool save_memory(FILE *f, uint64_t from, uint64_t to)
{
    uint8_t buf[4096];

    while (from < to) {
        size_t n = MIN(sizeof(buf), to - from);

        if (!riscv_trace_memory_load(&address_space_memory, from, buf, n) ||
            fwrite(buf, 1, n, f) != n) {
            return false;
        }
        from += n;
    }
    return true;
}

static bool is_memory(SysBusDevice *dev)
{
    return FIELD_EX32(reg_read(dev, A_TR_CONTROL), TR_RAM_CONTROL, MODE);
}

static bool save_range(SysBusDevice *dev, FILE *f, uint64_t from, uint64_t to)
{
    return is_memory(dev) ? save_memory(f, from, to)
                          : save_sram(dev, f, from, to);
}

/*
 * The guest may have put anything into the registers. What the sink cannot
 * have stored is not read.
 */
static bool check_ring(SysBusDevice *dev, uint64_t start, uint64_t limit,
                       uint64_t wp, bool wrapped, Error **errp)
{
    if (wp < start || wp > limit) {
        error_setg(errp, "the RAM sink's trRamWP 0x%" PRIx64 " is not between "
                   "trRamStart 0x%" PRIx64 " and trRamLimit 0x%" PRIx64
                   ": the guest has to set them first", wp, start, limit);
        return false;
    }
    if (is_memory(dev) &&
        riscv_trace_memory_look(&address_space_memory, start,
                                (wrapped ? limit + 4 : wp) - start) ==
        RISCV_TRACE_MEMORY_OTHER) {
        error_setg(errp, "the RAM sink's ring from trRamStart 0x%" PRIx64
                   " to trRamLimit 0x%" PRIx64 " is not all RAM: the guest "
                   "has to set them first", start, limit);
        return false;
    }
    return true;
}

/* The sink that is meant; NULL with @errp set if there is none. */
static SysBusDevice *choose_ram(bool has_hart, uint16_t hart, Error **errp)
{
    SysBusDevice *shared = component("trace-ram");
    unsigned n = 0;

    if (shared) {
        if (has_hart) {
            error_setg(errp, "one RAM sink has the trace of all harts: leave "
                       "out \"hart\"");
            return NULL;
        }
        return shared;
    }
    while (hart_ram(n)) {
        n++;
    }
    if (has_hart ? hart >= n : n > 1) {
        error_setg(errp, "each hart has a RAM sink of its own: give \"hart\" "
                   "0 to %u", n - 1);
        return NULL;
    }
    return hart_ram(has_hart ? hart : 0);
}

void qmp_x_riscv_trace_save(const char *filename, bool has_hart, uint16_t hart,
                            Error **errp)
{
    SysBusDevice *dev;
    uint64_t start, limit, wp;
    bool wrapped, ok = true;
    struct stat st;
    FILE *f;

    if (!has_trace(errp)) {
        return;
    }
    dev = choose_ram(has_hart, hart, errp);
    if (!dev) {
        return;
    }
    if (runstate_is_running() &&
        (reg_read(dev, A_TR_CONTROL) & R_TR_CONTROL_ENABLE_MASK)) {
        error_setg(errp, "the RAM sink is in use: x-riscv-trace-stop or stop "
                   "comes first");
        return;
    }
    start = reg_read_address(dev, A_TR_RAM_START_LOW);
    limit = reg_read_address(dev, A_TR_RAM_LIMIT_LOW);
    wp = reg_read_address(dev, A_TR_RAM_WP_LOW);
    wrapped = wp & R_TR_RAM_WP_LOW_WRAP_MASK;
    wp &= ~(uint64_t)R_TR_RAM_WP_LOW_WRAP_MASK;
    if (!check_ring(dev, start, limit, wp, wrapped, errp)) {
        return;
    }
    /* A FIFO would stop the machine and its monitor until somebody reads. */
    if (!stat(filename, &st) && !S_ISREG(st.st_mode)) {
        error_setg(errp, "'%s' is not a regular file", filename);
        return;
    }
    f = fopen(filename, "wb");
    if (!f) {
        error_setg_file_open(errp, errno, filename);
        return;
    }
    if (wrapped) {
        ok = save_range(dev, f, wp, limit + 4);
    }
    ok = ok && save_range(dev, f, start, wp);
    if (fclose(f) || !ok) {
        error_setg(errp, "'%s' could not be written, or the ring could not "
                   "be read", filename);
    }
}
