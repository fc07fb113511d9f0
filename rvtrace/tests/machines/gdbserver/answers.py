# SPDX-License-Identifier: GPL-2.0-or-later
#
# Tests of what rvtrace gdbserver tells its user: that it has been interrupted,
# why something cannot be done, and what is not known.

import re
import signal
import subprocess

import links
import tap
from tap import need
from target import (DATA, LIMIT, OUT, PYTHON, Raw, run_gdb, server, start,
                    symbols_of, trace)


# Goes on CALLS times, and reports each end. The condition is false, and says
# that it was evaluated.
CONDITION = r'''python
class Tick(gdb.Function):
    def __init__(self):
        super().__init__('tick')
    def invoke(self):
        ticks.write('.')
        ticks.flush()
        return 0
ticks = open('{ticks}', 'w', encoding='ascii')
Tick()
gdb.execute('break *{stop:#x} if $tick()')
for command in {commands}:
    try:
        gdb.execute(command)
    except (KeyboardInterrupt, gdb.error) as error:
        print('ended', error)
    ticks.write('!')
    ticks.flush()
end
'''


def between_stops(folder):
    """Ctrl-C while a breakpoint is passed over, because of its condition"""
    trace(folder, 'rounds')
    ticks = f'{folder}/ticks'
    commands = ['continue', 'reverse-continue'] * 3
    with open(f'{folder}/gdb', 'w', encoding='ascii') as file:
        print('set pagination off', 'target remote | ' +
              ' '.join(server(folder, '--listen', 'stdio')), PYTHON,
              'monitor goto 510000', 'maintenance flush register-cache',
              CONDITION.format(ticks=ticks, commands=commands,
                               stop=symbols_of('rounds')['second']),
              'kill', sep='\n', file=file)

    def said(n):
        with open(ticks, encoding='ascii') as text:
            said = text.read()
        return said.count('!') > n or len(said.split('!')[n]) > 20 and said

    with subprocess.Popen(
            ['gdb-multiarch', '-nx', '-batch', '-x', f'{folder}/gdb',
             f'{OUT}/rounds.elf'], stdin=subprocess.DEVNULL,
            stdout=open(f'{folder}/gdb.log', 'wb'), stderr=subprocess.STDOUT,
            process_group=0) as gdb:
        try:
            tap.until(lambda: tap.size_of(ticks), 'gdb does not begin')
            for n, command in enumerate(commands):
                need(tap.until(lambda: said(n), f'{command} does not go on')
                     is not True, f'{command} has ended by itself')
                gdb.send_signal(signal.SIGINT)
                # There are 170000 rounds, of a millisecond at least.
                tap.until(lambda: said(n) is True,
                          f'Ctrl-C does not end {command}', 10)
            need(gdb.wait(LIMIT) == 0, 'gdb fails')
        finally:
            gdb.kill()


def while_idle(folder):
    """Ctrl-C that comes after a stop holds for what goes on next."""
    trace(folder, 'calls.rv64gc')
    with links.directory() as sockets, start(folder, sockets) as tool:
        try:
            raw = Raw(sockets)
            for text in ('bc', 'vCont;c', 'bs', 's'):
                place = raw.ask('p20')
                raw.link.sendall(b'\3')
                need(raw.ask(text) == f'T0220:{place};thread:1;',
                     f'{text} goes on')
            need(raw.ask('bc').endswith('replaylog:begin;'),
                 'one Ctrl-C stops twice')
            raw.link.sendall(b'\3')
            raw.link.close()
            raw = Raw(sockets)
            need(raw.ask('c').endswith('replaylog:end;'),
                 'Ctrl-C of another gdb')
        finally:
            tool.kill()


# What the functions of returns.c return, as gdb shows it
KNOWN = {
    'known_double': '0.5', 'known_float': '0.25', 'known_long': '21',
    'known_char': "104 'h'", 'known_words': '{x = 7, y = 14}',
    'known_large': '{x = {7, 14, 3, 4}}', 'known_long_long': '30064771079',
}
UNKNOWN = {
    'unknown_double': 'fa0', 'unknown_float': 'fa0', 'unknown_long': 'a0',
    'unknown_pair': 'fa1', 'unknown_mixed': 'fa0', 'unknown_words': 'a1',
}


def values_returned(folder, bits, frames):
    """finish shows what a function returned if that is known, and only then"""
    guest = f'returns.rv{bits}'
    trace(folder, guest, f'rv{bits}', options=DATA)
    commands = []
    for name in (*KNOWN, *UNKNOWN):
        commands += [f'tbreak *{symbols_of(guest)[name]:#x}', 'continue',
                     f'printf "of {name}\\n"', 'finish']
    output = run_gdb(folder, guest, [
        PYTHON, f'set rvtrace-frames {frames}', 'rvtrace-goto begin',
        *commands])
    for name in (*KNOWN, *UNKNOWN):
        said = output.split(f'of {name}\n')[1].split('\nof ')[0]
        shown = re.findall(r'^Value returned is \$\d+ = (.*)$', said, re.M)
        if name in KNOWN:
            need(shown == [KNOWN[name]], f'{name}: {shown}')
        else:
            need(shown == ['<not displayed>'], f'{name}: {shown}')
            need(re.search(rf'returned is in .*\b{UNKNOWN[name]}\b.*not known',
                           said), f'{name}: no reason: {said}')


TESTS = [
    ('Ctrl-C between two stops', between_stops),
    ('Ctrl-C while nothing goes on', while_idle),
    *((f'values returned, rv{bits}, frames {frames}', values_returned, bits,
       frames) for bits in (64, 32) for frames in ('off', 'on')),
]
