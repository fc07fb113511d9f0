/*
 * A program that makes no system call for millions of instructions, while it
 * changes a variable
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
volatile unsigned changed;

int main(void)
{
    for (unsigned i = 0; i < 1500000; i++) {
        changed = i;
    }
    return 0;
}
