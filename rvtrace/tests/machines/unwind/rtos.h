/*
 * Tasks as real-time operating systems describe them: the names, and the order,
 * of what trace-guest-info has to know are those of the system
 *
 * With -DRTOS=..., rtos_tasks are the descriptors, RTOS_CURRENT is the pointer
 * to the one that runs, and rtos_name() gives them names.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef RTOS_H
#define RTOS_H

#include <stddef.h>
#include <stdint.h>

#define FREERTOS    1
#define ZEPHYR      2
#define THREADX     3
#define NUTTX       4
#define RT_THREAD   5

struct list {
    struct list *next, *prev;
};

#if RTOS == ZEPHYR

struct k_thread {
    struct { struct list queue; uint8_t state; int8_t prio; } base;
    long callee_saved[14];
    void *init_data;
    char name[32];
    unsigned long stack_start;
};
struct _cpu {
    uint32_t nested;
    char *irq_stack;
    struct k_thread *current;
    struct k_thread *idle_thread;
    uint8_t id;
};
struct z_kernel {
    struct _cpu cpus[2];
    struct list ready;
} _kernel;
static struct k_thread rtos_tasks[MEMBERS];
#define RTOS_CURRENT    _kernel.cpus[0].current
#define RTOS_AT         offsetof(struct z_kernel, cpus[0].current)
#define RTOS_STRIDE     sizeof(struct _cpu)
#define RTOS_NAME       offsetof(struct k_thread, name)

#elif RTOS == THREADX

typedef struct TX_THREAD_STRUCT {
    unsigned long tx_thread_id, tx_thread_run_count;
    void *tx_thread_stack_ptr;
    char *tx_thread_name;
    unsigned tx_thread_priority;
} TX_THREAD;
TX_THREAD *_tx_thread_current_ptr;
static TX_THREAD rtos_tasks[MEMBERS];
#define RTOS_CURRENT    _tx_thread_current_ptr
#define RTOS_POINTER    offsetof(TX_THREAD, tx_thread_name)

#elif RTOS == NUTTX

struct tcb_s {
    struct tcb_s *flink, *blink;
    void *group;
    int pid;
    uint8_t sched_priority;
    char name[31 + 1];
};
struct tcb_s *g_running_tasks[1];
static struct tcb_s rtos_tasks[MEMBERS];
#define RTOS_CURRENT    g_running_tasks[0]
#define RTOS_NAME       offsetof(struct tcb_s, name)
#define RTOS_ID         pid

#elif RTOS == RT_THREAD

struct rt_object {
    char name[8];
    uint8_t type, flag;
    struct list list;
};
struct rt_thread {
    struct rt_object parent;
    struct list tlist;
    void *sp;
};
typedef struct rt_thread *rt_thread_t;
rt_thread_t rt_current_thread;
static struct rt_thread rtos_tasks[MEMBERS];
#define RTOS_CURRENT    rt_current_thread
#define RTOS_NAME       offsetof(struct rt_thread, parent.name)

#else   /* FreeRTOS */

typedef struct tskTaskControlBlock {
    volatile unsigned long *pxTopOfStack;
    struct { unsigned long value; struct list list; } xStateListItem;
    unsigned long uxPriority;
    unsigned long *pxStack;
    char pcTaskName[16];
    unsigned long uxTCBNumber;
} tskTCB;
typedef tskTCB TCB_t;
TCB_t *volatile pxCurrentTCB;
static TCB_t rtos_tasks[MEMBERS];
#define RTOS_CURRENT    pxCurrentTCB
#define RTOS_NAME       offsetof(TCB_t, pcTaskName)
#define RTOS_ID         uxTCBNumber

#endif

#ifndef RTOS_AT
#define RTOS_AT 0
#endif

/* What guest-info has to find, as symbols of the program */
#define RTOS_SAY(name, value)                                           \
    asm(".globl want_" name "\n.set want_" name ", %0" : : "i"(value))

static inline void rtos_name(unsigned i)
{
    static char names[MEMBERS][8];

    __builtin_memcpy(names[i], "task 0", 7);
    names[i][5] += i;
    RTOS_SAY("at", RTOS_AT);
#ifdef RTOS_STRIDE
    RTOS_SAY("stride", RTOS_STRIDE);
#endif
#ifdef RTOS_POINTER
    RTOS_SAY("name_pointer", RTOS_POINTER);
    rtos_tasks[i].tx_thread_name = names[i];
#else
    RTOS_SAY("name", RTOS_NAME);
    __builtin_memcpy((char *)&rtos_tasks[i] + RTOS_NAME, names[i], 7);
#endif
#ifdef RTOS_ID
    RTOS_SAY("id", offsetof(__typeof__(rtos_tasks[0]), RTOS_ID));
    rtos_tasks[i].RTOS_ID = i + 1;
#endif
}

#endif
