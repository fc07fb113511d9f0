# SPDX-License-Identifier: GPL-2.0-or-later
#
# Elements that write trace registers of the hart's own encoder, and debug
# triggers. Labels say what they do, for expected.py; a fence.i, which ends a
# translation block, says where it holds at the latest.

from elements import KINDS, alu, at_recovery, kind

CONTROL, FEATURES, FILTERS, DATA_CONTROL = 0x000, 0x008, 0x00c, 0x010
FILTER_CONTROL, FILTER_INST = 0x400, 0x404

SETTLED = '\tfence.i'


def change(g, offset, clear, set_bits, label=None):
    """Lines that read, change and write a register"""
    return ('\tLX t0, ENCODER(tp)', f'\tlw t1, {offset:#x}(t0)',
            f'\tli t2, {clear:#x}', '\tor t1, t1, t2', '\txor t1, t1, t2',
            f'\tli t2, {set_bits:#x}', '\tor t1, t1, t2',
            *([f'{label}:'] if label else []), f'\tsw t1, {offset:#x}(t0)',
            SETTLED)


@kind
def trace_modes(g, r):
    """Other modes of the encoder: nothing else may change"""
    g.service(*change(g, FEATURES, 0x3f, r.getrandbits(6)))
    return alu(g, r, 0, 2)


@kind
def trace_sync(g, r):
    """Synchronisation: trTeInstSyncMode 1 to 3 and its period"""
    g.service(*change(g, CONTROL, 3 << 16 | 15 << 20,
                      r.randint(1, 3) << 16 | r.randrange(9) << 20))


def data_control(g, clear, set_bits):
    """Lines that do the same with trTeDataControl, if there is data trace"""
    if 'data=on' not in g.machine['props']:
        return ()
    return change(g, DATA_CONTROL, clear, set_bits)


@kind
def trace_off(g, r):
    """trTeInstTracing 0, or trTeEnable"""
    # a trigger can switch it on again, but no encoder that is not enabled
    how = 4 if g.machine['triggers'] else r.choice((4, 4, 6))
    g.service(*change(g, CONTROL, how, 0, g.label('trace_off')),
              *data_control(g, 2, 0))


@kind
def trace_on(g, r):
    g.service(*change(g, CONTROL, 0, 2, None)[:-1],
              *change(g, CONTROL, 0, 6, g.label('trace_on')),
              *data_control(g, 0, 2))


@kind
def trace_filter(g, r):
    """Some privileges, or all"""
    mask = r.choice((0xff, 0xff, r.getrandbits(8), 0xf7, 0x08))
    g.service('\tLX t0, ENCODER(tp)', f'{g.label(f"trace_filter_{mask}")}:',
              '\tsw zero, 12(t0)', '\tsw zero, 28(t0)', f'\tli t1, {mask:#x}',
              '\tsw t1, 0x404(t0)', '\tli t1, 3', '\tsw t1, 0x400(t0)',
              f'\tli t1, {int(mask != 0xff)}', '\tsw t1, 12(t0)',
              '\tsw t1, 28(t0)', SETTLED)


@kind
def trace_range(g, r):
    """
    The part of the program between two functions, in one of its windows
    """
    count = len(g.program['functions'])
    first, last = sorted(r.sample(range(count), 2))
    window = 2 if g.rv32 else r.choice((1, 2, 2, 2, 3, 4, 5))
    label = g.label(f'trace_range_{first}_{last}_{window}')
    g.service(
        '\tLX t0, ENCODER(tp)', f'{label}:', '\tsw zero, 12(t0)',
        '\tsw zero, 28(t0)', f'\tli t2, {(window - 2) << 30}',
        # comparator 0: not below the first, not above the last
        f'\tla t1, function_{first}', '\tadd t1, t1, t2',
        '\tsw t1, 0x610(t0)', *upper_half(g, 0x614),
        f'\tla t1, function_{last}', '\tadd t1, t1, t2',
        '\tsw t1, 0x618(t0)', *upper_half(g, 0x61c),
        f'\tli t1, {5 << 4 | 3 << 8 | 1 << 12:#x}', '\tsw t1, 0x600(t0)',
        '\tli t1, 0x11', '\tsw t1, 0x400(t0)',
        '\tli t1, 1', '\tsw t1, 12(t0)', '\tsw t1, 28(t0)', SETTLED)


def upper_half(g, offset):
    """Lines that write it of t1"""
    if g.rv32:
        return (f'\tsw zero, {offset:#x}(t0)',)
    return ('\tsrli t1, t1, 32', f'\tsw t1, {offset:#x}(t0)')


# Other components, and the encoder of the next hart, which runs meanwhile:
# nothing that is decoded may change

@kind
def trace_next_modes(g, r):
    """
    Another hart's modes. Not its trTeControl, with which it switches tracing
    on and off: what it has written in between would be lost.
    """
    if g.machine['harts'] == 1:
        return trace_modes(g, r)
    own, other = 'LX t0, ENCODER(tp)', 'LX t0, NEXT_ENCODER(tp)'
    lines = change(g, FEATURES, 0x3f, r.getrandbits(6))
    g.service(*(line.replace(own, other) for line in lines))
    return alu(g, r, 0, 2)


@kind
def trace_components(g, r):
    """
    Registers of the funnel and the PIB get the values that they have; those
    of the RAM sink, which has no trace, any
    """
    lines = []
    for _ in range(r.randint(1, 3)):
        if r.random() < .5:
            base = r.choice((0x3030000, 0x3031000))
            at = r.choice((0, 8) if base == 0x3030000 else (0,))
            lines += [f'\tli t0, {base + at:#x}', '\tlw t1, 0(t0)',
                      '\tsw t1, 0(t0)']
        else:
            at = r.choice((0x10, 0x14, 0x18, 0x1c, 0x20, 0x24, 0x28, 0x2c))
            lines += [f'\tli t0, {0x3032000 + at:#x}',
                      f'\tli t1, {r.getrandbits(31):#x}', '\tsw t1, 0(t0)',
                      '\tlw t1, 0(t0)']
    g.service(*lines)


# Sdtrig. The hart has two triggers; addresses are those of the window.


# mcontrol6, in M, S, U, VS and VU
MODES = 1 << 24 | 1 << 23 | 1 << 6 | 1 << 4 | 1 << 3
EXECUTE, STORE, LOAD = 4, 2, 1


def trigger(g, number, action, how):
    """Lines that set a trigger for the address in a0; how 0: none"""
    width = 28 if g.rv32 else 60
    value = (6 << width | action << 12 | MODES | how) if how else 0
    return (f'\tli t0, {number}', '\tcsrw tselect, t0', '\tcsrw tdata1, zero',
            '\tcsrw tdata2, a0', f'\tli t0, {value:#x}', '\tcsrw tdata1, t0')


@kind
def watch(g, r):
    """A breakpoint exception at an instruction, a load or a store"""
    number = r.randrange(2)
    how = r.choice((EXECUTE, STORE, LOAD, LOAD | STORE))
    at = g.label('watched')
    if how == EXECUTE:
        g.put(f'\tla a0, {at}')
    else:
        g.put('\taddi a0, tp, NOISE + 512')
    g.service(*trigger(g, number, 0, how))
    on = at_recovery(g)
    alu(g, r, 0, 3)
    g.put(f'{at}:', '\tLX a1, NOISE + 512(tp)', '\tSX a1, NOISE + 512(tp)')
    alu(g, r, 0, 2)
    g.put(f'{on}:', '\tli a0, 0')
    g.service(*trigger(g, number, 0, 0))


@kind
def trigger_notify(g, r):
    """Trace notify: a packet, nothing else"""
    at = g.label('notified')
    g.put(f'\tla a0, {at}')
    g.service(*change(g, CONTROL, 0, 1 << 11),
              *trigger(g, r.randrange(2), 4, EXECUTE))
    alu(g, r, 0, 3)
    g.put(f'{at}:', '\tnop')
    alu(g, r, 0, 3)
    g.put('\tli a0, 0')
    g.service(*trigger(g, 0, 0, 0), *trigger(g, 1, 0, 0))


@kind
def trigger_trace(g, r):
    """Trace off at one instruction, on at another one"""
    off, on = g.label('trace_off'), g.label('trace_on')
    g.put(f'\tla a0, {off}', f'\tla a1, {on}')
    g.service(*change(g, CONTROL, 0, 1 << 11), *data_control(g, 0, 1 << 2),
              *trigger(g, 0, 3, EXECUTE),
              '\tmv a0, a1', *trigger(g, 1, 2, EXECUTE), SETTLED)
    g.put(SETTLED, f'{off}:', '\tnop', SETTLED)
    alu(g, r, 0, 5)
    if r.random() < .5:
        KINDS[r.choice(('diamond', 'loop', 'trap', 'leaf'))](g, r)
    g.put(SETTLED, f'{on}:', '\tnop', SETTLED, '\tli a0, 0')
    g.service(*trigger(g, 0, 0, 0), *trigger(g, 1, 0, 0),
              *change(g, CONTROL, 1 << 11, 0), *data_control(g, 1 << 2, 0))
