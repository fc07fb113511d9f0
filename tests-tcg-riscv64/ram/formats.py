# SPDX-License-Identifier: GPL-2.0-or-later
#
# Files that the tests read and write byte by byte: what sidebands have of RAM
# sinks, and perf.data with AUX data.

import struct

from sideband import ALL_HARTS, RAM, records

AUX, HEADER_ATTR, AUXTRACE_INFO, AUXTRACE = 11, 64, 70, 71
# not one of the architectures that perf knows already
RISCV_TRACE = 8


def stops_of(sideband, hart=ALL_HARTS):
    """How many bytes the sink had stored by each stop: RAM records"""
    with open(sideband, 'rb') as f:
        data = f.read()
    return [struct.unpack_from('<Q', payload)[0]
            for kind, of, payload, _ in records(data)
            if kind == RAM and of == hart]


def record(kind, payload, misc=0):
    return struct.pack('<IHH', kind, misc, 8 + len(payload)) + payload


def perf_data(chunks, recordings, pipe=False, sample_id=False,
              kind=RISCV_TRACE):
    """
    Chunks of AUX data, (CPU, offset in its stream, bytes), which perf fills up
    to 8 bytes, and what was written between a start and a stop, (CPU, offset,
    size). See perf.data-file-format.txt and perf_event.h.
    """
    # type 0, size, config, period; TID, TIME, CPU, IDENTIFIER
    attr = struct.pack('<IIQQQQQ', 10, 64, 1, 0,
                       (1 << 1 | 1 << 2 | 1 << 7 | 1 << 16) if sample_id
                       else 0, 0, 1 << 18 if sample_id else 0)
    attr += bytes(64 - len(attr))
    body = record(AUXTRACE_INFO, struct.pack('<IIQ', kind, 0, 10))
    for cpu, offset, size in recordings:
        ident = struct.pack('<IIQIIQ', 7, 7, 99, cpu, 0, 5)
        body += record(AUX, struct.pack('<QQQ', offset, size, 0) +
                       (ident if sample_id else b''))
    for cpu, offset, data in chunks:
        data += bytes(-len(data) % 8)
        body += record(AUXTRACE, struct.pack('<QQQIIII', len(data), offset, 0,
                                             cpu, 7, cpu, 0)) + data
    if pipe:
        return (b'PERFILE2' + struct.pack('<Q', 16) +
                record(HEADER_ATTR, attr) + body)
    header = b'PERFILE2' + struct.pack(
        '<12Q', 104, 64 + 16, 104, 64 + 16, 104 + 80, len(body), 0, 0, 0, 0, 0,
        0)
    return header + attr + bytes(16) + body
