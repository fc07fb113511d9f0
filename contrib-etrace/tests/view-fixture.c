/*
 * What the tests of views share: a small program, and who runs it
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "check.h"
#include "view-fixture.h"

#define MAX_RUN 256

static const char program_symbols[] =
    "0000000000001000 T main\n"
    "0000000000001100 t work\n"
    "0000000000001200 T leaf\n";

static const char kernel_symbols[] =
    "ffffffff80000000 T handle_exception\n"
    "ffffffff80000100 T do_syscall\n";

static Object *new_object(ViewFixture *f, ObjectKind kind, const char *path,
                          const char *symbols, uint64_t bias)
{
    Object *o = object_new(f->objects, kind, path, NULL);
    g_autoptr(GError) err = NULL;

    symbols_parse_kallsyms(o->symbols, symbols, strlen(symbols), &err);
    check_no_error(err);
    symbols_sort(o->symbols);
    names_add_fixed(f->names, o, bias);
    return o;
}

void view_set_up(ViewFixture *f,
                 void (*moment)(void *opaque, const CallStackMoment *moment),
                 void *opaque)
{
    *f = (ViewFixture) { .priv = ETRACE_PRIV_U };
    f->objects = object_table_new();
    f->names = names_new(f->objects);
    f->program = new_object(f, OBJECT_PROGRAM, "/bin/program",
                            program_symbols, PROGRAM_BIAS);
    f->kernel = new_object(f, OBJECT_KERNEL, "[kernel]", kernel_symbols, 0);
    f->tasks = task_table_new();
    f->task = f->sh = task_intern(f->tasks, true, 10, 10, "sh");
    f->ls = task_intern(f->tasks, true, 20, 20, "ls");
    f->thread = task_intern(f->tasks, true, 21, 20, "ls");
    f->profile = profile_new();
    f->stack = callstack_new(f->profile, PROFILE_ROOT, &(CallStackOptions) {
        .names = f->names, .moment = moment, .opaque = opaque,
        .layers = { CALLSTACK_LAYER_THREAD }, .nr_layers = 1,
    });
}

void view_tear_down(ViewFixture *f)
{
    callstack_free(f->stack);
    profile_free(f->profile);
    names_free(f->names);
    task_table_free(f->tasks);
    object_table_free(f->objects);
}

static CallStackSite site(const ViewFixture *f)
{
    return (CallStackSite) {
        .space = f->priv == ETRACE_PRIV_U ? f->task->tgid : 0,
        .task = f->task,
    };
}

static uint64_t loaded(uint64_t pc)
{
    return pc < KENTRY ? pc + PROGRAM_BIAS : pc;
}

void view_run(ViewFixture *f, uint64_t pc, unsigned count, unsigned itype)
{
    static uint8_t code[4 * MAX_RUN];
    CallStackSite at = site(f);
    FlowRun run = {
        .pc = loaded(pc),
        .code = code,
        .wide = 0x5555555555555555ull,
        .end = loaded(pc) + 4 * count,
        .count = count,
        .priv = f->priv,
        .itype = itype,
    };

    check_cmpuint(count, <=, MAX_RUN);
    for (unsigned i = 0; i < MAX_RUN; i++) {
        code[4 * i] = 0x13;
    }
    if (f->sampler) {
        sampler_runs(f->sampler, &run, 1, &at);
    } else {
        callstack_runs(f->stack, &run, 1, &at);
    }
    if (itype == XRET) {
        f->priv = ETRACE_PRIV_U;
    }
}

void view_trap(ViewFixture *f, unsigned cause, uint64_t epc)
{
    CallStackSite at = site(f);
    FlowTrap trap = {
        .cause = cause, .epc = loaded(epc), .epc_known = true,
        .priv = f->priv,
    };

    if (f->sampler) {
        sampler_trap(f->sampler, &trap, &at);
    } else {
        callstack_trap(f->stack, &trap, &at);
    }
    f->priv = ETRACE_PRIV_S;
}

void view_run_all(ViewFixture *f)
{
    f->task = f->sh;
    view_run(f, MAIN, 10, CALL);
    for (int i = 0; i < 2; i++) {
        view_run(f, WORK + 8 * i, 2, CALL);
        for (int k = 0; k < 48; k++) {
            view_run(f, LEAF, 100, BRANCH);
        }
        view_run(f, LEAF, 50, RET);
    }
    view_run(f, WORK + 16, 1, 0);
    view_trap(f, 8, WORK + 20);
    view_run(f, KENTRY, 40, CALL);
    view_run(f, KSYSCALL, 200, RET);
    view_run(f, KENTRY + 160, 10, XRET);
    view_run(f, WORK + 24, 10, RET);
    view_run(f, MAIN + 40, 25, 0);
    f->task = f->ls;
    view_run(f, MAIN, 100, CALL);
    view_run(f, LEAF, 200, 0);
}
