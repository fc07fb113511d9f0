# SPDX-License-Identifier: GPL-2.0-or-later
#
# hotspot's parser, and what it tells hotspot of a perf.data file

import glob
import os
import struct
import subprocess

from symbols import table
from tap import LIMIT, need, Skip

PLACES = ('/usr/lib/*/libexec/hotspot-perfparser',
          '/usr/lib*/hotspot-perfparser', '/usr/libexec/hotspot-perfparser')
# Types of messages, as its perfunwind.h has them
COMMAND, LOCATION, SYMBOL, STRING, LOST, ERROR, SAMPLE = 2, 3, 4, 5, 6, 8, 13


def parser():
    """The path of hotspot's parser, which hotspot finds in the same way"""
    found = os.environ.get('HOTSPOT_PERFPARSER') or next(
        (path for place in PLACES for path in glob.glob(place)), None)
    if not found:
        raise Skip('hotspot is not installed (package hotspot)')
    return found


class Stream:
    """What the parser tells hotspot: Qt's data streams, a message each"""

    def __init__(self, path):
        with open(path, 'rb') as file:
            data = file.read()
        need(data.startswith(b'QPERFSTREAM\0'), f'{data[:20]}')
        self.strings, self.locations, self.symbols = {}, {}, {}
        self.commands, self.samples, self.errors = set(), [], []
        at = data.index(b'\0') + 1 + 4
        while at < len(data):
            size, = struct.unpack_from('<I', data, at)
            self.take(data[at + 4], data[at + 5:at + 4 + size])
            at += 4 + size

    def take(self, kind, body):
        if kind == STRING:
            self.strings[self.number(body)] = body[8:].decode()
        elif kind == LOCATION:
            # where it is, and what it lies in; versions differ in between
            self.locations[self.number(body)] = (
                struct.unpack_from('>Q', body, 4)[0], self.number(body[-4:]))
        elif kind == SYMBOL:
            self.symbols[self.number(body)] = \
                struct.unpack_from('>i', body, 4)[0]
        elif kind == COMMAND:
            self.commands.add(struct.unpack_from('>i', body, 20)[0])
        elif kind == SAMPLE:
            time, _, n = struct.unpack_from('>QII', body, 8)
            self.samples.append((time, struct.unpack_from(f'>{n}i', body, 24)))
        elif kind in (LOST, ERROR):
            self.errors.append(body)

    @staticmethod
    def number(body):
        return struct.unpack_from('>i', body)[0]

    def chains(self):
        """Of each sample, addresses and their names, the innermost first"""
        for _, frames in sorted(self.samples):
            yield [(self.locations[frame][0], self.name(frame))
                   for frame in frames]

    def name(self, frame):
        """Its own, or that of the function that it lies in"""
        while self.symbols.get(frame) not in self.strings and \
                frame in self.locations:
            frame = self.locations[frame][1]
        return self.strings.get(self.symbols.get(frame))


def read(folder, data):
    """What the parser makes of a perf.data file"""
    done = subprocess.run([parser(), '--input', data, '--output',
                           f'{folder}/stream'], capture_output=True, text=True,
                          timeout=LIMIT, check=False)
    need(done.returncode == 0, done.stderr)
    stream = Stream(f'{folder}/stream')
    need(not stream.errors, f'{stream.errors}')
    return stream


def check_names(stream, elf):
    """A frame has the name that nm has for its address; how many have one"""
    symbols = [s for s in table(elf) if s.size and s.kind in 'tTwW']
    named = 0
    for address, name in {frame for chain in stream.chains()
                          for frame in chain}:
        inside = {s.name for s in symbols
                  if s.address <= address < s.address + s.size}
        need(not inside or name in inside, f'{address:x}: {name}, not {inside}')
        named += bool(inside)
    return named
