# SPDX-License-Identifier: GPL-2.0-or-later
#
# Tests of what rvtrace gdbserver says of memory that several harts share. The
# truth is the order of QEMU's log, in which each access is played: it has no
# clock.

import itertools
import os
import random
import re
import subprocess

import past
from tap import need
from target import (DATA, LIMIT, RVTRACE, STEPS, TIMES, retired, symbols_of,
                    trace)

HARTS = 2
# Bytes of the structure "shared", and of each hart's part of "own"
SHARED, OWN = 48, 64


def accesses(folder, hart, pcs):
    """By instruction: [(address, bytes loaded, bytes stored)]"""
    done = subprocess.run(
        [RVTRACE, 'decode', '--trace', f'{folder}/trace', '--sideband',
         f'{folder}/sideband', '--emit', 'pc,data', '--hart', str(hart)],
        check=True, capture_output=True, text=True, timeout=LIMIT)
    seen, made = [], {}
    for line in done.stdout.splitlines():
        pc, *words = line.split()
        if not words:
            seen.append(int(pc, 16))
            continue
        need(int(pc, 16) == seen[-1], f'hart {hart}: whose is {line}?')
        kind, size, address, *values = words
        if kind.startswith('csr'):
            continue
        size = int(size)
        values = [int(value, 16) for value in values]
        if kind == 'add':
            values[1] = sum(values) % (1 << 8 * size)
        loaded = None if kind == 'store' else values[0]
        stored = None if kind == 'load' else values[-1]
        made.setdefault(len(seen) - 1, []).append(
            (int(address, 16), *(None if v is None else
                                 v.to_bytes(size, 'little')
                                 for v in (loaded, stored))))
    need(seen == pcs, f'hart {hart}: the trace is not what the log has')
    return made


class Truth:
    """What is in memory, and what each hart has executed"""

    def __init__(self, folder, options=TIMES, guest='shared'):
        self.order = []
        trace(folder, guest, smp=HARTS, options=(*DATA, *options))
        self.pcs = retired(f'{folder}/exec', 'rv64', self.order)
        self.made = [accesses(folder, hart, self.pcs[hart])
                     for hart in range(HARTS)]
        self.symbols = symbols_of(guest)
        # The place in the log of each instruction of a hart
        self.when = [[n for n, one in enumerate(self.order) if one == hart]
                     for hart in range(HARTS)]
        # By byte: the harts that access it, and the values that it gets
        self.harts, self.values = {}, {}
        for hart, made in enumerate(self.made):
            for address, loaded, stored in itertools.chain(*made.values()):
                for n, value in enumerate(stored or loaded, address):
                    self.harts.setdefault(n, set()).add(hart)
                    self.values.setdefault(n, set()).add(value)
        self.rewind()

    def rewind(self):
        self.at, self.done, self.memory, self.loads = [0] * HARTS, 0, {}, 0

    def play_to(self, hart, place):
        """Up to this instruction of the hart, which is not executed"""
        for now in self.order[self.done:self.when[hart][place]]:
            for address, loaded, stored in self.made[now].get(self.at[now],
                                                              ()):
                if loaded is not None:
                    self.check(address, loaded)
                self.memory.update(enumerate(stored or b'', address))
            self.at[now] += 1
            self.done += 1

    def check(self, address, loaded):
        """What has been loaded is what was there: the log's order is right."""
        for n, value in enumerate(loaded, address):
            known = self.memory.setdefault(n, value)
            need(known == value or n < 0x80000000,
                 f'{n:x} has {known:x}, and {value:x} is loaded')
        self.loads += 1

    def kind(self, address):
        if not 0 <= address - self.symbols['shared'] < SHARED:
            return 'own'
        changes = (len(self.harts.get(address, ())) == HARTS and
                   len(self.values[address]) > 1)
        return 'changing' if changes else 'other'


def read(server, address, length):
    """{address: value} of those that are known"""
    known, end = {}, address + length
    while address < end:
        got = server.ask(f'm{address:x},{end - address:x}')
        values = b'' if got[0] == 'E' else bytes.fromhex(got)
        known.update(enumerate(values, address))
        # the next one is not known
        address += len(values) + 1
    return known


def go_to(server, hart, place):
    """The number of the instruction where the hart is then"""
    server.ask(f'T{hart + 1}')
    server.ask(f'Hg{hart + 1}')
    said = bytes.fromhex(server.ask(
        'qRcmd,' + f'goto {place}'.encode().hex())).decode()
    return int(re.match(rf'hart {hart}: instruction (\d+) of', said)[1])


def compare_here(server, truth, hart, place, counts):
    truth.play_to(hart, place)
    for begin, length in ((truth.symbols['shared'], SHARED),
                          (truth.symbols['own'] + hart * OWN, OWN)):
        known = read(server, begin, length)
        for address in range(begin, begin + length):
            counts[truth.kind(address)][address in known] += 1
            want = truth.memory.get(address, 0)
            need(known.get(address, want) == want, f'hart {hart} at {place}: '
                 f'{address:x} is {want:x}, not {known}')


def shares_of(counts, smallest):
    shares = {kind: 100 * known / max(known + unknown, 1)
              for kind, (unknown, known) in counts.items()}
    note = 'known: ' + ', '.join(f'{share:.1f} % of {kind} bytes'
                                 for kind, share in shares.items())
    need(all(shares[kind] >= smallest[kind] for kind in shares), note)
    return note


def compare(folder, smallest, index=False, **machine):
    """At some instructions, and where gdb begins"""
    truth = Truth(folder, **machine)
    if index:
        subprocess.run([RVTRACE, 'index', '--trace', f'{folder}/trace',
                        '--sideband', f'{folder}/sideband'], check=True,
                       timeout=LIMIT)
    server = past.Server(folder)
    counts = {kind: [0, 0] for kind in smallest}
    chosen = random.Random(3).sample(range(len(truth.order)), STEPS // 3)
    ends = (when[-1] for when in truth.when)
    for n in sorted({*chosen, *ends}):
        hart = truth.order[n]
        place = truth.when[hart].index(n)
        need(go_to(server, hart, place) == place, 'it is elsewhere')
        compare_here(server, truth, hart, place, counts)
    server.leave()
    need(truth.loads > 1000, f'{truth.loads} loads')
    return shares_of(counts, smallest)


def compare_cut(folder, smallest):
    """Where a trace ends in the middle, a hart may have executed more."""
    truth = Truth(folder)
    counts = {kind: [0, 0] for kind in smallest}
    size = os.path.getsize(f'{folder}/trace')
    for percent in range(95, 15, -8):
        os.truncate(f'{folder}/trace', size * percent // 100)
        server = past.Server(folder)
        ends = [(go_to(server, hart, 'end'), hart) for hart in range(HARTS)]
        truth.rewind()
        for place, hart in sorted(ends, key=lambda end:
                                  truth.when[end[1]][end[0]]):
            need(go_to(server, hart, place) == place, 'it is elsewhere')
            compare_here(server, truth, hart, place, counts)
        server.leave()
    return shares_of(counts, smallest)


def goes_on(server, command, harts='0'):
    """
    The thread that stops, which is asked about next, and whether memory that is
    watched is why
    """
    server.ask(f'Hc{harts}')
    said = server.ask(command)
    need(said.startswith('T05'), f'{command}: {said}')
    thread = said.split('thread:')[1].split(';')[0]
    need(server.ask('qC') == f'QC{thread}' and
         f'20:{server.ask("p20")};' in said, f'{said} is of another hart')
    return int(thread, 16), 'watch:' in said


def all_stops(server, back):
    """
    Go on to the end, as gdb does it: each hart and its instruction that accesses
    what is watched, and the place where it stands then
    """
    while (stop := goes_on(server, 'bc' if back else 'c'))[1]:
        thread = stop[0]
        need(goes_on(server, 'bs' if back else 's', thread) == (thread, False),
             'the step over the access stops elsewhere')
        said = server.ask('qRcmd,' + b'when'.hex())
        place = int(bytes.fromhex(said).split(b',')[0])
        yield thread - 1, place - (not back), place


def watch(folder, offset):
    """Each store of each hart is found, in both directions."""
    truth = Truth(folder)
    address = truth.symbols['shared'] + offset
    want = [(hart, place) for hart in range(HARTS)
            for place, made in truth.made[hart].items()
            if any(stored and begin == address for begin, _, stored in made)]
    want.sort(key=lambda one: truth.when[one[0]][one[1]])
    server = past.Server(folder)
    for hart in reversed(range(HARTS)):
        go_to(server, hart, 'end')
    server.ask(f'Z2,{address:x},4')
    late, known = 0, []
    for back in True, False:
        found = []
        for hart, access, place in all_stops(server, back):
            found.append((hart, access))
            server.ask(f'Hg{hart + 1}')
            known.append((hart, place, read(server, address, 4)))
        need(sorted(found) == sorted(want), f'{found}, not {want}')
        when = [truth.when[hart][place] for hart, place in found]
        late += sum((a < b) == back for a, b in zip(when, when[1:]))
    server.leave()
    for hart, place, there in sorted(known, key=lambda one:
                                     truth.when[one[0]][one[1]]):
        truth.play_to(hart, place)
        for n, value in there.items():
            need(truth.memory.get(n, 0) == value,
                 f'hart {hart} at {place}: {n:x} is {truth.memory[n]:x}, not '
                 f'{value:x}')
    all_known = sum(len(there) == 4 for *_, there in known)
    note = (f'{len(want)} stores, {late} of {len(known)} in another order, '
            f'{all_known} values known')
    need(len({hart for hart, _ in want}) == HARTS and len(want) > 20 and
         late * 4 < len(known), note)
    return note


# How much must be known at least
MOST, NOTHING = ({'changing': changing, 'other': 0, 'own': own}
                 for changing, own in ((40, 80), (0, 0)))

TESTS = [
    ('memory of two harts', lambda folder: compare(folder, MOST)),
    ('memory of two harts, with an index',
     lambda folder: compare(folder, MOST, True)),
    ('memory of two harts, without times',
     lambda folder: compare(folder, {**NOTHING, 'own': 80}, options=())),
    ('memory of two harts, whose time goes back',
     lambda folder: compare(folder, {**NOTHING, 'own': 80},
                            guest='shared-back')),
    ('memory of two harts, a trace that is cut', compare_cut, NOTHING),
    *((f'watch what two harts write, {name}', watch, offset)
      for name, offset in (('raced', 0), ('locked', 4), ('counter', 12))),
]
