# SPDX-License-Identifier: GPL-2.0-or-later
#
# Guests that hang: see hung.S

import re

import tap
from asked import OUT, QEMU, Guest, same
from machine import Machine
from symbols import addresses
from tap import need


def hung(folder, kind, ticks):
    """
    The guest that hangs like that, when its handler has run so often, and what
    is said of it: rows by what they are about
    """
    guest = Guest.__new__(Guest)
    guest.folder, guest.elf = folder, f'{OUT}/hung.{kind}.elf'
    guest.at = addresses(guest.elf)
    with Machine(folder, [
            QEMU, '-M', 'virt,trace=on,trace-chardev=tr,trace-sideband=sb,'
            'trace-autostart=on', '-cpu', 'rv64', '-m', '128M', '-bios',
            'none', '-kernel', guest.elf], '-chardev',
            f'file,id=tr,path={folder}/trace', '-chardev',
            f'file,id=sb,path={folder}/sideband', uart='null') as machine:
        machine.cont()
        look = f'xp /1gx {guest.at["ticks"]:#x}'
        tap.until(lambda: int(machine.hmp(look).split(': ')[1], 16) >= ticks,
                  'the guest does not come so far')
        if kind == 3:
            # behind wfi
            pc = f'{guest.at["sleep"] + 4:016x}'
            tap.until(lambda: pc in machine.hmp('info registers'),
                      'the guest does not sleep')
        machine.quit()
    by_what = {}
    for row in guest.answer('why-hung')['rows']:
        by_what.setdefault(row['what'], []).append(row)
    return guest, by_what


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


def test_storm(folder):
    guest, got = hung(folder, 2, 5000)
    row, = got['exception']
    need(row['count'] >= 5000 and
         f'illegal instruction 2 at {guest.at["fault"]:#x}, hang' in
         row['text'], f'{row}')
    need(got['loop'][0]['text'].endswith(f'handler ({guest.at["handler"]:#x})'),
         f'{got["loop"]}')


def test_sleeps(folder):
    _, got = hung(folder, 3, 1)
    same(got['stack'][0]['text'].split(' > ')[-2:], ['hang', 'sleep'])
    same([row['text'] for row in got['call']][:3], ['sleep', 'hang', 'before'])
    need(got['end'][0]['text'] == 'M-mode, [no task], sleep', f'{got["end"]}')
    need(not {'loop', 'exception', 'interrupt'} & set(got), f'{got}')


tests = [
    ('hung: spins', test_spins),
    ('hung: exceptions', test_storm),
    ('hung: sleeps', test_sleeps),
]
