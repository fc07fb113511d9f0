/*
 * RISC-V control transfer records: the monitor's view
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "qapi/qapi-commands-misc-riscv.h"
#include "qapi/error.h"
#include "qapi/type-helpers.h"
#include "disas/disas.h"
#include "hw/core/cpu.h"
#include "ctr.h"
#include "cycles.h"
#include "internal.h"
#include "packed.h"
#include "tb-key.h"

static const char *const type_names[16] = {
    [CTRDATA_TYPE_NONE] = "none",
    [CTRDATA_TYPE_EXCEPTION] = "exception",
    [CTRDATA_TYPE_INTERRUPT] = "interrupt",
    [CTRDATA_TYPE_EXCEP_INT_RET] = "trap return",
    [CTRDATA_TYPE_NONTAKEN_BRANCH] = "not-taken branch",
    [CTRDATA_TYPE_TAKEN_BRANCH] = "taken branch",
    [CTRDATA_TYPE_RESERVED_0] = "reserved",
    [CTRDATA_TYPE_RESERVED_1] = "reserved",
    [CTRDATA_TYPE_INDIRECT_CALL] = "indirect call",
    [CTRDATA_TYPE_DIRECT_CALL] = "direct call",
    [CTRDATA_TYPE_INDIRECT_JUMP] = "indirect jump",
    [CTRDATA_TYPE_DIRECT_JUMP] = "direct jump",
    [CTRDATA_TYPE_CO_ROUTINE_SWAP] = "co-routine swap",
    [CTRDATA_TYPE_RETURN] = "return",
    [CTRDATA_TYPE_OTHER_INDIRECT_JUMP] = "other indirect jump",
    [CTRDATA_TYPE_OTHER_DIRECT_JUMP] = "other direct jump",
};

static const struct {
    uint64_t bit;
    const char *name;
} control_fields[] = {
    { XCTRCTL_U, "U" }, { XCTRCTL_S, "S" }, { MCTRCTL_M, "M" },
    { XCTRCTL_RASEMU, "RASEMU" }, { XCTRCTL_STE, "STE" },
    { MCTRCTL_MTE, "MTE" }, { XCTRCTL_BPFRZ, "BPFRZ" },
    { XCTRCTL_LCOFIFRZ, "LCOFIFRZ" }, { XCTRCTL_EXCINH, "EXCINH" },
    { XCTRCTL_INTRINH, "INTRINH" }, { XCTRCTL_TRETINH, "TRETINH" },
    { XCTRCTL_NTBREN, "NTBREN" }, { XCTRCTL_TKBRINH, "TKBRINH" },
    { XCTRCTL_INDCALLINH, "INDCALLINH" },
    { XCTRCTL_DIRCALLINH, "DIRCALLINH" },
    { XCTRCTL_INDJMPINH, "INDJMPINH" }, { XCTRCTL_DIRJMPINH, "DIRJMPINH" },
    { XCTRCTL_CORSWAPINH, "CORSWAPINH" }, { XCTRCTL_RETINH, "RETINH" },
    { XCTRCTL_INDLJMPINH, "INDLJMPINH" },
    { XCTRCTL_DIRLJMPINH, "DIRLJMPINH" },
};

static void print_control(GString *buf, const char *name, uint64_t val)
{
    g_string_append_printf(buf, "  %-10s 0x%016" PRIx64, name, val);
    for (size_t i = 0; i < ARRAY_SIZE(control_fields); i++) {
        if (val & control_fields[i].bit) {
            g_string_append_printf(buf, " %s", control_fields[i].name);
        }
    }
    g_string_append_c(buf, '\n');
}

static void print_pc(GString *buf, uint64_t pc)
{
    const char *symbol = lookup_symbol(pc);

    g_string_append_printf(buf, " %016" PRIx64, pc);
    if (symbol[0]) {
        g_string_append_printf(buf, " <%s>", symbol);
    }
}

static void print_entry(GString *buf, const RISCVCTRState *s, unsigned n,
                        const RISCVCTREntry *entry)
{
    g_string_append_printf(buf, "  %3u", n);
    print_pc(buf, entry->source & ~(uint64_t)CTRSOURCE_VALID);
    g_string_append(buf, " ->");
    print_pc(buf, entry->target);
    g_string_append_printf(buf, " %s",
                           type_names[entry->type & CTRDATA_TYPE_MASK]);
    if (riscv_ctr_has_cycles(s)) {
        uint32_t data = riscv_ctr_cycles_encode(entry->cycles);

        if (data & CTRDATA_CCV) {
            g_string_append_printf(buf, " %" PRIu64 " cycles",
                                   riscv_ctr_cycles_value(data));
        }
    }
    g_string_append_c(buf, '\n');
}

/* In the hart's own thread, so that its records hold still */
static void print_hart(CPUState *cs, run_on_cpu_data data)
{
    GString *buf = data.host_ptr;
    CPURISCVState *env = cpu_env(cs);
    RISCVCTRState *s = &env->ctr;

    g_string_append_printf(buf, "hart %" PRIu64 ": %s, depth %u, WRPTR %u%s\n",
                           (uint64_t)env->mhartid,
                           s->key & RISCV_CTR_KEY_ACTIVE
                           ? "recording" : "not recording in this mode",
                           riscv_ctr_depth(s), riscv_ctr_wrptr(s),
                           s->frozen ? ", FROZEN" : "");
    print_control(buf, "mctrctl", s->mctrctl);
    if (riscv_has_ext(env, RVH)) {
        print_control(buf, "vsctrctl", s->vsctrctl);
    }
    for (unsigned n = 0; n < riscv_ctr_depth(s); n++) {
        RISCVCTREntry entry = *riscv_ctr_entry(s, n);

        riscv_ctr_unpack(&entry);
        if (entry.source & CTRSOURCE_VALID) {
            print_entry(buf, s, n, &entry);
        }
    }
}

HumanReadableText *qmp_x_query_riscv_ctr(Error **errp)
{
    g_autoptr(GString) buf = g_string_new("");
    CPUState *cs;

    CPU_FOREACH(cs) {
        if (riscv_ctr_present(cpu_env(cs))) {
            run_on_cpu(cs, print_hart, RUN_ON_CPU_HOST_PTR(buf));
        }
    }
    if (!buf->len) {
        error_setg(errp, "no hart has control transfer records: "
                   "use -cpu ...,smctr=on or ssctr=on");
        return NULL;
    }
    return human_readable_text_from_str(buf);
}
