#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Every command with damaged and hostile inputs
#
#   commands.py RVTRACE SYNTH-WRITE [--runs N | --seconds N] [--seed N]
#               [--keep FOLDER]
#
# The commands are those that --help lists, with the options that --help-all
# lists: for a new one that reads no trace, add how to call it (SPECIAL). A run
# ends in time, needs little memory, and with a status that means something; what
# it writes is what such a file is, and has nothing of files that nobody named.
# Without --runs, each command has as many. A run that was wrong is kept in
# FOLDER, and again with its --seed. TAP.

import argparse
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'tests', 'cli'))
sys.dont_write_bytecode = True

# pylint: disable=wrong-import-position
import commandline
import damage
import outputs
from checks import check, skip, tap

SECONDS = 60            # that a run may take
MEGABYTES = 1 << 10     # that it may need
FILE_SIZE = 64 << 20
WRONG = (b'Sanitizer', b'runtime error:', b'CRITICAL', b'ssertion', b'GLib-')


class Fuzzer:
    def __init__(self, tool, folder, samples, keep):
        self.tool = tool
        self.folder = folder
        self.samples = samples
        self.keep = keep
        self.statuses = {}
        with open(tool, 'rb') as f:
            self.sanitized = b'__asan_init' in f.read()

    def limits(self):
        resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_SIZE, FILE_SIZE))
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        if not self.sanitized:      # which reserves terabytes
            size = MEGABYTES << 20
            resource.setrlimit(resource.RLIMIT_AS, (size, size))

    def environment(self):
        return {**os.environ, 'TMPDIR': f'{self.folder}/tmp',
                'G_DEBUG': 'fatal-criticals', 'ASAN_OPTIONS':
                f'detect_leaks=0:hard_rss_limit_mb={MEGABYTES}'}

    def execute(self, call, under=()):
        """(status or None, standard output, standard error)"""
        process = None
        with call.peers():
            try:
                process = subprocess.Popen(
                    [*under, self.tool, *call.words], cwd=call.out,
                    stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE, env=self.environment(),
                    preexec_fn=self.limits)
                out, err = process.communicate(call.stdin, SECONDS)
                return process.returncode, out, err
            except subprocess.TimeoutExpired:
                process.kill()
                _, err = process.communicate()
                return None, b'', err

    def wrong(self, call, status, out, err):
        """What is, or None"""
        if status is None:
            return f'it does not end in {SECONDS} s'
        if status not in (0, 1, 2):
            return f'status {status}'
        if any(word in err for word in WRONG):
            return 'it complains about itself'
        if status == 2 and b'error: ' not in err:
            return 'status 2, and no error is named'
        if damage.SECRET in out or damage.SECRET in err:
            return 'it shows a file that nobody named'
        for name in os.listdir(call.out):
            if os.path.isfile(f'{call.out}/{name}'):
                with open(f'{call.out}/{name}', 'rb') as f:
                    if damage.SECRET in f.read():
                        return f'{name} has a file that nobody named'
        if b'\x1b' in err:
            return 'the terminal gets what a file says'
        if status == 0:
            return outputs.wrong(call.kind, call.format, call.output, out)
        if status == 2 and call.output and not call.growing and \
                os.path.exists(call.output):
            return 'it fails, and leaves a file'
        return None

    def run(self, name, seed):
        """What is wrong, or None"""
        r = random.Random(f'{name} {seed}')
        for part in 'in', 'out', 'tmp':
            shutil.rmtree(f'{self.folder}/{part}', ignore_errors=True)
            os.mkdir(f'{self.folder}/{part}')
        files = self.samples.damaged(r, f'{self.folder}/in')
        call = commandline.Call(self.tool, name, r, files,
                                f'{self.folder}/out')
        result = self.execute(call)
        self.statuses[result[0]] = self.statuses.get(result[0], 0) + 1
        wrong = self.wrong(call, *result)
        if wrong and self.keep:
            to = f'{self.keep}/{name}-{seed}'
            shutil.rmtree(to, ignore_errors=True)
            shutil.copytree(f'{self.folder}/in', f'{to}/in', symlinks=True)
            with open(f'{to}/stderr', 'wb') as f:
                f.write(result[2])
        return wrong and [f'{wrong}: seed {seed}',
                          ' '.join(ascii(word)[1:-1] for word in call.words),
                          *result[2].decode(errors='replace')
                          .splitlines()[-12:]]

    def opened(self, name):
        """Files that a command opens that nobody named"""
        for part in 'in', 'out', 'tmp':
            shutil.rmtree(f'{self.folder}/{part}', ignore_errors=True)
            os.mkdir(f'{self.folder}/{part}')
        files = self.samples.hostile(f'{self.folder}/in')
        log = f'{self.folder}/strace'
        call = commandline.Call(self.tool, name, None, files,
                                f'{self.folder}/out')
        self.execute(call, ['strace', '-f', '-e',
                            'trace=open,openat,openat2,creat', '-o', log])
        return outputs.strange_files(log, self.folder, self.tool, call.out)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('tool')
    parser.add_argument('synth')
    parser.add_argument('--runs', type=int, default=0)
    parser.add_argument('--seconds', type=int, default=0)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--keep')
    options = parser.parse_args()
    tool = os.path.abspath(options.tool)
    strace = shutil.which('strace') and not subprocess.run(
        ['strace', 'true'], capture_output=True, check=False).returncode
    with tempfile.TemporaryDirectory() as folder:
        folder = os.path.realpath(folder)
        samples = damage.Samples(tool, os.path.abspath(options.synth),
                                 f'{folder}/good')
        fuzzer = Fuzzer(tool, folder, samples, options.keep)
        names, unknown = commandline.commands(tool)
        check('it is known how to call each command', not unknown, unknown)
        for name in names:
            if not strace:
                skip(f'{name}: opens what was named', 'no strace')
                continue
            strange = fuzzer.opened(name)
            check(f'{name}: opens what was named', not strange, strange)
        begin, seed, runs, found = time.monotonic(), options.seed, 0, {}
        while (runs < options.runs * len(names) if options.runs else
               time.monotonic() - begin < options.seconds):
            name = names[runs % len(names)]
            wrong = fuzzer.run(name, seed)
            if wrong and len(found.setdefault(name, [])) < 60:
                found[name] += wrong
                print('\n'.join(f'# {line}' for line in wrong), flush=True)
            runs += 1
            seed += runs % len(names) == 0
        for name in names:
            check(f'{name} with damaged inputs', name not in found,
                  '; '.join(found.get(name, [])[:2]))
        print(f'# {runs} runs in {time.monotonic() - begin:.0f} s, seeds '
              f'{options.seed} to {seed}; statuses {fuzzer.statuses}')
    tap.end()


if __name__ == '__main__':
    main()
