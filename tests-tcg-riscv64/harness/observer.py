# SPDX-License-Identifier: GPL-2.0-or-later
#
# What an observer (../plugin) has written down until now: a line for each
# instruction that retired, "HART PC".

import os
import subprocess

from tap import Problem, size_of, until

PART = 1 << 20          # bytes read at a time


class Observer:
    """Follows the file while the guest runs"""

    def __init__(self, path):
        self.path = path

    def go_on(self, harts, many):
        """
        Until each hart has retired so many more. The guest writes faster than
        Python reads: nothing that was written before is looked at.
        """
        seen = [0] * harts
        read = max(size_of(self.path) - 1, 0)

        def enough():
            nonlocal read
            if size_of(self.path) > read:
                with open(self.path, 'rb') as file:
                    file.seek(read)
                    data = file.read(PART)
                # a line belongs to the part that has what ends the one before
                end = data.rfind(b'\n')
                if end > 0:
                    read += end
                    for hart in range(harts):
                        seen[hart] += data.count(b'\n%d ' % hart, 0, end)
            return min(seen) > many

        until(enough, lambda: f'the harts do not go on: {seen} retired')

    def pcs(self, hart):
        """
        The lines of a hart without its number, when QEMU has ended. There are
        tens of megabytes: Python takes them from a file, in one piece.
        """
        own = f'{self.path}.{hart}'
        with open(own, 'wb') as file:
            subprocess.run(
                ['sh', '-c', 'grep "^$1 " "$2" | cut -d" " -f2', 'sh',
                 str(hart), self.path], stdout=file, check=True,
                env={**os.environ, 'LC_ALL': 'C'})
        with open(own, 'rb') as file:
            lines = file.read()
        os.remove(own)
        return lines


def same(decoded, truth, what='the decoded trace'):
    """Lists of pcs, or lines where there are millions"""
    if decoded == truth:
        return
    decoded, truth = (pcs.split() if isinstance(pcs, bytes) else pcs
                      for pcs in (decoded, truth))
    i = next((i for i, (a, b) in enumerate(zip(decoded, truth)) if a != b),
             min(len(decoded), len(truth)))
    raise Problem(f'{what}: {len(decoded)} instructions, {len(truth)} '
                  f'retired, different from number {i} on: '
                  f'{decoded[i:i + 4]}, retired {truth[i:i + 4]}')
