# SPDX-License-Identifier: GPL-2.0-or-later
#
# From a case's program, which is a tree of elements, to assembly: see
# elements.py for what elements are, runtime.S for what stands around them.

import random

import elements
import elements_system  # adds kinds; pylint: disable=unused-import
import elements_trace   # so does it; pylint: disable=unused-import

BASE = 0x80000000
TABLES = 0x80160000
DATA = 0x80180000

# Page tables, in pages of TABLES. The roots of the G-stages take four.
ROOT_A, ROOT_B, ROOT_G, L0_S, L0_U, L0_U2 = 0, 1, 4, 8, 9, 10
L1_S, L1_U, L1_U2, L1_LARGE, L1_G, L0_G = 11, 12, 13, 14, 15, 16
L1_G2, L0_G2, ROOT_G2 = 17, 18, 20
TABLE_PAGES = 24

V, R, W, X, U, A, D = 1, 2, 4, 8, 16, 64, 128
LEAF = V | R | W | X | A | D

# Windows: the program as a whole is seen in several GiB of an address space.
S_WINDOWS, U_WINDOWS = (1, 2), (3, 4, 5)
IDENTITY = 2

# Pages of code from FIRST_FIXED on: two that can exchange their places, and one
# that is in no address space.
FIRST_FIXED = 0x150
FIXED = ('flip_p', 'flip_q', 'before_hole', 'hole')

M, S, USER, VS, VU = 'M', 'S', 'U', 'VS', 'VU'
PRIVILEGE = {M: 3, S: 1, USER: 0, VS: 5, VU: 4}


def table(page):
    return TABLES + page * 4096


def pointer(page):
    return table(page) >> 2 | V


def fixed_page(name):
    return FIRST_FIXED + FIXED.index(name)


def page_tables():
    """Content of each table page: {page: {index: entry}}"""
    pages = {page: {} for page in range(TABLE_PAGES)}
    swap = {fixed_page('flip_p'): fixed_page('flip_q'),
            fixed_page('flip_q'): fixed_page('flip_p')}
    for i in range(512):
        if i == fixed_page('hole'):
            continue
        data = U if BASE + i * 4096 >= DATA else 0
        pages[L0_S][i] = (BASE >> 2) + (i << 10) | LEAF | data
        pages[L0_U][i] = (BASE >> 2) + (i << 10) | LEAF | U
        pages[L0_U2][i] = (BASE >> 2) + (swap.get(i, i) << 10) | LEAF | U
        pages[L0_G][i] = (BASE >> 2) + (i << 10) | LEAF | U
        pages[L0_G2][i] = (BASE >> 2) + (swap.get(i, i) << 10) | LEAF | U
    pages[L1_S][0] = pointer(L0_S)
    pages[L1_U][0] = pointer(L0_U)
    pages[L1_U2][0] = pointer(L0_U2)
    pages[L1_LARGE][0] = BASE >> 2 | LEAF | U
    pages[L1_G][0] = pointer(L0_G)
    pages[ROOT_A].update({1: pointer(L1_S), 2: pointer(L1_S),
                          3: pointer(L1_U), 4: BASE >> 2 | LEAF | U,
                          5: pointer(L1_LARGE)})
    pages[ROOT_B].update({1: pointer(L1_S), 2: pointer(L1_S),
                          3: pointer(L1_U2), 4: pointer(L1_U),
                          5: pointer(L1_U2)})
    pages[L1_G2][0] = pointer(L0_G2)
    pages[ROOT_G][2] = pointer(L1_G)
    pages[ROOT_G2][2] = pointer(L1_G2)
    return pages


SATP = {'bare': 0,
        'A': 8 << 60 | 1 << 44 | table(ROOT_A) >> 12,
        'B': 8 << 60 | 2 << 44 | table(ROOT_B) >> 12}
HGATP = {'bare': 0,
         'G': 8 << 60 | 1 << 44 | table(ROOT_G) >> 12,
         'G2': 8 << 60 | 2 << 44 | table(ROOT_G2) >> 12}


class Generator:
    """What elements write into: the text of the program"""

    def __init__(self, case):
        self.case = case
        self.machine = case['machine']
        self.program = case['program']
        self.text = []
        self.services = []
        self.number = 0
        self.mode = None            # None: in a function, any
        self.function = -1          # calls go to functions behind this one
        self.pages_left = 40        # that may be skipped
        self.dumps = 0              # copies of the CTR
        # code that is written: its name, and whether it is of short ones
        self.slots = [(f'slot_{i}', bool(i % 2) and self.machine['c'])
                      for i in range(self.program['slots'])]
        # changes one G-stage into the other
        self.other_stage = HGATP['G'] ^ HGATP['G2']
        # where the entries of flip_p are, those of flip_q behind them
        self.flip_entries = [table(page) + 8 * fixed_page('flip_p')
                             for page in (L0_S, L0_U, L0_U2, L0_G, L0_G2)]

    def label(self, name='L'):
        self.number += 1
        return f'{name}_{self.number}'

    def put(self, *lines):
        self.text += lines

    def service(self, *lines):
        """Text that calls these lines in M-mode: changes a7, s11"""
        label = self.label('service')
        self.services += [f'{label}:', *lines, '\tSERVICE_DONE']
        self.put(f'\tSERVICE({label})')

    def landing(self):
        """What indirect jumps may lead to begins so."""
        if self.machine['zicfilp']:
            self.put('\t.balign 4', '\t.word 0x17')

    @property
    def rv32(self):
        return self.machine['xlen'] == 32

    def random(self, seed):
        return random.Random(f'{self.case["seed"]}/{seed}')

    def elements(self, items):
        for item in items:
            self.element(item)

    def element(self, item):
        self.put(f'# {item[0]} {item[1]}')
        elements.KINDS[item[0]](self, self.random(item[1]))

    def function_text(self, index, function):
        self.function = index
        align = 4 if self.machine['zicfilp'] else function['align']
        self.put(f'\t.balign {align}', f'function_{index}:')
        self.landing()
        if self.machine['zc'] and index % 2:
            self.put('\t.hword 0xb852')         # cm.push {ra, s0}, -16
            self.elements(function['elements'])
            self.put(f'\t.hword {(0xbe52, 0xbc52)[index % 4 == 1]:#x}')
            return                              # cm.popret, cm.popretz
        self.put('\taddi sp, sp, -32', '\tSX ra, 0(sp)', '\tSX s1, 8(sp)')
        self.elements(function['elements'])
        self.put('\tLX ra, 0(sp)', '\tLX s1, 8(sp)', '\taddi sp, sp, 32')
        self.put('\tret')

    def region_text(self, hart, index, region):
        mode = region['mode']
        name = f'{hart}_{index}'
        self.mode = mode
        self.function = -1
        window = region['window'] if region['satp'] != 'bare' else IDENTITY
        delta = (window - IDENTITY) << 30
        virtual = mode in (VS, VU)
        put = self.put

        def csr(name, value):
            put(f'\tli t0, {value:#x}')
            if name in ('satp', 'vsatp', 'hgatp'):
                put(f'{self.label(f"context_{name}_{value:x}")}:')
            put(f'\tcsrw {name}, t0')

        put(f'region_{name}:', f'\tla t0, after_{name}',
            '\tSX t0, CONTINUE(tp)')
        csr('medeleg', region['medeleg'])
        csr('mideleg', region['mideleg'])
        csr('mie', region['mie'])
        csr('satp', 0 if virtual else SATP[region['satp']])
        if self.machine['h']:
            csr('hedeleg', region['hedeleg'])
            csr('hideleg', region['hideleg'])
            csr('vsatp', SATP[region['satp']] if virtual else 0)
            csr('hgatp', HGATP[region['hgatp']])
            put('\t.word 0x62000073', '\t.word 0x22000073')  # hfence.[gv]vma
        put('\tsfence.vma')
        # MIE, SIE by MPIE and SPIE
        put('\tli t0, 0x19aa', '\tcsrc mstatus, t0')
        status = region['sie'] * 0x22
        if mode == M:
            status |= 0x1800
        elif mode in (S, VS):
            status |= 0x900
        status |= region['mpie'] * 0x80
        put(f'\tli t0, {status:#x}', '\tcsrs mstatus, t0',
            f'\tla t0, body_{name}')
        if delta:
            put(f'\tli t1, {delta:#x}', '\tadd t0, t0, t1')
        put(f'\tli s10, {region["random"]:#x}', '\tli a7, 0')
        if virtual:
            # QEMU 10.0 does not let software write mstatus.MPV
            put('\tli t1, 0x80', '\tcsrs hstatus, t1',
                f'\tli t1, {region["sie"] * 2 + 0x46600:#x}',
                '\tcsrw vsstatus, t1', '\tcsrw sepc, t0', '\tsret')
        else:
            put('\tcsrw mepc, t0', '\tmret')
        put(f'body_{name}:', f'\tli t0, {region["loops"]}',
            '\tSX t0, COUNT(tp)', f'loop_{name}:')
        self.landing()
        # what traps and has not said where to go on
        put('\tli sp, STACK - 16', '\tadd sp, sp, tp',
            f'\tla s11, next_{name}')
        self.elements(region['elements'])
        put(f'next_{name}:', '\tLX t0, COUNT(tp)', '\taddi t0, t0, -1',
            '\tSX t0, COUNT(tp)', '\tblez t0, 1f', f'\tj loop_{name}', '1:')
        put('\tSERVICE(leave_region)', f'after_{name}:')

    def generate(self):
        put = self.put
        put('#include "runtime.inc"', '\t.section .text.program, "ax"',
            '\t.option norelax')
        for index, function in enumerate(self.program['functions']):
            self.function_text(index, function)
        for hart in range(self.machine['harts']):
            put('\t.balign 4', f'main_{hart}:')
            self.landing()
            regions = self.program['harts'][hart % len(self.program['harts'])]
            for index, region in enumerate(regions):
                self.region_text(hart, index, region)
            if self.machine['software'] and \
                    self.random(f'end of {hart}').random() < .5:
                # off for good, while others still change code that it ran
                self.element(['trace_off', hart])
            put('\tj park')
        put('# services')
        put(*self.services)
        put('\t.globl mains', '\t.balign 8', 'mains:')
        for hart in range(self.machine['harts']):
            put(f'\tXWORD main_{hart}', '\t.balign 8')
        self.tail()
        return '\n'.join(self.text) + '\n'

    def tail(self):
        put = self.put
        put('\t.section .text.slots, "ax"')
        for name, _ in self.slots:
            put('\t.balign 4', f'{name}:')
            self.landing()
            put('\t.option push', '\t.option norvc', f'{name}_code:',
                *['\taddi a0, a0, 1'] * 3, '\tnop', '\t.option pop', '\tret')
        put('\t.section .fixed, "ax"')
        for k, name in enumerate(('flip_p', 'flip_q')):
            put('\t.balign 4096', f'\t.globl {name}', f'{name}:')
            self.landing()
            for i in range(2 + 3 * k):
                put(f'\taddi a{k}, a{k}, {i + k}')
                if i % 2:
                    put(f'\txori a{k}, a{k}, {i}')
            put('\tret')
        put('\t.balign 4096', '\t.space 4096 - 6', 'into_hole:',
            '\taddi a0, a0, 1')
        if self.machine['c']:
            put('\t.option push', '\t.option norvc', '\taddi a0, a0, 2',
                '\t.option pop')
        else:
            put('\tnop')
        if self.machine['zc']:
            put('\t.section .data', '\t.balign 64', '\t.globl jump_table',
                'jump_table:', *(f'\tXWORD jump_{i % 4}' for i in range(256)),
                '\t.section .text.slots, "ax"')
            # cm.jt goes on at s11, cm.jalt behind itself
            put('jump_0:', '\taddi a0, a0, 1', 'jump_1:', '\tjr s11',
                'jump_2:', '\taddi a0, a0, 1', 'jump_3:', '\tret',
                '\t.section .fixed, "ax"')
        put('hole:', '\tnop', '\tjr s11', '\t.balign 4096')
        put('\t.section .tables, "aw"')
        if not self.rv32:
            for entries in page_tables().values():
                for i in range(512):
                    put(f'\t.dword {entries.get(i, 0):#x}')
