/*
 * RISC-V trace: which task of the guest's operating system runs, for the
 * sideband
 *
 * Where code may have switched tasks, translated code ends its TB and calls
 * helper_trace_task(). What that has to look at, and how, depends on the
 * system: task-linux.c, task-rtos.c.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "exec/target_page.h"
#include "exec/helper-proto.h"
#include "system/memory.h"
#include "internal.h"
#include "task.h"

void helper_trace_task(CPURISCVState *env)
{
    RISCVTraceHart *hart = env->trace.hart;
    const RISCVTraceFollower *follower = hart->config.follower;

    if (follower && riscv_trace_has_reader(hart)) {
        follower->switched(hart);
    }
}

uint64_t riscv_trace_task_pointer(CPURISCVState *env, target_ulong val)
{
    return riscv_cpu_mxl(env) == MXL_RV32 ? (uint32_t)val : val;
}

void riscv_trace_task_look_at(RISCVTraceHart *hart, uint64_t at)
{
    hart->task.pending = true;
    hart->task.at = at;
    riscv_trace_ask_drain(hart);
}

bool riscv_trace_task_read(RISCVTraceHart *hart, uint64_t va, void *buf,
                           size_t len)
{
    const MemTxAttrs attrs = { .memory = 1 };
    CPUState *cs = hart->cs;
    CPURISCVState *env = cpu_env(cs);
    target_ulong priv = env->priv;

    for (size_t done = 0; done < len;) {
        uint64_t at = riscv_trace_task_pointer(env, va + done);
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

void riscv_trace_task_pending(RISCVTraceHart *hart)
{
    CPURISCVState *env = cpu_env(hart->cs);
    RISCVTraceTask *t = &hart->task;
    ETraceSbTask task = { .task = t->at };

    if (!t->pending) {
        return;
    }
    t->pending = false;
    if (env->virt_enabled || !riscv_trace_has_reader(hart)) {
        return;
    }
    t->read = true;
    t->read_at = t->at;
    t->satp = env->satp;
    t->settled = env->priv == PRV_U;
    if (hart->config.follower->read(hart, &task) &&
        !(t->known && same_task(&task, &t->last))) {
        report_task(hart, &task);
    }
}
