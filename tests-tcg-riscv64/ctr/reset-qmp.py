#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# reset-qmp.py DIRECTORY QEMU OPTION...
#
# Runs reset-qmp.elf and resets the machine (QMP: system_reset) while it
# records. Prints TAP.

import re
import sys
import time

from machine import Machine, Tap


def main():
    directory, *command = sys.argv[1:]
    tap = Tap()
    with Machine(directory, command) as machine:
        machine.cont()
        machine.take('# reset now')
        time.sleep(0.1)
        text = machine.qmp('x-query-riscv-ctr')['human-readable-text']
        good = (re.match(r'hart 0: recording, depth 128, WRPTR \d+$', text,
                         re.M) and
                len(re.findall(r'^ +\d+ .* direct jump', text, re.M)) == 128)
        tap.say(good, 'reset: the hart records before it',
                '' if good else text)
        machine.qmp('system_reset')
        machine.take(r'1\.\.\d+')
        tap.guest(machine.taken)
    tap.end()


main()
