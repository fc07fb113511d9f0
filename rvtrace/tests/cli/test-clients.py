#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What other people's programs make of rvtrace's: lldb, uftrace
#
#   test-clients.py RVTRACE
#
# They need not be installed: their part is played here. Every check prints a
# TAP line; the script fails if one of them does.

import os
import re
import socket
import struct
import subprocess
import sys
import tempfile
import time

import inputs
from checks import PARAMS, check, tap

TOOL = os.path.abspath(sys.argv[1])
BASE = 0x80000000


def make(folder):
    """A loop of calls, and who ran them"""
    # _start: jal f; j _start; f: nop; ret
    code = (0x0080006f | 1 << 7, 0xffdff06f, 0x13, 0x00008067)
    packets = [f'inst format=3 subformat=0 branch=1 privilege=3 '
               f'address={BASE:#x}']
    packets += ['inst format=3 subformat=0 branch=1 privilege=3 '
                f'address={BASE + 4:#x}'] * 8
    with open(f'{folder}/packets', 'w', encoding='ascii') as f:
        f.write('\n'.join(packets) + '\n')
    subprocess.run([TOOL, 'encode', *PARAMS, '-p', f'{folder}/packets', '-o',
                    f'{folder}/trace'], check=True)
    with open(f'{folder}/side', 'wb') as f:
        f.write(inputs.session() + inputs.params() + inputs.code(BASE, *code) +
                inputs.task(0x1000, 7, b'sh', 1) +
                inputs.task(0x1000, 7, b'ls', 4) +
                inputs.task(0x1000, 7, b'sh', 6))
    return ['--trace', f'{folder}/trace', '--sideband', f'{folder}/side']


def uftrace(folder, options):
    """A thread that takes another name has one clock, and one stack"""
    done = subprocess.run([TOOL, 'uftrace', *options, '-o', f'{folder}/u'],
                          capture_output=True, check=False)
    check('uftrace', done.returncode == 0, done.stderr.decode())
    with open(f'{folder}/u/7.dat', 'rb') as f:
        data = f.read()
    records = list(struct.iter_unpack('<QQ', data))
    times = [when for when, _ in records]
    check('there is something', len(records) >= 6, len(records))
    check('time goes on', times == sorted(times) and times[-1] > 0, times)
    stack, ok = [], True
    for _, what in records:
        depth = what >> 6 & 0x3ff
        if what & 3 == 0:
            ok &= depth == len(stack)
            stack.append(what >> 16)
        else:
            ok &= bool(stack) and what >> 16 == stack.pop()
            ok &= depth == len(stack)
    check('what is entered is left, at its depth', ok and not stack,
          [hex(what) for _, what in records])
    with open(f'{folder}/u/info', 'rb') as f:
        tids = re.search(rb'taskinfo:tids=([0-9,]*)', f.read())[1].split(b',')
    check('it is one thread', len(tids) == len(set(tids)), tids)


class Client:
    def __init__(self, port):
        until = time.monotonic() + 20
        while True:
            try:
                self.socket = socket.create_connection(('127.0.0.1', port))
                break
            except OSError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.02)
        self.socket.settimeout(60)
        self.left = b''

    def ask(self, packet):
        data = packet.encode()
        self.socket.sendall(b'$%s#%02x' % (data, sum(data) & 0xff))
        while True:
            found = re.match(rb'\+*\$([^#]*)#..', self.left)
            if found:
                self.left = self.left[found.end():]
                self.socket.sendall(b'+')
                return found[1].decode()
            more = self.socket.recv(65536)
            if not more:
                return None
            self.left += more

    def leave(self, packet):
        data = packet.encode()
        self.socket.sendall(b'$%s#%02x' % (data, sum(data) & 0xff))
        self.socket.close()


def lldb(options):
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        port = probe.getsockname()[1]
    for listen in (f':{port}', f'127.0.0.1:{port}', f'tcp:127.0.0.1:{port}'):
        with subprocess.Popen([TOOL, 'gdbserver', *options, '--listen',
                               listen], stderr=subprocess.DEVNULL) as server:
            try:
                client = Client(port)
            except OSError as error:
                server.kill()
                check(f'--listen {listen.replace(str(port), "PORT")}', False,
                      error)
                continue
            check(f'--listen {listen.replace(str(port), "PORT")}',
                  client.ask('?').startswith('T05'))
            if listen.startswith('tcp:'):
                ask_as_lldb(client, server, port)
            else:
                client.leave('k')
            check('kill of gdb ends it', server.wait(60) == 0)


def ask_as_lldb(client, server, port):
    check('gdb: what is not known is xx', set(client.ask('p1')) == {'x'} and
          'xxxx' in client.ask('g'))
    client.leave('D')
    for _ in range(2):
        client = Client(port)
        client.ask('QThreadSuffixSupported')
        check('lldb: what is not known is an error',
              re.fullmatch('E..', client.ask('p1')), client.ask('p1'))
        check('lldb: what is known is not',
              int(client.ask('p0'), 16) == 0 and
              re.fullmatch('[0-9a-f]{16}', client.ask('p20')))
        check('lldb: there are never all registers', client.ask('g') == '')
        client.leave('k')
        client = Client(port)
        check('it goes on when lldb has left', client.ask('?').startswith('T')
              and server.poll() is None)
        client.leave('D')
    Client(port).leave('k')


def main():
    with tempfile.TemporaryDirectory() as folder:
        options = make(folder)
        uftrace(folder, options)
        lldb(options)
    tap.end()


if __name__ == '__main__':
    main()
