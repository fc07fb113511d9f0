# SPDX-License-Identifier: GPL-2.0-or-later
#
# Random programs that use their stacks in all ways. Each piece of text has the
# call frame information that is right for it, so that the true stack is known
# by construction at each instruction; see frames.c.
#
# Functions preserve s0 to s2 and sp. s10 is a random number of the program's
# own, tp the coroutine that runs. random.S has what is the same in all programs.

import random

COROUTINES = 4
FUNCTIONS = 24          # each calls only those behind it
DEPTH = 40              # of a function that calls itself

# Fields of a coroutine, in words; random.S has them, too
SP, PC, S0, S1, S2, CATCH, FIELDS = range(7)
# ... and of a place to which others jump back
CATCH_OUTER, CATCH_PC, CATCH_SP, CATCH_S0, CATCH_S1, CATCH_S2 = range(6)


class Function:
    """The text of one; @level: it calls those behind that"""

    def __init__(self, program, name, level, link='ra'):
        self.program = program
        self.random = program.random
        self.name = name
        self.level = level
        self.link = link
        self.text = []
        self.saved = []         # what end() has to undo, in reverse
        self.catching = False
        self.recursive = False

    def put(self, *lines):
        self.text += [f'\t{line}' if line[-1] != ':' else line
                      for line in lines]

    def label(self):
        return self.program.label()

    def step(self):
        """The next random number"""
        self.put('slli t6, s10, 7', 'xor s10, s10, t6', 'srli t6, s10, 9',
                 'xor s10, s10, t6')

    def maybe(self, one_of, target):
        """Jump there, but once in so often"""
        self.step()
        self.put(f'andi t6, s10, {one_of - 1}', f'bnez t6, {target}')

    def work(self):
        for _ in range(self.random.randint(0, 4)):
            self.put(self.random.choice((
                'addi a0, a0, 1', 'nop', 'xor a1, a0, a1', 'li t3, 77',
                'mul a2, a0, a1')))

    # How functions begin and end

    def begin(self):
        """Prologue"""
        self.put('.balign 4' if self.random.random() < .5 else '.balign 2',
                 f'.globl {self.name}', f'.type {self.name}, @function',
                 f'{self.name}:', '.cfi_startproc')
        if self.link != 'ra':
            self.put('.cfi_return_column 5')
        self.work()

    def frame(self):
        """Make it possible to call others"""
        size = 16 * self.random.randint(4, 8)
        way = self.random.choice(('stack', 'stack', 'register', 'pointer',
                                  'pieces', 'millicode'))
        if way == 'millicode':
            self.put('jal t0, millicode_save')
            self.put('.cfi_def_cfa_offset 64')
            for i, reg in enumerate(('ra', 's0', 's1', 's2'), 1):
                self.put(f'.cfi_offset {reg}, -{i} * XBYTES')
            self.saved = [(way, 64)]
            return
        self.put(f'addi sp, sp, -{size}', f'.cfi_def_cfa_offset {size}')
        self.work()
        offset = size

        def save(reg):
            nonlocal offset
            offset -= 8
            self.put(f'SX {reg}, {offset}(sp)',
                     f'.cfi_offset {reg}, {offset - size}')
            return offset

        if way == 'register':
            at = save('s1')
            self.put('mv s1, ra', '.cfi_register ra, s1')
            self.saved = [(way, size, at)]
        elif way == 'pointer':
            at = save('ra'), save('s0')
            self.put(f'addi s0, sp, {size}', '.cfi_def_cfa s0, 0',
                     'andi t6, s10, 0x70', 'sub sp, sp, t6')
            self.saved = [(way, size, *at)]
        elif way == 'pieces':
            at = [save('s2')]
            self.work()
            at.append(save('ra'))
            self.saved = [(way, size, *at)]
        else:
            self.saved = [(way, size, save('ra'))]

    def unframe(self):
        """Undo that; the rest of the text may still be of the frame"""
        way, size, *at = self.saved[0]

        def load(reg, offset):
            self.put(f'LX {reg}, {offset}(sp)', f'.cfi_restore {reg}')

        if way == 'register':
            self.put('mv ra, s1', '.cfi_restore ra')
            load('s1', at[0])
        elif way == 'pointer':
            self.put(f'addi sp, s0, -{size}', f'.cfi_def_cfa sp, {size}')
            load('ra', at[0])
            load('s0', at[1])
        elif way == 'pieces':
            load('ra', at[1])
            self.work()
            load('s2', at[0])
        elif way == 'millicode':
            for i, reg in enumerate(('ra', 's0', 's1', 's2'), 1):
                load(reg, f'64 - {i} * XBYTES')
        else:
            load('ra', at[0])
        self.put(f'addi sp, sp, {size}', '.cfi_def_cfa_offset 0')

    def leave(self):
        """Return, or call a last function, from within the text"""
        self.put('.cfi_remember_state')
        millicode = self.saved and self.saved[0][0] == 'millicode'
        behind = self.random.randint(min(self.level + 1, FUNCTIONS), FUNCTIONS)
        last = f'{self.program.prefix}function_{behind}'
        if self.saved and self.random.random() < .3:
            self.unframe()
            self.put(*self.random.choice((
                (f'j {last}',),
                (f'la t1, {last}', 'jr t1'),
                (f'la a5, {last}', 'jr a5'),
                (f'tail {last}',))))
        elif millicode and self.random.random() < .7:
            self.put('j millicode_restore')
        else:
            if self.saved:
                self.unframe()
            # To the same function, jumps by other registers are none that return.
            other = 'a5' if not self.recursive else self.link
            self.put(*self.random.choice((
                (f'jr {self.link}',), (f'jr {self.link}',),
                (f'mv {other}, {self.link}', f'jr {other}'))))
        self.put('.cfi_restore_state')

    def end(self):
        self.leave()
        self.put('.cfi_endproc', f'.size {self.name}, . - {self.name}')

    # What they do

    def call(self):
        behind = self.random.randrange(self.level + 1, FUNCTIONS + 1)
        name = f'{self.program.prefix}function_{behind}'
        reg = self.random.choice(('t1', 't0', 'a5', 's2'))
        if reg == 's2' and self.saved[0][0] not in ('pieces', 'millicode'):
            reg = 't3'
        self.put(*self.random.choice((
            (f'jal {name}',), (f'call {name}',),
            (f'la {reg}, {name}', f'jalr {reg}'))))

    def call_linked(self):
        """By t0, which leaves no trace in ra"""
        name = f'{self.program.prefix}linked_{self.random.randrange(4)}'
        self.put(*self.random.choice((
            (f'jal t0, {name}',), (f'la t1, {name}', 'jalr t0, t1'))))

    def call_self(self):
        skip = self.label()
        self.maybe(2, skip)
        self.put(f'li a7, {self.random.randint(1, DEPTH)}',
                 f'call {self.program.prefix}recursion_{self.random.randrange(3)}', f'{skip}:')

    def trap(self):
        self.put('.option push', '.option norvc',
                 self.random.choice(('ecall', 'unimp', 'LX t5, 0(zero)')),
                 '.option pop')

    def loop(self):
        """Some calls several times; the counter is on the stack"""
        again = self.label()
        self.put(f'li t6, {self.random.randint(1, 4)}', 'SX t6, 0(sp)',
                 f'{again}:')
        self.random.choice((self.call, self.call_linked, self.work))()
        self.put('LX t6, 0(sp)', 'addi t6, t6, -1', 'SX t6, 0(sp)',
                 f'bgtz t6, {again}')

    def skip(self):
        """Something only now and then"""
        end = self.label()
        self.maybe(2, end)
        self.random.choice((self.call, self.trap, self.leave))()
        self.put(f'{end}:')

    def throw(self):
        """To the innermost place that catches, if there is one"""
        end = self.label()
        self.maybe(8, end)
        self.put(f'LX t2, {CATCH} * XBYTES(tp)', f'beqz t2, {end}',
                 f'{self.random.choice(("call", "j"))} '
                 f'throw_{self.random.randrange(3)}_switching', f'{end}:')

    def catch(self):
        """Others may jump to a place in this one, until that is over."""
        if self.catching or self.saved[0][0] == 'pointer':
            return
        self.catching = True
        landing = self.label()
        self.put('addi sp, sp, -64',
                 '.cfi_adjust_cfa_offset 64',
                 f'LX t2, {CATCH} * XBYTES(tp)',
                 f'SX t2, {CATCH_OUTER} * XBYTES(sp)',
                 f'la t2, {landing}', f'SX t2, {CATCH_PC} * XBYTES(sp)',
                 f'SX sp, {CATCH_SP} * XBYTES(sp)',
                 f'SX s0, {CATCH_S0} * XBYTES(sp)',
                 f'SX s1, {CATCH_S1} * XBYTES(sp)',
                 f'SX s2, {CATCH_S2} * XBYTES(sp)',
                 f'SX sp, {CATCH} * XBYTES(tp)')
        self.call()
        self.work()
        self.call()
        self.put(f'{landing}:', f'LX t2, {CATCH_OUTER} * XBYTES(sp)',
                 f'SX t2, {CATCH} * XBYTES(tp)', 'addi sp, sp, 64',
                 '.cfi_adjust_cfa_offset -64')

    def change(self):
        """Another coroutine goes on, or this one."""
        end = self.label()
        self.maybe(4, end)
        self.put(f'call {self.program.prefix}change_{self.random.randrange(3)}', f'{end}:')

    def body(self):
        for _ in range(self.random.randint(1, 6)):
            self.random.choices(
                (self.work, self.call, self.call_linked, self.call_self,
                 self.trap, self.loop, self.skip, self.throw, self.catch,
                 self.change),
                (3, 6, 2, 1, 2, 2, 3, 1, 1, 2))[0]()
            self.work()


class Program:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.number = 0
        self.prefix = ''

    def label(self):
        self.number += 1
        return f'.L{self.number}'

    def function(self, name, level):
        f = Function(self, name, level)
        f.begin()
        if level < FUNCTIONS - 4 or self.random.random() < .3:
            if level < FUNCTIONS:
                if self.random.random() < .3:
                    skip = f.label()
                    f.maybe(2, skip)
                    f.leave()
                    f.put(f'{skip}:')
                f.frame()
                f.body()
        f.end()
        return f.text

    def recursion(self, name):
        """It calls itself a7 times."""
        f = Function(self, name, FUNCTIONS - 1)
        f.recursive = True
        out = f.label()
        f.begin()
        f.frame()
        f.put('addi a7, a7, -1', f'bltz a7, {out}')
        f.work()
        f.put(f'call {name}' if self.random.random() < .5 else f'jal {name}')
        f.work()
        f.put(f'{out}:')
        if self.random.random() < .5:
            f.call_linked()
        f.end()
        return f.text

    def linked(self, name):
        f = Function(self, name, FUNCTIONS, 't0')
        f.begin()
        f.work()
        f.end()
        return f.text

    def changer(self, name):
        """A function that changes coroutines, by some jump"""
        f = Function(self, name, FUNCTIONS)
        reg = self.random.choice(('t1', 'a5', 't0', 'ra', 'ra'))
        kept = (('ra', PC), ('sp', SP), ('s0', S0), ('s1', S1), ('s2', S2))
        f.begin()
        f.put(*(f'SX {reg}, {at} * XBYTES(tp)' for reg, at in kept))
        f.put('la t2, coroutines', f'andi t3, s10, {(COROUTINES - 1) << 5}',
              'srli t3, t3, 5', f'li t4, {FIELDS} * XBYTES', 'mul t3, t3, t4',
              'add tp, t2, t3', f'{name}_switching:')
        f.put(*(f'LX {reg}, {at} * XBYTES(tp)' for reg, at in kept[1:]),
              f'LX {reg}, {PC} * XBYTES(tp)', f'jr {reg}', '.cfi_endproc',
              f'.size {name}, . - {name}')
        return f.text

    def root(self, name):
        """A coroutine, which never returns"""
        f = Function(self, name, -1)
        f.put(f'.globl {name}', f'.type {name}, @function', f'{name}:',
              '.cfi_startproc', 'addi sp, sp, -16', '.cfi_def_cfa_offset 16',
              'SX ra, 8(sp)', '.cfi_offset ra, -8')
        again = f.label()
        f.saved = [('stack', 16)]
        f.put(f'{again}:')
        f.call()
        f.put(f'call {self.prefix}change_0')
        f.call()
        f.call()
        f.put(f'j {again}', '.cfi_endproc', f'.size {name}, . - {name}')
        return f.text

    def text(self):
        """Assembly, to go with random.S"""
        lines = ['#include "function.inc"', '.text', '.cfi_sections .debug_frame']
        for k in range(COROUTINES):
            # No two coroutines wait at the same address.
            self.prefix = f'own{k}_'
            for i in range(FUNCTIONS + 1):
                lines += self.function(f'{self.prefix}function_{i}', i)
            for i in range(3):
                lines += self.recursion(f'{self.prefix}recursion_{i}')
                lines += self.changer(f'{self.prefix}change_{i}')
            for i in range(4):
                lines += self.linked(f'{self.prefix}linked_{i}')
            lines += self.root(f'coroutine_{k}')
        return '\n'.join(lines) + '\n'
