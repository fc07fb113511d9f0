/*
 * Encoder parameters by name: NAME=VALUE, and files that others read
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <gio/gio.h>
#include "base/params-text.h"

typedef struct ParamName {
    const char *name;
    size_t offset;
} ParamName;

#define PARAM(name) { #name, offsetof(ETraceParams, name) }

/* All the members of one byte, but wire_format */
static const ParamName names[] = {
    PARAM(iaddress_width),
    PARAM(iaddress_lsb),
    PARAM(privilege_width),
    PARAM(ecause_width),
    PARAM(time_width),
    PARAM(context_width),
    PARAM(call_counter_size),
    PARAM(return_stack_size),
    PARAM(bpred_size),
    PARAM(cache_size),
    PARAM(f0s_width),
    PARAM(sijump),
    PARAM(data_width),
    PARAM(daddress_width),
    PARAM(lrid_width),
    PARAM(dtype_width),
    PARAM(src_bits),
    PARAM(ts_bytes),
    PARAM(ioptions),
    PARAM(doptions),
};

static const char *const wire_formats[ETRACE_WIRE_MAX] = {
    [ETRACE_WIRE_2_0] = "2.0",
    [ETRACE_WIRE_1_1_1] = "1.1.1",
    [ETRACE_WIRE_2_1_DRAFT] = "2.1-draft",
};

static bool set_wire_format(ETraceParams *p, const char *value,
                            GError **errp)
{
    for (int i = 0; i < ETRACE_WIRE_MAX; i++) {
        if (!strcmp(value, wire_formats[i])) {
            p->wire_format = i;
            return true;
        }
    }
    g_set_error(errp, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
                "wire_format=%s: there are 2.0, 1.1.1 and 2.1-draft", value);
    return false;
}

bool params_text_set(ETraceParams *p, const char *name, const char *value,
                     GError **errp)
{
    uint64_t number, max = UINT8_MAX;
    uint8_t *member = NULL;
    char *end;

    if (!strcmp(name, "wire_format")) {
        return set_wire_format(p, value, errp);
    }
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        if (!strcmp(name, names[i].name)) {
            member = (uint8_t *)p + names[i].offset;
        }
    }
    if (!strcmp(name, "src_id")) {
        max = UINT16_MAX;
    } else if (!member) {
        g_set_error(errp, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
                    "%s=%s: not the name of a parameter (iaddress_width, "
                    "privilege_width, ecause_width, src_bits, ...)", name,
                    value);
        return false;
    }
    number = g_ascii_strtoull(value, &end, 0);
    if (!g_ascii_isdigit(value[0]) || *end || number > max) {
        g_set_error(errp, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
                    "%s=%s: must be a number from 0 to %" PRIu64, name,
                    value, max);
        return false;
    }
    if (member) {
        *member = number;
    } else {
        p->src_id = number;
    }
    return true;
}

void params_text_append(GString *out, const ETraceParams *p)
{
    g_string_append_printf(out, " wire_format=%s",
                           wire_formats[p->wire_format]);
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        g_string_append_printf(out, " %s=%u", names[i].name,
                               *((const uint8_t *)p + names[i].offset));
    }
}

/*
 * The parameters of Tables 9.1 and 9.2 that decoders of others read. What is
 * about the ingress port only has the value of our hart's interface.
 */
typedef struct Attribute {
    const char *name;
    unsigned value;
} Attribute;

#define MAX_ATTRIBUTES 32

/* A width of 0 is said by nocontext_p and notime_p; widths start at 1. */
static unsigned at_least_1(unsigned width)
{
    return width ?: 1;
}

static unsigned required_attributes(const ETraceParams *p, Attribute *a)
{
    const Attribute list[] = {
        { "arch_p", 0 },
        { "bpred_size_p", p->bpred_size },
        { "cache_size_p", p->cache_size },
        { "call_counter_size_p", p->call_counter_size },
        { "context_width_p", at_least_1(p->context_width) },
        { "time_width_p", at_least_1(p->time_width) },
        { "ecause_width_p", p->ecause_width },
        { "f0s_width_p", p->f0s_width },
        { "iaddress_lsb_p", p->iaddress_lsb },
        { "iaddress_width_p", p->iaddress_width },
        { "nocontext_p", !p->context_width },
        { "notime_p", !p->time_width },
        { "privilege_width_p", p->privilege_width },
        { "return_stack_size_p", p->return_stack_size },
        { "sijump_p", p->sijump },
    };

    memcpy(a, list, sizeof(list));
    return ARRAY_SIZE(list);
}

static unsigned data_attributes(const ETraceParams *p, Attribute *a)
{
    const Attribute list[] = {
        { "daddress_width_p", at_least_1(p->daddress_width) },
        { "dblock_width_p", 1 },
        { "data_width_p", at_least_1(p->data_width) },
        { "dsize_width_p", 3 },
        { "dtype_width_p", p->dtype_width ?: 4 },
        { "iaddr_lsbs_width_p", 16 },
        { "lrid_width_p", at_least_1(p->lrid_width) },
        { "lresp_width_p", 2 },
        { "ldata_width_p", at_least_1(p->data_width) },
        { "sdata_width_p", at_least_1(p->data_width) },
    };

    memcpy(a, list, sizeof(list));
    return ARRAY_SIZE(list);
}

static void append_attributes(GString *out, const char *prefix,
                              const char *separator, const Attribute *a,
                              unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        g_string_append_printf(out, "%s%s%s%u\n", prefix, a[i].name,
                               separator, a[i].value);
    }
}

/*
 * riscv-etrace-lib reads a line for each parameter, and fixed widths of what
 * the specification leaves open.
 */
static void append_csv(GString *out, const ETraceParams *p)
{
    const Attribute packet[] = {
        { "srcid_bytes_p", p->src_bits / 8 },
        { "tstamp_bytes_p", p->ts_bytes },
        { "type_width_p", p->data_width != 0 },
    };
    const Attribute support[] = {
        { "enc_mode_width_p", 1 },
        { "ioptions_width_p", 5 + p->sijump },
        { "denable_width_p", 1 },
        { "dloss_width_p", 1 },
        { "doptions_width_p", 4 },
    };
    Attribute a[MAX_ATTRIBUTES];

    append_attributes(out, ".packet.", ",", packet, ARRAY_SIZE(packet));
    append_attributes(out, ".itrace.", ",", a, required_attributes(p, a));
    if (p->data_width) {
        append_attributes(out, ".dtrace.", ",", a, data_attributes(p, a));
    }
    g_string_append(out, ".sup.packet_flow_id,-1\n");
    append_attributes(out, ".sup.", ",", support, ARRAY_SIZE(support));
}

static void append_json(GString *out, const ETraceParams *p)
{
    g_string_append_printf(out, "{\n  \"wire_format\": \"%s\"",
                           wire_formats[p->wire_format]);
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        g_string_append_printf(out, ",\n  \"%s\": %u", names[i].name,
                               *((const uint8_t *)p + names[i].offset));
    }
    g_string_append_printf(out, ",\n  \"src_id\": %u\n}\n", p->src_id);
}

ParamsFormat params_format_parse(const char *name)
{
    static const char *const formats[PARAMS_NR_FORMATS] = {
        [PARAMS_CSV] = "csv",
        [PARAMS_TOML] = "toml",
        [PARAMS_SCF] = "scf",
        [PARAMS_DSCF] = "dscf",
        [PARAMS_JSON] = "json",
    };
    int i;

    for (i = 0; i < PARAMS_NR_FORMATS && strcmp(name, formats[i]); i++) {
        continue;
    }
    return i;
}

void params_text_file(GString *out, const ETraceParams *p,
                      ParamsFormat format)
{
    Attribute a[MAX_ATTRIBUTES];

    switch (format) {
    case PARAMS_CSV:
        append_csv(out, p);
        break;
    case PARAMS_TOML:
        append_attributes(out, "", "=", a, required_attributes(p, a));
        break;
    case PARAMS_SCF:
        g_string_append(out, "[Required Attributes]\n");
        append_attributes(out, "", "=", a, required_attributes(p, a));
        break;
    case PARAMS_DSCF:
        g_string_append(out, "[required]\n");
        append_attributes(out, "", " = ", a, data_attributes(p, a));
        break;
    default:
        append_json(out, p);
        break;
    }
}
