# SPDX-License-Identifier: GPL-2.0-or-later
#
# Is what a command wrote such a file?

import gzip
import html.parser
import json
import os
import re
import xml.etree.ElementTree

SYSTEM = ('/proc/', '/sys/', '/dev/', '/lib', '/usr/lib', '/usr/share/locale',
          '/etc/ld.so', '/usr/share/misc', '/etc/localtime', '/etc/terminfo',
          '/usr/share/terminfo', '/lib/terminfo')


def folded(data):
    for line in data.splitlines():
        assert re.fullmatch(rb'.* \d+', line), line


def callgrind(data):
    assert data.startswith(b'# callgrind format')
    for line in data.splitlines()[1:]:
        assert re.fullmatch(
            rb'|[a-z]+: .*|(c?f[nile]|c?ob)=.*|calls=\d+ \S+( \S+)?|j(ump|cnd)=.*|'
            rb'[-+*0-9x][-+*0-9a-fx ]*', line), line


def table(data):
    lines = data.decode('utf-8').split('\n')
    assert len({line.count('\t') for line in lines if line}) <= 1
    assert '\x1b' not in data.decode('utf-8') and '\r' not in data.decode()


def text(data):
    assert b'\x1b' not in data and b'\r' not in data


def svg(data):
    xml.etree.ElementTree.fromstring(data)


def page(data):
    class Parser(html.parser.HTMLParser):
        """That there is no element of a guest's"""
        def handle_starttag(self, tag, attrs):
            assert tag != 'script' or self.get_starttag_text() != \
                '<script>alert' , tag

    content = data.decode('utf-8')
    assert '<html' in content and '<script>alert(1)' not in content
    Parser().feed(content)


def lcov(data):
    for line in data.splitlines():
        assert re.match(rb'(TN|SF|FN|FNDA|FNF|FNH|DA|LF|LH|BRDA|BRF|BRH):|'
                        rb'end_of_record$', line), line


def begins(magic):
    def test(data):
        assert data.startswith(magic), data[:16]
    return test


def pprof(data):
    if data[:2] == b'\x1f\x8b':
        gzip.decompress(data)


PARSERS = {'folded': folded, 'callgrind': callgrind, 'flamegraph': svg,
           'html': page, 'coverage': lcov, 'speedscope': json.loads,
           'perf-data': begins(b'PERFILE2'), 'kernel-elf': begins(b'\x7fELF'),
           'pprof': pprof, 'script': text, 'report': text, 'summary': text,
           'annotate': text, 'diff': text, 'stat': text, 'calls': text,
           'latency': text, 'faults': text, 'switches': text,
           'why-hung': text, 'privilege': text}
FORMATS = {'json': json.loads, 'tsv': table}
TABLES = ('report', 'diff', 'stat', 'annotate', 'summary', 'calls', 'latency',
          'faults', 'switches', 'why-hung', 'privilege', 'verify')


def wrong(kind, form, path, out):
    """What is, of a command that succeeded: None, or a text"""
    if path:
        if not os.path.exists(path):
            return f'it succeeds, and there is no {os.path.basename(path)}'
        if os.path.isdir(path):
            return None
        with open(path, 'rb') as f:
            out = f.read()
    parser = PARSERS.get(kind)
    if form in FORMATS and kind in TABLES:
        parser = FORMATS[form]
    if parser and out:
        try:
            parser(out)
        except Exception as error:  # pylint: disable=broad-except
            return f'its output: {type(error).__name__} {str(error)[:300]}'
    return None


def strange_files(log, folder, tool, out):
    """Paths in a log of strace that are neither named nor the system's"""
    found = []
    with open(log, encoding='utf-8', errors='replace') as f:
        for line in f:
            match = re.search(r'open(?:at2?)?\((?:\S+, )?"([^"]*)"', line)
            if not match or 'O_PATH' in line or ' = -1 ' in line:
                continue
            path = os.path.normpath(os.path.join(out, match[1]))
            # firmware of ours or QEMU's is looked for by its own name
            if path == tool or path.endswith('/boot/fw_dynamic.elf') or \
                    path.startswith(SYSTEM) or any(
                    path.startswith(f'{folder}/{part}')
                    for part in ('in', 'out', 'tmp')):
                continue
            found.append(line.strip())
    return found
