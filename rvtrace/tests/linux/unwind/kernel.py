# SPDX-License-Identifier: GPL-2.0-or-later
#
# The kernel's own stacks: what is compared with the chains of frame pointers
# that frames.c follows, as the kernel does when it prints a stack.
#
# A chain is compared up to the frame of a trap or of a thread's beginning,
# where assembler code has no frame of its own. Where the innermost function has
# no frame, or none yet, or none any more, the chain leaves out its caller, or
# has what is in memory where its address will be saved: it is in ra then.
# "switching" is code that has registers of two stacks, "entry" the assembler
# code of traps, and "assembler" a function that makes calls and has no frame.

import bisect
import subprocess
from collections import Counter

from symbols import table
from tap import LIMIT

# Functions that stacks end at
ENTRIES = {'handle_exception', 'ret_from_exception', 'ret_from_fork',
           'ret_from_fork_asm', 'ret_from_fork_user_asm',
           'ret_from_fork_kernel_asm', '_start_kernel', 'secondary_start_sbi',
           'handle_kernel_stack_overflow'}
SWITCHING = {'__switch_to', 'call_on_irq_stack', 'ftrace_graph_caller',
             'ftrace_caller', 'ftrace_regs_caller', 'return_to_handler',
             'arch_rethook_trampoline'}
FRAMELESS = {'memmove'}
# They stand for the return addresses that they keep.
STANDING_IN = {'return_to_handler', 'arch_rethook_trampoline'}


class Kernel:
    """Functions by address, as rvtrace finds them in the Image"""

    def __init__(self, rvtrace, image, path):
        subprocess.run([rvtrace, 'kernel-elf', '-o', path, image], check=True,
                       timeout=LIMIT)
        symbols = sorted((s for s in table(path) if s.kind in 'tT'),
                         key=lambda s: s.address)
        self.starts = [s.address for s in symbols]
        self.names = [s.name for s in symbols]

    def at(self, address):
        """The function there"""
        i = bisect.bisect(self.starts, address)
        return self.names[i - 1] if i else '?'

    def text(self, chain):
        """The functions of a chain"""
        return ' < '.join(f'{self.at(a)}:{a:x}' for a in chain[:12])


def kernel_stacks(path, wanted=0):
    """
    (instruction, (address, ra, return addresses)) of each moment of a hart in
    turn
    """
    before, moment = None, None
    with open(path, encoding='utf-8') as lines:
        for line in lines:
            hart, *numbers = line.split()
            if int(hart) != wanted:
                continue
            number, pc, ra, *chain = (int(n, 16) for n in numbers)
            # What traps has the number of what retires next.
            if before not in (None, number):
                yield before, moment
            before, moment = number, (pc, ra, chain)
    if before is not None:
        yield before, moment


def is_same(ours, true, kernel):
    """Has the one the same addresses as the other's beginning?"""
    return len(ours) >= len(true) and all(
        a == b or kernel.at(b) in STANDING_IN for a, b in zip(ours, true))


def judge(ours, moment, kernel):
    """What kind of moment it is, of which "same" and "different" count"""
    pc, ra, chain = moment
    if kernel.at(pc) in ENTRIES:
        return 'entry'
    if kernel.at(pc) in SWITCHING:
        return 'switching'
    if kernel.at(pc) in FRAMELESS:
        return 'assembler'
    ends = [i for i, a in enumerate(chain) if kernel.at(a) in ENTRIES]
    true = chain[:ends[0]] if ends else chain
    callers = ours[1:]
    if is_same(callers, true, kernel):
        return 'same'
    if callers and is_same(callers[:1], [ra], kernel) and (
            is_same(callers[1:], true, kernel) or
            is_same(callers[1:], true[1:], kernel)):
        return 'same'
    return 'different'


# Differences that are kept to be shown
EXAMPLES = 1000


def compare_kernel(ours, true, kernel):
    """
    Says how many moments there were, and what is different in some. ours, true:
    (instruction, ...) of each in turn
    """
    kinds, examples = Counter(), []
    before, (number, moment) = None, next(true, (None, None))
    for at, chain in ours:
        while number and number < at:
            kinds['missing'] += number != before
            number, moment = next(true, (None, None))
        if number != at:
            continue
        before = at
        if chain[0] != moment[0]:
            # an instruction that has trapped retires later, or never
            kinds['trapped'] += 1
            continue
        kind = judge(chain, moment, kernel)
        kinds[kind] += 1
        if kind == 'different' and len(examples) < EXAMPLES:
            examples.append(f'instruction {number}:\n'
                            f'  rvtrace  {kernel.text(chain)}\n  true     '
                            f'{kernel.text([moment[0], *moment[2]])}\n'
                            f'  ra       {kernel.text([moment[1]])}')
    return kinds, examples
