#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# gdb_step.py SOCKETS STEPS
#
# Connects to QEMU's gdbstub, the socket "gdb" in the directory SOCKETS, steps
# the first hart that many times, prints the pc before each step, and lets the
# guest go on until it is over.

import sys

import links


def main():
    if len(sys.argv) != 3:
        sys.exit('usage: gdb_step.py SOCKETS STEPS')
    gdb = links.Gdb(sys.argv[1])
    gdb.ask('Qqemu.sstep=1')    # interrupts and timers go on
    for _ in range(int(sys.argv[2])):
        print(f'{gdb.read("pc"):x}')
        answer = gdb.ask('vCont;s:1')
        if not answer.startswith('T05'):
            sys.exit(f'a step ended with {answer}')
    gdb.send('vCont;c')
    answer = gdb.receive()
    if answer is not None and not answer.startswith(('W00', 'T')):
        sys.exit(f'the end was {answer}')


main()
