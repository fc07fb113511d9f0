# SPDX-License-Identifier: GPL-2.0-or-later
#
# Speaks TAP: for tests that are functions, for results as they come, and for
# what a guest has found.

import fnmatch
import os
import re
import shutil
import subprocess
import sys
import time

# Sanitizers make QEMU slow. It is a limit for hangs: no test may depend on it.
LIMIT = 120 if os.environ.get('SANITIZE', '0') in ('', '0') else 600


class Problem(Exception):
    """What a test found wrong."""


class Skip(Exception):
    """Why a test cannot be run here."""


def need(condition, why):
    if not condition:
        raise Problem(why)


def until(condition, why, limit=LIMIT):
    """Wait for the condition, a function; returns what that returned"""
    end = time.monotonic() + limit
    while not (got := condition()):
        if time.monotonic() > end:
            raise Problem(why() if callable(why) else why)
        time.sleep(0.02)
    return got


def size_of(path):
    return os.path.getsize(path) if os.path.exists(path) else 0


def grow(path, more=1 << 16):
    """Wait until the file has grown by so many bytes"""
    size = size_of(path) + more
    until(lambda: size_of(path) >= size,
          lambda: f'{path} has {size_of(path)} bytes and does not grow')


class Tap:
    """
    Tests whose name matches the first argument of the command, if there is
    one. Each that is a function has a folder of its own, which is kept if it
    fails. before: so many tests have been reported already.
    """

    def __init__(self, out=None, pattern=None, before=0):
        self.out = out
        self.pattern = pattern or '*'
        self.first = self.number = before
        self.failed = 0

    def say(self, passed, name, *notes):
        """A result, and behind it what is wrong, or else of interest"""
        self.number += 1
        self.failed += not passed
        lines = [line for note in notes for line in note.splitlines()]
        print(f'{"ok" if passed else "not ok"} {self.number} - {name}',
              *lines[:20], sep='\n# ', flush=True)

    def skip(self, name, why):
        self.say(True, f'{name} # SKIP {why}')

    def guest(self, text):
        """What the guest wrote; its plan is left out."""
        for line in text.splitlines():
            match = re.match(r'(ok|not ok) \d+ - (.*)', line)
            if match:
                self.say(match[1] == 'ok', match[2])
            elif line.startswith(('#', 'Bail')):
                print(line, flush=True)

    def test(self, name, function, *arguments):
        """function(folder, *arguments) says what to note, or nothing"""
        if not fnmatch.fnmatch(name, self.pattern):
            return
        folder = f'{self.out}/{re.sub("[^A-Za-z0-9.=]+", "-", name)}'
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        try:
            note = function(folder, *arguments)
        except Skip as why:
            self.skip(name, why)
        except (Problem, OSError, KeyError, ValueError,
                subprocess.SubprocessError) as error:
            text = str(error) if isinstance(error, Problem) else repr(error)
            self.say(False, name, f'see {folder}', text.strip())
            return
        else:
            self.say(True, name, note or '')
        shutil.rmtree(folder)

    def end(self, plan=True):
        """The plan, and the exit status: no test at all is a failure, too"""
        if plan:
            print(f'1..{self.number}', flush=True)
        sys.exit(self.failed > 0 or self.number == self.first)


def run(out, tests):
    """tests: (name, function, argument...) for each"""
    tap = Tap(out, sys.argv[1] if len(sys.argv) > 1 else None)
    for name, function, *arguments in tests:
        tap.test(name, function, *arguments)
    tap.end()
