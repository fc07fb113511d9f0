#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# user.py PATTERN: see run.sh

import contextlib
import glob
import json
import os
import random
import re
import signal
import struct
import subprocess
import sys
import time
from collections import Counter

import debugged
import hotspot
import processes
import tap
import trouble
from tap import LIMIT, need, Skip, until
from traced import (begins_of_threads, calls, harts, qemu, report, rvtrace,
                    streams, threads, unread, CPU, CROSS, FAULTS, LIBRARIES,
                    OBSERVER, OUT, QEMU, RVTRACE, XLEN)

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)),
                             '..', 'cli'))

import browser      # noqa: E402

ACCESSES = os.environ['ACCESSES']
OBJCOPY = f'{CROSS}objcopy'

# The calls of dynamic.cc: main() calls attempt(0) to attempt(9), three threads
# attempt(0) to attempt(4), and attempt(n) leads to n + 1 calls of descend()
CALLS = {'attempt': 10 + 3 * 5, 'descend': 55 + 3 * 15}
PROGRAMS = {                # status, faults
    'signals': (0, FAULTS),
    'threads': (7, 0),
    'child': (0, 0),
    'reads': (0, 0),
}
if XLEN == '64':
    PROGRAMS['dynamic'] = (0, 0)
MODES = ['all', 'baseline', 'implicit-return', 'full-address',
         'branch-prediction+jump-target-cache', 'sequential-jump']


def compare(file, prefix, faults):
    """
    What the observer saw and the trace has not are ecall and ebreak, by their
    mark, and so many instructions that faulted.
    """
    left = {path.rsplit('.', 1)[1] for path in glob.glob(f'{prefix}.*')}
    total = 0
    for tid, pcs in threads(file):
        with open(f'{prefix}.{tid}', 'rb') as saw:
            began = [pc for pc, in struct.iter_unpack('<Q', saw.read())]
        left.discard(tid)
        at = 0
        for pc in began:
            if at < len(pcs) and pcs[at] == pc:
                at += 1
            elif not pc & 1:
                faults -= 1
        need(at == len(pcs), f'thread {tid}: other instructions from number '
             f'{at} of {len(pcs)} on: {pcs[at - 2:at + 3]}')
        total += at
    need(not left, f'threads without a trace: {left}')
    need(faults == 0, f'{faults} faults too few or too many')
    print(f'# {total} instructions')


def test_program(folder, name, modes):
    status, faults = PROGRAMS[name]
    file = f'{folder}/trace'
    qemu(file, name, modes=modes, status=status,
         options=['-plugin', f'{OBSERVER},out={folder}/saw'])
    # a thread that ran on when the process ended has begun more than retired
    if name == 'threads':
        compare_ended(file, f'{folder}/saw')
    else:
        compare(file, f'{folder}/saw', faults)


def compare_ended(file, prefix):
    """The same, but one thread may have been cut off anywhere."""
    cut = 0
    for tid, pcs in threads(file):
        with open(f'{prefix}.{tid}', 'rb') as saw:
            began = [pc for pc, in struct.iter_unpack('<Q', saw.read())
                     if not pc & 1]
        if began != pcs:
            cut += 1
            need(began[:len(pcs)] == pcs or pcs[:len(began)] == began,
                 f'thread {tid} differs')
    need(cut <= 1, f'{cut} threads were cut off')


def accesses(file):
    """{thread: its lines of decode --emit data}"""
    found = {}
    for hart, _ in harts(file):
        begins = begins_of_threads(file, hart)
        number = 0          # of instructions
        for line in rvtrace('decode', file, '--hart', str(hart), '--emit',
                            'pc,data').splitlines():
            if ' ' in line:
                found.setdefault(tid, []).append(line + '\n')
            else:
                if begins and begins[0][0] == number:
                    tid = begins.pop(0)[1]
                number += 1
    return found


def test_data(folder, name, more='', within=None):
    """
    Loads, stores and atomics of each thread, as the plugin saw them; within:
    only those of these addresses are traced
    """
    file = f'{folder}/trace'
    words = ['short'] if name == 'threads' else []
    qemu(file, name, *words, more=f',etrace-data=on{more}',
         status=PROGRAMS[name][0],
         options=['-plugin',
                  f'{OUT}/libaccesses.so,out={folder}/saw,threads=on'])
    saw = {}
    with open(f'{folder}/saw', encoding='ascii') as lines:
        for line in lines:
            words = line.split(None, 2)
            if not within or within[0] <= int(words[1], 16) <= within[1]:
                saw.setdefault(words[0], []).append(line)
    found = accesses(file)
    need(saw and set(saw) == set(found), f'threads {set(saw) ^ set(found)}')
    cut = 0
    for tid, decoded in found.items():
        wrong = compare_accesses(folder, tid, saw[tid], decoded,
                                 *([] if len(found) == 1 else ['--parallel']))
        if name == 'threads' and ('nothing more observed' in wrong or
                                  'not decoded' in wrong):
            # It ran on when the process ended, and one of both is longer.
            wrong = ''
            cut += 1
        need(not wrong, f'thread {tid}: {wrong}')
    need(cut <= 1, f'{cut} threads were cut off')
    print(f'# {sum(len(lines) for lines in found.values())} accesses')


def compare_accesses(folder, tid, saw, decoded, *options):
    """What differs"""
    for name, lines in (('saw.thread', saw), ('decoded', decoded)):
        with open(f'{folder}/{name}', 'w', encoding='ascii') as out:
            out.writelines(lines)
    done = subprocess.run(
        [ACCESSES, f'{folder}/saw.thread', tid, f'{folder}/decoded',
         *options],
        capture_output=True, text=True, timeout=LIMIT, check=False)
    return done.stderr if done.returncode else ''


def bounds():
    """Addresses of two instructions in the middle of sort() of reads.c"""
    done = subprocess.run(
        [f'{CROSS}objdump', '-d',
         '--disassemble=sort', f'{OUT}/reads'], capture_output=True, text=True,
        check=True)
    pcs = [int(line.partition(':')[0], 16)
           for line in done.stdout.splitlines() if ':\t' in line]
    need(len(pcs) > 20, f'{len(pcs)} instructions')
    return pcs[5], pcs[-6]


def test_rounds(folder):
    """
    Where no packet tells each round of a loop, all calls are there, and as
    many instructions as elsewhere.
    """
    file, calls_of_leaf = f'{folder}/trace', 20000
    qemu(file, 'rounds')
    rvtrace('speedscope', file, '--sysroot', '/', '--output',
            f'{folder}/speedscope')
    with open(f'{folder}/speedscope', encoding='utf-8') as f:
        data = json.load(f)
    leaf = [i for i, frame in enumerate(data['shared']['frames'])
            if frame['name'] == 'leaf']
    begun = sum(event['type'] == 'O' and event['frame'] in leaf
                for profile in data['profiles']
                for event in profile.get('events', []))
    need(begun == calls_of_leaf, f'speedscope: {begun} calls')
    rvtrace('uftrace', file, '--sysroot', '/', '--output', f'{folder}/uftrace')
    entries = Counter()
    for path in glob.glob(f'{folder}/uftrace/*.dat'):
        with open(path, 'rb') as f:
            for _, what in struct.iter_unpack('<QQ', f.read()):
                if what & 3 == 0:
                    entries[what >> 16] += 1
    need(calls_of_leaf in entries.values(), f'uftrace: {entries}')
    rows = json.loads(rvtrace('calls', file, '--sysroot', '/', '--sym', 'leaf',
                              '--format', 'json'))['rows']
    need(len(rows) == calls_of_leaf, f'calls: {len(rows)}')
    insns = int(re.search(r'instructions +(\d+)', rvtrace('stat', file))[1])
    for part, want in (([], insns), (['--from', '700000'], insns - 700000),
                       (['--from', '2000', '--to', '1500000'], 1498000)):
        parts = json.loads(rvtrace('privilege', file, *part, '--every',
                                   '100000', '--format', 'json'))['rows']
        got = sum(row['instructions'] for row in parts)
        need(got == want, f'privilege {part}: {got}, not {want}')
        need(all(row['instructions'] == 100000 for row in parts[:-1]),
             f'{parts}')
    border = rows[calls_of_leaf // 2]['from']
    some = json.loads(rvtrace('calls', file, '--sysroot', '/', '--sym', 'leaf',
                              '--format', 'json', '--from', str(border)))
    need(some['rows'][1:] == rows[-len(some['rows']) + 1:] and
         abs(len(some['rows']) - calls_of_leaf // 2) < 3,
         f'calls behind what is not selected: {some["rows"][:3]}')


def test_filter(folder, modes):
    """What is at these addresses, and nothing else, is traced."""
    first, last = bounds()
    qemu(f'{folder}/trace', 'reads', modes=modes,
         more=f',etrace-filter=pc={first:#x}-{last:#x}',
         options=['-plugin', f'{OBSERVER},out={folder}/saw'])
    (tid, pcs), = threads(f'{folder}/trace')
    with open(f'{folder}/saw.{tid}', 'rb') as saw:
        expected = [pc for pc, in struct.iter_unpack('<Q', saw.read())
                    if first <= pc <= last]
    need(len(expected) > 100000 and pcs == expected,
         f'{len(pcs)} instructions, not {len(expected)}')


def test_filter_data(folder):
    first, last = bounds()
    test_data(folder, 'reads', f',etrace-filter=pc={first:#x}-{last:#x}',
              (first, last))


def test_times(folder):
    """A program that waits for its input for a known time"""
    file = f'{folder}/trace'
    wait = .5
    began = time.monotonic()
    with subprocess.Popen(
            [QEMU, '-cpu', f'{CPU},etrace={file},etrace-timestamps=on',
             f'{OUT}/reads'], stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL) as process:
        os.write(process.stdin.fileno(), bytes(4))
        until(lambda: not unread(process.stdin), 'nothing was read')
        time.sleep(wait)        # which is what is measured
        process.stdin.close()
        need(process.wait(LIMIT) == 0, 'the program fails')
    whole = time.monotonic() - began
    rows = report(*streams(file), '--weight', 'time')
    total = sum(int(row['own_ns']) for row in rows) / 1e9
    need(wait <= total <= whole, f'{total} s, not {wait} to {whole}')
    own = sum(int(row['own_ns']) for row in rows if 'read' in row['sym']) / 1e9
    # It may have been late, as other programs run.
    need(wait / 2 <= own <= total, f'read(): {own} s of {total}')
    for row in rows:
        # Shares of the time between two packets are rounded.
        need(row['sym'] == '[no symbol]' or
             int(row['own_ns']) <= int(row['total_ns']) + 1000,
             f'a function takes longer than with what it calls: {row}')
    row = max(json.loads(rvtrace('latency', file, '--format', 'json'))['rows'],
              key=lambda row: row['max_ns'])
    need((row['kind'], row['number']) == ('syscall', 63) and
         wait / 2 <= row['max_ns'] / 1e9 <= total, f'read(): {row}')
    parts = [sum(int(row['own']) for row in report(*streams(file), *part))
             for part in ([], ['--to', '100ms'], ['--from', '100ms'])]
    need(parts[0] == parts[1] + parts[2] and all(parts), str(parts))


def test_names(folder):
    qemu(f'{folder}/trace', 'dynamic')
    found = calls(*streams(f'{folder}/trace'))
    need({name: found.get(name) for name in CALLS} == CALLS, str(found))
    need('cbrt' in found and found['cbrt'] == 100, 'cbrt() of the library')


def test_unnamed(folder):
    """Without its file, the program's name says which one would help."""
    file = f'{folder}/trace'
    qemu(file, 'child')
    for command in ('report', 'folded'):
        done = subprocess.run(
            [RVTRACE, command, '--trace', file, '--sideband',
             f'{file}.sideband'], capture_output=True, text=True,
            timeout=LIMIT, check=False)
        need(done.returncode == 0 and 'in no known file' in done.stderr and
             f'one of them is {OUT}/child: if that is this machine\'s, give '
             '--sysroot /' in done.stderr, done.stderr)
    said = rvtrace('summary', file)
    need('% in no known file; give --sysroot DIR' in said, said)
    # The program may lie directly in the folder, and not at its whole path.
    for folder in ('/', OUT):
        need('known file' not in rvtrace('summary', file, '--sysroot', folder),
             f'no names with --sysroot {folder}')


def test_other_xlen(folder):
    """A program for the other width is not the one that ran."""
    file, other = f'{folder}/trace', f'{folder}/other'
    qemu(file, 'child')
    options = ['-march=rv32gc', '-mabi=ilp32d'] if XLEN == '64' else \
        ['-march=rv64gc', '-mabi=lp64d']
    subprocess.run(
        [f'{CROSS}gcc', *options, '-nostdlib', '-static', '-x', 'c', '-', '-o',
         other], input='void _start(void) { }', text=True, check=True)
    for command in ('report', 'coverage'):
        done = subprocess.run(
            [RVTRACE, command, *streams(file), '--elf', other],
            capture_output=True, text=True, timeout=LIMIT, check=False)
        need(done.returncode == 2 and 'give the file that ran' in done.stderr
             and not done.stdout, done.stderr)


def test_tasks(folder):
    qemu(f'{folder}/trace', 'threads', status=7)
    names = set()
    for hart, _ in harts(f'{folder}/trace'):
        for line in rvtrace('decode', f'{folder}/trace', '--hart', str(hart),
                            '--emit', 'task').splitlines():
            names.add(line.split()[-1])
    need(names == {'threads', *(f'worker-{i}' for i in range(1, 9))},
         str(names))


def test_report(folder):
    """In a browser, a row for each thread, with a name that it had"""
    program = browser.find()
    if not program:
        raise Skip('there is no Chromium (package chromium)')
    file, names, tids = f'{folder}/trace', {}, {}
    qemu(file, 'threads', more=',etrace-timestamps=on', status=7)
    for hart, _ in harts(file):
        for line in rvtrace('decode', file, '--hart', str(hart), '--emit',
                            'task').splitlines():
            words = line.split()
            names.setdefault(words[2], set()).add(words[-1])
            tids[words[2]] = words[3]
    rvtrace('html', file, '--sysroot', '/', '-o', f'{folder}/report.html')
    with contextlib.closing(browser.Browser(program)) as page:
        page.open(f'{folder}/report.html')
        rows = '[...document.querySelectorAll("button.hart")]' \
            '.map(b => b.textContent)'
        few = page.run(rows)
        page.click('document.getElementById("more-threads")')
        rows = page.run(rows)
        page.click('[...document.querySelectorAll("button.hart")].find('
                   'b => b.textContent.startsWith("worker-8"))')
        shown = page.run('document.getElementById("range").textContent')
        link = page.run('location.hash')
        # one that is not among the busiest has its row, too
        gone = min(set(rows) - set(few))
        tid = gone[:-1].split(' (')[1]
        page.open(f'{folder}/report.html', f'#thread={tids[tid]}/{tid}')
        again = page.run('[...document.querySelectorAll("button.hart")]'
                         '.filter(b => b.ariaPressed === "true")'
                         '.map(b => b.textContent)')
        need(again == [gone] and not page.errors,
             f'{gone}: {again} {page.errors}')
    need(len(few) == 12 and len(rows) == len(names), f'{few} {rows} {names}')
    for row in rows:
        name, tid = row[:-1].split(' (')
        need(name in names.pop(tid), f'{row}')
    need(sum(row.startswith('worker-') for row in rows) > 8, f'{rows}')
    need('thread=' in link and ' 0 instr' not in shown, f'{link} {shown}')


def test_hotspot(folder):
    """Its parser knows the samples, their callers, names, and threads."""
    file, period = f'{folder}/trace', 1009
    options = ['--sysroot', '/', '--period', str(period)]
    for name, status in (('child', 0), ('threads', 7)):
        # it takes the assembler's marks of code for the functions behind them
        subprocess.run([OBJCOPY, '-w', '-N', '$x*', f'{OUT}/{name}',
                        f'{folder}/{name}'], check=True, timeout=LIMIT)
        qemu(file, f'{folder}/{name}', status=status)
        rvtrace('perf-data', file, *options, '--arch', 'aarch64',
                '--branches', '0', '-o', f'{folder}/perf.data')
        stream = hotspot.read(folder, f'{folder}/perf.data')
        chains = list(stream.chains())
        # a head and a line for each frame, and an empty line
        script = [text.splitlines() for text in rvtrace(
            'script', file, *options).split('\n\n') if text.strip()]
        want = [[int(line.split()[0], 16) for line in lines[1:]]
                for lines in script]
        got = [[address for address, _ in chain] for chain in chains]
        need(sorted(got) == sorted(want), f'{len(got)} and {len(want)}')
        pcs = [pc for _, pcs in harts(file) for pc in pcs[period - 1::period]]
        need(sorted(chain[0] for chain in got) == sorted(pcs), 'the samples')
        named = hotspot.check_names(stream, f'{folder}/{name}')
        need(named > 10, f'{named} names')
        print(f'# {len(chains)} samples, {named} places with names')
        heads = {lines[0].split()[0] for lines in script}
        need({stream.strings[c] for c in stream.commands} == heads, f'{heads}')
    need('threads' in heads and 'worker-8' in heads, f'{heads}')


def test_run(folder):
    out = f'{folder}/out'
    program, expected = (('dynamic', CALLS) if XLEN == '64' else
                         ('child', {'parent_work': 1219}))
    done = subprocess.run(
        [RVTRACE, 'run', '--out', out, '--', QEMU, '-L', LIBRARIES,
         f'{OUT}/{program}'], capture_output=True, text=True, timeout=LIMIT,
        check=False)
    need(done.returncode == 0, f'{done.returncode}: {done.stderr}')
    need(os.path.getsize(f'{out}/report.html') > 10000, 'report.html')
    found = calls(out)
    need({name: found.get(name) for name in expected} == expected, str(found))
    # run has added timestamps
    need(sum(int(row['own_ns']) for row in report(out, '--weight', 'time')),
         'no times')
    os.rename(out, f'{folder}/moved')
    need(calls(f'{folder}/moved') == found, 'the folder has moved')


def test_cut(folder):
    """A thread of which nothing was written does not take times away."""
    file = f'{folder}/trace'
    qemu(file, 'threads', more=',etrace-timestamps=on',
         status=PROGRAMS['threads'][0])
    os.truncate(file, 3000)
    harts_of = json.loads(rvtrace('stat', file, '--format', 'json'))['rows']
    need(not all(hart['packets'] for hart in harts_of), str(harts_of))
    rows = json.loads(rvtrace('privilege', file, '--time', 'virtual',
                              '--format', 'json'))['rows']
    need(rows and all('from_ns' in row for row in rows), str(rows))
    said = rvtrace('decode', file, '--emit', 'pc', ok=2)
    need(f'the trace has {len(harts_of)} harts' in said, said)


def test_syscalls(folder, name):
    """As many of each as QEMU's own -strace prints, but those that end it"""
    with open(os.environ['SYSCALLS'], encoding='utf-8') as f:
        numbers = {name: int(number) for number, name in
                   re.findall(r'^(\d+)\s+\w+\s+(\w+)', f.read(), re.M)}
    file = f'{folder}/trace'
    said = qemu(file, name, more=',etrace-timestamps=on', options=['-strace'],
                status=PROGRAMS[name][0])
    want = Counter(numbers[call] for call in
                   re.findall(r'\d+ (\w+)\(', said) if call in numbers and
                   call not in ('exit', 'exit_group'))
    rows = json.loads(rvtrace('latency', file, '--sysroot', '/', '--format',
                              'json'))['rows']
    got = Counter({row['number']: row['count'] for row in rows
                   if row['kind'] == 'syscall'})
    for row in rows:
        need(row['kind'] != 'syscall' or row['number'] is None or
             numbers[row['name']] == row['number'], f'name: {row}')
    # Where the number is in a register that was set elsewhere, it has none.
    unknown = got.pop(None, 0)
    # What the timer's signal interrupts may trap twice, and is printed once.
    again = sum((got - want).values())
    need(again <= said.count('--- SIGALRM') and
         sum((want - got).values()) == unknown,
         f'{got} and {unknown} instead of {want}')
    need(sum(want.values()) >= 10 and unknown <= sum(want.values()) / 2,
         f'{want}')
    signals = {row['name']: row['count'] for row in rows
               if row['kind'] == 'interrupt'}
    # One that ends a system call is no trap of its own.
    alarms = rvtrace('decode', file, '--hart', '0', '--emit', 'packets').count(
        f'ecause={64 + signal.SIGALRM} interrupt=1')
    need(alarms <= said.count('--- SIGALRM') and
         signals == ({'signal 14': alarms} if alarms else {}),
         f'{signals}, not {alarms}')


def test_durations(folder):
    """From the trap or its window's end to the next support packet, of each"""
    file = f'{folder}/trace'
    qemu(file, 'reads', more=',etrace-timestamps=on')
    want, trap, end = [], None, None
    for line in rvtrace('decode', file, '--hart', '0', '--emit',
                        'packets').splitlines():
        at = int((re.search(r' ts=(\w+)', line) or [0, '0'])[1], 16)
        if 'ecause=8' in line:
            trap, end = at, None
        elif 'subformat=3' in line and trap and end is None:
            end = at
        elif 'subformat=3' in line and trap and 'ienable=1' in line:
            want.append((at - end, at - trap))
            trap = None
    rows = json.loads(rvtrace('latency', file, '--worst', '100', '--format',
                              'json'))['worst']
    got = [row['ns'] for row in sorted(rows, key=lambda row: row['from'])]
    need(len(got) == len(want) >= 10 and
         all(least <= ns <= most for ns, (least, most) in zip(got, want)),
         f'{got} instead of {want}')


def test_deadlock(folder):
    """Who waits for a mutex, and who has one, where both threads wait"""
    file = f'{folder}/trace'

    def sleeps(pid):
        states = []
        for path in glob.glob(f'/proc/{pid}/task/*/stat'):
            with open(path, encoding='utf-8') as f:
                states.append(f.read().rsplit(')', 1)[1].split()[0])
        return len(states) > 2 and set(states) == {'S'}

    with subprocess.Popen([QEMU, '-cpu',
                           f'{CPU},etrace={file},etrace-timestamps=on',
                           f'{OUT}/deadlock'], stderr=subprocess.DEVNULL,
                          cwd=folder) as child:
        until(lambda: all(sleeps(child.pid) for _ in range(50)),
              'the threads do not wait')
        child.send_signal(signal.SIGSEGV)
    rows = json.loads(rvtrace('why-hung', file, '--sysroot', '/', '--format',
                              'json'))['rows']
    for hart, caller in (0, 'first'), (1, 'second'):
        own = {}
        for row in rows:
            if row['hart'] == hart:
                own.setdefault(row['what'], []).append(row)
        need(len(own['waits']) == 1 and own['waits'][0]['text'].startswith(
            'in system call 98 at 0x'), f'{own}')
        need([row['text'] for row in own['locks']] ==
             ['waits for a lock in pthread_mutex_lock, called by ' + caller],
             f'{own}')
        need([row['text'] for row in own['held']] ==
             ['hart 0 has one of pthread_mutex_lock: deadlock, for first',
              'hart 1 has one of pthread_mutex_lock: deadlock, for second'],
             f'{own}')
        need('exception' not in own and 'loop' not in own, f'{own}')
    # What they wait for has not returned.
    waits = {(row['hart'], row['from']) for row in rows
             if row['what'] == 'waits'}
    worst = json.loads(rvtrace('latency', file, '--worst', '100', '--format',
                               'json'))['worst']
    need(worst and not waits & {(row['hart'], row['from']) for row in worst},
         f'{waits} {worst}')


def test_refused(folder):
    said = qemu(f'{folder}/none/trace', 'child')
    need('cannot be created' in said, said)
    said = qemu(f'{folder}/trace', 'child', modes='fast', status=1)
    need("'fast' is no mode" in said, said)
    done = subprocess.run([QEMU, '-cpu', f'{CPU},etrace-data=on',
                           f'{OUT}/child'], capture_output=True, text=True,
                          timeout=LIMIT, check=False)
    need(done.returncode == 1 and 'need etrace=FILE' in done.stderr,
         done.stderr)
    for what, why in (('priv=S', 'in U mode'), ('pc=5', 'first and the last'),
                      (f'pc=0-{1 << int(XLEN):#x}', 'bits')):
        said = qemu(f'{folder}/trace', 'child', more=f',etrace-filter={what}',
                    status=1)
        need(why in said, said)
    said = qemu(f'{folder}/trace.%x', 'child', status=1)
    need('%p is the number of the process' in said, said)
    file = f'{folder}/shared'
    with subprocess.Popen([QEMU, '-cpu', f'{CPU},etrace={file}',
                           f'{OUT}/threads'], stdout=subprocess.DEVNULL):
        until(lambda: os.path.exists(f'{file}.sideband'), 'no trace')
        said = qemu(file, 'child')
        need('another process writes' in said, said)
    rvtrace('stat', file)
    for words, why in ((['-cpu', CPU], 'which program?'),
                       (['-cpu', f'{CPU},etrace=a.%p', f'{OUT}/child'],
                        'leave it out')):
        done = subprocess.run([RVTRACE, 'run', '--out', f'{folder}/out', '--',
                               QEMU, *words], capture_output=True, text=True,
                              timeout=LIMIT, check=False)
        need(done.returncode == 2 and why in done.stderr, done.stderr)


# What reads gets, in 41 parts
with open(f'{OUT}/numbers', 'wb') as numbers_file:
    numbers_file.write(random.Random(1).randbytes(41000))

tap.run(f'{OUT}/tests', [
    *((f'{name}-{modes}', test_program, name, modes) for name in PROGRAMS
      for modes in (MODES if name == 'signals' else MODES[:2])),
    *((f'data-{name}', test_data, name) for name in PROGRAMS),
    *debugged.TESTS,
    *([('rounds', test_rounds)]
      if XLEN == '64' else []),
    *((f'filter-{modes}', test_filter, modes) for modes in MODES),
    ('filter-data', test_filter_data),
    ('times', test_times),
    *([('names', test_names), ('hotspot', test_hotspot)]
      if XLEN == '64' else []),
    ('unnamed', test_unnamed), ('other width', test_other_xlen),
    *([('newline', trouble.test_newline)] if XLEN == '64' else []),
    ('tasks', test_tasks),
    ('report', test_report),
    ('run', test_run),
    ('cut', test_cut),
    ('fork', processes.test_fork),
    ('exec', processes.test_exec),
    ('folder', processes.test_folder),
    *([('suite', processes.test_suite)] if XLEN == '64' else []),
    ('crash', processes.test_crash),
    *((f'ended-{name}', processes.test_ended, name)
      for name in ('reads', 'threads')),
    ('killed', processes.test_killed),
    *([('crowd', processes.test_crowd), ('forks', processes.test_forks)]
      if XLEN == '64' else []),
    *([('deadlock', test_deadlock)] if XLEN == '64' else []),
    *([('fatal', trouble.test_fatal)] if XLEN == '64' else []),
    ('durations', test_durations),
    # A child's are printed, too, but it is another process.
    *((f'syscalls-{name}', test_syscalls, name) for name in PROGRAMS
      if XLEN == '64' and name != 'child'),
    ('full', trouble.test_full),
    ('refused', test_refused),
])
