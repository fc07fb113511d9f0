# SPDX-License-Identifier: GPL-2.0-or-later
#
# What an observer (../plugin) has written down until now: a line for each
# instruction that retired, "HART PC".

from collections import Counter

from tap import size_of, until


class Observer:
    """Counts instructions while the guest runs; the file is read once."""

    def __init__(self, path):
        self.path = path
        self.seen = Counter()       # by hart, in what was read
        self.read = 0

    def counts(self):
        if size_of(self.path) > self.read:
            with open(self.path, 'rb') as file:
                file.seek(self.read)
                data = file.read(1 << 26)
            end = data.rfind(b'\n') + 1
            self.read += end
            self.seen.update(int(line.split(b' ', 1)[0])
                             for line in data[:end].splitlines())
        return self.seen

    def go_on(self, harts, many):
        """Until it has seen so many more of each hart"""
        before = self.counts().copy()
        until(lambda: all(self.counts()[hart] - before[hart] > many
                          for hart in range(harts)),
              lambda: f'the harts do not go on: {before}, {self.seen}')

    def pcs(self, hart):
        """The lines of a hart, all of them when QEMU has ended"""
        prefix = f'{hart} '
        with open(self.path, encoding='ascii') as lines:
            return [line[len(prefix):].strip() for line in lines
                    if line.startswith(prefix)]
