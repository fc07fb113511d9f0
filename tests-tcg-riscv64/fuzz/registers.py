# SPDX-License-Identifier: GPL-2.0-or-later
#
# Random operations on the registers of all trace components of a machine that
# runs, and what the monitor does with them


from traced import (ATB, DRAM, DRAM_SIZE, ENCODER, FUNNEL, PIB, RAM,
                     Config, Machine)
from tap import Problem

STEPS = 400
START, LIMIT, WP = 0x10, 0x18, 0x20
SMEM, ACTIVE_ENABLE = 1 << 4, 3
VALUES = (0, 1, 3, 7, 0xff, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff)
# offsets of registers that there are, so that they are met often
OFFSETS = {
    ENCODER: (0, 4, 8, 0xc, 0x10, 0x1c, 0x40, 0x44, 0x48, 0x50, 0x54, 0x58,
              0x400, 0x404, 0x408, 0x420, 0x5e0, 0x600, 0x610, 0x614, 0x618,
              0x620, 0x6e0, 0x6fc),
    FUNNEL: (0, 4, 8, 0x40, 0x44, 0x48),
    PIB: (0, 4),
    RAM: (0, 4, 0x10, 0x14, 0x18, 0x1c, 0x20, 0x24, 0x28, 0x2c, 0x40),
    ATB: (0, 4),
}
# where a ring may be put: RAM and code, devices, ROM, flash, holes, the ends
PLACES = (
    DRAM, DRAM + 0x1000, DRAM + 0x100000, DRAM + DRAM_SIZE - 0x2000,
    DRAM + DRAM_SIZE, 0, 0x1000, 0x100000, 0x2000000, ENCODER, RAM, 0xc000000,
    0x10000000, 0x10001000, 0x20000000, 0x30000000, 0x40000000, 0x400000000,
    0x5000000000, 0xffffffffff000, 0xfffffffffff000)
SIZES = (0x1000, 0x1000, 0x2000, 0x10000, 0x100000, 0x40000000, 1 << 55)


def value(rng):
    kind = rng.random()
    if kind < 0.3:
        return rng.choice(VALUES)
    if kind < 0.6:
        return 3 | rng.getrandbits(32)
    if kind < 0.8:
        return 1 << rng.randrange(64)
    return rng.getrandbits(64)


def register(rng, config):
    base = rng.choice(tuple(OFFSETS))
    offset = rng.choice(OFFSETS[base])
    if rng.random() < 0.2:
        offset = rng.randrange(0x1000)
    if base == ENCODER:
        # and one behind the last
        base += 0x1000 * rng.randrange(config.harts + 1)
    width = 4 if rng.random() < 0.8 else rng.choice((1, 2, 8))
    return base + offset, width


def put_ring(m, rng):
    """A ring somewhere, in use from then on if that may be"""
    start = rng.choice(PLACES) + 0x1000 * rng.randrange(4)
    limit = start + rng.choice(SIZES) - 4
    wp = rng.choice((start, limit, start + 4 * rng.randrange(0x400),
                     rng.choice(PLACES)))
    m.write(RAM, 1)
    m.write(RAM, SMEM | 1)
    for reg, addr in ((START, start), (LIMIT, limit), (WP, wp)):
        m.write(RAM + reg, addr)
        m.write(RAM + reg + 4, addr >> 32)
    m.write(RAM, SMEM | ACTIVE_ENABLE | rng.choice((0, 1 << 8)) |
            rng.randrange(8) << 12)


def turn_on(m, rng, config):
    """Whatever was done to them: all components are in use again."""
    del rng
    for base in (FUNNEL, PIB, ATB,
                 *(ENCODER + 0x1000 * i for i in range(config.harts))):
        m.write(base, 1)
        m.write(base, 0x3 | (1 << 2 | 6 << 4 if base < FUNNEL else 0) |
                (5 << 4 if base == PIB else 0))


def monitor(m, rng, config):
    del config
    command = rng.choice((
        ('stop', {}), ('cont', {}), ('x-query-riscv-trace', {}),
        ('x-riscv-trace-start', {}), ('x-riscv-trace-start', {'sink': 'ram'}),
        ('x-riscv-trace-stop', {}),
        ('x-riscv-trace-save', {'filename': '/dev/null'}),
        ('x-riscv-trace-save', {'filename': '/dev/null'}),
        ('system_reset', {})))
    m.ask(command[0], **command[1])
    if command[0] == 'stop':
        m.ask('x-riscv-trace-save', filename='/dev/null')
        m.ask('cont')


def step(m, rng, config, log):
    kind = rng.random()
    if kind < 0.55:
        addr, width = register(rng, config)
        v = value(rng)
        print(f'write {addr:#x} {v:#x} {width}', file=log, flush=True)
        m.write(addr, v, width)
    elif kind < 0.85:
        addr, width = register(rng, config)
        print(f'read {addr:#x} {width}', file=log, flush=True)
        m.read(addr, width)
    elif kind < 0.92:
        print('ring', file=log, flush=True)
        put_ring(m, rng)
    elif kind < 0.96:
        print('on', file=log, flush=True)
        turn_on(m, rng, config)
    else:
        print('monitor', file=log, flush=True)
        monitor(m, rng, config)


def fuzz(folder, rng):
    """A machine, and some hundred operations on it"""
    config = Config(rng)
    m = Machine(folder, config)
    try:
        with open(f'{folder}/steps', 'w', encoding='utf-8') as log:
            for _ in range(STEPS):
                step(m, rng, config, log)
        m.quit()
    except OSError as error:
        raise Problem(f'{error!r}, exit status {m.process.poll()}: '
                      f'{m.complaint()[-2000:]}') from error
    finally:
        m.end()
