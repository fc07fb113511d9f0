#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# migrate.py DIRECTORY HOSTILE QEMU OPTION...
#
# Runs migrate.elf and moves it to a new QEMU wherever it asks for it; its
# output goes on to standard output. Then gives a QEMU a state in which
# sctrdepth is beyond all depths: it has to refuse it. That result goes to the
# file HOSTILE: "ok" or what happened.

import json
import re
import subprocess
import sys
import time


class Machine:
    """A QEMU with the guest's UART and the monitor on pipes"""

    def __init__(self, command, directory, name):
        self.log = f'{directory}/{name}.log'
        with open(self.log, 'wb') as log:
            self.process = subprocess.Popen(
                command + ['-display', 'none', '-serial', 'mon:stdio'],
                stdin=subprocess.PIPE, stdout=log, stderr=subprocess.STDOUT)
        self.shown = 0

    def text(self):
        with open(self.log, encoding='utf-8', errors='replace') as log:
            return log.read().replace('\r', '')

    def wait_for(self, words, limit=60):
        end = time.monotonic() + limit
        while time.monotonic() < end:
            if re.search(words, self.text()):
                return True
            if self.process.poll() is not None:
                return bool(re.search(words, self.text()))
            time.sleep(0.05)
        return False

    def send(self, keys):
        self.process.stdin.write(keys)
        self.process.stdin.flush()

    def end(self):
        self.process.kill()
        self.process.wait()


def with_sctrdepth(stream, value):
    """The stream with another sctrdepth, found by its description"""
    for match in re.finditer(rb'\x06(....)\{"', stream, re.S):
        length = int.from_bytes(match[1], 'big')
        start = match.start() + 5
        try:
            description = json.loads(stream[start:start + length])
            break
        except ValueError:
            pass
    else:
        raise SystemExit('the stream has no description')

    def find(node):
        if isinstance(node, list):
            for item in node:
                yield from find(item)
        elif isinstance(node, dict):
            if node.get('vmsd_name') == 'cpu/ctr':
                yield node
            for item in node.values():
                yield from find(item)

    for section in find(description):
        version = section['version'].to_bytes(4, 'big')
        at = stream.find(b'\x05\x07cpu/ctr' + version)
        if at < 0:
            continue
        at += 9 + 4
        for field in section['fields']:
            if field['name'].endswith('sctrdepth'):
                return (stream[:at] + value.to_bytes(field['size'], 'big') +
                        stream[at + field['size']:])
            at += field['size'] * field.get('array_len', 1)
    raise SystemExit('the stream has no cpu/ctr with sctrdepth')


def guest_lines(text):
    """What the guest wrote, without the monitor's chatter"""
    return [line for line in text.split('\n')
            if re.match(r'(ok|not ok|#|1\.\.|Bail)', line)]


def main():
    directory, hostile, qemu = sys.argv[1:4]
    command = [qemu] + sys.argv[4:]
    state = f'{directory}/state'
    machine = Machine(command, directory, 'machine0')
    for move in range(1, 3):
        if not machine.wait_for('migrate now'):
            print(machine.text())
            machine.end()
            sys.exit('the guest did not ask for the migration')
        machine.send(b'\x01c')                      # to the monitor
        machine.send(b'migrate file:%s%d\n' % (state.encode(), move))
        machine.wait_for(r'migrate file[^\n]*\n(?:[^\n]*\n)*?\(qemu\) ')
        machine.send(b'info migrate\n')
        if not machine.wait_for('completed'):
            print(machine.text())
            machine.end()
            sys.exit('the machine cannot be migrated')
        print('\n'.join(guest_lines(machine.text())))
        machine.end()
        machine = Machine(command + ['-incoming', f'file:{state}{move}'],
                          directory, f'machine{move}')
        # a character only counts when the machine runs
        machine.send(b'\x01c')
        for _ in range(100):
            machine.send(b'info status\n')
            if machine.wait_for('VM status: running', 0.3):
                break
        machine.send(b'\x01c')
        machine.send(b'g')
    machine.wait_for(r'\n1\.\.\d+')
    print('\n'.join(guest_lines(machine.text())), flush=True)
    machine.process.stdin.close()
    try:
        machine.process.wait(10)
    except subprocess.TimeoutExpired:
        machine.end()

    result = 'ok'
    for value in (5, 0xffffffff):
        with open(f'{state}1', 'rb') as file:
            stream = with_sctrdepth(file.read(), value)
        with open(f'{state}-hostile', 'wb') as file:
            file.write(stream)
        machine = Machine(command + ['-incoming', f'file:{state}-hostile'],
                          directory, 'hostile')
        machine.send(b'\x01c')
        for _ in range(40):
            try:
                machine.send(b'info status\n')
            except OSError:
                break
            if machine.wait_for('VM status: running', 0.3):
                break
        if machine.process.poll() is None:
            result = f'an incoming sctrdepth of {value:#x} is accepted'
            machine.end()
        elif machine.process.returncode < 0 or 'ctr' not in machine.text():
            result = (f'an incoming sctrdepth of {value:#x} ends with '
                      f'{machine.process.returncode}: {machine.text()}')
        if result != 'ok':
            break
    with open(hostile, 'w', encoding='utf-8') as file:
        file.write(result + '\n')


main()
