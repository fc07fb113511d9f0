/*
 * RISC-V trace: which task of a Linux guest runs
 *
 * Linux keeps the pointer to the task_struct of the current task in tp while
 * it is in S mode, and in sscratch while the task is in U mode; sscratch is 0
 * in S mode, but for the first and the last instructions of a trap handler,
 * where tp may be the user's. Tasks are switched by a move to tp. That is the
 * place where the task changes; traps and returns to U mode show what no move
 * has shown: the task that runs when tracing starts, the first task of a hart,
 * and a name that has changed, by exec, which replaces the address space, too,
 * or by prctl(PR_SET_NAME), which a program calls for itself.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "hw/trace/etrace/guest-info.h"
#include "hooks.h"
#include "internal.h"
#include "task.h"

/* Linux' PID_MAX_LIMIT: what is not below it is no pid. */
#define TASK_PIDS       (4u << 20)

/* Linux' prctl(PR_SET_NAME), the same for every XLEN and in every version */
#define NR_PRCTL        167
#define PR_SET_NAME     15

/* The task of a hart that is in @priv; 0: unknown */
static uint64_t task_in(CPURISCVState *env, target_ulong priv)
{
    switch (priv) {
    case PRV_U:
        return riscv_trace_task_pointer(env, env->sscratch);
    case PRV_S:
        return env->sscratch ? 0 : riscv_trace_task_pointer(env, env->gpr[xTP]);
    default:
        return 0;
    }
}

/* tp may have been written: does it point to another task? */
static void linux_switched(RISCVTraceHart *hart)
{
    CPURISCVState *env = cpu_env(hart->cs);
    uint64_t at = env->priv != PRV_S ? 0 :
                  riscv_trace_task_pointer(env, env->gpr[xTP]);

    if (at && at != hart->task.read_at) {
        riscv_trace_task_look_at(hart, at);
    }
}

static bool renames_itself(CPURISCVState *env, target_ulong cause)
{
    return cause == RISCV_EXCP_U_ECALL && env->gpr[xA7] == NR_PRCTL &&
           env->gpr[xA0] == PR_SET_NAME;
}

static void linux_trap(RISCVTraceHart *hart, bool async, target_ulong cause,
                       target_ulong priv, bool virt)
{
    CPURISCVState *env = cpu_env(hart->cs);
    uint64_t at;

    if (virt || !riscv_trace_has_reader(hart)) {
        return;
    }
    if (!async && renames_itself(env, cause)) {
        /* Let the return read the name again. */
        hart->task.settled = false;
    }
    at = task_in(env, priv);
    if (at && at != hart->task.read_at) {
        riscv_trace_task_look_at(hart, at);
    }
}

static void linux_xret(RISCVTraceHart *hart, target_ulong priv)
{
    CPURISCVState *env = cpu_env(hart->cs);
    const RISCVTraceTask *t = &hart->task;
    uint64_t at;

    if (env->priv != PRV_U || env->virt_enabled ||
        !riscv_trace_has_reader(hart)) {
        return;
    }
    at = task_in(env, PRV_U);
    if (at && (at != t->read_at || env->satp != t->satp || !t->settled)) {
        riscv_trace_task_look_at(hart, at);
    }
}

/* False if there is none that can be read, or nothing that looks like one. */
static bool linux_read(RISCVTraceHart *hart, ETraceSbTask *task)
{
    const ETraceGuestInfo *guest = hart->config.guest;
    uint64_t at = task->task;
    uint8_t pid[4], tgid[4];

    if (!riscv_trace_task_read(hart, at + guest->pid, pid, sizeof(pid)) ||
        !riscv_trace_task_read(hart, at + guest->tgid, tgid, sizeof(tgid)) ||
        !riscv_trace_task_read(hart, at + guest->comm, task->comm,
                               ETRACE_SB_COMM_SIZE)) {
        return false;
    }
    task->tid = ldl_le_p(pid);
    task->tgid = ldl_le_p(tgid);
    return task->tid < TASK_PIDS && task->tgid < TASK_PIDS &&
           task->comm[0] && !task->comm[ETRACE_SB_COMM_SIZE - 1];
}

static void linux_start(RISCVTraceHart *hart)
{
    CPURISCVState *env = cpu_env(hart->cs);
    uint64_t at = env->virt_enabled ? 0 : task_in(env, env->priv);

    hart->task.read_at = 0;
    if (at && riscv_trace_has_reader(hart)) {
        hart->task.pending = true;
        hart->task.at = at;
        riscv_trace_task_pending(hart);
    }
}

const RISCVTraceFollower riscv_trace_linux = {
    .start = linux_start,
    .trap = linux_trap,
    .xret = linux_xret,
    .switched = linux_switched,
    .read = linux_read,
    .pending = riscv_trace_task_pending,
};
