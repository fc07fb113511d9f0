#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# tasks.py PATTERN: see run.sh

import os
import subprocess

import tap
from symbols import addresses
from tap import need

QEMU, RVTRACE, RETIRED, OUT = (os.environ[n] for n in
                              ('QEMU', 'RVTRACE', 'RETIRED', 'OUT'))
LIMIT = 120
# as tasks.S has them
INFO = 'linux:pid=8:tgid=0xc:comm=20'

# Behind the instruction at the label: its task
TASKS = {
    'is_idle': ('task_idle', 0, 0, 'swapper/0'),
    'is_a': ('task_a', 100, 99, 'a'),
    'is_a2': ('task_a', 100, 99, 'a'),
    'is_b': ('task_b', 200, 200, 'b task'),
    'is_z': ('task_a', 100, 99, 'Z'),
    'is_y': ('task_a', 100, 99, 'Y'),
    'is_w': ('task_a', 100, 99, 'W'),
    'is_b3': ('task_b', 200, 200, 'b task'),
}
# ... and somewhere between the trap before this label and the label
LATE = ('resume', ('task_c', 0x3fffff, 1, 'fifteen letters'))

TYPE_TASK = 16


def command(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True,
                          timeout=LIMIT).stdout


def qemu(folder, variant, machine=f',trace-guest-info={INFO}', args=()):
    command(QEMU, '-M', 'virt,trace=on,trace-chardev=tr,trace-sideband=sb,'
            f'trace-autostart=on{machine}',
            '-chardev', f'file,id=tr,path={folder}/trace',
            '-chardev', f'file,id=sb,path={folder}/sideband',
            '-cpu', variant[:4] + ('' if variant.endswith('c') else ',c=off'),
            '-m', '128M', '-display', 'none', '-monitor', 'none',
            '-serial', f'file:{folder}/uart', '-bios', 'none',
            '-kernel', f'{OUT}/tasks.{variant}.elf',
            '-plugin', f'{RETIRED},out={folder}/truth,pcs={folder}/pcs',
            *args)


def decode(folder, what):
    return command(RVTRACE, 'decode', '--trace', f'{folder}/trace',
                   '--sideband', f'{folder}/sideband', '--hart', '0',
                   '--emit', what).splitlines()


def retired(folder):
    with open(f'{folder}/pcs', encoding='utf-8') as lines:
        return [int(line.split()[1], 16) for line in lines]


def switched(pcs, address):
    """(first and last instruction that it may begin with, task) of each"""
    at = {address[label]: label for label in TASKS}
    result = []
    for number, pc in enumerate(pcs, 1):
        if pc in at:
            task = TASKS[at[pc]]
            if not result or result[-1][2] != task:
                result.append((number, number, task))
        elif pc == address[LATE[0]]:
            first = max(n for n in range(number)
                        if pcs[n] == address['trap'])
            result.append((first, number, LATE[1]))
    return result


def reported(folder):
    """(instructions before it, (pointer, tid, tgid, name)) of each"""
    words = [line.split(' ', 4) for line in decode(folder, 'task')]
    return [(int(w[0]), (int(w[1], 16), int(w[2]), int(w[3]), w[4]))
            for w in words]


def check(got, want, address):
    """The same tasks, each from where it may begin"""
    for (number, is_task), (first, last, task) in zip(got, want):
        need(is_task == (address[task[0]], *task[1:]) and
             first <= number <= last,
             f'{task} from instruction {first} on: reported {is_task} '
             f'from {number} on')
    need(len(got) == len(want), f'{len(want)} switches, {len(got)} reported')


def test_tasks(folder, variant, args):
    qemu(folder, variant, args=args)
    address = addresses(f'{OUT}/tasks.{variant}.elf')
    pcs = retired(folder)
    want = switched(pcs, address)
    need(len(want) > 15, f'the guest switched {len(want)} times only')
    check(reported(folder), want, address)
    text = command(RVTRACE, 'verify', '--trace', f'{folder}/trace',
                   '--sideband', f'{folder}/sideband', '--truth',
                   f'{folder}/truth')
    need('identical' in text, text)
    need([int(pc, 16) for pc in decode(folder, 'pc')] == pcs,
         'other instructions than those that retired')
    return f'{len(want)} switches'


def test_filtered(folder, variant):
    """Modes that are not traced switch tasks, too."""
    args = ('-global', 'riscv-trace-encoder.filter=priv=U')
    qemu(folder, variant, args=args)
    address = addresses(f'{OUT}/tasks.{variant}.elf')
    names = [task[1:] for _, task in reported(folder)]
    users = [(100, 99, 'a'), (200, 200, 'b task'), (100, 99, 'Z'),
             (100, 99, 'Y'), (100, 99, 'W')]
    need(names == users, f'{names}')
    # all of them begin where the program is entered
    pcs = [int(pc, 16) for pc in decode(folder, 'pc')]
    at = [pcs[number] - 0x40000000 for number, _ in reported(folder)]
    need(at == [address[label] for label in
                ('user', 'user', 'user', 'user', 'renamed')],
         f'they begin at {[hex(pc) for pc in at]}')


def records(folder):
    """Types of the sideband's records"""
    with open(f'{folder}/sideband', 'rb') as file:
        data = file.read()
    types, pos = [], 0
    while pos < len(data):
        types.append(int.from_bytes(data[pos:pos + 2], 'little'))
        pos += 8 + int.from_bytes(data[pos + 4:pos + 8], 'little')
    return types


def test_nothing(folder, variant, machine):
    """The option, or what it names, is not there: no task, and all else"""
    qemu(folder, variant, machine=machine)
    need(TYPE_TASK not in records(folder), 'there are tasks')
    need([int(pc, 16) for pc in decode(folder, 'pc')] == retired(folder),
         'other instructions than those that retired')
    need(not decode(folder, 'task'), 'tasks are decoded')


def encoder(*props):
    return [word for prop in props
            for word in ('-global', f'riscv-trace-encoder.{prop}')]


WAYS = {
    'history': [],
    'blocks': encoder('sync-mode=3'),
    'often synchronised': encoder('sync-mode=1', 'sync-max=1'),
    '1.1.1': encoder('wire-format=1.1.1'),
    '2.1-draft': encoder('wire-format=2.1-draft'),
    'context': encoder('context-width=32', 'context=on'),
    'icount': ['-icount', 'shift=0'],
    'one insn per tb': ['-accel', 'tcg,one-insn-per-tb=on'],
    'one thread': ['-accel', 'tcg,thread=single'],
}

tests = [(f'{variant}, {way}', test_tasks, variant, args)
         for variant in ('rv64gc', 'rv64g', 'rv32gc')
         for way, args in WAYS.items()]
tests += [
    ('only U mode is traced', test_filtered, 'rv64gc'),
    ('no option, no tasks', test_nothing, 'rv64gc', ''),
    ('nothing that looks like a task', test_nothing, 'rv64gc',
     ',trace-guest-info=linux:pid=0:tgid=0:comm=0xffff'),
]
tap.run(OUT, tests)
