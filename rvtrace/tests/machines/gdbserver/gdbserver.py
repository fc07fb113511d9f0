#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# gdbserver.py PATTERN: see run.sh
#
# Debian's gdb-multiarch, as a user has it, and rvtrace gdbserver, which has the
# trace of a guest. The truth is QEMU's own log of what was executed.

import os
import re
import signal
import subprocess
import time

import answers
import links
import shared
import tap
from tap import need
from target import (DATA, HISTORY, LIMIT, LOG, OUT, PYTHON, RVTRACE, STEPS,
                    TIMES, Raw, places, qemu_line, repeat, retired, run_gdb,
                    same, server, start, symbols_of, trace,
                    trace_without_log, values)


def walk(folder, guest, cpu, symbols=True):
    """From the end to the beginning, at most so far back, and forth again"""
    pcs = trace(folder, guest, cpu)[0]
    steps = min(STEPS, len(pcs) - 1)
    output = run_gdb(folder, guest, [
        r'printf "at %lx\n", $pc', 'monitor where',
        *repeat(steps, 'back', 'reverse-stepi'),
        'monitor where', *repeat(steps, 'forth', 'stepi'), 'monitor where',
        'reverse-continue', r'printf "begin %lx\n", $pc', 'stepi',
        r'printf "second %lx\n", $pc', 'continue', r'printf "end %lx\n", $pc'],
        symbols=symbols)
    same(values(output, 'at'), pcs[-1:], 'the end')
    same(values(output, 'back'), pcs[-2:-steps - 2:-1], 'back')
    same(values(output, 'forth'), pcs[len(pcs) - steps:], 'forth')
    last = len(pcs) - 1
    need(places(output) == [last, last - steps, last], 'monitor where')
    same(values(output, 'begin') + values(output, 'second'), pcs[:2],
         'the beginning')
    same(values(output, 'end'), pcs[-1:], 'the end again')
    need(output.count('No more reverse-execution history') == 2,
         'gdb does not see the ends')
    return f'{len(pcs)} instructions, {steps} steps'


def harts(folder):
    """Each hart has a place of its own."""
    steps = min(STEPS, 1000)
    pcs = trace(folder, 'baton.rv64gc', 'rv64', 3)
    output = run_gdb(folder, 'baton.rv64gc', [
        'thread 2', *repeat(steps, 'two', 'reverse-stepi'),
        'thread 1', r'printf "still %lx\n", $pc',
        *repeat(steps, 'one', 'reverse-stepi'),
        'thread 3', *repeat(steps, 'three', 'reverse-stepi'),
        'thread 2', r'printf "here %lx\n", $pc',
        *repeat(steps, 'forth', 'stepi'), 'info threads',
        'thread apply all monitor where'])
    for hart, name in enumerate(('one', 'two', 'three')):
        need(len(pcs[hart]) > steps, f'hart {hart}: {len(pcs[hart])}')
        same(values(output, name), pcs[hart][-2:-steps - 2:-1], name)
    same(values(output, 'still'), pcs[0][-1:], 'the first hart')
    same(values(output, 'here'), pcs[1][-steps - 1:-steps], 'the second hart')
    same(values(output, 'forth'), pcs[1][-steps:], 'forth')
    for hart, at in (0, len(pcs[0]) - 1 - steps), (1, len(pcs[1]) - 1):
        need(f'(hart {hart}, instruction {at} of {len(pcs[hart])})' in output,
             f'info threads: hart {hart}')
        need(f'hart {hart}: instruction {at} of' in output,
             f'monitor where: hart {hart}')


# baton.S: turns of each hart; instructions of one, at most, with three harts
TURNS, TURN = 60, 250


def together(folder):
    """A hart that goes somewhere takes the others along: to the same time."""
    cpu, smp, order = 'rv64', 3, []
    guest = 'baton.rv64gc'
    pcs = trace(folder, guest, cpu, smp, options=TIMES)
    retired(f'{folder}/exec', cpu, order)
    stop = next(pc for pc in pcs[1] if pcs[1].count(pc) == TURNS)
    where = [n for n, pc in enumerate(pcs[1]) if pc == stop][::-1]
    commands = ['set scheduler-locking off', 'thread 2',
                f'break *{stop:#x} thread 2',
                *['reverse-continue', 'monitor where all'] * len(where),
                'thread 3', 'reverse-stepi', 'monitor where all',
                'set scheduler-locking on', 'thread 1', 'stepi',
                'monitor where all', 'set scheduler-locking off',
                'thread 2', *['continue', 'monitor where all'] * len(where)]
    output = run_gdb(folder, guest, commands)
    got = places(output)
    got = [got[i:i + smp] for i in range(0, len(got), smp)]
    need(len(got) == 2 * len(where) + 2, f'{len(got)} stops')

    def simultaneous(hart, place, seen):
        """Where the others were, by the log"""
        now = [i for i, one in enumerate(order) if one == hart][place]
        truth = [order[:now].count(other) for other in range(smp)]
        for other in range(smp):
            need(abs(truth[other] - seen[other]) <= (other != hart) * TURN,
                 f'hart {hart} at {place}: {seen}, not {truth}')

    for place, seen in zip(where, got):
        simultaneous(1, place, seen)
    step, alone = got[len(where):len(where) + 2]
    need(step[2] == got[len(where) - 1][2] - 1, 'hart 2 takes no step')
    simultaneous(2, step[2], step)
    need(alone == [step[0] + 1, *step[1:]],
         f'hart 0 does not step alone: {alone}, before {step}')
    forth = [place for place in where[::-1] if place > alone[1]]
    for place, seen in zip(forth, got[len(where) + 2:]):
        simultaneous(1, place, seen)
    return f'{len(where)} stops of {[len(p) for p in pcs.values()]}'


def chosen(pcs):
    """Addresses that were executed a few times, from all over the run"""
    counts = {}
    for pc in pcs:
        counts[pc] = counts.get(pc, 0) + 1
    some = sorted(pc for pc, n in counts.items() if 2 <= n <= 40)
    need(len(some) >= 3, 'nothing to stop at')
    return {some[0], some[len(some) // 2], some[-1]}


def breakpoints(folder, guest, smp=1):
    hart = smp - 1
    pcs = trace(folder, guest, 'rv64', smp)[hart]
    stops = chosen(pcs)
    where = [n for n, pc in enumerate(pcs) if pc in stops]
    output = run_gdb(folder, guest, [
        f'thread {hart + 1}', *(f'break *{pc:#x}' for pc in stops),
        *['reverse-continue', 'monitor where'] * len(where),
        'reverse-continue', *['continue', 'monitor where'] * len(where),
        'continue', r'printf "end %lx\n", $pc', 'delete',
        f'hbreak *{pcs[where[0]]:#x}', 'reverse-continue', 'monitor where'])
    last = len(pcs) - 1
    back = [n for n in reversed(where) if n < last]
    forth = [n for n in where if n]
    got = places(output)
    need(got[:len(back)] == back, f'back: {got[:len(back)]}, not {back}')
    got = got[len(where):]
    need(got[:len(forth)] == forth, f'forth: {got[:len(forth)]}, not {forth}')
    same(values(output, 'end'), pcs[-1:], 'the end')
    only = [n for n in back if pcs[n] == pcs[where[0]]]
    need(got[-1] == only[0], f'one of them: {got[-1]}, not {only[0]}')
    return f'{len(where)} stops'


def history(folder, guest, cpu):
    """record btrace bts: at the end, and somewhere in between"""
    pcs = trace(folder, guest, cpu)[0]
    middle = len(pcs) // 2
    output = run_gdb(folder, guest, [
        'record btrace bts', 'info record', 'record instruction-history',
        'record stop', 'printf "MIDDLE\\n"', f'monitor goto {middle}',
        'maintenance flush register-cache', 'record btrace bts',
        'record instruction-history', *repeat(30, 'back', 'reverse-stepi')])
    need('(0 gaps)' in output, 'gaps')
    parts = [[int(m[1], 16) for m in map(HISTORY.match, text.splitlines())
              if m] for text in output.split('MIDDLE\n')]
    # the instruction that the hart is about to execute is none of it
    same(parts[0], pcs[:-1], 'the end')
    same(parts[1], pcs[:middle], 'the middle')
    same(values(output, 'back'), pcs[middle - 1:middle - 31:-1], 'steps')
    return f'{len(parts[0])} instructions'


def far(folder):
    """More instructions than are kept at a time; with an index and without"""
    window = 1 << 18
    # dhry knows the result of other numbers of rounds only
    pcs = trace(folder, 'dhry-50', happy=False)[0]
    need(len(pcs) > 2 * window + 2000, f'only {len(pcs)} instructions')
    middle = len(pcs) - window * 3 // 4 + 300
    steps = min(STEPS, 1000)
    commands = [f'monitor goto {middle}', 'maintenance flush register-cache',
                *repeat(steps, 'back', 'reverse-stepi'),
                'monitor goto begin', 'maintenance flush register-cache',
                *repeat(300, 'begin', 'stepi'),
                f'monitor goto {window - 100}',
                'maintenance flush register-cache',
                *repeat(300, 'forth', 'stepi'),
                f'break *{pcs[100]:#x}', 'reverse-continue', 'monitor where',
                f'break *{pcs[-10]:#x}', 'continue', 'monitor where']
    first = max(n for n in range(window + 200) if pcs[n] == pcs[100])
    second = min(n for n in range(first + 1, len(pcs))
                 if pcs[n] in (pcs[100], pcs[-10]))
    for index in False, True:
        if index:
            subprocess.run([RVTRACE, 'index', '--trace', f'{folder}/trace',
                            '--sideband', f'{folder}/sideband', '--every',
                            '1000'], check=True, timeout=LIMIT)
        output = run_gdb(folder, 'dhry-50', commands)
        same(values(output, 'back'), pcs[middle - 1:middle - steps - 1:-1],
             'back')
        same(values(output, 'begin'), pcs[1:301], 'begin')
        same(values(output, 'forth'), pcs[window - 99:window + 201], 'forth')
        need(places(output)[-2:] == [first, second],
             f'{places(output)[-2:]}, not {[first, second]}')
    return f'{len(pcs)} instructions'


def rounds(folder):
    """Loops of which the trace does not have each round by itself"""
    pcs = trace(folder, 'rounds')[0]
    counts = {}
    for n, pc in enumerate(pcs):
        counts.setdefault(pc, []).append(n)
    first, second = sorted((pc for pc in counts if len(counts[pc]) > 100000),
                           key=lambda pc: counts[pc][0])[::2]
    middle = (counts[second][0] + counts[second][-1]) // 2
    output = run_gdb(folder, 'rounds', [
        f'break *{first:#x}', 'reverse-continue', 'monitor where', 'delete',
        'reverse-continue', f'break *{second:#x}', 'continue',
        'monitor where', f'monitor goto {middle}',
        'maintenance flush register-cache', 'reverse-continue',
        'monitor where', 'continue', 'monitor where', 'delete',
        f'tbreak *{pcs[100]:#x}' if pcs[100] < first else
        f'tbreak *{pcs[4]:#x}', 'reverse-continue', 'monitor where',
        f'tbreak *{pcs[-1]:#x}', 'continue', 'monitor where'])
    early = counts[pcs[100] if pcs[100] < first else pcs[4]][-1]
    before = max(n for n in counts[second] if n < middle)
    want = [counts[first][-1], counts[second][0], middle, before,
            min(n for n in counts[second] if n > before),
            early, min(n for n in counts[pcs[-1]] if n > early)]
    need(places(output) == want, f'{places(output)}, not {want}')
    # the jump to itself at the end has a packet each time
    size = os.path.getsize(f'{folder}/trace') - 10 * len(counts[pcs[-1]])
    need(size * 100 < len(pcs), f'{size} bytes: each round has some')
    return f'{len(pcs)} instructions'


def stand_still(folder, guest, smp, commands, *options, topology=''):
    """Stop at the guest's end; gdb's output, and what was executed"""
    with links.directory() as sockets:
        line = qemu_line(folder, guest, 'rv64', smp, *LOG, '-no-shutdown',
                         *links.Qmp.arguments(sockets), *options)
        line[2] += topology
        with subprocess.Popen(line, stdin=subprocess.DEVNULL) as qemu:
            try:
                qmp = links.Qmp(sockets)
                for _ in range(LIMIT * 20):
                    if not qmp.command('query-status')['running']:
                        break
                    time.sleep(0.05)
                qmp.file.close()
                output = run_gdb(folder, guest, commands,
                                 source=('--qmp', f'unix:{sockets}/qmp'))
            finally:
                qemu.kill()
    return output, retired(f'{folder}/exec', 'rv64')


def ring(folder, smp, topology):
    """The trace in the RAM sink"""
    steps = min(STEPS, 1000)
    output, pcs = stand_still(
        folder, 'baton.rv64gc', smp, [
            *repeat(steps, 'one', 'reverse-stepi'), 'thread 2',
            *repeat(steps, 'two', 'reverse-stepi')], topology=topology)
    same(values(output, 'one'), pcs[0][-2:-steps - 2:-1], 'hart 0')
    same(values(output, 'two'), pcs[1][-2:-steps - 2:-1], 'hart 1')


def wrapped(folder):
    """A ring that has not all of it, with more than is kept at a time"""
    window = 1 << 18
    output, pcs = stand_still(
        folder, 'dhry-300', 1, [
            'monitor where', *repeat(300, 'end', 'reverse-stepi'),
            'monitor goto 300', 'maintenance flush register-cache',
            *repeat(600, 'begin', 'reverse-stepi'),
            f'monitor goto {window + 100}', 'maintenance flush register-cache',
            *repeat(300, 'middle', 'reverse-stepi')],
        '-global', 'riscv-trace-ram.sram-size=65536',
        # By half-words: counted packets wait for when the hart is drained,
        # which is up to the host. The ring has several times what is needed.
        '-global', 'riscv-trace-encoder.sync-mode=3',
        '-global', 'riscv-trace-encoder.sync-max=10')
    length = places(output)[0] + 1
    pcs = pcs[0]
    need(window * 5 // 4 < length < len(pcs),
         f'{length} of {len(pcs)} are left')
    pcs = pcs[-length:]
    same(values(output, 'end'), pcs[-2:-302:-1], 'the end')
    same(values(output, 'begin'), pcs[299::-1] + 300 * pcs[:1], 'the begin')
    same(values(output, 'middle'), pcs[window + 99:window - 201:-1],
         'the middle')
    return f'{length} instructions'


def requests(folder):
    """What gdb does not ask for gets an answer, and what it sends an end."""
    pcs = trace(folder, 'calls.rv64gc')[0]
    with links.directory() as sockets, start(folder, sockets) as tool:
        try:
            check_requests(sockets, pcs)
            raw = Raw(sockets)
            raw.link.sendall(b'$k#6b')
            need(tool.wait(LIMIT) == 0, 'kill does not end it')
        finally:
            tool.kill()
    with links.directory() as sockets, start(folder, sockets) as tool:
        try:
            Raw(sockets).ask('?')
            tool.send_signal(signal.SIGTERM)
            need(tool.wait(LIMIT) == 0, 'SIGTERM does not end it')
            need(not os.path.exists(f'{sockets}/gdb'), 'the socket is left')
        finally:
            tool.kill()


def returns_to(pcs, place):
    """Where it goes on behind the call of the function that begins at place"""
    return next(n for n in range(place, len(pcs))
                if pcs[n] in (pcs[place - 1] + 2, pcs[place - 1] + 4))


def calls(folder):
    """
    finish and reverse-finish go to where the function was called from, up shows
    that; next and reverse-next stay in the function.
    """
    guest = 'dhry-lines'
    pcs = trace(folder, guest, happy=False)[0]
    at = symbols_of(guest)
    places_in = [n for n, pc in enumerate(pcs) if pc == at['is_sorted']]
    need(len(places_in) > 10, f'{len(places_in)} calls')
    some = places_in[1::len(places_in) // 8]
    commands = [PYTHON]
    for place in some:
        commands += [
            # well in the function
            f'monitor goto {place + 6}', 'maintenance flush register-cache',
            r'printf "in %lx\n", $pc', 'up', r'printf "up %lx\n", $pc', 'down',
            'finish', 'monitor where',
            f'monitor goto {place + 6}', 'maintenance flush register-cache',
            'reverse-finish', 'monitor where',
            *['next', 'info symbol $pc'] * 5,
            *['reverse-next', 'info symbol $pc'] * 5]
    output = run_gdb(folder, guest, commands)
    back = [returns_to(pcs, place) for place in some]
    same(values(output, 'in'), [pcs[place + 6] for place in some], 'in')
    same(values(output, 'up'), [pcs[n] for n in back], 'up')
    got = places(output)
    # both goto and where say it
    need(got[1::4] == back, f'finish: {got[1::4]}, not {back}')
    need(got[3::4] == [place - 1 for place in some],
         f'reverse-finish: {got[3::4]}, not {some}')
    where = re.findall(r'^(\w+)(?: \+ \d+)? in section', output, re.M)
    need(where == ['main'] * 10 * len(some), f'next: {where}')
    need('Value returned is $1 = <not displayed>' in output,
         'finish shows what a function returned')


def conditions(folder):
    """Conditions and ignore counts, in both directions"""
    guest = 'dhry-lines'
    pcs = trace(folder, guest, happy=False)[0]
    stop = symbols_of(guest)['is_sorted']
    where = [n for n, pc in enumerate(pcs) if pc == stop]
    middle = where[len(where) // 2]
    output = run_gdb(folder, guest, [
        PYTHON, f'break *{stop:#x} if $rvtrace_place[0] > {middle}',
        'monitor goto begin', 'maintenance flush register-cache',
        *['continue', 'monitor where'] * 2,
        f'condition 1 $rvtrace_place[0] < {middle}',
        *['reverse-continue', 'monitor where'] * 2,
        'condition 1', 'ignore 1 3', 'continue', 'monitor where',
        'ignore 1 2', 'reverse-continue', 'monitor where', 'rvtrace-goto 777',
        'monitor when', r'printf "there %lx\n", $pc', 'python', 'try:',
        '  gdb.execute("rvtrace-goto 1G")', 'except gdb.error as error:',
        '  print("said", error)', 'end'])
    later = [n for n in where if n > middle]
    earlier = [n for n in where if n < middle]
    here = where.index(earlier[-2])
    need(places(output)[1:] == [*later[:2], *earlier[:-3:-1], where[here + 4],
                                where[here + 1]], f'{places(output)}, {where}')
    same(values(output, 'there'), pcs[777:778], 'rvtrace-goto')
    need('\n777\n' in output and re.search('^said .*behind the end', output,
                                           re.M), 'monitor when, rvtrace-goto')


def variables(folder):
    """With data trace, gdb shows variables, of callers, too."""
    guest = 'dhry-lines'
    pcs = trace(folder, guest, happy=False, options=DATA)[0]
    stop = symbols_of(guest)['is_sorted']
    calls_of = pcs.count(stop)
    output = run_gdb(folder, guest, [
        PYTHON, f'break *{stop:#x}', 'rvtrace-goto begin',
        *['continue', 'up', r'printf "round %x\n", round',
          r'printf "up %lx\n", $pc', 'down',
          r'printf "list %lx\n", list', r'printf "a0 %lx\n", $a0'] * calls_of])
    at = [n for n, pc in enumerate(pcs) if pc == stop]
    same(values(output, 'up'), [pcs[returns_to(pcs, n)] for n in at], 'up')
    same(values(output, 'round'), range(calls_of), 'round')
    same(values(output, 'list'), values(output, 'a0'), 'the argument')
    need(len(set(values(output, 'list'))) > 1, 'the argument is constant')
    return f'{calls_of} calls'


def accesses(folder, kind, address):
    """Accesses of 4 bytes there, by rvtrace's list of all"""
    done = subprocess.run([RVTRACE, 'decode', '--trace', f'{folder}/trace',
                           '--sideband', f'{folder}/sideband', '--emit',
                           'data'], check=True, capture_output=True, text=True,
                          timeout=LIMIT)
    return [line.split() for line in done.stdout.splitlines()
            if re.search(rf' {kind} 4 0*{address:x} ', line)]


def watchpoints(folder):
    """Which instruction wrote this last, and which writes it next?"""
    guest = 'dhry-lines'
    pcs = trace(folder, guest, happy=False, options=DATA)[0]
    seed = symbols_of(guest)['seed']
    written = accesses(folder, 'store', seed)
    load = int(accesses(folder, 'load', seed)[0][0], 16)
    store = int(written[0][0], 16)
    need(all(int(line[0], 16) == store for line in written) and
         len(written) == pcs.count(store), 'one instruction stores there')
    places_of = [n for n, pc in enumerate(pcs) if pc == store]
    middle = len(places_of) // 2
    show = ['monitor where', r'printf "seed %x\n", seed']
    output = run_gdb(folder, guest, [
        PYTHON, f'rvtrace-goto {places_of[middle] - 5}', 'watch seed',
        *['continue', *show] * 3, *['reverse-continue', *show] * 5,
        'delete', f'rwatch *(int *) {seed:#x}', 'reverse-continue',
        'monitor where', 'delete', 'watch seed if seed == 1',
        f'break *{store:#x}', 'continue', 'monitor where'])
    forth = places_of[middle:middle + 3]
    back = [*reversed(forth), *places_of[middle - 1:middle - 3:-1]]
    got = places(output)
    need(got[:3] == [n + 1 for n in forth], f'forth: {got[:3]}, not {forth}')
    need(got[3:8] == back, f'back: {got[3:8]}, not {back}')
    same(values(output, 'seed'),
         [int(written[middle + n][4], 16) for n in (0, 1, 2, 1, 0, -1, -2, -3)],
         'the value')
    last = next(n for n in range(back[-1] - 1, 0, -1) if pcs[n] == load)
    need(got[8] == last, f'rwatch: {got[8]}, not {last}')
    need(got[9] == back[-1], f'a breakpoint on the way: {got[9]}')
    return f'{len(written)} stores'


def strays(folder):
    """
    Where packets are missing between two synchronisations, nobody can know who
    wrote to the watched variable, and gdb's user is told so.
    """
    guest = 'dhry-400'
    trace_without_log(folder, guest, *DATA, '-global',
                      'riscv-trace-encoder.sync-mode=0')
    with open(f'{folder}/trace', 'r+b') as file:
        file.seek(-2000, os.SEEK_END)
        file.write(bytes(40))
    seed = symbols_of(guest)['seed']
    output = run_gdb(folder, guest, [f'watch *(int *) {seed:#x}',
                                     'reverse-continue'])
    need('[hart 0: accesses to what is watched are passed over' in output,
         output[-500:])


def nothing_lies(folder):
    """What is not known is not shown."""
    guest = 'dhry-lines'
    pcs = trace(folder, guest, happy=False)[0]
    place = pcs.index(symbols_of(guest)['is_sorted']) + 6
    output = run_gdb(folder, guest, [
        PYTHON, f'monitor goto {place}', 'maintenance flush register-cache',
        'info registers', 'up', 'info registers', 'info locals', 'python',
        'try:', '  gdb.execute("x/x $sp")', 'except gdb.error as error:',
        '  print("said", error)', 'end'])
    shown = re.findall(r'^(\w+) +(.*)$', output, re.M)
    known = {}
    for name, value in shown:
        known.setdefault(name, []).append(value)
    for name in ('ra', 'sp', 'gp', 'fp', 'a0', 's11', 't6'):
        need(known[name][0] == '<unavailable>' and
             known[name][1] == '<not saved>', f'{name}: {known[name]}')
    need(len(known['pc']) == 2 and 'rvtrace_place' not in known,
         f'{sorted(known)}')
    for value in re.findall(r'^(?:i|list|round) = (.*)$', output, re.M):
        need(value.startswith('<'), f'a variable: {value}')
    need(re.search('^said .*(not been saved|not available)', output, re.M),
         'x/x $sp')


def little(pc):
    return pc.to_bytes(8, 'little').hex()


def check_requests(sockets, pcs):
    raw = Raw(sockets)
    features = raw.ask('qSupported:swbreak+').split(';')
    for feature in ('ReverseStep+', 'ReverseContinue+', 'swbreak+',
                    'qXfer:btrace:read+', 'qXfer:features:read+'):
        need(feature in features, f'{feature} is not offered')
    for text, answer in (
            ('?', f'T0520:{little(pcs[-1])};thread:1;'),
            ('qfThreadInfo', 'm1'), ('qsThreadInfo', 'l'), ('qC', 'QC1'),
            ('T1', 'OK'), ('T2', 'E01'), ('Hg0', 'OK'), ('Hg2', 'E01'),
            ('Hc-1', 'OK'), ('H', 'E01'), ('p20', little(pcs[-1])),
            ('p1', 'x' * 16), ('p0', '0' * 16), ('pffff', 'E01'),
            ('bs', f'T0520:{little(pcs[-2])};thread:1;'),
            ('b', ''), ('vCont?', 'vCont;c;C;s;S'),
            ('vCont;s:1;c', f'T0520:{little(pcs[-1])};thread:1;'),
            ('vCont;s', f'T0520:{little(pcs[-1])};thread:1;replaylog:end;'),
            ('vCont;s:7', 'E01'), ('vCont;t', 'E.vCont'),
            ('c1000', 'E.the past'), ('P20=0', 'E.the past'),
            ('M1000,1:00', 'E.the past'), ('vRun;x', 'E.this is a trace'),
            ('vAttach;1', 'E.this is a trace'), ('m0,4', 'E14'),
            ('mffffffffffffffff,8', 'E14'), ('m', 'E01'), ('m0', 'E01'),
            ('Z2,1000,4', 'E.the trace has no data'), ('Z0,', 'E01'),
            ('z0,1000,4', 'OK'),
            ('Z0,1000,4', 'OK'), ('Z0,1000,4', 'OK'),
            ('bc', f'T0520:{little(pcs[0])};thread:1;swbreak:;'),
            ('bc', f'T0520:{little(pcs[0])};thread:1;replaylog:begin;'),
            ('bs', f'T0520:{little(pcs[0])};thread:1;replaylog:begin;'),
            ('qXfer:features:read:x:0,fff', 'E.the annex'),
            ('qXfer:features:read:target.xml:0', 'E.offset'),
            ('qXfer:features:read:target.xml:fffffff,1', 'E.the offset'),
            ('qXfer:features:read:target.xml:0,5', 'm<?xml'),
            ('qXfer:btrace:read:all:0,fff', 'E.this hart'),
            ('Qbtrace:pt', 'E.the format'), ('Qbtrace:bts', 'OK'),
            ('qXfer:btrace:read:delta:0,fff', 'E.what'),
            ('qXfer:btrace:read:all:1,fff', 'E.the beginning'),
            ('qXfer:btrace:read:all:0,fff', 'l<!DOCTYPE btrace'),
            ('Qbtrace-conf:bts:size=z', 'E.the size'),
            ('qRcmd,zz', 'E01'), ('unknown', ''), ('', '')):
        got = raw.ask(text)
        need(got.startswith(answer) and (answer or not got), f'{text}: {got}')
    for command, says in (('where', 'hart 0: instruction 0 of'),
                          ('goto nowhere', "'nowhere': no place"),
                          ('goto 1G', 'behind the end'),
                          ('goto 1s', 'does not report the time'),
                          ('frobnicate', 'is no command')):
        got = bytes.fromhex(raw.ask(f'qRcmd,{command.encode().hex()}'))
        need(says in got.decode(), f'monitor {command}: {got}')
    # a packet that is damaged is to be sent again, as is one that was lost
    raw.link.sendall(b'$g#00')
    need(raw.link.recv(1) == b'-', 'a wrong sum is accepted')
    need(raw.ask('qC') == 'QC1', 'after a wrong sum')
    raw.link.sendall(b'-')
    need(raw.receive('again') == 'QC1', 'the last packet is not sent again')
    need(raw.ask('q' * 100000).startswith('E.the packet'), 'a long packet')
    need(raw.ask('QStartNoAckMode') == 'OK', 'QStartNoAckMode')
    # who goes without a word finds the place again; breakpoints are gone
    raw.link.close()
    raw = Raw(sockets)
    got = raw.ask('c')
    need('replaylog:end' in got, f'a second connection: {got}')
    need(raw.ask('D') == 'OK', 'detach')


def refused(folder, says, *options):
    trace(folder, 'calls.rv64gc')
    done = subprocess.run(server(folder, '--listen', 'stdio', *options),
                          capture_output=True, timeout=LIMIT, check=False,
                          stdin=subprocess.DEVNULL, encoding='utf-8')
    need(done.returncode == 2 and says in done.stderr and not done.stdout,
         f'{done.returncode}: {done.stderr}')


def main():
    tests = [
        *((f'step by step, {guest} {cpu}', walk, f'{guest}.{cpu}gc', cpu)
          for guest in ('calls', 'exceptions', 'irq', 'loops', 'priv')
          for cpu in ('rv64', 'rv32')),
        ('step by step, zc', walk, 'zc.rv64gc', 'rv64,d=off,zcmp=on,zcmt=on',
         False),
        ('several harts', harts),
        ('several harts that go on together', together),
        *((f'breakpoints, {guest}', breakpoints, f'{guest}.rv64gc')
          for guest in ('calls', 'exceptions', 'irq', 'priv')),
        ('breakpoints, the third hart', breakpoints, 'baton.rv64gc', 3),
        *((f'record btrace, {guest} {cpu}', history, f'{guest}.{cpu}gc', cpu)
          for guest in ('calls', 'priv') for cpu in ('rv64', 'rv32')),
        ('more than is kept at a time', far),
        ('the ring of a machine that stands still', ring, 2, ''),
        ('the rings of harts', ring, 2, ',trace-topology=per-hart'),
        ('a ring that has wrapped', wrapped),
        ('loops of many rounds', rounds),
        ('functions that were called', calls),
        ('conditions and ignore counts', conditions),
        ('what is not known', nothing_lies),
        ('variables', variables),
        ('watchpoints', watchpoints),
        ('accesses of nobody', strays),
        ('requests that gdb does not make', requests),
        ('a place that is not there', refused, 'behind the end', '--goto',
         '1G'),
        ('no place', refused, 'no place', '--goto', 'x'),
        ('a hart that is not there', refused, 'hart 4 is not in the trace',
         '--hart', '4'),
        ('no address', refused, 'neither unix:PATH nor', '--listen', 'x'),
        *answers.TESTS,
        *shared.TESTS,
    ]
    tap.run(OUT, tests)


main()
