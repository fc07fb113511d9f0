# SPDX-License-Identifier: GPL-2.0-or-later
#
# What is compared: `rvtrace script --period N` has the call chain at every N-th
# instruction, and the plugin frames.c unwound the stack at the same ones.
#
# Not compared is what the plugin cannot know: "switching" is code that has
# registers of two stacks, also longjmp() of a library, "handlers at once" where
# a handler of a signal has been interrupted before it has begun, which the
# trace shows only afterwards,
# "behind a fault" where the next handler begins before what the handler of a
# fault has gone on behind, "millicode" functions of libgcc of which it has not
# all information, and "not known" stacks of which it did not find the end: with
# -msave-restore, GCC 12 says something wrong behind the body of some functions.
# That is why a few of the others are different there, too.

import bisect
import os
import re
import subprocess
from collections import Counter, defaultdict

from symbols import table
from tap import LIMIT, need

# of rvtrace's chains
MAX_CHAIN = 127
# where walk.c's fault_jump() leads
NOWHERE = 0x40


OBJDUMP = os.environ.get('CROSS', 'riscv64-linux-gnu-') + 'objdump'


def disassembled(elf):
    """What objdump says of the program's code"""
    return subprocess.run([OBJDUMP, '-d', elf], capture_output=True, check=True,
                          encoding='utf-8', timeout=LIMIT).stdout


def jumps_to_restore(code):
    """Where functions go on in libgcc, which restores registers and returns"""
    return {int(address, 16) for address in re.findall(
        r'^ *([0-9a-f]+):.*\bj\b.*<__riscv_restore_', code, re.MULTILINE)}


def behind_setjmp(code):
    """Where setjmp() of a library returns to, and longjmp() leads"""
    return {int(address, 16) + len(insn) // 2 for address, insn in re.findall(
        r'^ *([0-9a-f]+):\s+([0-9a-f]+)\s+jal\b.*<_*(?:sig)?setjmp@plt>', code,
        re.MULTILINE)}


class Names:
    """
    Functions by address. roots: those that nothing calls; handlers: those of
    signals; faults: those whose faults a handler goes on behind
    """

    def __init__(self, elf, roots, handlers=(), faults=()):
        self.roots = roots
        self.faults = faults
        symbols = sorted((s for s in table(elf) if s.kind in 'tTwW'),
                         key=lambda s: s.address)
        code = disassembled(elf)
        self.restores = jumps_to_restore(code)
        self.behind_setjmp = behind_setjmp(code)
        self.handlers = {s.address for s in symbols if s.name in handlers}
        self.starts = [s.address for s in symbols]
        self.names = [s.name for s in symbols]

    def at(self, address):
        """The label in front of the address"""
        i = bisect.bisect(self.starts, address)
        return self.names[i - 1] if i else '?'

    def is_switching(self, address, caller):
        """Has the code there registers of two stacks?"""
        return self.at(address).endswith('_switching') or \
            (address > self.starts[-1] and caller in self.behind_setjmp)

    def count_roots(self, chain):
        """How many functions of the chain nothing calls"""
        return sum(self.at(a) in self.roots for a in chain)

    def may_end(self, address):
        """Can a chain end there? If it is in a library, nothing is known."""
        return address > self.starts[-1] or self.at(address) in self.roots

    def text(self, chain):
        """The functions of a chain"""
        return ' < '.join(f'{self.at(a)}:{a:x}' for a in chain[:12])


def true_pointers(path):
    """{instruction: sp before it}"""
    with open(path, encoding='utf-8') as lines:
        words = [line.split() for line in lines]
    return {int(line[1], 16): int(line[3], 16) for line in words}


def true_stacks_of_harts(path):
    """{hart: {instruction: (addresses, those that a trap interrupted, why)}}"""
    harts = defaultdict(dict)
    with open(path, encoding='utf-8') as lines:
        for line in lines:
            hart, number, why, _, *chain = line.split()
            traps = [int(a[1:], 16) for a in chain if a[0] == '!']
            harts[int(hart)][int(number, 16)] = (
                [int(a.lstrip('!'), 16) for a in chain], traps, why)
    return harts


def true_stacks(path):
    """The same of a machine with one hart"""
    harts = true_stacks_of_harts(path)
    need(not harts or list(harts) == [0], 'there is one hart')
    return harts[0]


def our_samples(lines, period, first):
    """
    (instruction, line, addresses) of each sample of rvtrace's, from the first
    one on: the line that it begins with, and its call chain
    """
    number, head, chain = first, None, []
    for line in lines:
        if line.startswith('\t'):
            chain.append(int(line.split()[0], 16))
        elif line.strip():
            if head:
                yield number, head, chain
                number += period
            head, chain = line, []
    if head:
        yield number, head, chain


def difference(ours, true, names):
    """What kind of difference there is; None: none"""
    if ours == true:
        return None
    if names.count_roots(ours) > 1:
        return 'below another task'
    if ours == true[:len(ours)]:
        return 'outer functions are missing'
    if true == ours[:len(true)]:
        return 'too many outer functions'
    if ours[-1:] == true[-1:]:
        return 'different, with the same outermost function'
    return 'different'


def compare(ours, true, names):
    """Says how many moments there were, how many are wrong, and how"""
    kinds, examples = Counter(), []
    for number in sorted(ours.keys() & true.keys()):
        chain, traps, why = true[number]
        mine = ours[number]
        if any(names.is_switching(a, caller)
               for a, caller in zip(chain, [*chain[1:], 0])
               if a in [chain[0], *traps]):
            kinds['switching'] += 1
            continue
        if any(a in names.restores or
               (names.at(a).startswith('__riscv_save_') and
                names.at(a) != '__riscv_save_0') for a in [chain[0], *traps]):
            # of which libgcc does not tell all, or GCC something wrong
            kinds['millicode'] += 1
            continue
        if any(a in names.handlers for a in traps):
            kinds['handlers at once'] += 1
            continue
        if why not in ('end', 'deep') or not names.may_end(chain[-1]) or \
                names.count_roots(chain) > 1:
            # The compiler's information is not complete.
            kinds['not known'] += 1
            continue
        if len(chain) > MAX_CHAIN:
            kinds['deep'] += 1
            chain = chain[:MAX_CHAIN]
        if names.faults and (
                (NOWHERE in mine and NOWHERE not in chain) or
                any(a + 4 == b and names.at(b) in names.faults
                    for a, b in zip(mine, chain))):
            kinds['behind a fault'] += 1
            continue
        wrong = difference(mine, chain, names)
        kinds['compared'] += 1
        if wrong:
            kinds[wrong] += 1
            examples.append(f'{wrong} at instruction {number}:\n'
                            f'  rvtrace  {names.text(mine)}\n'
                            f'  true     {names.text(chain)}')
    return kinds, examples
