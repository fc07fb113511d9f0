# SPDX-License-Identifier: GPL-2.0-or-later
#
# For tests of what collects streams: a peer that sends them, in QEMU's place

import os
import socket
import subprocess
import threading

LIMIT = 120


class Peer:
    """Sends data to whoever connects to a socket, a part after another; the
    event of a part is waited for before it is sent."""
    def __init__(self, path, *parts, wrap=None):
        self.path, self.parts, self.wrap = path, parts, wrap
        self.failed = None
        self.accepted = threading.Event()
        if os.path.exists(path):
            os.remove(path)
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen(1)
        self.listener.settimeout(LIMIT)
        self.thread = threading.Thread(target=self.serve)
        self.thread.start()

    def serve(self):
        try:
            connection, _ = self.listener.accept()
            self.accepted.set()
            connection.settimeout(LIMIT)
            if self.wrap:
                connection = self.wrap(connection)
            for event, data in self.parts:
                if event:
                    event.wait(LIMIT)
                connection.sendall(data)
            connection.close()
        except OSError as err:
            self.failed = err

    def end(self):
        self.thread.join()
        self.listener.close()


def listen(tool, *options):
    """`rvtrace listen`, not waited for"""
    # pylint: disable=consider-using-with
    return subprocess.Popen([tool, 'listen', *options],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            stdin=subprocess.DEVNULL, text=True)


def ended(process):
    """Its status, and what it said"""
    _, err = process.communicate(timeout=LIMIT)
    return process.returncode, err


def read(path):
    with open(path, 'rb') as f:
        return f.read()
