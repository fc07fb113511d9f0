#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Timelines, read by protoc with Perfetto's schema:
# test-timeline.py TIMELINE-WRITE
#
# What they must hold follows from the moments that timeline-write reports: a
# span for each stretch of moments that share a piece of their call stacks.

import base64
import collections
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.realpath(__file__))
GROUP, TRAP = 0, 5
# timeline-write's tasks: name and number of the thread
TASKS = {-1: (None, -1), 1: ('sh', 100), 2: ('wor"ker', 101),
         3: ('swapper/0', 0), 4: ('address space 7', 4194312), 5: ('ls', 100),
         6: ('only here', 200)}
TOKEN = re.compile(r'\s*(?:([A-Za-z_][\w]*)\s*(\{|:)|(\})|'
                   r'("(?:[^"\\]|\\.)*")|([^\s{}"]+))')


def decode(path):
    """Messages as dicts of lists, from protoc's text"""
    with open(path, 'rb') as f:
        text = subprocess.run(
            ['protoc', f'-I{HERE}', '--decode=perfetto.protos.Trace',
             'perfetto.proto'], stdin=f, capture_output=True, check=True,
            cwd=HERE).stdout.decode()
    stack = [collections.defaultdict(list)]
    key = None
    for match in TOKEN.finditer(text):
        name, sign, close, string, value = match.groups()
        if name and sign == '{':
            inner = collections.defaultdict(list)
            stack[-1][name].append(inner)
            stack.append(inner)
        elif name:
            key = name
        elif close:
            stack.pop()
        elif string is not None:
            raw = string[1:-1].encode().decode('unicode_escape')
            stack[-1][key].append(raw.encode('latin-1').decode())
        else:
            stack[-1][key].append(int(value) if value.isdigit() else value)
    assert len(stack) == 1
    return stack[0]['packet']


class Timeline:
    """What a reader of the file sees"""

    def __init__(self, path):
        self.tracks = {}
        self.spans = collections.defaultdict(list)
        self.instants = []
        names, categories = {}, {}
        last = collections.defaultdict(int)
        opened = collections.defaultdict(list)
        seen = set()
        for packet in decode(path):
            sequence, = packet['trusted_packet_sequence_id']
            # the first packet clears what the others need
            assert packet['sequence_flags'] == [2 if sequence in seen else 1]
            seen.add(sequence)
            for data in packet['interned_data']:
                for field, index in (('event_names', names),
                                     ('event_categories', categories)):
                    for entry in data[field]:
                        key = sequence, entry['iid'][0]
                        assert entry['iid'][0] and key not in index
                        index[key] = entry['name'][0]
            for track in packet['track_descriptor']:
                assert track['uuid'][0] not in self.tracks
                self.tracks[track['uuid'][0]] = track
            for event in packet['track_event']:
                uuid, = event['track_uuid']
                time, = packet['timestamp']
                assert uuid in self.tracks, uuid
                if event['type'] != ['TYPE_INSTANT']:
                    assert time >= last[uuid]
                    last[uuid] = time
                if event['type'] == ['TYPE_SLICE_END']:
                    name, kinds, begin = opened[uuid].pop()
                    self.spans[uuid].append((name, kinds, begin, time))
                    continue
                name = names[sequence, event['name_iid'][0]]
                kinds = tuple(categories[sequence, iid]
                              for iid in event['category_iids'])
                if event['type'] == ['TYPE_INSTANT']:
                    self.instants.append((uuid, name, kinds, time))
                else:
                    opened[uuid].append((name, kinds, time))
        assert not any(opened.values()), 'not everything ends'

    def title(self, uuid):
        """A track's name, below those of the tracks around it"""
        track = self.tracks[uuid]
        above = (self.title(track['parent_uuid'][0]) + '/'
                 if track['parent_uuid'] else '')
        if track['process']:
            return f"{above}process {track['process'][0]['pid'][0]} " + \
                track['process'][0]['process_name'][0]
        if track['thread']:
            thread = track['thread'][0]
            return f"{above}thread {thread['tid'][0]} " + \
                thread['thread_name'][0]
        return above + track['name'][0]


def frame(text):
    node, kind, name = text.split(':')
    name = base64.b64decode(name).decode('utf-8', 'replace')
    return int(node), int(kind), name


def category(kind, name):
    if kind != TRAP:
        return {1: 'machine', 2: 'supervisor', 3: 'user'}[kind]
    if 'interrupt' in name:
        return 'irq'
    return ('syscall' if 'ecall' in name else
            'page-fault' if 'page fault' in name else 'exception')


def runs(items, minimum):
    """Stretches of equal keys: (key, begin, end), of (key, begin, end)"""
    merged = []
    for key, begin, end in items:
        if merged and merged[-1][0] == key and merged[-1][2] == begin:
            merged[-1][2] = end
        else:
            merged.append([key, begin, end])
    return [(k, b, e) for k, b, e in merged if e - b >= minimum]


def expected(lines, hart, minimum):
    """
    Spans by thread (-1: none), tasks and levels of a hart, when it ends, and when
    each task's last span begins
    """
    moments = []
    for line in lines:
        words = line.split(' ')
        if int(words[0]) == hart:
            path = [] if words[2] == 'end' else \
                [frame(f) for f in words[4].split(';') if f]
            moments.append((int(words[1]), words[2], words[3:4], path))
    stretches = []
    for now, then in zip(moments, moments[1:]):
        task = int(now[1])
        if task == -1 and stretches:
            # firmware works for whom it was called by
            last = stretches[-1]
            if any(a == b and a[1] != GROUP
                   for a, b in zip(last[1], now[3])):
                task = last[0]
        stretches.append((task, now[3], now[0], then[0], int(now[2][0])))
    spans = collections.defaultdict(list)
    switches = 0
    before = None
    by_depth = collections.defaultdict(list)
    for task, path, begin, end, _ in stretches:
        switches += task != before
        before = task
        for depth in range(len(path)):
            # the same only if all of the path is, and nobody ran between
            by_depth[depth].append(
                ((switches, task, tuple(path[:depth + 1])), begin, end))
    last = collections.Counter()
    for items in by_depth.values():
        for (_, task, path), begin, end in runs(items, minimum):
            if path[-1][1] != GROUP:
                last[task] = max(last[task], begin)
                spans[TASKS[task][1]].append((path[-1][2],
                                   category(path[-1][1], path[-1][2]),
                                   begin, end))
    tasks = runs([(s[0], s[2], s[3]) for s in stretches], minimum)
    levels = runs([(s[4], s[2], s[3]) for s in stretches], minimum)
    return (spans, [t for t in tasks if t[0] != -1], levels, moments[-1][0],
            last)


def check(program, folder, seed, minimum, time):
    path = os.path.join(folder, f'{seed}.pftrace')
    lines = subprocess.run([program, str(seed), str(minimum), str(time), path],
                           check=True, capture_output=True
                           ).stdout.decode().splitlines()
    timeline = Timeline(path)
    by_title = {}
    for uuid in timeline.tracks:
        title = timeline.title(uuid)
        assert title not in by_title, title
        by_title[title] = timeline.spans[uuid]
    root = 'made up: harts, ' + ('virtual time' if time else
                                 '1 ns is 1 instruction of a hart')

    def at(hart, insns):
        return 1000 * (hart + 1) + insns * time if time else insns

    harts = [expected(lines, hart, minimum) for hart in range(2)]
    # A thread has the name under which it ran last.
    _, named = max((at(hart, harts[hart][4][task]), task) for task in (1, 5)
                   for hart in range(2) if task in harts[hart][4])
    name = TASKS[named][0]
    for hart in range(2):
        spans, tasks, levels, end, _ = harts[hart]

        def when(insns):
            return at(hart, insns)

        def found(title):
            return sorted(by_title[title])

        places = {
            -1: f'{root}/hart {hart}: no task',
            0: f'{root}/hart {hart}: idle',
            100: f'process 100 {name}/thread 100 {name}/on hart {hart}',
            101: f'process 100 {name}/thread 101 wor"ker/on hart {hart}',
            200: 'process 200 only here/thread 200 only here',
            4194312: 'process 4194312 address space 7/thread 4194312 '
                     f'address space 7/on hart {hart}',
        }
        total = 0
        for tid, want in spans.items():
            got = found(places[tid])
            # objects are the second category of functions
            assert all(len(g[1]) == (1 if g[0].startswith('[') else 2)
                       for g in got), got
            assert [(n, k[0], b, e) for n, k, b, e in got] == sorted(
                (n, k, when(b), when(e)) for n, k, b, e in want), places[tid]
            total += len(got)
        assert total
        assert found(f'{root}/hart {hart}: tasks') == sorted(
            (TASKS[t][0], ('task' if TASKS[t][1] else 'idle',),
             when(b), when(e)) for t, b, e in tasks)
        assert found(f'{root}/hart {hart}: privilege') == sorted(
            ({0: 'U', 3: 'M'}[p], ('privilege',), when(b), when(e))
            for p, b, e in levels)
        lost = [i for i in timeline.instants if i[3] == when(end)]
        assert [i[1:3] for i in lost] == \
            [('something "was" lost', ('loss',))], lost
    return sum(map(len, by_title.values()))


def totals(program, folder):
    """Nothing is left out: outermost spans cover all that was executed."""
    path = os.path.join(folder, 'all.pftrace')
    lines = subprocess.run([program, '9', '0', '0', path], check=True,
                           capture_output=True).stdout.decode().splitlines()
    timeline = Timeline(path)
    for hart in range(2):
        end, = [int(li.split()[1]) for li in lines
                if li.endswith('end') and li.startswith(f'{hart} ')]
        covered = []
        for uuid, spans in timeline.spans.items():
            title = timeline.title(uuid)
            if ': tasks' in title or ': privilege' in title:
                continue
            if f'hart {hart}' in title or \
                    (hart == 0 and 'only here' in title):
                # outermost: in no other span of its track
                reach = 0
                for _, _, begin, stop in sorted(
                        spans, key=lambda s: (s[2], -s[3])):
                    if begin >= reach:
                        covered.append(stop - begin)
                        reach = stop
        assert sum(covered) == end, (hart, sum(covered), end)


def main():
    program = os.path.realpath(sys.argv[1])
    if not shutil.which('protoc'):
        print('1..0 # SKIP protoc is missing (package protobuf-compiler)')
        return
    number = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        tests = [(f'seed {seed}, at least {minimum}, {time} ns each',
                  lambda s=seed, m=minimum, t=time:
                  check(program, folder, s, m, t))
                 for seed in (1, 2) for minimum in (0, 25, 400)
                 for time in (0, 3)]
        tests.append(('totals', lambda: totals(program, folder)))
        for name, test in tests:
            number += 1
            try:
                test()
                print(f'ok {number} timeline: {name}')
            except (AssertionError, subprocess.CalledProcessError,
                    KeyError) as error:
                failed += 1
                print(f'not ok {number} timeline: {name}')
                print(f'# {error!r}'[:600])
    print(f'1..{number}')
    sys.exit(1 if failed else 0)


if __name__ == '__main__':
    main()
