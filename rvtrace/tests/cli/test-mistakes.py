#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Mistakes that people make, and what they are told. It has to name what is
# wrong and what to do:
#
#   test-mistakes.py RVTRACE SYNTH-WRITE
#
# Every check prints a TAP line; the script fails if one of them does. With
# TABLE=1, what is said is printed, too.

import gzip
import lzma
import os
import pty
import re
import subprocess
import sys
import tempfile

from checks import check, tap

TOOL, SYNTH = map(os.path.abspath, sys.argv[1:3])
FILES = ['--trace', 'made/trace', '--sideband', 'made/sideband']
QEMU = ['--', '/bin/true', '-M', 'virt']

# status, what the message says, the command line; {...} are files of it
MISTAKES = [
    # compressed, cut, swapped, or something else
    (2, r'trace.gz: is compressed: .*<\(zcat made/trace.gz\)',
     'stat --trace made/trace.gz --sideband made/sideband'),
    (2, r'trace.xz: is compressed: .*<\(xzcat ',
     'stat --trace made/trace.xz --sideband made/sideband'),
    (2, r'side.gz: is compressed: .*<\(zcat ',
     'stat --trace made/trace --sideband made/side.gz'),
    (2, r'trace: sideband: not a sideband',
     'stat --trace made/sideband --sideband made/trace'),
    (2, r'no such|No such', 'stat --trace none --sideband made/sideband'),
    (2, r'No such', 'stat --trace made/trace --sideband none'),
    (2, r'made: .*(directory|folder)', 'stat --trace made'),
    (2, r'/dev/zero', 'stat --trace /dev/zero --sideband made/sideband'),
    (2, r'text: ', 'stat --trace made/trace --sideband made/text'),
    (2, r'', 'report --trace made/text --sideband made/sideband'),
    (2, r'empty', 'stat --trace made/trace --sideband made/empty'),
    (2, r'--sideband FILE or --elf', 'report --trace made/trace'),
    (2, r'give --trace FILE, too', 'report --sideband made/sideband'),
    # operands
    (2, r'made/trace is a file.*--trace made/trace', 'report made/trace'),
    (2, r'no folder nowhere', 'report nowhere'),
    (2, r'rvtrace run.*--trace FILE', 'report'),
    (2, r'has not written a trace', 'report other/sub'),
    (2, r"unexpected argument 'x'", 'report {files} x'),
    # words
    (2, r"did you mean 'report'\?", 'reprot {files}'),
    (2, r"did you mean 'timeline'\?", 'timelime {files}'),
    (2, r"did you mean '--sysroot'\?", 'report {files} --sys-root x'),
    (2, r"did you mean '--callers'\?", 'report {files} --caller f'),
    (2, r'--sort x: must be', 'report {files} --sort x'),
    (2, r'--format xml: must be', 'report {files} --format xml'),
    (2, r'Missing argument for --sort', 'report {files} --sort'),
    # numbers
    (2, r'--limit 2X: must be', 'stat {files} --limit 2X'),
    (2, r'--limit -2: must be', 'stat {files} --limit=-2'),
    (2, r'--limit : must be', 'stat {files} --limit='),
    (2, r'integer value .x. for -j', 'stat {files} -jx'),
    (2, r'--jobs: a number', 'stat {files} -j-1'),
    (2, r'hart 7 is not in the trace; it has 1 hart', 'stat {files} --hart 7'),
    (2, r'--from', 'report {files} --from soon'),
    (2, r'--window LENGTH goes with --before EVENT or --after EVENT',
     'report {files} --window 10ms'),
    (2, r'--window LENGTH goes with', 'decode {files} --before sym:f'),
    (2, r'--window x: must be a time', 'calls {files} --sym f --window x '
     '--after sym:f'),
    (2, r'--after slower:f: must be sym:FUNCTION, mark:NOTE',
     'folded {files} --window 1k --after slower:f'),
    (2, r'--before sym:nowhere: there is none',
     'report {files} --window 1k --before sym:nowhere'),
    (2, r'--from 9k: must be before 1k', 'report {files} --from 9k --to 1k'),
    (2, r'does not report the time', 'report {files} --from 1ms'),
    (2, r'--weight time: the trace does not report', 'report {files} '
     '--weight time'),
    (2, r'--rows: must not be negative', 'report {files} --rows=-1'),
    (2, r'--period', 'perf-data {files} --period 0 -o out'),
    (2, r'--shard 3/2', 'report {files} --shard 3/2'),
    # names
    (0, r'warning: nothing that ran has such names: --sym nosuch; ',
     'report {files} --sym nosuch'),
    (0, r'warning: .*such names: --comm a --dso b', 'report {files} --comm a '
     '--dso b'),
    (0, r"none of \d+ instructions is selected.*--sort pid",
     'report {files} --process nosuch'),
    (2, r'--callers nosuch: no such function ran', 'report {files} --callers '
     'nosuch'),
    (2, r'no function with such a name ran: --sym nosuch',
     'annotate {files} --sym nosuch'),
    (2, r'nothing that ran has a name: give .*--sysroot', 'annotate {files}'),
    (2, r"rvidx does not exist: make it with 'rvtrace index'", 'index --list {files}'),
    (0, r'31 % of .*in no known file: name it with --sysroot or --elf',
     'report {files}'),
    (2, r'--sysroot: nowhere', 'report {files} --sysroot nowhere'),
    (2, r'--elf: .*text', 'report {files} --elf made/text'),
    (2, r'--kallsyms: .*text', 'report {files} --kallsyms made/text'),
    # outputs
    (2, r'No such file or directory', 'report {files} -o nowhere/out'),
    (2, r'made', 'report {files} -o made'),
    (2, r'made/trace', 'report {files} -o made/trace'),
    (2, r'uftrace: which folder', 'uftrace {files}'),
    (2, r'ctf: which folder', 'ctf {files}'),
    (2, r'edges: which folder', 'edges {files}'),
    (2, r'--each x: must be sym:FUNCTION, a glob, or region:NAME',
     'edges {files} -o out --each x'),
    (2, r'compare with what\? give --truth|--truth', 'verify {files}'),
    (2, r'which form\? --format csv', 'params {files}'),
    (2, r'what to write\?', 'decode {files}'),
    (2, r'where to\? give -o FILE: rvtrace kernel-elf made/text -o',
     'kernel-elf made/text'),
    (2, r'which kernel\?', 'kernel-elf -o out'),
    (2, r'which reports\?', 'diff'),
    (2, r'which results\?', 'merge'),
    # run
    (2, r'which QEMU\?', 'run'),
    (2, r'which QEMU\?', 'run --sysroot -- --'),
    (2, r'nothing was traced', 'run /bin/true'),
    (2, r'nothing was traced', 'run --sysroot made /bin/true -kernel x '
     '-M virt'),
    (2, r'nothing was traced', 'run -- /bin/true -M spike'),
    (2, r'no -chardev file,id=a,', 'run -- /bin/true -device '
     'riscv-trace,chardev=a'),
    (2, r'leave trace=off out', 'run -- /bin/true -M virt,trace=off'),
    (2, r'cannot start QEMU: .*no-such-qemu', 'run -- no-such-qemu -M virt'),
    (2, r'ended with exit status 1 and traced nothing; what it has to say is '
     r'above', 'run -- /bin/false -M virt'),
    (2, r'nothing was traced', 'run {qemu}'),
    (2, r'--view nonsense: not KIND', 'run --view nonsense {qemu}'),
    (2, r'leave it out', 'run {qemu} -daemonize'),
    (2, r'made/trace is there already', 'run --out made {qemu}'),
    (2, r'cannot make the folder', 'run --out made/text/x {qemu}'),
]

# What is nothing to read, and is not written to a terminal
BINARY = ['perf-data', 'pprof', 'timeline', 'html', 'speedscope', 'flamegraph',
          'pgo --format gcov', 'coverage --format drcov', 'convert --to raw',
          'report --shard 1/1', 'encode --packets made/text']


def run(words, cwd, **more):
    done = subprocess.run([TOOL, *words], cwd=cwd, timeout=300, check=False,
                          **{'stdin': subprocess.DEVNULL,
                             'stdout': subprocess.PIPE,
                             'stderr': subprocess.PIPE, **more})
    return done.returncode, done.stderr.decode(errors='replace')


def mistake(folder, want, pattern, line):
    words = []
    for word in line.split():
        words += {'{files}': FILES, '{qemu}': QEMU}.get(word, [word])
    status, err = run(words, folder)
    if os.environ.get('TABLE'):
        text = err.strip().replace('\n', '\n#   ')
        print(f'# {line}\n#   [{status}] {text}')
    check(line, status == want and re.search(pattern, err) and
          'rvtrace: ' in err, f'{status}: {err}')


def terminal(folder):
    run(['index', *FILES], folder)
    for line in BINARY:
        words = line.split() + ([] if line.startswith('encode') else FILES)
        parent, child = pty.openpty()
        status, err = run(words, folder, stdout=child)
        check(f'{line} on a terminal', status == 2 and
              'nothing to read on a terminal: give -o FILE' in err,
              f'{status}: {err}')
        os.close(child)
        os.close(parent)
        check('it is written to a pipe',
              'terminal' not in run(words, folder)[1])


def make(folder):
    for name, seed in ('made', '1'), ('other', '2'):
        os.makedirs(f'{folder}/{name}/sub')
        subprocess.run([SYNTH, seed, '1', '20000', f'{folder}/{name}'],
                       check=True)
    for name, text in ('text', b'Just a text.\n' * 9), ('empty', b''):
        with open(f'{folder}/made/{name}', 'wb') as f:
            f.write(text)
    for source, name, pack in (('trace', 'trace.gz', gzip),
                               ('trace', 'trace.xz', lzma),
                               ('sideband', 'side.gz', gzip)):
        with open(f'{folder}/made/{source}', 'rb') as f, \
             pack.open(f'{folder}/made/{name}', 'wb') as out:
            out.write(f.read())


def main():
    with tempfile.TemporaryDirectory() as folder:
        make(folder)
        before = sorted(os.listdir(folder))
        for want, pattern, line in MISTAKES:
            mistake(folder, want, pattern, line)
        check('no mistake leaves a file', sorted(os.listdir(folder)) == before,
              os.listdir(folder))
        terminal(folder)
    tap.end()


if __name__ == '__main__':
    main()
