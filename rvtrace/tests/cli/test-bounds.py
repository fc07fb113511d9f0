#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What a few bytes can ask of rvtrace: test-bounds.py RVTRACE
#
# Each input is made to cost as much as it can. What it costs is counted in
# instructions and in peak memory, and the processor time is limited, so that
# work without bounds is a failure instead of a wait. TAP.

import json
import os
import re
import resource
import struct
import subprocess
import sys
import tempfile

import inputs

TOOL = os.path.abspath(sys.argv[1])
SECONDS = 60 if os.environ.get('SANITIZE') else 20
# The program and its libraries; a sanitizer's bookkeeping is beside the point
BASE_MIB = 400 if os.environ.get('SANITIZE') else 40

NOP = 0x00000013
BNE_P8 = 0x00059463
BNE_M4 = 0xfe059ee3
J_M8 = 0xff9ff06f
RET = 0x00008067


class Failure(Exception):
    pass


def jal(link, offset):
    offset &= 0x1fffff
    return (offset >> 20 << 31 | (offset >> 1 & 0x3ff) << 21 |
            (offset >> 11 & 1) << 20 | (offset >> 12 & 0xff) << 12 |
            link << 7 | 0x6f)


def check(condition, what):
    if not condition:
        raise Failure(what)


def run(*arguments, status=0, stdin=None):
    """Returns standard output, standard error and the peak of memory, KiB"""
    def limits():
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = subprocess.Popen([TOOL, *arguments], stdout=out, stderr=err,
                                 stdin=stdin or subprocess.DEVNULL,
                                 preexec_fn=limits)
        _, wait_status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(wait_status)
        out.seek(0)
        err.seek(0)
        result = out.read(), err.read().decode()
    check(child.returncode == status,
          f'{arguments[0]}: status {child.returncode}, not {status}: '
          f'{result[1][:500]}')
    return *result, usage.ru_maxrss


def write(name, data):
    with open(name, 'wb') as file:
        file.write(data)


def encode(name, *lines):
    with open('packets', 'w', encoding='ascii') as file:
        file.write('\n'.join(lines) + '\n')
    run('encode', '--packets', 'packets', '--output', name)


def number(text, what):
    """The value in a line of stat"""
    return int(re.search(rf'^ *{what} +(\d+)'.encode(), text, re.M)[1])


FILES = '--trace', 'trace', '--sideband', 'sideband'

ROUNDS = 1 << 32


def predicted_loop():
    """2^32 branches of one loop, in some 20 bytes"""
    write('sideband', inputs.session() + inputs.params(bpred=6, f0s=1) +
          inputs.code(0x1000, NOP, BNE_P8, J_M8, NOP))
    encode('trace', 'params bpred_size=6 f0s_width=1',
           'inst format=3 subformat=3 ienable=1 ioptions=16',
           'inst format=3 subformat=0 branch=1 privilege=3 address=0x1000',
           'inst format=0 subformat=0 branch_count=0xfffffffe')


def test_stat_of_a_loop():
    predicted_loop()
    check(os.path.getsize('trace') < 25, 'the trace is larger than meant')
    out, _, _ = run('stat', *FILES, '--strict')
    check(number(out, 'instructions') > 2.9 * ROUNDS, out)


def test_profile_of_a_loop():
    predicted_loop()
    out, _, _ = run('folded', *FILES, '--strict')
    want = number(run('stat', *FILES)[0], 'instructions')
    check(sum(int(line.split()[-1]) for line in out.splitlines()) == want, out)
    run('flamegraph', *FILES, '--strict')


def folded_sum(*options):
    """It has to be known for all instructions: --strict"""
    out, _, _ = run('folded', *FILES, '--strict', *options)
    return sum(int(line.split()[-1]) for line in out.splitlines())


def test_piece_of_a_loop():
    """Borders are exact, and the rounds on both sides cost nothing."""
    predicted_loop()
    insns = number(run('stat', *FILES)[0], 'instructions')
    border = 1
    while border < insns:
        check(folded_sum('--to', str(border)) == border, f'--to {border}')
        check(folded_sum('--from', str(border)) == insns - border,
              f'--from {border}')
        border = border * 7 + 1
    check(folded_sum('--from', '7M', '--to', '7G') == 6993000000, 'a piece')


def test_samples_of_a_loop():
    predicted_loop()
    insns = number(run('stat', *FILES)[0], 'instructions')
    for period in 1000003, 1000000007:
        out, _, _ = run('script', *FILES, '--strict', '--period', str(period))
        check(out.count(b'instructions') == insns // period,
              f'samples with --period {period}')


def test_times_of_a_loop():
    """Rounds in which nothing is called cost nothing there, either."""
    predicted_loop()
    insns = number(run('stat', *FILES)[0], 'instructions')
    out, _, _ = run('privilege', *FILES, '--strict', '--every', '1G',
                    '--format', 'json')
    rows = json.loads(out)['rows']
    check(len(rows) == insns // 10 ** 9 + 1 and
          sum(row['M-mode'] for row in rows) == insns, out)
    for view in 'summary', 'html', 'timeline', 'speedscope':
        run(view, *FILES, '--strict', '-o', 'out')


def test_progress():
    """On a terminal, how much is done and how long it takes is said."""
    write('sideband', inputs.session() + inputs.params(bpred=6, f0s=1) +
          inputs.code(0x1000, NOP, BNE_P8, J_M8, NOP))
    encode('trace', 'params bpred_size=6 f0s_width=1',
           'inst format=3 subformat=3 ienable=1 ioptions=16',
           *['inst format=3 subformat=0 branch=1 privilege=3 address=0x1000',
             'inst format=0 subformat=0 branch_count=0x1ffe'] * 150000)
    # None of it is wanted: rounds are gone through one by one.
    command = [TOOL, 'decode', *FILES, '--emit', 'pc', '--limit', '-1',
               '--from', '1000G']
    ours, its = os.openpty()
    with open('out', 'wb') as out, open(ours, 'rb', buffering=0) as said:
        with subprocess.Popen(command, stdout=out, stderr=its) as child:
            os.close(its)
            text = b''
            while not re.search(rb'\r *\d+ % decoded, \d+ s left', text):
                part = said.read(4096)
                check(part, f'it ended, and said {text}')
                text += part
            child.terminate()
    check(os.path.getsize('out') == 0, 'there is something else')
    # What is over at once, and what no terminal sees, says nothing.
    out, err, _ = run('stat', *FILES, '--limit', '1000')
    check('decoded' not in err, err)


def test_verify_of_a_loop():
    """Once there is more than retired, it does not matter how much more."""
    predicted_loop()
    write('truth', b'# rvtruth 1\nE 0 1000 0\n')
    out, _, _ = run('verify', *FILES, '--truth', 'truth', status=1)
    check(b'more than retired' in out or b'DIFFERENT' in out, out)


def test_limit_of_every_command():
    predicted_loop()
    for limit in 0, 1, 5000000:
        out, _, _ = run('stat', *FILES, '--limit', str(limit))
        check(number(out, 'instructions') == limit, out)
        out, _, _ = run('folded', *FILES, '--limit', str(limit))
        check(sum(int(line.split()[-1]) for line in out.splitlines()) == limit,
              out)
        run('flamegraph', *FILES, '--limit', str(limit))
    out, _, _ = run('decode', *FILES, '--emit', 'pc', '--limit', '5000')
    check(out.count(b'\n') == 5000, 'lines')
    write('truth', b'# rvtruth 1\nH 0 3 0\nE 0 9000000 0\n')
    out, _, _ = run('verify', *FILES, '--truth', 'truth', '--limit', '2')
    check(b'identical' in out and b'only the first 2' in out, out)
    out, _, _ = run('convert', *FILES, '--to', 'raw', '--limit', '1')
    whole, _, _ = run('convert', *FILES, '--to', 'raw')
    check(out and whole.startswith(out) and len(out) < len(whole), out)
    _, err, _ = run('stat', *FILES, '--limit', '-2', status=2)
    check('--limit' in err, err)


def test_work():
    """
    Functions that call the next one twice: twice the instructions for each,
    without a packet. It is given up, and goes on if that is wanted.
    """
    insns = [jal(0, 4)]
    for _ in range(30):
        # call the next one, twice; the return address is that of a caller
        insns += [jal(1, 12), jal(1, 8), RET]
    insns += [RET]
    write('sideband', inputs.session() + inputs.params(return_stack=6) +
          inputs.code(0x1000, *insns))
    encode('trace', 'params return_stack_size=6',
           'inst format=3 subformat=3 ienable=1 ioptions=1',
           *['inst format=3 subformat=0 branch=1 privilege=3 address=0x1000',
             'inst format=2 address=0x2000'] * 3)
    out, err, _ = run('stat', *FILES, status=2)
    check('gave up' in err and '--limit -1' in err, err)
    check(number(out, 'instructions') < 140000000, out)
    out, err, _ = run('stat', *FILES, '--limit', '-1')
    check('gave up' not in err, err)
    check(number(out, 'instructions') > 140000000, out)


# Peak of memory, MiB, for each of an input's; and that of the tables that
# are there in any case
FACTOR = 12
TABLES_MIB = 8
# Decoded pages that are kept; code/image.h
PAGES_MIB = 150


def bounded(peak, size, more=0):
    bound = BASE_MIB + TABLES_MIB + FACTOR * size / 2 ** 20 + more
    check(peak / 1024 < bound,
          f'{peak >> 10} MiB for {size} bytes, not {bound:.0f}')


def far_apart(count):
    """An instruction in each page: go to the next one"""
    write('sideband', inputs.session() + inputs.params() + b''.join(
        inputs.code(0x1000 * n, jal(0, 0x1000)) for n in range(1, count)))
    encode('trace',
           'inst format=3 subformat=0 branch=1 privilege=3 address=0x1000',
           f'inst format=3 subformat=0 branch=1 privilege=3 '
           f'address={0x1000 * count - 0x1000}')
    return os.path.getsize('sideband')


def test_memory_of_code_far_apart():
    count = 1 << 17
    size = far_apart(count)
    out, _, peak = run('stat', *FILES, '--strict')
    check(number(out, 'instructions') == count - 1, out)
    bounded(peak, size, PAGES_MIB)


def test_stacks_for_totals_only():
    """5000 calls in each other: who shows no totals, keeps no stacks."""
    write('sideband', inputs.session() + inputs.params() +
          b''.join(inputs.code(0x1000 * page, *[jal(1, 4)] * 1024)
                   for page in range(1, 6)) + inputs.code(0x6000, NOP))
    encode('trace', 'inst format=3 subformat=3 ienable=1 ioptions=0',
           'inst format=3 subformat=0 branch=1 privilege=3 address=0x1000',
           'inst format=3 subformat=0 branch=1 privilege=3 address=0x6000')
    for keys, stacks in (('sym', True), ('priv', False), ('hart,dso', False)):
        _, said, _ = run('report', *FILES, '--sort', keys)
        check(('different call stacks' in said) == stacks,
              f'--sort {keys}: {said}')


def test_memory_of_an_elf():
    """Each of 18000 segments is all of the file, at its own address."""
    count, size = 18000, 1 << 20
    data = inputs.elf([(0, b'')] * count)
    data += bytes(size - len(data))
    with open('elf', 'wb') as file:
        file.write(data)
        for n in range(count):
            file.seek(64 + 56 * n + 8)
            file.write(struct.pack('<QQQQQ', 0, n << 20, n << 20, size, size))
    encode('trace',
           'inst format=3 subformat=0 branch=1 privilege=3 address=0x1000')
    _, _, peak = run('stat', '--trace', 'trace', '--elf', 'elf')
    bounded(peak, size)
    # Nor can they be at the same one.
    with open('elf', 'r+b') as file:
        file.seek(64 + 56 + 16)
        file.write(struct.pack('<Q', 2))
    _, err, peak = run('stat', '--trace', 'trace', '--elf', 'elf', status=2)
    check('executable segments overlap at 0x2' in err, err)
    bounded(peak, size)


def test_time_of_a_truth():
    """A line for each hart, and none of them in the trace"""
    predicted_loop()
    write('truth', b'# rvtruth 1\n' +
          b''.join(b'E %d 1 0\n' % n for n in range(1, 65536)))
    run('verify', *FILES, '--truth', 'truth', status=1)
    write('truth', b'# rvtruth 1\nE 65536 1 0\n')
    _, err, _ = run('verify', *FILES, '--truth', 'truth', status=2)
    check('from 0 to 65535' in err, err)


def test_ring_at_the_end_of_memory():
    write('sideband', inputs.session() + inputs.params() +
          inputs.ram(2 ** 64 - 1, 0, 2 ** 64 - 1, 2 ** 64 - 2, 1))
    write('trace', b'123')
    _, err, _ = run('stat', *FILES, '--ram', status=2)
    check('--wrapped-at' in err, err)


def main():
    tests = sorted((name, test) for name, test in globals().items()
                   if name.startswith('test_'))
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for n, (name, test) in enumerate(tests, 1):
            name = name[5:].replace('_', ' ')
            try:
                test()
                print(f'ok {n} {name}', flush=True)
            except Failure as failure:
                failed = True
                text = str(failure).replace('\n', '\n# ')
                print(f'not ok {n} {name}\n# {text}', flush=True)
        os.chdir('/')
    print(f'1..{len(tests)}')
    sys.exit(failed)


if __name__ == '__main__':
    main()
