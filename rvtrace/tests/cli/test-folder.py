#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The folders of runs: what `rvtrace run` leaves, and commands that take it
#
#   test-folder.py RVTRACE SYNTH-WRITE
#
# In the place of QEMU is a script that copies a trace that was made before to
# where it is told. Every check prints a TAP line; the script fails if one of
# them does.

import os
import pty
import re
import shutil
import subprocess
import sys
import tempfile

from checks import check, tap

TOOL, SYNTH = map(os.path.abspath, sys.argv[1:3])
INSNS = 20000

# Its options are written to "arguments" beside it.
QEMU = r'''#!/bin/sh
printf '%s\n' "$@" > "$(dirname "$0")/arguments"
for word; do
    case $word in
    file,id=rvtrace-trace,path=*) cp "$(dirname "$0")/trace" "${word#*path=}" ;;
    file,id=rvtrace-sideband,path=*)
        cp "$(dirname "$0")/sideband" "${word#*path=}" ;;
    esac
done
'''


class Work:
    """A folder to be in, with a QEMU whose trace is of so many instructions"""
    def __init__(self, path):
        self.made, self.here = f'{path}/made', f'{path}/here'
        os.mkdir(self.made)
        os.mkdir(self.here)
        self.qemu = f'{self.made}/qemu'
        self.put(self.qemu, QEMU)
        os.chmod(self.qemu, 0o755)
        subprocess.run([SYNTH, '1', '1', str(INSNS), self.made], check=True)
        with open(f'{self.made}/pcs', encoding='ascii') as f:
            pcs = [int(line, 16) for line in f]
        self.ran, self.lowest = len(pcs), min(pcs)

    @staticmethod
    def put(path, text):
        with open(path, 'w', encoding='utf-8') as f:
            f.write(text)
        return path

    def names(self, path, name):
        """A file of symbols: everything is @name"""
        with open(path, 'wb') as f:
            f.write(b'%x T %s\n' % (self.lowest, name))
        return path

    def __call__(self, *args, where=None):
        done = subprocess.run([TOOL, *args], capture_output=True, timeout=300,
                              cwd=where or self.here, check=False,
                              stdin=subprocess.DEVNULL)
        return (done.returncode, done.stdout.decode(),
                done.stderr.decode(errors='replace'))

    def run(self, *args, **more):
        return self('run', *args, '--', self.qemu, '-M', 'virt', **more)

    def path(self, *names):
        return os.path.join(self.here, *names)

    def clear(self):
        shutil.rmtree(self.here)
        os.mkdir(self.here)


def said(result, status, pattern):
    return result[0] == status and re.search(pattern, result[2])


def plain(w):
    """No options: a folder, ten lines and a report"""
    names = w.names(w.path('System map; of mine'), b'everything')
    status, out, err = w.run('--kallsyms', names)
    check('run without a view', status == 0, err)
    check('says how much ran', f'{w.ran:,} instructions of 1 hart' in out, out)
    check('and in which functions', re.search(r'\d %  everything', out), out)
    check('and that nothing is missing', 'nothing was lost' in out, out)
    check('and where the report is', 'report: rvtrace.out/report.html' in out,
          out)
    check('in some ten lines', 5 <= out.count('\n') <= 15, out)
    check('the folder has it all', sorted(os.listdir(w.path('rvtrace.out'))) ==
          ['report.html', 'run.ini', 'sideband', 'trace'],
          os.listdir(w.path('rvtrace.out')))
    with open(w.path('rvtrace.out/report.html'), encoding='utf-8') as f:
        check('the report has names', 'everything' in f.read())
    want = w('report', '--trace', 'rvtrace.out/trace', '--sideband',
             'rvtrace.out/sideband', '--kallsyms', names)
    check('by hand it takes three options', 'everything' in want[1], want)
    check('report needs none', w('report') == want, w('report'))
    check('nor with the folder', w('report', 'rvtrace.out') == want)
    check('nor in the folder', w('report', where=w.path('rvtrace.out')) == want)
    status, out, err = w('decode', '--emit', 'pc', 'rvtrace.out', '--strict')
    with open(f'{w.made}/pcs', encoding='ascii') as f:
        check('decode, too', out == f.read(), err)
    check('summary says it again', w('summary')[1] in w.run(
        '--kallsyms', names)[1].replace('rvtrace.out.2', 'rvtrace.out'))
    check('the next run has a folder of its own',
          sorted(d for d in os.listdir(w.here) if 'rv' in d) ==
          ['rvtrace.out', 'rvtrace.out.2'], os.listdir(w.here))
    os.rename(w.path('rvtrace.out'), w.path('moved'))
    check('a folder may move', w('report', 'moved') == want)
    status, out, err = w('diff', 'moved', 'rvtrace.out.2', '--format',
                         'tsv')
    check('diff takes folders', status == 0 and 'everything' in out, err)
    check('and says why one will not do', said(w('diff', 'moved', '.'), 2,
                                               'has not written'))
    os.rename(w.path('rvtrace.out.2'), w.path('rvtrace.out'))
    status, _, err = w('run', '--kallsyms', names, w.qemu, '-M', 'virt',
                       '-kernel', 'x', '-v')
    check('nothing has to separate the command lines', status == 0 and
          {'-kernel', '-v'} <= set(arguments(w)) and
          w('report')[1] == want[1], err)
    w.clear()


def numbers(w):
    """The newest one is the one with the highest number"""
    os.mkdir(w.path('rvtrace.out.7'))
    w.put(w.path('rvtrace.out.12x'), '')
    check('folders are counted on', w.run()[0] == 0 and
          os.path.exists(w.path('rvtrace.out.8/trace')), os.listdir(w.here))
    for n in ('3', '11'):
        shutil.copytree(w.path('rvtrace.out.8'), w.path(f'rvtrace.out.{n}'))
    os.mkdir(w.path('rvtrace.out.20'))
    result = w('stat')
    check('the newest that has a trace is taken',
          said(result, 0, 'rvtrace.out.11, the newest'), result)
    w.clear()


def options(w):
    """The command line wins; what is not there is left out"""
    first = w.names(os.path.join(os.fsencode(w.here), b'a\xff,;'), b'first')
    status, _, err = w.run('--kallsyms', first)
    check('a name that is no UTF-8', status == 0, err)
    check('is found again', 'first' in w('report')[1], w('report'))
    second = w.names(w.path('b'), b'second')
    out = w('report', '--kallsyms', second)[1]
    check('an option wins', 'second' in out and 'first' not in out, out)
    os.remove(first)
    result = w('report')
    check('without the file there is a warning',
          said(result, 0, 'warning: .*not there any more: its names are '
               'missing') and str(w.ran) in result[1], result)
    os.remove(w.path('rvtrace.out/sideband'))
    check('so it is without the sideband',
          re.search('warning: .*sideband is not there', w('stat')[2]),
          w('stat'))
    w.clear()
    w.run('--title', 'one; <b>')
    check('what is drawn later has the same title', all(
        '>one; &lt;b&gt;<' in w(*view)[1] for view in
        (('html', '-o', '-'), ('flamegraph',))), w('flamegraph'))
    check('or another one', 'other</title>' in
          w('html', '--title', 'other', '-o', '-')[1])
    w.clear()


def out(w):
    """--out and --keep: never over another trace"""
    for option in '--out', '--keep', '-o':
        status, _, err = w.run(option, f'x/{option}')
        check(f'run {option}', status == 0 and
              os.path.exists(w.path('x', option, 'report.html')), err)
        before = os.stat(w.path('x', option, 'trace'))
        result = w.run(option, f'x/{option}')
        check('not twice', said(result, 2, 'is there already') and
              os.stat(w.path('x', option, 'trace')) == before, result)
    status, out, err = w.run('--keep', 'kept', '--view', 'stat')
    check('with --view there is what was asked for', status == 0 and
          'encapsulated bytes' in out and 'report:' not in out, err)
    check('and a folder without a report',
          sorted(os.listdir(w.path('kept'))) == ['run.ini', 'sideband',
                                                 'trace'])
    check('which others take', w('stat', 'kept')[1] == out)
    check('with --view alone there is none', w.run('--view', 'stat')[0] == 0 and
          sorted(os.listdir(w.here)) == ['kept', 'x'], os.listdir(w.here))
    w.clear()


def failed(w):
    """A run without a trace leaves nothing"""
    for qemu, what in (('/bin/false', 'ended with exit status 1'),
                       ('/no/such/qemu', 'cannot start QEMU'),
                       ('/bin/true', 'nothing was traced')):
        result = w('run', '--', qemu, '-M', 'virt')
        check(f'{qemu} fails', said(result, 2, what), result)
        check('and leaves nothing', not os.listdir(w.here),
              os.listdir(w.here))
    w('run', '--', w.qemu, '-M', 'virt', '-daemonize')
    check('nor does a wrong option', not os.listdir(w.here))
    os.mkdir(w.path('mine'))
    w('run', '--out', 'mine', '--', '/bin/false', '-M', 'virt')
    check('what was there stays', os.listdir(w.here) == ['mine'])
    w.clear()


def boards(w):
    """Boards but virt have no options of ours"""
    result = w('run', '--', w.qemu, '-M', 'sifive_u,trace=on')
    check('another board and trace=on', said(
        result, 2, 'sifive_u: only virt has the option trace; leave it out, '
        ".*adds -device riscv-trace"), result)
    check('no folder is left', not os.listdir(w.here), os.listdir(w.here))
    result = w('run', '--', w.qemu, '-M', 'sifive_u')
    check('without it', result[0] == 0 and any(
        word.startswith('riscv-trace,') for word in arguments(w)), result)
    w.clear()


def wrong(w):
    """What is no folder of a run"""
    file = w.put(w.path('file'), 'x')
    os.mkdir(w.path('empty'))
    check('nothing here', said(w('report'), 2, 'there is no rvtrace.out here'),
          w('report'))
    for args, pattern in (
            (['file'], 'file is a file.* give --trace file'),
            (['empty'], "'rvtrace run' has not written a trace"),
            (['nowhere'], 'no folder nowhere'),
            (['--sideband', file], 'which trace'),
            (['--trace', file, 'empty'], "unexpected argument 'empty'"),
            (['empty', 'file'], "unexpected argument 'file'")):
        result = w('report', *args)
        check(f'report {" ".join(args)}', said(result, 2, pattern), result)
    for suffix in '', '.sideband':
        shutil.copy(f'{w.made}/{suffix[1:] or "trace"}',
                    w.path('empty', f'7{suffix}'))
    result = w('report', 'empty')
    check('a machine among processes', said(result, 2, 'trace of a machine'),
          result)
    os.unlink(w.path('empty', '7.sideband'))
    os.mkfifo(w.path('empty', '7.sideband'))
    result = w('report', 'empty')
    check('a pipe that nobody writes to', said(
        result, 2, '7.sideband is no file.*remove it'), result)
    w.run()
    about = w.path('rvtrace.out/run.ini')
    with open(about, encoding='utf-8') as f:
        good = f.read()
    for text in 'nonsense', '[files\ntrace=x', good + 'x' * (2 << 20):
        w.put(about, text)
        result = w('stat')
        check('a bad run.ini', said(result, 2, 'run.ini: .*has not written'),
              result)
    for text in '', '[files]\n', '[files]\ntrace=\n', '[files]\nelf=;;;\n':
        w.put(about, text)
        result = w('stat')
        check('an empty one', result[0] in (0, 2) and
              (result[0] == 0 or 'error' in result[2]), result)
    w.clear()


def arguments(w):
    with open(f'{w.made}/arguments', encoding='utf-8') as f:
        return f.read().split('\n')


def times(w):
    w.run()
    mine = 'riscv-trace-encoder.time-width=64'
    check('times are traced', mine in arguments(w), arguments(w))
    w.run('--view', 'stat')
    check('but not for a view', mine not in arguments(w), arguments(w))
    w('run', '--', w.qemu, '-M', 'virt', '-global',
      'riscv-trace-encoder.timestamp-width=40')
    check('nor over those of the user', mine not in arguments(w),
          arguments(w))
    w.clear()


def keys(w):
    """A terminal of which Ctrl-C is the guest's"""
    for options, told in ((['-nographic'], True), ([], False),
                          (['-serial', 'mon:stdio'], True),
                          (['-serial', 'stdio'], False),
                          (['-nographic', '-serial', 'null'], False)):
        parent, child = pty.openpty()
        done = subprocess.run([TOOL, 'run', '--view', 'stat', '--', w.qemu,
                               '-M', 'virt', *options], stdin=child,
                              capture_output=True, cwd=w.here, timeout=300,
                              check=False)
        os.close(parent)
        os.close(child)
        check(f'{options}', (b'Ctrl-A' in done.stderr) == told, done.stderr)


def commands(w):
    """Whatever takes --trace takes a folder"""
    w.run()
    found = 0
    for name in re.findall(r'^  ([a-z][a-z-]*) ', w('--help')[1], re.M):
        text = w(name, '--help-all')[1]
        # what --trace is elsewhere: an address, or a part of the answer
        if '--trace=FILE' in text and name != 'merge':
            found += 1
            check(f'{name} takes a folder', '[FOLDER]' in text.split('\n')[1],
                  text)
    check('commands are found', found > 15, found)
    status, out, err = w('params', '--format', 'json')
    check('params needs no option', status == 0 and '"src_id"' in out, err)
    w.clear()


def main():
    with tempfile.TemporaryDirectory() as folder:
        w = Work(folder)
        for test in (plain, numbers, options, out, failed, boards, wrong, times,
                     keys, commands):
            test(w)
    tap.end()


if __name__ == '__main__':
    main()
