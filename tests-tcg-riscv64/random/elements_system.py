# SPDX-License-Identifier: GPL-2.0-or-later
#
# Elements that change code or mappings, and those of extensions

from elements import alu, at_recovery, kind

# Code and mappings that change

WORDS = (0x00150513, 0x7ff50513, 0x00050513, 0x80150513)    # addi a0, a0, n
HALVES = (0x0001, 0x0505, 0x4581, 0x157d, 0x8d2d)   # c.nop, c.addi, c.li, ...
SKIP = 0xa011                                       # c.j .+4


def slot_of(g, r):
    """A place for code that is written: any halves of it make sense."""
    return r.choice(g.slots) if g.slots else None


@kind
def patch(g, r):
    """Writes an instruction, on this hart, and calls it, on all of them"""
    slot = slot_of(g, r)
    if not slot:
        return alu(g, r)
    name, halves = slot
    place = 4 * r.randrange(3)
    on = at_recovery(g)
    if halves:
        word = r.choice(HALVES + (SKIP,)) | r.choice(HALVES) << 16
    else:
        word = r.choice(WORDS)
    for _ in range(r.randint(1, 2)):
        if r.random() < .5:
            g.put(f'\tcall {name}')
    g.put(f'\tla t0, {name}_code', f'\tli t1, {word:#x}',
          f'\tsw t1, {place}(t0)')
    if r.random() < .7:
        g.put('\tfence.i')
    if r.random() < .3:
        g.service('\tjal meet')
        g.put('\tfence.i')
    g.put(f'\tcall {name}', f'{on}:')
    return None


@kind
def call_slot(g, r):
    """Runs what this hart or another one has written"""
    slot = slot_of(g, r)
    if not slot:
        return alu(g, r)
    again = g.label()
    g.put(f'\tli s4, {r.choice((1, 3, 30))}', f'{again}:', f'\tcall {slot[0]}',
          '\taddi s4, s4, -1', f'\tbgtz s4, {again}')
    return None


@kind
def meet(g, r):
    """All harts wait for each other"""
    if g.machine['harts'] == 1:
        return alu(g, r)
    g.service('\tjal meet')
    return None


@kind
def flips(g, r):
    """Functions in pages that exchange places"""
    for _ in range(r.randint(1, 3)):
        g.put(f'\tcall {r.choice(("flip_p", "flip_q"))}')


@kind
def remap(g, r):
    """Exchanges two pages of an address space, and calls what is there"""
    if g.rv32:
        return alu(g, r)
    entry = r.choice(g.flip_entries)
    fence = r.choice(('\tsfence.vma', '\tsfence.vma', '\tsfence.vma x0, t0',
                      '\tla t0, flip_p\n\tsfence.vma t0', '\tnop'))
    if g.machine['h']:
        fence = r.choice((fence, '\t.word 0x62000073\n\t.word 0x22000073'))
    g.service(f'\tli t0, {entry:#x}', '\tld t1, 0(t0)', '\tld t2, 8(t0)',
              '\tsd t2, 0(t0)', '\tsd t1, 8(t0)', '\tli t0, 0', fence)
    return flips(g, r)


@kind
def other_stage(g, r):
    """The other G-stage, if there is one, where the two pages are exchanged"""
    if not g.machine['h'] or g.rv32:
        return alu(g, r)
    bare = g.label()
    fence = r.choice(('\tnop', '\t.word 0x62000073'))
    g.service('\tcsrr t0, hgatp', f'\tbeqz t0, {bare}',
              f'\tli t1, {g.other_stage:#x}', '\txor t0, t0, t1',
              f'{g.label(f"other_hgatp_{g.other_stage:x}")}:',
              '\tcsrw hgatp, t0', fence, f'{bare}:')
    return flips(g, r)


# Control transfer records

MCTRCTL, SCTRCTL, VSCTRCTL, SCTRSTATUS, SCTRDEPTH = (
    0x34e, 0x14e, 0x24e, 0x14f, 0x15f)
FILTERS = sum(1 << bit for bit in (33, 34, 35, 36, 37, 40, 41, 42, 43, 44, 45,
                                   46, 47))


def ctr_value(r):
    """For a control register"""
    value = sum(1 << mode for mode in range(3) if r.random() < .75)
    value |= r.getrandbits(10) & 0x300              # STE, MTE
    if r.random() < .25:
        value |= 1 << 7                             # RASEMU
    if r.random() < .15:
        value |= 1 << 11                            # BPFRZ
    if r.random() < .5:
        value |= r.getrandbits(48) & r.getrandbits(48) & FILTERS
    if r.random() < .3:
        value |= 1 << 36                            # NTBREN
    return value


def ctr_write(g, csr, value):
    """Lines that write a register; the label says which and what"""
    return (f'\tli t1, {value:#x}',
            f'{g.label(f"ctr_write_{csr:x}_{value:x}")}:',
            f'\tcsrw {csr:#x}, t1')


@kind
def ctr_control(g, r):
    """Another control register value: in M-mode, or where the hart is"""
    if not g.machine['ctr']:
        return alu(g, r)
    way = r.randrange(4)
    if way == 0 and g.machine['h']:
        g.service(*ctr_write(g, VSCTRCTL, ctr_value(r)))
    elif way == 1:
        on = at_recovery(g)
        g.put(*ctr_write(g, SCTRCTL, ctr_value(r)), f'{on}:')
    else:
        g.service(*ctr_write(g, r.choice((MCTRCTL, MCTRCTL, SCTRCTL)),
                             ctr_value(r)))
    return None


@kind
def ctr_state(g, r):
    """Freezes or goes on, moves WRPTR, clears, changes the depth"""
    if not g.machine['ctr']:
        return alu(g, r)
    way = r.randrange(5)
    frozen = (1 << 31) * (r.random() < .2)
    on = at_recovery(g)
    if way == 0:
        g.put(*ctr_write(g, SCTRSTATUS, frozen | r.randrange(32)))
    elif way == 1:
        g.put(*ctr_write(g, SCTRSTATUS, 0))
    elif way < 4:
        g.put(f'{g.label("ctr_clear")}:', '\t.word 0x10400073')
    else:
        # what is in the buffer then is not specified
        g.service(*ctr_write(g, SCTRDEPTH, r.randrange(2)),
                  f'{g.label("ctr_clear")}:', '\t.word 0x10400073',
                  *ctr_write(g, SCTRSTATUS, 0))
    g.put(f'{on}:')
    return None


@kind
def ctr_dump(g, r):
    """Copies everything to memory, for the model to look at"""
    if not g.machine['ctr']:
        return alu(g, r)
    place = r.randrange(1, 8)
    g.service(f'\tli a0, DUMPS + {place << 10}', '\tadd a0, a0, tp',
              f'{g.label(f"ctr_dump_{place}")}:', '\tjal ctr_dump')
    return None


@kind
def table_jump(g, r):
    """Zcmt: a jump or a call through the table, which M and S may"""
    if not g.machine['zc']:
        return alu(g, r)
    on = at_recovery(g)
    index = r.randrange(8) * 4 + r.choice((0, 1))
    if r.random() < .5:
        index = 32 + r.randrange(50) * 4 + r.choice((2, 3))
    alu(g, r, 0, 2)
    g.put(f'\t.hword {0xa002 | index << 2:#x}')
    alu(g, r, 0, 1)
    g.put(f'{on}:')
    return None


@kind
def shadow_stack(g, r):
    """Zicfiss where ssp does not point to a shadow stack"""
    on = at_recovery(g)
    g.put('\tli t0, SHADOW', '\tadd t0, t0, tp', '\tcsrw 0x011, t0')
    alu(g, r, 0, 2)
    g.put(r.choice(('\t.word 0xce104073', '\t.word 0xcdc0c073',
                    '\t.word 0xce504073')))     # sspush, sspopchk
    g.put(f'{on}:')
