# SPDX-License-Identifier: GPL-2.0-or-later
#
# What run.sh says: files for other people's tools, read by these

import glob
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter

import tap
import levels
import ranges
from symbols import table
from tap import need, Skip

HERE = os.path.dirname(os.path.abspath(__file__))
OUT = os.environ['OUT']
RVTRACE = os.environ['RVTRACE']
PERIOD = 1009
BRANCHES = 16
# types of branches that are traps: the instruction has not retired there
TRAPS = ('SYSCALL', 'IRQ', 'FAULT_DATA', 'FAULT_INST', 'FAULT_ALGN')
# no settings and no caches of the user's
ENV = dict(os.environ, LC_ALL='C', HOME=OUT, PERF_CONFIG='/dev/null',
           PPROF_TMPDIR=OUT, GOTOOLCHAIN='local')


def program(name):
    """The tool's path, or a skipped test"""
    if not shutil.which(name):
        raise Skip(f'{name} is not installed')
    return name


def run(folder, *command, check=True):
    """What a command writes to standard output"""
    done = subprocess.run(command, cwd=folder, env=ENV, check=False,
                          stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=300)
    if check:
        need(done.returncode == 0,
             f'{" ".join(command)}: exit status {done.returncode}\n' +
             done.stderr.decode('utf-8', 'replace'))
    return done.stdout.decode('utf-8', 'replace')


class Guest:
    """A guest, and what it executed, all of it"""

    def __init__(self, name, *options):
        self.elf = f'{OUT}/{name}.rv64gc.elf'
        self.folder = f'{OUT}/trace-{name}{len(options) or ""}'
        os.makedirs(self.folder, exist_ok=True)
        run(self.folder, 'timeout', '120', os.environ['QEMU'], '-M',
            'virt,trace=on,trace-chardev=tr,trace-sideband=sb,'
            'trace-autostart=on', '-chardev', 'file,id=tr,path=trace',
            '-chardev', 'file,id=sb,path=sideband', '-cpu', 'rv64', '-m',
            '128M', '-display', 'none', '-monitor', 'none', '-serial',
            'file:uart', '-bios', 'none', '-kernel', self.elf, *options)
        self.pcs = [int(line, 16) for line in run(
            self.folder, RVTRACE, 'decode', *self.files(), '--emit',
            'pc').split()]

    def files(self):
        return ['--trace', f'{self.folder}/trace', '--sideband',
                f'{self.folder}/sideband']

    def view(self, folder, kind, *options):
        """The path of what a subcommand makes"""
        path = f'{folder}/out.{kind}'
        run(folder, RVTRACE, kind, *self.files(), '--elf', self.elf,
            '--output', path, *options)
        return path

    def folded(self, folder):
        """Instructions of each function itself, and of its stacks"""
        own = Counter()
        with open(self.view(folder, 'folded'), encoding='utf-8') as f:
            for line in f:
                stack, count = line.rsplit(' ', 1)
                own[stack.split(';')[-1]] += int(count)
        need(sum(own.values()) == len(self.pcs), 'folded lacks something')
        return own


def perf_data(folder, guest):
    program('perf')
    return guest.view(folder, 'perf-data', '--period', str(PERIOD),
                      '--branches', str(BRANCHES))


def perf(folder, command, *options):
    return run(folder, 'perf', command, '-i', f'{folder}/out.perf-data',
               *options)


def test_perf_ip(folder, guest):
    """Each sample is the instruction that it says, and none is missing."""
    perf_data(folder, guest)
    got = [int(line, 16) for line in
           perf(folder, 'script', '-G', '-F', 'ip').split()]
    want = guest.pcs[PERIOD - 1::PERIOD]
    need(got == want, f'{len(got)} samples, not these {len(want)}')
    periods = perf(folder, 'script', '-G', '-F', 'period').split()
    need(sum(map(int, periods)) == len(want) * PERIOD, 'sum of periods')
    return f'{len(got)} samples'


def check_stack(pcs, at, entries):
    """Does this branch stack lead to instruction number at? Yields types."""
    hit = None      # where a trap hit, if a jump led there and nothing retired
    for entry in entries:
        source, target, *rest = entry.split('/')
        source, target = int(source, 16), int(target, 16)
        kind = rest[-1].split('/')[0]
        trap = kind in TRAPS
        yield kind
        if hit is not None:
            need(target == hit and (trap or pcs[at] == source),
                 f'{entry} does not lead to the trap at {hit:x}')
            follows = source - pcs[at] in (2, 4)
            hit = source if trap and not follows else None
            continue
        while at > 0 and (pcs[at] != target or
                          (pcs[at - 1] != source and not trap)):
            need(pcs[at] - pcs[at - 1] in (2, 4),
                 f'{entry} is not what leads to {pcs[at]:x}')
            at -= 1
        need(at > 0, f'{entry} was never executed')
        at -= 1
        if trap and source - pcs[at] not in (2, 4):
            hit = source


def test_perf_branches(folder, guest):
    """Branch stacks are the last transfers that the instructions show."""
    perf_data(folder, guest)
    lines = [line.split() for line in
             perf(folder, 'script', '-G', '-F', 'ip,brstack').splitlines()
             if line.strip()]
    types = Counter()
    for i, (pc, *entries) in enumerate(lines):
        at = (i + 1) * PERIOD - 1
        need(int(pc, 16) == guest.pcs[at], 'another sample')
        types.update(check_stack(guest.pcs, at, entries))
    need(sum(types.values()) > BRANCHES * len(lines) / 3, f'few: {types}')
    need({'RET', 'COND'} <= set(types), f'{types}')
    return f'{sum(types.values())} branches: {dict(types)}'


def test_perf_report(folder, guest):
    """Symbols, by their share of the samples"""
    own = guest.folded(folder)
    perf_data(folder, guest)
    text = perf(folder, 'report', '--stdio', '--no-children',
                '--no-branch-stack', '-g', 'none', '--sort', 'sym')
    share = {name: float(percent) for percent, name in
             re.findall(r'([0-9.]+)%\s+\[.\] (\S+)', text)}
    name, count = own.most_common(1)[0]
    exact = 100 * count / len(guest.pcs)
    need(abs(share[name] - exact) < 3,
         f'{name}: {share[name]} %, not {exact:.2f} %')
    history = perf(folder, 'report', '--stdio', '--branch-history',
                   '--no-children')
    need(name in history, f'branch history without {name}')
    need('predicted:0' not in history, 'branches are said to be mispredicted')
    return f'{name}: {share[name]} %, exactly {exact:.2f} %'


def test_perf_script(folder, guest):
    """Call chains; and rvtrace script writes what perf script does."""
    perf_data(folder, guest)

    def symbols(text):
        return re.findall(r'^\s+[0-9a-f]+ (\S+) \(', text, re.M)

    want = symbols(perf(folder, 'script'))
    path = guest.view(folder, 'script', '--period', str(PERIOD))
    with open(path, encoding='utf-8') as f:
        text = f.read()
    got = symbols(text)
    heads = [line for line in text.splitlines() if line[:1].strip()]
    need(heads == [line for line in perf(folder, 'script').splitlines()
                   if line[:1].strip()], 'other headings')
    # where nothing is named, perf and we need not say the same
    different = [(g, w) for g, w in zip(got, want)
                 if g != w and '$x' not in w and '[unknown]' not in g]
    need(len(got) == len(want) and not different,
         f'{len(got)} and {len(want)}: {different[:5]}')
    need(len(got) > len(heads), 'no callers')
    return f'{len(got)} frames'


def test_perf_annotate(folder, guest):
    """Percentages beside RISC-V instructions, on any host"""
    own = guest.folded(folder)
    perf_data(folder, guest)
    objdump = program('riscv64-linux-gnu-objdump')
    name = own.most_common(1)[0][0]
    text = perf(folder, 'annotate', '--stdio', f'--objdump={objdump}', name)
    need(re.search(r'^ +[0-9.]+ +: +[0-9a-f]+:\s+(addw?|lw|sw|b\w+) ', text,
                   re.M), f'{name} is not annotated:\n{text[:500]}')


def test_perf2bolt(folder, guest):
    """No sample is ignored, no transfer is one that the code does not have."""
    program('perf')
    found = sorted(glob.glob('/usr/lib/llvm-*/bin/perf2bolt'))
    if not found:
        raise Skip('perf2bolt is not installed')
    path = guest.view(folder, 'perf-data', '--period', str(PERIOD),
                      '--no-call-chains')
    done = subprocess.run([found[-1], '-p', path, '-o', 'fdata', guest.elf],
                          cwd=folder, env=ENV, capture_output=True,
                          check=False, timeout=300)
    text = (done.stdout + done.stderr).decode('utf-8', 'replace')
    samples = len(guest.pcs) // PERIOD
    need(f'read {samples} samples' in text, text[-1500:])
    for bad in 'samples', 'traces mismatching', 'out of range traces':
        need(re.search(bad + r'.* 0 \(0\.0%\)|: 0 ' + bad + r' \(0\.0%\)',
                       text), f'{bad}:\n{text[-1500:]}')
    with open(f'{folder}/fdata', encoding='utf-8') as f:
        need(len(f.readlines()) > 20, 'no profile')


def test_callgrind(folder, guest):
    """Costs by function are those of the call tree."""
    own = guest.folded(folder)
    path = guest.view(folder, 'callgrind')
    text = run(folder, program('callgrind_annotate'), '--threshold=100',
               '--auto=no', path)
    total = re.search(r'([\d,]+) .*PROGRAM TOTALS', text)[1]
    need(int(total.replace(',', '')) == len(guest.pcs), f'total {total}')
    # a function is there once for each file that some of its code is from
    costs = Counter()
    for count, name in re.findall(
            r'^\s*([\d,]+) \([ \d.]+%\)\s+\S*?:(\S+) \[', text, re.M):
        costs[name] += int(count.replace(',', ''))
    for name, count in own.items():
        if not name.startswith(('[', '0x')):
            need(costs[name] == count, f'{name}: {costs[name]}, not {count}')
    inclusive = run(folder, 'callgrind_annotate', '--threshold=100',
                    '--auto=no', '--inclusive=yes', '--tree=both', path)
    need('calls' in inclusive or '(' in inclusive, 'no calls')
    need(re.search(r'^jcnd=\d+/\d+ 0x', open(path, encoding='utf-8').read(),
                   re.M), 'no conditional jumps')
    return f'{len(costs)} functions'


def test_callgrind_source(folder, guest):
    """Each line costs the instructions that binutils finds there."""
    addr2line = program('riscv64-linux-gnu-addr2line')
    pcs = Counter(guest.pcs)
    asked = sorted(pcs)
    # the addresses in lines of a file: too many for a command
    with open(f'{folder}/pcs', 'w', encoding='utf-8') as f:
        f.writelines(f'{pc:#x}\n' for pc in asked)
    places = run(folder, addr2line, '-e', guest.elf,
                 f'@{folder}/pcs').splitlines()
    want = Counter()
    for pc, place in zip(asked, places):
        file, line = place.split(' ')[0].rsplit(':', 1)
        if line.isdigit() and int(line):
            want[os.path.realpath(file), int(line)] += pcs[pc]
    text = run(folder, program('callgrind_annotate'), '--threshold=100',
               '--auto=yes', '--context=100000',
               guest.view(folder, 'callgrind'))
    got = Counter()
    for part in text.split('-- Auto-annotated source: ')[1:]:
        file, *lines = part.splitlines()
        # what is called is said below the line that does
        while not re.match(r' *(\.|[\d,]+ \()', lines[0]):
            del lines[0]
        lines = [line for line in lines if '%)  => ' not in line]
        for number, line in enumerate(lines, 1):
            if line.startswith('-----'):
                break
            cost = re.match(r' *([\d,]+) \(', line)
            if cost:
                got[os.path.realpath(file), number] = \
                    int(cost[1].replace(',', ''))
    need(want and got == want, f'{(got - want) + (want - got)}')
    return f'{len(got)} lines'


def test_pprof(folder, guest):
    own = guest.folded(folder)
    path = guest.view(folder, 'pprof')
    text = run(folder, program('go'), 'tool', 'pprof', '-raw', path)
    locations = dict(re.findall(r'^ +(\d+): 0x[0-9a-f]+ (?:M=\d+ )?(\S+)',
                                text, re.M))
    flat = Counter()
    for count, stack in re.findall(r'^ +(\d+): ((?:\d+ ?)+)$', text, re.M):
        flat[locations[stack.split()[0]]] += int(count)
    need(sum(flat.values()) == len(guest.pcs), f'sum {sum(flat.values())}')
    for name, count in own.items():
        if not name.startswith('['):
            need(flat[name] == count, f'{name}: {flat[name]}, not {count}')
    return f'{len(flat)} functions'


def test_protoc(folder, guest):
    """The messages by their schema: no field is of another type."""
    protoc = program('protoc')
    with gzip.open(guest.view(folder, 'pprof')) as f:
        data = f.read()
    done = subprocess.run(
        [protoc, '--decode=perftools.profiles.Profile', f'-I{HERE}',
         f'{HERE}/profile.proto'], input=data, capture_output=True,
        check=True)
    text = done.stdout.decode()
    need(not re.search(r'^\s*\d+: ', text, re.M), 'unknown fields')
    values = [int(v) for v in re.findall(r'value: (\d+)', text)]
    need(sum(values) == len(guest.pcs), f'sum {sum(values)}')


def check_events(profile):
    """Events are in order, and each function that is open is closed."""
    stack, at = [], profile['startValue']
    for event in profile['events']:
        need(event['at'] >= at, 'time goes backwards')
        at = event['at']
        if event['type'] == 'O':
            stack.append(event['frame'])
        else:
            need(stack.pop() == event['frame'], 'another one is closed')
    need(not stack and at <= profile['endValue'], 'not closed')


# Prints what the package has read: the sum, and each function's own weight
READ_PPROF = """
const fs = require('fs'), zlib = require('zlib');
const {Profile} = require(process.argv[1]);
const p = Profile.decode(zlib.gunzipSync(fs.readFileSync(process.argv[2])));
const text = (i) => p.stringTable.strings[Number(i)];
const names = new Map(p.function.map((f) => [Number(f.id), text(f.name)]));
const places = new Map(p.location.map(
    (l) => [Number(l.id), names.get(Number(l.line[0].functionId))]));
const own = {};
for (const sample of p.sample) {
    const name = places.get(Number(sample.locationId[0]));
    own[name] = (own[name] || 0) + Number(sample.value[0]);
}
console.log(JSON.stringify({type: text(p.sampleType[0].type), own: own}));
"""


def npm_package(name, version):
    """A package of npm, without what it needs besides; or Skip"""
    path = f'{OUT}/{name}-{version}'
    if not os.path.exists(f'{path}.tgz'):
        run(OUT, program('npm'), 'pack', f'{name}@{version}', check=False)
        if not os.path.exists(f'{path}.tgz'):
            raise Skip(f'npm cannot fetch the package {name}')
    return f'{path}.tgz'


def test_pprof_format(folder, guest):
    """What npm's package pprof-format reads is what folded has."""
    package = npm_package('pprof-format', '2.3.2')
    run(folder, 'tar', '-xzf', package)
    own = guest.folded(folder)
    read = json.loads(run(folder, program('node'), '-e', READ_PPROF,
                          f'{folder}/package', guest.view(folder, 'pprof')))
    need(read['type'] == 'instructions', read['type'])
    need(sum(read['own'].values()) == len(guest.pcs), 'the sum')
    for name, count in own.items():
        need(read['own'].get(name) == count,
             f'{name}: {read["own"].get(name)}, not {count}')


def speedscope(folder, guest, *options):
    path = guest.view(folder, 'speedscope', *options)
    with open(path, encoding='utf-8') as f:
        return json.load(f)


def test_speedscope(folder, guest):
    data = speedscope(folder, guest)
    kinds = Counter(profile['type'] for profile in data['profiles'])
    for profile in data['profiles']:
        if profile['type'] == 'evented':
            check_events(profile)
        else:
            need(sum(profile['weights']) == len(guest.pcs), 'weights')
    need(kinds['sampled'] == 1 and kinds['evented'] >= 1, str(kinds))
    few = speedscope(folder, guest, '--min-duration', '1000')
    many, less = (sum(len(p['events']) for p in d['profiles']
                      if p['type'] == 'evented') for d in (data, few))
    need(0 < less < many, f'--min-duration: {less} of {many}')
    for profile in few['profiles']:
        if profile['type'] == 'evented':
            check_events(profile)
    return f'{many} events, {less} of long ones'


def test_speedscope_schema(folder, guest):
    """By the schema that the npm package has"""
    try:
        import jsonschema
    except ImportError:
        raise Skip('python3-jsonschema is not installed') from None
    schema = f'{OUT}/speedscope-schema.json'
    if not os.path.exists(schema):
        package = npm_package('speedscope', '1.25.0')
        text = run(OUT, 'tar', '-xzOf', package,
                   'package/dist/release/file-format-schema.json')
        with open(schema, 'w', encoding='utf-8') as f:
            f.write(text)
    with open(schema, encoding='utf-8') as f:
        jsonschema.validate(speedscope(folder, guest, '--min-duration',
                                       '300'), json.load(f))


def test_uftrace(folder, guest):
    """Self times are instructions, and all commands take the folder."""
    own = guest.folded(folder)
    path = guest.view(folder, 'uftrace')
    text = run(folder, program('uftrace'), 'report', '-d', path, '-f',
               'self')
    times = {}
    for time, unit, name in re.findall(r'^\s*([\d.]+) (us|ms|s)\s+(\S+)$',
                                       text, re.M):
        times[name] = float(time) * {'us': 1e3, 'ms': 1e6, 's': 1e9}[unit]
    for name, count in own.items():
        # uftrace rounds
        need(abs(times[name] - count) <= max(1, count / 1000),
             f'{name}: {times[name]}, not {count}')
    name = own.most_common(1)[0][0]
    need(name in run(folder, 'uftrace', 'graph', '-d', path), 'graph')
    need(name in run(folder, 'uftrace', 'replay', '-d', path, '-F', name),
         'replay')
    events = json.loads(run(folder, 'uftrace', 'dump', '--chrome', '-d',
                            path))['traceEvents']
    phases = Counter(event['ph'] for event in events)
    need(phases['B'] == phases['E'] > 0, f'dump: {phases}')
    return f'{len(times)} functions, {phases["B"]} spans'


def test_one_pass(folder, guest):
    """What decode --output writes is what each subcommand does."""
    kinds = ['perf-data', 'script', 'callgrind', 'pprof', 'speedscope']
    # the file's own name is in it
    run(folder, RVTRACE, 'decode', *guest.files(), '--elf', guest.elf,
        '--period', str(PERIOD),
        *(arg for kind in kinds
          for arg in ('--output', f'{kind}={folder}/all.{kind}')),
        '--output', f'uftrace={folder}/all.uftrace')
    for kind in kinds:
        sampled = kind in ('perf-data', 'script')
        alone = guest.view(folder, kind,
                           *(['--period', str(PERIOD)] if sampled else []))
        with open(alone, 'rb') as a, open(f'{folder}/all.{kind}', 'rb') as b:
            need(a.read() == b.read(), f'{kind} differs')
    alone = guest.view(folder, 'uftrace')
    need(not run(folder, 'diff', '-r', alone, f'{folder}/all.uftrace'),
         'uftrace differs')


def spans(folder, guest, *options):
    """Entries and exits of functions, and the unit of their times"""
    with open(guest.view(folder, 'speedscope', *options),
              encoding='utf-8') as f:
        profile = json.load(f)['profiles'][1]
    return profile['events'], profile['unit']


def test_virtual_time(folder, guest):
    """With -icount shift=0, an instruction takes a nanosecond."""
    events, unit = spans(folder, guest)
    by_insns, none = spans(folder, guest, '--time', 'instructions')
    need((unit, none) == ('nanoseconds', 'none'), f'{unit}, {none}')
    need([(e['type'], e['frame']) for e in events] ==
         [(e['type'], e['frame']) for e in by_insns], 'other functions')
    # the clock stands at 0 until the machine runs: the first packet is then
    late = Counter(a['at'] - b['at'] for a, b in zip(events, by_insns))
    start = min(late.keys() - {0})
    near = sum(n for ns, n in late.items() if 0 <= ns - start <= 1000)
    need(near >= len(events) - 8, f'{late.most_common(9)}')
    # ticks that are half as long are half the time
    half, _ = spans(folder, guest, '--tick-rate', '2000000000')
    need(abs(2 * half[-1]['at'] - events[-1]['at']) < 10, 'tick rate')
    with open(guest.view(folder, 'timeline'), 'rb') as f:
        need(b'harts, virtual time' in f.read(), 'the timeline says not which')
    refuses(folder, guest, 'must be virtual or', 'timeline', '--time', 'x')
    return f'{len(events)} events'


def selected(folder, guest, *options):
    """How many instructions a view has with such options"""
    with open(guest.view(folder, 'folded', *options), encoding='utf-8') as f:
        return sum(int(line.rsplit(' ', 1)[1]) for line in f)


def functions(guest):
    """Addresses of functions, by name"""
    return {s.name: s.address for s in table(guest.elf) if s.kind in 'tT'}


def test_borders(folder, guest):
    """--from and --to: by time, function, and from the end"""
    events, _ = spans(folder, guest)
    by_insns, _ = spans(folder, guest, '--time', 'instructions')
    start = min({a['at'] - b['at']
                 for a, b in zip(events, by_insns)} - {0})
    whole = len(guest.pcs)
    # packets are made many at a time: as far from each other are timestamps
    text = run(folder, RVTRACE, 'decode', *guest.files(), '--emit', 'packets')
    stamps = [int(ts, 16) for ts in re.findall(r' ts=0x([0-9a-f]+)', text)]
    near = max(b - a for a, b in zip(stamps[1:], stamps[2:]))
    need(0 < 8 * near < whole, f'timestamps up to {near} ns apart')
    index = f'{folder}/index'
    run(folder, RVTRACE, 'index', *guest.files(), '--elf', guest.elf,
        '--every', '5k', '--output', index)
    for part in 0.1, 0.5, 0.9:
        border = f'{start + int(whole * part)}ns'
        before = selected(folder, guest, '--to', border)
        behind = selected(folder, guest, '--from', border)
        need(before + behind == whole, f'{border}: {before} + {behind}')
        need(abs(before - whole * part) <= near, f'{border}: {before}')
        for options in (['--from', border], ['--to', border],
                        ['--from', '300us', '--to', border]):
            need(selected(folder, guest, *options) ==
                 selected(folder, guest, *options, '--index', index),
                 f'{options}: with an index')
    last = selected(folder, guest, '--from=-1ms')
    need(abs(last - 1000000) <= near, f'the last millisecond: {last}')
    need(selected(folder, guest, '--from=-1ms', '--index', index) == last,
         'the last millisecond, with an index')
    need(selected(folder, guest, '--from=-1234', '--to=-234') == 1000,
         'a thousand before the end')
    addrs = functions(guest)
    ran = set(guest.pcs)
    names = [name for name, addr in addrs.items() if addr in ran]
    need(len(names) > 5, f'{names}')
    for name in names:
        first = guest.pcs.index(addrs[name])
        need(selected(folder, guest, '--from', f'sym:{name}') ==
             whole - first, f'--from sym:{name}')
        need(selected(folder, guest, '--to', f'sym:{name}') == first,
             f'--to sym:{name}')
        times = [i for i, pc in enumerate(guest.pcs) if pc == addrs[name]]
        for n in {2, len(times) // 2, len(times)}:
            if not 2 <= n <= len(times):
                continue
            border = f'sym:{name}#{n}'
            need(selected(folder, guest, '--from', border) ==
                 whole - times[n - 1], f'--from {border}')
            need(selected(folder, guest, '--from', f'sym:{name}', '--to',
                          border) == times[n - 1] - first, f'--to {border}')
    refuses(folder, guest, 'no program that ran has such a function',
            'report', '--from', 'sym:nobody')
    return f'{len(names)} functions'


def stacks(folder, guest, *options):
    """What each call stack counts"""
    with open(guest.view(folder, 'folded', *options), encoding='utf-8') as f:
        return Counter({stack: int(count) for stack, count in
                        (line.rsplit(' ', 1) for line in f)})


def test_weight(folder, guest):
    """An instruction takes 1 ns, and all of them what the clock says."""
    text = run(folder, RVTRACE, 'decode', *guest.files(), '--emit', 'packets')
    stamps = [int(ts, 16) for ts in re.findall(r' ts=0x([0-9a-f]+)', text)]
    count, ns = stacks(folder, guest), stacks(folder, guest, '--weight', 'time')
    need(ns.total() == stamps[-1] - stamps[0],
         f'{ns.total()} ns, {stamps[-1] - stamps[0]} by the clock')
    # The clock stood at 0 until the machine ran: the first interval is longer.
    # Behind the last packet there is no time.
    late = sorted(set(stamps))[1]
    near = max(b - a for a, b in zip(stamps[1:], stamps[2:]))
    for stack in count:
        need(-near <= ns[stack] - count[stack] <= late + 100,
             f'{stack}: {ns[stack]} ns, {count[stack]} instructions')
    half = str(len(guest.pcs) // 2)
    before, behind = (stacks(folder, guest, '--weight', 'time', option, half)
                      for option in ('--to', '--from'))
    for stack in ns:
        need(abs(before[stack] + behind[stack] - ns[stack]) <= 1,
             f'{stack}: halves {before[stack]}, {behind[stack]}, {ns[stack]}')
    with open(guest.view(folder, 'flamegraph', '--weight', 'time'),
              encoding='utf-8') as f:
        svg = f.read()
    need('Virtual time by call stack' in svg and ' ns, 100' in svg and
         'instructions' not in svg.split('<script')[0], 'flamegraph')
    with open(guest.view(folder, 'pprof', '--weight', 'time'), 'rb') as f:
        data = gzip.decompress(f.read())
    need(b'nanoseconds' in data and b'instructions' not in data, 'pprof')
    refuses(folder, guest, 'must be time or', 'folded', '--weight', 'x')
    return f'{ns.total()} ns'


def test_report_weight(folder, guest):
    """A report's times are those of the stacks, and of the clock in all."""
    def rows(*options):
        text = run(folder, RVTRACE, 'report', *guest.files(), '--elf',
                   guest.elf, '--format=json', *options)
        return json.loads(text)

    ns = stacks(folder, guest, '--weight', 'time').total()
    own = Counter()
    for stack, count in stacks(folder, guest, '--weight', 'time').items():
        own[stack.split(';')[-1]] += count
    times = rows('--weight=time', '--sort=sym')
    need(times['ns'] == ns and sum(row['own_ns'] for row in times['rows']) ==
         ns, f'{times["ns"]} ns, {ns} of all stacks')
    # Shares of the time between two packets are rounded.
    for row in times['rows']:
        need(row['sym'] == '[no symbol]' or
             abs(row['own_ns'] - own[row['sym']]) <= 200,
             f'{row}, {own[row["sym"]]} of its stacks')
    by_line = rows('--weight=time', '--sort=srcline')
    need(sum(row['own_ns'] for row in by_line['rows']) == ns, 'by line')
    calls = {row['sym']: row['calls'] for row in rows('--sort=sym')['rows']}
    for row in times['rows']:
        need(row['calls'] == calls[row['sym']], f'calls of {row["sym"]}')
    half = str(len(guest.pcs) // 2)
    halves = [rows('--weight=time', option, half)['ns']
              for option in ('--to', '--from')]
    need(abs(sum(halves) - ns) <= 100, f'halves {halves}, {ns}')
    text = run(folder, RVTRACE, 'report', *guest.files(), '--elf', guest.elf,
               '--weight=time')
    need(text.startswith(f'# {ns} ns of virtual time') and
         'weights are virtual time' in text, text[:200])
    text = run(folder, RVTRACE, 'report', *guest.files(), '--elf', guest.elf,
               '--weight=time', '--callers=*')
    need('ns of virtual time' in text, text[:200])
    return f'{ns} ns'


def read_all(path):
    """A file's bytes, or those of all in a folder"""
    if os.path.isdir(path):
        return [(name, read_all(f'{path}/{name}'))
                for name in sorted(os.listdir(path))]
    with open(path, 'rb') as f:
        return f.read()


def test_index_times(folder, guest):
    """What an index spares is not missed where times are shown."""
    index = f'{folder}/index'
    run(folder, RVTRACE, 'index', *guest.files(), '--elf', guest.elf,
        '--every', '20k', '-o', index)
    text = run(folder, RVTRACE, 'decode', *guest.files(), '--emit', 'packets')
    end = int(re.findall(r' ts=0x([0-9a-f]+)', text)[-1], 16)
    half, all_ = end // 2, len(guest.pcs)
    kinds = 'timeline', 'html', 'speedscope', 'uftrace'
    ranges = [('--from', str(all_ // 2)),
              ('--from', str(all_ // 3), '--to', str(all_ // 2)),
              ('--from', f'{half}ns'), ('--from', '-100us'),
              ('--from', f'{half}ns', '--to', f'{half + 50000}ns'),
              ('--to', str(all_ // 5)), ('--from', '-1000', '--to', '-500')]
    # Right behind a place of the index, before the next time is known
    points = run(folder, RVTRACE, 'index', *guest.files(), '--elf', guest.elf,
                 '-o', index, '--list').splitlines()[1:-1]
    need(len(points) > 3, f'{points}')
    ranges += [('--from', str(int(point.split()[1]) + 3)) for point in points]
    for number, borders in enumerate(ranges):
        got = []
        for more in (), ('--index', index):
            paths = [f'{folder}/{kind}-{number}-{len(more)}'
                     for kind in kinds]
            run(folder, RVTRACE, 'decode', *guest.files(), '--elf', guest.elf,
                *borders, *more, '--min-duration', '0',
                *(f'--output={kind}={path}'
                  for kind, path in zip(kinds, paths)))
            got.append([read_all(path) for path in paths])
        need(got[0] == got[1], f'{borders}: ' + ', '.join(
            kind for kind, a, b in zip(kinds, *got) if a != b))
    refuses(folder, guest, 'No such file', 'timeline', '--from', '9',
            '--index', f'{folder}/none')
    return f'{len(ranges)} ranges'


def test_ranges(folder, guest):
    return ranges.test_ranges(folder, guest, run, stacks)


def test_levels(folder, guest):
    return levels.test_levels(folder, guest, run)


def test_no_time(folder, guest):
    refuses(folder, guest, 'does not report the time', 'folded', '--weight',
            'time')
    refuses(folder, guest, 'does not report the time', 'report', '--from',
            '1us')
    _, unit = spans(folder, guest)
    need(unit == 'none', unit)
    refuses(folder, guest, 'does not report the time', 'timeline', '--time',
            'virtual')
    refuses(folder, guest, 'give a number of instructions', 'privilege',
            '--every', '1ms')


def refuses(folder, guest, what, *arguments):
    done = subprocess.run([RVTRACE, *arguments, *guest.files(), '--elf',
                           guest.elf], capture_output=True, check=False,
                          cwd=folder)
    need(done.returncode == 2, f'{arguments}: status {done.returncode}')
    need(what in done.stderr.decode(), f'{arguments}: {done.stderr}')


# What rustc calls functions, in its newer way and in the older one
RUST = {
    'compare': ('_RINvNtCsdrzbAzSuyJg_3zoo3zoo4eachNCNvB4_3all0EB4_',
                'zoo::zoo::each::<zoo::all::{closure#0}>'),
    'insert': ('_RNvXNtCsdrzbAzSuyJg_3zoo3zooINtB2_3CatmENtB2_4Feed4feed',
               '<zoo::zoo::Cat<u32> as zoo::zoo::Feed>::feed'),
    'is_sorted': ('_ZN3zoo3zoo12Cat$LT$T$GT$3eat17hcdc4bb8449c1417aE',
                  'zoo::zoo::Cat<T>::eat'),
}


def test_rust(folder, guest):
    """The functions of a program in Rust are called as its source does."""
    program('riscv64-linux-gnu-objcopy')
    run(folder, 'riscv64-linux-gnu-objcopy', *(
        f'--redefine-sym={name}={linkage}'
        for name, (linkage, _) in RUST.items()), guest.elf, 'rust.elf')
    elf = f'{folder}/rust.elf'

    def names(*options):
        text = run(folder, RVTRACE, 'report', *guest.files(), '--elf', elf,
                   '--format=json', *options)
        return {row['sym']: row for row in json.loads(text)['rows']}

    plain = run(folder, RVTRACE, 'report', *guest.files(), '--elf',
                guest.elf, '--format=json')
    was = {row['sym']: row for row in json.loads(plain)['rows']}
    now, raw = names(), names('--no-demangle')
    for name, (linkage, source) in RUST.items():
        for number in 'own', 'total', 'calls':
            need(was[name][number] == now[source][number] ==
                 raw[linkage][number], f'{name}: {now.get(source)}')
        # It is found by either name.
        for sym in linkage, source:
            need(list(names('--sym', sym)) == [source], f'--sym {sym}')
    for kind in 'folded', 'callgrind', 'annotate', 'html':
        text = run(folder, RVTRACE, kind, *guest.files(), '--elf', elf)
        for _, source in RUST.values():
            if kind == 'html':
                source = source.replace('<', '\\u003c').replace('>', '\\u003e')
            need(source in text, f'{kind}: no {source}')
    return f'{len(RUST)} functions'


def test_options(folder, guest):
    refuses(folder, guest, 'at least 1', 'perf-data', '--period', '0')
    refuses(folder, guest, 'from 0 to 64', 'script', '--branches', '65')
    refuses(folder, guest, 'not negative', 'uftrace', '--min-duration', '-2',
            '--output', 'x')
    refuses(folder, guest, 'at least 2', 'speedscope', '--max-events', '1')
    refuses(folder, guest, 'give its name', 'uftrace')
    refuses(folder, guest, 'not empty', 'uftrace', '--output', guest.folder)
    for kind in 'perf-data', 'callgrind', 'pprof', 'speedscope', 'script':
        refuses(folder, guest, 'No space left', kind, '--output',
                '/dev/full')


def main():
    guests = {name: Guest(name) for name in ('dhry', 'vm')}
    relocs = Guest('relocs')
    tests = []
    for name, guest in guests.items():
        tests += [(f'{kind} {name}', test, guest) for kind, test in (
            ('perf samples', test_perf_ip),
            ('perf branch stacks', test_perf_branches),
            ('perf script', test_perf_script),
            ('callgrind_annotate', test_callgrind),
            ('callgrind_annotate with source', test_callgrind_source),
            ('go tool pprof', test_pprof),
            ('protoc', test_protoc),
            ('pprof-format', test_pprof_format),
            ('speedscope', test_speedscope),
            ('uftrace', test_uftrace))]
    dhry = guests['dhry']
    timed = Guest('dhry', '-icount', 'shift=0',
                  '-global', 'riscv-trace-encoder.timestamp-width=40',
                  '-global', 'riscv-trace-encoder.timestamp-mode=2')
    tests += [
        ('perf report', test_perf_report, dhry),
        ('perf annotate', test_perf_annotate, dhry),
        ('perf2bolt', test_perf2bolt, relocs),
        ("speedscope's schema", test_speedscope_schema, dhry),
        ('several views of one pass', test_one_pass, dhry),
        ('virtual time', test_virtual_time, timed),
        ('borders', test_borders, timed),
        ('virtual time as weight', test_weight, timed),
        ('virtual time in reports', test_report_weight, timed),
        ('virtual time with an index', test_index_times, timed),
        ('ranges of time in a browser', test_ranges, timed),
        ('privilege levels by time', test_levels, timed),
        ('no timestamps', test_no_time, dhry),
        ('names of Rust', test_rust, dhry),
        ('options of views', test_options, dhry),
    ]
    tap.run(OUT, tests)


if __name__ == '__main__':
    sys.exit(main())
