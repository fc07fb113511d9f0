#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# `rvtrace listen` with TLS, against the TLS of Python, which is OpenSSL's
#
#   test-tls.py RVTRACE
#
# Every check prints a TAP line; the script fails if one of them does.

import os
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import threading

from checks import check, skip, tap
from collecting import LIMIT, ended, listen, read

TOOL = os.path.abspath(sys.argv[1])
DATA = bytes(range(256)) * 4000


def openssl(folder, *words):
    subprocess.run(['openssl', *words], cwd=folder, check=True,
                   capture_output=True)


def authority(folder, name):
    openssl(folder, 'req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days',
            '2', '-subj', f'/CN={name}', '-keyout', f'{name}.key', '-out',
            f'{name}.pem')


def certificate(folder, name, signer, alternative):
    with open(f'{folder}/{name}.ext', 'w', encoding='ascii') as f:
        f.write(f'subjectAltName={alternative}\n')
    openssl(folder, 'req', '-newkey', 'rsa:2048', '-nodes', '-subj',
            f'/CN={name}', '-keyout', f'{name}.key', '-out', f'{name}.csr')
    openssl(folder, 'x509', '-req', '-in', f'{name}.csr', '-CA',
            f'{signer}.pem', '-CAkey', f'{signer}.key', '-CAcreateserial',
            '-days', '2', '-extfile', f'{name}.ext', '-out', f'{name}.pem')


class Peer:
    """The other side, a server or a client; what it shows, and whom it
    believes"""
    def __init__(self, folder, name, port=0):
        self.server = not port
        self.context = ssl.SSLContext(
            ssl.PROTOCOL_TLS_SERVER if self.server else
            ssl.PROTOCOL_TLS_CLIENT)
        self.context.load_verify_locations(f'{folder}/ca.pem')
        if name:
            self.context.load_cert_chain(f'{folder}/{name}.pem',
                                         f'{folder}/{name}.key')
        if self.server:
            self.context.verify_mode = ssl.CERT_REQUIRED
        self.listener = socket.socket()
        self.listener.settimeout(LIMIT)
        self.port = port
        if self.server:
            self.listener.bind(('127.0.0.1', 0))
            self.listener.listen(1)
            self.port = self.listener.getsockname()[1]
        self.failed = None
        self.thread = threading.Thread(target=self.serve)
        self.thread.start()

    def connect(self):
        while True:
            try:
                return socket.create_connection(('127.0.0.1', self.port),
                                                LIMIT)
            except ConnectionRefusedError:
                pass

    def serve(self):
        try:
            if self.server:
                plain, _ = self.listener.accept()
            else:
                plain = self.connect()
            plain.settimeout(LIMIT)
            with self.context.wrap_socket(
                    plain, server_side=self.server,
                    server_hostname=None if self.server else 'localhost') as s:
                s.sendall(DATA)
        except OSError as err:
            self.failed = err

    def end(self):
        self.thread.join()
        self.listener.close()
        return self.failed


def free_port():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return s.getsockname()[1]


def files(folder, cert, ca):
    return [*([f'--tls-cert={folder}/{cert}.pem',
               f'--tls-key={folder}/{cert}.key'] if cert else []),
            *([f'--tls-ca={folder}/{ca}.pem'] if ca else [])]


def one(folder, host, their, options, server=False):
    """Status, what was said, what was collected, and the other's error"""
    got = f'{folder}/got'
    if os.path.exists(got):
        os.remove(got)
    port = free_port() if server else 0
    peer = Peer(folder, their, port)
    address = f'tcp:{host}:{peer.port}{",server" if server else ""}'
    status, err = ended(listen(TOOL, '--timeout', '20', '--trace', address,
                               '--trace-out', got, *options))
    failed = peer.end()
    return status, err, read(got) if os.path.exists(got) else None, failed


def as_client(folder):
    status, err, got, failed = one(folder, 'localhost', 'server',
                                   files(folder, 'client', 'ca'))
    check('client: collected', status == 0 and got == DATA,
          f'{status}: {err} {failed}')
    status, err, got, _ = one(folder, 'localhost', 'stranger',
                              files(folder, 'client', 'ca'))
    check('a server of another authority', status == 2 and got is None and
          'no TLS with tcp:localhost' in err and
          'not signed by that of --tls-ca' in err, err)
    status, err, got, _ = one(folder, '127.0.0.1', 'server',
                              files(folder, 'client', 'ca'))
    check('a certificate for another host', status == 2 and got is None and
          'it is of another host' in err, err)
    status, err, got, failed = one(folder, 'localhost', 'server',
                                   files(folder, None, 'ca'))
    check('without a certificate of ours', got is None and failed, err)


def as_server(folder):
    status, err, got, failed = one(folder, '127.0.0.1', 'client',
                                   files(folder, 'server', 'ca'), True)
    check('server: collected', status == 0 and got == DATA,
          f'{status}: {err} {failed}')
    for name, what in (None, 'nobody'), ('stranger', 'a stranger'):
        status, err, got, _ = one(folder, '127.0.0.1', name,
                                  files(folder, 'server', 'ca'), True)
        check(f'{what} connects', status == 2 and got is None and
              'no TLS with tcp:127.0.0.1' in err, f'{status}: {err}')


def wrong(folder):
    for words, pattern in (
            (['--tls-key', f'{folder}/server.key'], '--tls-key goes with'),
            (['--tls-cert', f'{folder}/none'], f'{folder}/none'),
            (['--tls-cert', f'{folder}/server.key'], 'server.key: '),
            (['--tls-ca', f'{folder}/none'], f'{folder}/none: '),
            (['--tls-cert', f'{folder}/none', '--tls-ca', f'{folder}/no'],
             f'{folder}/none: '),
            (['--tls-ca', f'{folder}/server.ext'], 'server.ext: ')):
        status, err = ended(listen(TOOL, '--trace', 'tcp:localhost:9',
                                   '--trace-out', f'{folder}/got', *words))
        check(' '.join(words).replace(folder, ''), status == 2 and
              pattern in err and len(err.splitlines()) == 1, err)
    status, err = ended(listen(TOOL, '--trace', 'tcp::9,server', '--trace-out',
                               f'{folder}/got', '--tls-ca',
                               f'{folder}/ca.pem'))
    check('a server without a certificate', status == 2 and
          '--tls-cert and --tls-key are needed' in err, err)


def main():
    with tempfile.TemporaryDirectory() as folder:
        _, err = ended(listen(TOOL, '--trace', 'tcp:localhost:9', '--trace-out',
                              f'{folder}/got', '--tls-ca', 'none'))
        if 'GLib has no TLS' in err:
            check('says what is missing', 'install glib-networking' in err)
            skip('TLS', 'glib-networking is not installed')
        elif not shutil.which('openssl'):
            skip('TLS', 'openssl is not installed')
        else:
            for name in 'ca', 'other':
                authority(folder, name)
            certificate(folder, 'server', 'ca', 'DNS:localhost')
            certificate(folder, 'client', 'ca', 'DNS:client')
            certificate(folder, 'stranger', 'other', 'DNS:localhost')
            for test in as_client, as_server, wrong:
                test(folder)
    tap.end()


if __name__ == '__main__':
    main()
