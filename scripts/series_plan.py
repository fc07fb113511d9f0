#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# series_plan.py check --files LIST --hooks DIR --base BASE
# series_plan.py commit TREE --files LIST --hooks DIR --base BASE --top DIR
#
# The plan of the series: scripts/series.d/PART.txt, for the parts fixes, ctr
# and trace in that order. "check" says whether the plan has every file of our
# folders and every hook once; "commit" makes a commit of each patch in the git
# repository TREE, whose HEAD is stock QEMU.
#
# A plan is a list of patches. Each begins with a line "patch" and consists of
# properties, an indented line each, then "message:" and the message; lines
# that begin with # are comments:
#
#   hook: NAME          apply patches/BASE/NNNN-NAME.patch
#   hook BASE: NAME     ... if the series is for BASE
#   files: GLOB...      add these files of our folders ("*" stays in a folder,
#                       "**" does not)
#   long: REASON        the patch may be longer than others: tests, tables
#   cut: FILE: REGEX    what matches in a file of ours comes later ("." matches
#                       the end of a line, too, "^" and "$" are those of lines)
#   whole: FILE         what was cut comes now
#   step: NAME          change files that earlier patches have brought as
#                       scripts/series.d/steps/NAME.diff says: until then they
#                       are as they were before all later steps. (See
#                       scripts/step-tree for how to edit these.)
#   milestone: WHAT     the tests that exist by now are to pass
#
# A patch with a hook may do without a message: it gets the hook's. LIST has
# "OUR_FILE PLACE_IN_QEMU", a line each. What a meson.build of ours names and
# what is not there yet is left out, so that each patch builds.

import argparse
import fnmatch
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.realpath(__file__))
STEPS = os.path.join(HERE, 'series.d', 'steps')
PARTS = ('fixes', 'ctr', 'trace')
TITLE = 'RISC-V control transfer records and trace\n'


class PlanError(Exception):
    pass


def step_path(name):
    return os.path.join(STEPS, name + '.diff')


class Patch:
    """What one stanza of a plan says."""

    def __init__(self, part, where):
        self.part = part
        self.where = where
        self.hooks = []
        self.globs = []
        self.long = None
        self.cuts = []
        self.whole = []
        self.step = None
        self.milestone = None
        self.message = ''
        self.files = []

    def add(self, key, value, base):
        if key == 'hook' or key == f'hook {base}':
            self.hooks.append(value)
        elif key.startswith('hook '):
            pass
        elif key == 'files':
            self.globs += value.split()
        elif key == 'long':
            self.long = value
        elif key == 'cut':
            self.cuts.append(tuple(value.split(': ', 1)))
        elif key == 'whole':
            self.whole.append(value)
        elif key in ('step', 'milestone'):
            setattr(self, key, value)
        else:
            raise PlanError(f"{self.where}: '{key}' is no property of a patch")

    def subject(self):
        return self.message.split('\n', 1)[0]


def read_plan(part, base):
    """The patches of a part for BASE."""
    path = os.path.join(HERE, 'series.d', part + '.txt')
    patches = []
    in_message = False
    with open(path, encoding='utf-8') as lines:
        for number, line in enumerate(lines, 1):
            where = f'scripts/series.d/{part}.txt:{number}'
            if line.startswith('#'):
                continue
            if line == 'patch\n':
                patches.append(Patch(part, where))
                in_message = False
            elif in_message:
                patches[-1].message += line
            elif line == 'message:\n' and patches:
                in_message = True
            elif line.startswith(' ') and ': ' in line and patches:
                key, value = line.strip().split(': ', 1)
                patches[-1].add(key, value, base)
            elif line.strip():
                raise PlanError(f"{where}: expected 'patch', a property or "
                                "'message:'")
    for p in patches:
        p.message = p.message.strip() + '\n' if p.message.strip() else ''
    # one that is for another base only
    return [p for p in patches if p.hooks or p.globs or p.step]


def matcher(glob):
    """A regex for a glob in which "**" crosses folders and "*" does not."""
    text = fnmatch.translate(glob.replace('**', '\0').replace('*', '\1'))
    text = text.replace('\0', '.*').replace('\1', '[^/]*')
    return re.compile(text.replace('\\\0', '.*').replace('\\\1', '[^/]*'))


class Plan:
    def __init__(self, args):
        with open(args.files, encoding='utf-8') as lines:
            self.place = dict(line.split() for line in lines)
        self.base = args.base
        self.hooks = {}
        with open(os.path.join(args.hooks, 'series'), encoding='utf-8') as s:
            for line in s:
                name = line.split('#')[0].strip()
                if name:
                    slug = re.sub(r'^\d+-|\.patch$', '', name)
                    self.hooks[slug] = os.path.join(args.hooks, name)
        self.patches = [p for part in PARTS for p in read_plan(part, args.base)]
        self.assign()

    def assign(self):
        """Each file and each hook belongs to one patch, hooks in order."""
        wrong = []
        owner = {}
        used = []
        for p in self.patches:
            for glob in p.globs:
                match = matcher(glob)
                found = [f for f in self.place if match.match(f)]
                if not found:
                    wrong.append(f'{p.where}: {glob} matches no file')
                for f in found:
                    if f not in owner:
                        owner[f] = p
                        p.files.append(f)
                    elif owner[f] is not p and '*' not in glob:
                        wrong.append(f'{p.where}: {f} is in the patch of '
                                     f'{owner[f].where}, too')
            for hook in p.hooks:
                if hook not in self.hooks:
                    wrong.append(f'{p.where}: there is no hook {hook}')
                used.append(hook)
            if not p.message and not p.hooks:
                wrong.append(f'{p.where}: the patch has no message')
        wrong += [f'no patch has the hook {h}'
                  for h in self.hooks if h not in used]
        if not wrong and used != list(self.hooks):
            wrong.append('the plan has the hooks in another order than '
                         f'patches/{self.base}/series')
        wrong += [f'no patch of scripts/series.d has {f}'
                  for f in sorted(self.place) if f not in owner]
        steps = self.steps()
        there = sorted(f[:-len('.diff')] for f in os.listdir(STEPS))
        if sorted(steps) != there:
            wrong.append(f'the plan has the steps {" ".join(steps)}, '
                         f'scripts/series.d/steps {" ".join(there)}')
        if wrong:
            raise PlanError('\n'.join(wrong))

    def steps(self):
        """Names of the steps, in order"""
        return [p.step for p in self.patches if p.step]


def files_of_diff(path):
    """The files that a diff changes"""
    with open(path, encoding='utf-8') as lines:
        return [line.split(' b/')[1].strip() for line in lines
                if line.startswith('diff --git ')]


class Versions:
    """The files of steps as they are before and after each of them."""

    def __init__(self, steps, top):
        # step -> file -> text with that step, but without the later ones
        self.steps = steps
        self.changes = {s: files_of_diff(step_path(s)) for s in steps}
        self.texts = [{} for _ in range(len(steps) + 1)]
        files = {f for s in steps for f in self.changes[s]}
        with tempfile.TemporaryDirectory() as folder:
            for file in files:
                os.makedirs(os.path.dirname(os.path.join(folder, file)),
                            exist_ok=True)
                shutil.copy(os.path.join(top, file),
                            os.path.join(folder, file))
            self.keep(len(steps), folder, files)
            for i in range(len(steps) - 1, -1, -1):
                self.take_back(steps[i], folder)
                self.keep(i, folder, files)

    @staticmethod
    def take_back(step, folder):
        done = subprocess.run(['git', 'apply', '-R', step_path(step)],
                              cwd=folder, stderr=subprocess.PIPE, text=True,
                              check=False,
                              env={**os.environ, 'GIT_DIR': '/nonexistent'})
        if done.returncode:
            raise PlanError(f'{done.stderr}scripts/series.d/steps/{step}.diff '
                            "does not fit the files any more: 'scripts/"
                            "step-tree new' shows where")

    def keep(self, count, folder, files):
        for file in files:
            with open(os.path.join(folder, file), encoding='utf-8') as f:
                self.texts[count][file] = f.read()

    def text(self, file, count):
        """@file after the first @count steps; None: no step changes it"""
        return self.texts[count].get(file)


def cut_text(text, regex, where):
    """Text without what regex matches."""
    short, times = re.subn(regex, '', text, flags=re.M | re.S)
    if not times:
        raise PlanError(f'{where}: nothing to cut by {regex}')
    return short


class Series:
    """Makes the commits of a plan in a tree."""

    def __init__(self, plan, args):
        self.plan = plan
        self.tree = args.tree
        self.top = args.top
        self.there = {}         # our file -> place in the tree
        self.cuts = {}          # our file -> [(regex, where)]
        self.versions = Versions(plan.steps(), args.top)
        self.steps_done = 0
        self.section = self.whole_section()

    def git(self, *args, **env):
        subprocess.run(['git', '-c', 'gc.auto=0', *args], cwd=self.tree,
                       check=True, env={**os.environ,
                                        'GIT_CONFIG_GLOBAL': '/dev/null',
                                        'GIT_CONFIG_NOSYSTEM': '1', **env})

    def date_of(self, files):
        date = subprocess.run(['git', 'log', '-1', '--format=%aI', '--',
                               *files], cwd=self.top, check=False,
                              stdout=subprocess.PIPE, text=True).stdout.strip()
        return {'GIT_AUTHOR_DATE': date} if date else {}

    def so_far(self, file):
        """The text of a file of ours as the tree is to have it now."""
        text = self.versions.text(file, self.steps_done)
        if text is None:
            with open(os.path.join(self.top, file), encoding='utf-8') as f:
                text = f.read()
        for regex, where in self.cuts.get(file, ()):
            text = cut_text(text, regex, where)
        if os.path.basename(file) == 'meson.build':
            text = self.sources_so_far(file, text)
        # what a later patch adds at the end has a blank line ahead of it
        return re.sub(r'\n+\Z', '\n', text)

    def sources_so_far(self, file, text):
        folder = os.path.dirname(self.plan.place[file])
        to_come = set(self.plan.place.values()) - set(self.there.values())

        def keep(found):
            path = os.path.normpath(os.path.join(folder, found[1]))
            return '' if path in to_come else found[0]

        kept = []
        for line in text.splitlines(keepends=True):
            short = re.sub(r"'([\w./-]+\.(?:[chsS]|json|html|css|js))',? ?",
                           keep, line)
            if short == line or short.strip():
                kept.append(re.sub(r' +$', '', short))
        return ''.join(kept)

    def write(self, file):
        to = os.path.join(self.tree, self.there[file])
        os.makedirs(os.path.dirname(to), exist_ok=True)
        if (file in self.cuts or os.path.basename(file) == 'meson.build' or
                self.versions.text(file, self.steps_done) is not None):
            with open(to, 'w', encoding='utf-8') as f:
                f.write(self.so_far(file))
        else:
            shutil.copy2(os.path.join(self.top, file), to)

    def whole_section(self):
        """Our section of MAINTAINERS, from title to the end, and its place."""
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
        places = list(self.there.values())

        def covers(line):
            place = line[3:].strip()
            return any(p == place or place.endswith('/') and
                       p.startswith(place) for p in places)

        with open(path, encoding='utf-8') as f:
            lines = f.readlines()
        if TITLE in lines:
            begin = lines.index(TITLE)
            del lines[begin:lines.index('\n', begin) + 1]
        section, before = self.section
        place = lines.index(before)
        lines[place:place] = [line for line in section
                              if not line.startswith('F: ') or covers(line)]
        with open(path, 'w', encoding='utf-8') as f:
            f.writelines(lines)

    def commit(self, p):
        if p.hooks:
            self.git('am', '-q', '--whitespace=nowarn',
                     *(self.plan.hooks[h] for h in p.hooks))
        changed = set()
        for file in p.whole:
            if not self.cuts.pop(file, None):
                raise PlanError(f'{p.where}: {file} is whole already')
            changed.add(file)
        for file, regex in p.cuts:
            self.cuts.setdefault(file, []).append((regex, p.where))
            changed.add(file)
        if p.step:
            self.steps_done += 1
            changed.update(f for f in self.versions.changes[p.step]
                           if f in self.there)
        for file in p.files:
            place = self.plan.place[file]
            if os.path.exists(os.path.join(self.tree, place)):
                raise PlanError(f'{file} would hide {place} of QEMU')
            self.there[file] = place
            changed.add(file)
        if changed:
            changed.update(f for f in self.there
                           if os.path.basename(f) == 'meson.build')
            for file in sorted(changed):
                self.write(file)
            self.maintainers()
            self.git('add', '-A', '-f')
            how = ['--amend'] if p.hooks else ['-s']
            how += ['-F', '-'] if p.message else ['--no-edit']
            if p.hooks and p.message:
                how += ['-s']
            subprocess.run(['git', '-c', 'gc.auto=0', 'commit', '-q', *how],
                           cwd=self.tree, check=True, input=p.message,
                           text=True,
                           env={**os.environ, 'GIT_CONFIG_GLOBAL': '/dev/null',
                                'GIT_CONFIG_NOSYSTEM': '1',
                                **({} if p.hooks else self.date_of(p.files))})

    def make(self):
        """All commits; what to know of each: part, long, where, milestone."""
        kept = []
        for p in self.plan.patches:
            self.commit(p)
            kept.append(f'{p.part}\t{p.long or "-"}\t{p.where}\t'
                        f'{p.milestone or "-"}\n')
        if self.cuts:
            raise PlanError('never whole: ' + ' '.join(self.cuts))
        return kept


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('command', choices=('check', 'commit'))
    parser.add_argument('tree', nargs='?')
    parser.add_argument('--files', required=True)
    parser.add_argument('--hooks', required=True)
    parser.add_argument('--base', required=True)
    parser.add_argument('--top')
    parser.add_argument('--table', help="where to write PART LONG WHERE "
                        "MILESTONE, a line for each patch")
    args = parser.parse_args()
    try:
        plan = Plan(args)
        if args.command == 'commit':
            table = Series(plan, args).make()
            with open(args.table, 'w', encoding='utf-8') as f:
                f.writelines(table)
    except PlanError as e:
        sys.exit(f'error: {e}')
    print(f'{len(plan.patches)} patches')


if __name__ == '__main__':
    main()
