# SPDX-License-Identifier: GPL-2.0-or-later
"""What is in a report: its JSON, and the counts that are packed in it"""

import base64
import collections
import json
import re


class Packed:
    """Numbers of 7 bits a byte, the low ones first, in base64"""

    def __init__(self, text):
        self.data = base64.b64decode(text, validate=True)
        self.pos = 0

    def more(self):
        return self.pos < len(self.data)

    def number(self):
        value = shift = 0
        while True:
            byte = self.data[self.pos]
            self.pos += 1
            value |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                return value

    def counts(self):
        """Of one thing: {bin: count}"""
        counts, at = {}, 0
        for _ in range(self.number()):
            at += self.number()
            counts[at] = self.number()
            at += 1
        return counts


class Report:
    """A report that was written to a file"""

    def __init__(self, path):
        with open(path, encoding='utf-8') as f:
            text = f.read()
        found = re.search(r'<script type="application/json" id="data">(.*?)'
                          '</script>', text, re.S)
        self.data = json.loads(found[1])
        self.axis = self.data['axis']
        # instructions in a bin of call stacks, or ns
        self.width = self.axis['width'] * self.axis['per']

    def stacks(self, first=0, last=None):
        """Instructions of bins @first to @last - 1: {(frame, ...): count}"""
        packed, path = Packed(self.data['tree']), []
        sums = collections.Counter()
        while packed.more():
            up = packed.number()
            del path[len(path) - up if path else 0:]
            what = packed.number()
            path.append(self.data['frames'][(what - 1) // 8][0] if what else
                        'others' if path else 'all')
            for where, count in packed.counts().items():
                if first <= where and (last is None or where < last):
                    sums[tuple(path[1:])] += count
        return sums

    def hart(self, hart, what, first=0, last=None):
        """Of "tasks" (the nobody's first, then the others'), or "traps" """
        packed = Packed(self.data['harts'][hart][what])
        sums = []
        while packed.more():
            sums.append(sum(n for where, n in packed.counts().items()
                            if first <= where and
                            (last is None or where < last)))
        return sums
