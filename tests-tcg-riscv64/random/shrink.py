# SPDX-License-Identifier: GPL-2.0-or-later
#
# Makes a failing case smaller as long as it fails the same way.

import copy
import time

# Options of the machine, and what is simplest
PLAIN = {'one_insn': False, 'nochain': False, 'tb_size': 0, 'log': False,
         'icount': False, 'thread': 'multi', 'v': False, 'h': False,
         'ctr': False, 'zc': False, 'zicfilp': False, 'triggers': False,
         'software': False, 'filter': [], 'scenario': 'plain', 'xlen': 64, 'c': True}


def lists(case):
    """All lists that elements can be taken from, the largest parts first"""
    found = [case['events']]
    for hart in case['program']['harts']:
        found.append(hart)
    for hart in case['program']['harts']:
        found += [region['elements'] for region in hart]
    found += [function['elements'] for function in case['program']['functions']]
    found.append(case['machine']['props'])
    found.append(case['machine'].get('filter') or [])
    return found


class Shrinker:
    def __init__(self, case, fails, seconds):
        self.best = case
        self.fails = fails          # fails(case): does it, the same way?
        self.end = time.monotonic() + seconds
        self.tries = 0

    def attempt(self, smaller):
        if time.monotonic() > self.end or smaller == self.best:
            return False
        self.tries += 1
        if self.fails(smaller):
            self.best = smaller
            return True
        return False

    def take_away(self, which):
        """ddmin on one of the lists"""
        size = len(lists(self.best)[which])
        step = max(size, 1)
        while step:
            at = 0
            while at < len(lists(self.best)[which]):
                smaller = copy.deepcopy(self.best)
                del lists(smaller)[which][at:at + step]
                if not self.attempt(smaller):
                    at += step
            step //= 2

    def set(self, place, value):
        """place: keys that lead there"""
        smaller = copy.deepcopy(self.best)
        inner = smaller
        for key in place[:-1]:
            inner = inner[key]
        if place[-1] not in inner or inner[place[-1]] == value:
            return
        inner[place[-1]] = value
        self.attempt(smaller)

    def run(self):
        before = None
        while before != self.best and time.monotonic() < self.end:
            before = copy.deepcopy(self.best)
            for harts in range(1, self.best['machine']['harts']):
                self.set(('machine', 'harts'), harts)
            which = 0
            while which < len(lists(self.best)):
                self.take_away(which)
                which += 1
            for name, value in PLAIN.items():
                self.set(('machine', name), value)
            for h, hart in enumerate(self.best['program']['harts']):
                for i in range(len(hart)):
                    place = ('program', 'harts', h, i)
                    for name, value in (('loops', 1), ('sie', 0), ('mpie', 0),
                                        ('mideleg', 0), ('hideleg', 0),
                                        ('medeleg', 0), ('hedeleg', 0),
                                        ('hgatp', 'bare'), ('satp', 'bare')):
                        self.set((*place, name), value)
        return self.best
