# SPDX-License-Identifier: GPL-2.0-or-later
#
# What the tests of rvtrace gdbserver share: guests that are traced, gdb with
# commands, and its remote protocol by hand.

import os
import re
import subprocess

import exec_log
import links
from symbols import table
from tap import need

QEMU, RVTRACE, OUT = (os.environ[name] for name in ('QEMU', 'RVTRACE', 'OUT'))
LIMIT = links.LIMIT
STEPS = int(os.environ['STEPS'])
LOG = ('-accel', 'tcg,one-insn-per-tb=on,thread=single', '-d',
       'exec,nochain,int')
DATA = [word for name in ('data-width=64', 'data=on')
        for word in ('-global', f'riscv-trace-encoder.{name}')]
TIMES = ('-global', 'riscv-trace-encoder.time-width=64')
HISTORY = re.compile(r'^\d+\t(?:=>|  ) 0x([0-9a-f]+)')


def retired(path, cpu, order=None):
    """
    The pcs of each hart. With Zcmt, a fetch that fails may be one from a
    table, so no guest may jump to itself. order: see exec_log.py
    """
    return exec_log.retired(path, (1 << (32 if cpu.startswith('rv32') else
                                         64)) - 1,
                            () if 'zcmt' in cpu else exec_log.FETCH, order)


def qemu_line(folder, guest, cpu, smp, *options):
    return [QEMU, '-M', 'virt,trace=on,trace-autostart=on,trace-sideband=sb'
            f'{",trace-chardev=tr" * ("-qmp" not in options)}',
            '-chardev', f'file,id=sb,path={folder}/sideband',
            '-chardev', f'file,id=tr,path={folder}/trace',
            '-cpu', cpu, '-smp', str(smp), '-m', '128M', '-bios', 'none',
            '-kernel', f'{OUT}/{guest}.elf', '-display', 'none', '-monitor',
            'none', '-serial', f'file:{folder}/uart', '-D', f'{folder}/exec',
            *options]


def trace(folder, guest, cpu='rv64', smp=1, happy=True, options=()):
    """What each hart has executed, by the log"""
    done = subprocess.run(qemu_line(folder, guest, cpu, smp, *LOG, *options),
                          capture_output=True, timeout=LIMIT, check=False,
                          stdin=subprocess.DEVNULL, encoding='utf-8')
    need(done.returncode == 0 or not happy, f'QEMU: {done.stderr}')
    return retired(f'{folder}/exec', cpu)


def trace_without_log(folder, guest, *options):
    """A long run"""
    subprocess.run(qemu_line(folder, guest, 'rv64', 1, *options), check=False,
                   capture_output=True, timeout=LIMIT,
                   stdin=subprocess.DEVNULL)


def server(folder, *options, source=None):
    source = source or ('--trace', f'{folder}/trace')
    return [RVTRACE, 'gdbserver', *source, '--sideband', f'{folder}/sideband',
            *options]


def run_gdb(folder, guest, commands, *options, source=None, symbols=True):
    """The output of gdb, and of rvtrace"""
    line = ' '.join(server(folder, '--listen', 'stdio', *options,
                           source=source))
    elf = f'{OUT}/{guest}.elf'
    with open(f'{folder}/gdb', 'w', encoding='ascii') as file:
        print('set pagination off', 'set width 0', 'set remotetimeout 60',
              'set record instruction-history-size unlimited',
              'set record btrace bts buffer-size unlimited',
              f'target remote | {line}', 'set scheduler-locking on',
              *commands, 'kill', sep='\n', file=file)
    done = subprocess.run(
        ['gdb-multiarch', '-nx', '-batch', '-x', f'{folder}/gdb',
         *[elf] * symbols], stdout=subprocess.PIPE, timeout=LIMIT, check=False,
        stderr=subprocess.STDOUT, encoding='utf-8')
    with open(f'{folder}/gdb.log', 'w', encoding='utf-8') as file:
        file.write(done.stdout)
    need('rror in sourced' not in done.stdout, done.stdout[-500:])
    return done.stdout


def values(output, name):
    """What 'printf "NAME %lx\\n", ...' has printed"""
    return [int(v, 16) for v in re.findall(rf'^{name} ([0-9a-f]+)$', output,
                                           re.M)]


def places(output):
    """What "monitor where" has said: the numbers of instructions"""
    return [int(n) for n in re.findall(r'^hart \d+: instruction (\d+) of',
                                       output, re.M)]


def repeat(times, name, command):
    return [f'set $n = {times}', 'while $n', command,
            rf'printf "{name} %lx\n", $pc', 'set $n = $n - 1', 'end']


def same(got, want, what):
    for n, (a, b) in enumerate(zip(got, want)):
        need(a == b, f'{what}: number {n + 1} is {a:x}, the log has {b:x}')
    need(len(got) == len(want), f'{what}: {len(got)}, not {len(want)}')


def start(folder, sockets, *options):
    return subprocess.Popen(
        server(folder, '--listen', f'unix:{sockets}/gdb', *options),
        stdin=subprocess.DEVNULL, stderr=open(f'{folder}/log', 'wb'))


class Raw:
    """The remote protocol by hand"""

    def __init__(self, sockets):
        self.link = links.connect(f'{sockets}/gdb')
        self.data = b''

    def send(self, text):
        packet = text.encode()
        self.link.sendall(b'$%s#%02x' % (packet, sum(packet) & 0xff))

    def receive(self, what):
        while not (match := re.search(rb'\$([^#]*)#..', self.data)):
            more = self.link.recv(4096)
            need(more, f'{what}: no answer')
            self.data += more
        self.data = self.data[match.end():]
        if what != 'D':
            self.link.sendall(b'+')
        return match[1].decode()

    def ask(self, text):
        self.send(text)
        return self.receive(text)


PYTHON = "python exec(gdb.execute('monitor python', to_string=True))"


def symbols_of(guest):
    """{name: address} of a guest"""
    return {s.name: s.address for s in table(f'{OUT}/{guest}.elf')}
