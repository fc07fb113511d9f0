/*
 * A program that an exception ends
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
int main(int argc, char **argv)
{
    *(volatile int *)(long)(16 * argc) = 1;
    return 0;
}
