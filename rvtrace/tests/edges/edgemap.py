# SPDX-License-Identifier: GPL-2.0-or-later
#
# The maps of edges, from a list of the instructions that ran and the program's
# disassembly: what rvtrace edges has to say

import os
import re
import subprocess
from collections import Counter

CROSS = os.environ.get('CROSS', 'riscv64-linux-gnu-')
# Instructions behind which a block ends: branches, taken or not, and jumps
LEAVES = re.compile(r'(b(eq|ne|lt|ge|gt|le)u?z?|c\.(beqz|bnez|j|jal|jr|jalr)|'
                    r'j|jal|jr|jalr|ret|call|tail|[ms]ret)$')


class Program:
    """Its code, by objdump: at each address, how long it is, and if it leaves"""

    def __init__(self, elf):
        self.size, self.leaves, self.at, self.ends = {}, set(), {}, {}
        done = subprocess.run([f'{CROSS}objdump', '-dz', '-M', 'no-aliases',
                               elf], capture_output=True, text=True,
                              check=True)
        name = None
        for line in done.stdout.splitlines():
            if match := re.match(r'([0-9a-f]+) <(.*)>:$', line):
                name = match[2]
                self.at[name] = int(match[1], 16)
            elif match := re.match(r'\s*([0-9a-f]+):\s+([0-9a-f]+)\s+(\S+)',
                                   line):
                pc = int(match[1], 16)
                self.size[pc] = len(match[2]) // 2
                self.ends[name] = pc + self.size[pc]
                if LEAVES.match(match[3]):
                    self.leaves.add(pc)

    def has(self, name, pc):
        return self.at[name] <= pc < self.ends[name]


def calls(program, pcs, name, without=()):
    """
    (begin, end) of the calls of a function, as places in pcs: behind the jump to it,
    and behind its return; but for those that it makes of itself. Without what the
    functions in "without" run in between.
    """
    found, back, depth = [], None, 0
    before, behind = None, 0
    for i, pc in enumerate(pcs):
        if any(program.has(other, pc) for other in without):
            continue
        jumped = before is not None and before in program.leaves
        if pc == program.at[name] and jumped:
            if not depth:
                found.append([behind, None])
                back = before + program.size[before]
            depth += 1
        elif depth and jumped and not program.has(name, pc) and pc == back and \
                program.has(name, before):
            found[-1][1] = behind
            depth = 0
        before, behind = pc, i + 1
    return [tuple(call) for call in found]


def edges(program, pcs, wanted=lambda pc: True):
    """{index: count} for the instructions whose address is wanted"""
    counts, before, last = Counter(), 0, None
    for pc in pcs:
        if not wanted(pc):
            continue
        if last is None or last in program.leaves or \
                pc != last + program.size[last]:
            number = (pc >> 4 ^ pc << 8) & 0xffff
            counts[number ^ before] += 1
            before = number >> 1
        last = pc
    return counts


def classes(counts):
    """As AFL's documentation has them: 1, 2, 3, 4-7, 8-15, 16-31, 32-127, 128+"""
    limits = (1, 2, 3, 7, 15, 31, 127)
    return {index: 1 + sum(count > limit for limit in limits)
            for index, count in counts.items()}
