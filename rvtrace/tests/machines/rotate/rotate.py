#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# rotate.py PATTERN: see run.sh

import glob
import os
import re
import subprocess
from array import array

import links
import tap
from tap import LIMIT, need

QEMU, RVTRACE, RETIRED, OUT = (os.environ[n] for n in
                               ('QEMU', 'RVTRACE', 'RETIRED', 'OUT'))


def record(folder, guest, listen, *options, trace='trace', props=''):
    """Run a guest and collect its streams; the pieces that there are"""
    os.makedirs(folder, exist_ok=True)
    with links.directory() as sockets:
        channels = [f'socket,id={name},path={sockets}/{name},server=on,wait=on'
                    for name in ('tr', 'sb')]
        with open(f'{folder}/log', 'w', encoding='utf-8') as log:
            qemu = subprocess.Popen(
                [QEMU, '-M', 'virt,trace=on,trace-autostart=on,'
                 f'trace-chardev=tr,trace-sideband=sb{props}', '-chardev', channels[0],
                 '-chardev', channels[1], '-m', '128M', '-display', 'none',
                 '-monitor', 'none', '-serial', 'null', '-bios', 'none',
                 '-kernel', f'{OUT}/{guest}.elf', '-plugin',
                 f'{RETIRED},out={folder}/truth,pcs={folder}/pcs', *options],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            done = subprocess.run(
                [RVTRACE, 'listen', '--trace', f'unix:{sockets}/tr',
                 '--trace-out', f'{folder}/{trace}', '--sideband',
                 f'unix:{sockets}/sb', '--sideband-out', f'{folder}/sideband',
                 *listen], capture_output=True, text=True, timeout=LIMIT,
                check=False)
            need(done.returncode == 0, f'listen: {done.stderr}')
            need(qemu.wait(LIMIT) == 0, 'QEMU failed')
        finally:
            qemu.kill()
            qemu.wait()
    return sorted(glob.glob(f'{folder}/trace.0*'))


def truth(folder, harts):
    """By hart: what retired"""
    pcs = [[] for _ in range(harts)]
    with open(f'{folder}/pcs', encoding='ascii') as f:
        for line in f:
            hart, pc = line.split()
            pcs[int(hart)].append(int(pc, 16))
    return pcs


def rvtrace(command, piece, *options):
    sideband = f'{os.path.dirname(piece)}/sideband'
    done = subprocess.run(
        [RVTRACE, command, '--trace', piece, '--sideband', sideband, *options],
        capture_output=True, text=True, timeout=LIMIT, check=False)
    return done.returncode, done.stdout, done.stderr


def decode(piece, hart):
    status, out, err = rvtrace('decode', piece, '--strict', '--emit', 'pc',
                               '--hart', str(hart))
    if 'is a synchronisation packet' in err:
        return []
    need(status == 0, f'{piece}: {status}: {err}')
    return [int(pc, 16) for pc in out.split()]


def place(whole, part, begin, last):
    """
    The first place of part in whole from begin on, or None; of the last part, its
    place at the end, since a short one of a loop may be elsewhere, too
    """
    if last:
        at = len(whole) - len(part)
        return at // 8 if at >= 8 * begin and whole.endswith(part) else None
    at = whole.find(part, 8 * begin)
    while at % 8 and at >= 0:
        at = whole.find(part, at + 1)
    return at // 8 if at >= 0 else None


def compare(folder, pieces, harts, first=True):
    """Every piece is what retired in it, and little is between two."""
    notes = []
    for hart, whole in enumerate(truth(folder, harts)):
        end = missed = 0
        text = array('Q', whole).tobytes()
        for piece in pieces:
            part = decode(piece, hart)
            # The last piece may be too short.
            if not part and piece == pieces[-1]:
                return '\n'.join(notes)
            need(part, f'{piece}: nothing of hart {hart}')
            at = place(text, array('Q', part).tobytes(), end,
                       piece == pieces[-1])
            need(at is not None, f'{piece}, hart {hart}: {len(part)} '
                 'instructions are not what retired')
            missed += at - end if end or first else 0
            end = at + len(part)
        need(end == len(whole),
             f'hart {hart}: {len(whole) - end} instructions at the end')
        notes.append(f'hart {hart}: {missed} of {len(whole)} instructions are '
                     f'in none of {len(pieces)} pieces')
        need(missed < len(whole) / 4, notes[-1])
    return '\n'.join(notes)


def by_size(folder):
    pieces = record(folder, 'short', ['--rotate', '50k'])
    need(len(pieces) >= 3, f'{pieces}')
    need(not os.path.exists(f'{folder}/trace'), 'there is a whole one, too')
    for piece in pieces[:-1]:
        size = os.path.getsize(piece)
        # alignment sequences are 16 KiB apart, and reads are 256 KiB
        need(50000 <= size < 400000, f'{piece}: {size} bytes')
    return compare(folder, pieces, 1)


def two_harts(folder):
    """... whose code changes all the time, and who are in other modes"""
    pieces = record(folder, 'patching', ['--rotate', '150k'], '-smp', '2')
    need(len(pieces) >= 3, f'{pieces}')
    return compare(folder, pieces, 2)


def modes(folder, which):
    """What packets mean in these, only the first piece would tell"""
    pieces = record(folder, 'short', ['--rotate', '50k'],
                    props=f',trace-modes={which}')
    need(len(pieces) >= 3, f'{pieces}')
    return compare(folder, pieces, 1)


def keep(folder):
    """The last two; and other commands read them, too"""
    pieces = record(folder, 'short', ['--rotate', '50k', '--keep', '2',
                                      '--compress'])
    need(len(pieces) == 2 and all(p.endswith('.zst') for p in pieces),
         f'{pieces}')
    compare(folder, pieces, 1, first=False)
    for command in 'report', 'summary', 'folded', 'stat':
        status, out, err = rvtrace(command, pieces[0], '--elf',
                                   f'{OUT}/short.elf')
        need(status == 0 and out and 'error' not in err,
             f'{command}: {status}: {err}')
    status, out, _ = rvtrace('report', pieces[0], '--elf', f'{OUT}/short.elf')
    need(re.search(r'%.*main', out), out)


def by_time(folder):
    pieces = record(folder, 'short', ['--rotate', '100ms'],
                    trace='trace.zst')
    need(len(pieces) >= 2, f'{pieces}')
    return compare(folder, pieces, 1)


def refused(folder):
    """Another run's sideband, one that is cut off, and pieces in the way"""
    pieces = record(f'{folder}/a', 'short', ['--rotate', '50k'])
    record(f'{folder}/b', 'short', ['--rotate', '50k'])
    os.rename(f'{folder}/a/sideband', f'{folder}/a/mine')
    os.rename(f'{folder}/b/sideband', f'{folder}/a/sideband')
    status, _, err = rvtrace('stat', pieces[1])
    need(status == 2 and 'of different runs: the piece is of session' in err,
         f'{status}: {err}')
    with open(f'{folder}/a/mine', 'rb') as f, \
         open(f'{folder}/a/sideband', 'wb') as out:
        out.write(f.read(400))
    status, _, err = rvtrace('stat', pieces[-1])
    need(status == 2 and 'give all of the sideband' in err, f'{status}: {err}')
    done = subprocess.run(
        [RVTRACE, 'listen', '--rotate', '50k', '--trace', 'unix:/nowhere',
         '--trace-out', f'{folder}/a/trace', '--sideband', 'unix:/nowhere',
         '--sideband-out', f'{folder}/a/other'], capture_output=True,
        text=True, check=False)
    need(done.returncode == 2 and 'trace.000001 is there already' in
         done.stderr, done.stderr)


tap.run(OUT, (
    ('pieces by size', by_size),
    ('two harts whose code changes', two_harts),
    ('all modes', modes, 'all'),
    ('hardly any mode', modes, 'baseline'),
    ('the last two, compressed', keep),
    ('pieces by time', by_time),
    ('what does not belong together', refused),
))
