# SPDX-License-Identifier: GPL-2.0-or-later
#
# Random programs of user mode: of the pieces that the machines' random guests
# are made of (tests-tcg-riscv64/random), those that need no privilege, and of
# system calls, signals, threads and mappings.

import random

import program
from elements import alu, at_recovery, kind

# How often each kind of element is chosen
WEIGHTS = {
    'alu': 6, 'diamond': 8, 'loop': 5, 'call': 9, 'leaf': 6, 'recursion': 2,
    'swap': 4, 'inferable': 5, 'lui_jump': 1, 'table': 5, 'page_end': 4,
    'trap': 6, 'trap_loop': 2, 'atomics': 3, 'floats': 2, 'vector': 2,
    'fences': 2, 'patch': 4, 'call_slot': 4,
    'user_call': 3, 'user_signal': 4, 'user_flip': 3, 'user_flips': 3,
    'user_protect': 2,
    'user_jit': 3, 'user_spawn': 2, 'user_fork': 1,
}

# In the thread's area (runtime.c): where its loop goes on
RESUME = 192

WAYS = {'join': 0, 'group': 1, 'crash': 2}

MODES = ('implicit-exception', 'sequential-jump', 'implicit-return',
         'branch-prediction', 'jump-target-cache', 'full-address')


def helper(name):
    """An element that calls this function of runtime.c"""
    def element(g, r):
        on = at_recovery(g)
        g.put(f'\tli a0, {r.getrandbits(20)}', f'\tcall {name}', f'{on}:')
        alu(g, r, 0, 2)
    element.__name__ = name
    kind(element)


for helper_name in ('user_call', 'user_signal', 'user_protect', 'user_jit',
                    'user_spawn', 'user_fork'):
    helper(helper_name)


@kind
def user_flips(g, r, *first):
    """Code in pages that exchange their places, or cannot be executed now"""
    on = at_recovery(g)
    g.put(*first)
    for _ in range(r.randint(1, 3)):
        g.put(f'\tcall {r.choice(("flip_p", "flip_q"))}')
    g.put(f'{on}:')


@kind
def user_flip(g, r):
    """They exchange their places; then what is there now runs."""
    user_flips(g, r, f'\tli a0, {r.getrandbits(20)}', '\tcall user_flip')


class Generator(program.Generator):
    """A program with a thread for each hart"""

    def service(self, *_):
        """There is no mode that could do it: the other threads may run."""
        self.put('\tli a7, 124', '\tecall')

    def thread(self, name, regions):
        """Text of what a thread does"""
        put = self.put
        put('\t.balign 4', f'{name}:')
        for index, region in enumerate(regions):
            label = f'{name}_{index}'
            put(f'\tli s10, {region["random"]:#x}', f'\tli t0, {region["loops"]}',
                '\tSX t0, COUNT(tp)', f'loop_{label}:',
                '\tli sp, STACK - 16', '\tadd sp, sp, tp',
                f'\tla s11, next_{label}', f'\tSX s11, {RESUME}(tp)')
            self.elements(region['elements'])
            put(f'next_{label}:', '\tLX t0, COUNT(tp)', '\taddi t0, t0, -1',
                '\tSX t0, COUNT(tp)', '\tblez t0, 1f', f'\tj loop_{label}',
                '1:')
        put('\tj thread_done')

    def generate(self):
        put = self.put
        put('#include "runtime.inc"', '\t.section .text.program, "ax"',
            '\t.option norelax')
        for index, function in enumerate(self.program['functions']):
            self.function_text(index, function)
        self.function = -1
        for number, regions in enumerate(self.program['harts']):
            self.thread(f'main_{number}', regions)
        put('\t.globl spawned')
        self.thread('spawned', self.program['spawned'])
        count = len(self.program['functions'])
        put('\t.section .rodata', '\t.balign 8',
            '\t.globl mains, functions, function_count', 'mains:')
        put(*(f'\tXWORD main_{number}'
              for number in range(self.machine['harts'])))
        # entry.S counts in steps of 8
        put('\t.balign 8', 'functions:')
        for index in range(count):
            put(f'\tXWORD function_{index}', '\t.balign 8')
        put('function_count:', f'\t.word {count}')
        put('\t.globl hole')
        self.tail()
        return '\n'.join(self.text) + '\n'


def elements(r, least, most, weights):
    return [[name, r.randrange(1 << 32)] for name in
            r.choices(list(weights), list(weights.values()),
                      k=r.randint(least, most))]


def region(r, weights, loops):
    return {'random': r.getrandbits(31), 'loops': r.choice(loops),
            'elements': elements(r, 3, 14, weights)}


def modes(r):
    way = r.randrange(4)
    if way == 0:
        return 'all'
    return '+'.join(mode for mode in MODES if r.random() < .4) or 'baseline'


def make(seed, xlen, long=1):
    """The case of a seed; long: how often its loops are run"""
    r = random.Random(seed)
    machine = {
        'xlen': xlen, 'c': r.random() < .85, 'harts': r.choice((1, 1, 2, 3, 5)),
        'h': False, 'v': r.random() < .3, 'ctr': False, 'software': False,
        'triggers': False, 'zc': xlen == 64 and r.random() < .1,
        'zicfilp': False, 'modes': modes(r),
        'way': r.choice(('join', 'join', 'join', 'group', 'crash')),
        'timer': r.random() < .4, 'one_insn': r.random() < .15,
        'small': r.random() < .15, 'times': r.random() < .2,
        'data': r.random() < .15,
    }
    if machine['zc']:
        machine.update(c=True, v=False)
    weights = dict(WEIGHTS)
    if machine['zc']:
        weights['table_jump'] = 6
    if not machine['c']:
        # Jumps to half an instruction are traps that QEMU 10.0 ends at.
        del weights['trap'], weights['trap_loop']
    functions = [{'align': r.choice((2, 4, 16)),
                  'elements': elements(r, 2, 7, weights)}
                 for _ in range(r.randint(3, 7))]
    loops = [n * long for n in (10, 50, 200)]
    return {'seed': seed, 'machine': machine, 'program': {
        'functions': functions, 'slots': r.randint(1, 4),
        'harts': [[region(r, weights, loops) for _ in range(r.randint(1, 5))]
                  for _ in range(machine['harts'])],
        'spawned': [region(r, weights, (1, 5))]}}


def cpu(machine):
    text = f'rv{machine["xlen"]},v={"on" if machine["v"] else "off"}'
    if not machine['c']:
        text += ',c=off'
    if machine['zc']:
        text += ',d=off,zcmp=on,zcmt=on'
    return text
