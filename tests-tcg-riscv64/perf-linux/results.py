# SPDX-License-Identifier: GPL-2.0-or-later
#
# What several scripts find in turn, as TAP with one numbering: the plan is the
# caller's.

import sys

failed = number = 0


def begin(before):
    """So many tests were before these."""
    global number
    number = before


def result(good, name, *notes):
    global failed, number
    number += 1
    failed += not good
    print(f"{'ok' if good else 'not ok'} {number} - {name}", *notes,
          sep='\n# ', flush=True)


def end():
    sys.exit(failed > 0)
