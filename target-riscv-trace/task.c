/*
 * RISC-V trace: which task of the guest's operating system runs, for the
 * sideband
 *
 * Linux keeps the pointer to the task_struct of the current task in tp while
 * it is in S mode, and in sscratch while the task is in U mode; sscratch is 0
 * in S mode, but for the first and the last instructions of a trap handler,
 * where tp may be the user's. Tasks are switched by a move to tp, behind which
 * translated code ends its TB and calls helper_trace_task(). That is the
 * place where the task changes; traps and returns to U mode show what no move
 * has shown: the task that runs when tracing starts, the first task of a hart,
 * and a name that has changed, by exec, which replaces the address space, too,
 * or by prctl(PR_SET_NAME), which a program calls for itself.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "exec/target_page.h"
#include "exec/helper-proto.h"
#include "system/memory.h"
#include "hw/trace/etrace/guest-info.h"
#include "hooks.h"
#include "internal.h"

/* Linux' PID_MAX_LIMIT: what is not below it is no pid. */
#define TASK_PIDS       (4u << 20)

/* Linux' prctl(PR_SET_NAME), the same for every XLEN and in every version */
#define NR_PRCTL        167
#define PR_SET_NAME     15

static bool is_watched(RISCVTraceHart *hart)
{
    return hart->config.guest && riscv_trace_has_reader(hart);
}

/* An address as software sees it: tp is sign-extended with 32-bit registers. */
static uint64_t pointer(CPURISCVState *env, target_ulong reg)
{
    return riscv_cpu_mxl(env) == MXL_RV32 ? (uint32_t)reg : reg;
}

static void look_at(RISCVTraceHart *hart, uint64_t at)
{
    hart->task.pending = true;
    hart->task.at = at;
    riscv_trace_ask_drain(hart);
}

/* The task of a hart that is in @priv; 0: unknown */
static uint64_t task_in(CPURISCVState *env, target_ulong priv)
{
    switch (priv) {
    case PRV_U:
        return pointer(env, env->sscratch);
    case PRV_S:
        return env->sscratch ? 0 : pointer(env, env->gpr[xTP]);
    default:
        return 0;
    }
}

/* tp was written in S mode: it may point to another task. */
void helper_trace_task(CPURISCVState *env)
{
    RISCVTraceHart *hart = env->trace.hart;
    uint64_t at = pointer(env, env->gpr[xTP]);

    if (at && is_watched(hart) && at != hart->task.read_at) {
        look_at(hart, at);
    }
}

static bool renames_itself(CPURISCVState *env, target_ulong cause)
{
    return cause == RISCV_EXCP_U_ECALL && env->gpr[xA7] == NR_PRCTL &&
           env->gpr[xA0] == PR_SET_NAME;
}

static void task_trap(RISCVTraceHart *hart, bool async, target_ulong cause,
                      target_ulong priv, bool virt)
{
    CPURISCVState *env = cpu_env(hart->cs);
    uint64_t at;

    if (virt || !is_watched(hart)) {
        return;
    }
    if (!async && renames_itself(env, cause)) {
        /* Let the return read the name again. */
        hart->task.settled = false;
    }
    at = task_in(env, priv);
    if (at && at != hart->task.read_at) {
        look_at(hart, at);
    }
}

static void task_xret(RISCVTraceHart *hart)
{
    CPURISCVState *env = cpu_env(hart->cs);
    const RISCVTraceTask *t = &hart->task;
    uint64_t at;

    if (env->priv != PRV_U || env->virt_enabled || !is_watched(hart)) {
        return;
    }
    at = task_in(env, PRV_U);
    if (at && (at != t->read_at || env->satp != t->satp || !t->settled)) {
        look_at(hart, at);
    }
}

/*
 * @len bytes at the virtual address @va, as S mode reads it. Returns false if
 * they are not all in memory: looking at devices is nothing that they notice.
 */
static bool read_guest(CPUState *cs, uint64_t va, void *buf, size_t len)
{
    const MemTxAttrs attrs = { .memory = 1 };
    CPURISCVState *env = cpu_env(cs);
    target_ulong priv = env->priv;

    for (size_t done = 0; done < len;) {
        uint64_t at = pointer(env, va + done);
        uint64_t page = at & TARGET_PAGE_MASK;
        size_t n = MIN(len - done, page + TARGET_PAGE_SIZE - at);
        hwaddr pa;

        env->priv = PRV_S;
        pa = cpu_get_phys_page_debug(cs, page);
        env->priv = priv;
        if (pa == -1 ||
            address_space_read(cs->as, pa + (at - page), attrs,
                               (char *)buf + done, n) != MEMTX_OK) {
            return false;
        }
        done += n;
    }
    return true;
}

/* False if there is none that can be read, or nothing that looks like one. */
static bool read_task(RISCVTraceHart *hart, uint64_t at, ETraceSbTask *task)
{
    const ETraceGuestInfo *guest = hart->config.guest;
    uint8_t pid[4], tgid[4];

    *task = (ETraceSbTask) { .task = at };
    if (!read_guest(hart->cs, at + guest->pid, pid, sizeof(pid)) ||
        !read_guest(hart->cs, at + guest->tgid, tgid, sizeof(tgid)) ||
        !read_guest(hart->cs, at + guest->comm, task->comm,
                    ETRACE_SB_COMM_SIZE)) {
        return false;
    }
    task->tid = ldl_le_p(pid);
    task->tgid = ldl_le_p(tgid);
    return task->tid < TASK_PIDS && task->tgid < TASK_PIDS &&
           task->comm[0] && !task->comm[ETRACE_SB_COMM_SIZE - 1];
}

static bool same_task(const ETraceSbTask *a, const ETraceSbTask *b)
{
    return a->task == b->task && a->tid == b->tid && a->tgid == b->tgid &&
           !strcmp(a->comm, b->comm);
}

static void report_task(RISCVTraceHart *hart, const ETraceSbTask *task)
{
    uint8_t bytes[ETRACE_SB_HEADER_SIZE + ETRACE_SB_TASK_SIZE];
    RISCVTraceReader *reader = riscv_trace_reader_lock_behind_fence(hart);

    riscv_trace_reader_record(reader, bytes,
                              etrace_sb_pack_task(bytes, hart->index, task));
    qemu_mutex_unlock(&reader->lock);
    hart->task.last = *task;
    hart->task.known = true;
}

static void task_pending(RISCVTraceHart *hart)
{
    CPURISCVState *env = cpu_env(hart->cs);
    RISCVTraceTask *t = &hart->task;
    ETraceSbTask task;

    if (!t->pending) {
        return;
    }
    t->pending = false;
    if (env->virt_enabled || !is_watched(hart)) {
        return;
    }
    t->read_at = t->at;
    t->satp = env->satp;
    t->settled = env->priv == PRV_U;
    if (read_task(hart, t->at, &task) &&
        !(t->known && same_task(&task, &t->last))) {
        report_task(hart, &task);
    }
}

static void task_start(RISCVTraceHart *hart)
{
    CPURISCVState *env = cpu_env(hart->cs);
    uint64_t at = env->virt_enabled ? 0 : task_in(env, env->priv);

    hart->task.read_at = 0;
    if (at && is_watched(hart)) {
        hart->task.pending = true;
        hart->task.at = at;
        task_pending(hart);
    }
}

const RISCVTraceFollower riscv_trace_task = {
    .start = task_start,
    .trap = task_trap,
    .xret = task_xret,
    .pending = task_pending,
};
