# SPDX-License-Identifier: GPL-2.0-or-later
"""Sideband streams, record by record: see etrace-sideband.rst"""

import struct

ALIGN, FORGET, RAM = 10, 11, 13
ALL_HARTS = 0xffff

HEADER = struct.Struct('<HHI')


def records(data):
    """Of each record: its kind, its hart, its payload, where it ends in data"""
    end = 0
    while end < len(data):
        kind, hart, size = HEADER.unpack_from(data, end)
        begin = end + HEADER.size
        end = begin + size
        yield kind, hart, data[begin:end], end
