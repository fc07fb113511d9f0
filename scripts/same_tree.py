#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# same_tree.py CLEAN LINKED
#
# Is the patched git tree CLEAN the same as the tree LINKED, in which our
# folders are symbolic links? Every file of one must be in the other with the
# same content and the same executable bit. What git ignores in our folders
# (objects, backups) does not count.

import filecmp
import os
import subprocess
import sys

from lay_out import parts_of_qemu

TOP = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))


def files_of(root):
    """All files below root, through links to folders, relative to it."""
    found = set()
    for folder, dirs, files in os.walk(root, followlinks=True):
        rel = os.path.relpath(folder, root)
        dirs[:] = parts_of_qemu(rel, dirs)
        found.update(os.path.normpath(os.path.join(rel, f)) for f in files)
    return found


def is_ignored(path):
    """Is path, through links, a file of our repository that git ignores?"""
    real = os.path.realpath(path)
    return (real.startswith(TOP + '/')
            and not real.startswith(TOP + '/build/')
            and subprocess.run(['git', 'check-ignore', '-q', real], cwd=TOP,
                               check=False).returncode == 0)


def main():
    clean, linked = sys.argv[1:]
    a, b = files_of(clean), files_of(linked)
    wrong = [f'only in the series: {f}' for f in sorted(a - b)]
    wrong += [f'only in the tree that is built: {f}' for f in sorted(b - a)
              if not is_ignored(os.path.join(linked, f))]
    for f in sorted(a & b):
        one, two = os.path.join(clean, f), os.path.join(linked, f)
        if os.path.islink(one) and not os.path.exists(one):
            continue
        if not filecmp.cmp(one, two, shallow=False):
            wrong.append(f'different content: {f}')
        elif os.access(one, os.X_OK) != os.access(two, os.X_OK):
            wrong.append(f'different mode: {f}')
    print('\n'.join(wrong) or f'{len(a & b)} files, all the same')
    sys.exit(1 if wrong else 0)


if __name__ == '__main__':
    main()
