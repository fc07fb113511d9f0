/*
 * RISC-V trace: sink interface and register access common to all components
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "qemu/module.h"
#include "hw/register.h"
#include "riscv-trace-regs.h"
#include "riscv-trace-sink.h"

const MemoryRegionOps riscv_trace_mmio_ops = {
    .read = register_read_memory,
    .write = register_write_memory,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = {
        .min_access_size = 4,
        .max_access_size = 4,
    },
};

static const TypeInfo riscv_trace_sink_info = {
    .name = TYPE_RISCV_TRACE_SINK,
    .parent = TYPE_INTERFACE,
    .class_size = sizeof(RISCVTraceSinkClass),
};

static void riscv_trace_sink_register_types(void)
{
    type_register_static(&riscv_trace_sink_info);
}

type_init(riscv_trace_sink_register_types)
