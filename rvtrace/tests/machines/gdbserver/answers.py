# SPDX-License-Identifier: GPL-2.0-or-later
#
# Tests of what rvtrace gdbserver tells its user: that it has been interrupted,
# why something cannot be done, and what is not known.

import signal
import subprocess

import links
import tap
from target import (LIMIT, OUT, PYTHON, Raw, server, start, symbols_of, trace)
from tap import need


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


TESTS = [
    ('Ctrl-C between two stops', between_stops),
    ('Ctrl-C while nothing goes on', while_idle),
]
