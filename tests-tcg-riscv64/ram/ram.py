#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The tests of run.sh, which builds what they need.

import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..', 'harness'))

import formats
import machine as machines
import polled
import tap
from observer import Observer, same
from symbols import table
from tap import LIMIT, Problem, need

QEMU = os.environ['QEMU']
RVTRACE = os.environ['RVTRACE']
RETIRED = os.environ['RETIRED']
ACCESSES = os.environ['ACCESSES']
COMPARE = os.path.join(os.path.dirname(__file__), '..', 'data', 'compare.py')
OUT = os.environ['OUT']


class Machine(machines.Machine):
    """A QEMU with a monitor, which stays when its guest has powered off."""

    def __init__(self, folder, tag, elf, machine, *options):
        self.observer = Observer(f'{folder}/pcs{tag}')
        self.printed = f'{folder}/uart{tag}'
        bits = 'rv32' if elf.endswith(('32.elf', 'rv32gc.elf')) else 'rv64'
        super().__init__(
            folder,
            [QEMU, '-M', f'virt,trace=on{machine}', '-cpu', bits,
             '-m', '128M', '-bios', 'none', '-kernel', elf, '-no-shutdown',
             '-plugin', f'{RETIRED},out={folder}/truth{tag},'
             f'pcs={self.observer.path}'], *options, uart=f'file:{self.printed}')
        if '-incoming' not in options:
            self.cont()

    def end(self):
        """In order: the observer writes down what it has."""
        if self.process.poll() is None:
            try:
                self.quit()
            except (Problem, subprocess.TimeoutExpired):
                pass
        super().end()

    def finished(self, happy=True):
        """Wait until the guest has powered off."""
        self.monitor.wait_for('STOP')
        text = self.uart_text()
        need(not happy or ('FAIL' not in text and 'trap' not in text),
             f'the guest failed: {text}')

    def uart_text(self):
        with open(self.printed, encoding='ascii') as file:
            return file.read()

    def go_on(self, harts):
        """Until the observer has seen enough of each, from now on"""
        self.observer.go_on(harts, 20000)

    def lines(self, hart=0):
        """What retired, a pc a line; all of it after end()."""
        return self.observer.pcs(hart)

    def pcs(self, hart=0):
        """The same, a list of texts"""
        return self.lines(hart).decode().split()


def decoded_lines(folder, trace, *options, hart=0, strict=True):
    """The pcs that rvtrace finds in a trace, one a line"""
    command = [RVTRACE, 'decode', '--trace', trace, '--emit', 'pc',
               '--hart', str(hart), *options]
    if strict:
        command.append('--strict')
    # not by a pipe: there are tens of megabytes
    with open(f'{folder}/decoded', 'w+b') as file:
        done = subprocess.run(command, stdout=file, stderr=subprocess.PIPE,
                              timeout=LIMIT, check=False)
        file.seek(0)
        lines = file.read()
    with open(f'{folder}/decode.log', 'ab') as f:
        f.write(done.stderr)
    need(done.returncode == 0, f'decode: {done.stderr.decode()}')
    return lines


def decode(*where, **how):
    """The same, a list of texts"""
    return decoded_lines(*where, **how).decode().split()


def is_end(decoded, truth, least):
    """The last lines of the truth, and some of them"""
    many, of = decoded.count(b'\n'), truth.count(b'\n')
    need(least <= many < of, f'{many} instructions of {of} decoded')
    same(b'\n' + decoded, (b'\n' + truth)[-len(decoded) - 1:],
         'the end of the trace')


def find(decoded, truth, least):
    """Where in the truth the decoded stretch is"""
    if len(decoded) < least:
        raise Problem(f'only {len(decoded)} instructions decoded')
    text = '\n' + '\n'.join(truth) + '\n'
    at = text.find('\n' + '\n'.join(decoded) + '\n')
    need(at >= 0, f'{len(decoded)} instructions that did not retire like '
         f'this: {decoded[:4]} ... {decoded[-4:]}')
    return text.count('\n', 0, at)


def sideband(folder):
    return ['-chardev', f'file,id=sb,path={folder}/sideband']


AUTO = ',trace-autostart=on'
SIDE = ',trace-sideband=sb'
PER_HART = ',trace-topology=per-hart'


def sram(size):
    return ['-global', f'riscv-trace-ram.sram-size={size}']


# A sync packet every 2^10 half-words: several of them fit into small rings.
SYNC = ['-global', 'riscv-trace-encoder.sync-mode=3',
        '-global', 'riscv-trace-encoder.sync-max=6']


def whole_sram(folder, guest):
    """All of a run in SRAM, read by the monitor"""
    elf = f'{OUT}/{guest}.elf'
    with Machine(folder, '', elf, AUTO + SIDE, *sideband(folder),
                 *sram('64M')) as m:
        m.finished()
        m.qmp('x-riscv-trace-save', filename=f'{folder}/trace')
    same(decoded_lines(folder, f'{folder}/trace', '--ram', '--sideband',
                       f'{folder}/sideband'), m.lines())


def whole_smp(folder, harts):
    """Several harts in one ring"""
    with Machine(folder, '', f'{OUT}/baton.rv64gc.elf', AUTO + SIDE,
                 '-smp', str(harts), *sideband(folder), *sram('64M')) as m:
        m.finished()
        m.qmp('x-riscv-trace-save', filename=f'{folder}/trace')
    for hart in range(harts):
        same(decoded_lines(folder, f'{folder}/trace', '--ram', '--sideband',
                           f'{folder}/sideband', hart=hart), m.lines(hart))


def wrapped_sram(folder, guest, size, harts=1):
    """What is left in a ring that has wrapped"""
    elf = f'{OUT}/{guest}.elf'
    with Machine(folder, '', elf, AUTO + SIDE, '-smp', str(harts),
                 *sideband(folder), *sram(size), *SYNC) as m:
        m.finished()
        need('wrapped' in m.hmp('info riscv-trace'), 'it has not wrapped')
        m.qmp('x-riscv-trace-save', filename=f'{folder}/trace')
    for hart in range(harts):
        is_end(decoded_lines(folder, f'{folder}/trace', '--wrapped-at', '0',
                             '--sideband', f'{folder}/sideband', hart=hart),
               m.lines(hart), 3000)
    if harts == 1:
        is_end(decoded_lines(folder, f'{folder}/trace', '--wrapped-at', '0',
                             '--elf', elf), m.lines(0), 3000)


def rings_of(m):
    """Each ring that the guest prints: ring, size, wp"""
    words = m.uart_text().split()
    return [{words[j]: int(words[j + 1], 16) for j in range(i, i + 6, 2)}
            for i in range(0, len(words), 6)]


def ring_of(m):
    return rings_of(m)[0]


def rvtrace(folder, guest, machine='', patched=False):
    """
    The guest traces itself as Linux does. The ELF file has not the code that
    is patched.
    """
    elf = f'{OUT}/{guest}.elf'
    with Machine(folder, '', elf, SIDE + machine, *sideband(folder),
                 *SYNC) as m:
        m.finished()
        ring = ring_of(m)
        m.qmp('pmemsave', val=ring['ring'], size=ring['size'],
              filename=f'{folder}/ring')
        m.qmp('x-riscv-trace-save', filename=f'{folder}/saved')
    wrapped = ring['wp'] & 1
    used = (ring['wp'] & ~1) - ring['ring']
    with open(f'{folder}/ring', 'rb') as f:
        image = f.read()
    linear = image[used:] + image[:used] if wrapped else image[:used]
    with open(f'{folder}/saved', 'rb') as f:
        need(f.read() == linear, 'x-riscv-trace-save read something else')
    with open(f'{folder}/linear', 'wb') as f:
        f.write(linear)
    side = ['--sideband', f'{folder}/sideband']
    # the image explains itself; that it is in order has to be said
    decoded = decode(folder, f'{folder}/ring', '--ram', *side)
    order = ['--wrapped-at', '0'] if wrapped else ['--ram']
    same(decode(folder, f'{folder}/linear', *order, *side), decoded)
    if patched:
        return m.pcs(), decoded, elf
    same(decode(folder, f'{folder}/linear', *order, '--elf', elf), decoded)
    if wrapped:
        same(decode(folder, f'{folder}/ring', '--wrapped-at', str(used),
                    '--elf', elf), decoded)
    return m.pcs(), decoded, elf


def inside(pcs, elf, name):
    """Those of the instructions that are in that function"""
    function = next((s for s in table(elf) if s.name == name and s.size), None)
    need(function, f'{elf} has no {name}')
    base, size = function.address, function.size
    return [pc for pc in pcs if base <= int(pc, 16) < base + size]


def rvtrace_whole(folder, xlen):
    truth, decoded, elf = rvtrace(folder, f'rvtrace-{xlen}')
    find(decoded, truth, 1000)
    same(inside(decoded, elf, 'work'), inside(truth, elf, 'work'), 'work()')


def perf_data_of_harts(folder, harts):
    """What perf makes of the rings: a CPU for each"""
    chunks, recordings = [], []
    for cpu in range(harts):
        stops = formats.stops_of(f'{folder}/sideband', cpu)
        with open(f'{folder}/saved{cpu}', 'rb') as f:
            chunks.append((cpu, 0, f.read()))
        recordings += [(cpu, start, end - start)
                       for start, end in zip([0] + stops, stops)]
    return piece(folder, 'perf.data',
                 formats.perf_data(chunks, recordings, sample_id=True))


def rvtrace_harts(folder, xlen, harts, per_hart):
    """Several harts do it, by a funnel or each with a sink of its own."""
    kind = 'own' if per_hart else 'shared'
    elf = f'{OUT}/rvtrace-{kind}{harts}-{xlen}.elf'
    machine = SIDE + (PER_HART if per_hart else '')
    with Machine(folder, '', elf, machine, '-smp', str(harts),
                 *sideband(folder), *SYNC) as m:
        m.finished()
        rings = rings_of(m)
        need(len(rings) == (harts if per_hart else 1), f'{rings}')
        for i, ring in enumerate(rings):
            m.qmp('pmemsave', val=ring['ring'], size=ring['size'],
                  filename=f'{folder}/ring{i}')
            m.qmp('x-riscv-trace-save', filename=f'{folder}/saved{i}',
                  **({'hart': i} if per_hart else {}))
    for hart in range(harts):
        own = hart if per_hart else 0
        decoded = decode(folder, f'{folder}/ring{own}', '--ram', '--sideband',
                         f'{folder}/sideband', hart=hart)
        same(decode(folder, f'{folder}/saved{own}', '--ram', '--sideband',
                    f'{folder}/sideband', hart=hart), decoded)
        work = inside(decoded, elf, 'work')
        need(len(work) > 1000, f'hart {hart}: {len(work)} of work()')
        same(work, inside(m.pcs(hart), elf, 'work'),
             f'work() of hart {hart}')
        if per_hart:
            rings = sum((['--trace', f'{folder}/ring{i}']
                         for i in range(1, harts)), [])
            side = ['--sideband', f'{folder}/sideband']
            same(decode(folder, f'{folder}/ring0', *rings, '--ram', *side,
                        hart=hart), decoded, 'with the rings of all harts')
            same(decode(folder, perf_data_of_harts(folder, harts), *side,
                        hart=hart), decoded, 'perf.data of all harts')
            same(decode(folder, perf_data_of_harts(folder, harts), '--elf',
                        elf, '--param', 'src_bits=8', hart=hart), decoded,
                 'perf.data and the program')
        if per_hart and hart:
            # a ring has what its own hart did, and nothing else
            need(not decode(folder, f'{folder}/ring{own}', '--ram',
                            '--sideband', f'{folder}/sideband', hart=0),
                 f'hart 0 is in the ring of hart {hart}')


def gtrace(folder, xlen, harts):
    """
    The newer driver: many recordings that end alike, of rings that wrap now
    and then, as perf stores them
    """
    elf = f'{OUT}/gtrace{harts}-{xlen}.elf'
    with Machine(folder, '', elf, SIDE + PER_HART, '-smp', str(harts),
                 *sideband(folder), *SYNC) as m:
        m.finished()
        words = m.uart_text().split()
        count = len(words) // harts
        for hart in range(harts):
            m.qmp('pmemsave', size=0x40000, filename=f'{folder}/aux{hart}',
                  val=int(words[hart * count + 7], 16))
    side = ['--sideband', f'{folder}/sideband']
    chunks, recordings = [], []
    for hart in range(harts):
        own = words[hart * count:(hart + 1) * count]
        need(own[6] == 'aux', f'{own}')
        sizes = [int(word, 16) for word in own[8:]]
        need(len(sizes) == 9 and sizes.count(0x2000) >= 3 and
             min(sizes) < 0x1000, f'{sizes}')
        with open(f'{folder}/aux{hart}', 'rb') as f:
            data = f.read()[:sum(sizes)]
        # perf comes to read several times, and not at the end only
        starts = [sum(sizes[:i]) for i in range(len(sizes))]
        chunks += [(hart, starts[i], data[starts[i]:starts[i + 3]
                                          if i < 6 else None])
                   for i in (0, 3, 6)]
        recordings += [(hart, *pair) for pair in zip(starts, sizes)]
    perf = piece(folder, 'perf.data',
                 formats.perf_data(chunks, recordings, sample_id=True))
    for hart in range(harts):
        truth = m.pcs(hart)
        rounds = []
        for of, start, size in recordings:
            if of != hart:
                continue
            with open(f'{folder}/aux{hart}', 'rb') as f:
                data = f.read()[start:start + size]
            one = piece(folder, 'one.data', formats.perf_data(
                [(hart, 0, data)], [(hart, 0, size)], sample_id=True))
            decoded = decode(folder, one, *side, hart=hart)
            if size < 0x2000:
                find(decoded, truth, 1000)
                rounds.append(decoded)
        decoded = decode(folder, perf, *side, hart=hart)
        text = '\n'.join(decoded)
        need(len(rounds) > 3 and
             all('\n'.join(one) in text for one in rounds),
             'one recording is not in all of them')
        need(len(inside(decoded, elf, 'work')) >
             2 * sum(len(inside(one, elf, 'work')) for one in rounds),
             'what wrapped is missing')
    first = piece(folder, 'first.data', formats.perf_data(
        [(hart, 0, chunks[3 * hart][2][:recordings[9 * hart][2]])
         for hart in range(harts)],
        [recordings[9 * hart] for hart in range(harts)], sample_id=True))
    for hart in range(harts):
        same(decode(folder, first, '--elf', elf, '--param',
                    f'src_bits={harts - 1}', hart=hart),
             decode(folder, first, *side, hart=hart), 'by the program alone')


def per_hart_whole(folder):
    """Whole runs of harts, each in the SRAM of its own sink"""
    elf = f'{OUT}/smp.rv64gc.elf'
    with Machine(folder, '', elf, AUTO + SIDE + PER_HART, '-smp', '3',
                 *sideband(folder), *sram('64M')) as m:
        m.finished()
        for hart in range(3):
            m.qmp('x-riscv-trace-save', filename=f'{folder}/trace{hart}',
                  hart=hart)
        for wrong in (3, 65535):
            try:
                m.qmp('x-riscv-trace-save', filename=f'{folder}/x', hart=wrong)
            except Problem as error:
                need('0 to 2' in str(error), error)
            else:
                raise Problem(f'hart {wrong} has been saved')
    for hart in range(3):
        same(decoded_lines(folder, f'{folder}/trace{hart}', '--ram',
                           '--sideband', f'{folder}/sideband', hart=hart),
             m.lines(hart))


def per_hart_data(folder):
    """Data trace by a sink for each hart, and what an observer saw"""
    elf = f'{OUT}/baton.rv64gc.elf'
    with Machine(folder, '', elf, AUTO + SIDE + PER_HART, '-smp', '2',
                 *sideband(folder), *sram('64M'), '-plugin',
                 f'{ACCESSES},out={folder}/observed', '-global',
                 'riscv-trace-encoder.data-width=64', '-global',
                 'riscv-trace-encoder.data=on') as m:
        m.finished()
        for hart in range(2):
            m.qmp('x-riscv-trace-save', filename=f'{folder}/trace{hart}',
                  hart=hart)
    notes = []
    for hart in range(2):
        options = ['--trace', f'{folder}/trace{hart}', '--ram', '--sideband',
                   f'{folder}/sideband', '--strict', '--hart', str(hart)]
        same(decoded_lines(folder, f'{folder}/trace{hart}', '--ram',
                           '--sideband', f'{folder}/sideband', hart=hart),
             m.lines(hart))
        with open(f'{folder}/data{hart}', 'wb') as file:
            subprocess.run([RVTRACE, 'decode', *options, '--emit', 'data'],
                           check=True, stdout=file, timeout=LIMIT)
        done = subprocess.run(
            [sys.executable, COMPARE, f'{folder}/observed', str(hart),
             f'{folder}/data{hart}'], capture_output=True, check=False,
            timeout=LIMIT, encoding='ascii')
        need(done.returncode == 0, f'hart {hart}: {done.stdout}{done.stderr}')
        with open(f'{folder}/data{hart}', 'rb') as file:
            notes.append(len(file.readlines()))
    need(min(notes) > 100, f'{notes} accesses')
    return f'{notes} accesses'


def rvtrace_rounds(folder, xlen, machine=''):
    """On and off several times: what is between is not in the trace."""
    guest = f'rvtrace-rounds{"-own" if machine else ""}-{xlen}'
    truth, decoded, elf = rvtrace(folder, guest, machine)
    same(inside(decoded, elf, 'work'), inside(truth, elf, 'work'), 'work()')
    need(len(decoded) < len(truth), 'nothing was left out')


def piece(folder, name, data):
    """A file as AUX data are"""
    with open(f'{folder}/{name}', 'wb') as f:
        f.write(data)
    return f'{folder}/{name}'


def files_equal(a, b):
    with open(a, 'rb') as f, open(b, 'rb') as g:
        return f.read() == g.read()


def refused(folder, says, *options):
    try:
        decode(folder, *options)
    except Problem as error:
        need(says in str(error), f'"{says}" is not in {error}')
    else:
        raise Problem(f'decoded, where "{says}" was to be said')


def rvtrace_pieces(folder, xlen):
    """
    Each round's trace by itself, as an AUX buffer holds it, and several of
    them, by the sideband alone. The code changes from round to round.
    """
    truth, whole, elf = rvtrace(folder, f'rvtrace-pieces-{xlen}',
                                patched=True)
    same(inside(whole, elf, 'patched'),
         inside(truth, elf, 'patched'), 'code that changes')
    side = ['--sideband', f'{folder}/sideband']
    with open(f'{folder}/linear', 'rb') as f:
        data = f.read()
    stops = formats.stops_of(f'{folder}/sideband')
    need(len(stops) == 7 and stops[-1] == len(data),
         f'{stops}, {len(data)} bytes')
    files = [piece(folder, f'piece{i}', data[start:end])
             for i, (start, end) in enumerate(zip([0] + stops, stops))]
    need(files_equal(files[3], files[5]), 'rounds 3 and 5 differ')
    for i in 3, 5:
        refused(folder, 'the same bytes were stored at several places',
                files[i], '--ram', *side)
    ats = [['--at', str(stops[i - 1])] if i in (3, 5) else []
           for i in range(7)]
    rounds = [decode(folder, name, '--ram', *at, *side)
              for name, at in zip(files, ats)]
    same(sum(rounds, []), whole, 'one piece after the other')
    need(rounds[1] != rounds[2], 'rounds do not differ')
    others = [2, 0, 5, 6, 4, 1, 3]
    together = sum((['--trace', files[i]] for i in others[1:]), [])
    same(decode(folder, files[2], *together, '--ram', *side), whole,
         'pieces in any order')
    same(decode(folder, files[4], '--trace', files[1], '--ram', *side),
         rounds[1] + rounds[4], 'two that do not follow each other')
    same(decode(folder, files[2], '--trace', files[3], '--ram', *side),
         rounds[2] + rounds[3], 'one that goes on from another')
    same(decode(folder, files[5], '--trace', files[3], '--at', '?', '--at',
                str(stops[2]), *side), rounds[3] + rounds[5],
         'one that cannot be where another is')
    # parts of pieces: what of it is whole behind an alignment sequence
    for start, end in ((stops[1] + 100, stops[2]), (stops[0] + 333, stops[4]),
                       (stops[5] + 7, stops[6])):
        part = piece(folder, 'part', data[start:end])
        decoded = decode(folder, part, '--ram', *side)
        first, last = (next(i for i, stop in enumerate(stops) if at <= stop)
                       for at in (start, end))
        until = sum(rounds[:last + 1], [])
        same(decoded, until[-len(decoded):], 'the end of a piece')
        need(sum(map(len, rounds[first + 1:last + 1])) + 100 < len(decoded) <
             sum(map(len, rounds[first:last + 1])),
             f'{len(decoded)} instructions of bytes {start} to {end}')
        same(decode(folder, part, '--at', str(start), *side), decoded)
    # overlapping ones
    over = piece(folder, 'over', data[stops[1] + 40:stops[3]])
    same(decode(folder, files[1], '--trace', files[2], '--trace', over,
                '--ram', *side), sum(rounds[1:4], []), 'overlapping pieces')

    rvtrace_perf_data(folder, data, stops, whole, side)
    refused(folder, 'give each piece once', files[1], '--trace', files[1],
            '--ram', *side)
    refused(folder, 'these are not the', files[1], '--at', '64', *side)
    refused(folder, 'every piece needs one', files[1], '--at', '0', '--at',
            '0', *side)
    refused(folder, 'not a number', files[1], '--at', '-4', *side)
    refused(folder, 'the sideband of their session', files[1], '--trace',
            files[2], '--ram', '--elf', elf)
    refused(folder, 'has stored no such',
            piece(folder, 'other', data[:200] + bytes([85] * 200)), '--ram',
            *side)
    refused(folder, 'has stored no such',
            piece(folder, 'short', data[stops[0] + 8:stops[0] + 800]),
            '--ram', *side)


def rvtrace_perf_data(folder, data, stops, whole, side):
    """The same as AUX data in files of perf: some rounds in each record"""
    records = list(zip([0] + stops, stops))
    for pipe in False, True:
        for sample_id in False, True:
            name = piece(folder, 'perf.data', formats.perf_data(
                [(0, 0, data[:stops[3]]), (0, stops[3], data[stops[3]:])],
                [(0, start, end - start) for start, end in records],
                pipe, sample_id))
            same(decode(folder, name, *side), whole, 'perf.data')
    refused(folder, 'which is another architecture', piece(
        folder, 'perf.data', formats.perf_data([(0, 0, data)], [], kind=1)),
            *side)
    refused(folder, 'has no AUX data', piece(
        folder, 'perf.data', formats.perf_data([], [])), *side)
    good = formats.perf_data([(0, 0, data)], [], pipe=True)
    refused(folder, 'damaged or cut off', piece(folder, 'perf.data',
                                                good[:-1]), *side)


def rvtrace_wrapped(folder, xlen):
    truth, decoded, elf = rvtrace(folder, f'rvtrace-wrap-{xlen}')
    at = find(decoded, truth, 3000)
    need(not inside(truth[at + len(decoded):], elf, 'work'),
         'it does not go on to the end of work()')


def rvtrace_stopped(folder, xlen):
    """trRamStopOnWrap: the beginning is kept, the end is lost."""
    elf = f'{OUT}/rvtrace-stop-{xlen}.elf'
    with Machine(folder, '', elf, SIDE, *sideband(folder), *SYNC) as m:
        m.finished()
        ring = ring_of(m)
        need(ring['wp'] == ring['ring'] | 1, 'it has not stopped at the end')
        m.qmp('x-riscv-trace-save', filename=f'{folder}/trace')
    truth = m.pcs()
    need(os.path.getsize(f'{folder}/trace') == ring['size'], 'not all of it')
    # what is after the last packet is not known to have retired
    decoded = decode(folder, f'{folder}/trace', '--wrapped-at', '0',
                     '--sideband', f'{folder}/sideband')
    at = find(decoded, truth, 3000)
    need(not inside(truth[:at], elf, 'work'), 'the beginning is missing')
    same(decode(folder, f'{folder}/trace', '--ram', '--elf', elf), decoded)


def rvtrace_resumed(folder, xlen):
    """The ring is emptied and goes on: the gap is reported in-band."""
    elf = f'{OUT}/rvtrace-resume-{xlen}.elf'
    with Machine(folder, '', elf, SIDE, *sideband(folder), *SYNC) as m:
        m.finished()
        ring = ring_of(m)
        m.qmp('pmemsave', val=ring['ring'], size=ring['size'],
              filename=f'{folder}/ring')
    decoded = decode(folder, f'{folder}/ring', '--ram', '--sideband',
                     f'{folder}/sideband', strict=False)
    find(decoded, m.pcs(), 3000)
    with open(f'{folder}/decode.log', encoding='utf-8') as f:
        need('trace_lost' in f.read(), 'no loss was reported')


def both_sinks(folder):
    """A chardev and the RAM sink get the same."""
    with Machine(folder, '', f'{OUT}/calls.rv64gc.elf',
                 AUTO + SIDE + ',trace-chardev=tr', *sideband(folder),
                 '-chardev', f'file,id=tr,path={folder}/trace',
                 '-global', 'riscv-trace-ram.autostart=on') as m:
        m.finished()
        m.qmp('x-riscv-trace-save', filename=f'{folder}/ram')
    side = ['--sideband', f'{folder}/sideband']
    same(decode(folder, f'{folder}/trace', *side), m.pcs())
    same(decode(folder, f'{folder}/ram', '--ram', *side), m.pcs())


def from_monitor(folder, harts):
    """
    Tracing is started and stopped while the guest runs, and every hart runs
    in between.
    """
    guest = 'endless' if harts == 1 else 'smp-long'
    with Machine(folder, '', f'{OUT}/{guest}.elf', SIDE, '-smp', str(harts),
                 *sideband(folder), *sram('64M')) as m:
        m.go_on(harts)
        m.qmp('x-riscv-trace-start')
        m.go_on(harts)
        m.qmp('x-riscv-trace-stop')
        need('SHUTDOWN' not in m.monitor.events, 'the guest is over')
        m.qmp('stop')
        m.qmp('x-riscv-trace-save', filename=f'{folder}/trace')
    for hart in range(harts):
        find(decode(folder, f'{folder}/trace', '--ram', '--sideband',
                    f'{folder}/sideband', hart=hart), m.pcs(hart), 1000)


def migrated(folder, guest, machine, size, live, harts=1):
    """
    The machine moves in the middle of a trace: what is in the ring at the
    end decodes as one. Live: it is traced while memory is copied already.
    """
    elf = f'{OUT}/{guest}.elf'
    state = f'file:{folder}/state'
    options = [*sram(size), *sideband(folder), *SYNC, '-smp', str(harts)]
    hart = {'hart': 0} if PER_HART in machine else {}
    with Machine(folder, '.1', elf, machine + SIDE, *options) as m1:
        m1.go_on(1)             # the others do little
        if not live:
            m1.qmp('stop')
        m1.migrate(state)
        m1.migrated()
        need('SHUTDOWN' not in m1.monitor.events, 'the guest is over')
        m1.qmp('x-riscv-trace-save', filename=f'{folder}/trace.1', **hart)
    os.rename(f'{folder}/sideband', f'{folder}/sideband.1')
    with Machine(folder, '.2', elf, machine + SIDE, *options,
                 '-incoming', state) as m2:
        m2.migrated()
        m2.qmp('cont')
        # dhry knows the result of fewer rounds only
        m2.finished(happy=guest != 'dhry-long')
        m2.qmp('x-riscv-trace-save', filename=f'{folder}/trace', **hart)
    return m1, m2, elf


def migrated_sram(folder, live, machine='', harts=1):
    guest = 'dhry-long' if live else 'dhry.rv64gc'
    m1, m2, elf = migrated(folder, guest, AUTO + machine, '64M', live, harts)
    before, after = m1.lines(), m2.lines()
    need(before.count(b'\n') > 10000 and after.count(b'\n') > 10000,
         'nothing ran on one of the sides')
    # all but the beginning, for which the ELF file has no code
    decoded = decoded_lines(folder, f'{folder}/trace', '--ram', '--elf', elf,
                            '--param', f'src_bits={harts - 1}', strict=False)
    rom = re.match(rb'(?:[0-9a-f]{1,7}\n)*', decoded)
    in_dram = decoded[rom.end():]
    end = (before + after)[-len(in_dram):]
    missing = len(before + after) - len(end)
    need(missing < len('80000000\n') * 2000, f'{missing} bytes are missing')
    same(in_dram, end, 'the end of the trace')
    # Each side's sideband explains its part, and both explain all of it.
    same(decoded_lines(folder, f'{folder}/trace', '--ram', '--sideband',
                       f'{folder}/sideband.1', '--sideband',
                       f'{folder}/sideband'), before + after)
    same(decoded_lines(folder, f'{folder}/trace.1', '--ram', '--sideband',
                       f'{folder}/sideband.1'), before)
    same(decoded_lines(folder, f'{folder}/trace', '--ram', '--sideband',
                       f'{folder}/sideband'), after)


def work_of(lines, elf):
    """Those of the instructions that are in work(), which is small"""
    function = next((s for s in table(elf) if s.name == 'work' and s.size),
                    None)
    need(function, f'{elf} has no work()')
    pcs = '\n'.join(f'{pc:x}' for pc in range(
        function.address, function.address + function.size, 2))
    return subprocess.run(['grep', '-xF', pcs], input=lines,
                          stdout=subprocess.PIPE, check=False,
                          env={**os.environ, 'LC_ALL': 'C'}).stdout


def migrated_smem(folder, live):
    guest = 'rvtrace-long' if live else 'rvtrace-some'
    m1, m2, elf = migrated(folder, guest, '', '1M', live)
    before, after = m1.lines(), m2.lines()
    decoded = decoded_lines(folder, f'{folder}/trace', '--ram', '--elf', elf)
    need(decoded.count(b'\n') > 10000 and
         b'\n' + decoded in b'\n' + before + after,
         'what is decoded did not retire like this')
    same(decoded_lines(folder, f'{folder}/trace', '--ram', '--sideband',
                       f'{folder}/sideband.1', '--sideband',
                       f'{folder}/sideband'), decoded, 'with both sidebands')
    work = work_of(before, elf), work_of(after, elf)
    need(all(work), 'it did not move in the middle of the work')
    same(work_of(decoded, elf), b''.join(work), 'work()')


def tests():
    for guest in ('calls', 'exceptions', 'irq', 'vm', 'smc', 'tables'):
        for arch in ('rv64gc', 'rv32gc'):
            yield f'whole run in SRAM, {guest} {arch}', \
                  whole_sram, f'{guest}.{arch}'
    for harts in (2, 4):
        yield f'whole run in SRAM, {harts} harts', whole_smp, harts
    for size in ('4K', '16K', '64K'):
        yield f'wrapped SRAM of {size}', wrapped_sram, 'dhry.rv64gc', size
    yield 'wrapped SRAM, RV32', wrapped_sram, 'dhry.rv32gc', '16K'
    yield 'wrapped SRAM, 3 harts', wrapped_sram, 'baton-long', '32K', 3
    for xlen in (64, 32):
        yield f'as Linux does, RV{xlen}', rvtrace_whole, xlen
        yield f'as Linux does, several times, RV{xlen}', rvtrace_rounds, xlen
        yield f'as Linux does, wrapped, RV{xlen}', rvtrace_wrapped, xlen
        yield f'as Linux does, no funnel, several times, RV{xlen}', \
              rvtrace_rounds, xlen, PER_HART
        yield f'pieces of a trace, RV{xlen}', rvtrace_pieces, xlen
        for harts in (2, 4):
            yield f'as Linux does, {harts} harts, RV{xlen}', \
                  rvtrace_harts, xlen, harts, False
            yield f'as Linux does, a sink for each of {harts} harts, ' \
                  f'RV{xlen}', rvtrace_harts, xlen, harts, True
        yield f'stop on wrap, RV{xlen}', rvtrace_stopped, xlen
        yield f'stop on wrap, then on again, RV{xlen}', rvtrace_resumed, xlen
        for harts in (1, 2):
            yield f'as Linux\' newer driver does, {harts} harts, RV{xlen}', \
                  gtrace, xlen, harts
        yield f'read while it is traced, RV{xlen}', polled.polled, xlen
        for guest in 'polled', 'stamped':
            yield f'{guest}, recorded and replayed, RV{xlen}', \
                  polled.replayed, guest, xlen
    yield 'both sinks', both_sinks
    yield 'a sink for each hart, from reset', per_hart_whole
    yield 'a sink for each hart, data trace', per_hart_data
    for harts in (1, 4):
        yield f'start and stop by the monitor, {harts} harts', \
              from_monitor, harts
    for live, what in (False, 'migration'), (True, 'live migration'):
        yield f'{what}, SRAM', migrated_sram, live
        yield f'{what}, guest memory', migrated_smem, live
    yield 'migration, a sink for each hart', migrated_sram, False, PER_HART, 2


if __name__ == '__main__':
    tap.run(OUT, tests())
