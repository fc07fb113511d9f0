/*
 * Where the functions are that jit.c copies: the linker says so
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef JIT_H
#define JIT_H

extern char __start_copied_sum[], __stop_copied_sum[];
extern char __start_copied_mix[], __stop_copied_mix[];

#endif /* JIT_H */
