# SPDX-License-Identifier: GPL-2.0-or-later
"""The types of rows

Columns are those of rvtrace's JSON and mean what its manual says, with these
differences: `from` and `to` are `start` and `end`; a column has the same name
with and without times (`min` is `min_ns` or `min` of JSON, Table.totals['clock']
says which); addresses are numbers. A column that is not known, or not in this
table, is None.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, TypeVar

T = TypeVar('T')


def column(*names: str, of: Callable[[Any], Any] | None = None) -> Any:
    """A column with one of these names in JSON; None without any of them

    of makes the value of the one in JSON.
    """
    return field(default=None, metadata={'names': names, 'of': of})


def required(*names: str) -> Any:
    """A column that is always there, with one of these names in JSON"""
    return field(metadata={'names': names})


def address(name: str) -> Any:
    """A column with hexadecimal numbers"""
    return column(name, of=lambda text: int(text, 16))


@dataclass(frozen=True, slots=True)
class Function:
    """What ran in a function (own), and with what it called (total)"""
    own: int
    total: int
    calls: int
    dso: str
    sym: str
    addr: int | None = address('addr')


@dataclass(frozen=True, slots=True)
class ReportRow:
    """What ran with these keys; those that were not asked for are None"""
    own: int
    total: int | None = None
    calls: int | None = None
    comm: str | None = None
    pid: str | None = None              # NUMBER:NAME
    tid: str | None = None
    dso: str | None = None
    sym: str | None = None
    priv: str | None = None
    hart: int | None = column('hart', of=int)
    srcline: str | None = None
    srcfile: str | None = None
    addr: int | None = address('addr')


@dataclass(frozen=True, slots=True)
class Difference:
    """own of two runs, and own_b - own_a, with the keys that were asked for"""
    own_a: int
    own_b: int
    difference: int
    comm: str | None = None
    pid: str | None = None
    tid: str | None = None
    dso: str | None = None
    sym: str | None = None
    priv: str | None = None
    hart: int | None = column('hart', of=int)
    srcline: str | None = None
    srcfile: str | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a function"""
    hart: int
    sym: str
    comm: str
    start: int = required('from', 'from_ns')
    end: int | None = column('to')
    insns: int | None = None
    time: int | None = None
    ns: int | None = None
    away: int | None = column('away_ns')
    pid: int | None = None
    tid: int | None = None
    dso: str | None = None
    caller: str | None = None


@dataclass(frozen=True, slots=True)
class Caller:
    """How often one function called another"""
    calls: int
    ended: int
    insns: int
    longest: int
    sym: str
    ns: int | None = None
    dso: str | None = None
    caller: str | None = None


@dataclass(frozen=True, slots=True)
class Latency:
    """How long things of one kind took: a function, a system call, ..."""
    kind: str
    count: int
    min: int
    p50: int
    p90: int
    p99: int
    max: int
    total: int
    name: str | None = None
    number: int | None = None


@dataclass(frozen=True, slots=True)
class Slow:
    """One of those that took longest"""
    kind: str
    hart: int
    insns: int
    comm: str
    start: int = required('from', 'from_ns')
    end: int = required('to')
    name: str | None = None
    number: int | None = None
    ns: int | None = None
    pid: int | None = None
    tid: int | None = None


@dataclass(frozen=True, slots=True)
class Bin:
    """count of a kind took `start` or more, and less than twice that"""
    kind: str
    count: int
    start: int = required('from', 'from_ns')
    name: str | None = None
    number: int | None = None


@dataclass(frozen=True, slots=True)
class Fault:
    """Exceptions of one cause, place and task"""
    count: int
    in_row: int
    cause: str
    hart: int
    first: int
    last: int
    comm: str
    priv: str | None = None
    epc: int | None = address('epc')
    sym: str | None = None
    dso: str | None = None
    tval_min: int | None = address('tval_min')
    tval_max: int | None = address('tval_max')
    pid: int | None = None
    tid: int | None = None


@dataclass(frozen=True, slots=True)
class TaskTime:
    """How long a task ran, was ready, and waited (`blocked_ns` of JSON)"""
    comm: str
    runs: int
    insns: int
    longest: int
    preempted: int
    blocked: int
    exited: int
    pid: int | None = None
    tid: int | None = None
    ns: int | None = None
    ready: int | None = column('ready', 'ready_ns')
    waited: int | None = column('waited', 'blocked_ns')
    longest_wait: int | None = column('longest_wait', 'longest_wait_ns')


@dataclass(frozen=True, slots=True)
class TaskRun:
    """One time that a task ran, and why it left; inside is `in` of JSON"""
    hart: int
    insns: int
    comm: str
    start: int = required('from', 'from_ns')
    end: int = required('to')
    time: int | None = None
    ns: int | None = None
    pid: int | None = None
    tid: int | None = None
    why: str | None = None
    what: str | None = None
    inside: str | None = column('in')
    next: str | None = None


@dataclass(frozen=True, slots=True)
class Interval:
    """modes has the instructions of each privilege level, by its name"""
    start: int
    instructions: int
    modes: dict[str, int]


@dataclass(frozen=True, slots=True)
class Share:
    """Instructions of a function, a privilege level, a task or an object"""
    instructions: int
    name: str | None = column('sym', 'priv', 'comm', 'dso')
    dso: str | None = None


@dataclass(frozen=True, slots=True)
class Summary:
    """What ran in all; without_names are objects without symbols"""
    harts: int
    instructions: int
    selected: int
    exceptions: int
    interrupts: int
    losses: int
    functions: list[Share]
    privileges: list[Share]
    tasks: list[Share]
    without_names: list[Share]
    ns: int | None = None


def make(cls: type[T], rows: Iterable[Mapping[str, Any]]) -> list[T]:
    """A @cls of each of these objects of JSON, which have the same members

    Members that @cls lacks are left out, since newer versions may add some.
    Raises KeyError if a row lacks a column that is always there.
    """
    rows = list(rows)
    plan: list[tuple[str | None, Callable[[Any], Any] | None]] = []
    for f in fields(cls) if rows else ():
        names = f.metadata.get('names', (f.name, f'{f.name}_ns'))
        name = next((name for name in names if name in rows[0]), None)
        if name is None and f.default is MISSING:
            raise KeyError(names[0])
        plan.append((name, f.metadata.get('of')))

    def value(row: Mapping[str, Any], name: str | None,
              of: Callable[[Any], Any] | None) -> Any:
        found = None if name is None else row[name]
        return found if found is None or of is None else of(found)

    return [cls(*(value(row, *item) for item in plan)) for row in rows]


def make_intervals(rows: Iterable[Mapping[str, Any]]) -> list[Interval]:
    """The same of `privilege`, which has a column for each privilege level"""
    others = ('from', 'from_ns', 'instructions')
    return [Interval(row['from_ns'] if 'from_ns' in row else row['from'],
                     row['instructions'],
                     {name: n for name, n in row.items() if name not in others})
            for row in rows]
