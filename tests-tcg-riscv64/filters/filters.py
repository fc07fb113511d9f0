#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# filters.py PATTERN: see run.sh
#
# A guest is started with trace on but stands still; registers of its encoder
# are written, then it runs. With one instruction per TB each block is one
# instruction, so that filters are exact; otherwise they trace whole blocks, but
# that TBs end where ranges of addresses do.

import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..', 'harness'))

import links
import tap
from symbols import addresses
from tap import grow, need

QEMU, RVTRACE, RETIRED, OUT = (os.environ[n] for n in
                              ('QEMU', 'RVTRACE', 'RETIRED', 'OUT'))
ENCODER = 0x3020000
ALL_MODES = ('implicit-exception', 'sequential-jump', 'implicit-return',
             'branch-prediction', 'jump-target-cache')

INST_FILTERS = 0x00c
GE, LE, EQ, MASK = 5, 3, 0, 6
P, AND, NAND, LATCH = 0, 1, 2, 3


def comparator(j, p=(EQ, 0), s=(EQ, 0), mode=P, notify=0):
    """Writes that program comparator j, both of its inputs iaddr"""
    base = 0x600 + 0x20 * j
    return [(base + 0x10, p[1] & 0xffffffff), (base + 0x14, p[1] >> 32),
            (base + 0x18, s[1] & 0xffffffff), (base + 0x1c, s[1] >> 32),
            (base, p[0] << 4 | s[0] << 8 | mode << 12 | notify << 14)]


def filter_by(control, inst=0, ecause=0):
    """Writes that make filter 0 the one that qualifies"""
    return [(0x404, inst), (0x408, ecause), (0x400, 1 | control),
            (INST_FILTERS, 1)]


class Run:
    """
    A guest, traced; truth and decoded: lists of pcs. observer: arguments that
    make the truth a part of it. change: done with QMP when the guest runs, and
    with a function that waits until it has run on for a while. debugger: lets the guest run, with a
    debugger that is connected.
    """

    def __init__(self, folder, guest, writes, props=(), single=True,
                 observer='', change=None, debugger=None, arch='rv64gc'):
        self.folder = folder
        self.arch = arch
        self.change = change
        self.debugger = debugger
        self.decoded = self.truth = []
        with links.directory() as sockets:
            self.run(sockets, guest, writes, props, single, observer)

    def run(self, sockets, guest, writes, props, single, observer):
        folder = self.folder
        args = [
            QEMU, '-M', 'virt,trace=on,trace-chardev=tr,trace-sideband=sb,'
            'trace-autostart=on', '-chardev', f'file,id=tr,path={folder}/trace',
            '-chardev', f'file,id=sb,path={folder}/sideband', '-cpu', self.arch[:4],
            '-m', '128M', '-display', 'none', '-monitor', 'none', '-serial',
            f'file:{folder}/uart', '-bios', 'none', '-kernel',
            f'{OUT}/{guest}.{self.arch}.elf', '-icount', 'shift=0', '-S',
            '-plugin', f'{RETIRED},out={folder}/truth,pcs={folder}/pcs'
            f'{observer}',
            *links.QTest.arguments(sockets), *links.Qmp.arguments(sockets)]
        for prop in props:
            args += ['-global', f'riscv-trace-encoder.{prop}']
        if self.debugger:
            args += links.Gdb.arguments(sockets)
        if single:
            args += ['-accel', 'tcg,one-insn-per-tb=on']
        with open(f'{folder}/log', 'w', encoding='utf-8') as log:
            with subprocess.Popen(args, stdin=subprocess.DEVNULL, stdout=log,
                                  stderr=log) as qemu:
                try:
                    self.program(sockets, writes, guest)
                    self.status = qemu.wait(timeout=links.LIMIT)
                finally:
                    qemu.kill()

    def program(self, sockets, writes, guest):
        qtest = links.QTest(sockets)
        for ofs, val in writes:
            if isinstance(ofs, str):
                qtest.ask(f'set_irq_in /machine/trace-encoder0 {ofs} {val}')
                continue
            qtest.write(ENCODER + ofs, val)
            got = qtest.read(ENCODER + ofs)
            if ofs and got != val:
                raise ValueError(f'{ofs:#x}: {got:#x} instead of {val:#x}')
        if self.debugger:
            self.debugger(links.Gdb(sockets))
            return
        qmp = links.Qmp(sockets)
        if not self.change:
            qmp.command('cont')
            return
        door = symbols(guest)['door']
        qtest.write(door, 0)
        qmp.command('cont')
        # It goes round before the door by then, which needs much less.
        grow(f'{self.folder}/pcs')
        self.change(qmp, lambda: grow(f'{self.folder}/pcs'))
        qtest.write(door, 1)

    def decode(self):
        need(not self.status, f'QEMU: exit status {self.status}')
        decode = subprocess.run(
            [RVTRACE, 'decode', '--trace', f'{self.folder}/trace',
             '--sideband', f'{self.folder}/sideband', '--hart', '0',
             '--emit', 'pc'], capture_output=True, text=True, check=False)
        need(not decode.returncode and not decode.stderr,
             f'rvtrace: {decode.stderr.strip()}')
        self.decoded = [int(pc, 16) for pc in decode.stdout.split()]
        with open(f'{self.folder}/pcs', encoding='utf-8') as pcs:
            self.truth = [int(line.split()[1], 16) for line in pcs
                          if line.startswith('0 ')]


def first_difference(got, want):
    for i, (a, b) in enumerate(zip(got, want)):
        if a != b:
            return f'instruction {i}: {a:#x} instead of {b:#x}'
    return f'{len(got)} instructions instead of {len(want)}'


def symbols(guest, arch='rv64gc'):
    return addresses(f'{OUT}/{guest}.{arch}.elf')


class Tests(tap.Tap):
    def __init__(self):
        super().__init__(f'{OUT}/runs',
                         sys.argv[1] if len(sys.argv) > 1 else None)

    def same(self, name, guest, writes, model, props=(), single=True,
             observer='', change=None, debugger=None, arch='rv64gc'):
        """What is decoded is model(truth)."""
        def test(folder):
            run = Run(folder, guest, writes, props, single, observer, change,
                      debugger, arch)
            run.decode()
            if change:
                wrong = model(run.truth, run.decoded)
                need(not wrong, wrong)
                return
            want = model(run.truth)
            need(want, 'the test is about nothing')
            need(run.decoded == want, first_difference(run.decoded, want))

        self.test(name, test)

    def parts(self, name, guest, parts, end):
        """
        Runs with filters that exclude each other: every instruction up to
        the first one at end, where the guest is done, is in one of them.
        """
        def test(folder):
            total, whole = [], []
            for i, writes in enumerate(parts):
                os.makedirs(f'{folder}/{i}')
                run = Run(f'{folder}/{i}', guest, writes)
                run.decode()
                whole = before(run.truth, end)
                part = before(run.decoded, end)
                need(part and len(part) != len(whole),
                     f'part {i} is nothing, or all')
                total += part
            need(sorted(total) == sorted(whole),
                 f'{len(total)} instructions instead of {len(whole)}')

        self.test(name, test)


def before(pcs, end):
    return pcs[:pcs.index(end)] if end in pcs else pcs


def within(low, high):
    return lambda truth: [pc for pc in truth if low <= pc <= high]


def latched(start, stop):
    def model(truth):
        out, on = [], False
        for pc in truth:
            on = on or pc == start
            if on:
                out.append(pc)
            on = on and pc != stop
        return out
    return model


def context_is(wanted):
    """In these contexts: guests/contexts.S goes from 0 to 3, again and again"""
    switch = symbols('contexts')['switch_context']

    def model(truth):
        out, context, switches = [], 0, 0
        for pc in truth:
            if context in wanted:
                out.append(pc)
            if pc == switch:
                # "The CSR instruction itself belongs to the context before."
                context = switches % 4
                switches += 1
        return out
    return model


def both(*models):
    def model(truth):
        for one in models:
            truth = one(truth)
        return truth
    return model


def begins(model):
    """From an instruction on, model: what is wrong, if anything"""
    def check(truth, decoded):
        n = 0
        while n < len(decoded) and decoded[n] == truth[n]:
            n += 1
        want = model(truth)[len(model(truth[:n])):]
        if not want or n == 0 or len(decoded) == len(truth):
            return 'the test is about nothing'
        return (None if decoded[n:] == want else
                f'from {n} on: ' + first_difference(decoded[n:], want))
    return check


def ends(model):
    """Up to an instruction, model; then everything"""
    def check(truth, decoded):
        same = 0
        while (same < len(decoded) and
               decoded[-same - 1] == truth[-same - 1]):
            same += 1
        want = model(truth[:len(truth) - same])
        got = decoded[:len(decoded) - same]
        if not want or same == 0 or len(decoded) == len(truth):
            return 'the test is about nothing'
        return None if got == want else first_difference(got, want)
    return check


def set_filters(texts):
    """One after the other; the hart sees each of them."""
    def change(qmp, wait):
        for text in texts:
            set_filter(text)(qmp, wait)
            wait()
    return change


def set_filter(text):
    def change(qmp, _):
        for value in text, 'nonsense':
            try:
                qmp.command('qom-set', path='/machine/trace-encoder0',
                            property='filter', value=value)
            except links.Error:
                if value == text:
                    raise
        got = qmp.command('qom-get', path='/machine/trace-encoder0',
                          property='filter')
        if got != text:
            raise ValueError(f'filter is {got!r} instead of {text!r}')
    return change


def triggered(guest):
    """trace-on from its instruction on, trace-off behind its own"""
    at = symbols(guest)
    on = {at['trace_on'], at['on_again']}
    off = {at['trace_off'], at['off_before']}

    def model(truth):
        out, tracing = [], False
        for pc in truth:
            tracing = tracing or pc in on
            if tracing:
                out.append(pc)
            tracing = tracing and pc not in off
        return out
    return model


def stops_at(guest, *labels):
    """A debugger: the guest stops at each of them once, in that order."""
    def debugger(gdb):
        for label in labels:
            gdb.stop_at(symbols(guest)[label])
        gdb.leave()
    return debugger


def everything(truth):
    return truth


def expressions(tests, modes):
    """The property filter"""
    calls, contexts = symbols('calls'), symbols('contexts')
    low, high = calls['fib'], calls['deep'] - 2
    comp1 = 1 << 4
    pc = f'pc={low:#x}-{high:#x}'

    for label, props in modes:
        tests.same(f'property: range{label}', 'calls', [], within(low, high),
                   [f'filter={pc}', *props])
        tests.same(f'property: two ranges{label}', 'calls', [],
                   lambda t: [pc for pc in t if low <= pc <= low + 8 or
                              high - 8 <= pc <= high],
                   [f'filter=pc={high - 8}-{high};pc={low:#x}-{low + 8:#x}',
                    *props])
        tests.same(f'property: range, whole TBs{label}', 'calls', [],
                   within(low, high), [f'filter={pc}', *props], False)
        tests.same(f'property: two ranges, whole TBs{label}', 'calls', [],
                   lambda t: [pc for pc in t if low <= pc <= low + 8 or
                              high - 8 <= pc <= high],
                   [f'filter=pc={high - 8}-{high};pc={low:#x}-{low + 8:#x}',
                    *props], False)
        # RV32 keeps pc sign-extended.
        short = symbols('calls', 'rv32gc')
        part = short['fib'], short['deep'] - 2
        tests.same(f'property: range, whole TBs, RV32{label}', 'calls', [],
                   within(*part), [f'filter=pc={part[0]}-{part[1]}', *props],
                   False, arch='rv32gc')
        # What software sees and does is as without the property.
        tests.same(f'property and registers, whole TBs{label}', 'calls',
                   comparator(0, (GE, low + 8), (LE, high), AND) +
                   filter_by(comp1), within(low + 8, high - 8),
                   [f'filter=pc={low}-{high - 8}', *props], False)
        tests.same(f'property and registers{label}', 'calls',
                   comparator(0, (GE, low + 8), (LE, high), AND) +
                   filter_by(comp1), within(low + 8, high - 8),
                   [f'filter=pc={low}-{high - 8}', *props])
        tests.same(f'property that is true of everything{label}', 'calls', [],
                   everything, ['filter=pc=0-0xffffffffffffffff', *props],
                   False)
        for wanted in (1,), (0, 3):
            text = ';'.join(f'context={n}' for n in wanted)
            tests.same(f'property: {text}{label}', 'contexts', [],
                       context_is(wanted), [f'filter={text}', *props])
        tests.same(f'property: context and range{label}', 'contexts', [],
                   both(context_is((2,)), within(contexts['work'],
                                                 contexts['work_end'])),
                   [f'filter=context=2;pc={contexts["work"]}-'
                    f'{contexts["work_end"]}', *props])
        # Returns from traps lead to blocks that the range begins or ends in.
        priv = symbols('priv')
        part = priv['in_s'] + 4, priv['in_u']
        for level, number in ('S', 1), ('U', 0):
            tests.same(f'property: range and priv={level}, whole TBs{label}',
                       'priv', [], within(*part),
                       [f'filter=priv={level};pc={part[0]}-{part[1]}', *props],
                       False, f',priv={number}')
    tests.same('property: context, with context in packets', 'contexts', [],
               context_is((2,)), ['filter=context=2', 'context-width=30',
                                  'context=on'])
    for guest in 'priv', 'vm':
        for level, number in ('M', 3), ('S', 1), ('U', 0):
            tests.same(f'property: priv={level}, {guest}', guest, [],
                       everything, [f'filter=priv={level}'], True,
                       f',priv={number}')
            tests.same(f'property: priv={level}, {guest}, in blocks', guest,
                       [], everything, [f'filter=priv={level}'], False,
                       f',priv={number}')

    work = within(contexts['work'], contexts['work_end'])
    text = f'pc={contexts["work"]:#x}-{contexts["work_end"]:#x}'
    for label, single in ('', True), (', whole TBs', False):
        tests.same(f'property that is set while it runs{label}', 'contexts',
                   [], begins(work), single=single, change=set_filter(text))
        # more than the TB key has numbers for
        tests.same(f'property that is set many times while it runs{label}',
                   'contexts', [], begins(work), single=single,
                   change=set_filters(
                       [f'pc=0x0-{contexts["work_end"] + 2 * n:#x}'
                        for n in range(20)] + [text]))
    tests.same('property: context that is set while it runs', 'contexts', [],
               begins(context_is((2,))), change=set_filter('context=2'))
    tests.same('property that is cleared while it runs', 'contexts', [],
               ends(work), [f'filter={text}'], change=set_filter(''))


def main():
    tests = Tests()
    every_mode = [f'{mode}=on' for mode in ALL_MODES]
    modes = (('', ()), (', all modes', every_mode),
             (', all modes, 2.1-draft', ['wire-format=2.1-draft',
                                         *every_mode]))
    calls = symbols('calls')
    low, high = calls['fib'], calls['deep'] - 2
    comp1 = 1 << 4

    for label, props in modes:
        tests.same(f'range{label}', 'calls',
                   comparator(0, (GE, low), (LE, high), AND) +
                   filter_by(comp1), within(low, high), props)
        tests.same(f'range, whole TBs{label}', 'calls',
                   comparator(0, (GE, low), (LE, high), AND) +
                   filter_by(comp1), within(low, high), props, False)
        tests.same(f'all but a range, whole TBs{label}', 'calls',
                   comparator(7, (GE, low), (LE, high), NAND) +
                   filter_by(comp1 | 7 << 5),
                   lambda t: [pc for pc in t if not low <= pc <= high], props,
                   False)
        tests.same(f'all but a range{label}', 'calls',
                   comparator(7, (GE, low), (LE, high), NAND) +
                   filter_by(comp1 | 7 << 5),
                   lambda t: [pc for pc in t if not low <= pc <= high], props)
        tests.same(f'from an address to another{label}', 'calls',
                   comparator(2, (EQ, low), (EQ, low + 0x16), LATCH) +
                   filter_by(comp1 | 2 << 5), latched(low, low + 0x16),
                   props)
        tests.same(f'address under a mask{label}', 'calls',
                   comparator(1, (EQ, 0x10), (MASK, 0x10)) +
                   filter_by(comp1 | 1 << 5),
                   lambda t: [pc for pc in t if pc & 0x10], props)
        tests.same(f'notify{label}', 'calls',
                   comparator(3, (EQ, low), (EQ, high), P, 3), everything,
                   props)
        tests.same(f'notify in blocks{label}', 'calls',
                   comparator(3, (EQ, low), (EQ, high), P, 3), everything,
                   props, False)
        # trTeInstSyncMode 2, a period of 16 cycles; or of 4096
        for period in 0, 8:
            control = 0x7 | 6 << 4 | 1 << 13 | 1 << 15 | 2 << 16
            tests.same(f'sync after {16 << period} cycles{label}', 'calls',
                       [(0, control | period << 20)], everything, props,
                       False)
        tests.same(f'timestamps{label}', 'calls', [], everything,
                   ['timestamp-width=40', 'timestamp-mode=3', *props], False)
        tests.same(f'srcID of 11 bits{label}', 'calls', [], everything,
                   ['src-bits=11', 'src-id=1234', *props], False)
        # trTeInstTrigEnable 1, trTeInstTracing 0
        control = 0x3 | 6 << 4 | 1 << 11 | 1 << 13 | 1 << 15 | 15 << 20
        tests.same(f'debug triggers{label}', 'triggers', [(0, control)],
                   triggered('triggers'), props)
        tests.same(f'debug triggers that are not enabled{label}', 'triggers',
                   [], everything, props)
        tests.same(f'debug triggers and a debugger{label}', 'triggers',
                   [(0, control)], triggered('triggers'), props,
                   debugger=stops_at('triggers', 'trace_on', 'trace_off'))
    tests.same('itype of 3 bits', 'calls', [], everything,
               ['itype-width=3', 'sequential-jump=on'], False)
    tests.same('context, imprecisely', 'vm', [], everything,
               ['context-width=30', 'context=on', 'ctype=1'], False)
    tests.same('context, precisely', 'vm', [], everything,
               ['context-width=30', 'context=on', 'ctype=2'], False)

    # filter 0: "(impdef & mask) == (value & mask)"; filter 1: a range
    lines = [('impdef 2', 1), ('impdef 3', 1)]
    either = [(0x410, 0x5), (0x414, 0xf7), (0x400, 1 | 1 << 16),
              (0x420, 1 | comp1), (INST_FILTERS, 3),
              *comparator(0, (GE, low), (LE, high), AND)]
    tests.same('impdef is another', 'calls', lines + either,
               within(low, high), ['impdef-width=8'])
    tests.same('impdef matches', 'calls', [('impdef 0', 1), *lines, *either],
               everything, ['impdef-width=8'])
    tests.same('impdef goes back', 'calls',
               [('impdef 0', 1), *lines, *either, ('impdef 0', 0)],
               within(low, high), ['impdef-width=8'])

    # privileges, each by itself: MatchPrivilege, one bit of the choice
    for guest in 'priv', 'vm':
        end = symbols(guest)['pass']
        tests.parts(f'privilege levels, {guest}', guest,
                    [filter_by(1 << 1, 1 << 3), filter_by(1 << 1, 0xff ^ 8)],
                    end)
    expressions(tests, modes + ((', data', ('data-width=64', 'data=on')),))
    tests.end()


if __name__ == '__main__':
    main()
