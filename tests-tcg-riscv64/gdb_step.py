#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# gdb_step.py SOCKET STEPS
#
# A debugger in a few lines: connects to QEMU's gdbstub, steps the first hart
# that many times, prints the pc before each step, and lets the guest go on
# until it is over.

import socket
import sys
import time


class Gdb:
    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        for attempt in range(100):
            try:
                self.socket.connect(path)
                break
            except OSError:
                if attempt == 99:
                    raise
                time.sleep(0.1)
        self.data = b''

    def send(self, text):
        packet = text.encode()
        self.socket.sendall(b'$%s#%02x' % (packet, sum(packet) & 0xff))

    def receive(self):
        """The next packet's content; None at the end."""
        while True:
            start = self.data.find(b'$')
            end = self.data.find(b'#', start)
            if start >= 0 and end >= 0 and len(self.data) >= end + 3:
                packet = self.data[start + 1:end]
                self.data = self.data[end + 3:]
                try:
                    self.socket.sendall(b'+')
                except BrokenPipeError:     # QEMU is gone: the last packet
                    pass
                return packet.decode()
            try:
                more = self.socket.recv(4096)
            except ConnectionResetError:
                more = b''
            if not more:
                return None
            self.data += more

    def ask(self, text):
        self.send(text)
        answer = self.receive()
        if answer is None or answer.startswith('E'):
            sys.exit(f'{text}: {answer}')
        return answer

    def pc(self):
        return int.from_bytes(bytes.fromhex(self.ask('p20')), 'little')


def main():
    if len(sys.argv) != 3:
        sys.exit('usage: gdb_step.py SOCKET STEPS')
    gdb = Gdb(sys.argv[1])
    gdb.ask('?')
    gdb.ask('Qqemu.sstep=1')    # interrupts and timers go on
    for _ in range(int(sys.argv[2])):
        print(f'{gdb.pc():x}')
        answer = gdb.ask('vCont;s:1')
        if not answer.startswith('T05'):
            sys.exit(f'a step ended with {answer}')
    gdb.send('vCont;c')
    answer = gdb.receive()
    if answer is not None and not answer.startswith(('W00', 'T')):
        sys.exit(f'the end was {answer}')


if __name__ == '__main__':
    main()
