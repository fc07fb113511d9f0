/*
 * System calls: their numbers and names, from the code that ran
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "views/questions/syscalls.h"

/* Bytes in front of ecall where a7 is looked for */
#define LOOK_BACK   32

/* addi a7, rs1, imm; c.li a7, imm; c.mv a7, rs2 */
#define IS_ADDI(raw)    (((raw) & 0x7fff) == 0x0893)
#define IS_C_LI(raw)    (((raw) & 0xef83) == 0x4881)
#define IS_C_MV(raw)    (((raw) & 0xff83) == 0x8882)

/* Where instructions begin is not known, looking back: each may be one. */
static bool gives_number(uint32_t raw, unsigned *number)
{
    *number = SYSCALL_UNKNOWN;
    if (IS_ADDI(raw)) {
        *number = (raw >> 15 & 31) || raw >> 31 ? SYSCALL_UNKNOWN : raw >> 20;
        return true;
    }
    if (IS_C_LI(raw & 0xffff)) {
        *number = raw >> 12 & 1 ? SYSCALL_UNKNOWN : raw >> 2 & 31;
        return true;
    }
    return IS_C_MV(raw & 0xffff);
}

unsigned syscall_number(Image *image, const FlowTrap *trap)
{
    unsigned number;
    uint32_t raw;

    for (unsigned back = 2; image && trap->epc_known && back <= LOOK_BACK;
         back += 2) {
        if (image_raw(image, trap->priv, trap->epc - back, UINT64_MAX, &raw) &&
            gives_number(raw, &number)) {
            return number;
        }
    }
    return SYSCALL_UNKNOWN;
}

void syscall_queue_init(SyscallQueue *q)
{
    q->numbers = g_array_new(false, false, sizeof(unsigned));
}

void syscall_queue_clear(SyscallQueue *q)
{
    g_array_unref(q->numbers);
}

void syscall_queue_put(SyscallQueue *q, Image *image, const FlowTrap *trap)
{
    if (!trap->interrupt && trap->cause == SYSCALL_CAUSE) {
        unsigned number = syscall_number(image, trap);

        g_array_append_val(q->numbers, number);
    }
}

unsigned syscall_queue_take(SyscallQueue *q)
{
    unsigned number = SYSCALL_UNKNOWN;

    if (q->next < q->numbers->len) {
        number = g_array_index(q->numbers, unsigned, q->next++);
    }
    if (q->next == q->numbers->len) {
        g_array_set_size(q->numbers, 0);
        q->next = 0;
    }
    return number;
}

const char *syscall_name(const char *function)
{
    static const char *const prefixes[] = {
        "sys_", "__riscv_sys_", "__riscv_compat_sys_", "__se_sys_",
        "__do_sys_",
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(prefixes); i++) {
        if (g_str_has_prefix(function, prefixes[i])) {
            return function + strlen(prefixes[i]);
        }
    }
    return NULL;
}
