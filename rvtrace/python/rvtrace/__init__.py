# SPDX-License-Identifier: GPL-2.0-or-later
"""What the command rvtrace says of a trace, as rows with types

    >>> import rvtrace
    >>> run = rvtrace.Run('rvtrace.out')
    >>> for function in run.functions():
    ...     print(function.own, function.sym)

Run has a method for each question; rvtrace.rows has the types of the rows.
"""

from .rows import (Bin, Call, Caller, Difference, Fault, Function, Interval,
                   Latency, ReportRow, Share, Slow, Summary, TaskRun, TaskTime)
from .run import Latencies, Run, RvtraceError, RvtraceWarning, Table

__all__ = [
    'Run', 'RvtraceError', 'RvtraceWarning', 'Table',
    'Bin', 'Call', 'Caller', 'Difference', 'Fault', 'Function', 'Interval',
    'Latencies', 'Latency', 'ReportRow', 'Share', 'Slow', 'Summary',
    'TaskRun', 'TaskTime',
]
