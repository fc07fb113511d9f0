# SPDX-License-Identifier: GPL-2.0-or-later
#
# Registers and memory of the past, by rvtrace gdbserver, against what a plugin
# has seen: "number pc x1,...,x31 address=value..." a line, in hex; the number
# is that of the instruction among those that retire, from 1 on.

import os
import random
import re
import subprocess

from tap import LIMIT, need

# Moments that a second server is asked about, in any order
ANY_ORDER = 30


def truth(folder, traced):
    """
    {number: (pc, [x1...], {address: value})}; if only those at the addresses
    traced are traced, then all have been seen, and these are numbered
    """
    seen = {}
    with open(f'{folder}/registers', encoding='ascii') as lines:
        for line in lines:
            number, pc, values, *memory = line.split()
            seen[int(number, 16)] = (
                int(pc, 16), [int(v, 16) for v in values.split(',')],
                dict(tuple(int(v, 16) for v in pair.split('='))
                     for pair in memory))
    if traced:
        kept = (seen[number] for number in sorted(seen)
                if seen[number][0] in traced)
        seen = dict(enumerate(kept, 1))
    return seen


class Server:
    """rvtrace gdbserver, as a debugger sees it"""

    def __init__(self, folder):
        self.child = subprocess.Popen(
            [os.environ['RVTRACE'], 'gdbserver', '--listen', 'stdio', '--trace',
             f'{folder}/trace', '--sideband', f'{folder}/sideband'],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL)

    def ask(self, text):
        self.child.stdin.write(b'+$%s#%02x' % (text.encode(),
                                               sum(text.encode()) & 0xff))
        self.child.stdin.flush()
        answer = b''
        while not (match := re.search(rb'\$([^#]*)#..', answer)):
            more = self.child.stdout.read1(65536)
            need(more, f'{text}: no answer')
            answer += more
        return match[1].decode()

    def leave(self):
        self.child.stdin.write(b'+$k#6b')
        self.child.stdin.close()
        need(self.child.wait(LIMIT) == 0, 'the server fails')


def little(digits):
    return int.from_bytes(bytes.fromhex(digits), 'little')


def compare(folder, word, most, share, with_memory=True, traced=None):
    """
    At that many random moments at most; word: bytes of a register; share: of
    registers, may be unavailable at most
    """
    seen = truth(folder, traced)
    server = Server(folder)
    counts = dict.fromkeys(('right', 'unavailable', 'memory', 'unknown'), 0)
    moments = random.Random(1).sample(sorted(seen), min(most, len(seen)))
    need(len(moments) > 20, f'{len(moments)} moments')
    answers = {}
    for number in sorted(moments):
        values, memory = seen[number][1:]
        answers[number] = said, parts = at_moment(server, number, seen[number],
                                                  with_memory)
        for reg, value in enumerate(values, 1):
            part = said[reg * word * 2:(reg + 1) * word * 2]
            if 'x' in part:
                counts['unavailable'] += 1
                continue
            need(little(part) == value, f'x{reg} before instruction '
                 f'{number} is {value:#x}, not {little(part):#x}')
            counts['right'] += 1
        for address, part in parts.items():
            if part[0] == 'E':
                counts['unknown'] += 1
                continue
            n = len(part) // 2
            need(little(part) == memory[address] & (1 << 8 * n) - 1,
                 f'memory at {address:#x} before instruction {number}: '
                 f'{memory[address]:#x}, not {little(part):#x}')
            counts['memory'] += 1
    server.leave()
    compare_order(folder, moments[:ANY_ORDER], seen, answers, with_memory)
    of_all = counts['unavailable'] / (counts['unavailable'] + counts['right'])
    note = (f'{len(moments)} moments, {100 * of_all:.2f} % of registers '
            f'unavailable, {counts["memory"]} words of memory right, '
            f'{counts["unknown"]} unknown')
    need(of_all <= share, note)
    return note


def at_moment(server, number, seen, with_memory):
    """What the server says of the registers, and of memory, by address"""
    pc, _, memory = seen
    place = f'goto {number - 1}'.encode().hex()
    need(f'pc: {pc:#x}' in bytes.fromhex(
        server.ask(f'qRcmd,{place}')).decode(), f'{number} is elsewhere')
    return server.ask('g'), {address: server.ask(f'm{address:x},8')
                             for address in (memory if with_memory else ())}


def compare_order(folder, moments, seen, answers, with_memory):
    """What is known does not depend on what was asked for before."""
    server = Server(folder)
    for number in moments:
        said, parts = at_moment(server, number, seen[number], with_memory)
        before, parts_before = answers[number]
        # The last register says which session this is.
        need(said[:-16] == before[:-16] and parts == parts_before,
             f'instruction {number}: another answer')
    server.leave()
