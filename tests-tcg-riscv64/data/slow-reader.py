#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# slow-reader.py SOCKETS FILE
#
# Waits for QEMU's chardev at the socket "tr" in the folder SOCKETS, and reads
# nothing until the encoder has lost or dropped packets, as QEMU's qtest socket
# there says; then writes all that comes to FILE.
import socket
import sys

import links
from tap import LIMIT, until

# trTeControl.trTeInstStallOrOverflow; trTeDataControl's StallOrOverflow, Drop
LOSSES = ((0x3020000, 1 << 12), (0x3020010, 1 << 3 | 1 << 5))

sockets, path = sys.argv[1:]
server = socket.socket(socket.AF_UNIX)
server.bind(f'{sockets}/tr')
server.listen()
server.settimeout(LIMIT)
print('ready', flush=True)
trace, _ = server.accept()
qtest = links.QTest(sockets)
until(lambda: any(qtest.read(addr) & bits for addr, bits in LOSSES),
      'nothing is lost')
with open(path, 'wb') as out:
    while data := trace.recv(1 << 16):
        out.write(data)
