#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# programs.py [--from SEED] [--count N] [--long N] [PATTERN]
#
# Random programs of user mode, with the seeds from SEED on: what is decoded of
# each thread is what it began to execute, but for what trapped. See run.sh.

import argparse
import json
import os
import signal
import subprocess

import generator
from symbols import addresses
from tap import Tap, need

HERE = os.path.dirname(os.path.realpath(__file__))
QEMU, RVTRACE, OUT, XLEN, GUESTS = (
    os.environ[n] for n in ('QEMU_USER', 'RVTRACE', 'OUT', 'XLEN', 'GUESTS'))
GCC = os.environ.get('CROSS', 'riscv64-linux-gnu-') + 'gcc'
LIMIT = 600         # seconds: of a hang, however busy the machine is
THREADS = 24                # of runtime.c
# Exceptions can lead a program back for ever. So many, and a thread ends.
FUEL = 3000
# How it may end otherwise: must() of runtime.c, a fault in a handler of faults,
# SIGVTALRM
FAILED = (*range(3, 10), -signal.SIGSEGV, -signal.SIGVTALRM)


def build(case, folder):
    machine = case['machine']
    with open(f'{folder}/program.S', 'w', encoding='ascii') as file:
        file.write(generator.Generator(case).generate())
    march = (f'rv{XLEN}g{"c" if machine["c"] else ""}'
             f'{"v" if machine["v"] else ""}')
    subprocess.run(
        [GCC, f'-march={march}', '-O1', '-Wall', '-ffreestanding',
         f'-mabi={"lp64d" if XLEN == "64" else "ilp32d"}', '-mcmodel=medany',
         '-fno-pic', '-mno-relax', '-nostdlib', '-static', '-no-pie',
         f'-Wl,-T,{HERE}/program.ld', '-Wl,--build-id=none',
         '-Wl,-z,norelro', '-Wl,--no-warn-rwx-segments', f'-I{GUESTS}/random',
         f'-DHARTS={machine["harts"]}', f'-DFUEL_START={FUEL}',
         f'-DWAY={generator.WAYS[machine["way"]]}',
         f'-DTIMER={int(machine["timer"])}',
         *(['-DHAS_ZC'] if machine['zc'] else []),
         '-o', f'{folder}/program', f'{folder}/program.S', f'{HERE}/entry.S',
         f'{HERE}/runtime.c'], check=True, timeout=LIMIT)


def run(case, folder):
    machine = case['machine']
    cpu = (f'{generator.cpu(machine)},etrace={folder}/trace,'
           f'etrace-modes={machine["modes"]}')
    for name, option in (('data', 'data'), ('times', 'timestamps')):
        if machine[name]:
            cpu += f',etrace-{option}=on'
    # -R: what the program unmaps by accident is not QEMU's
    command = [QEMU, '-R', '0x100000000', '-cpu', cpu, '-plugin',
               f'{OUT}/libexecuted.so,out={folder}/saw']
    if machine['one_insn']:
        command.append('-one-insn-per-tb')
    if machine['small']:
        command += ['-tb-size', '1']
    command.append(f'{folder}/program')
    with open(f'{folder}/command', 'w', encoding='utf-8') as file:
        file.write(' '.join(command) + '\n')
    done = subprocess.run(command, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=LIMIT,
                          check=False)
    need(not done.stderr or 'uncaught target signal' in done.stderr,
         done.stderr[-500:])
    if done.returncode in FAILED:
        # What a fault has led astray; its trace has to be right, too.
        machine['way'] = 'failed'
    else:
        need(done.returncode == 0, f'status {done.returncode}')


def rvtrace(folder, *words):
    return [RVTRACE, 'decode', '--trace', f'{folder}/trace', '--sideband',
            f'{folder}/trace.sideband', *words]


def begins_of_threads(folder, hart):
    """What compare.c is told: nothing, if there is no such hart"""
    done = subprocess.run(rvtrace(folder, '--hart', str(hart), '--emit',
                                  'task'), capture_output=True, text=True,
                          timeout=LIMIT, check=False)
    if 'is not in the trace' in done.stderr:
        return []
    need(done.returncode == 0, f'hart {hart}: {done.stderr[-500:]}')
    begins = {}
    for line in done.stdout.splitlines():
        first, _, tid = line.split()[:3]
        begins.setdefault(tid, int(first))
    return list(begins.items())


def compare(case, folder):
    """Instructions of all harts"""
    way = case['machine']['way']
    handler = addresses(f'{folder}/program')['on_fault']
    left = {name.partition('.')[2] for name in os.listdir(folder)
            if name.startswith('saw.')}
    total = 0
    for hart in range(THREADS):
        begins = begins_of_threads(folder, hart)
        if not begins:
            continue        # or its thread had not run when the process ended
        main = begins[0][0] if hart == 0 else None
        words = []
        for tid, first in begins:
            cut = way != 'join' and (tid != main or way != 'group')
            if cut and tid not in left:
                continue
            left.discard(tid)
            words.append(f'{first}{":" if cut else "="}{folder}/saw.{tid}')
        with subprocess.Popen(
                rvtrace(folder, '--hart', str(hart), '--emit', 'pc'),
                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                text=True) as decoder:
            done = subprocess.run(
                [f'{OUT}/compare', f'{handler:x}', *words],
                stdin=decoder.stdout, capture_output=True, text=True,
                timeout=LIMIT, check=False)
            decoder.stdout.close()
            said = decoder.stderr.read()
            need(done.returncode == 0, f'hart {hart}: {done.stdout[-500:]}'
                 f'{done.stderr[-500:]}{said[-500:]}')
            # One that was killed has no end.
            need(decoder.wait(LIMIT) == 0 and
                 (way == 'failed' or not said), f'hart {hart}: {said[-500:]}')
        total += int(done.stdout)
    # One that begins while another thread ends the process is not traced.
    need(way in ('failed', 'group') or not left,
         f'threads without a trace: {left}')
    need(total > 100, f'{total} instructions')
    return total


def test(folder, seed, long, totals):
    case = generator.make(seed, int(XLEN), long)
    with open(f'{folder}/case.json', 'w', encoding='ascii') as file:
        json.dump(case, file, indent=1)
    build(case, folder)
    run(case, folder)
    totals.append(compare(case, folder))
    return f'{totals[-1]} instructions, {sum(totals)} in all'


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--from', dest='seed', type=int, default=1)
    parser.add_argument('--count', type=int, default=10)
    parser.add_argument('--long', type=int, default=1)
    parser.add_argument('pattern', nargs='?')
    given = parser.parse_args()
    tap = Tap(f'{OUT}/tests', given.pattern)
    totals = []
    for seed in range(given.seed, given.seed + given.count):
        tap.test(f'seed-{seed}', test, seed, given.long, totals)
    print(f'# {sum(totals)} instructions compared')
    tap.end()


main()
