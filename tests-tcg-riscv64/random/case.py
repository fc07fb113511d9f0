# SPDX-License-Identifier: GPL-2.0-or-later
#
# A case: a seed's program, machine and events, as a tree that can be written
# as JSON, made smaller (shrink.py) and run (run_case.py).

import random

import program

# How often each kind of element is chosen
WEIGHTS = {
    'alu': 6, 'diamond': 8, 'loop': 5, 'call': 9, 'leaf': 6, 'recursion': 2,
    'swap': 4, 'inferable': 5, 'lui_jump': 1, 'table': 5, 'page_end': 4,
    'trap': 10, 'trap_loop': 3, 'atomics': 3, 'floats': 2, 'vector': 3,
    'timer': 4, 'software': 4, 'sleep': 1, 'fences': 2, 'patch': 4,
    'call_slot': 4, 'meet': 1, 'flips': 3, 'remap': 3,
}
# ... and in machines that have it
EXTRA = {
    'ctr': {'ctr_control': 7, 'ctr_state': 3, 'ctr_dump': 4},
    'software': {'trace_modes': 5, 'trace_sync': 3, 'trace_off': 3,
                 'trace_on': 6, 'trace_filter': 4, 'trace_range': 4,
                 'trace_next_modes': 4, 'trace_components': 3},
    'h': {'other_stage': 4},
    'zc': {'table_jump': 6}, 'zicfilp': {'shadow_stack': 3},
    'triggers': {'watch': 5, 'trigger_notify': 3, 'trigger_trace': 5},
}

MODES = ('implicit-exception', 'sequential-jump', 'implicit-return',
         'branch-prediction', 'jump-target-cache')


def elements(r, least, most, weights_of):
    names = list(weights_of)
    weights = list(weights_of.values())
    return [[name, r.randrange(1 << 32)] for name in
            r.choices(names, weights, k=r.randint(least, most))]


def causes(r):
    """Exceptions to delegate: none, some, most; never ecall from S or M"""
    some = r.getrandbits(24) & 0xf0b1ff
    return r.choice((0, some, 0xb1ff, 0xf0b1ff))


def region(r, machine, weights):
    modes = [program.M, program.S, program.USER]
    if machine['h']:
        modes += [program.VS, program.VU]
    mode = r.choice(modes)
    paged = mode != program.M and machine['xlen'] == 64 and r.random() < .7
    windows = (program.S_WINDOWS if mode in (program.S, program.VS)
               else program.U_WINDOWS)
    return {
        'mode': mode, 'satp': r.choice('AB') if paged else 'bare',
        'hgatp': (r.choice(('bare', 'G', 'G', 'G2'))
                  if machine['xlen'] == 64 else 'bare'),
        'window': r.choice(windows), 'medeleg': causes(r),
        'hedeleg': causes(r) & 0xb1ff, 'mideleg': r.choice((0, 0x2222, 2)),
        'hideleg': r.choice((0, 0x444)), 'mie': r.choice((0xaaa, 0xfff, 0x88)),
        'sie': r.randint(0, 1), 'mpie': r.randint(0, 1),
        'random': r.getrandbits(31), 'loops': r.choice((1, 2, 5, 12)),
        'elements': elements(r, 3, 14, weights),
    }


def choose_machine(r, only=None):
    one = r.random()
    harts = 1 if one < .45 else 2 if one < .8 else r.choice((3, 4, 5, 8))
    xlen = 64 if r.random() < .85 else 32
    machine = {
        'xlen': xlen, 'c': r.random() < .85, 'harts': harts,
        'h': xlen == 64 and r.random() < .7, 'v': r.random() < .4,
        'thread': 'multi', 'icount': False, 'one_insn': False, 'nochain': False,
        'tb_size': 0, 'props': [], 'log': False,
        'ctr': xlen == 64 and r.random() < .3, 'traced': True,
        'software': r.random() < .3, 'triggers': r.random() < .25,
        'zc': xlen == 64 and r.random() < .1, 'zicfilp': r.random() < .1,
        'length': r.choice((1, 1, 1, 4)),
    }
    way = r.randrange(8)
    if way < 2:
        machine['icount'] = True
        machine['thread'] = 'single'
    elif way == 2:
        machine['thread'] = 'single'
    machine['one_insn'] = r.random() < .15
    machine['nochain'] = r.random() < .1
    if r.random() < .15:
        machine['tb_size'] = 1
    if harts == 1 and machine['one_insn'] and r.random() < .7:
        machine['log'] = True
    machine['props'] = choose_properties(r)
    machine['scenario'] = ('plain' if r.random() < .6 else
                           r.choice(SCENARIOS))
    machine['filter'] = r.random() < .3
    machine.update(only or {})
    settle(r, machine)
    if machine['filter']:
        machine['log'] = False          # it has everything
        machine['filter'] = choose_filter(r, machine)
        if r.random() < .4:
            add_data(r, machine)
    return machine


# Options that another one rules out: where the path alone does not say what
# is traced, software must not switch it
SCENARIOS = ('stop', 'stop', 'reconnect', 'reconnect', 'migrate', 'migrate',
             'snapshot', 'reset', 'gdb', 'breaks', 'slow', 'slow', 'lossy',
             'ring', 'poll')
NO_SOFTWARE = ('reconnect', 'snapshot', 'reset', 'lossy', 'ring', 'poll')
# Programs that something happens to meanwhile take longer.
LONGER = ('stop', 'slow', 'reconnect', 'migrate', 'snapshot', 'reset', 'lossy',
          'poll')


def settle(r, machine):
    """Options that go together"""
    if machine['xlen'] == 32:
        machine['ctr'] = False
        # QEMU 10.0 ends when a check for landing pads is in a block of its own
        machine['zicfilp'] = False
    if machine['zc']:
        machine['v'] = machine['ctr'] = False
        machine['c'] = True
    if machine['scenario'] == 'reset':
        # QEMU 10.0 leaves V=1 as it is then, and ends
        machine['h'] = False
    if not machine['traced']:
        machine['scenario'] = 'plain'
    if machine['scenario'] != 'plain' or machine['harts'] > 1:
        machine['log'] = False          # it does not distinguish harts
    if machine['scenario'] in ('gdb', 'breaks'):
        # a step of a hart that sleeps waits; with -icount, so does any
        machine['harts'] = 1
        machine['icount'] = False
    if machine['scenario'] in NO_SOFTWARE or not machine['traced']:
        machine['software'] = machine['triggers'] = False
    if not machine['traced']:
        machine['filter'] = False
    if machine['scenario'] == 'lossy':
        machine['props'] += ['stall=off', 'riscv-trace-pib:buffer-size=2M',
                             'full-address=on']
        add_data(r, machine)
    if machine['scenario'] == 'slow':
        # much, so that the harts have to wait
        machine['props'].append('full-address=on')
        add_data(r, machine)
    if machine['scenario'] in ('ring', 'poll'):
        size = r.choice(('16K', '64K', '1M', '64M'))
        machine['props'] += [f'riscv-trace-ram:sram-size={size}',
                             'sync-mode=1', 'sync-max=1']


def add_data(r, machine):
    if 'data=on' not in machine['props']:
        machine['props'] += ['data-width=64', 'data=on',
                             f'data-compress={r.randrange(4)}']


PRIVILEGES = {'U': 0, 'S': 1, 'M': 3, 'VU': 5, 'VS': 6}     # E-Trace's numbers
CONTEXTS = (0, 1, 2, 0x10000, 0x20000, 0x10001, 0x10002, 0x20001, 0x20002)


def choose_filter(r, machine):
    """
    Terms of the encoder's property: ['priv', LEVELS], ['context', N] and ['pc',
    FROM, TO, WINDOW], parts of the program as a whole and where it is seen
    """
    terms = []
    keys = ['pc', 'pc', 'priv', 'context']
    if machine['xlen'] == 32 or machine['scenario'] in ('reset', 'snapshot'):
        keys.remove('context')          # what it is then, the model does not know
    for key in set(r.sample(keys, r.choice((1, 1, 2)))):
        if key == 'priv':
            levels = r.sample(list(PRIVILEGES), r.choice((1, 2, 3, 4)))
            terms.append([key, '+'.join(levels)])
        elif key == 'context':
            terms += [[key, n] for n in r.sample(CONTEXTS, r.choice((2, 3, 4)))]
        else:
            for _ in range(r.choice((1, 1, 2, 4))):
                window = 2 if machine['xlen'] == 32 else r.choice(
                    (1, 2, 2, 2, 3, 4, 5))
                terms.append([key, *sorted((r.random(), r.random())), window])
    return terms


def events(r, machine):
    """(milliseconds until it, and of it) for each"""
    if machine['scenario'] in ('plain', 'lossy', 'ring'):
        return []
    count = 2 if machine['scenario'] == 'snapshot' else r.randint(1, 4)
    return [[r.choice((0, 1, 3, 10, 30, 100)), r.choice((0, 1, 10, 50))]
            for _ in range(count)]


def choose_properties(r):
    props = []
    way = r.randrange(4)
    if way == 1:
        props += [f'{mode}=on' for mode in MODES]
    elif way >= 2:
        props += [f'{mode}=on' for mode in MODES if r.random() < .4]
    if r.random() < .35:
        props.append('wire-format=' + r.choice(('1.1.1', '2.1-draft')))
    if r.random() < .2:
        props.append('full-address=on')
    if r.random() < .25:
        props += ['return-stack-size=0',
                  f'call-counter-size={r.choice((1, 3, 7))}']
    elif r.random() < .3:
        props.append(f'return-stack-size={r.choice((1, 2, 7))}')
    if r.random() < .3:
        props += [f'bpred-size={r.choice((1, 3, 7))}',
                  f'cache-size={r.choice((1, 3, 7))}']
    way = r.randrange(6)
    if way == 0:
        props += ['sync-mode=1', f'sync-max={r.choice((1, 2, 4))}']
    elif way == 1:
        props += [f'sync-mode={r.choice((2, 3))}',
                  f'sync-max={r.choice((1, 4, 8))}']
    if r.random() < .2:
        props += ['context-width=30', 'context=on',
                  f'ctype={r.choice((1, 2))}']
    if r.random() < .2:
        props += ['timestamp-width=40', f'timestamp-mode={r.choice((1, 2, 3))}']
    if r.random() < .15:
        props += ['data-width=64', 'data=on']
    if r.random() < .1:
        props += ['src-bits=11', 'src-id=1234']
    return props


def option(text):
    """name=value"""
    name, _, value = text.partition('=')
    return name, {'on': True, 'off': False}.get(
        value, int(value) if value.isdigit() else value)


# How much longer programs are that run for hours; of those that something
# happens to, which are longer already
LONG, LONG_EVENTS = 64, 6


def make(seed, only=(), long=False):
    """
    The case of a seed. only: what the machine is to have
    """
    r = random.Random(seed)
    machine = choose_machine(r, dict(option(text) for text in only))
    if long and not machine['log']:
        machine['length'] *= (LONG_EVENTS if machine['scenario'] in LONGER
                              else LONG)
    weights = dict(WEIGHTS)
    for name, more in EXTRA.items():
        if machine.get(name):
            weights.update(more)
    functions = [{'align': r.choice((2, 4, 16)),
                  'elements': elements(r, 2, 7, weights)}
                 for _ in range(r.randint(3, 7))]
    harts = [[region(r, machine, weights) for _ in range(r.randint(1, 5))]
             for _ in range(min(machine['harts'], 3))]
    longer = 10 if machine['scenario'] in LONGER else 1
    for hart in harts:
        for item in hart:
            item['loops'] *= longer * machine['length']
    return {'seed': seed, 'machine': machine, 'events': events(r, machine),
            'program': {'functions': functions, 'harts': harts,
                        'slots': r.randint(1, 4)}}


def cpu(machine):
    text = f'rv{machine["xlen"]}'

    def switch(name, default):
        value = machine.get(name, default)
        return f',{name}={"on" if value else "off"}'

    text += switch('c', True) + switch('h', True) + switch('v', False)
    if machine['zc']:
        text += ',d=off,zcmp=on,zcmt=on,smstateen=off'
    if machine['zicfilp']:
        text += ',zicfilp=on,zicfiss=on,zimop=on'
        text += ',zcmop=on' if machine['c'] else ''
    if machine['ctr']:
        text += ',smctr=on,ssctr=on,smcsrind=on,sscsrind=on,smstateen=on'
    return text
