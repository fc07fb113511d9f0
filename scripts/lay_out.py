#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# lay_out.py FROM TO [--instead DIR --touched FILE] [--links FILE]
#
# Make TO the same tree as FROM, except that the files which the list "touched"
# names come from DIR (or are gone, if they are not there), and with symbolic
# links as the list "links" has them ("TARGET PLACE", a line each). A file that
# is right already is left alone and one that is written gets the present time,
# so that ninja rebuilds what changed, and all of it.

import argparse
import filecmp
import os
import shutil
import sys

# What a source tree may hold that is no part of QEMU: Debian's packaging,
# history; what running QEMU's Python scripts leaves behind; and in roms/ the
# sources of firmware (two files of three), which nothing here builds.
NOT_QEMU = {'.git', '.pc', 'debian'}
DROPPINGS = {'__pycache__', '.cache'}


def parts_of_qemu(rel, dirs):
    """Those of the folders in rel (relative to the tree) that matter."""
    if rel == 'roms':
        return []
    return [d for d in dirs if d not in DROPPINGS
            and not (rel == '.' and d in NOT_QEMU)]


def files_of(root):
    """Paths of all files and links below root, relative to it."""
    found = set()
    for folder, dirs, files in os.walk(root):
        rel = os.path.relpath(folder, root)
        dirs[:] = parts_of_qemu(rel, dirs)
        links = [d for d in dirs if os.path.islink(os.path.join(folder, d))]
        found.update(os.path.normpath(os.path.join(rel, name))
                     for name in files + links)
    return found


def same(a, b):
    """Do the files (or links) a and b have the same content and mode?"""
    try:
        sa, sb = os.lstat(a), os.lstat(b)
    except FileNotFoundError:
        return False
    if sa.st_mode != sb.st_mode:
        return False
    if os.path.islink(a):
        return os.readlink(a) == os.readlink(b)
    if (sa.st_size, sa.st_mtime_ns) == (sb.st_size, sb.st_mtime_ns):
        return True
    return filecmp.cmp(a, b, shallow=False)


def remove(path):
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    elif os.path.lexists(path):
        os.remove(path)


def make_room(root, rel):
    """Let root/rel be created: folders above it, nothing in its place."""
    path = root
    for part in os.path.dirname(rel).split('/'):
        path = os.path.join(path, part)
        if os.path.islink(path) or os.path.isfile(path):
            os.remove(path)
    os.makedirs(path, exist_ok=True)
    remove(os.path.join(root, rel))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('source')
    parser.add_argument('dest')
    parser.add_argument('--instead')
    parser.add_argument('--touched')
    parser.add_argument('--links')
    args = parser.parse_args()

    want = {rel: os.path.join(args.source, rel)
            for rel in files_of(args.source)}
    if args.instead:
        with open(args.touched, encoding='utf-8') as lines:
            for rel in lines.read().splitlines():
                want.pop(rel, None)
        want.update((rel, os.path.join(args.instead, rel))
                    for rel in files_of(args.instead))
    links = {}
    if args.links:
        with open(args.links, encoding='utf-8') as lines:
            for line in lines:
                target, place = line.split()
                if place in want:
                    sys.exit(f'error: {target} would hide {place} of QEMU')
                links[place] = target

    fresh = not os.listdir(args.dest)
    changed = []
    for rel in files_of(args.dest) - want.keys() - links.keys():
        remove(os.path.join(args.dest, rel))
        changed.append(rel)
    for rel, path in sorted(want.items()):
        to = os.path.join(args.dest, rel)
        if same(path, to):
            continue
        make_room(args.dest, rel)
        shutil.copy2(path, to, follow_symlinks=False)
        if not fresh and not os.path.islink(to):
            os.utime(to)
        changed.append(rel)
    for place, target in sorted(links.items()):
        to = os.path.join(args.dest, place)
        text = os.path.relpath(target, os.path.dirname(to))
        if os.path.islink(to) and os.readlink(to) == text:
            continue
        make_room(args.dest, place)
        os.symlink(text, to)
        changed.append(place)
    if changed:
        place = os.path.relpath(args.dest)
        print(f'  {place}: {len(changed)} files brought up to date')


if __name__ == '__main__':
    main()
