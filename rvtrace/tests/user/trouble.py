# SPDX-License-Identifier: GPL-2.0-or-later
#
# Programs with names, ends and disks that make trouble: see run.sh

import json
import re
import resource
import shutil
import signal
import subprocess
from collections import Counter

from tap import LIMIT, need
from traced import CPU, OUT, QEMU, RVTRACE, qemu, report, rvtrace


def test_newline(folder):
    """A program whose name has a line's end: its functions have names, and
    every row is one line."""
    name = f'{folder}/a\nb'
    shutil.copy(f'{OUT}/child', name)
    out = f'{folder}/out'
    done = subprocess.run([RVTRACE, 'run', '--out', out, '--', QEMU, name],
                          capture_output=True, text=True, timeout=LIMIT,
                          check=False)
    need(done.returncode == 0 and 'in no known file' not in done.stderr and
         'a?b' in done.stdout, f'{done.stdout}{done.stderr}')
    rows = report(out, '--sort', 'comm,dso,sym')
    own = [row for row in rows if row['sym'] == 'parent_work']
    need([row['dso'] for row in own] == ['a?b'] and
         {row['comm'] for row in rows} == {'a?b'}, f'{own}')
    for words in (['report', '--sort', 'comm,dso'], ['summary'], ['folded'],
                  ['calls', '--sym', 'parent_work'], ['latency'],
                  ['annotate', '--sym', 'parent_work'], ['why-hung'],
                  ['coverage'], ['callgrind'], ['script', '--period', '9'],
                  ['pgo', '--format', 'llvm'],
                  ['coverage', '--format', 'drcov-text'],
                  ['decode', '--hart', '0', '--emit', 'task']):
        done = subprocess.run([RVTRACE, *words, out], capture_output=True,
                              text=True, timeout=LIMIT, check=False)
        need(done.returncode == 0 and done.stdout and not re.search(
            r'(^|[/ \t])a$|^b([ \t]|$)', done.stdout, re.M),
            f'{words}: {done.returncode} {done.stderr} {done.stdout[:400]}')


def test_fatal(folder):
    """An exception by which a program ends has no end."""
    file = f'{folder}/trace'
    qemu(file, 'fatal', more=',etrace-timestamps=on', status=-signal.SIGSEGV)
    [row] = json.loads(rvtrace('faults', file, '--format', 'json'))['rows']
    need((row['cause'], row['count'], row['tval_min']) ==
         ('store page fault', 1, '0x10'), f'{row}')
    rows = json.loads(rvtrace('latency', file, '--format', 'json'))['rows']
    need(rows and {row['kind'] for row in rows} == {'syscall'}, f'{rows}')
    if shutil.which('babeltrace2'):
        rvtrace('ctf', file, '-o', f'{folder}/ctf')
        done = subprocess.run(['babeltrace2', f'{folder}/ctf'], check=True,
                              capture_output=True, text=True, timeout=LIMIT)
        names = Counter(re.findall(r' (riscv_exception_\w+):', done.stdout))
        need(names == {'riscv_exception_entry': 1}, f'{names}')


def test_full(folder):
    """The disk takes no more: that is what is said, and no other reason."""
    def limit(size):
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    for size, words in ((30000, ['cannot grow', 'choose another folder']),
                        (100000, ['cannot grow', 'its disk was full'])):
        with open(f'{OUT}/numbers', 'rb') as numbers:
            done = subprocess.run(
                [RVTRACE, 'run', '--keep', f'{folder}/{size}', '--view',
                 'report', '--', QEMU, '-cpu', f'{CPU},etrace-modes=baseline',
                 f'{OUT}/reads'], capture_output=True, text=True,
                timeout=LIMIT, stdin=numbers, check=False,
                preexec_fn=lambda: limit(size))  # pylint: disable=W0640,W1509
        need(done.returncode == (2 if size == 30000 else 0),
             f'{done.returncode} {done.stderr}')
        need(all(word in done.stderr for word in words) and
             'autostart' not in done.stderr and
             'encoder' not in done.stderr, done.stderr)
