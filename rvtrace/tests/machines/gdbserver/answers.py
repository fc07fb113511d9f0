# SPDX-License-Identifier: GPL-2.0-or-later
#
# Tests of what rvtrace gdbserver tells its user: that it has been interrupted,
# why something cannot be done, and what is not known.

import re
import signal
import struct
import subprocess

import links
import tap
from tap import need
from target import (DATA, LIMIT, OUT, PYTHON, RVTRACE, TIMES, Raw, run_gdb,
                    server, start, symbols_of, trace, trace_without_log)


# ETRACE_SB_REGS, ETRACE_SB_REGS_AMID
REGS, REGS_AMID = 19, 2

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
    'computed_double': '1.5', 'computed_float': '0.75', 'computed_long': '15',
    'computed_pair': '{x = 0.5, y = 1.5}',
    'computed_mixed': '{x = 0.75, n = 7}',
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


NO_DATA = 'the trace has no data'
FAILS = (('goto 1G', 'behind the end'), ('goto nowhere', 'no place'),
         ('frobnicate', 'is no command'), ('bt some', 'bt all'))


def no_watchpoints(folder):
    """Without data trace, gdb says why there are no watchpoints."""
    trace(folder, 'dhry-lines', happy=False)
    tried = ['watch seed', 'rwatch seed', 'awatch seed', 'watch -l seed',
             'rvtrace-goto 1G']
    output = run_gdb(folder, 'dhry-lines', [
        PYTHON, 'python', f'for command in {tried}:', '  try:',
        '    gdb.execute(command)', '  except gdb.error as error:',
        '    print("said", error)', 'end', 'info breakpoints', 'stepi'])
    said = output.split('\nsaid ')[1:]
    need(len(said) == 5 and all(NO_DATA in text and 'data=on' in text
                                for text in said[:4]), f'{said}')
    need('No breakpoints or watchpoints' in output, 'one is there')
    # gdb 13 has no reason in its own words; the server's are on the terminal.
    output = run_gdb(folder, 'dhry-lines', ['python', 'try:',
                                            '  gdb.execute("watch seed")',
                                            '  gdb.execute("continue")',
                                            'except gdb.error as error:',
                                            '  print("said", error)', 'end'])
    need(NO_DATA in output and 'said ' in output, output)


def reasons(folder):
    """A debugger that shows errors in words gets them."""
    trace(folder, 'calls.rv64gc')
    with links.directory() as sockets, start(folder, sockets) as tool:
        try:
            raw = Raw(sockets)
            for supported, error in ('', False), ('error-message+', True):
                raw.ask(f'qSupported:{supported}')
                for kind in '234':
                    need(raw.ask(f'Z{kind},1000,4').startswith(f'E.{NO_DATA}'),
                         f'Z{kind}')
                for command, says in FAILS:
                    got = raw.ask(f'qRcmd,{command.encode().hex()}')
                    need(got.startswith('E.') == error, f'{command}: {got}')
                    got = got[2:] if error else bytes.fromhex(got).decode()
                    need(says in got and (not error or '\n' not in got),
                         f'{command}: {got}')
                got = raw.ask(f'qRcmd,{b"when".hex()}')
                need(bytes.fromhex(got), f'when: {got}')
        finally:
            tool.kill()


def drop_registers(sideband):
    """As older versions wrote it: registers are there in the beginning only."""
    with open(sideband, 'rb') as file:
        data = file.read()
    kept, pos, dropped = [], 0, 0
    while pos < len(data):
        kind, _, size = struct.unpack_from('<HHI', data, pos)
        record = data[pos:pos + 8 + size]
        pos += len(record)
        if kind == REGS and record[24] & REGS_AMID:
            dropped += 1
        else:
            kept.append(record)
    need(dropped, 'the sideband has registers at the beginning only')
    with open(sideband, 'wb') as file:
        file.write(b''.join(kept))


def long_search(folder):
    """What takes long can be seen, and ended; gdb waits as long as it takes."""
    trace_without_log(folder, 'dhry-1500', *DATA)
    drop_registers(f'{folder}/sideband')
    subprocess.run([RVTRACE, 'index', '--trace', f'{folder}/trace',
                    '--sideband', f'{folder}/sideband'], check=True,
                   timeout=LIMIT)
    with links.directory() as sockets, \
            start(folder, sockets, '--goto', 'begin') as tool:
        try:
            raw = Raw(sockets)
            place = raw.ask('p20')
            raw.send('c')
            told = bytes.fromhex(raw.receive('c')[1:]).decode()
            need(re.fullmatch(r'\[hart 0: .*, [1-9]\d? %\]\n', told), told)
            raw.link.sendall(b'\3')
            while (got := raw.receive('c'))[0] == 'O':
                pass
            need(got == f'T0220:{place};thread:1;', f'Ctrl-C: {got}')
            need(raw.ask('p20') == place, 'it is elsewhere')
            raw.send('vCont;c')
            while (got := raw.receive('c'))[0] == 'O':
                pass
            need(got.endswith('replaylog:end;'), f'it goes on: {got}')
            known = raw.ask('p2')
            need('x' not in known, f'sp: {known}')
        finally:
            tool.kill()
    # gdb gives up after 2 s without a byte, and takes any between packets.
    with subprocess.Popen(server(folder, '--listen', 'stdio'),
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as tool:
        tool.stdin.write(b'+$p2#a2')
        tool.stdin.flush()
        said = b''
        while b'#' not in said:
            said += (more := tool.stdout.read1(1024))
            need(more, 'it ends')
        log = tool.communicate(b'+$k#6b', LIMIT)[1]
    need(re.fullmatch(rb'\+\++\$%s#.*' % known.encode(), said), said)
    need(re.search(b'^rvtrace: hart 0: .* %$', log, re.M), log)


def wrong_places(folder, smp):
    """Where one can go, when that is not there"""
    guest = 'baton.rv64gc' if smp > 1 else 'calls.rv64gc'
    pcs = trace(folder, guest, smp=smp, options=TIMES)
    last = len(pcs[0]) - 1

    def refused(place):
        done = subprocess.run(
            server(folder, '--listen', 'stdio', f'--goto={place}'), text=True,
            capture_output=True, timeout=LIMIT, check=False,
            stdin=subprocess.DEVNULL)
        need(done.returncode == 2 and not done.stdout, f'--goto {place}: '
             f'{done.returncode}, {done.stderr}')
        return done.stderr.splitlines()[-1]

    with links.directory() as sockets, start(folder, sockets) as tool:
        try:
            raw = Raw(sockets)

            def monitor(command):
                text = raw.ask(f'qRcmd,{command.encode().hex()}')
                return bytes.fromhex(text).decode()

            monitor('goto end')
            last_time = re.search(r'\d+\.\d{9}s', monitor('when'))[0]
            behind = f'{float(last_time[:-1]) + 1e-9:.9f}s'
            for place in (str(last + 1), '1G', '1h', '-5', 'start', '1.5', '',
                          '1000s', *[behind] * (smp == 1)):
                for said in monitor(f'goto {place}'), refused(place):
                    need(f"'{place}': " in said, f'{place}: {said}')
                    if place[-1:] == 's':
                        # the other harts may have run longer
                        need(re.search(r' up to \d+\.\d{9}s', said) and
                             (smp > 1 or f'up to {last_time}' in said),
                             f'{place}: {said}')
                    else:
                        need(f'hart 0 has the instructions 0 to {last}' in said,
                             f'{place}: {said}')
                need(monitor('when').startswith(f'{last},'), 'it has moved')
            for place, number in (('0', 0), (str(last), last), ('0s', None),
                                  (last_time, None)):
                monitor('goto begin')
                said = monitor(f'goto {place}')
                need(f'hart 0: instruction {"" if number is None else number}'
                     in said, f'{place}: {said}')
        finally:
            tool.kill()


def many_accesses(folder):
    """An instruction of which the access that is looked for is the 101st"""
    pcs = trace(folder, 'vectors', 'rv64,v=on', options=DATA)[0]
    at = symbols_of('vectors')
    with links.directory() as sockets, start(folder, sockets) as tool:
        try:
            raw = Raw(sockets)
            for kind, place, name in ('2', 'target', 'store'), ('3', 'source',
                                                                'load'):
                byte = at[place] + 100
                raw.ask(f'Z{kind},{byte:x},1')
                n = pcs.index(at[name])
                for text, there in ('bc', n + 1), ('c', n):
                    got = raw.ask(text)
                    need(f'watch:{byte:x};' in got, f'{place}: {got}')
                    got = raw.ask('p20')
                    need(got == pcs[there].to_bytes(8, 'little').hex(),
                         f'{place}: {got}')
                    # gdb goes past it, back or forth
                    raw.ask('bs' if text == 'bc' else 's')
                raw.ask(f'z{kind},{byte:x},1')
                raw.ask('c')
                need(raw.ask(f'm{byte:x},1') == '07', f'{place} has another')
        finally:
            tool.kill()


TESTS = [
    ('Ctrl-C between two stops', between_stops),
    ('Ctrl-C while nothing goes on', while_idle),
    ('watchpoints without data', no_watchpoints),
    ('reasons', reasons),
    ('more accesses than one', many_accesses),
    ('places that are not there', wrong_places, 1),
    ('places that are not there, several harts', wrong_places, 3),
    ('a long search', long_search),
    *((f'values returned, rv{bits}, frames {frames}', values_returned, bits,
       frames) for bits in (64, 32) for frames in ('off', 'on')),
]
