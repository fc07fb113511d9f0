#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What the program says of itself, and what it suggests: test-help.py RVTRACE
#
# Every check prints a TAP line; the script fails if one of them does.

import os
import re
import subprocess
import sys

from checks import check, tap

TOOL = os.path.abspath(sys.argv[1])
# More are no help to who begins.
MOST_OPTIONS = 13


def run(*args):
    done = subprocess.run([TOOL, *args], capture_output=True, timeout=60,
                          check=False, text=True, stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout, done.stderr


def options(text):
    return set(re.findall(r'^  (?:-., )?--([a-z-]+)', text, re.M))


def command(name):
    status, text, err = run(name, '--help')
    every = run(name, '--help-all')[1]
    shown = {o for o in options(text) if not o.startswith('help')}
    check(f'{name} --help', status == 0 and not err and
          len(shown) <= MOST_OPTIONS, shown)
    check('--help-all has all that and maybe more',
          shown <= options(every), shown - options(every))
    check('help does the same', run('help', name)[1] == text)
    example = text[text.find('\nExample:\n'):].split('\n\n')[0]
    lines = re.findall(r'rvtrace ([a-z].*(?:\\\n.*)*)', example)
    used = {(words[0], o) for line in lines
            for words in [line.split(' -- ')[0].split()]
            for o in re.findall(r' --([a-z-]+)', line.split(' -- ')[0])}
    if shown:
        check('there is an example', f'\n  rvtrace {name} ' in text or
              f'rvtrace {name}' in example, text)
    for other, option in used:
        check(f'{other} has --{option}',
              option in options(run(other, '--help-all')[1]))
    bogus = run(name, '--nonsuch')
    check('a wrong option is named', bogus[0] == 2 and
          'Unknown option --nonsuch;' in bogus[2], bogus)


def suggestions():
    for args, text in (
            (['repot'], "'repot' (did you mean 'report'?)"),
            (['falmegraph'], "(did you mean 'flamegraph'?)"),
            (['perf'], "(did you mean 'perf-data'?)"),
            (['report', '--sotr', 'x'], "(did you mean '--sort'?)"),
            (['report', '--sort-by=x'], 'Unknown option --sort-by=x'),
            (['report', '--sysrot=x'], "(did you mean '--sysroot'?)"),
            (['run', '--veiw', 'x'], "(did you mean '--view'?)")):
        status, _, err = run(*args)
        check(' '.join(args), status == 2 and text in err, err)
    for word in 'xyzzy', 'q':
        status, _, err = run(word)
        check(f'{word} is like nothing', status == 2 and 'mean' not in err, err)


def main():
    status, text, _ = run('--help')
    check('--help', status == 0 and all(len(line) < 80
                                        for line in text.split('\n')), text)
    check('run is the first command',
          re.findall(r'^  ([a-z-]+) ', text, re.M)[0] == 'run', text)
    check('no command is without a group', '\nOthers' not in text, text)
    check('help is the same', run('help') == run('--help'))
    check('--version', re.fullmatch(r'rvtrace [0-9.]+ \(GPL-2.0-or-later\)\n',
                                    run('--version')[1]))
    names = re.findall(r'^  ([a-z-]+) ', text, re.M)
    check('there are commands', len(names) > 25, names)
    for name in names:
        command(name)
    suggestions()
    # values that stand with a short option
    check('-j1', 'no folder x' in run('stat', '-j1', 'x')[2],
          run('stat', '-j1', 'x'))
    check('-jx', 'jx' not in run('stat', '-jx', 'y')[2] and
          'integer' in run('stat', '-jx', 'y')[2], run('stat', '-jx', 'y'))
    tap.end()


if __name__ == '__main__':
    main()
