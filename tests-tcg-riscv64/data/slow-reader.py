#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# slow-reader.py SOCKET FILE
#
# Waits for QEMU's chardev at SOCKET and writes what comes from it to FILE:
# nothing for a while, then some of it slowly, then all.
import socket
import sys
import time

server = socket.socket(socket.AF_UNIX)
server.bind(sys.argv[1])
server.listen()
server.settimeout(60)
print('ready', flush=True)
conn, _ = server.accept()
start = time.monotonic()
with open(sys.argv[2], 'wb') as out:
    time.sleep(1)
    while True:
        data = conn.recv(1 << 14)
        if not data:
            break
        out.write(data)
        if time.monotonic() - start < 3:
            time.sleep(0.02)
