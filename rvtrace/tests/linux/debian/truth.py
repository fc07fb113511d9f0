# SPDX-License-Identifier: GPL-2.0-or-later
#
# What is where, by others than rvtrace: what processes had mapped and the
# kernel's symbols, as the guest says, and the symbols of files by nm.

import bisect
import collections
import os
import re
import subprocess

CROSS = os.environ.get('CROSS', 'riscv64-linux-gnu-')


class Symbols:
    """Functions, (start, size or 0, name)"""

    def __init__(self, functions):
        self.names = collections.defaultdict(set)
        self.size = collections.defaultdict(int)
        for start, size, name in functions:
            self.names[start].add(name)
            self.size[start] = max(self.size[start], size)
        self.starts = sorted(self.names)

    def at(self, addr):
        """
        The names that the address may have, and whether it is known how far
        these functions reach
        """
        i = bisect.bisect_right(self.starts, addr)
        for start in reversed(self.starts[max(i - 32, 0):i]):
            if addr < start + self.size[start]:
                # aliases of other lengths begin at the same address
                return self.names[start], True
        start = self.starts[i - 1] if i else None
        if start is None or self.size[start]:
            return set(), False
        return self.names[start], False


def tool(name, *options):
    return subprocess.run([CROSS + name, *options], capture_output=True,
                          text=True, check=False).stdout


def nm(path, *options):
    for line in tool('nm', '-S', *options, path).splitlines():
        words = re.fullmatch(r'([0-9a-f]{16}) (?:([0-9a-f]{16}) )?(\S) (\S+)',
                             line)
        if words and words[3] in 'tTwWiu' and not words[4].startswith('$'):
            yield (int(words[1], 16), int(words[2] or '0', 16),
                   words[4].split('@')[0])


class File:
    """An ELF file below one of the folders: its segments and its symbols"""

    def __init__(self, path, folders):
        self.path = path
        self.segments = [
            tuple(int(n, 16) for n in found)
            for found in re.findall(
                r'^ +LOAD +(\S+) (\S+) \S+ (\S+)',
                tool('readelf', '-lW', path), re.M)]
        functions = list(nm(path)) + list(nm(path, '-D'))
        build = re.search(r'Build ID: (\S+)', tool('readelf', '-n', path))
        for folder in folders if build else ():
            debug = (f'{folder}/usr/lib/debug/.build-id/'
                     f'{build[1][:2]}/{build[1][2:]}.debug')
            if os.path.exists(debug):
                functions += nm(debug)
        self.symbols = Symbols(functions)

    def at(self, offset):
        for start, addr, size in self.segments:
            if start <= offset < start + size:
                return self.symbols.at(offset - start + addr)
        return set(), False


class Truth:
    def __init__(self, path, folders):
        self.folders, self.files = folders, {}
        self.maps = collections.defaultdict(list)
        kernel, lines = [], None
        with open(path, encoding='utf-8', errors='replace') as file:
            for line in file:
                words = line.split()
                if words[0] == 'maps':
                    lines = self.maps[int(words[1])]
                elif words[0] in ('kallsyms', 'modules', 'end'):
                    lines = None
                elif len(words) >= 3 and len(words[1]) == 1 and \
                        words[1] in 'tTwW' and words[2][0] not in '.$':
                    kernel.append((int(words[0], 16), 0, words[2]))
                elif lines is not None and words[1][2:3] == 'x':
                    lo, hi = (int(n, 16) for n in words[0].split('-'))
                    lines.append((lo, hi, int(words[2], 16),
                                  words[5] if len(words) > 5 else ''))
        self.kernel = Symbols(kernel)

    def file(self, path):
        if path not in self.files:
            found = [folder + path for folder in self.folders
                     if os.path.isfile(folder + path)]
            self.files[path] = File(found[0], self.folders) if found else None
        return self.files[path]

    def user(self, pid, pc):
        """
        The file that a process had mapped at pc, the names that pc may have,
        and whether these are sure; None: it is not known
        """
        for lo, hi, offset, path in self.maps.get(pid, ()):
            if lo <= pc < hi and path.startswith('/'):
                file = self.file(path)
                return file and (path, *file.at(pc - lo + offset))
        return None
