/*
 * Loops of which the trace does not tell each round: with a call in it, and
 * without
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
volatile unsigned changed;

__attribute__((noinline)) void leaf(unsigned i)
{
    changed = i;
}

__attribute__((noinline)) void run(unsigned rounds)
{
    for (unsigned i = 0; i < rounds; i++) {
        changed = i;
    }
}

int main(void)
{
    run(300000);
    for (unsigned i = 0; i < 20000; i++) {
        leaf(i);
    }
    run(500000);
    return 0;
}
