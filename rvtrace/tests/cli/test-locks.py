#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Files that grow are locked: a second program does not write to them.
#
#   test-locks.py RVTRACE
#
# Every check prints a TAP line; the script fails if one of them does.

import fcntl
import os
import subprocess
import sys
import tempfile
import threading
import time

from checks import check, tap
from collecting import LIMIT, Peer, ended, listen, read

TOOL = os.path.abspath(sys.argv[1])

# In QEMU's place: writes to the files that are
# in its command line; it takes its time when run has been killed
QEMU = r'''#!/bin/sh
trap '' TERM
for word; do
    case $word in
    file,id=*,path=*) echo mine > "${word#*path=}" ;;
    esac
done
touch "$(dirname "$0")/started"
read -r line < "$(dirname "$0")/go"
'''


def wait_for(path):
    end = time.monotonic() + LIMIT
    while not os.path.exists(path) and time.monotonic() < end:
        time.sleep(0.02)
    return os.path.exists(path)


def is_locked(path):
    with open(path, 'rb') as f:
        try:
            fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return False
        except BlockingIOError:
            return True


def two_listeners(folder):
    got, rest = f'{folder}/got', threading.Event()
    first = Peer(f'{folder}/a.sock', (None, b'first'), (rest, b' of all'))
    process = listen(TOOL, '--trace', f'unix:{folder}/a.sock', '--trace-out',
                     got)
    check('the file is there with the first byte', wait_for(got))
    check('it is locked', is_locked(got))
    for option in ['--trace', '--trace-out'], ['--sideband', '--sideband-out']:
        status, err = ended(listen(TOOL, option[0], f'unix:{folder}/none',
                                   option[1], got))
        check(f'another listener, {option[1]}', status == 2 and
              f'{got}: another program is writing it' in err, err)
    done = subprocess.run([TOOL, 'kernel-elf', '/dev/null', '-o', got],
                          capture_output=True, text=True, check=False)
    check('another command', done.returncode == 2, done.stderr)
    rest.set()
    status, err = ended(process)
    first.end()
    check('the first one ends well', status == 0 and
          read(got) == b'first of all', err)
    check('it is free again', not is_locked(got))


def late_listener(folder):
    """When it was started, nobody wrote to the file."""
    got = f'{folder}/late'
    start, rest = threading.Event(), threading.Event()
    peers = [Peer(f'{folder}/a.sock', (None, b'first'), (rest, b' of all')),
             Peer(f'{folder}/b.sock', (start, b'second'))]
    late = listen(TOOL, '--trace', f'unix:{folder}/b.sock', '--trace-out', got)
    # It has looked at the file by then.
    peers[1].accepted.wait(LIMIT)
    early = listen(TOOL, '--trace', f'unix:{folder}/a.sock', '--trace-out',
                   got)
    wait_for(got)
    start.set()
    status, err = ended(late)
    check('what came first stays', status == 2 and
          f'{got}: another program is writing it' in err, err)
    rest.set()
    status, err = ended(early)
    check('and is all there', status == 0 and read(got) == b'first of all',
          err)
    for peer in peers:
        peer.end()


def two_runs(folder):
    """Into files of the user's, and into one folder; while QEMU runs"""
    qemu = f'{folder}/qemu'
    with open(qemu, 'w', encoding='ascii') as f:
        f.write(QEMU)
    os.chmod(qemu, 0o755)
    os.mkfifo(f'{folder}/go')
    files = [f'{folder}/t', f'{folder}/s']
    mine = ['-M', 'virt,trace-chardev=a,trace-sideband=b', '-chardev',
            f'file,id=a,path={files[0]}', '-chardev',
            f'file,id=b,path={files[1]}']
    # pylint: disable=consider-using-with
    first = subprocess.Popen([TOOL, 'run', '--view', 'stat', '--', qemu, *mine],
                             stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
    check('QEMU runs', wait_for(f'{folder}/started'))
    check('its files are locked', all(is_locked(f) for f in files))
    done = subprocess.run([TOOL, 'run', '--view', 'stat', '--', qemu, *mine],
                          capture_output=True, text=True, check=False,
                          timeout=LIMIT)
    check('another run into them', done.returncode == 2 and
          f'{files[0]}: another program is writing it' in done.stderr,
          done.stderr)
    status, err = ended(listen(TOOL, '--trace', f'unix:{folder}/none',
                               '--trace-out', files[1]))
    check('or a listener', status == 2 and
          f'{files[1]}: another program is writing it' in err, err)
    check('they are as they were', [read(f) for f in files] == [b'mine\n'] * 2)
    first.kill()
    first.wait(LIMIT)
    check('locked as long as QEMU writes, whatever ended run',
          is_locked(files[0]))
    with open(f'{folder}/go', 'w', encoding='ascii') as f:
        f.write('\n')
    end = time.monotonic() + LIMIT
    while is_locked(files[0]) and time.monotonic() < end:
        time.sleep(0.02)
    check('and free when it has ended', not is_locked(files[0]))


def main():
    with tempfile.TemporaryDirectory() as folder:
        two_listeners(folder)
        late_listener(folder)
        two_runs(folder)
    tap.end()


if __name__ == '__main__':
    main()
