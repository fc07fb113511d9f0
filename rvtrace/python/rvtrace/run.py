# SPDX-License-Identifier: GPL-2.0-or-later
"""A traced run, and the questions that rvtrace answers about it"""

import json
import os
import re
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from . import rows

SCHEMA = 1              # of JSON: see "JSON" in rvtrace's manual

T = TypeVar('T')
Path = str | os.PathLike[str]


class RvtraceError(Exception):
    """The command has failed; the text is its own.

    status is its exit status, or if a signal has ended it, minus the signal's
    number; None if it was not started, or has written what this cannot read.
    """

    def __init__(self, text: str, status: int | None = None) -> None:
        super().__init__(text)
        self.status = status


class RvtraceWarning(UserWarning):
    """The command has succeeded, but has a warning: of losses, for example."""


class Table(list[T]):
    """Rows; totals has the other members of the JSON, such as `left_out`."""

    def __init__(self, items: Iterable[T], totals: dict[str, Any]) -> None:
        super().__init__(items)
        self.totals = totals


class Latencies(Table[rows.Latency]):
    """A row for each kind; worst took longest, histogram is by powers of two."""

    def __init__(self, answer: dict[str, Any]) -> None:
        super().__init__(rows.make(rows.Latency, answer.pop('rows')), answer)
        self.worst = rows.make(rows.Slow, answer.pop('worst'))
        self.histogram = rows.make(rows.Bin, answer.pop('histogram'))


class Run:
    """What `rvtrace run` has left in a folder, by default the newest one here

    options are added to every command: ['--sysroot', 'rootfs'], or instead of
    a folder ['--trace', 'trace', '--sideband', 'sideband']. command is rvtrace,
    if that is not in PATH. Each method runs the command once and returns when it
    has ended; it raises RvtraceError if the command fails.
    """

    def __init__(self, folder: Path | None = None, *,
                 options: Sequence[str] = (),
                 command: Path = 'rvtrace') -> None:
        self.folder = None if folder is None else os.fspath(folder)
        self.options = list(options)
        self.command = os.fspath(command)

    def only(self, *options: str) -> 'Run':
        """A part of the run, run.only('--process=sh', '--from=1s'): see "A part
        of a run" in the manual"""
        return Run(self.folder, options=[*self.options, *options],
                   command=self.command)

    def during(self, row: rows.Call | rows.Slow | rows.TaskRun) -> 'Run':
        """What the hart ran from the beginning of a row to its end

        This part of the run replaces --window, if there is one.
        """
        if row.end is None:
            raise ValueError(f'its end is not known: {row}')
        if row.end == row.start:
            raise ValueError(f'the hart ran no instruction in it: {row}')
        whole = Run(self.folder, command=self.command, options=without(
            self.options, '--window', '--before', '--after'))
        return whole.only(f'--hart={row.hart}', f'--from={row.start}',
                          f'--to={row.end}')

    def json(self, name: str, *options: str) -> dict[str, Any]:
        """What any command that has --format=json writes, as it is

        That verify finds two runs to be different is not an error.
        """
        return self._parse(self.argv(name, *options, '--format=json'),
                           good=(0, 1) if name == 'verify' else (0,))

    def summary(self) -> rows.Summary:
        """What ran in all"""
        answer = self.json('summary')
        with self._reading():
            answer['functions'] = answer.pop('rows')
            for name in ('functions', 'privileges', 'tasks', 'without_names'):
                answer[name] = rows.make(rows.Share, answer[name])
            return rows.make(rows.Summary, [answer])[0]

    def functions(self, *, sym: str | None = None, dso: str | None = None,
                  comm: str | None = None) -> Table[rows.Function]:
        """All functions that ran, those with most instructions first

        sym, dso and comm select functions, objects and tasks by globs, here and
        in the other methods.
        """
        return self._table(rows.Function, 'report', *globs(sym, dso, comm))

    def report(self, *keys: str, sym: str | None = None, dso: str | None = None,
               comm: str | None = None) -> Table[rows.ReportRow]:
        """Where the instructions went by other keys: run.report('comm', 'dso')

        Keys are comm, pid, tid, dso, sym, priv, hart, srcline, srcfile.
        """
        return self._table(rows.ReportRow, 'report', f'--sort={",".join(keys)}',
                           *globs(sym, dso, comm))

    def calls(self, sym: str, *, dso: str | None = None,
              comm: str | None = None) -> Table[rows.Call]:
        """Each call of a function"""
        return self._table(rows.Call, 'calls', *globs(sym, dso, comm))

    def callers(self, sym: str, *, dso: str | None = None,
                comm: str | None = None) -> Table[rows.Caller]:
        """Which functions called a function, and how often"""
        return self._table(rows.Caller, 'calls', '--callers',
                           *globs(sym, dso, comm))

    def latencies(self, *, sym: str | None = None, dso: str | None = None,
                  comm: str | None = None, between: str | None = None,
                  worst: int = 5) -> Latencies:
        """How long interrupts, system calls and faults took; with sym, functions;
        with between, ways 'A..B'"""
        options = globs(sym, dso, comm)
        if between is not None:
            options.append(f'--between={between}')
        answer = self.json('latency', f'--worst={worst}', *options)
        with self._reading():
            return Latencies(answer)

    def switches(self, *, comm: str | None = None) -> Table[rows.TaskTime]:
        """Tasks: how long each of them ran and waited"""
        return self._table(rows.TaskTime, 'switches', *globs(comm=comm))

    def task_runs(self, *, comm: str | None = None) -> Table[rows.TaskRun]:
        """Each time that a task ran, and why it left"""
        return self._table(rows.TaskRun, 'switches', '--list',
                           *globs(comm=comm))

    def faults(self, *, sym: str | None = None, dso: str | None = None,
               comm: str | None = None) -> Table[rows.Fault]:
        """Exceptions by cause, place and task, storms first"""
        return self._table(rows.Fault, 'faults', *globs(sym, dso, comm))

    def privileges(self, every: str | None = None) -> Table[rows.Interval]:
        """Instructions by privilege level, in intervals of '100ms' or '1M'"""
        options = [] if every is None else [f'--every={every}']
        answer = self.json('privilege', *options)
        with self._reading():
            return Table(rows.make_intervals(answer.pop('rows')), answer)

    def diff(self, other: 'Run', *keys: str) -> Table[rows.Difference]:
        """From this run (a) to the other one (b), largest difference first

        Keys are those of report(), by default dso and sym.
        """
        sort = f'--sort={",".join(keys or ("dso", "sym"))}'
        with tempfile.TemporaryDirectory() as folder:
            files = [os.path.join(folder, name) for name in 'ab']
            for run, file in zip((self, other), files):
                output_of(run.argv('report', sort, '--format=tsv',
                                    f'--output={file}'))
            answer = self._parse([self.command, 'diff', sort, '--format=json',
                                  *files])
        with self._reading():
            return Table(rows.make(rows.Difference, answer.pop('rows')), answer)

    def argv(self, name: str, *options: str) -> list[str]:
        """The command line that asks for @name"""
        words = [self.command, name, *self.options, *options]
        if self.folder is not None:
            words += ['--', self.folder]
        return words

    def _table(self, cls: type[T], name: str, *options: str) -> Table[T]:
        answer = self.json(name, *options)
        with self._reading():
            return Table(rows.make(cls, answer.pop('rows')), answer)

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """What the command has written is read."""
        try:
            yield
        except (ValueError, LookupError, TypeError) as error:
            raise RvtraceError(f'{self.command} does not write the JSON of '
                               f'rvtrace: {error!r}') from error

    def _parse(self, argv: list[str],
               good: tuple[int, ...] = (0,)) -> dict[str, Any]:
        text = output_of(argv, good)
        with self._reading():
            answer = json.loads(text)
            schema = answer['schema']
        if schema != SCHEMA:
            raise RvtraceError(
                f'{self.command} writes JSON of schema {schema}, and this module '
                f'reads schema {SCHEMA}: use the module that was installed with '
                'the command')
        assert isinstance(answer, dict)
        return answer


def without(options: Sequence[str], *names: str) -> list[str]:
    """The options but these, each of which has a value"""
    left = iter(options)
    kept = []
    for word in left:
        if word in names:
            next(left, None)
        elif word.partition('=')[0] not in names:
            kept.append(word)
    return kept


def globs(sym: str | None = None, dso: str | None = None,
          comm: str | None = None) -> list[str]:
    """The options that select rows by names"""
    names = {'sym': sym, 'dso': dso, 'comm': comm}
    return [f'--{name}={glob}' for name, glob in names.items()
            if glob is not None]


def output_of(argv: list[str], good: tuple[int, ...] = (0,)) -> bytes:
    """Run the command; what it has written. Its warnings become Python's.

    Another status than one of @good is an error.
    """
    try:
        done = subprocess.run(argv, stdin=subprocess.DEVNULL,
                              capture_output=True, check=False)
    except OSError as error:
        raise RvtraceError(
            f'{argv[0]} cannot be started ({error.strerror}): have it in PATH, '
            "or say where it is: Run(..., command='/path/to/rvtrace')") \
            from error
    said = re.findall(r'^(?:rvtrace: (error|warning|note): )?(.+)',
                      done.stderr.decode('utf-8', 'replace'), re.M)
    if done.returncode not in good:
        errors = [text for kind, text in said if kind == 'error'] or \
            [text for _, text in said] or \
            [f'{argv[0]} has ended with status {done.returncode}']
        raise RvtraceError('\n'.join(errors), done.returncode)
    for kind, text in said:
        if kind == 'warning':
            warnings.warn(text, RvtraceWarning, stacklevel=level_outside())
    return done.stdout


def level_outside() -> int:
    """The stack level, for a warning, of the first function that is not of this
    package"""
    level = 1
    # pylint: disable-next=protected-access
    while sys._getframe(level).f_globals.get('__package__') == __package__:
        level += 1
    return level
