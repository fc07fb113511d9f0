/*
 * Other encoders: what is known of each, and what can be said of any
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <gio/gio.h>
#include "base/option-error.h"
#include "base/params-text.h"
#include "etrace/encap.h"
#include "text/params-file.h"
#include "trace/trace-text.h"
#include "trace/unit.h"

typedef struct Preset {
    const char *name;
    const char *params[32];     /* NAME=VALUE */
} Preset;

/* Only what is published is here: source, or two independent decoders. */
static const Preset presets[] = {
    /*
     * ESP32-C6 and ESP32-H2: the draft 1.1.1 for RV32 with M and U, always
     * with full addresses, of which support packets say nothing.
     */
    { "esp32c6", {
        "wire_format=1.1.1", "framing=esp32", "padding=zero",
        "iaddress_width=32", "iaddress_lsb=1", "privilege_width=1",
        "ecause_width=5", "time_width=0", "context_width=0", "src_bits=0",
        "ts_bytes=0", "return_stack_size=0", "call_counter_size=0",
        "bpred_size=0", "cache_size=0", "f0s_width=0", "sijump=0",
        "encoder_mode_width=0", "ioptions_width=0", "ioptions=4",
    } },
    /* rv_tracer of the PULP platform, for CVA6 with RV64 */
    { "rv_tracer", {
        "wire_format=2.0", "framing=rv_tracer", "padding=zero",
        "iaddress_trim=1", "notify=0", "resync_repeats=1",
        "block_ends=1",
        "ioptions_order=rv_tracer",
        "iaddress_width=64", "iaddress_lsb=0", "privilege_width=2",
        "ecause_width=64", "time_width=0", "context_width=0", "src_bits=0",
        "return_stack_size=0", "call_counter_size=0", "bpred_size=0",
        "cache_size=0", "f0s_width=0", "sijump=1", "encoder_mode_width=1",
        "ioptions_width=7", "denable_width=0", "dloss_width=0",
        "doptions_width=0",
    } },
};

static const char *const framings[UNIT_NR_FRAMINGS] = {
    [UNIT_ENCAP] = "encap",
    [UNIT_RAW] = "raw",
    [UNIT_ESP32] = "esp32",
    [UNIT_RV_TRACER] = "rv_tracer",
};

static const char *const paddings[UNIT_NR_PADDINGS] = {
    [UNIT_PADDING_SIGN] = "sign",
    [UNIT_PADDING_ZERO] = "zero",
};

static const char *const orders[UNIT_NR_ORDERS] = {
    [UNIT_ORDER_REFERENCE] = "reference",
    [UNIT_ORDER_RV_TRACER] = "rv_tracer",
};

static const struct {
    const char *name;
    size_t offset;
    uint8_t max;
    const char *const *values;  /* or NULL: a number */
} names[] = {
#define UNIT(name, member, max, values) \
    { name, offsetof(Unit, member), max, values }
    UNIT("framing", framing, UNIT_NR_FRAMINGS - 1, framings),
    UNIT("padding", padding, UNIT_NR_PADDINGS - 1, paddings),
    UNIT("ioptions_order", order, UNIT_NR_ORDERS - 1, orders),
    UNIT("iaddress_trim", trimmed, 1, NULL),
    UNIT("notify", notify, 1, NULL),
    UNIT("resync_repeats", resync_repeats, 1, NULL),
    UNIT("block_ends", block_ends, 1, NULL),
    UNIT("encoder_mode_width", width[UNIT_ENCODER_MODE], UNIT_WIDTH_MAX, NULL),
    UNIT("ioptions_width", width[UNIT_IOPTIONS], UNIT_WIDTH_MAX, NULL),
    UNIT("denable_width", width[UNIT_DENABLE], UNIT_WIDTH_MAX, NULL),
    UNIT("dloss_width", width[UNIT_DLOSS], UNIT_WIDTH_MAX, NULL),
    UNIT("doptions_width", width[UNIT_DOPTIONS], UNIT_WIDTH_MAX, NULL),
};

void unit_init(Unit *u, unsigned xlen, bool draft)
{
    *u = (Unit) { .notify = 1 };
    memset(u->width, UNIT_WIDTH_USUAL, sizeof(u->width));
    trace_default_params(&u->params, xlen, draft);
}

static bool bad_value(const char *name, const char *value, unsigned i,
                      GError **errp)
{
    g_autoptr(GString) list = g_string_new(NULL);

    if (!names[i].values) {
        g_set_error(errp, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
                    "%s=%s: must be a number from 0 to %u", name, value,
                    names[i].max);
        return false;
    }
    for (unsigned k = 0; k <= names[i].max; k++) {
        g_string_append_printf(list, "%s%s", k ? ", " : "",
                               names[i].values[k]);
    }
    g_set_error(errp, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
                "%s=%s: must be one of %s", name, value, list->str);
    return false;
}

bool unit_set(Unit *u, const char *name, const char *value, GError **errp)
{
    for (unsigned i = 0; i < ARRAY_SIZE(names); i++) {
        uint8_t *member = (uint8_t *)u + names[i].offset;
        uint64_t number;

        if (strcmp(name, names[i].name)) {
            continue;
        }
        if (!names[i].values) {
            if (!g_ascii_string_to_unsigned(value, 10, 0, names[i].max,
                                            &number, NULL)) {
                return bad_value(name, value, i, errp);
            }
            *member = number;
            return true;
        }
        for (unsigned k = 0; k <= names[i].max; k++) {
            if (!strcmp(value, names[i].values[k])) {
                *member = k;
                return true;
            }
        }
        return bad_value(name, value, i, errp);
    }
    return params_text_set(&u->params, name, value, errp);
}

bool unit_take_preset(Unit *u, const char *name, GError **errp)
{
    g_autoptr(GString) list = g_string_new(NULL);

    for (unsigned i = 0; i < ARRAY_SIZE(presets); i++) {
        const Preset *p = &presets[i];

        g_string_append_printf(list, "%s%s", i ? ", " : "", p->name);
        if (strcmp(name, p->name)) {
            continue;
        }
        for (const char *const *arg = p->params;
             arg < p->params + ARRAY_SIZE(p->params) && *arg; arg++) {
            const char *eq = strchr(*arg, '=');
            g_autofree char *param = g_strndup(*arg, eq - *arg);

            if (!unit_set(u, param, eq + 1, errp)) {
                g_assert_not_reached();
            }
        }
        return true;
    }
    g_set_error(errp, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
                "%s: not an encoder that is known; these are: %s; describe "
                "others by --param", name, list->str);
    return false;
}

bool unit_is_plain(const Unit *u)
{
    for (unsigned i = 0; i < UNIT_NR_FIELDS; i++) {
        if (u->width[i] != UNIT_WIDTH_USUAL) {
            return false;
        }
    }
    return u->framing == UNIT_ENCAP && u->padding == UNIT_PADDING_SIGN &&
           u->order == UNIT_ORDER_REFERENCE && !u->trimmed &&
           u->notify && !u->resync_repeats && !u->block_ends &&
           u->params.privilege_width != 1 && u->params.ecause_width <= 8 &&
           (u->params.iaddress_width == 32 || u->params.iaddress_width == 64);
}

void unit_plain_params(const Unit *u, ETraceParams *params)
{
    *params = u->params;
    if (unit_is_plain(u)) {
        return;
    }
    params->iaddress_width = u->params.iaddress_width > 32 ? 64 : 32;
    params->privilege_width = MAX(u->params.privilege_width, 2);
    params->ecause_width = MIN(u->params.ecause_width, 8);
    params->sijump |= u->order == UNIT_ORDER_RV_TRACER;
}

const char *unit_problem(const Unit *u)
{
    ETraceParams plain;
    unsigned wide = u->params.ecause_width > 8 ? u->params.ecause_width - 8 : 0;
    bool support = false;

    for (unsigned i = 0; i < UNIT_NR_FIELDS; i++) {
        support |= u->width[i] != UNIT_WIDTH_USUAL;
    }
    if (!u->params.privilege_width || !u->params.iaddress_width ||
        u->params.iaddress_width > 64) {
        return "privilege_width is 1 to 3, iaddress_width 1 to 64";
    }
    if (u->params.ecause_width > 64) {
        return "ecause_width is 1 to 64";
    }
    unit_plain_params(u, &plain);
    if (!etrace_params_valid(&plain)) {
        return etrace_params_problem(&plain);
    }
    if (u->params.iaddress_width <= u->params.iaddress_lsb) {
        return "iaddress_width has to be more than iaddress_lsb";
    }
    if (wide && 7 + u->params.privilege_width + u->params.time_width +
        u->params.context_width + u->params.ecause_width +
        2 * u->params.iaddress_width - u->params.iaddress_lsb >
        ETRACE_PACKET_MAX * 8) {
        return "trap packets of these widths are longer than 31 bytes";
    }
    if (support && u->params.wire_format == ETRACE_WIRE_2_1_DRAFT) {
        return "the support packet of wire format 2.1 has widths of its own";
    }
    if (u->framing != UNIT_ENCAP && u->params.src_bits) {
        return "src_bits is 0 with this framing: it has no srcID";
    }
    if (u->framing == UNIT_ESP32 && u->params.data_width) {
        return "data_width is 0 with this framing: it has no data trace";
    }
    return NULL;
}

/* Widths that are said to be what they would be anyway */
static void forget_usual_widths(Unit *u)
{
    const uint8_t usual[UNIT_NR_FIELDS] = {
        [UNIT_ENCODER_MODE] = 1,
        [UNIT_IOPTIONS] = 5 + u->params.sijump,
        [UNIT_DENABLE] = 1,
        [UNIT_DLOSS] = 1,
        [UNIT_DOPTIONS] = 4,
    };

    for (unsigned i = 0; i < UNIT_NR_FIELDS; i++) {
        if (u->width[i] == usual[i]) {
            u->width[i] = UNIT_WIDTH_USUAL;
        }
    }
}

/* ParamsSetFn */
static bool set_from_file(void *opaque, const char *name, const char *value,
                          GError **errp)
{
    return unit_set(opaque, name, value, errp);
}

static bool set_arg(Unit *u, const char *arg, GError **errp)
{
    const char *eq = strchr(arg, '=');
    g_autofree char *name = g_strndup(arg, eq ? eq - arg : 0);
    g_autoptr(GError) err = NULL;

    if (!eq) {
        g_set_error(errp, OPTION_ERROR, OPTION_PARAM, "%s: not NAME=VALUE",
                    arg);
        return false;
    }
    if (!unit_set(u, name, eq + 1, &err)) {
        g_set_error_literal(errp, OPTION_ERROR, OPTION_PARAM, err->message);
        return false;
    }
    return true;
}

bool unit_parse(Unit *u, const char *preset, const char *file, char **args,
                GError **errp)
{
    g_autoptr(GError) err = NULL;

    if (preset && !unit_take_preset(u, preset, &err)) {
        g_set_error_literal(errp, OPTION_ERROR, OPTION_UNIT, err->message);
        return false;
    }
    if (file && !params_file_read(file, set_from_file, u, errp)) {
        return false;
    }
    for (char **arg = args; arg && *arg; arg++) {
        if (!set_arg(u, *arg, errp)) {
            return false;
        }
    }
    forget_usual_widths(u);
    if (unit_problem(u)) {
        g_set_error_literal(errp, OPTION_ERROR, OPTION_PARAMS,
                            unit_problem(u));
        return false;
    }
    return true;
}
