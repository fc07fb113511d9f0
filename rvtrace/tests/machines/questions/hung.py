# SPDX-License-Identifier: GPL-2.0-or-later
#
# Guests that hang: see hung.S

import re

import tap
from asked import QEMU, Traced, same
from machine import Machine
from tap import need


class Hung(Traced):
    """A guest that is ended when @hangs(machine)"""

    def __init__(self, folder, name, hangs, *options):
        super().__init__(folder, name)
        with Machine(folder, [
                QEMU, '-M', 'virt,trace=on,trace-chardev=tr,trace-sideband=sb,'
                'trace-autostart=on', '-cpu', 'rv64', '-m', '128M', '-bios',
                'none', '-kernel', self.elf, *options], '-chardev',
                f'file,id=tr,path={folder}/trace', '-chardev',
                f'file,id=sb,path={folder}/sideband', uart='null') as machine:
            machine.cont()
            tap.until(lambda: hangs(self, machine), 'the guest does not hang')
            machine.quit()
        self.rows = self.answer('why-hung')['rows']

    def of(self, hart=0):
        """Rows of a hart, by what they are about"""
        by_what = {}
        for row in self.rows:
            if row['hart'] == hart:
                by_what.setdefault(row['what'], []).append(row)
        return by_what


def hung(folder, kind, ticks):
    """One of hung.S, when its handler has run so often, and its rows"""
    def hangs(guest, machine):
        look = machine.hmp(f'xp /1gx {guest.at["ticks"]:#x}')
        # behind wfi
        pc = f'{guest.at["sleep"] + 4:016x}'
        return int(look.split(': ')[1], 16) >= ticks and \
            (kind != 3 or pc in machine.hmp('info registers'))

    guest = Hung(folder, f'hung.{kind}', hangs)
    return guest, guest.of()


def stuck(folder, kind, *names):
    """One of deadlock.S, when each hart is in the function that it stays in"""
    def pcs(machine):
        return [int(pc, 16) for pc in
                re.findall(r'^ pc +([0-9a-f]+)',
                           machine.hmp('info registers -a'), re.M)]

    def hangs(guest, machine):
        now = [pcs(machine) for _ in range(20)]
        return all(0 <= pc - guest.at[name] < 16 for at in now
                   for pc, name in zip(at, names))

    guest = Hung(folder, f'deadlock.{kind}', hangs, '-smp', '2')
    # All that both harts executed
    guest.pcs = [[int(line, 16) for line in guest.ask(
        'decode', '--hart', str(hart), '--emit', 'pc').split()]
        for hart in (0, 1)]
    return guest


def spins(guest, hart, calls, caller):
    """It waits in the N-th call of spin_lock, by all that it executed."""
    row, = guest.of(hart)['spins']
    same(row['text'], f'waits for a lock in spin_lock, called by {caller}')
    pcs, at = guest.pcs[hart], guest.at['spin_lock']
    begins = [i for i, pc in enumerate(pcs) if pc == at and
              not at < pcs[i - 1] < at + 12]
    same(len(begins), calls)
    same(row['from'], begins[-1])
    same(row['to'], len(pcs))


def held(guest, hart):
    return [(row['from'], row['text']) for row in guest.of(hart)['held']]


def has(guest, hart, label):
    """Where it took its lock, and what the command says about that"""
    caller = ('first', 'second')[hart]
    return (guest.pcs[hart].index(guest.at[label]),
            f'hart {hart} has one of spin_lock: [no task], for {caller}')


def test_deadlock(folder):
    guest = stuck(folder, 1, 'spin_lock', 'spin_lock')
    both = [has(guest, 0, 'first_has'), has(guest, 1, 'second_has')]
    # Nothing says that c was given back but that hart 0 did it.
    for hart in 0, 1:
        spins(guest, hart, 3 - hart, ('first', 'second')[hart])
        same(held(guest, hart), both)
        need('loop' in guest.of(hart), f'{guest.rows}')


def test_waits(folder):
    """The other hart sleeps, and has nothing."""
    guest = stuck(folder, 2, 'wait_for_flag', 'rest')
    loop, = guest.of(0)['loop']
    need(loop['text'].startswith('2 instructions a round: wait_for_flag'),
         f'{loop}')
    need('spins' not in guest.of(0), f'{guest.rows}')
    need('sleeps' not in guest.of(0), f'{guest.rows}')
    same(guest.of(1)['end'][0]['text'], 'M-mode, [no task], rest')
    sleeps, = guest.of(1)['sleeps']
    same(sleeps['text'], f'wfi at {guest.at["rest"] + 4:#x}, rest')
    same((sleeps['from'], sleeps['to']), (len(guest.pcs[1]),) * 2)


def test_itself(folder):
    guest = stuck(folder, 3, 'spin_lock', 'rest')
    spins(guest, 0, 3, 'first')
    same(held(guest, 0), [has(guest, 0, 'own_again')])


def test_sleeper(folder):
    guest = stuck(folder, 4, 'spin_lock', 'rest')
    spins(guest, 0, 2, 'first')
    same(held(guest, 0), [has(guest, 1, 'second_has')])


def test_spins(folder):
    """A round is jal, lw, beqz, nop, ret and bnez."""
    _, got = hung(folder, 1, 20)
    loop, = got['loop']
    need(loop['text'].startswith('6 instructions a round: '), loop['text'])
    same(set(re.findall(r'(\w+) \(0x', loop['text'])), {'get_lock', 'look'})
    need(loop['count'] > 1000 and loop['to'] == got['end'][0]['to'], f'{loop}')
    same(got['interrupt'][0]['text'], 'machine timer interrupt')
    need(got['interrupt'][0]['count'] >= 20, f'{got["interrupt"]}')
    need(re.match(r'_start > main > hang > get_lock|main > hang > get_lock',
                  got['stack'][0]['text']), f'{got["stack"]}')
    need('exception' not in got, f'{got}')
    same(got['spins'][0]['text'],
         'waits for a lock in get_lock, called by hang')
    same([row['text'] for row in got['held']],
         ['no call has taken such a lock and not given it back'])


def test_storm(folder):
    guest, got = hung(folder, 2, 5000)
    row, = got['exception']
    need(row['count'] >= 5000 and
         f'illegal instruction 2 at {guest.at["fault"]:#x}, hang' in
         row['text'], f'{row}')
    need(got['loop'][0]['text'].endswith(f'handler ({guest.at["handler"]:#x})'),
         f'{got["loop"]}')


def test_sleeps(folder):
    guest, got = hung(folder, 3, 1)
    same(got['stack'][0]['text'].split(' > ')[-2:], ['hang', 'sleep'])
    same([row['text'] for row in got['call']][:3], ['sleep', 'hang', 'before'])
    need(got['end'][0]['text'] == 'M-mode, [no task], sleep', f'{got["end"]}')
    need(not {'loop', 'exception', 'interrupt'} & set(got), f'{got}')
    same(got['sleeps'][0]['text'], f'wfi at {guest.at["sleep"]:#x}, sleep')


tests = [
    ('hung: spins', test_spins),
    ('hung: exceptions', test_storm),
    ('hung: sleeps', test_sleeps),
    ('hung: each has a lock', test_deadlock),
    ('hung: waits for another hart', test_waits),
    ('hung: takes its own lock', test_itself),
    ('hung: another one sleeps with the lock', test_sleeper),
]
