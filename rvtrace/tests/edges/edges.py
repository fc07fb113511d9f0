#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# edges.py PATTERN: see run.sh

import csv
import os
import re
import shutil
import struct
import subprocess

import edgemap
import tap
from tap import LIMIT, need, Skip

QEMU, QEMU_USER, RVTRACE, RETIRED, OUT = (
    os.environ[n] for n in ('QEMU', 'QEMU_USER', 'RVTRACE', 'RETIRED', 'OUT'))
EACH = '--each=sym:test_one_input'
INPUTS = 40


def run(*words, status=0):
    done = subprocess.run(words, capture_output=True, text=True, timeout=LIMIT,
                          stdin=subprocess.DEVNULL, check=False)
    need(done.returncode == status,
         f'{" ".join(words)}: {done.returncode} {done.stderr}')
    return done.stderr


class Ran:
    """A program that has run, with a trace, and what it ran: pcs"""

    def __init__(self, folder, elf):
        self.folder, self.elf = folder, elf
        self.program = edgemap.Program(elf)
        self.made = 0

    def ask(self, *options):
        """({name of a map: {index: count}}, rows of maps.tsv)"""
        self.made += 1
        maps = f'{self.folder}/maps.{self.made}'
        said = run(RVTRACE, 'edges', '--trace', f'{self.folder}/trace',
                   '--sideband', f'{self.folder}/sideband', '--elf', self.elf,
                   '-o', maps, *options)
        need('warning' not in said or 'there is none' in said, said)
        with open(f'{maps}/maps.tsv', encoding='utf-8', newline='') as file:
            rows = list(csv.DictReader(file, delimiter='\t'))
        need(sorted(os.listdir(maps)) ==
             sorted(['maps.tsv'] + [row['file'] for row in rows]), 'the files')
        return {row['file']: read(f'{maps}/{row["file"]}')
                for row in rows}, rows


class Bare(Ran):
    """A machine whose timer interrupts it; maps leave its handler out"""
    HANDLERS = ('tick',)

    def __init__(self, folder, *options):
        super().__init__(folder, f'{OUT}/fuzzed.elf')
        run(QEMU, '-M', 'virt,trace=on,trace-chardev=tr,trace-sideband=sb,'
            'trace-autostart=on', '-chardev',
            f'file,id=tr,path={folder}/trace', '-chardev',
            f'file,id=sb,path={folder}/sideband', '-bios', 'none', '-m', '128M',
            '-display', 'none', '-monitor', 'none', '-serial', 'none', '-icount',
            'shift=7', '-kernel', self.elf, '-plugin',
            f'{RETIRED},out={folder}/truth,pcs={folder}/pcs', *options)
        with open(f'{folder}/pcs', encoding='utf-8') as lines:
            self.pcs = [int(line.split()[1], 16) for line in lines]
        ticks = self.pcs.count(self.program.at['tick'])
        need(ticks > 200, f'{ticks} interrupts')


class User(Ran):
    HANDLERS = ()

    def __init__(self, folder, *properties):
        super().__init__(folder, f'{OUT}/fuzzed')
        run(QEMU_USER, '-plugin', f'{OUT}/libexecuted.so,out={folder}/saw',
            '-cpu', ','.join(['rv64', f'etrace={folder}/trace', *properties]),
            self.elf)
        os.rename(f'{folder}/trace.sideband', f'{folder}/sideband')
        [name] = [n for n in os.listdir(folder) if n.startswith('saw.')]
        with open(f'{folder}/{name}', 'rb') as saw:
            # ecall is marked, and does not retire
            self.pcs = [pc for pc, in struct.iter_unpack('<Q', saw.read())
                        if not pc & 1]


def read(path):
    """A map of afl-showmap's format: sorted, and no line twice"""
    with open(path, encoding='ascii') as file:
        lines = file.read().splitlines()
    need(lines == sorted(set(lines)) and
         all(re.fullmatch(r'\d{6}:[1-9]\d*', line) for line in lines), lines)
    return {int(line[:6]): int(line[7:]) for line in lines}


def same(got, want, what):
    if isinstance(got, list) and got != want:
        got, want = zip(*[pair for pair in zip(got, want)
                          if pair[0] != pair[1]][:3]) if len(got) == len(
                              want) else (len(got), len(want))
    need(got == want, f'{what}: {got} instead of {want}')


def each_call(ran, *options, wanted=lambda pc: True):
    """One map for each call, with the counts, places and edges that it has"""
    program = ran.program
    calls = edgemap.calls(program, ran.pcs, 'test_one_input', ran.HANDLERS)
    same(len(calls), INPUTS, 'calls in the log')

    def part(pc):
        return wanted(pc) and not any(program.has(name, pc)
                                      for name in ran.HANDLERS)
    exact, rows = ran.ask(EACH, '--exact-counts', *options)
    same([(int(row['from']), int(row['to'])) for row in rows], calls, 'places')
    same([row['file'] for row in rows],
         [f'0-{i:06}' for i in range(INPUTS)], 'names')
    maps, _ = ran.ask(EACH, *options)
    seen = set()
    for row, (begin, end) in zip(rows, calls):
        want = edgemap.edges(program, ran.pcs[begin:end], part)
        same(exact[row['file']], dict(want), row['file'])
        same(maps[row['file']], edgemap.classes(want), row['file'])
        same(int(row['edges']), len(want), f'{row}')
        seen.update(want)
    return seen, exact


def test_bare(folder):
    seen, exact = each_call(Bare(folder))
    need(len(seen) > 40 and len({str(m) for m in exact.values()}) > 20,
         f'{len(seen)} edges')


def test_bare_times(folder):
    """With times, which are told of later, and another view of them"""
    ran = Bare(folder, '-global', 'riscv-trace-encoder.timestamp-width=40',
               '-global', 'riscv-trace-encoder.timestamp-mode=2')
    _, want = each_call(ran)
    run(RVTRACE, 'decode', '--trace', f'{folder}/trace', '--sideband',
        f'{folder}/sideband', '--elf', ran.elf, EACH, '--exact-counts',
        '--output', f'latency={folder}/latency', '--output',
        f'edges={folder}/both')
    same({name: read(f'{folder}/both/{name}') for name in want}, want, 'both')


def test_user(folder):
    seen, _ = each_call(User(folder))
    need(len(seen) > 40, f'{len(seen)} edges')


def test_functions(folder):
    """Only blocks of some functions"""
    ran = User(folder)
    each_call(ran, '--sym=m?x', wanted=lambda pc: ran.program.has(
        'mix', pc))
    maps, _ = ran.ask(EACH, '--dso=nothing')
    same(set(map(str, maps.values())), {'{}'}, 'of another object')


def test_whole(folder):
    """One map of everything, and of a part"""
    ran = User(folder)
    maps, rows = ran.ask('--exact-counts')
    same(maps, {'0-000000': dict(edgemap.edges(ran.program, ran.pcs))},
         'the run')
    same((rows[0]['from'], rows[0]['to']), ('0', str(len(ran.pcs))), 'places')
    maps, rows = ran.ask('--exact-counts', '--from=1000', '--to=3000')
    same(maps, {'0-000000': dict(edgemap.edges(
        ran.program, ran.pcs[1000:3000]))}, 'a part')
    same((rows[0]['from'], rows[0]['to']), ('1000', '3000'), 'its places')


def test_parts(folder):
    """Of a part of the run, the calls that begin in it"""
    ran = Bare(folder)
    calls = edgemap.calls(ran.program, ran.pcs, 'test_one_input', ran.HANDLERS)
    begin, end = calls[10][0], (calls[20][0] + calls[20][1]) // 2
    whole, _ = ran.ask(EACH, '--exact-counts')
    maps, rows = ran.ask(EACH, '--exact-counts', f'--from={begin}',
                         f'--to={end}')
    same([(int(row['from']), row['to']) for row in rows],
         [(a, str(b) if b < end else '-') for a, b in calls[10:21]], 'places')
    same(list(maps.values())[:10], list(whole.values())[10:20], 'the maps')


def test_index(folder):
    """What an index spares makes no difference."""
    ran = Bare(folder)
    index = f'{folder}/index'
    run(RVTRACE, 'index', '--trace', f'{folder}/trace', '--sideband',
        f'{folder}/sideband', '--elf', ran.elf, '--every', '2000', '-o', index)
    for begin in 1, 1000, 12345, 33000, 50001:
        for length in 700, 5000, 60000:
            part = [f'--from={begin}', f'--to={begin + length}']
            for each in [], [EACH]:
                same(ran.ask(*each, *part, '--index', index),
                     ran.ask(*each, *part), f'{each} {part}')


def test_crash(folder):
    """A call that the program does not return from has a map, and no end."""
    run(QEMU_USER, '-cpu', f'rv64,etrace={folder}/trace', f'{OUT}/crashing',
        status=-11)
    os.rename(f'{folder}/trace.sideband', f'{folder}/sideband')
    maps, rows = Ran(folder, f'{OUT}/crashing').ask(EACH)
    same([row['to'] == '-' for row in rows], [False, False, True], 'ends')
    need(all(maps.values()), f'{maps}')


def test_refused(folder):
    files = ['--trace', f'{OUT}/fuzzed', '--sideband', f'{OUT}/fuzzed']
    for value in 'test_one_input', 'sym:', 'region:', 'mark:x':
        said = run(RVTRACE, 'edges', *files, '-o', f'{folder}/maps', '--each',
                   value, status=2)
        need('must be sym:FUNCTION, a glob, or region:NAME' in said and
             not os.path.exists(f'{folder}/maps'), said)
    ran = User(f'{folder}')
    said = run(RVTRACE, 'edges', '--trace', f'{folder}/trace', '--sideband',
               f'{folder}/sideband', '--elf', ran.elf, '-o', f'{folder}/maps',
               '--each', 'sym:nothing')
    need("there is none; 'rvtrace report'" in said, said)


def test_afl(folder):
    """AFL's own programs take them for maps of theirs."""
    if not shutil.which('afl-showmap'):
        raise Skip('there is no afl-showmap (package afl++)')
    ours = User(folder).ask(EACH)[0]
    with open(f'{folder}/program.c', 'w', encoding='ascii') as f:
        f.write('#include <stdio.h>\nint main(void)\n{ int n = 0;\n'
                'while (getchar() != EOF) n++;\nreturn n > 3; }\n')
    run('afl-cc', '-o', f'{folder}/program', f'{folder}/program.c')
    run('afl-showmap', '-q', '-o', f'{folder}/afl', '--', f'{folder}/program')
    theirs = read(f'{folder}/afl')
    need(theirs and set(theirs.values()) <= set(range(1, 9)) and
         set(v for m in ours.values() for v in m.values()) <=
         set(range(1, 9)), f'{theirs}')


tap.run(f'{OUT}/tests', [
    ('bare metal, with interrupts', test_bare),
    ('bare metal, with times', test_bare_times),
    ('user mode', test_user),
    ('some functions', test_functions),
    ('all that ran', test_whole),
    ('a part of a run', test_parts),
    ('a part, with an index', test_index),
    ('a crash', test_crash),
    ('what is refused', test_refused),
    ('afl-showmap', test_afl),
])
