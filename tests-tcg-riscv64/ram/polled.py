# SPDX-License-Identifier: GPL-2.0-or-later
#
# Software that reads the RAM sink while it is traced: what it sees is in order,
# and is the same when the run is replayed.

import os
import subprocess

from tap import LIMIT, need

QEMU, OUT = os.environ['QEMU'], os.environ['OUT']


def run(folder, xlen, *options):
    """What the guest has seen"""
    command = [QEMU, '-M', 'virt,trace=on', '-cpu', f'rv{xlen}', '-m', '128M',
               '-bios', 'none', '-display', 'none', '-monitor', 'none', '-nic',
               'none', '-serial', f'file:{folder}/uart', '-kernel',
               f'{OUT}/rvtrace-polled-{xlen}.elf', *options]
    done = subprocess.run(command, capture_output=True, text=True,
                          timeout=LIMIT, check=False)
    with open(f'{folder}/uart', encoding='ascii') as file:
        text = file.read()
    need(done.returncode == 0 and not done.stderr and
         text.startswith('seen '),
         f'QEMU: {done.returncode}: {done.stderr}{text}')
    return text


def polled(folder, xlen):
    run(folder, xlen)


def replayed(folder, xlen):
    record = f'shift=0,rrfile={folder}/replay.log'
    first = run(folder, xlen, '-icount', f'{record},rr=record')
    for _ in range(2):
        again = run(folder, xlen, '-icount', f'{record},rr=replay')
        need(again == first, f'the guest has seen {again}, then {first}')
