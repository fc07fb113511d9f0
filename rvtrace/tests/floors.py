#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The floors of rvtrace: a file includes files of its own directory and of
# directories that are listed before it in meson.build, and no others; no
# directory has more than 40 files; and there is no circle of includes or of
# calls between files. TAP.
#
#   floors.py BUILD    BUILD: where rvtrace was built

import glob
import os
import re
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
MOST_FILES = 40


def sources(floors):
    """(directory, name, text) of each file that is on a floor"""
    for floor in floors:
        for name in sorted(os.listdir(os.path.join(TOP, floor))):
            path = os.path.join(TOP, floor, name)
            if os.path.isfile(path):
                with open(path, encoding='utf-8') as f:
                    yield floor, name, f.read()


def upward(floors):
    return [f'{here}/{name} includes a file of {room}'
            for here, name, text in sources(floors)
            for room in re.findall(r'^#include "(.*)/[^/]*"', text, re.M)
            if room in floors and floors.index(room) > floors.index(here)]


def crowded():
    return [f'{os.path.relpath(folder, TOP)} has {len(files)} files'
            for folder, _, files in os.walk(TOP)
            if len(files) > MOST_FILES and 'seeds' not in folder]


def reachable(graph, start):
    seen, left = set(), [start]
    while left:
        for name in graph.get(left.pop(), ()):
            if name not in seen:
                seen.add(name)
                left.append(name)
    return seen


def circles(graph):
    reach = {name: reachable(graph, name) for name in graph}
    return sorted({' '.join(sorted(other for other in reach[name]
                                   if name in reach.get(other, ())))
                   for name in graph if name in reach[name]})


def includes(floors):
    return {f'{here}/{name}': set(re.findall(r'^#include "(.*)"', text, re.M))
            for here, name, text in sources(floors)}


def calls(build):
    """By the symbols that each object file defines and needs"""
    objects = (glob.glob(f'{build}/librvtrace.a.p/*.o') +
               glob.glob(f'{build}/rvtrace.p/*.o'))
    listed = subprocess.run(['nm', '-A', '-P', *objects], check=True, text=True,
                            capture_output=True).stdout
    defined, needed = {}, {}
    for path, symbol, kind in re.findall(r'^.*/(.*)\.c\.o: (\S+) (\w)', listed,
                                         re.M):
        name = path.replace('_', '/')
        if kind == 'U':
            needed.setdefault(name, set()).add(symbol)
        elif kind in 'TDBRC':
            defined[symbol] = name
    return {name: {defined[symbol] for symbol in symbols & defined.keys()}
            for name, symbols in needed.items()}


def main():
    with open(os.path.join(TOP, 'meson.build'), encoding='utf-8') as f:
        floors = re.findall(r"^  '([\w/]+)': \[", f.read(), re.M)
    called = calls(sys.argv[1])
    tests = [('every include goes down', upward(floors)),
             ('no directory is crowded', crowded()),
             ('there is no circle of includes', circles(includes(floors))),
             ('there are calls', [] if called else ['no object files']),
             ('there is no circle of calls', circles(called))]
    for number, (name, found) in enumerate(tests, 1):
        print(f"{'not ok' if found else 'ok'} {number} - {name}")
        for line in found:
            print(f'# {line}')
    print(f'1..{len(tests)}')
    return any(found for _, found in tests)


if __name__ == '__main__':
    sys.exit(main())
