#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# reset-qmp.py DIRECTORY QEMU OPTION...
#
# Runs reset-qmp.elf and resets the machine (QMP: system_reset) while it
# records. Prints TAP.

import re
import sys

from machine import Machine
from tap import Tap, until


def main():
    directory, *command = sys.argv[1:]
    tap = Tap()
    with Machine(directory, command) as machine:
        machine.cont()
        machine.take('# reset now')

        def records():
            text = machine.qmp('x-query-riscv-ctr')['human-readable-text']
            jumps = re.findall(r'^ +\d+ .* direct jump', text, re.M)
            return len(jumps) == 128 and re.match(
                r'hart 0: recording, depth 128, WRPTR \d+$', text, re.M)

        until(records, 'the hart does not record before the reset')
        tap.say(True, 'reset: the hart records before it')
        machine.qmp('system_reset')
        machine.take(r'1\.\.\d+')
        tap.guest(machine.taken)
    tap.end()


main()
