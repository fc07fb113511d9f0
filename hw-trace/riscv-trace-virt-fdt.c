/*
 * RISC-V trace: the trace components of the virt machine: device tree
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "hw/riscv/numa.h"
#include "hw/riscv/virt.h"
#include "system/device_tree.h"
#include "riscv-trace-virt-private.h"

/*
 * Device tree: Linux' binding riscv,trace-component, whose components are
 * connected by a graph of ports.
 */

static char *riscv_trace_virt_add_node(RISCVVirtState *s, hwaddr base)
{
    static const char * const compat[] = {
        "qemu,trace-component", "riscv,trace-component"
    };
    void *fdt = MACHINE(s)->fdt;
    char *node = g_strdup_printf("/soc/trace@%" HWADDR_PRIx, base);

    qemu_fdt_add_subnode(fdt, node);
    qemu_fdt_setprop_string_array(fdt, node, "compatible", (char **)&compat,
                                  ARRAY_SIZE(compat));
    qemu_fdt_setprop_cells(fdt, node, "reg", base >> 32, base, 0,
                           RISCV_TRACE_MMIO_SIZE);
    return node;
}

/* A connection from one component to the next, as two phandles of endpoints */
typedef struct TraceWire {
    uint32_t out, in;
} TraceWire;

static TraceWire riscv_trace_virt_wire(void *fdt)
{
    TraceWire wire = { qemu_fdt_alloc_phandle(fdt),
                       qemu_fdt_alloc_phandle(fdt) };

    return wire;
}

static void riscv_trace_virt_add_endpoint(void *fdt, const char *port,
                                          uint32_t phandle, uint32_t remote)
{
    g_autofree char *endpoint = g_strdup_printf("%s/endpoint", port);

    qemu_fdt_add_subnode(fdt, endpoint);
    qemu_fdt_setprop_cell(fdt, endpoint, "phandle", phandle);
    qemu_fdt_setprop_cell(fdt, endpoint, "remote-endpoint", remote);
}

/* One of @ports ("in-ports", "out-ports") of @node, whose only port it is. */
static void riscv_trace_virt_add_port(void *fdt, const char *node,
                                      const char *ports, uint32_t phandle,
                                      uint32_t remote)
{
    g_autofree char *group = g_strdup_printf("%s/%s", node, ports);
    g_autofree char *port = g_strdup_printf("%s/port", group);

    qemu_fdt_add_subnode(fdt, group);
    qemu_fdt_add_subnode(fdt, port);
    riscv_trace_virt_add_endpoint(fdt, port, phandle, remote);
}

/* The group @ports of @node, for several ports */
static void riscv_trace_virt_add_ports(void *fdt, const char *node,
                                       const char *ports)
{
    g_autofree char *group = g_strdup_printf("%s/%s", node, ports);

    qemu_fdt_add_subnode(fdt, group);
    qemu_fdt_setprop_cell(fdt, group, "#address-cells", 1);
    qemu_fdt_setprop_cell(fdt, group, "#size-cells", 0);
}

/* Port @index of several ones */
static void riscv_trace_virt_add_port_at(void *fdt, const char *node,
                                         const char *ports, unsigned index,
                                         uint32_t phandle, uint32_t remote)
{
    g_autofree char *port = g_strdup_printf("%s/%s/port@%x", node, ports,
                                            index);

    qemu_fdt_add_subnode(fdt, port);
    qemu_fdt_setprop_cell(fdt, port, "reg", index);
    riscv_trace_virt_add_endpoint(fdt, port, phandle, remote);
}

/* The node of a component at @base which is that of one hart */
static char *riscv_trace_virt_add_hart_node(RISCVVirtState *s, hwaddr base,
                                            int hartid)
{
    void *fdt = MACHINE(s)->fdt;
    g_autofree char *cpu = g_strdup_printf("/cpus/cpu@%d", hartid);
    char *node = riscv_trace_virt_add_node(s, base);

    qemu_fdt_setprop_cell(fdt, node, "cpus", qemu_fdt_get_phandle(fdt, cpu));
    return node;
}

/* The encoder of a hart, and its RAM sink */
static void riscv_trace_virt_add_hart(RISCVVirtState *s, unsigned index,
                                      int hartid)
{
    void *fdt = MACHINE(s)->fdt;
    g_autofree char *ram =
        riscv_trace_virt_add_hart_node(s, TRACE_HART_RAM(s, index), hartid);
    g_autofree char *node =
        riscv_trace_virt_add_hart_node(s, TRACE_ENCODER(s, index), hartid);
    TraceWire wire = riscv_trace_virt_wire(fdt);

    riscv_trace_virt_add_port(fdt, node, "out-ports", wire.out, wire.in);
    riscv_trace_virt_add_port(fdt, ram, "in-ports", wire.in, wire.out);
}

static void riscv_trace_virt_add_encoder(RISCVVirtState *s, unsigned index,
                                         int hartid, const char *funnel)
{
    void *fdt = MACHINE(s)->fdt;
    g_autofree char *node =
        riscv_trace_virt_add_hart_node(s, TRACE_ENCODER(s, index), hartid);
    TraceWire wire = riscv_trace_virt_wire(fdt);

    riscv_trace_virt_add_port(fdt, node, "out-ports", wire.out, wire.in);
    if (MACHINE(s)->smp.cpus == 1) {
        riscv_trace_virt_add_port(fdt, funnel, "in-ports", wire.in, wire.out);
    } else {
        riscv_trace_virt_add_port_at(fdt, funnel, "in-ports", index, wire.in,
                                     wire.out);
    }
}

/*
 * The sinks, as outputs of @from: the replicator is no node, because it has
 * no registers. Software that takes the first sink that it finds gets the one
 * that it can read.
 */
static void riscv_trace_virt_add_sinks(RISCVVirtState *s, const char *from)
{
    void *fdt = MACHINE(s)->fdt;
    g_autofree char *ram = riscv_trace_virt_add_node(s, TRACE_RAM(s));
    g_autofree char *pib = riscv_trace_virt_add_node(s, TRACE_PIB(s));
    TraceWire wire = riscv_trace_virt_wire(fdt);

    riscv_trace_virt_add_ports(fdt, from, "out-ports");
    /* The last subnode that is added is the first one in the tree. */
    riscv_trace_virt_add_port_at(fdt, from, "out-ports", 1, wire.out, wire.in);
    riscv_trace_virt_add_port(fdt, pib, "in-ports", wire.in, wire.out);

    wire = riscv_trace_virt_wire(fdt);
    riscv_trace_virt_add_port_at(fdt, from, "out-ports", 0, wire.out, wire.in);
    riscv_trace_virt_add_port(fdt, ram, "in-ports", wire.in, wire.out);
}

/* The funnel, and all that is behind it. Returns the funnel's node. */
static char *riscv_trace_virt_add_funnel(RISCVVirtState *s)
{
    void *fdt = MACHINE(s)->fdt;
    char *funnel = riscv_trace_virt_add_node(s, TRACE_FUNNEL(s));

    if (MACHINE(s)->smp.cpus > 1) {
        riscv_trace_virt_add_ports(fdt, funnel, "in-ports");
    }
    if (s->trace.atb) {
        g_autofree char *atb = riscv_trace_virt_add_node(s, TRACE_ATB(s));
        TraceWire wire = riscv_trace_virt_wire(fdt);

        riscv_trace_virt_add_port(fdt, funnel, "out-ports", wire.out, wire.in);
        riscv_trace_virt_add_port(fdt, atb, "in-ports", wire.in, wire.out);
        riscv_trace_virt_add_sinks(s, atb);
    } else {
        riscv_trace_virt_add_sinks(s, funnel);
    }
    return funnel;
}

void riscv_trace_virt_create_fdt(RISCVVirtState *s)
{
    g_autofree char *funnel = NULL;
    unsigned index = 0;

    if (!s->trace.on) {
        return;
    }
    if (!s->trace.per_hart) {
        funnel = riscv_trace_virt_add_funnel(s);
    }
    for (int i = 0; i < riscv_socket_count(MACHINE(s)); i++) {
        for (unsigned j = 0; j < s->soc[i].num_harts; j++) {
            int hartid = s->soc[i].hartid_base + j;

            if (funnel) {
                riscv_trace_virt_add_encoder(s, index++, hartid, funnel);
            } else {
                riscv_trace_virt_add_hart(s, index++, hartid);
            }
        }
    }
}
