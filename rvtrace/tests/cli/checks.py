# SPDX-License-Identifier: GPL-2.0-or-later
#
# What the tests of the program share: results, in TAP, and how traces that are
# made here are encoded

import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)),
                             *['..'] * 3, 'tests-tcg-riscv64', 'harness'))

from tap import Tap                         # noqa: E402

tap = Tap()
skip = tap.skip
# of a hart of RV64 without options, for encode and decode
PARAMS = [f'--param={name}' for name in (
    'src_bits=0', 'iaddress_lsb=0', 'privilege_width=2', 'ecause_width=6',
    'time_width=0', 'context_width=0', 'return_stack_size=0', 'bpred_size=0',
    'cache_size=0', 'f0s_width=0', 'sijump=0')]


def check(name, ok, note=''):
    """The note says what is wrong, if something is."""
    tap.say(ok, name, *([] if ok else [str(note)]))
