/*
 * RISC-V trace encoder: properties
 *
 * What an encoder is built with, and the power-up values of its registers.
 * Every parameter of E-Trace 2.0, Tables 9.1 to 9.5, is a property of its
 * name, with - for _ and without the _p.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qapi/visitor.h"
#include "hw/qdev-properties.h"
#include "target/riscv/cpu.h"
#include "riscv-trace-encoder-private.h"

/* As large as is useful and the wire format allows: 10, or 7 */
#define BPRED_SIZE_DEFAULT  UINT8_MAX

static const char * const wire_formats[] = {
    [ETRACE_WIRE_2_0] = "2.0",
    [ETRACE_WIRE_1_1_1] = "1.1.1",
    [ETRACE_WIRE_2_1_DRAFT] = "2.1-draft",
};

static int find_wire_format(const char *name)
{
    for (unsigned i = 0; i < ARRAY_SIZE(wire_formats); i++) {
        if (!strcmp(name ?: "2.0", wire_formats[i])) {
            return i;
        }
    }
    return -1;
}

/*
 * Parameters
 */

static void fill_params(const RISCVTraceEncoder *s, ETraceParams *p)
{
    const RISCVTraceEncoderConfig *cfg = &s->cfg;

    etrace_params_init(p, riscv_cpu_mxl_bits(cpu_env(s->cpu)));
    p->wire_format = find_wire_format(cfg->wire_format);
    p->privilege_width = cfg->privilege_width;
    p->ecause_width = cfg->ecause_width;
    p->time_width = cfg->time_width;
    p->context_width = cfg->context_width;
    p->call_counter_size = cfg->call_counter_size;
    p->return_stack_size = cfg->return_stack_size;
    p->bpred_size = cfg->bpred_size;
    p->cache_size = cfg->cache_size;
    p->f0s_width = cfg->bpred_size && cfg->cache_size;
    p->sijump = cfg->sijump;
    p->data_width = cfg->data_width;
    if (cfg->data_width) {
        /* 1.1.1 has no parameter for it. */
        p->daddress_width = p->wire_format == ETRACE_WIRE_1_1_1
                            ? p->iaddress_width : cfg->daddress_width;
    }
    p->src_bits = cfg->src_bits;
    p->src_id = cfg->src_id;
    p->ts_bytes = riscv_trace_timestamp_bytes(cfg->timestamp_width);
}

void riscv_trace_encoder_params(RISCVTraceEncoder *s, ETraceParams *p)
{
    uint32_t control = riscv_trace_encoder_control(s);
    uint32_t features = s->regs[R_TR_TE_INST_FEATURES];

    fill_params(s, p);
    p->ts_hz = riscv_trace_timestamp_hz(&s->ts);
    p->src_bits = 0;
    p->src_id = 0;
    if (!FIELD_EX32(control, TR_TE_CONTROL, INHIBIT_SRC)) {
        p->src_bits = FIELD_EX32(features, TR_TE_INST_FEATURES, SRC_BITS);
        p->src_id = FIELD_EX32(features, TR_TE_INST_FEATURES, SRC_ID) &
                    riscv_trace_mask(p->src_bits);
    }
}

/*
 * Checks
 */

static const RISCVTraceEncoderProp texts[] = {
    { "cpu", "hart that is traced" },
    { "sink", "funnel or sink that gets the packets" },
    { "hart-index", "input of the sink, number in the sideband stream" },
    { "wire-format", "2.0 (default), 1.1.1 or 2.1-draft" },
    { "context-source", "asid (default: ASID and VMID), mcontext, or scontext "
      "with hcontext above it (-cpu ...,scontext=on)" },
    { "src-id", "trTeSrcID at power-up" },
    { "src-bits", "trTeSrcBits at power-up (0 to 12)",
      RISCV_TRACE_LIMITS(src_bits, 0, 12) },
    { "sync-mode", "trTeInstSyncMode at power-up (0: off, 1: packets, "
      "2: cycles, 3: half-words)",
      RISCV_TRACE_LIMITS(sync_mode, 0, 3) },
    { "sync-max", "trTeInstSyncMax at power-up (0 to 15)",
      RISCV_TRACE_LIMITS(sync_max, 0, 15) },
    { "stall", "trTeInstStallEna at power-up" },
    { "autostart", "trace from reset" },
    { "autostart-modes", "modes used by autostart and x-riscv-trace-start, "
      "as in trace-modes" },
    { "full-address", "trTeInstNoAddrDiff at power-up" },
    { "implicit-exception", "trTeInstNoTrapAddr at power-up" },
    { "sequential-jump", "trTeInstEnSequentialJump at power-up" },
    { "implicit-return", "trTeInstEnImplicitReturn at power-up" },
    { "branch-prediction", "trTeInstEnBranchPrediction at power-up" },
    { "jump-target-cache", "trTeInstEnJumpTargetCache at power-up" },
    { "context", "trTeContext at power-up" },
    { "return-stack-size", "log2 of entries of the return stack, 0: none" },
    { "call-counter-size", "bits of the nested call counter, 0: none" },
    { "bpred-size", "log2 of entries of the branch predictor, 0: none "
      "(default: 10; 7 with wire-format 2.1-draft)" },
    { "cache-size", "log2 of entries of the jump target cache, 0: none" },
    { "sijump", "sequentially inferable jumps are identified" },
    { "itype-width", "width of itype (3: without implicit returns, or 4)",
      RISCV_TRACE_LIMITS(itype_width, 3, 4) },
    { "privilege-width", "width of privilege (2 or 3)",
      RISCV_TRACE_LIMITS(privilege_width, 2, 3) },
    { "ecause-width", "width of exception cause (4 to 8)",
      RISCV_TRACE_LIMITS(ecause_width, 4, 8) },
    { "context-width", "width of context (0 to 64), 0: none",
      RISCV_TRACE_LIMITS(context_width, 0, 64) },
    { "ctype", "changes of context are reported 1: imprecisely, "
      "2: precisely, 3: as an asynchronous discontinuity",
      RISCV_TRACE_LIMITS(ctype, ETRACE_CTYPE_IMPRECISE, ETRACE_CTYPE_DISCON) },
    { "time-width", "width of time (0 to 64), 0: none",
      RISCV_TRACE_LIMITS(time_width, 0, 64) },
    { "timestamp-width", "width of timestamps (0 to 63), "
      "0: no timestamp unit",
      RISCV_TRACE_LIMITS(timestamp_width, 0, RISCV_TRACE_TIMESTAMP_WIDTH_MAX) },
    { "timestamp-mode", "trTsMode at power-up (0: off, 1: external, "
      "2: system, 3: core, 4: shared)",
      RISCV_TRACE_LIMITS(timestamp_mode, 0, RISCV_TRACE_TIMESTAMP_SHARED) },
};

static bool check_limits(const RISCVTraceEncoderConfig *cfg,
                         const RISCVTraceEncoderProp *props, unsigned num,
                         Error **errp)
{
    for (unsigned i = 0; i < num; i++) {
        const RISCVTraceEncoderProp *p = &props[i];
        uint8_t val = *((const uint8_t *)cfg + p->limits.offset);

        if (p->limits.max && (val < p->limits.min || val > p->limits.max)) {
            error_setg(errp, "%s of a trace encoder is %u to %u, not %u",
                       p->name, p->limits.min, p->limits.max, val);
            return false;
        }
    }
    return true;
}

/* What is on at power-up has to be there. */
static bool check_modes(const RISCVTraceEncoderConfig *cfg, Error **errp)
{
    const struct {
        bool wrong;
        const char *mode, *needs;
    } modes[] = {
        { cfg->context && !cfg->context_width, "context", "context-width" },
        { cfg->timestamp_mode && !cfg->timestamp_width, "timestamp-mode",
          "timestamp-width" },
    };

    for (unsigned i = 0; i < ARRAY_SIZE(modes); i++) {
        if (modes[i].wrong) {
            error_setg(errp, "%s of a trace encoder needs %s", modes[i].mode,
                       modes[i].needs);
            return false;
        }
    }
    return true;
}

static bool check_units(RISCVTraceEncoder *s, Error **errp)
{
    for (unsigned i = 0; i < RISCV_TRACE_UNITS; i++) {
        const RISCVTraceEncoderUnit *unit = riscv_trace_encoder_units[i];

        if (unit && (!check_limits(&s->cfg, unit->texts, unit->num_texts,
                                   errp) ||
                     (unit->check && !unit->check(s, errp)))) {
            return false;
        }
    }
    return true;
}

bool riscv_trace_encoder_check(RISCVTraceEncoder *s, Error **errp)
{
    ERRP_GUARD();
    RISCVTraceEncoderConfig *cfg = &s->cfg;
    ETraceParams params;
    const char *problem;

    if (!s->cpu) {
        error_setg(errp, "trace encoder needs a \"cpu\"");
        return false;
    }
    if (!s->sink_obj) {
        error_setg(errp, "trace encoder needs a \"sink\"");
        return false;
    }
    if (find_wire_format(cfg->wire_format) < 0) {
        error_setg(errp, "wire-format '%s' is not known", cfg->wire_format);
        error_append_hint(errp, "Known: 2.0, 1.1.1, 2.1-draft\n");
        return false;
    }
    if (cfg->context_source && strcmp(cfg->context_source, "asid") &&
        strcmp(cfg->context_source, "mcontext") &&
        strcmp(cfg->context_source, "scontext")) {
        error_setg(errp, "context-source '%s' is not known",
                   cfg->context_source);
        error_append_hint(errp, "Known: asid, mcontext, scontext\n");
        return false;
    }
    if (!g_strcmp0(cfg->context_source, "scontext") &&
        !riscv_trace_hart_has_scontext(s->cpu)) {
        error_setg(errp, "context-source scontext: hart %u has no scontext",
                   s->hart_index);
        error_append_hint(errp, "Use -cpu ...,scontext=on, or "
                          "context-source=mcontext or asid\n");
        return false;
    }
    if (cfg->bpred_size == BPRED_SIZE_DEFAULT) {
        bool draft = find_wire_format(cfg->wire_format) ==
                     ETRACE_WIRE_2_1_DRAFT;

        cfg->bpred_size = etrace_bpred_size_default(draft);
    }
    if (!check_limits(cfg, texts, ARRAY_SIZE(texts), errp) ||
        !check_modes(cfg, errp) || !riscv_trace_encoder_modes_check(s, errp)) {
        return false;
    }
    if (cfg->privilege_width < 3 && riscv_has_ext(cpu_env(s->cpu), RVH)) {
        /* VU and VS are 5 and 6. */
        error_setg(errp, "privilege-width 2 of a trace encoder is for harts "
                   "without the H extension");
        error_append_hint(errp, "Turn it off with -cpu ...,h=off\n");
        return false;
    }
    if (cfg->src_id >> cfg->src_bits) {
        error_setg(errp, "src-id %u does not fit into src-bits %u",
                   cfg->src_id, cfg->src_bits);
        return false;
    }
    if (!check_units(s, errp)) {
        return false;
    }
    fill_params(s, &params);
    problem = etrace_params_problem(&params);
    if (!problem) {
        /* trTeSrcBits can be set to that. */
        params.src_bits = 12;
        problem = etrace_params_problem(&params);
    }
    if (problem) {
        error_setg(errp, "trace encoder: %s", problem);
        return false;
    }
    return true;
}

/*
 * Parameters that are no properties of the kind that can be set
 */

/* "Required instruction trace attributes", "Other", "Data trace" */
typedef struct Parameter {
    const char *name;
    uint8_t value;
    const char *description;
} Parameter;

static const Parameter fixed_parameters[] = {
    { "arch", 0, "architecture specification version" },
    { "blocks", 1, "times that itype, iretire etc. are replicated" },
    { "ctype-width", 2, "width of ctype" },
    { "ecause-choice", 6, "bits of exception cause in multiple choice" },
    { "filter-context", 1, "filtering on context is supported" },
    { "filter-time", 0, "filtering on time is supported" },
    { "filter-privilege", 1, "filtering on privilege is supported" },
    { "filter-tval", 1, "filtering on trap value is supported" },
    { "iaddress-lsb", 1, "lowest bit of instruction addresses" },
    { "iretire-width", 16, "width of iretire" },
    { "ilastsize-width", 1, "width of ilastsize" },
    { "dsize-width", 4, "width of dsize" },
    { "dtype-width", 4, "width of dtype" },
    { "dblock-width", 0, "width of dblock" },
    { "iaddr-lsbs-width", 16, "width of iaddr_lsbs" },
    { "lrid-width", 0, "width of lrid: loads are unified" },
    { "lresp-width", 0, "width of lresp: loads are unified" },
    { "ldata-width", 0, "width of ldata: loads are unified" },
    { "sdata-width", 0, "width of sdata: loads are unified" },
};

static void get_param(Object *obj, Visitor *v, const char *name, void *opaque,
                      Error **errp)
{
    RISCVTraceEncoder *s = RISCV_TRACE_ENCODER(obj);
    uint32_t val;

    if (!strcmp(name, "iaddress-width")) {
        val = s->cpu ? riscv_cpu_mxl_bits(cpu_env(s->cpu)) : 0;
    } else if (!strcmp(name, "nocontext")) {
        val = !s->cfg.context_width;
    } else if (!strcmp(name, "notime")) {
        val = !s->cfg.time_width;
    } else if (!strcmp(name, "f0s-width")) {
        val = s->cfg.bpred_size && s->cfg.cache_size;
    } else {
        /* "Maximum number of instructions": each has a half-word at least. */
        val = UINT16_MAX;
    }
    visit_type_uint32(v, name, &val, errp);
}

static const struct {
    const char *name, *description;
} derived_parameters[] = {
    { "iaddress-width", "width of instruction addresses" },
    { "nocontext", "no context in packets" },
    { "notime", "no time in packets" },
    { "f0s-width", "width of subformat in format 0" },
    { "retires", "most instructions in a block" },
};

#define DEFINE_PROP_MODE(name, mode_) \
    DEFINE_PROP_ON_OFF_AUTO(name, RISCVTraceEncoder, \
                            cfg.mode[RISCV_TRACE_MODE_##mode_], \
                            ON_OFF_AUTO_AUTO)

static const Property riscv_trace_encoder_properties[] = {
    DEFINE_PROP_LINK("cpu", RISCVTraceEncoder, cpu, TYPE_RISCV_CPU,
                     CPUState *),
    DEFINE_PROP_LINK("sink", RISCVTraceEncoder, sink_obj,
                     TYPE_RISCV_TRACE_SINK, Object *),
    DEFINE_PROP_UINT32("hart-index", RISCVTraceEncoder, hart_index, 0),
    DEFINE_PROP_STRING("wire-format", RISCVTraceEncoder, cfg.wire_format),
    DEFINE_PROP_STRING("context-source", RISCVTraceEncoder,
                       cfg.context_source),
    DEFINE_PROP_UINT16("src-id", RISCVTraceEncoder, cfg.src_id, 0),
    DEFINE_PROP_UINT8("src-bits", RISCVTraceEncoder, cfg.src_bits, 0),
    DEFINE_PROP_UINT8("sync-mode", RISCVTraceEncoder, cfg.sync_mode,
                      ETRACE_SYNC_PACKETS),
    DEFINE_PROP_UINT8("sync-max", RISCVTraceEncoder, cfg.sync_max, 8),
    DEFINE_PROP_BOOL("stall", RISCVTraceEncoder, cfg.stall, true),
    DEFINE_PROP_BOOL("autostart", RISCVTraceEncoder, cfg.autostart, false),
    DEFINE_PROP_STRING("autostart-modes", RISCVTraceEncoder,
                       cfg.autostart_modes),

    DEFINE_PROP_MODE("full-address", FULL_ADDRESS),
    DEFINE_PROP_MODE("implicit-exception", IMPLICIT_EXCEPTION),
    DEFINE_PROP_MODE("sequential-jump", SEQUENTIAL_JUMP),
    DEFINE_PROP_MODE("implicit-return", IMPLICIT_RETURN),
    DEFINE_PROP_MODE("branch-prediction", BRANCH_PREDICTION),
    DEFINE_PROP_MODE("jump-target-cache", JUMP_TARGET_CACHE),
    DEFINE_PROP_BOOL("context", RISCVTraceEncoder, cfg.context, false),

    DEFINE_PROP_UINT8("return-stack-size", RISCVTraceEncoder,
                      cfg.return_stack_size,
                      ETRACE_RETURN_STACK_SIZE_DEFAULT),
    DEFINE_PROP_UINT8("call-counter-size", RISCVTraceEncoder,
                      cfg.call_counter_size, 0),
    DEFINE_PROP_UINT8("bpred-size", RISCVTraceEncoder, cfg.bpred_size,
                      BPRED_SIZE_DEFAULT),
    DEFINE_PROP_UINT8("cache-size", RISCVTraceEncoder, cfg.cache_size,
                      ETRACE_CACHE_SIZE_DEFAULT),
    DEFINE_PROP_BOOL("sijump", RISCVTraceEncoder, cfg.sijump, true),
    DEFINE_PROP_UINT8("itype-width", RISCVTraceEncoder, cfg.itype_width, 4),
    DEFINE_PROP_UINT8("privilege-width", RISCVTraceEncoder,
                      cfg.privilege_width, 3),
    DEFINE_PROP_UINT8("ecause-width", RISCVTraceEncoder, cfg.ecause_width,
                      6),
    DEFINE_PROP_UINT8("context-width", RISCVTraceEncoder, cfg.context_width,
                      0),
    DEFINE_PROP_UINT8("ctype", RISCVTraceEncoder, cfg.ctype,
                      ETRACE_CTYPE_IMPRECISE),
    DEFINE_PROP_UINT8("time-width", RISCVTraceEncoder, cfg.time_width, 0),
    DEFINE_PROP_UINT8("timestamp-width", RISCVTraceEncoder,
                      cfg.timestamp_width, 0),
    DEFINE_PROP_UINT8("timestamp-mode", RISCVTraceEncoder,
                      cfg.timestamp_mode, RISCV_TRACE_TIMESTAMP_NONE),
};

/* Those of the core and of all units */
static const Property *all_properties(size_t *num)
{
    GArray *props = g_array_new(false, false, sizeof(Property));

    g_array_append_vals(props, riscv_trace_encoder_properties,
                        ARRAY_SIZE(riscv_trace_encoder_properties));
    for (unsigned i = 0; i < RISCV_TRACE_UNITS; i++) {
        const RISCVTraceEncoderUnit *unit = riscv_trace_encoder_units[i];

        if (unit && unit->num_props) {
            g_array_append_vals(props, unit->props, unit->num_props);
        }
    }
    *num = props->len;
    return (const Property *)g_array_free(props, false);
}

static void describe(ObjectClass *oc, const RISCVTraceEncoderProp *props,
                     unsigned num)
{
    for (unsigned i = 0; i < num; i++) {
        object_class_property_set_description(oc, props[i].name,
                                              props[i].description);
    }
}

void riscv_trace_encoder_class_props(ObjectClass *oc)
{
    size_t num;
    const Property *props = all_properties(&num);

    device_class_set_props_n(DEVICE_CLASS(oc), props, num);
    describe(oc, texts, ARRAY_SIZE(texts));
    for (unsigned i = 0; i < RISCV_TRACE_UNITS; i++) {
        const RISCVTraceEncoderUnit *unit = riscv_trace_encoder_units[i];

        if (unit) {
            describe(oc, unit->texts, unit->num_texts);
        }
    }
    RISCV_TRACE_CALL_UNITS(class_init, oc);
    for (unsigned i = 0; i < ARRAY_SIZE(fixed_parameters); i++) {
        const Parameter *p = &fixed_parameters[i];

        object_class_property_add_uint8_ptr(oc, p->name, &p->value,
                                            OBJ_PROP_FLAG_READ);
        object_class_property_set_description(oc, p->name, p->description);
    }
    for (unsigned i = 0; i < ARRAY_SIZE(derived_parameters); i++) {
        object_class_property_add(oc, derived_parameters[i].name, "uint32",
                                  get_param, NULL, NULL, NULL);
        object_class_property_set_description(
            oc, derived_parameters[i].name,
            derived_parameters[i].description);
    }
}
