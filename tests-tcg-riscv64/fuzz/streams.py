# SPDX-License-Identifier: GPL-2.0-or-later
#
# Migration streams of a traced machine, damaged where the trace components
# are: they are refused, or the machine goes on

import struct
import time

from traced import DRAM, ENCODER, FUNNEL, PIB, RAM, Config, Machine
import registers
from tap import Problem, need, until

EACH_STREAM = 8
FOOTER = 0x7e


def program(m, config):
    """Registers whose state is in subsections"""
    for i in range(config.harts):
        base = ENCODER + 0x1000 * i
        for offset, value in ((0x404, 3), (0x400, 0x11), (0x610, DRAM),
                              (0x600, 0x5050), (0x50, 0x21), (0x54, 0x21),
                              (0x40, 0x8003), (0xc, 1)):
            m.write(base + offset, value)
    m.write(RAM, 1)
    m.write(RAM, 3)


def save(folder, config):
    """The stream of a machine that has run for a while"""
    name = f'{folder}/stream'
    m = Machine(folder, config)
    try:
        program(m, config)
        time.sleep(0.1)
        m.ask('stop')
        m.ask('migrate', uri=f'file:{name}')
        wait(m, ('completed',))
        m.quit()
    finally:
        m.end()
    with open(name, 'rb') as file:
        return file.read()


def wait(m, states):
    """For the end of a migration"""
    return until(lambda: (state := m.ask('query-migrate')['return'].get(
        'status')) in states and state, 'the migration does not end')


def sections(stream):
    """Where the trace components' states are: {name: [(begin, end)]}"""
    found = {}
    pos = stream.find(b'riscv-trace-')
    while pos >= 0:
        length = stream[pos - 1]
        ident = stream[pos - 6:pos - 5]
        name = stream[pos:pos + length]
        if ident == b'\x04' and b'/' not in name:
            number = stream[pos - 5:pos - 1]
            begin = pos + length + 8
            end = stream.find(bytes([FOOTER]) + number, begin)
            if end > 0:
                found.setdefault(name.decode(), []).append((begin, end))
        pos = stream.find(b'riscv-trace-', pos + 1)
    need('riscv-trace-ram' in found, f'no state of ours: {list(found)}')
    return found


def load(folder, config, stream, rng, may_run=True):
    """True if the machine has taken it; it goes on then."""
    name = f'{folder}/damaged'
    with open(name, 'wb') as file:
        file.write(stream)
    m = Machine(folder, config, '-incoming', 'defer')
    try:
        stays = rng.random() < 0.5
        try:
            m.ask('migrate-incoming', uri=f'file:{name}',
                      **{'exit-on-error': not stays})
            taken = wait(m, ('completed', 'failed')) == 'completed'
        except OSError:
            taken = stays = False
        if not taken and not stays:
            m.has_refused()
            return False
        need(may_run or not taken, 'it was taken')
        m.ask('cont')
        for _ in range(30):
            registers.step(m, rng, config, Nowhere)
        for _ in range(20):
            m.read(RAM + 0x40)
        for base in (ENCODER, FUNNEL, PIB, RAM):
            m.read(base)
        m.quit()
        return taken
    except OSError as error:
        raise Problem(f'{error!r}, exit status {m.process.poll()}: '
                      f'{m.complaint()[-2000:]}') from error
    finally:
        m.end()


class Nowhere:
    @staticmethod
    def write(text):
        pass

    @staticmethod
    def flush():
        pass


# In the state of the RAM sink: two rings of four addresses and a bool
def ring(index, member):
    return 4 + 33 * index + 8 * ('start', 'limit', 'wp', 'rp').index(member)


STORING, FILL = 4 + 66, 4 + 66 + 2 + 4
SRAM, SMEM = 0, 1


def directed(folder, rng):
    """What no RAM sink can have sent is refused."""
    config = Config(rng)
    config.props['riscv-trace-ram.sram-size'] = '64K'
    good = save(folder, config)
    need(load(folder, config, good, rng), 'a good stream is refused')
    begin, stop = sections(good)['riscv-trace-ram'][0]
    need(stop - begin == FILL + 4 + 8, f'{stop - begin} bytes of state')
    for what, changes in {
            'trRamRP in the middle of a word': {ring(SRAM, 'rp'): 0xfff9},
            'trRamWP in the middle of a word': {ring(SRAM, 'wp'): 0xfff9},
            'trRamLimit in the middle of a word':
                {ring(SRAM, 'limit'): 0xfff9},
            'trRamLimit behind the SRAM': {ring(SRAM, 'limit'): 0x10000},
            'trRamStart in the SRAM': {ring(SRAM, 'start'): 0x1000},
            'memory up to the last byte': {ring(SMEM, 'limit'): (1 << 64) - 1},
            'memory beyond the address space':
                {ring(SMEM, 'limit'): 1 << 56},
            'memory from the middle of a page': {ring(SMEM, 'start'): 0x80},
    }.items():
        bad = bytearray(good)
        for offset, value in changes.items():
            struct.pack_into('>Q', bad, begin + offset, value)
        try:
            load(folder, config, bad, rng, may_run=False)
        except Problem as error:
            raise Problem(f'{what}: {error}') from error
    encoder = sections(good)['riscv-trace-encoder'][0][0]
    for what, place, value in (
            ('more than a word waits', begin + FILL, 4),
            # trTeControl, a bool, trTeInstFeatures
            ('a srcID of 15 bits', encoder + 5, 0xf0000000)):
        bad = bytearray(good)
        struct.pack_into('>I', bad, place, value)
        try:
            load(folder, config, bad, rng, may_run=False)
        except Problem as error:
            raise Problem(f'{what}: {error}') from error
    # without memory of its own, there is no ring to speak of
    config.props['riscv-trace-ram.sram-size'] = '0'
    need(load(folder, config, save(folder, config), rng),
         'a stream without SRAM is refused')


def damage(stream, rng):
    bad = bytearray(stream)
    places = [place for found in sections(stream).values() for place in found]
    if rng.random() < 0.1:
        begin, end = rng.choice(places)
        del bad[rng.randrange(begin, end):]
        return bad
    for _ in range(rng.choice((1, 1, 2, 4, 16))):
        begin, end = rng.choice(places)
        pos = rng.randrange(begin, end)
        bad[pos] = rng.choice((0, 1, 0x7f, 0x80, 0xff, rng.randrange(256),
                               bad[pos] ^ 1 << rng.randrange(8)))
    return bad


def fuzz(folder, rng):
    """A machine's stream, damaged in some ways"""
    config = Config(rng)
    good = save(folder, config)
    for _ in range(EACH_STREAM):
        load(folder, config, damage(good, rng), rng)
