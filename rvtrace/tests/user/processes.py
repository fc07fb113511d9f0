# SPDX-License-Identifier: GPL-2.0-or-later
#
# user.py's tests of processes: children, a test suite, and how they end

import glob
import os
import re
import signal
import struct
import subprocess

from tap import LIMIT, need, until
from traced import (calls, qemu, report, rvtrace, streams, threads, unread,
                    CPU, CROSS, FAULTS, LIBRARIES, OBSERVER, OUT, QEMU,
                    RVTRACE)

HERE = os.path.dirname(os.path.abspath(__file__))
LINES = f'{HERE}/../machines/coverage/lines.py'     # gcov's against lcov's


def test_fork(folder):
    """A child has a file of its own, or none."""
    qemu(f'{folder}/one', 'child')
    need(len(glob.glob(f'{folder}/*')) == 2, 'files')
    found = calls(*streams(f'{folder}/one'))
    need(found.get('parent_work') == 1219 and 'child_work' not in found,
         str(found))
    qemu(f'{folder}/each.%p', 'child')
    seen = [calls(*streams(file)) for file in
            glob.glob(f'{folder}/each.*[0-9]')]
    need(len(seen) == 2, f'{len(seen)} traces')
    need(sorted(found.get('child_work', 0) for found in seen) == [0, 465] and
         sorted(found.get('parent_work', 0) for found in seen) == [0, 1219],
         str(seen))


def test_exec(folder):
    """What ran before execve() is there; what runs then is another trace."""
    subprocess.run(
        [QEMU, '-cpu', f'{CPU},etrace={folder}/each.%p', f'{OUT}/child', QEMU,
         '-cpu', f'{CPU},etrace={folder}/other', f'{OUT}/signals'],
        capture_output=True, timeout=LIMIT, check=False)
    seen = [calls(*streams(file)) for file in
            glob.glob(f'{folder}/each.*[0-9]')]
    need(sorted(found.get('child_work', 0) for found in seen) == [0, 465],
         str(seen))
    found = calls(*streams(f'{folder}/other'))
    need(found.get('on_fault') == 3 * FAULTS // 2, str(found))


def suite(folder, cpu, *processes):
    """Run processes of suite.c, as its build in the folder."""
    for words in processes:
        done = subprocess.run(
            [QEMU, f'{folder}/suite', *words], cwd=folder, text=True,
            env=dict(os.environ, QEMU_CPU=cpu, QEMU_LD_PREFIX=LIBRARIES),
            capture_output=True, timeout=LIMIT, check=False)
        need(done.returncode == 0, f'{words}: {done.stderr}')


def test_suite(folder):
    """
    Coverage of the processes of a test suite, their children and threads is
    what gcov counts in the same program
    """
    sources = [f'{HERE}/suite.c', f'{HERE}/counted.c']
    build = [f'{CROSS}gcc', '-g', '-O0', '-pthread']
    traced, counting = f'{folder}/traced', f'{folder}/counting'
    os.mkdir(f'{folder}/traces')
    for place, more in ((traced, ()), (counting, (
            '--coverage', '-fprofile-update=atomic'))):
        os.mkdir(place)
        subprocess.run([*build, *more, '-o', 'suite', *sources], cwd=place,
                       check=True)
        # A shell starts the last one, from a process that is traced.
        suite(place, f'{CPU},etrace={folder}/traces/%p' if place == traced else
              CPU, ('5',), ('9',), ('20', f'{QEMU} {place}/suite 7'))
        if place == traced:
            continue
        subprocess.run([f'{CROSS}gcov', '-o', 'suite-counted.gcda',
                        sources[1]], cwd=place, check=True,
                       stdout=subprocess.DEVNULL)
    processes = glob.glob(f'{folder}/traces/*[0-9]')
    # and maybe one of what became a shell
    need(len(processes) in (3 + 3 + 1, 3 + 3 + 2), f'{len(processes)} traces')
    whole = subprocess.run(
        [RVTRACE, 'coverage', f'{folder}/traces', '--include', '*/counted.c',
         '-o', f'{folder}/ours.info'], capture_output=True, text=True,
        timeout=LIMIT, check=False)
    need(whole.returncode == 0, whole.stderr)
    done = subprocess.run(
        ['python3', LINES, f'{counting}/counted.c.gcov',
         f'{folder}/ours.info', 'counted.c'], capture_output=True, text=True,
        check=False)
    print(done.stdout, end='')
    need(done.returncode == 0, done.stdout)
    sums = [sum(calls(*streams(file)).get('collatz', 0) for file in processes),
            int(next(row['calls'] for row in
                     report(f'{folder}/traces') if row['sym'] == 'collatz'))]
    need(sums[0] == sums[1], f'calls: {sums}')


def test_folder(folder):
    """Traces of processes are added up, and none is left out in silence."""
    traces = f'{folder}/traces'
    os.mkdir(traces)
    qemu(f'{traces}/each.%p', 'child')
    files = sorted(glob.glob(f'{traces}/each.*[0-9]'))
    each = [calls(*streams(file)) for file in files]
    found = calls(traces)
    need(found['main'] == 1 and
         all(found[name] == sum(one.get(name, 0) for one in each)
             for one in each for name in one), f'{found}, not {each}')
    for words, why in (
            (['html'], 'processes, which report, coverage.* give one of them.* '
             '--sysroot /'),
            (['decode', '--output', 'stat'], 'processes, which'),
            (['report', '--weight', 'time'], 'are added up by instructions'),
            (['report', '--shard', '1/2'], 'has no index'),
            (['report', '--index', 'x'], 'has no index'),
            (['report', '--window', '10', '--before', 'sym:main'],
             'which process.*--trace .* --sysroot /'),
            (['report', '--make-index'], 'one whole trace'),
            (['report', '--sideband', f'{files[0]}.sideband'],
             'leave out --sideband|which trace')):
        done = subprocess.run([RVTRACE, *words, traces], capture_output=True,
                              text=True, timeout=LIMIT, check=False)
        need(done.returncode == 2 and re.search(why, done.stderr) and
             not done.stdout, f'{words}: {done.returncode}: {done.stderr}')
    # killed before it wrote anything
    for suffix in '', '.sideband':
        with open(f'{traces}/0{suffix}', 'wb'):
            pass
    need(calls(traces) == found, 'an empty one')
    subprocess.run(['zstd', '-q', '--rm', *glob.glob(f'{traces}/each*')],
                   check=True)
    need(calls(traces) == found, 'compressed ones')
    # not one of ours
    for suffix in '', '.sideband':
        with open(f'{traces}/0{suffix}', 'wb') as file:
            file.write(b'nonsense' * 99)
    done = subprocess.run([RVTRACE, 'coverage', traces, '-o', f'{folder}/all'],
                          capture_output=True, text=True, timeout=LIMIT,
                          check=False)
    need(done.returncode == 2 and f'{traces}/0' in done.stderr and
         not os.path.exists(f'{folder}/all'), done.stderr)


def test_crash(folder):
    file = f'{folder}/trace'
    qemu(file, 'signals', 'crash', status=-signal.SIGSEGV)
    text = rvtrace('decode', file, '--hart', '0', '--emit', 'packets')
    need('ecause=15' in text, text[-500:])
    found = calls(*streams(file))
    need('main' in found and 'faults' not in found, str(found))


def written(file):
    """Bytes of the beginning that are written; it is made with room"""
    if not os.path.exists(file):
        return 0
    with open(file, 'rb') as trace:
        return len(trace.read(1 << 16).rstrip(b'\0'))


def test_ended(folder, name):
    """A signal that the program has no handler for: all of it is there."""
    file = f'{folder}/trace'
    with subprocess.Popen(
            [QEMU, '-cpu', f'{CPU},etrace={file}', '-plugin',
             f'{OBSERVER},out={folder}/saw', f'{OUT}/{name}'],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
        if name == 'reads':             # waits for its input
            os.write(process.stdin.fileno(), bytes(4))
            until(lambda: not unread(process.stdin), 'nothing was read')
        else:
            until(lambda: written(file) > 1000, 'no trace')
        process.send_signal(signal.SIGTERM)
        need(process.wait(LIMIT) == -signal.SIGTERM, process.returncode)
    total = 0
    for tid, pcs in threads(file):      # says if something is missing
        with open(f'{folder}/saw.{tid}', 'rb') as saw:
            began = [pc for pc, in struct.iter_unpack('<Q', saw.read())
                     if not pc & 1]
        need(began[:len(pcs)] == pcs or pcs[:len(began)] == began,
             f'thread {tid} differs')
        need(name != 'reads' or began == pcs, f'{len(began)} {len(pcs)}')
        total += len(pcs)
    need(total > 50, f'{total} instructions')


def test_crowd(folder):
    """Threads that end, while others look for them"""
    file = f'{folder}/trace'
    for _ in range(60):
        qemu(file, 'crowd')
    text = rvtrace('stat', file)
    need('hart 4' in text, text)


def test_forks(folder):
    """Threads that wait for what fork() holds, which waits for them"""
    for _ in range(5):
        qemu(f'{folder}/trace', 'forks')
    need('hart 3' in rvtrace('stat', f'{folder}/trace'), 'threads')


def test_killed(folder):
    """What was written until then can be decoded."""
    file = f'{folder}/trace'
    with subprocess.Popen([QEMU, '-cpu', f'{CPU},etrace={file}',
                           f'{OUT}/threads'],
                          stdout=subprocess.DEVNULL) as process:
        until(lambda: written(file) > 1000, 'no trace')
        process.kill()
    done = subprocess.run(
        [RVTRACE, 'stat', '--trace', file, '--sideband', f'{file}.sideband'],
        capture_output=True, text=True, timeout=LIMIT, check=False)
    need(done.returncode == 0 and 'instructions' in done.stdout, done.stderr)
