#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What rvtrace index, --shard and merge give is what the whole trace gives:
#
#   test-index.py RVTRACE SYNTH-WRITE
#   test-index.py RVTRACE --real TRACE SIDEBAND [OPTION...]
#
# The first form makes traces; the second one takes a trace of a machine with
# several harts, of which it uses the beginning only. Every check prints a TAP
# line; the script fails if one of them does.

import hashlib
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile

from checks import check, skip, tap

TOOL = os.path.abspath(sys.argv[1])
ADDED = ['report', 'folded', 'callgrind', 'pprof', 'annotate']
VIEWS = ADDED + ['stat', 'html', 'script', 'timeline', 'privilege',
                 'speedscope', 'calls', 'latency', 'faults', 'switches']
HEADER = 16 + 4 + 64    # magic number, version, checksum
# gdb's packet for "monitor bt all"
BT_ALL = b'$qRcmd,627420616c6c#' + \
    b'%02x' % (sum(b'qRcmd,627420616c6c') & 255)
# Bytes of a real trace that are enough
REAL_BYTES = 6 << 20


def run(*args, env=None, stdin=None, limit=600):
    done = subprocess.run([TOOL, *args], capture_output=True, env=env,
                          input=stdin, timeout=limit, check=False)
    return done.returncode, done.stdout, done.stderr.decode()


def says(name, args, status, text):
    """The command ends like that, and its messages match"""
    got, _, err = run(*args)
    check(name, got == status and re.search(text, err), f'{got}: {err}')


def seal(path, body, head):
    """Write a file as if it were sound"""
    digest = hashlib.sha256(body).hexdigest().encode()
    with open(path, 'wb') as f:
        f.write(head[:20] + digest + body)


class Case:
    def __init__(self, trace, sideband, options=()):
        self.dir = os.path.dirname(trace)
        self.trace = trace
        self.sideband = sideband
        self.input = ['--trace', trace, '--sideband', sideband, *options]
        self.index = os.path.join(self.dir, 'index')

    def make_index(self, every, *options):
        return run('index', *self.input, '--every', str(every), '-o',
                   self.index, *options)

    def points(self):
        """Instructions before each point, for each hart; and in all"""
        _, out, _ = run('index', *self.input, '-o', self.index, '--list')
        points, total = {}, {}
        for line in out.decode().splitlines()[1:]:
            hart, insns, *rest = line.split()
            if rest == ['in', 'all']:
                total[int(hart)] = int(insns)
            else:
                points.setdefault(int(hart), []).append(int(insns))
        return points, total

    def views(self, name, kinds, *options, command='decode', files=()):
        """Status, messages and what was written"""
        args = [command, *(self.input if command == 'decode' else ()),
                *options]
        paths = {}
        # annotate fails where nothing has a name, and the views after it are
        # not written then: it comes last.
        for kind in sorted(kinds, key='annotate'.__eq__):
            paths[kind] = os.path.join(self.dir, f'{name}.{kind}')
            if os.path.exists(paths[kind]):
                os.unlink(paths[kind])
            args += ['-o', f'{kind}={paths[kind]}']
        args += ['--sym', '*'] if 'calls' in kinds else []
        status, _, err = run(*args, *files)
        views = {}
        for kind, path in paths.items():
            views[kind] = None      # a view that fails leaves no file
            if os.path.exists(path):
                with open(path, 'rb') as f:
                    views[kind] = f.read()
        return status, err, views

    def shards(self, n, *options, command='report'):
        """The results of n pieces; the commands' messages"""
        paths, errs = [], ''
        for k in range(1, n + 1):
            path = os.path.join(self.dir, f'shard-{k}-{n}')
            status, _, err = run(command, *self.input, '--index', self.index,
                                 '--shard', f'{k}/{n}', '-o', path, *options)
            if status:
                raise RuntimeError(f'shard {k}/{n}: {status}: {err}')
            paths.append(path)
            errs += err
        return paths, errs


def losses(err):
    """Lines about losses"""
    return sorted(l for l in err.splitlines() if ': packet ' in l)


def different(a, b):
    return [k for k in a if a[k] != b.get(k)] if isinstance(a, dict) else a


def same_ranges(name, case, rng, count, kinds=tuple(VIEWS)):
    points, total = case.points()
    most = max(total.values())
    bad = []
    for i in range(count):
        if i % 4 == 0:      # at a point exactly
            first = rng.choice(rng.choice(list(points.values())))
        else:
            first = rng.randrange(most)
        last = first + 1 + rng.randrange(rng.choice([10, 1000, most]))
        options = ['--from', str(first)]
        if i % 5:
            options += ['--to', str(last)]
        if i % 7 == 3:
            options = ['--to', str(last)]
        whole = case.views('whole', kinds, *options)
        piece = case.views('piece', kinds, *options, '--index', case.index)
        there = [kind for kind, text in whole[2].items() if text is not None]
        if whole != piece or len(there) + 1 < len(kinds):
            bad.append((options, whole[:2], piece[:2], there,
                        different(whole[2], piece[2])))
    check(f'{name}: {count} selections are the same with an index', not bad,
          bad[:3])


def same_sums(name, case, counts, *options):
    whole = case.views('whole', ADDED, *options)
    for n in counts:
        paths, errs = case.shards(n, *options)
        merged = case.views('merged', ADDED, command='merge', files=paths)
        check(f'{name}: {n} pieces are the whole', merged[0] == whole[0] and
              merged[2] == whole[2],
              (merged[:2], different(whole[2], merged[2])))
        if n == 3:
            check(f'{name}: each loss is in one piece',
                  losses(errs) == losses(whole[1]), (errs, whole[1]))
            shuffled = case.views('merged', ADDED, command='merge',
                                  files=paths[1:] + paths[:1])
            check(f'{name}: in any order', shuffled[2] == whole[2])


def layered(name, case):
    """Layers are chosen when pieces are added up."""
    paths, _ = case.shards(2, command='folded')
    for layers in ('hart,process,priv', 'priv', 'thread', ''):
        whole = case.views('whole', ['folded'], '--layers', layers)
        merged = case.views('merged', ['folded'], '--layers', layers,
                            command='merge', files=paths)
        check(f'{name}: merge --layers {layers!r}', whole[2] == merged[2])


def other_commands(name, case):
    paths, _ = case.shards(3, command='coverage')
    args = ['--format', 'drcov-text']
    whole = run('coverage', *case.input, *args)
    merged = run('coverage', *args, *[f'--merge={p}' for p in paths])
    check(f'{name}: coverage of pieces', whole[:2] == merged[:2] and whole[1],
          (whole[2], merged[2]))
    # Pieces know who ran what, though the command that made them shows none.
    for args in (['--sort', 'comm,pid,tid,sym'], ['--comm', '[[]no task*'],
                 ['--sort', 'priv']):
        whole = run('report', *case.input, *args)
        merged = run('report', *args, *[f'--merge={p}' for p in paths])
        check(f'{name}: report {args[0]} {args[1]} of pieces',
              whole[:2] == merged[:2] and whole[1], (whole[2], merged[2]))


def damage(data, rng, count):
    """Bytes that are changed here and there, or missing at the end"""
    body = bytearray(data)
    for _ in range(count):
        at = rng.randrange(len(body))
        body[at] = rng.choice([0, 1, 0x7f, 0x80, 0xff, rng.randrange(256)])
    if rng.randrange(4) == 0:
        del body[rng.randrange(len(body)):]
    return bytes(body)


def damaged_tree(name, case, index):
    """The first hart's nodes of call stacks cannot be read."""
    path = os.path.join(case.dir, 'hostile')
    harts = struct.pack('<IB', len(case.points()[0]), 1)
    body = bytearray(index[HEADER:])
    at = body.index(harts, body.index(b'isa=')) + len(harts)
    body[at + 4:at + 8] = bytes([255] * 4)      # how many functions there are
    seal(path, body, index[:HEADER])
    says(f'{name}: damaged nodes', ['report', *case.input, '--index', path,
                                    '--from', '100'], 2, 'damaged')
    debug = ['gdbserver', '--listen', 'stdio', *case.input]
    want = run(*debug, stdin=BT_ALL)
    got = run(*debug, '--index', path, stdin=BT_ALL)
    check(f'{name}: gdbserver makes them itself', got[:2] == want[:2] and
          want[0] == 0 and want[1] and 'CRITICAL' not in got[2], got[2])


def hostile(name, case, rng, rounds):
    _, total = case.points()
    paths, _ = case.shards(2)
    with open(case.index, 'rb') as f:
        index = f.read()
    with open(paths[0], 'rb') as f:
        shard = f.read()
    bad = []
    path = os.path.join(case.dir, 'hostile')
    for _ in range(rounds):
        seal(path, damage(index[HEADER:], rng, rng.randrange(1, 20)),
             index[:HEADER])
        got = run('report', *case.input, '--index', path, '--from',
                  str(rng.randrange(max(total.values()))))
        bad += [got] if got[0] not in (0, 2) else []
        got = run('index', *case.input, '-o', path, '--list')
        bad += [got] if got[0] not in (0, 2) else []
        got = run('gdbserver', '--listen', 'stdio', *case.input, '--index',
                  path, stdin=BT_ALL)
        bad += [got] if got[0] not in (0, 2) else []
        seal(path, damage(shard[HEADER:], rng, rng.randrange(1, 20)),
             shard[:HEADER])
        got = run('merge', *case.input, path, paths[1])
        bad += [got] if got[0] not in (0, 2) else []
    check(f'{name}: {rounds} damaged files, no crash', not bad, bad[:3])
    damaged_tree(name, case, index)


def wrong(case, other):
    """What cannot be: messages, and status 2"""
    ask = ['report', *case.input, '--from', '100']
    bad = os.path.join(case.dir, 'bad')
    with open(case.index, 'rb') as f:
        data = f.read()
    with open(bad, 'wb') as f:
        f.write(b'x' * 100)
    says('no index', [*ask, '--index', bad], 2, 'no index of a trace.*again')
    with open(bad, 'wb') as f:
        f.write(data[:16] + b'\x63' + data[17:])
    says('another version', [*ask, '--index', bad], 2, 'another version')
    with open(bad, 'wb') as f:
        f.write(data[:-1])
    says('a damaged one', [*ask, '--index', bad], 2, 'is damaged')
    says('none there', [*ask, '--index', bad + '-'], 2, 'No such file')
    for view in 'timeline', 'html', 'speedscope', 'folded':
        says(f'{view} looks at it', [view, *ask[1:], '--index', bad + '-'], 2,
             'No such file')
    says('of another trace', ['report', *other.input, '--from', '100',
                              '--index', case.index], 2,
         'of another trace.*rvtrace index')
    says('--isa is another', [*ask, '--index', case.index, '--isa',
                              'rv64gc_zcmp'], 2, 'other --isa')
    says('--shard without an index', ['report', *case.input, '--shard',
                                      '1/2'], 2, 'rvtrace index')
    for text in ('0/2', '3/2', '1', '/', '1/', 'x/2', '1/99999999'):
        says(f'--shard {text}', ['report', *case.input, '--shard', text], 2,
             'must be K/N')
    says('samples of a piece', ['script', *case.input, '--index', case.index,
                                '--shard', '1/2'], 2, 'cannot be added up')
    says('--every nothing', ['index', *case.input, '--every', '0'], 2,
         '--every')
    says('index --limit', ['index', *case.input, '--limit', '5'], 2,
         'whole trace')
    # An index beside the trace is used, unless it is no good.
    beside = case.trace + '.rvidx'
    want = run(*ask)
    shutil.copyfile(case.index, beside)
    check('an index beside the trace', run(*ask) == want)
    shutil.copyfile(bad, beside)
    got = run(*ask)
    check('one that is no good', got[:2] == want[:2] and
          'from its beginning' in got[2], got[2])
    os.unlink(beside)
    # Results
    paths, _ = case.shards(3)
    two, _ = case.shards(2)
    says('merge nothing', ['merge'], 2, 'which results')
    says('one is missing', ['merge', paths[0], paths[2]], 2,
         'piece 2 of 3 is missing.*--shard 2/3')
    says('one twice', ['merge', *paths, paths[0]], 2, 'there twice')
    says('of other pieces', ['merge', paths[0], two[1]], 2, 'another number')
    says('no result', ['merge', paths[0], case.index], 2, 'no result')
    says('of another trace', ['merge', *paths, '--trace', other.trace,
                              '--sideband', other.sideband], 2, '.')
    case.shards(3, '--to', '5000')
    paths, _ = case.shards(3)
    run('report', *case.input, '--index', case.index, '--shard', '1/3', '-o',
        paths[0], '--to', '5000')
    says('other options', ['merge', *paths], 2, 'other options')


FENCE, TASK = 4, 16     # types of sideband records


def record(kind, hart, payload):
    return struct.pack('<HHI', kind, hart, len(payload)) + payload


def task(hart, tid):
    return record(TASK, hart, struct.pack('<QII16sQ', 0x1000 * tid, tid, tid,
                                          b'task %d' % tid, 0))


def fence(hart, packets):
    return record(FENCE, hart, struct.pack('<Q', packets))


def with_tasks(case, path, rounds):
    """
    A sideband with more records: @rounds has those that are inserted behind the
    next fence of a hart, each as (hart, function of the fence's packets).
    """
    with open(case.sideband, 'rb') as f:
        data = f.read()
    out, at, rounds = b'', 0, list(rounds)
    while at < len(data):
        kind, hart, size = struct.unpack_from('<HHI', data, at)
        out += data[at:at + 8 + size]
        if kind == FENCE and rounds and hart == rounds[0][0]:
            packets, = struct.unpack_from('<Q', data, at + 8)
            out += rounds.pop(0)[1](packets)
        at += 8 + size
    assert not rounds
    with open(path, 'wb') as f:
        f.write(out)


def moves(name, case):
    """Tasks that go from hart to hart"""
    path = os.path.join(case.dir, 'moves')
    view = ['folded', '--trace', case.trace, '--sideband', path]

    def visited(*visit):
        with_tasks(case, path, [
            (0, lambda _: task(0, 20)), (1, lambda _: task(1, 10)),
            (1, lambda _: task(1, 30)),
            (0, lambda _: b''.join(task(0, tid) for tid in visit)),
            (1, lambda _: task(1, 10))])
        return run(*view)

    # What comes and goes without executing anything changes nothing.
    want = visited()
    got = visited(10, 20)
    check(f'{name}: a visit', want == got and want[1], got[2])
    # A view and an index, and two harts that wait for each other in turn
    with_tasks(case, path, [
        (0, lambda _: task(0, 20)), (1, lambda _: task(1, 10)),
        (1, lambda _: task(1, 30)),
        (0, lambda n: task(0, 10) + fence(0, n + 1) + task(0, 11) +
         fence(0, n + 2) + task(0, 40) + task(1, 11))])
    want = run(*view)
    got = run(*view, '--make-index', '--index', path + '.rvidx', limit=60)
    check(f'{name}: a view and an index', want[:2] == got[:2] and want[1],
          got[2])
    index = path + '.rvidx'
    run('index', *view[1:], '--every', '1000', '-o', index)
    got = run(*view, '--index', index, '--from', '1')
    check(f'{name}: tasks arrive with the index', got[0] == 0 and got[1],
          got[2])
    # What the last task brings has too many stacks.
    with open(path, 'rb') as f:
        came = f.read().rindex(task(1, 11))
    with open(index, 'rb') as f:
        data = bytearray(f.read())
    at = data.index(struct.pack('<Q', came)) + 12
    data[at:at + 4] = bytes([255] * 4)
    seal(index, data[HEADER:], data[:HEADER])
    says(f'{name}: they arrive with nonsense',
         [*view, '--index', index, '--from', '1'], 2, 'is damaged')
    got = run('gdbserver', '--listen', 'stdio', '--goto', '9000', *view[1:],
              '--index', index, stdin=BT_ALL)
    check(f'{name}: gdbserver says so of the stack', got[0] == 0 and
          b'its call stack cannot be decoded'.hex().encode() in got[1], got)


def on_the_way(name, case, rng):
    """An index that a view makes is the one that rvtrace index makes."""
    made = os.path.join(case.dir, 'made')
    want = case.views('want', VIEWS)
    got = case.views('got', VIEWS, '--make-index', '--index-every', '1000',
                     '--index', made)
    check(f'{name}: the same, and an index', want == got,
          different(want[2], got[2]))
    case.make_index(1000)
    with open(case.index, 'rb') as a, open(made, 'rb') as b:
        check(f'{name}: the same index', a.read() == b.read())
    # Of all, whatever is selected
    half = str(max(case.points()[1].values()) // 2)
    want = case.views('want', VIEWS, '--from', half)
    got = case.views('got', VIEWS, '--from', half, '--make-index',
                     '--index-every', '1000', '--index', made)
    check(f'{name}: the same of a range', want == got,
          different(want[2], got[2]))
    indexed = case.index
    case.index = made
    same_ranges(f'{name}, made on the way', case, rng, 6)
    case.index = indexed
    says('--make-index --limit', ['report', *case.input, '--make-index',
                                  '--limit', '5'], 2, 'whole trace')
    says('--make-index stat', ['decode', *case.input, '-o', 'stat',
                               '--make-index'], 2, 'has call stacks')
    says('--make-index --emit', ['decode', *case.input, '--emit', 'pc',
                                 '--make-index'], 2, 'for --output')
    says('--make-index of a piece', [
        'report', *case.input, '--shard', '1/2', '--make-index', '--index',
        made], 2, 'not of.*pieces')
    says('--index-every alone', ['report', *case.input, '--index-every', '5'],
         2, 'for --make-index')
    says('--index-every x', ['report', *case.input, '--make-index',
                             '--index-every', 'x'], 2, 'must be a number')


def grown(name, case, rng):
    """An index of the beginning is good for the whole."""
    with open(case.trace, 'rb') as f:
        data = f.read()
    part = Case(os.path.join(case.dir, 'grown'), case.sideband,
                case.input[4:])
    part.index = os.path.join(case.dir, 'grown-index')
    with open(part.trace, 'wb') as f:
        f.write(data[:len(data) * 2 // 3])
    part.make_index(1000)
    with open(part.trace, 'wb') as f:
        f.write(data)
    same_ranges(f'{name}, grown', part, rng, 6)
    says('pieces of a trace that has grown',
         ['report', *part.input, '--index', part.index, '--shard', '1/2'], 2,
         'has grown')
    with open(part.trace, 'wb') as f:
        f.write(data[:len(data) // 3])
    says('one that has shrunk', ['report', *part.input, '--from', '9',
                                 '--index', part.index], 2, 'another trace')


def with_parallel(case):
    """What the manual shows"""
    if not shutil.which('parallel'):
        skip('GNU parallel', 'it is not installed')
        return
    env = dict(os.environ, PATH=os.path.dirname(TOOL) + ':' +
               os.environ['PATH'], HOME=case.dir)
    script = ('cd "$1" && rm -f part.* && '
              'parallel --will-cite -j 2 rvtrace report --trace trace '
              '--sideband sideband --index index --shard {}/5 -o part.{} '
              '::: 1 2 3 4 5 && rvtrace merge part.* -o report=got && '
              'rvtrace report --trace trace --sideband sideband -o want && '
              'cmp got want')
    done = subprocess.run(['sh', '-c', script, 'sh', case.dir], env=env,
                          capture_output=True, text=True, timeout=600,
                          check=False)
    check('GNU parallel', done.returncode == 0, done.stderr)


def damaged_trace(case, rng, name, count=6):
    """The same trace with losses in it: if many, more than are shown"""
    path = os.path.join(case.dir, name)
    with open(case.trace, 'rb') as f:
        data = bytearray(f.read())
    for _ in range(count):
        at = rng.randrange(len(data) // 20, len(data) - 8)
        data[at:at + 3] = bytes(rng.randrange(256) for _ in range(3))
    with open(path, 'wb') as f:
        f.write(data)
    lossy = Case(path, case.sideband, case.input[4:])
    lossy.index = path + '-index'
    return lossy


def synthetic(folder, write):
    rng = random.Random(10)
    cases = []
    for seed, harts, insns in ((1, 1, 40000), (2, 3, 60000)):
        where = os.path.join(folder, f'{seed}')
        os.mkdir(where)
        subprocess.run([write, str(seed), str(harts), str(insns), where],
                       check=True)
        case = Case(os.path.join(where, 'trace'),
                    os.path.join(where, 'sideband'))
        name = f'{harts} hart{"s" if harts > 1 else ""}'
        got = case.make_index(1000)
        check(f'{name}: index', got[0] == 0, got[2])
        points, total = case.points()
        check(f'{name}: points of each hart', len(points) == harts and
              all(len(p) > 10 for p in points.values()), points)
        truth = run('stat', *case.input)[1].decode()
        check(f'{name}: instructions of each hart', all(
            re.search(rf'^hart {h}\n +instructions +{n}$', truth, re.M)
            for h, n in total.items()), truth)
        check(f'{name}: points are a while from each other', all(
            b - a >= 1000 for p in points.values()
            for a, b in zip(p, p[1:])))
        same_ranges(name, case, rng, 16)
        same_sums(name, case, (1, 2, 3, 7))
        lossy = damaged_trace(case, rng, 'lossy')
        lossy.make_index(1000)
        same_ranges(f'{name}, with losses', lossy, rng, 8)
        same_sums(f'{name}, with losses', lossy, (2, 3, 7))
        many = damaged_trace(case, rng, 'many', 150)
        many.make_index(1000)
        check(f'{name}: many losses', int(re.search(
            r'losses +(\d+)', run('stat', *many.input)[1].decode())[1]) > 50)
        same_ranges(f'{name}, with many losses', many, rng, 8)
        same_sums(f'{name}, with many losses', many, (2, 7))
        cases.append(case)
    one, three = cases
    same_sums('a selection', three, (3, 40), '--from', '10k', '--to', '50k')
    same_sums('one hart of three', three, (3,), '--hart', '1')
    layered('3 harts', three)
    other_commands('3 harts', three)
    on_the_way('3 harts', three, rng)
    grown('3 harts', three, rng)
    moves('3 harts', three)
    hostile('3 harts', three, rng, 60)
    wrong(three, one)
    with_parallel(three)


def real(folder, trace, sideband, options):
    rng = random.Random(11)
    path = os.path.join(folder, 'trace')
    with open(trace, 'rb') as f, open(path, 'wb') as out:
        out.write(f.read(REAL_BYTES))
    case = Case(path, sideband, options)
    for name, c in (('a real trace', case),
                    ('with losses', damaged_trace(case, rng, 'lossy')),
                    ('with many losses', damaged_trace(case, rng, 'many',
                                                       1000))):
        got = c.make_index('100k')
        check(f'{name}: index', got[0] == 0, got[2])
        points, _ = c.points()
        check(f'{name}: several harts', len(points) > 1)
        same_ranges(name, c, rng, 10)
        same_sums(name, c, (1, 2, 3, 7))


def main():
    with tempfile.TemporaryDirectory() as folder:
        if sys.argv[2] == '--real':
            real(folder, *map(os.path.abspath, sys.argv[3:5]), sys.argv[5:])
        else:
            synthetic(folder, os.path.abspath(sys.argv[2]))
    tap.end()


main()
