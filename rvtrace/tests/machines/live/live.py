#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# live.py PATTERN: see run.sh
#
# What live says of a trace is compared with what stat finds in the files that
# it has written.

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time

import links
import tap
from sideband import ALIGN, records
from tap import LIMIT, grow, need

QEMU, RVTRACE, OUT = (os.environ[n] for n in ('QEMU', 'RVTRACE', 'OUT'))
ENTER, LEAVE = b'\033[?1049h', b'\033[?1049l'
SHOW_CURSOR = b'\033[?25h'
HEAD = re.compile(
    r'# (?P<what>interval \d+|total): [\d.]+ s, (?P<insns>\d+) instructions, '
    r'[\d.]+ M/s; shows (?:all of (?P<all>\d+) packets|\d+ % of what ran '
    r'\((?P<some>\d+) of (?P<of>\d+) packets\))(?P<rest>.*)')


def machine(folder, guest, trace, sideband, *options):
    """QEMU, with the two chardevs that are given"""
    with open(f'{folder}/log', 'w', encoding='utf-8') as log:
        return subprocess.Popen(
            [QEMU, '-M', 'virt,trace=on,trace-autostart=on,trace-chardev=tr,'
             'trace-sideband=sb', '-chardev', f'{trace},id=tr', '-chardev',
             f'{sideband},id=sb', '-m', '128M', '-display', 'none', '-monitor',
             'none', '-serial', f'file:{folder}/uart', '-bios', 'none',
             '-kernel', f'{OUT}/{guest}.elf', *options],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log)


def with_sockets(folder, sockets, guest, *options):
    return machine(folder, guest, *(
        f'socket,path={sockets}/{name},server=on,wait=on'
        for name in ('tr', 'sb')), *options)


def live_command(folder, sockets, *options, server=''):
    return [RVTRACE, 'live', '--trace', f'unix:{sockets}/tr{server}',
            '--trace-out', f'{folder}/trace', '--sideband',
            f'unix:{sockets}/sb{server}', '--sideband-out',
            f'{folder}/sideband', *options]


def start(*command):
    return subprocess.Popen(command, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            text=True)


def end(*children):
    for child in children:
        child.kill()
        child.wait()


class Said:
    """What live wrote as text"""

    def __init__(self, text):
        self.text = text
        need('\033' not in text, 'there are escape sequences')
        self.heads = [m for m in map(HEAD.fullmatch, text.splitlines()) if m]
        need(self.heads and self.heads[-1]['what'] == 'total',
             f'no total:\n{text}')
        self.total = self.heads.pop()
        self.insns = int(self.total['insns'])
        self.decoded = int(self.total['all'] or self.total['some'])
        self.packets = int(self.total['all'] or self.total['of'])

    def sum(self):
        return sum(int(m['insns']) for m in self.heads)


def finish(live):
    """What it said; it has to end well."""
    out, err = live.communicate(timeout=LIMIT)
    need(live.returncode == 0, f'live: {live.returncode}: {err}')
    return Said(out)


def stat(folder, *options):
    """Instructions and packets"""
    done = subprocess.run(
        [RVTRACE, 'stat', '--trace', f'{folder}/trace', '--sideband',
         f'{folder}/sideband', *options], capture_output=True, text=True,
        timeout=LIMIT, check=False)
    need(done.returncode == 0, f'stat: {done.stderr}')
    text = done.stdout.partition('total\n')[2] or done.stdout
    return tuple(int(re.search(rf'^ *{what} +(\d+)', text, re.M)[1])
                 for what in ('instructions', 'packets'))


def same(said, folder):
    """All that there is was seen, and is in the files"""
    insns, packets = stat(folder, '--strict')
    need(insns > 10000, f'only {insns} instructions')
    need((said.insns, said.decoded) == (insns, packets),
         f'{said.total[0]}: {insns} instructions, {packets} packets')
    need(said.sum() == insns, f'intervals: {said.sum()}, not {insns}')
    need('losses' not in said.total['rest'], said.total[0])


def all_of_it(folder):
    with links.directory() as sockets:
        qemu = with_sockets(folder, sockets, 'short')
        live = start(*live_command(folder, sockets, '--max-lag', '0',
                                   '--interval', '0.2', '--elf',
                                   f'{OUT}/short.elf'))
        try:
            said = finish(live)
            need(qemu.wait(LIMIT) == 0, 'QEMU failed')
        finally:
            end(qemu, live)
    same(said, folder)
    need(re.search(r'%.* short\.elf +main$', said.text, re.M),
         'main is not there')


def one_hart(folder):
    with links.directory() as sockets:
        qemu = with_sockets(folder, sockets, 'patching', '-smp', '2')
        live = start(*live_command(folder, sockets, '--max-lag', '0', '--hart',
                                   '1', '--sort', 'priv,hart'))
        try:
            said = finish(live)
        finally:
            end(qemu, live)
    insns, packets = stat(folder, '--hart', '1', '--strict')
    need((said.insns, said.decoded) == (insns, packets),
         f'{said.total[0]}: {insns} instructions, {packets} packets')


def too_slow(folder):
    with links.directory() as sockets:
        qemu = with_sockets(folder, sockets, 'short')
        live = start(*live_command(folder, sockets, '--load', '2',
                                   '--max-lag', '0.2', '--interval', '0.2'))
        try:
            said = finish(live)
        finally:
            end(qemu, live)
    insns, packets = stat(folder, '--strict')
    need(said.packets == packets, f'{said.total[0]}: {packets} packets')
    need(0 < said.decoded < packets, f'{said.total[0]}: nothing left out')
    need(0 < said.insns < insns, f'{said.total[0]}: {insns} instructions')
    need('losses' not in said.total['rest'], said.total[0])


def killed(folder):
    with links.directory() as sockets:
        qemu = with_sockets(folder, sockets, 'endless')
        live = start(*live_command(folder, sockets, '--interval', '0.2'))
        try:
            for line in live.stdout:
                if line.startswith('# interval 3'):
                    break
            qemu.kill()
            said = finish(live)
        finally:
            end(qemu, live)
    insns, packets = stat(folder)
    need(said.packets == packets, f'{said.total[0]}: {packets} packets')
    need(said.insns <= insns, f'{said.total[0]}: {insns} instructions')


def interrupted(folder, sig):
    with links.directory() as sockets:
        qemu = with_sockets(folder, sockets, 'endless')
        live = start(*live_command(folder, sockets, '--interval', '0.2'))
        try:
            for line in live.stdout:
                if line.startswith('# interval 2'):
                    break
            live.send_signal(sig)
            said = finish(live)
        finally:
            end(qemu, live)
    insns, packets = stat(folder)
    need(0 < said.packets <= packets, f'{said.total[0]}: {packets} packets')
    need(0 < said.insns <= insns, f'{said.total[0]}: {insns} instructions')


def count(folder):
    with links.directory() as sockets:
        qemu = with_sockets(folder, sockets, 'endless')
        live = start(*live_command(folder, sockets, '-b', '-n', '3', '-d',
                                   '0.2', '--rows', '2'))
        try:
            said = finish(live)
        finally:
            end(qemu, live)
    need(len(said.heads) == 3, f'{len(said.heads)} intervals')
    rows = re.findall(r'^ *[\d.]+% ', said.text, re.M)
    need(len(rows) <= 6, f'{len(rows)} rows')


def pieces(sideband):
    """(end in the sideband, end in the trace) of what can be decoded"""
    for kind, _, payload, end in records(sideband):
        if kind == ALIGN:
            yield end, struct.unpack_from('<Q', payload)[0]
    yield len(sideband), None


def feed(folder, sockets):
    """
    Send what the files hold: never more of the sideband than is needed to go
    on, and half of the trace that needs the next piece of it, too.
    """
    data = []
    for name in ('trace', 'sideband'):
        with open(f'{folder}/{name}.bin', 'rb') as file:
            data.append(file.read())
    trace, sideband = data
    to_trace, to_sideband = (links.connect(f'{sockets}/{name}')
                             for name in ('tr', 'sb'))
    steps = done = side_done = 0
    ends = [(side, end or len(trace)) for side, end in pieces(sideband)]
    for (side_end, known), (_, next_known) in zip(ends, [*ends[1:], ends[-1]]):
        to_sideband.sendall(sideband[side_done:side_end])
        to_trace.sendall(trace[done:(known + next_known) // 2])
        done, side_done = (known + next_known) // 2, side_end
        steps += 1
        time.sleep(0.05)
    to_trace.close()
    to_sideband.close()
    return steps


def patched_code(folder):
    """Where known code changes is reported later than that it does."""
    qemu = machine(folder, 'patching', f'file,path={folder}/trace.bin',
                   f'file,path={folder}/sideband.bin', '-smp', '2')
    try:
        need(qemu.wait(LIMIT) == 0, 'QEMU failed')
    finally:
        end(qemu)
    with links.directory() as sockets:
        live = start(*live_command(folder, sockets, '--max-lag', '0',
                                   '--interval', '0.1', server=',server'))
        try:
            steps = feed(folder, sockets)
            said = finish(live)
        finally:
            end(live)
    need(steps > 5, f'{steps} pieces')
    same(said, folder)


class Terminal:
    """live on a terminal of its own"""

    def __init__(self, command):
        self.pid, self.fd = pty.fork()
        if not self.pid:
            os.environ['TERM'] = 'xterm'
            # what the child gets to see before it has begun
            os.read(0, 1)
            os.execv(command[0], command)
        self.resize(30, 100)
        self.before = termios.tcgetattr(self.fd)
        self.said = b''
        self.press(b'\n')

    def resize(self, rows, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ,
                    struct.pack('HHHH', rows, columns, 0, 0))

    def press(self, keys):
        os.write(self.fd, keys)

    def read(self, seconds):
        """What it wrote since; b'' when nothing came"""
        if not select.select([self.fd], [], [], seconds)[0]:
            return b''
        part = os.read(self.fd, 1 << 16)
        self.said += part
        return part

    def wait_for(self, text):
        """Until it is said, from here on"""
        seen, stop = len(self.said), time.monotonic() + LIMIT
        while text not in self.said[seen:]:
            need(time.monotonic() < stop,
                 f'{text!r} does not come: {self.said[-2000:]!r}')
            self.read(1)

    def same_settings(self):
        return termios.tcgetattr(self.fd)[:4] == self.before[:4]

    def end(self):
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.fd)


def on_terminal(folder, test):
    with links.directory() as sockets:
        qemu = with_sockets(folder, sockets, 'endless')
        # The shell keeps the terminal when live has ended.
        live = Terminal(['/bin/sh', '-c', 'trap : INT; "$@"; '
                         'echo "status $?"; read wait', 'sh',
                         *live_command(folder, sockets, '-d', '0.2', '--elf',
                                       f'{OUT}/endless.elf')])
        try:
            live.wait_for(ENTER)
            live.wait_for(b'# interval 2')
            test(live, qemu, folder)
        finally:
            end(qemu)
            live.end()


def left_well(live):
    """live has ended well, and the terminal is as it was."""
    live.wait_for(b'status ')
    while live.read(0.5):
        pass
    tail = live.said[live.said.rindex(LEAVE) + len(LEAVE):]
    need(b'status 0' in tail, f'not ended well: {tail!r}')
    need(b'# total: ' in tail, f'no total: {tail!r}')
    need(b'\033' not in tail, f'escape sequences: {tail!r}')
    need(live.said.count(ENTER) == live.said.count(LEAVE) == 1,
         'the screen is not left')
    need(SHOW_CURSOR in live.said, 'there is no cursor')
    need(live.same_settings(), 'the terminal has other settings')


def keys(live, _, folder):
    need(not live.same_settings(), 'keys do not come one by one')
    live.press(b's')
    live.wait_for(b'  pid')
    live.press(b's')
    live.wait_for(b'comm ')
    live.press(b's')
    live.wait_for(b'hart                  priv')
    live.press(b'h')
    live.wait_for(b'keep this interval')
    live.press(b'x')
    live.wait_for(b'hart 0: ')
    live.press(b'p')
    live.wait_for(b' paused ')
    shown = re.findall(rb'# interval (\d+)', live.said)[-1]
    # the trace goes on
    for _ in range(5):
        grow(f'{folder}/trace')
        live.read(0.2)
    live.press(b's')
    live.wait_for(b'  sym')
    need(re.findall(rb'# interval (\d+)', live.said)[-1] == shown,
         'it does not pause')
    live.press(b'p')
    live.wait_for(b'# interval ')
    live.press(b'q')
    left_well(live)


def resized(live, *_):
    live.resize(12, 40)
    live.wait_for(b'\033[12H')
    live.wait_for(b'\033[12H')
    screen = live.said[live.said.rindex(b'\033[H'):]
    lines = re.sub(rb'\033\[[0-9;?]*[A-Za-z]', b'', screen).splitlines()
    need(len(lines) <= 12, f'{len(lines)} lines')
    need(max(map(len, lines)) <= 41, f'too wide: {lines}')
    live.press(b'q')
    left_well(live)


def interrupted_by_key(live, *_):
    live.press(b'\x03')
    left_well(live)


def guest_dies(live, qemu, _):
    qemu.kill()
    left_well(live)


tap.run(OUT, (
    ('everything is seen', all_of_it),
    ('one of two harts', one_hart),
    ('what is too much is left out', too_slow),
    ('QEMU is killed', killed),
    ('SIGINT', interrupted, signal.SIGINT),
    ('SIGTERM', interrupted, signal.SIGTERM),
    ('so many intervals', count),
    ('code is patched', patched_code),
    ('keys', on_terminal, keys),
    ('the terminal is resized', on_terminal, resized),
    ('QEMU is killed, on a terminal', on_terminal, guest_dies),
    ('Ctrl-C on a terminal', on_terminal, interrupted_by_key),
))
