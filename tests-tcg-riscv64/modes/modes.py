# SPDX-License-Identifier: GPL-2.0-or-later
#
# Runs programs (bench/programs) and guests (../guests) in the modes of
# modes.txt, and compares what rvtrace decodes with what an independent
# observer (../plugin) saw retire. Speaks TAP: a line for each mode.

import argparse
import concurrent.futures
import fnmatch
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
TESTS = os.path.dirname(HERE)
TOP = os.path.dirname(TESTS)
sys.dont_write_bytecode = True
sys.path += [os.path.join(TOP, 'bench'), os.path.join(TESTS, 'harness')]
import htif                         # noqa: E402
from tap import Tap                 # noqa: E402
BUILD = os.environ.get('RVTRACE_BUILD', os.path.join(TOP, 'build'))
QEMU = os.environ.get('QEMU', f'{BUILD}/qemu-system-riscv64')
RVTRACE = os.environ.get('RVTRACE', f'{BUILD}/rvtrace')
RETIRED = os.environ.get('RETIRED', f'{BUILD}/plugins/libretired.so')
OUT = os.path.abspath(os.environ.get('OUT', f'{BUILD}/check/modes'))
LIMIT = 120

# Calls and returns of all kinds, jump tables, traps, loops; together they
# take each path of the encoder. --all takes the other programs, too.
PROGRAMS = ['coremark', 'dhrystone', 'interpreter', 'mergesort', 'recursion',
            'regex', 'shapes', 'syscalls', 'windows']
# What --some runs all of them in, to compare with, and since each program has
# most to say there; in each other mode it runs one in so many of them
WHOLE = {'baseline', 'all'}
SHARE = 3
# Traps and interrupts of all sorts, other modes, address spaces
GUESTS = ['calls.rv64g', 'calls.rv32gc', 'cross.rv64gc', 'exceptions.rv64gc',
          'exceptions.rv32gc', 'hyp.rv64gc', 'irq.rv64gc', 'priv.rv64gc',
          'smc.rv64gc', 'tables.rv64gc', 'vm.rv64gc', 'wfi.rv64gc',
          'zc.rv64gc']
CPU = {'zc.rv64gc': 'rv64,d=off,zcmp=on,zcmt=on'}


def cpu_of(name):
    variant = name.rpartition('.')[2]
    if name in CPU or not variant.startswith('rv'):
        return CPU.get(name, 'rv64')
    return variant[:4] + ('' if variant.endswith('c') else ',c=off')


def read_modes():
    """(name, list of properties) of each line of modes.txt"""
    with open(os.path.join(HERE, 'modes.txt'), encoding='utf-8') as lines:
        words = [line.split() for line in lines if not line.startswith('#')]
    return [(line[0], line[1:]) for line in words if line]


def make(folder, *arguments):
    done = subprocess.run(
        ['make', '-s', '-j', os.environ.get('JOBS') or '2', '-C', folder,
         f'OUT={OUT}/elf', *arguments], check=False,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        print(f'Bail out! cannot build {folder}')
        sys.exit(1)
    return done.stdout.split()


class Difference(Exception):
    """What was wrong with a run"""


def run(command, log, what):
    with open(log, 'ab') as out:
        try:
            status = subprocess.run(command, stdin=subprocess.DEVNULL,
                                    stdout=out, stderr=out,
                                    check=False, timeout=LIMIT).returncode
        except subprocess.TimeoutExpired:
            raise Difference(f'{what} did not finish') from None
    if status:
        with open(log, encoding='utf-8', errors='replace') as lines:
            last = (lines.read().splitlines() or ['nothing'])[-1]
        raise Difference(f'{what}: status {status}, {last}')


def check(mode, properties, name):
    """One run: how many instructions were compared, how the trace begins"""
    folder = os.path.join(OUT, 'runs', f'{mode}-{os.path.basename(name)}')
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    log = f'{folder}/log'
    command = [
        QEMU, '-M',
        'virt,trace=on,trace-chardev=tr,trace-sideband=sb,trace-autostart=on,'
        'trace-modes=baseline',
        '-chardev', f'file,id=tr,path={folder}/trace',
        '-chardev', f'file,id=sb,path={folder}/sideband',
        '-display', 'none', '-monitor', 'none',
        '-serial', f'file:{folder}/uart',
        '-plugin', f'{RETIRED},out={folder}/truth']
    for item in properties:
        command += ['-global', f'riscv-trace-encoder.{item}']
    if os.path.isabs(name):
        try:
            htif.run(command, name, folder, LIMIT)
        except RuntimeError as why:
            raise Difference(str(why)) from why
    else:
        run(command + ['-cpu', cpu_of(name), '-m', '128M', '-bios', 'none',
                       '-kernel', f'{OUT}/elf/{name}.elf'], log, 'QEMU')
    if os.path.getsize(log):
        raise Difference('QEMU or the observer complained')
    run([RVTRACE, 'verify', '--trace', f'{folder}/trace', '--sideband',
         f'{folder}/sideband', '--truth', f'{folder}/truth'], log, 'verify')
    with open(log, encoding='utf-8') as text:
        said = text.read()
    compared = re.search(r'(\d+) instructions decoded, (\d+) retired, '
                         r'0 of \d+ checkpoints differ, 0 losses: identical',
                         said)
    if not compared or compared[1] != compared[2] or int(compared[1]) < 300:
        raise Difference(f'verify: {said.strip()}')
    with open(f'{folder}/trace', 'rb') as trace:
        beginning = trace.read(4096)
    shutil.rmtree(folder)
    return int(compared[1]), beginning


def check_mode(pool, mode, properties, names):
    """All runs of a mode: instructions compared, what was wrong, traces"""
    jobs = [(name, pool.submit(check, mode, properties, name))
            for name in names]
    compared, wrong, traces = 0, [], {}
    for name, job in jobs:
        try:
            count, traces[name] = job.result()
            compared += count
        except Difference as why:
            wrong.append(f'{name}: {why}')
    return compared, wrong, traces


def main():
    parser = argparse.ArgumentParser(
        prog='run.sh', description='Decoded equals retired, in every mode. '
        'QEMU, RVTRACE, RETIRED, OUT in the environment are the programs, the '
        'observer and the folder for files (kept of runs that failed).')
    parser.add_argument('--all', action='store_true',
                        help='every program, not only those of ours')
    parser.add_argument('--some', action='store_true',
                        help=f'in most modes, one of {SHARE} programs: each '
                        'program in as many modes')
    parser.add_argument('--elf', action='append', default=[], metavar='FILE',
                        help='this program, made for Spike, instead of ours')
    parser.add_argument('--mode', action='append', metavar='PATTERN',
                        help='only modes whose name matches')
    parser.add_argument('--program', action='append', metavar='PATTERN',
                        help='only programs and guests whose name matches')
    options = parser.parse_args()

    bench = os.path.join(TOP, 'bench', 'programs')
    names = make(bench, 'list') if options.all else list(PROGRAMS)
    names += GUESTS
    if options.elf:
        names = [os.path.abspath(path) for path in options.elf]
    modes = read_modes()
    if options.program:
        names = [name for name in names if any(
            fnmatch.fnmatchcase(name, p) for p in options.program)]
    if options.mode:
        modes = [mode for mode in modes if any(
            fnmatch.fnmatchcase(mode[0], p) for p in options.mode)]
    make(bench)
    make(os.path.join(TESTS, 'guests'))

    total = 0
    baseline = {}
    tap = Tap()
    with concurrent.futures.ThreadPoolExecutor(
            int(os.environ.get('JOBS') or os.cpu_count())) as pool:
        for place, (mode, properties) in enumerate(modes):
            chosen = names if not options.some or mode in WHOLE else \
                names[place % SHARE::SHARE]
            compared, wrong, traces = check_mode(pool, mode, properties,
                                                 chosen)
            if mode == 'baseline':
                baseline = traces
            elif baseline and traces.items() <= baseline.items():
                wrong.append('the mode is not on: all traces are baseline\'s')
            total += compared
            tap.say(not wrong, f'{mode}: {len(traces)} of {len(chosen)} '
                    f'programs, {compared} instructions compared, '
                    f'{"" if wrong else "0 "}differences', *wrong)
    print(f'# {total} instructions compared in {len(modes)} modes, '
          f'{len(names)} programs')
    tap.end()


main()
