/*
 * The third input crashes.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
static const char *volatile inputs[] = { "a", "bb", 0 };

__attribute__((noinline)) unsigned test_one_input(const char *text)
{
    unsigned n = 0;

    while (*text++) {
        n++;
    }
    return n;
}

int main(void)
{
    unsigned sum = 0;

    for (int i = 0; i < 3; i++) {
        sum += test_one_input(inputs[i]);
    }
    return sum;
}
