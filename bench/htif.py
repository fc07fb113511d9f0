# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs programs that speak HTIF: what they write to "tohost" is a request to a
host, 2 * status + 1 to end. QEMU's virt machine has no such host; here it is
a debugger with a watchpoint.

Programs with 32 bits are linked to where the machine has flash memory. They
run in S-mode, behind a page table (htif32.S).
"""

import os
import socket
import struct
import subprocess
import time

HERE = os.path.dirname(os.path.realpath(__file__))
FLASH, RAM = 0x20000000, 0x81000000     # as htif32.S maps them


class Elf:
    def __init__(self, path):
        with open(path, 'rb') as file:
            self.data = file.read()
        if self.data[:4] != b'\x7fELF' or self.data[5] != 1:
            raise RuntimeError(f'{path}: no little-endian ELF file')
        self.bits = 32 * self.data[4]
        wide = self.bits == 64
        self.entry, phoff, shoff = struct.unpack_from(
            '<QQQ' if wide else '<III', self.data, 24)
        phsize, phnum, shsize, shnum = struct.unpack_from(
            '<HHHH', self.data, 54 if wide else 42)
        self.segments = []      # (address, bytes)
        for at in range(phoff, phoff + phsize * phnum, phsize):
            if wide:
                kind, _, offset, address, _, size = struct.unpack_from(
                    '<IIQQQQ', self.data, at)
            else:
                kind, offset, address, _, size = struct.unpack_from(
                    '<IIIII', self.data, at)
            if kind == 1 and size:
                self.segments.append((address,
                                      self.data[offset:offset + size]))
        sections = [struct.unpack_from('<IIQQQQIIQQ' if wide else
                                       '<IIIIIIIIII', self.data,
                                       shoff + i * shsize)
                    for i in range(shnum)]
        self.symbols = {}
        for section in sections:
            if section[1] == 2:
                names = sections[section[6]][4]
                for at in range(section[4], section[4] + section[5],
                                section[9]):
                    name = struct.unpack_from('<I', self.data, at)[0]
                    value = struct.unpack_from(
                        '<Q' if wide else '<I', self.data,
                        at + (8 if wide else 4))[0]
                    end = self.data.index(b'\0', names + name)
                    self.symbols[self.data[names + name:end]] = value


class Gdb:
    """QEMU's gdbstub, from the debugger's side"""

    def __init__(self, path, limit):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(limit)
        for attempt in range(200):
            try:
                self.socket.connect(path)
                break
            except OSError:
                if attempt == 199:
                    raise
                time.sleep(0.05)
        self.data = b''

    def send(self, text):
        packet = text.encode()
        self.socket.sendall(b'$%s#%02x' % (packet, sum(packet) & 0xff))

    def ask(self, text):
        self.send(text)
        while True:
            start = self.data.find(b'$')
            end = self.data.find(b'#', start)
            if start >= 0 and 0 <= end <= len(self.data) - 3:
                break
            more = self.socket.recv(4096)
            if not more:
                raise RuntimeError('QEMU has gone')
            self.data += more
        answer = self.data[start + 1:end]
        self.data = self.data[end + 3:]
        self.socket.sendall(b'+')
        if answer.startswith(b'E'):
            raise RuntimeError(f'{text}: {answer.decode()}')
        return answer.decode()

    def read(self, address):
        """Eight bytes, as a number"""
        return int.from_bytes(bytes.fromhex(self.ask(f'm{address:x},8')),
                              'little')

    def write(self, address, value):
        self.ask(f'M{address:x},8:' + value.to_bytes(8, 'little').hex())


def serve(gdb, elf, limit):
    """Answer the program's requests until it ends: its status"""
    tohost, fromhost = elf.symbols[b'tohost'], elf.symbols[b'fromhost']
    watchpoint = f'2,{tohost:x},{elf.bits // 8}'
    gdb.ask('?')
    end = time.monotonic() + limit
    while time.monotonic() < end:
        # it stops in front of the instruction
        gdb.ask('Z' + watchpoint)
        gdb.ask('c')
        gdb.ask('z' + watchpoint)
        gdb.ask('s')
        request = gdb.read(tohost)
        if request & 1:
            return request >> 1
        if request:
            # a system call: done, and what it says is of no interest
            gdb.write(tohost, 0)
            gdb.write(fromhost, 1)
    raise RuntimeError('the program does not end')


def run(command, path, directory, limit):
    """Add the program to QEMU's command line, and run it to its end."""
    elf = Elf(path)
    if b'tohost' not in elf.symbols or b'fromhost' not in elf.symbols:
        raise RuntimeError(f'{path}: no tohost and fromhost')
    command = command + ['-m', '128M', '-bios', 'none', '-S']
    if elf.bits == 64:
        command += ['-cpu', 'rv64', '-device',
                    f'loader,file={path},cpu-num=0']
    else:
        begin = f'{directory}/begin.elf'
        subprocess.run(
            ['riscv64-linux-gnu-gcc', '-march=rv32g', '-mabi=ilp32d',
             '-nostdlib', '-static', '-no-pie', '-Wl,--build-id=none',
             '-Wl,-Ttext=0x82000000', f'-DENTRY={elf.entry:#x}',
             f'{HERE}/htif32.S', '-o', begin], check=True)
        command += ['-cpu', 'rv32,pmp=off', '-device',
                    f'loader,file={begin},cpu-num=0']
        for number, (address, data) in enumerate(elf.segments):
            if FLASH <= address < FLASH + (4 << 20):
                address += RAM - FLASH
            name = f'{directory}/segment{number}'
            with open(name, 'wb') as file:
                file.write(data)
            command += ['-device', f'loader,file={name},addr={address:#x},'
                        'force-raw=on']
    stub = f'{directory}/gdb'
    command += ['-chardev', f'socket,id=gdb,path={stub},server=on,wait=off',
                '-gdb', 'chardev:gdb']
    with open(f'{directory}/log', 'wb') as log:
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL,
                                 stdout=log, stderr=log)
    try:
        gdb = Gdb(stub, limit)
        status = serve(gdb, elf, limit)
        gdb.send('qRcmd,' + b'quit'.hex())
        child.wait(60)
    except (OSError, RuntimeError, subprocess.TimeoutExpired) as why:
        with open(f'{directory}/log', encoding='utf-8') as log:
            raise RuntimeError(f'{path}: {why}\n{log.read()}') from why
    finally:
        child.kill()
        child.wait()
    if status or child.returncode:
        raise RuntimeError(f'{path}: status {status}, QEMU\'s '
                           f'{child.returncode}')
