#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Streams that are packed by zstd: every command reads them, `listen` and `run`
# write them. What is in them is checked with the program zstd.
#
#   test-packed-streams.py RVTRACE SYNTH-WRITE
#
# Every check prints a TAP line; the script fails if one of them does.

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

from checks import check, skip, tap
from collecting import LIMIT, Peer, ended, listen, read

TOOL, SYNTH = map(os.path.abspath, sys.argv[1:3])

# Commands that read a trace
COMMANDS = [
    'summary', 'report', 'flamegraph', 'timeline -o out',
    'perf-data -o out', 'script', 'callgrind', 'pprof -o out',
    'speedscope -o out', 'uftrace -o out', 'ctf -o out', 'edges -o out', 'folded', 'decode --emit pc',
    'decode --emit packets', 'stat', 'html -o out', 'convert --to raw -o out',
    'index -o out', 'report --from 1k', 'decode --output stat --output '
    'folded=out',
]
FILES = ['--trace', 'trace', '--sideband', 'sideband']


def zstd(*words):
    subprocess.run(['zstd', '-q', *words], check=True)


def run(folder, *words, **more):
    done = subprocess.run([TOOL, *words], cwd=folder, timeout=LIMIT,
                          stdin=subprocess.DEVNULL, capture_output=True,
                          check=False, **more)
    return (done.returncode, done.stdout,
            done.stderr.decode(errors='replace'))


def result(folder, line):
    """What a command writes, and its status and messages"""
    done = run(folder, *line.split(), *FILES)
    path = f'{folder}/out'
    if os.path.isdir(path):
        done += tuple(read(f'{path}/{name}')
                      for name in sorted(os.listdir(path)))
        shutil.rmtree(path)
    elif os.path.exists(path):
        done += (read(path),)
        os.remove(path)
    return done


def everywhere(folder):
    """The same names in another folder: they are recognised by what is in
    them, and nothing that is written differs."""
    packed = f'{folder}/all'
    os.mkdir(packed)
    for name in 'trace', 'sideband':
        zstd(f'{folder}/{name}', '-o', f'{packed}/{name}')
    for line in COMMANDS:
        want, got = (result(where, line) for where in (folder, packed))
        check(f'{line}: the same', want == got and want[0] == 0,
              f'{want[0]} {want[2]} {got[0]} {got[2]}')
    want = run(folder, 'stat', *FILES)
    for mixed in ['all/trace', 'sideband'], ['trace', 'all/sideband']:
        got = run(folder, 'stat', '--trace', mixed[0], '--sideband', mixed[1])
        check(f'{" and ".join(mixed)}', want == got, got)
    with open(f'{packed}/trace', 'rb') as f:
        got = subprocess.run(
            [TOOL, 'stat', '--trace', '/dev/stdin', '--sideband', 'sideband'],
            cwd=folder, timeout=LIMIT, capture_output=True, check=False,
            stdin=f)
    check('from a pipe, too', got.stdout == want[1], got)
    run(folder, 'index', '-o', 'index', *FILES)
    want, got = (run(where, 'report', '--index', f'{folder}/index', '--from',
                     '1k', *FILES) for where in (folder, packed))
    check('an index is good for both', want == got and want[0] == 0, got)


def concatenated(folder):
    """Frames behind each other, as pieces that were joined have them"""
    trace = read(f'{folder}/trace')
    for i, part in enumerate((trace[:1000], trace[1000:5000], trace[5000:])):
        with open(f'{folder}/part{i}', 'wb') as f:
            f.write(part)
        zstd('--rm', f'{folder}/part{i}')
    with open(f'{folder}/joined.zst', 'wb') as f:
        for i in range(3):
            f.write(read(f'{folder}/part{i}.zst'))
    want = run(folder, 'decode', '--emit', 'pc', *FILES)
    got = run(folder, 'decode', '--emit', 'pc', '--trace', 'joined.zst',
              '--sideband', 'sideband')
    check('three frames', want[:2] == got[:2], got[2])


def cut_off(folder):
    """What a collector leaves that was killed"""
    packed, trace = read(f'{folder}/joined.zst'), read(f'{folder}/trace')
    ends = [len(read(f'{folder}/part{i}.zst')) for i in range(3)]
    for cut in (ends[0] + 1, ends[0] + ends[1] - 1, ends[0] + ends[1] + 9,
                len(packed) - 1):
        with open(f'{folder}/cut.zst', 'wb') as f:
            f.write(packed[:cut])
        with open(f'{folder}/cut', 'wb') as f:
            f.write(trace[:1000 if cut < ends[0] + ends[1] else 5000])
        got, want = (run(folder, 'decode', '--emit', 'pc', '--trace', name,
                         '--sideband', 'sideband')
                     for name in ('cut.zst', 'cut'))
        check(f'cut off at {cut}: what is whole', got[1][:len(want[1])] ==
              want[1] and want[1], got)
        check('and a warning', 'warning: cut.zst: its last frame is cut off'
              in got[2], got[2])
    with open(f'{folder}/cut.zst', 'wb') as f:
        f.write(packed[:6])
    got = run(folder, 'stat', '--trace', 'cut.zst', '--sideband', 'sideband')
    check('nothing of it', got[0] == 2 and
          'cut.zst: is packed by zstd, and cut off so early' in got[2], got)


def damaged(folder):
    packed = bytearray(read(f'{folder}/joined.zst'))
    first = len(read(f'{folder}/part0.zst'))
    packed[first + 40] ^= 0xff
    with open(f'{folder}/bad.zst', 'wb') as f:
        f.write(packed)
    got = run(folder, 'stat', '--trace', 'bad.zst', '--sideband', 'sideband')
    check('damaged in its second frame', got[0] == 0 and
          re.search(r'bad.zst: is damaged at byte \d+ .*1000 bytes', got[2]),
          got)
    packed[40] ^= 0xff
    with open(f'{folder}/bad.zst', 'wb') as f:
        f.write(packed)
    got = run(folder, 'stat', '--trace', 'bad.zst', '--sideband', 'sideband')
    check('damaged in its first frame', got[0] == 2 and re.search(
        r'bad.zst: is packed by zstd, and damaged at byte \d+', got[2]), got)
    with open(f'{folder}/trace', 'rb') as f, \
         open(f'{folder}/wide.zst', 'wb') as out:
        subprocess.run(['zstd', '-qc', '--long=31'], stdin=f, stdout=out,
                       check=True)
    got = run(folder, 'stat', '--trace', 'wide.zst', '--sideband', 'sideband')
    check('with a window that takes too much memory', got[0] == 2 and
          'wide.zst: takes more than 128 MiB of memory' in got[2] and
          'zstd -d --long=31' in got[2], got)
    with open(f'{folder}/even', 'wb') as f:
        f.write(read(f'{folder}/trace'))
        f.truncate(2 << 20)
    zstd('--rm', f'{folder}/even')
    got = run(folder, 'stat', '--trace', 'even.zst', '--sideband', 'sideband')
    check('twice as much as is unpacked at a time', got[0] == 0 and
          'cut off' not in got[2], got)


def bomb(folder):
    """Half a gigabyte of nothing in some kB, and a disk that is small"""
    with open(f'{folder}/zeros', 'wb') as f:
        f.truncate(512 << 20)
    zstd('--rm', f'{folder}/zeros', '-o', f'{folder}/bomb.zst')
    os.mkdir(f'{folder}/disk')
    script = (f'mount -t tmpfs -o size=20M none {folder}/disk && '
              f'TMPDIR={folder}/disk "$@"; status=$?; '
              f'df --output=avail {folder}/disk | tail -1; exit $status')
    private = ['unshare', '--mount', *([] if os.getuid() == 0 else
                                       ['--map-root-user'])]
    if subprocess.run([*private, 'true'], check=False,
                      capture_output=True).returncode:
        skip('a disk that is too small', 'nothing can be mounted here')
        return
    done = subprocess.run(
        [*private, 'sh', '-c', script, 'sh', TOOL, 'stat', '--trace',
         f'{folder}/bomb.zst', '--sideband', f'{folder}/sideband'],
        capture_output=True, text=True, timeout=LIMIT, check=False)
    check('more than there is room for', done.returncode == 2 and
          'bomb.zst: is packed, and has more in it than there is room for'
          in done.stderr and 'set TMPDIR' in done.stderr, done)
    check('and the disk is as free as before',
          int(done.stdout.split()[-1]) == 20480, done.stdout)


def collected(folder):
    """By name, by option, by level"""
    sent = [read(f'{folder}/{name}') for name in ('trace', 'sideband')]
    for options, suffix in ([], '.zst'), (['-z'], ''), (['--level', '19'], ''):
        peers = [Peer(f'{folder}/{i}.sock', (None, sent[i])) for i in (0, 1)]
        status, err = ended(listen(
            TOOL, *options, '--trace', f'unix:{folder}/0.sock', '--trace-out',
            f'{folder}/t{suffix}', '--sideband', f'unix:{folder}/1.sock',
            '--sideband-out', f'{folder}/s{suffix}'))
        for peer in peers:
            peer.end()
        check(f'listen {options} to *{suffix}', status == 0, err)
        for name, want in zip('ts', sent):
            got = subprocess.run(['zstd', '-dc'], check=False,
                                 input=read(f'{folder}/{name}{suffix}'),
                                 capture_output=True)
            check(f'zstd has {name} again', got.stdout == want, got.stderr)
    for wrong in '0x', '20', '-1':
        status, _, err = run(folder, 'listen', '--level', wrong, '--trace',
                             'unix:/nowhere', '--trace-out', 'x')
        check(f'--level {wrong}', status == 2 and
              ('from 1 to 19' in err or 'integer' in err), err)
    status, _, err = run(folder, 'live', '--trace', 'unix:/nowhere',
                         '--trace-out', 'x.zst', '--sideband',
                         'unix:/nowhere', '--sideband-out', 'y')
    check('live does not', status == 2 and 'leave out .zst' in err, err)


def wait_for(path, size):
    """... that it has as many bytes in it"""
    end = time.monotonic() + LIMIT
    while time.monotonic() < end:
        got = subprocess.run(['zstd', '-dcq', path], check=False,
                             capture_output=True)
        if len(got.stdout) >= size:
            return
        time.sleep(0.05)


def killed(folder):
    """While the peer is silent: all that has come is there a second later."""
    trace = read(f'{folder}/trace')
    rest = threading.Event()
    peer = Peer(f'{folder}/0.sock', (None, trace[:7000]), (rest, b''))
    process = listen(TOOL, '--trace', f'unix:{folder}/0.sock', '--trace-out',
                     f'{folder}/killed.zst')
    wait_for(f'{folder}/killed.zst', 7000)
    process.send_signal(signal.SIGKILL)
    ended(process)
    rest.set()
    peer.end()
    got = subprocess.run(['zstd', '-dcq', f'{folder}/killed.zst'],
                         check=False, capture_output=True)
    check('killed: what came before is whole', got.returncode == 0 and
          got.stdout == trace[:7000], got.stderr)


QEMU = r'''#!/bin/sh
here=$(dirname "$0")
for word; do
    case $word in
    file,id=rvtrace-trace,path=*) cp "$here/trace" "${word#*path=}" ;;
    file,id=rvtrace-sideband,path=*) cp "$here/sideband" "${word#*path=}" ;;
    esac
done
'''


def of_a_run(folder):
    with open(f'{folder}/qemu', 'w', encoding='ascii') as f:
        f.write(QEMU)
    os.chmod(f'{folder}/qemu', 0o755)
    qemu = ['--', f'{folder}/qemu', '-M', 'virt']
    plain, packed = f'{folder}/plain', f'{folder}/packed'
    for where, *more in (plain,), (packed, '--compress'):
        status, _, err = run(folder, 'run', *more, '--out', where, *qemu)
        check(f'run {" ".join(more)}', status == 0, err)
    check('the streams are packed', sorted(os.listdir(packed)) ==
          ['report.html', 'run.ini', 'sideband.zst', 'trace.zst'],
          os.listdir(packed))
    want, got = (run(folder, 'report', where) for where in (plain, packed))
    check('the folder is read', want == got and want[0] == 0, got)
    for name in 'trace', 'sideband':
        zstd('--rm', f'{plain}/{name}')
    got = run(folder, 'report', plain)
    check('so is one that somebody has packed', want == got, got)
    status, _, err = run(folder, 'run', '--compress', '--view', 'stat', *qemu)
    check('nothing to pack', status == 2 and '--keep DIR' in err, err)


def main():
    if not shutil.which('zstd'):
        skip('zstd', 'it is not installed')
        tap.end()
        return
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([SYNTH, '1', '1', '20000', folder], check=True)
        for test in (everywhere, concatenated, cut_off, damaged, bomb,
                     collected, killed, of_a_run):
            test(folder)
    tap.end()


if __name__ == '__main__':
    main()
