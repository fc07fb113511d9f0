#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# programs.py many|each|pages: C of many functions, for run.sh
#
# many: a library, whose functions call each other and the program's
# call_back(). each: the program's part that calls all of them. pages: a tree
# of functions, each of which has one caller.

import sys

MANY = 120
DEPTH = 5           # of calls within the library
PAGES = 240
CHILDREN = 3
BODY = 30           # statements, so that a page is known by its bytes


def many():
    for i in range(MANY):
        print(f'unsigned many_{i}(unsigned depth, unsigned value);')
    print('unsigned call_back(unsigned depth, unsigned value);')
    for i in range(MANY):
        print(f'unsigned many_{i}(unsigned depth, unsigned value)\n{{\n'
              f'    value = value * 3 + {i};\n'
              f'    return depth > {DEPTH} ? call_back(depth, value) :\n'
              f'        many_{(i * 7 + 3) % MANY}(depth + 1, value) + depth;\n'
              '}')


def each():
    for i in range(MANY):
        print(f'unsigned many_{i}(unsigned depth, unsigned value);')
    print('unsigned each(unsigned value);\nunsigned each(unsigned value)\n{')
    for i in range(MANY):
        print(f'    value += many_{i}({i % DEPTH}, value);')
    print('    return value;\n}')


def pages():
    attributes = '__attribute__((noinline, noclone, aligned(4096)))'
    for i in reversed(range(PAGES)):
        children = [k for k in range(i * CHILDREN + 1,
                                     i * CHILDREN + CHILDREN + 1) if k < PAGES]
        print(f'static {attributes} unsigned page_{i}(unsigned value)\n{{')
        for k in children:
            print(f'    value = page_{k}(value * 3 + {k}) + {i};')
        for k in range(BODY):
            print(f'    value = value * {i * 8 + k + 3};\n'
                  '    asm volatile("" : "+r"(value));')
        print(f'    return value ^ {i};\n}}')
    print('int main(void)\n{\n    return page_0(1) == 0;\n}')


if __name__ == '__main__':
    {'many': many, 'each': each, 'pages': pages}[sys.argv[1]]()
