# SPDX-License-Identifier: GPL-2.0-or-later
#
# The pieces that programs are made of. Each is a function that writes text
# into a generator (program.py) and has a random number generator of its own,
# so that taking one away does not change the others.
#
# All may be run in any mode and address space, any number of times. They may
# change t0 to t6, a0 to a7, s2 to s7, s11, and ra, t0 as links; s10 is a
# random number of the guest's own. What may trap has s11 set to where it goes
# on.

KINDS = {}


def kind(function):
    KINDS[function.__name__] = function
    return function


NUMBERS = ('a0', 'a1', 'a2', 'a3', 'a4', 'a5', 's2', 's3', 't4', 't5')
SMALL = ('a0', 'a1', 'a2', 'a3', 'a4', 'a5')


def step(g):
    """The next random number"""
    g.put('\tslli t6, s10, 7', '\txor s10, s10, t6', '\tsrli t6, s10, 9',
          '\txor s10, s10, t6')


def alu(g, r, least=0, most=5):
    """A few instructions that do nothing of note, of both lengths"""
    for _ in range(r.randint(least, most)):
        a, b, c = (r.choice(NUMBERS) for _ in range(3))
        g.put(r.choice((
            f'\taddi {a}, {b}, {r.randint(-2048, 2047)}',
            f'\taddi {a}, {a}, {r.choice((1, 5, -7, 31))}',
            f'\tadd {a}, {b}, {c}', f'\txor {a}, {b}, {c}',
            f'\tmv {a}, {b}', f'\tli {a}, {r.randint(-32, 31)}',
            f'\tslli {a}, {a}, {r.randint(1, 20)}', f'\tmul {a}, {b}, {c}',
            f'\tlui {a}, {r.randint(1, 0xfffff)}',
            f'\tLX {a}, NOISE + {r.randrange(0, 256, 8)}(tp)',
            f'\tSX {a}, NOISE + {r.randrange(0, 256, 8)}(tp)',
            '\tnop', f'\tandi {r.choice(SMALL)}, {r.choice(SMALL)}, 15')))


KINDS['alu'] = lambda g, r: alu(g, r, 1, 12)


def branch(g, r, target):
    """
    To the label, or not: half of the times, or as chance has it. What follows
    is never the target, so that it can be known whether it was taken.
    """
    a, b = r.choice(SMALL), r.choice(SMALL)
    way = r.randrange(6)
    if way < 3:
        step(g)
        g.put(f'\tandi {a}, s10, {r.choice((1, 1, 3, 4, 12))}')
    if way in (0, 3):
        g.put(f'\tbeqz {a}, {target}')
    elif way in (1, 4):
        g.put(f'\tbnez {a}, {target}')
    else:
        g.put(f'\t{r.choice(("blt", "bge", "bltu", "bgeu", "beq", "bne"))} '
              f'{a}, {b}, {target}')
    alu(g, r, 1, 1)


@kind
def diamond(g, r):
    """Branches forward"""
    end = g.label()
    for _ in range(r.randint(1, 4)):
        other = g.label()
        branch(g, r, other)
        alu(g, r)
        if r.random() < .4:
            g.put(f'\tj {end}')
        g.put(f'{other}:')
        alu(g, r, 0, 2)
    g.put(f'{end}:')


@kind
def loop(g, r):
    """A loop in a loop, with branches"""
    outer, inner, out = g.label(), g.label(), g.label()
    g.put(f'\tli s4, {r.randint(1, 6)}', f'{outer}:',
          f'\tli s5, {r.randint(1, 40)}', f'{inner}:')
    alu(g, r, 0, 3)
    for _ in range(r.randint(0, 2)):
        skip = g.label()
        branch(g, r, skip)
        alu(g, r, 0, 2)
        g.put(f'{skip}:')
    if r.random() < .3:
        branch(g, r, out)
    g.put('\taddi s5, s5, -1', f'\tbgtz s5, {inner}', f'{out}:',
          '\taddi s4, s4, -1', f'\tbgtz s4, {outer}')


def callee(g, r):
    count = len(g.program['functions'])
    if g.function + 1 >= count:
        return None
    return f'function_{r.randrange(g.function + 1, count)}'


@kind
def call(g, r):
    """A function, by one of the ways to call"""
    name = callee(g, r)
    if not name:
        return alu(g, r)
    way = r.randrange(5)
    reg = r.choice(('t0', 't1', 't3', 'a0', 's2'))
    if way == 0:
        g.put(f'\tcall {name}')         # auipc and jalr
    elif way == 1:
        g.put(f'\tjal {name}')
    elif way == 2:
        g.put(f'\tla {reg}, {name}')
        alu(g, r, 0, 2)
        g.put(f'\tjalr {reg}')
    elif way == 3:
        g.put(f'\tla {reg}, {name} - 16', f'\tjalr ra, 16({reg})')
    else:
        skip = g.label()
        branch(g, r, skip)
        g.put(f'\tjal {name}', f'{skip}:')
    return None


@kind
def leaf(g, r):
    """A function of its own, with x1 or x5 as its link, called some times"""
    entry, over = g.label('leaf'), g.label()
    link = r.choice(('ra', 't0'))
    g.put(f'\tj {over}')
    g.put('\t.balign 4' if g.machine['zicfilp'] else '')
    g.put(f'{entry}:')
    g.landing()
    alu(g, r, 0, 4)
    if r.random() < .5:
        skip = g.label()
        branch(g, r, skip)
        g.put(f'\tjr {link}', f'{skip}:')
        alu(g, r, 0, 3)
    g.put(f'\tjr {link}', f'{over}:')
    for _ in range(r.randint(1, 3)):
        if r.random() < .6:
            g.put(f'\tjal {link}, {entry}')
        else:
            g.put(f'\tla t3, {entry}', f'\tjalr {link}, t3')
        alu(g, r, 0, 2)


@kind
def recursion(g, r):
    """Deeper than return stacks are"""
    entry, out, over = g.label('rec'), g.label(), g.label()
    g.put(f'\tj {over}', f'{entry}:', '\taddi sp, sp, -16', '\tSX ra, 0(sp)',
          '\taddi s4, s4, -1', f'\tbltz s4, {out}', f'\tjal {entry}')
    if r.random() < .5:
        alu(g, r, 0, 3)
    g.put(f'{out}:', '\tLX ra, 0(sp)', '\taddi sp, sp, 16', '\tret',
          f'{over}:', f'\tli s4, {r.choice((1, 3, 9, 40))}', f'\tjal {entry}')


@kind
def swap(g, r):
    """Two co-routines that swap, by jalr x1, x5 and x5, x1"""
    there, back, over = g.label('co'), g.label(), g.label()
    first, second = r.choice((('ra', 't0'), ('t0', 'ra')))
    g.put(f'\tla {second}, {there}', f'\tj {over}')
    g.landing()
    g.put(f'{there}:')
    g.landing()
    for _ in range(2):
        alu(g, r, 0, 2)
        g.put(f'\tjalr {second}, {first}')
        g.landing()
    g.put(f'\tj {back}', f'{over}:', f'\tli s4, {r.randint(1, 2)}')
    for _ in range(2):
        g.put(f'\tjalr {first}, {second}')
        g.landing()
        alu(g, r, 0, 2)
    g.put(f'{back}:')


@kind
def inferable(g, r):
    """A jump right behind what loads its register"""
    target = g.label()
    here = g.label()
    reg = r.choice(('t1', 't2', 't3', 'a0'))
    link = r.choice(('x0', 'x0', 'ra', 't0', 'a1'))
    g.put('\t.option push', '\t.option norvc', f'{here}:',
          f'\tauipc {reg}, %pcrel_hi({target})',
          f'\tjalr {link}, %pcrel_lo({here})({reg})', '\t.option pop')
    alu(g, r, 0, 3)
    if r.random() < .3:
        g.put(f'\tLX {reg}, NOISE(tp)')
    g.landing()
    g.put(f'{target}:')
    g.landing()


@kind
def lui_jump(g, r):
    """lui and a jump: into nowhere, but in RV32 and one window"""
    target, after = g.label(), g.label()
    g.put(f'\tla s11, {after}')
    if g.rv32:
        g.put('\t.option push', '\t.option norvc', f'\tlui t1, %hi({target})',
              f'\tjalr x0, %lo({target})(t1)', '\t.option pop')
    else:
        # 0x40150: flip_p in window 1
        g.put(f'\tlui t1, {r.choice((0x40150, 0x400, 0x7ffff))}',
              '\tjalr t1')
    g.landing()
    g.put(f'{target}:')
    g.landing()
    g.put('\tnop', f'{after}:')


@kind
def table(g, r):
    """A table of jumps"""
    count = r.choice((2, 4, 8))
    name, end = g.label('table'), g.label()
    cases = [g.label('case') for _ in range(count)]
    reg = r.choice(('t2', 't3', 'a2', 's3'))
    step(g)
    g.put(f'\tandi t1, s10, {count - 1}', '\tslli t1, t1, 2',
          f'\tla t0, {name}', '\tadd t1, t1, t0', f'\tlw {reg}, 0(t1)',
          f'\tadd {reg}, {reg}, t0', f'\tjr {reg}', '\t.balign 4', f'{name}:')
    g.put(*(f'\t.word {case} - {name}' for case in cases))
    for case in cases:
        g.landing()
        g.put(f'{case}:')
        g.landing()
        alu(g, r, 0, 3)
        if r.random() < .8:
            g.put(f'\tj {end}')
    g.put(f'{end}:')


@kind
def page_end(g, r):
    """An instruction in two pages, or a page's end behind one"""
    if not g.pages_left:
        return alu(g, r)
    g.pages_left -= 1
    at = g.label()
    distance = r.choice((2, 2, 2, 4, 6, 8) if g.machine['c'] else (4, 8))
    g.put(f'\tj {at}', '\t.balign 4096', f'\t.space 4096 - {distance}',
          f'{at}:')
    way = r.randrange(4)
    if way == 0:
        branch(g, r, at + '_to')
    elif way == 1:
        g.put('\t.option push', '\t.option norvc', f'\tj {at}_to',
              '\t.option pop')
    else:
        g.put('\t.option push', '\t.option norvc', '\taddi a0, a0, 1',
              '\t.option pop')
    alu(g, r, 0, 3)
    g.put(f'{at}_to:')
    return alu(g, r, 0, 1)


# What traps, in some modes at least

def trap_text(g, r):
    """An instruction that traps, perhaps with what it needs before it"""
    choices = [
        ('\tecall',), ('\tecall',), ('\tebreak',), ('\t.word 0xffffffff',),
        ('\tcsrr t0, 0x7ff',), ('\tcsrw cycle, t0',), ('\tcsrr t0, mstatus',),
        ('\tcsrr t0, sstatus',), ('\tsfence.vma',), ('\tlw t0, 64(x0)',),
        ('\tsw t0, 64(x0)',), ('\tli t0, 0x400', '\tjr t0'),
        ('\tli t0, 0x406', '\tjalr t0'), ('\tla t0, hole', '\tlw a0, 0(t0)'),
        ('\tla t0, hole', '\tsw zero, 64(t0)'), ('\tla t0, hole', '\tjalr t0'),
        ('\tla t0, hole', '\tjr t0'),
        ('\tla t0, into_hole', '\tjalr t0'),
        ('\taddi t0, tp, NOISE + 2', '\tlr.w a0, (t0)'),
        ('\taddi t0, tp, NOISE + 1', '\tamoadd.w a0, a1, (t0)'),
        ('\tli t0, -8', '\tLX a0, 0(t0)'),
        ('\tli t0, 0x48000000', '\tamoswap.w a0, a1, (t0)'),
        ('\tli t0, 0x48000000', '\tjalr 3(t0)'),
    ]
    if g.machine['c']:
        choices += [('\t.hword 0', '\t.hword 0'), ('\t.hword 0x9002',)]
    else:
        choices += [('\tla t0, 1f + 2', '\tjr t0', '1:')]
    if not g.rv32:
        choices += [('\tli t0, 1', '\tslli t0, t0, 38', '\tjr t0'),
                    ('\tli t0, 1', '\tslli t0, t0, 60', '\tld a0, 0(t0)')]
    if g.machine['h']:
        choices += [('\tcsrr t0, hstatus',), ('\t.word 0x62000073',)]
    return r.choice(choices)


def at_recovery(g):
    """Where s11 leads is where indirect jumps may lead."""
    label = g.label('on')
    g.put(f'\tla s11, {label}', '\tli a7, 0')
    return label


@kind
def trap(g, r):
    """In the middle of a block, behind a label, a branch or a jump"""
    on = at_recovery(g)
    way = r.randrange(4)
    at = g.label()
    if way == 1:
        alu(g, r, 1, 4)
    elif way == 2:
        branch(g, r, at)
        alu(g, r, 0, 1)
        g.put(f'\tj {on}')
    elif way == 3:
        g.put(f'\tj {at}')
        g.put('\tnop')
    g.put(f'{at}:')
    g.put(*trap_text(g, r))
    if r.random() < .5:
        alu(g, r, 0, 2)
    g.put(f'{on}:')


@kind
def trap_loop(g, r):
    """The same trap some times, between branches"""
    again = g.label()
    g.put(f'\tli s4, {r.randint(2, 6)}', f'{again}:')
    on = at_recovery(g)
    if r.random() < .5:
        branch(g, r, on)
    g.put(*trap_text(g, r), f'{on}:')
    g.put('\taddi s4, s4, -1', f'\tbgtz s4, {again}')


@kind
def atomics(g, r):
    """lr and sc until it works (a few times), amo"""
    again, end = g.label(), g.label()
    g.put(r.choice(('\tla t0, shared_data + 128', '\taddi t0, tp, NOISE')))
    # la gives the window's address, where data need not be writable in S-mode
    g.put(f'\tla s11, {end}', '\tli s4, 8', f'{again}:', '\tlr.w t1, (t0)')
    if r.random() < .5:
        g.put('\taddi t1, t1, 1')
    g.put('\tsc.w t2, t1, (t0)', '\taddi s4, s4, -1', f'\tblez s4, {end}',
          f'\tbnez t2, {again}')
    for _ in range(r.randint(0, 3)):
        op = r.choice(('amoadd', 'amoswap', 'amoxor', 'amomaxu'))
        g.put(f'\t{op}.w{r.choice(("", ".aq", ".aqrl"))} a0, a1, (t0)')
    g.put(f'{end}:')


@kind
def floats(g, r):
    if g.machine['zc']:
        return alu(g, r)
    g.put('\tfcvt.d.w fa0, a0', '\tfcvt.d.w fa1, a1')
    for _ in range(r.randint(1, 4)):
        g.put('\t' + r.choice((
            'fadd.d fa2, fa0, fa1', 'fmul.d fa0, fa2, fa1',
            'fdiv.d fa1, fa0, fa2', 'feq.d a0, fa0, fa1', 'fsqrt.d fa2, fa0',
            'fsd fa0, NOISE(tp)', 'fld fa1, NOISE(tp)')))
    if r.random() < .3:
        skip = g.label()
        g.put('\tflt.d a0, fa0, fa1', f'\tbeqz a0, {skip}', '\tnop',
              f'{skip}:')
    return None


@kind
def vector(g, r):
    """Loads and stores of vectors, which may fault in the middle"""
    if not g.machine['v']:
        return alu(g, r)
    on = at_recovery(g)
    g.put(f'\tli t1, {r.choice((1, 4, 16, 64))}',
          f'\tvsetvli t2, t1, {r.choice(("e8", "e32", "e64"))}, '
          f'{r.choice(("m1", "m4"))}, ta, ma')
    g.put(r.choice(('\taddi t0, tp, NOISE', '\tla t0, hole - 12',
                    '\tla t0, hole - 4', '\tli t0, 0x87fffffc')))
    # whatever is executed of what is stored there is illegal
    g.put('\tvmv.v.i v8, 0',
          '\t' + r.choice(('vle32.v v8, (t0)', 'vle64.v v8, (t0)',
                           'vle8ff.v v8, (t0)', 'vse32.v v8, (t0)',
                           'vlse32.v v8, (t0), t1', 'vadd.vv v8, v8, v12')))
    alu(g, r, 0, 2)
    g.put(f'{on}:', '\tcsrr t0, vstart' if r.random() < .2 else '\tnop')
    return None


# Interrupts

@kind
def timer(g, r):
    """A timer interrupt soon"""
    ticks = r.choice((0, 1, 3, 10, 40, 200))
    g.service('\tLX t0, TIMECMP(tp)', '\tli t1, CLINT_MTIME',
              '\tlw t2, 0(t1)', '\tlw t1, 4(t1)', f'\taddi t2, t2, {ticks}',
              '\tsw t1, 4(t0)', '\tsw t2, 0(t0)')
    alu(g, r)


@kind
def software(g, r):
    """A software interrupt: this hart's, the next one's, S or VS"""
    way = r.randrange(4)
    if way == 0:
        g.service('\tLX t0, MSIP(tp)', '\tli t1, 1', '\tsw t1, 0(t0)')
    elif way == 1:
        g.service('\tLX t0, NEXT_MSIP(tp)', '\tli t1, 1', '\tsw t1, 0(t0)')
    elif way == 2 or not g.machine['h']:
        g.service('\tcsrsi mip, MIP_SSIP')
    else:
        g.service('\tli t0, 4', '\tcsrw hvip, t0')
    alu(g, r)


@kind
def sleep(g, r):
    """wfi: in M-mode until the timer is due, elsewhere as the mode has it"""
    if r.random() < .5:
        g.service('\tcsrr a0, mie', '\tjal nap', '\tcsrw mie, a0')
    else:
        on = at_recovery(g)
        g.service('\tLX t0, MSIP(tp)', '\tli t1, 1', '\tsw t1, 0(t0)')
        # the interrupt is pending or was taken: it must not wait for good
        g.service('\tLX t0, TIMECMP(tp)', '\tsw zero, 0(t0)',
                  '\tsw zero, 4(t0)')
        g.put(f'{on}:')


@kind
def fences(g, r):
    on = at_recovery(g)
    g.put(*r.sample(('\tfence.i', '\tfence', '\tsfence.vma',
                     '\t.word 0x0100000f',
                     '\tsfence.vma tp'), r.randint(1, 3)), f'{on}:')
