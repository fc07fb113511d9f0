# SPDX-License-Identifier: GPL-2.0-or-later
#
# Finds the state of CTR in a migration stream, by the stream's own description.

import json
import re

from links import Error

# The section of a hart, and its subsection
SECTIONS = ('cpu/ctr', 'cpu/ctr/cycles')


class Stream:
    """A migration stream, and where the state of hart 0's CTR is in it"""

    def __init__(self, data):
        self.data = data
        self.places = {}
        description = self.description()
        for name in SECTIONS:
            for node in self.find(description, name):
                start = data.find(b'\x05' + bytes([len(name)]) +
                                  name.encode() +
                                  node['version'].to_bytes(4, 'big'))
                if start >= 0:
                    self.walk(node['fields'], start + 6 + len(name))
        if not self.places:
            raise Error('the stream has no cpu/ctr')

    def description(self):
        for match in re.finditer(rb'\x06(....)\{"', self.data, re.S):
            start = match.start() + 5
            length = int.from_bytes(match[1], 'big')
            try:
                return json.loads(self.data[start:start + length])
            except ValueError:
                pass
        raise Error('the stream has no description')

    def find(self, node, name):
        items = node if isinstance(node, list) else (
            node.values() if isinstance(node, dict) else ())
        if isinstance(node, dict) and node.get('vmsd_name') == name:
            yield node
        for item in items:
            yield from self.find(item, name)

    def walk(self, fields, at):
        for field in fields:
            name = field['name'].rpartition('.')[2]
            count = field.get('array_len')
            if 'fields' in field:       # of a structure in the stream only
                self.walk(field['fields'], at)
                at += field['size']
                continue
            for i in range(count or 1):
                self.places[name if count is None else f'{name}[{i}]'] = (
                    at, field['size'])
                at += field['size']

    def has(self, name):
        return name in self.places

    def get(self, name):
        at, size = self.places[name]
        return int.from_bytes(self.data[at:at + size], 'big')

    def but(self, values):
        """The stream with other values"""
        data = bytearray(self.data)
        for name, value in values.items():
            at, size = self.places[name]
            data[at:at + size] = value.to_bytes(size, 'big')
        return bytes(data)
