/*
 * RISC-V trace of programs: the process and its threads
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "qemu/error-report.h"
#include "qemu/guest-random.h"
#include "qemu/lockable.h"
#include "qemu/timer.h"
#include "qapi/error.h"
#include <sys/prctl.h>
#include "../hooks.h"
#include "private.h"

/* Linux' prctl(PR_SET_NAME), the same for every XLEN */
#define NR_PRCTL        167
#define NR_PR_SET_NAME  15

/* Causes of interrupts from here on are signals; fewer are of RISC-V. */
#define CAUSE_SIGNAL    64

RISCVTraceProcess riscv_trace_process;

static RISCVTraceUserThread *thread_of(CPUState *cs)
{
    RISCVTraceHart *hart = riscv_trace_hart(cs);

    return hart ? hart->opaque : NULL;
}

/* The program goes on, without a trace. */
static void fail(Error *err)
{
    RISCVTraceProcess *p = &riscv_trace_process;

    if (!qatomic_xchg(&p->failed, true)) {
        error_reportf_err(err, "The rest is not traced: ");
    } else {
        error_free(err);
    }
}

void riscv_trace_process_put(const uint8_t *bytes, size_t len)
{
    RISCVTraceProcess *p = &riscv_trace_process;
    Error *err = NULL;

    QEMU_LOCK_GUARD(&p->lock);
    if (qatomic_read(&p->failed)) {
        return;
    }
    if (!riscv_trace_file_append(&p->file, bytes, len, &err)) {
        fail(err);
        return;
    }
    p->written += len;
}

/* A RISCVTraceRecordFn */
static bool put_record(void *opaque, const uint8_t *record, size_t len)
{
    RISCVTraceProcess *p = opaque;
    Error *err = NULL;

    if (qatomic_read(&p->failed)) {
        return false;
    }
    if (!riscv_trace_file_append(&p->sideband, record, len, &err)) {
        fail(err);
        return false;
    }
    return true;
}

/*
 * Beginnings
 */

/* @pattern with %p and %t replaced: number of the process, seconds of time */
static char *file_name(const char *pattern)
{
    GString *name = g_string_new(NULL);

    for (const char *c = pattern; *c; c++) {
        if (*c != '%') {
            g_string_append_c(name, *c);
        } else if (*++c == 'p') {
            g_string_append_printf(name, "%d", getpid());
        } else if (*c == 't') {
            g_string_append_printf(name, "%" PRId64,
                                   g_get_real_time() / G_USEC_PER_SEC);
        } else if (*c == '%') {
            g_string_append_c(name, '%');
        } else {
            error_report("etrace: '%%%.1s' in the file's name has no meaning: "
                         "%%p is the number of the process, %%t the time, "
                         "%%%% a '%%'", c);
            exit(EXIT_FAILURE);
        }
    }
    return g_string_free(name, false);
}

/* True if each process has a file of its own */
static bool name_differs(const char *pattern)
{
    const char *percent = strstr(pattern, "%p");

    return percent && (percent == pattern || percent[-1] != '%');
}

/* What both streams begin with */
static void put_beginning(RISCVTraceProcess *p)
{
    uint8_t record[ETRACE_SB_HEADER_SIZE + ETRACE_SB_ORIGIN_SIZE];
    uint8_t bytes[ETRACE_ALIGN_MAX + ETRACE_SESSION_MARK_SIZE];
    ETraceSbOrigin origin = { };
    size_t len;

    do {
        qemu_guest_getrandom_nofail(&origin.id, sizeof(origin.id));
    } while (!origin.id);
    riscv_trace_reader_put(p->reader, record,
                           etrace_sb_pack_origin(record, &origin));
    len = etrace_encap_align(&p->params, bytes);
    etrace_encap_mark_session(origin.id, bytes + len);
    riscv_trace_process_put(bytes, len + ETRACE_SESSION_MARK_SIZE);
}

static bool begin(CPUState *cs)
{
    RISCVTraceProcess *p = &riscv_trace_process;
    RISCVCPU *cpu = RISCV_CPU(cs);
    g_autofree char *name = file_name(cpu->etrace);
    g_autofree char *sideband = g_strconcat(name, ".sideband", NULL);
    CPUState *none[RISCV_TRACE_USER_THREADS] = { };
    unsigned xlen = riscv_cpu_mxl_bits(&cpu->env);
    Error *err = NULL;

    riscv_trace_user_options_read(&p->options, cpu, xlen);
    riscv_trace_user_options_params(&p->options, xlen, &p->params);
    p->began = get_clock();
    if (!riscv_trace_file_create(&p->file, name, &err) ||
        !riscv_trace_file_create(&p->sideband, sideband, &err)) {
        riscv_trace_file_forget(&p->file);
        fail(err);
        return false;
    }
    p->reader = riscv_trace_reader_new(put_record, p);
    riscv_trace_reader_begin(p->reader, none, NULL, ARRAY_SIZE(none), 0,
                             false);
    put_beginning(p);
    riscv_trace_user_maps_changed();
    return true;
}

/* The number of a thread that there is none with; NULL: all are taken. */
static RISCVTraceUserThread *take_number(CPUState *cs, unsigned *number)
{
    RISCVTraceProcess *p = &riscv_trace_process;

    QEMU_LOCK_GUARD(&p->lock);
    for (unsigned i = 0; i < RISCV_TRACE_USER_THREADS; i++) {
        if (!p->threads[i]) {
            p->threads[i] = g_new0(RISCVTraceUserThread, 1);
            riscv_trace_user_data_init(&p->threads[i]->data);
        }
        if (!p->threads[i]->cs) {
            p->threads[i]->cs = cs;
            *number = i;
            return p->threads[i];
        }
    }
    return NULL;
}

/*
 * The name of this thread: what it has called itself, which is QEMU's name
 * before, or that of the program
 */
static void thread_name(char name[ETRACE_SB_COMM_SIZE + 1])
{
    const char *program = riscv_trace_process.program;

    if (prctl(PR_GET_NAME, name) < 0 ||
        !strncmp(name, program_invocation_short_name,
                 ETRACE_SB_COMM_SIZE - 1)) {
        g_strlcpy(name, program, ETRACE_SB_COMM_SIZE);
    }
}

/* Which thread this is, and what it is called now */
static void put_task(RISCVTraceHart *hart)
{
    uint8_t record[ETRACE_SB_HEADER_SIZE + ETRACE_SB_TASK_SIZE];
    int tid = qemu_get_thread_id();
    ETraceSbTask task = { .task = tid, .tid = tid, .tgid = getpid() };
    RISCVTraceReader *reader;

    thread_name(task.comm);
    reader = riscv_trace_reader_lock_behind_fence(hart);
    riscv_trace_reader_record(reader, record,
                              etrace_sb_pack_task(record, hart->index, &task));
    qemu_mutex_unlock(&reader->lock);
}

void riscv_trace_user_start(CPURISCVState *env, const char *file)
{
    RISCVTraceProcess *p = &riscv_trace_process;
    CPUState *cs = env_cpu(env);
    RISCVTraceUserThread *t;
    ETraceParams params;
    unsigned number;

    if (!riscv_trace_user_wanted(RISCV_CPU(cs))) {
        return;
    }
    /* A clone has that of its parent. */
    env->trace = (RISCVTracePort) { };
    if (!p->reader) {
        if (qatomic_read(&p->failed)) {
            return;
        }
        qemu_mutex_init(&p->lock);
        p->program = g_path_get_basename(file);
        if (!begin(cs)) {
            return;
        }
    }
    cpu_exec_start(cs);
    t = take_number(cs, &number);
    if (t) {
        params = p->params;
        params.src_id = number;
        t->enc.params = params;
        t->fault.pending = false;
        memcpy(t->left, env->gpr, sizeof(t->left));
        t->renamed = false;
        t->waits = false;
        riscv_trace_hart_attach(cs, &riscv_trace_user_hart_ops, t, number);
        riscv_trace_reader_add(p->reader, cs, number, &params,
                               &(ETraceSbPlace) { .id = t->change,
                                                  .packets = t->packets });
        riscv_trace_hart_enable_now(cs, true);
        put_task(env->trace.hart);
    } else {
        warn_report_once("etrace: there are more than %u threads at a time; "
                         "those above are not traced",
                         RISCV_TRACE_USER_THREADS);
    }
    cpu_exec_end(cs);
}

bool riscv_trace_user_traces(CPUState *cs)
{
    return RISCV_CPU(cs)->etrace &&
           !qatomic_read(&riscv_trace_process.failed);
}

/*
 * Ends
 */

void riscv_trace_user_end(CPUState *cs)
{
    RISCVTraceProcess *p = &riscv_trace_process;
    RISCVTraceUserThread *t = thread_of(cs);

    if (t) {
        cpu_exec_start(cs);
        t->change = riscv_trace_hart(cs)->change;
        riscv_trace_hart_detach_now(cs);
        WITH_QEMU_LOCK_GUARD(&p->lock) {
            t->cs = NULL;
        }
        cpu_exec_end(cs);
    }
}

/* What has been written is all that there is by now. */
static void put_end(RISCVTraceProcess *p)
{
    ETraceSbEnd ends[RISCV_TRACE_USER_THREADS] = { };
    g_autofree uint8_t *record =
        g_malloc(ETRACE_SB_HEADER_SIZE +
                 ETRACE_SB_END_SIZE(RISCV_TRACE_USER_THREADS));

    for (unsigned i = 0; i < RISCV_TRACE_USER_THREADS; i++) {
        const RISCVTraceUserThread *t = p->threads[i];

        if (t) {
            ends[i].put = t->packets;
            ends[i].ticks = t->last_ticks - t->first_ticks;
        }
    }
    riscv_trace_reader_put(p->reader, record,
                           etrace_sb_pack_end(record, p->written, ends,
                                              RISCV_TRACE_USER_THREADS));
}

/* What the thread has retired is in packets, and its window is closed. */
static void end_window(CPUState *cs)
{
    riscv_trace_hart_drain(cs);
    etrace_encoder_end_window(&thread_of(cs)->enc);
}

/*
 * No thread runs code of the guest, or begins, or ends. This does not walk
 * QEMU's list of CPUs, because a thread that has ended may be freeing its own.
 */
static void settle(RISCVTraceProcess *p, bool over)
{
    for (unsigned i = 0; i < RISCV_TRACE_USER_THREADS; i++) {
        RISCVTraceUserThread *t = p->threads[i];

        if (!t || !t->cs) {
            continue;
        }
        if (over) {
            riscv_trace_hart_enable_now(t->cs, false);
        } else {
            end_window(t->cs);
        }
        riscv_trace_user_flush(t);
    }
    put_end(p);
    riscv_trace_file_settle(&p->file);
    riscv_trace_file_settle(&p->sideband);
}

void riscv_trace_user_exec(void)
{
    RISCVTraceProcess *p = &riscv_trace_process;

    if (p->reader) {
        start_exclusive();
        settle(p, false);
        end_exclusive();
    }
}

void riscv_trace_user_exit(void)
{
    RISCVTraceProcess *p = &riscv_trace_process;

    if (p->reader && !qatomic_read(&p->failed)) {
        start_exclusive();
        settle(p, true);
        /* Threads that run on until the process has ended are not traced. */
        qatomic_set(&p->failed, true);
        end_exclusive();
    }
}

void riscv_trace_user_fork_start(void)
{
    RISCVTraceProcess *p = &riscv_trace_process;

    if (p->reader) {
        qemu_mutex_lock(&p->lock);
        qemu_mutex_lock(&p->reader->lock);
    }
}

/* The child has none of the parent's threads but this one, whose trace ends. */
static void forget_parent(RISCVTraceProcess *p, CPURISCVState *env)
{
    riscv_trace_file_forget(&p->file);
    riscv_trace_file_forget(&p->sideband);
    for (unsigned i = 0; i < RISCV_TRACE_USER_THREADS; i++) {
        if (p->threads[i]) {
            riscv_trace_user_data_free(&p->threads[i]->data);
            g_free(p->threads[i]);
        }
    }
    *p = (RISCVTraceProcess) { };
    env->trace = (RISCVTracePort) { };
}

void riscv_trace_user_fork_end(CPURISCVState *env, bool child)
{
    RISCVTraceProcess *p = &riscv_trace_process;
    g_autofree char *program = NULL;

    if (!p->reader) {
        return;
    }
    qemu_mutex_unlock(&p->reader->lock);
    qemu_mutex_unlock(&p->lock);
    if (child) {
        program = p->program;
        forget_parent(p, env);
        if (name_differs(env_archcpu(env)->etrace)) {
            riscv_trace_user_start(env, program);
        } else {
            p->failed = true;       /* No trace, and no news of it */
        }
    }
}

/*
 * What the thread leaves the program for
 */

/* The kernel's instructions are no part of the trace. */
static void enter_kernel(RISCVTraceHart *hart)
{
    RISCVTraceUserThread *t = hart->opaque;

    riscv_trace_hart_drain(hart->cs);
    t->waits = t->enc.started && riscv_trace_process.options.timestamps;
    end_window(hart->cs);
    if (t->renamed) {
        t->renamed = false;
        put_task(hart);
    }
}

/*
 * A signal, or the return from its handler: a system call changes no register
 * but a0.
 */
static bool has_other_registers(RISCVTraceUserThread *t, CPURISCVState *env)
{
    target_ulong a0 = env->gpr[xA0];
    bool others;

    env->gpr[xA0] = t->left[xA0];
    others = memcmp(env->gpr, t->left, sizeof(t->left));
    env->gpr[xA0] = a0;
    return others;
}

void riscv_trace_user_enter(CPURISCVState *env)
{
    RISCVTraceUserThread *t = thread_of(env_cpu(env));

    if (t && t->waits) {
        /*
         * A packet with the time, and no instruction since the one before: so
         * the time in between is the kernel's. What runs next is encoded later.
         */
        t->waits = false;
        etrace_encoder_support(&t->enc);
    }
    if (t && t->enc.denable && has_other_registers(t, env)) {
        riscv_trace_reader_registers(env->trace.hart, false);
    }
}

static bool renames_itself(CPURISCVState *env, int trapnr)
{
    return trapnr == RISCV_EXCP_U_ECALL && env->gpr[xA7] == NR_PRCTL &&
           env->gpr[xA0] == NR_PR_SET_NAME;
}

static target_ulong fault_cause(MMUAccessType access)
{
    return access == MMU_INST_FETCH ? RISCV_EXCP_INST_PAGE_FAULT :
           access == MMU_DATA_STORE ? RISCV_EXCP_STORE_PAGE_FAULT :
           RISCV_EXCP_LOAD_PAGE_FAULT;
}

void riscv_trace_user_trap(CPURISCVState *env, int trapnr)
{
    RISCVTraceUserThread *t = thread_of(env_cpu(env));
    target_ulong cause = trapnr, tval = 0;

    if (!t || !env->trace.key) {
        return;
    }
    memcpy(t->left, env->gpr, sizeof(t->left));
    if (trapnr == RISCV_EXCP_SEMIHOST) {
        riscv_trace_insn(env, env->pc, 4, ETRACE_ITYPE_NONE, env->priv, false);
        return;
    }
    if (t->fault.pending) {
        cause = fault_cause(t->fault.access);
        tval = t->fault.addr;
    } else if (trapnr < 0 || trapnr >= EXCP_INTERRUPT) {
        return;
    } else if (trapnr == RISCV_EXCP_ILLEGAL_INST) {
        tval = env->bins;
    }
    t->fault.pending = false;
    riscv_trace_trap(env, false, cause, tval, env->pc, env->priv, false);
    enter_kernel(env->trace.hart);
    /* when the system call has been done: at the next one, at the latest */
    t->renamed = renames_itself(env, trapnr);
}

void riscv_trace_user_fault(CPURISCVState *env, target_ulong addr,
                            MMUAccessType access)
{
    RISCVTraceUserThread *t = thread_of(env_cpu(env));

    if (t) {
        t->fault = (RISCVTraceUserFault) {
            .pending = true, .addr = addr, .access = access,
        };
    }
}

void riscv_trace_user_signal(CPURISCVState *env, int sig)
{
    CPUState *cs = env_cpu(env);
    RISCVTraceUserThread *t = thread_of(cs);

    if (!t || !env->trace.key) {
        return;
    }
    cpu_exec_start(cs);
    riscv_trace_flush(env->trace.hart);
    /* Behind a system call or a fault, there is no window. */
    if (t->enc.started) {
        riscv_trace_trap(env, true, CAUSE_SIGNAL + sig, 0, env->pc, env->priv,
                         false);
        enter_kernel(env->trace.hart);
    }
    cpu_exec_end(cs);
}
