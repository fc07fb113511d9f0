#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# series_plan.py TREE --files LIST --hooks DIR --base BASE --top DIR --table FILE
#
# Make a commit of each patch of the series in the git repository TREE, whose
# HEAD is stock QEMU. The plan is scripts/series.d/PART.txt, for the parts that
# scripts/series.d/parts names, in that order. Each file of our folders and each
# hook belongs to one patch, and no file comes in steps: what stands on another
# floor stands in another file.
#
# A plan is a list of patches. Each begins with a line "patch" and consists of
# properties, an indented line each, then "message:" and the message, which a
# patch with a hook may do without. Lines that begin with # are comments.
#
#   hook: NAME          apply patches/BASE/NAME.patch
#   hook BASE: NAME     ... if the series is for BASE
#   files: GLOB...      add these files of our folders ("*" stays in a folder,
#                       "**" does not)
#   long: REASON        it may be longer than other patches: tests, tables
#
# LIST has "OUR_FILE PLACE_IN_QEMU", a line each. What a meson.build of ours
# names and what is not there yet is left out, so that each patch builds.

import argparse
import fnmatch
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.realpath(__file__))
TITLE = 'RISC-V control transfer records and trace\n'


class PlanError(Exception):
    pass


class Patch:
    def __init__(self, part, where):
        self.part = part
        self.where = where
        self.hooks = []
        self.globs = []
        self.long = '-'
        self.message = ''
        self.files = []

    def add(self, key, value, base):
        if key in ('hook', f'hook {base}'):
            self.hooks.append(value)
        elif key == 'files':
            self.globs += value.split()
        elif key == 'long':
            self.long = value
        elif not key.startswith('hook '):
            raise PlanError(f"{self.where}: '{key}' is not a property")


def read_plan(part, base):
    """The patches of a part for BASE."""
    patches = []
    in_message = False
    path = os.path.join(HERE, 'series.d', part + '.txt')
    with open(path, encoding='utf-8') as lines:
        for number, line in enumerate(lines, 1):
            where = f'scripts/series.d/{part}.txt:{number}'
            if line == 'patch\n':
                patches.append(Patch(part, where))
                in_message = False
            elif line == 'message:\n':
                in_message = True
            elif line.startswith('#') or not (line.strip() or in_message):
                continue
            elif in_message:
                patches[-1].message += line
            elif line.startswith(' ') and ': ' in line and patches:
                patches[-1].add(*line.strip().split(': ', 1), base)
            else:
                raise PlanError(f"{where}: expected 'patch' or a property")
    for p in patches:
        p.message = p.message.strip()
    # one that is for another base only
    return [p for p in patches if p.hooks or p.globs]


def matcher(glob):
    """A regex for a glob in which "**" crosses folders and "*" does not."""
    text = fnmatch.translate(glob.replace('**', '\0').replace('*', '\1'))
    return re.compile(text.replace('\\\0', '\0').replace('\\\1', '\1')
                      .replace('\0', '.*').replace('\1', '[^/]*'))


def lines_of(path):
    with open(path, encoding='utf-8') as f:
        return f.read().splitlines()


class Series:
    def __init__(self, args):
        self.tree = args.tree
        self.top = args.top
        self.place = dict(line.split() for line in lines_of(args.files))
        names = [line.split('#')[0].strip()
                 for line in lines_of(os.path.join(args.hooks, 'series'))]
        self.hooks = {name[:-len('.patch')]: os.path.join(args.hooks, name)
                      for name in names if name}
        parts = lines_of(os.path.join(HERE, 'series.d', 'parts'))
        self.patches = [p for part in parts for p in read_plan(part, args.base)]
        self.assign(args.base)
        self.there = {}         # our file -> place in the tree
        self.section, self.before = self.whole_section()

    def assign(self, base):
        """Each file and each hook belongs to one patch, hooks in order."""
        wrong = []
        owner = {}
        used = [h for p in self.patches for h in p.hooks]
        for p in self.patches:
            if not p.message and not p.hooks:
                wrong.append(f'{p.where}: the patch has no message')
            for glob in p.globs:
                match = matcher(glob)
                found = [f for f in self.place if match.match(f)]
                p.files += [f for f in found if f not in owner]
                if not found or ('*' not in glob and owner.get(found[0])):
                    wrong.append(f'{p.where}: {glob} matches no file, or one '
                                 'of an earlier patch')
                for f in found:
                    owner.setdefault(f, p)
        wrong += [f'no patch of scripts/series.d has {f}'
                  for f in sorted(self.place) if f not in owner]
        wrong += [f'there is no hook {h}' for h in used if h not in self.hooks]
        wrong += [f'no patch has the hook {h}'
                  for h in self.hooks if h not in used]
        if not wrong and used != list(self.hooks):
            wrong.append('the plan has the hooks in another order than '
                         f'patches/{base}/series')
        if wrong:
            raise PlanError('\n'.join(wrong))

    def git(self, *args, text=None, date=None):
        env = {**os.environ, 'GIT_CONFIG_GLOBAL': '/dev/null',
               'GIT_CONFIG_NOSYSTEM': '1'}
        if date:
            env['GIT_AUTHOR_DATE'] = date
        subprocess.run(['git', '-c', 'gc.auto=0', *args], cwd=self.tree,
                       check=True, input=text, text=True, env=env)

    def date_of(self, files):
        return subprocess.run(['git', 'log', '-1', '--format=%aI', '--',
                               *files], cwd=self.top, check=False, text=True,
                              stdout=subprocess.PIPE).stdout.strip()

    def build_file(self, file):
        """A meson.build of ours without the sources that are to come."""
        folder = os.path.dirname(self.place[file])
        to_come = set(self.place.values()) - set(self.there.values())

        def keep(found):
            path = os.path.normpath(os.path.join(folder, found[1]))
            return '' if path in to_come else found[0]

        kept = []
        for line in lines_of(os.path.join(self.top, file)):
            short = re.sub(r"'([\w./-]+\.[chsS])',? ?", keep, line)
            if short == line or short.strip():
                kept.append(short.rstrip())
        return '\n'.join(kept) + '\n'

    def write(self, file):
        to = os.path.join(self.tree, self.there[file])
        os.makedirs(os.path.dirname(to), exist_ok=True)
        if os.path.basename(file) == 'meson.build':
            with open(to, 'w', encoding='utf-8') as f:
                f.write(self.build_file(file))
        else:
            shutil.copy2(os.path.join(self.top, file), to)

    def whole_section(self):
        """Our section of MAINTAINERS, and the line that it comes before."""
        with tempfile.TemporaryDirectory() as folder:
            path = shutil.copy(os.path.join(self.tree, 'MAINTAINERS'), folder)
            subprocess.run([os.path.join(HERE, 'maintainers'), path],
                           check=True)
            with open(path, encoding='utf-8') as f:
                lines = f.readlines()
        begin = lines.index(TITLE)
        end = lines.index('\n', begin) + 1
        return lines[begin:end], lines[end]

    def maintainers(self):
        """Put our section in its place, with what is there already."""
        path = os.path.join(self.tree, 'MAINTAINERS')

        def covers(line):
            place = line[3:].strip()
            return any(p == place or place.endswith('/') and
                       p.startswith(place) for p in self.there.values())

        with open(path, encoding='utf-8') as f:
            lines = f.readlines()
        if TITLE in lines:
            begin = lines.index(TITLE)
            del lines[begin:lines.index('\n', begin) + 1]
        at = lines.index(self.before)
        lines[at:at] = [line for line in self.section
                        if not line.startswith('F: ') or covers(line)]
        with open(path, 'w', encoding='utf-8') as f:
            f.writelines(lines)

    def commit(self, p):
        if p.hooks:
            self.git('am', '-q', '--whitespace=nowarn',
                     *(self.hooks[h] for h in p.hooks))
        if not p.files:
            return
        for file in p.files:
            place = self.place[file]
            if os.path.exists(os.path.join(self.tree, place)):
                raise PlanError(f'{file} would hide {place} of QEMU')
            self.there[file] = place
        for file in p.files + [f for f in self.there
                               if os.path.basename(f) == 'meson.build']:
            self.write(file)
        self.maintainers()
        self.git('add', '-A', '-f')
        how = ['--amend'] if p.hooks else []
        how += ['-s', '-F', '-'] if p.message else ['--no-edit']
        self.git('commit', '-q', *how, text=p.message,
                 date=None if p.hooks else self.date_of(p.files))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('tree')
    for name in ('files', 'hooks', 'base', 'top', 'table'):
        parser.add_argument('--' + name, required=True)
    args = parser.parse_args()
    try:
        series = Series(args)
        for p in series.patches:
            series.commit(p)
    except PlanError as e:
        sys.exit(f'error: {e}')
    with open(args.table, 'w', encoding='utf-8') as f:
        f.writelines(f'{p.part}\t{p.long}\n' for p in series.patches)


if __name__ == '__main__':
    main()
