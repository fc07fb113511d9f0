/*
 * A trace to decode: what describes it as text
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "base/option-error.h"
#include "base/params-text.h"
#include "elf/elf-file.h"
#include "trace/trace-text.h"

void trace_default_params(ETraceParams *params, unsigned xlen, bool draft)
{
    etrace_params_init(params, xlen);
    params->return_stack_size = ETRACE_RETURN_STACK_SIZE_DEFAULT;
    params->bpred_size = etrace_bpred_size_default(draft);
    params->cache_size = ETRACE_CACHE_SIZE_DEFAULT;
    params->f0s_width = 1;
    params->sijump = true;
}

bool trace_parse_params(ETraceParams *params, char **args, GError **errp)
{
    for (char **arg = args; arg && *arg; arg++) {
        const char *eq = strchr(*arg, '=');
        g_autofree char *name = g_strndup(*arg, eq ? eq - *arg : 0);
        g_autoptr(GError) err = NULL;

        if (!eq) {
            g_set_error(errp, OPTION_ERROR, OPTION_PARAM, "%s: not NAME=VALUE",
                        *arg);
            return false;
        }
        if (!params_text_set(params, name, eq + 1, &err)) {
            g_set_error_literal(errp, OPTION_ERROR, OPTION_PARAM,
                                err->message);
            return false;
        }
    }
    if (!etrace_params_valid(params)) {
        g_set_error_literal(errp, OPTION_ERROR, OPTION_PARAMS,
                            etrace_params_problem(params));
        return false;
    }
    return true;
}

bool trace_parse_tvec(TraceTvec *tvec, const char *arg, GError **errp)
{
    static const struct {
        const char *name;
        ETracePriv priv;
    } table[] = {
        { "m=", ETRACE_PRIV_M },
        { "s=", ETRACE_PRIV_S },
        { "vs=", ETRACE_PRIV_VS },
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(table); i++) {
        const char *value = arg + strlen(table[i].name);
        char *end;

        if (!g_str_has_prefix(arg, table[i].name)) {
            continue;
        }
        tvec->value[table[i].priv] = g_ascii_strtoull(value, &end, 0);
        if (!*value || *end) {
            break;
        }
        tvec->known[table[i].priv] = true;
        return true;
    }
    g_set_error(errp, OPTION_ERROR, OPTION_TVEC,
                "%s: not m=VALUE, s=VALUE or vs=VALUE", arg);
    return false;
}

bool trace_parse_isa(InsnIsa *isa, const char *text, GError **errp)
{
    g_autofree char *unknown = NULL;

    if (!insn_isa_parse(isa, text)) {
        g_set_error(errp, OPTION_ERROR, OPTION_ISA,
                    "%s: does not begin with rv32 or rv64", text);
        return false;
    }
    unknown = insn_isa_unknown(text);
    if (unknown) {
        g_set_error(errp, OPTION_ERROR, OPTION_ISA,
                    "%s: '%s' is not known; leave it out if it has no jumps "
                    "and branches of its own, else the trace cannot be decoded",
                    text, unknown);
        return false;
    }
    return true;
}

ElfCode *trace_load_program(char **files, GError **errp)
{
    g_autoptr(ElfCode) elf = elf_code_new();

    for (char **arg = files; *arg; arg++) {
        uint64_t bias;
        g_autofree char *path = elf_file_split(*arg, &bias, errp);

        if (!path || !elf_code_load(elf, path, bias, errp)) {
            return NULL;
        }
    }
    return g_steal_pointer(&elf);
}
