# SPDX-License-Identifier: GPL-2.0-or-later
#
# Software that reads the RAM sink while it is traced: what it sees is in order,
# and is the same when the run is replayed.

import hashlib
import os
import subprocess

from tap import LIMIT, need

QEMU, OUT = os.environ['QEMU'], os.environ['OUT']


def run(folder, guest, xlen, *options):
    """What the guest has seen, and all of its memory in the end"""
    memory = f'{folder}/memory'
    command = [QEMU, '-M', 'virt,trace=on,memory-backend=ram', '-object',
               f'memory-backend-file,id=ram,size=64M,mem-path={memory},'
               'share=on', '-global', 'riscv-trace-encoder.timestamp-width=40',
               '-cpu', f'rv{xlen}', '-m', '64M', '-bios', 'none',
               '-display', 'none', '-monitor', 'none', '-nic', 'none',
               '-serial', f'file:{folder}/uart', '-kernel',
               f'{OUT}/rvtrace-{guest}-{xlen}.elf', *options]
    if os.path.exists(memory):
        os.remove(memory)
    done = subprocess.run(command, capture_output=True, text=True,
                          timeout=LIMIT, check=False)
    with open(f'{folder}/uart', encoding='ascii') as file:
        text = file.read()
    need(done.returncode == 0 and not done.stderr and
         text.startswith('seen '),
         f'QEMU: {done.returncode}: {done.stderr}{text}')
    with open(memory, 'rb') as file:
        return text, hashlib.sha256(file.read()).hexdigest()


def polled(folder, xlen):
    run(folder, 'polled', xlen)


def replayed(folder, guest, xlen):
    record = f'shift=0,rrfile={folder}/replay.log'
    first = run(folder, guest, xlen, '-icount', f'{record},rr=record')
    for _ in range(2):
        again = run(folder, guest, xlen, '-icount', f'{record},rr=replay')
        need(again == first, f'the guest has seen {again}, then {first}')
