# SPDX-License-Identifier: GPL-2.0-or-later
#
# Runs tests that are functions, and speaks TAP.

import fnmatch
import os
import re
import shutil
import subprocess
import sys


class Problem(Exception):
    """What a test found wrong."""


class Skip(Exception):
    """Why a test cannot be run here."""


def need(condition, why):
    if not condition:
        raise Problem(why)


class Tap:
    """
    Tests whose name matches the first argument of the command, if there is
    one. Each has a folder of its own, which is kept if it fails.
    """

    def __init__(self, out):
        self.out = out
        self.pattern = sys.argv[1] if len(sys.argv) > 1 else '*'
        self.number = self.failed = 0

    def test(self, name, function, *arguments):
        """function(folder, *arguments) says what to note, or nothing"""
        if not fnmatch.fnmatch(name, self.pattern):
            return
        self.number += 1
        folder = f'{self.out}/{re.sub("[^A-Za-z0-9.=]+", "-", name)}'
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        try:
            note = function(folder, *arguments)
        except Skip as why:
            what = 'ok'
            name += f' # SKIP {why}'
            notes = []
            shutil.rmtree(folder)
        except (Problem, OSError, KeyError, ValueError,
                subprocess.SubprocessError) as error:
            self.failed += 1
            what = 'not ok'
            text = str(error) if isinstance(error, Problem) else repr(error)
            notes = [*text.strip().splitlines()[:20], f'see {folder}']
        else:
            what = 'ok'
            notes = (note or '').splitlines()
            shutil.rmtree(folder)
        print(f'{what} {self.number} - {name}', *notes, sep='\n# ', flush=True)

    def end(self):
        """The plan, and the exit status: no test at all is a failure, too"""
        print(f'1..{self.number}')
        sys.exit(self.failed > 0 or not self.number)


def run(out, tests):
    """tests: (name, function, argument...) for each"""
    tap = Tap(out)
    for name, function, *arguments in tests:
        tap.test(name, function, *arguments)
    tap.end()
