/*
 * RISC-V trace: which task of a real-time operating system runs
 *
 * Such systems have a variable for the task that runs, and switch tasks by
 * loading sp from its descriptor, be it in a function that the old task has
 * called or in a trap's handler. That is the place where the task changes: what
 * a handler does before still counts for the task that was interrupted. Behind
 * a trap's return is looked, too, for handlers that switch in another way.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "qemu/cutils.h"
#include "hw/trace/etrace/guest-info.h"
#include "internal.h"
#include "task.h"

#define NOBODY      "no task"

/* Numbers made of addresses are those of Linux' pids: 22 bits. */
#define TID_BITS    22
/* ... and of descriptors, which are aligned to so many bytes */
#define TID_ALIGN   8

static bool read_pointer(RISCVTraceHart *hart, uint64_t at, uint64_t *val)
{
    bool is_32 = riscv_cpu_mxl(cpu_env(hart->cs)) == MXL_RV32;
    uint8_t bytes[8] = { };

    if (!riscv_trace_task_read(hart, at, bytes, is_32 ? 4 : 8)) {
        return false;
    }
    *val = ldq_le_p(bytes);
    return true;
}

/* Does the hart run another task than when that was asked for the last time? */
static bool is_other(RISCVTraceHart *hart, uint64_t *at)
{
    const ETraceGuestInfo *guest = hart->config.guest;
    CPURISCVState *env = cpu_env(hart->cs);

    return !env->virt_enabled && riscv_trace_has_reader(hart) &&
           read_pointer(hart, guest->current + guest->stride * env->mhartid,
                        at) &&
           !(hart->task.read && *at == hart->task.read_at);
}

static void look(RISCVTraceHart *hart)
{
    uint64_t at;

    if (is_other(hart, &at)) {
        riscv_trace_task_look_at(hart, at);
    }
}

static void rtos_switched(RISCVTraceHart *hart)
{
    if (cpu_env(hart->cs)->priv == hart->config.guest->priv) {
        look(hart);
    }
}

/* Firmware may have begun the first task, but does not switch them. */
static void rtos_xret(RISCVTraceHart *hart, target_ulong priv)
{
    if (priv == hart->config.guest->priv || !hart->task.read_at) {
        look(hart);
    }
}

/* Where the name of @task is; 0: it has none */
static uint64_t where_name(RISCVTraceHart *hart, uint64_t task)
{
    const ETraceGuestInfo *guest = hart->config.guest;
    uint64_t at;

    if (guest->name != ETRACE_GUEST_ABSENT) {
        return task + guest->name;
    }
    return guest->name_pointer != ETRACE_GUEST_ABSENT &&
           read_pointer(hart, task + guest->name_pointer, &at) ? at : 0;
}

/* What has no name is called by where its descriptor is. */
static void read_name(RISCVTraceHart *hart, uint64_t task,
                      char comm[ETRACE_SB_COMM_SIZE])
{
    uint64_t at = where_name(hart, task);
    size_t len = ETRACE_SB_COMM_SIZE - 1;

    /* A short name may end right before what is no memory. */
    while (at && len && !riscv_trace_task_read(hart, at, comm, len)) {
        len--;
    }
    comm[at ? len : 0] = 0;
    if (!comm[0]) {
        snprintf(comm, ETRACE_SB_COMM_SIZE, "0x%" PRIx32, (uint32_t)task);
    }
}

/* No task: before the first one is made, or where a system idles without */
static bool rtos_read(RISCVTraceHart *hart, ETraceSbTask *task)
{
    const ETraceGuestInfo *guest = hart->config.guest;
    uint64_t at = task->task;
    uint8_t id[4];

    task->flags = guest->priv == PRV_M ? ETRACE_SB_TASK_MACHINE : 0;
    if (!at) {
        pstrcpy(task->comm, ETRACE_SB_COMM_SIZE, NOBODY);
        return hart->task.known;
    }
    if (guest->id == ETRACE_GUEST_ABSENT) {
        task->tid = extract64(at / TID_ALIGN, 0, TID_BITS);
    } else if (riscv_trace_task_read(hart, at + guest->id, id, sizeof(id))) {
        task->tid = ldl_le_p(id);
    } else {
        return false;
    }
    task->tgid = task->tid;
    read_name(hart, at, task->comm);
    return true;
}

static void rtos_start(RISCVTraceHart *hart)
{
    hart->task.read = false;
    hart->task.pending = is_other(hart, &hart->task.at);
    riscv_trace_task_pending(hart);
}

const RISCVTraceFollower riscv_trace_rtos = {
    .start = rtos_start,
    .xret = rtos_xret,
    .switched = rtos_switched,
    .read = rtos_read,
    .pending = riscv_trace_task_pending,
};
