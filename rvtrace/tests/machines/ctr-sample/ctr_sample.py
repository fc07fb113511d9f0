#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# ctr_sample.py PATTERN: see run.sh
#
# With -icount shift=0 an instruction takes a nanosecond, so that consecutive
# samples are as many lines of the log apart as their period has nanoseconds.
# On a busy machine time passes before the first instruction: no test depends
# on where in the guest the samples lie.

import os
import socket
import struct
import subprocess
import tempfile

import exec_log
import links
import tap
from symbols import addresses
from tap import need

QEMU, RVTRACE = os.environ['QEMU'], os.environ['RVTRACE']
OUT = os.environ['OUT']
LIMIT = 120     # seconds, for any run
LOG = ('-accel', 'tcg,one-insn-per-tb=on', '-d', 'exec,nochain', '-icount',
       'shift=0')
PERIOD = 1000   # ns, less than the shortest guest takes
KERNEL, USER, HYPERVISOR = 1, 2, 3


class Machine:
    """A machine that stands at its first instruction, and has QMP"""

    def __init__(self, folder, guest, cpu, *options):
        self.sockets = links.directory()
        self.address = f'{self.sockets.name}/qmp'
        self.elf = f'{OUT}/{guest}.elf'
        with open(f'{folder}/qemu.log', 'wb') as log:
            self.qemu = subprocess.Popen(
                [QEMU, '-M', 'virt', '-cpu', cpu, '-m', '128M', '-bios',
                 'none', '-kernel', self.elf, '-display', 'none', '-monitor',
                 'none', '-serial', f'file:{folder}/uart', '-S', '-D',
                 f'{folder}/exec', *links.Qmp.arguments(self.sockets.name),
                 '-action', 'shutdown=pause', *options],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.qemu.kill()
        self.qemu.wait()
        self.sockets.cleanup()

    def sample(self, *options, status=0):
        """What rvtrace has written to its standard output and error"""
        done = subprocess.run(
            [RVTRACE, 'ctr-sample', '--qmp', f'unix:{self.address}',
             '--elf', self.elf, *options], capture_output=True, timeout=LIMIT,
            check=False, encoding='utf-8')
        need(done.returncode == status,
             f'status {done.returncode}: {done.stderr}')
        return done.stdout, done.stderr


def read_samples(path):
    """(hart, time, ip, mode, [(from, to)], newest first) for each"""
    with open(path, 'rb') as file:
        data = file.read()
    at, size = struct.unpack_from('<QQ', data, 40)
    end = at + size
    samples = []
    while at < end:
        kind, misc, length = struct.unpack_from('<IHH', data, at)
        if kind == 9:
            ip, _, time, cpu, _, n = struct.unpack_from('<6Q', data, at + 8)
            words = struct.unpack_from(f'<{3 * n}Q', data, at + 56)
            samples.append((cpu & 0xffffffff, time, ip, misc & 7,
                            list(zip(words[::3], words[1::3]))))
        at += length
    return samples


def executed(folder, mask):
    """The pcs of the log, by hart; the last may be where the hart stands"""
    return exec_log.executed(f'{folder}/exec', mask, standing=True)


def straight(a, b):
    return b - a in (2, 4)


def fits(pcs, at, branches, inhibited=()):
    """
    Are the branches what led to pcs[at]? What is between them is straight, or
    an inhibited transfer. The source of an interrupt, or of what could not be
    fetched, is behind the last instruction that the log has.
    """
    behind = None       # what was jumped to, but not executed
    for number, (source, target) in enumerate(branches):
        if behind is not None:
            if target != behind:
                return False
        else:
            while at > 0 and pcs[at] != target and (
                    straight(pcs[at - 1], pcs[at]) or
                    (pcs[at - 1], pcs[at]) in inhibited):
                at -= 1
            if at == 0 or pcs[at] != target:
                return False
            at -= 1
        behind = None
        if pcs[at] != source and (
                not straight(pcs[at], source) or
                (pcs[at], source) in branches[number + 1:number + 2]):
            behind = source
    return True


def before_fetch(pcs, ip, branches):
    """
    Where in the log the hart has jumped to @ip, if that was never executed: it
    cannot be fetched, and the exception has not been raised yet.
    """
    if not branches or branches[0][1] != ip or ip in pcs:
        return []
    return [at for at in range(1, len(pcs)) if pcs[at - 1] == branches[0][0] and
            fits(pcs[:at] + [ip], at, branches)]


def need_samples(samples, pcs, period=PERIOD, inhibited=()):
    """Each sample, by its own place in the log"""
    last = None
    places = []
    for _, time, ip, _, branches in samples:
        if last is None or period is None:
            where = [at for at, pc in enumerate(pcs) if pc == ip and
                     (not places or at >= places[-1])]
        else:
            where = [places[-1] + time - last]
        found = [at for at in where if at < len(pcs) and pcs[at] == ip and
                 fits(pcs, at, branches, inhibited)]
        if not found and period is None:
            found = [at for at in before_fetch(pcs, ip, branches)
                     if not places or at >= places[-1]]
        need(found, f'at {time} ns: the hart was not at {ip:x} like that')
        places.append(found[0])
        last = time
    return places


def all_of_it(folder, guest, cpu):
    """The samples of a whole run, and the profile for compilers of them"""
    mask = 2 ** int(cpu[2:4]) - 1
    with Machine(folder, guest, f'{cpu},ctr-host=256', *LOG) as machine:
        machine.sample('--every', f'{PERIOD}ns', '--cont', '--quit', '--keep',
                       f'{folder}/perf.data', '--transfers', '127', '--isa',
                       cpu[:4] + 'gc', '--view', f'folded={folder}/folded',
                       '--view', f'pgo-bolt={folder}/bolt')
    pcs = executed(folder, mask)[0]
    samples = read_samples(f'{folder}/perf.data')
    need(len(samples) >= len(pcs) // PERIOD, f'{len(samples)} samples')
    # what raised an exception is in the log, but has taken no time
    need_samples(samples, pcs, PERIOD if guest[:4] in ('call', 'tabl') else
                 None)
    entries = sum(len(sample[4]) for sample in samples)
    jumps, counted = need_profile(folder, pcs)
    return (f'{len(pcs)} instructions, {len(samples)} samples, {entries} '
            f'transfers, {jumps} jumps, {counted} instructions in stacks')


def need_profile(folder, pcs):
    """No jump of the profile that did not happen"""
    happened = {(a, b) for a, b in zip(pcs, pcs[1:])}
    jumps = set()
    with open(f'{folder}/bolt', encoding='ascii') as file:
        for line in file:
            words = line.split()
            if words[0] == 'B':
                jumps.add((int(words[1], 16), int(words[2], 16)))
    need(jumps, 'no jumps in the profile')
    ran = set(pcs)
    # what a jump led to may not be there to be fetched
    wrong = [jump for jump in jumps - happened
             if jump[0] not in ran or jump[1] in ran]
    need(not wrong, f'{wrong[:3]} did not happen')
    with open(f'{folder}/folded', encoding='utf-8') as file:
        counted = sum(int(line.rsplit(' ', 1)[1]) for line in file)
    need(counted, 'no instructions in the call stacks')
    return len(jumps), counted


def own_records(folder):
    """Without ctr-host, the guest's own records; none before it begins"""
    with Machine(folder, 'records', 'rv64,smctr=on,ssctr=on', *LOG) as machine:
        machine.sample('--every', '1us', '--cont', '--quit', '--keep',
                       f'{folder}/perf.data')
    pcs = executed(folder, 2 ** 64 - 1)[0]
    samples = read_samples(f'{folder}/perf.data')
    at = addresses(f'{OUT}/records.elf')
    # the call behind the write of DIRCALLINH
    call = (at['called'] - 4, at['leaf'])
    need(call in zip(pcs, pcs[1:]), 'no call with DIRCALLINH')
    need(not [sample for sample in samples if call in sample[4]],
         'a call was recorded in spite of DIRCALLINH')
    need_samples(samples, pcs, inhibited={call})
    need(not samples[0][4] or len(samples[0][4]) < 64, 'records at reset')
    full = [sample for sample in samples if len(sample[4]) == 64]
    need(full, 'no sample with 64 transfers')
    return f'{len(samples)} samples, {len(full)} with 64 transfers'


def harts(folder):
    """Each hart has its own samples"""
    with Machine(folder, 'baton.rv64gc', 'rv64,ctr-host=128', '-smp', '3',
                 *LOG) as machine:
        machine.sample('--every', f'{PERIOD}ns', '--cont', '--quit', '--keep',
                       f'{folder}/perf.data')
    logs = executed(folder, 2 ** 64 - 1)
    samples = read_samples(f'{folder}/perf.data')
    for hart in range(3):
        mine = [sample for sample in samples if sample[0] == hart]
        need(mine, f'no samples of hart {hart}')
        need_samples(mine, logs[hart], None)
    return f'{len(samples)} samples'


def modes(folder):
    """The mode of a sample is the hart's."""
    with Machine(folder, 'priv.rv64gc', 'rv64,ctr-host=128', *LOG) as machine:
        machine.sample('--every', '1us', '--cont', '--quit', '--keep',
                       f'{folder}/perf.data')
        text = subprocess.run(
            [RVTRACE, 'report', '--trace', f'{folder}/perf.data', '--elf',
             machine.elf, '--sort', 'priv', '--format', 'tsv'], check=True,
            capture_output=True, encoding='utf-8', timeout=LIMIT).stdout
    samples = read_samples(f'{folder}/perf.data')
    need({sample[3] for sample in samples} <= {KERNEL, USER, HYPERVISOR},
         'a mode that there is not')
    need(len(text.splitlines()) > 2, f'one privilege level only: {text}')


def threads(folder):
    """Without -icount: every stack is one that can have run"""
    with Machine(folder, 'baton.rv64gc', 'rv64,ctr-host=128', '-smp',
                 '3') as machine:
        _, said = machine.sample('--every', '20us', '--cont', '--quit',
                                 '--keep', f'{folder}/perf.data', '--view',
                                 f'report={folder}/report')
    need('cannot have run so' not in said, said)
    need(read_samples(f'{folder}/perf.data'), 'no samples')


def none_kept(folder):
    with Machine(folder, 'calls.rv64gc', 'rv64') as machine:
        _, said = machine.sample(status=2)
    need('no hart keeps its transfers: use -cpu ...,ctr-host' in said, said)


def limits(folder):
    """What is asked for ends it; the rest of the machine goes on."""
    with Machine(folder, 'calls.rv64gc', 'rv64,ctr-host=16', *LOG) as machine:
        machine.sample('--every', '1us', '--cont', '--samples', '5', '--keep',
                       f'{folder}/five')
        qmp = links.Qmp(machine.sockets.name)
        while qmp.command('query-status')['status'] != 'shutdown':
            pass
        qmp.close()
        _, said = machine.sample('--every', '1us', '--samples', '1', '--keep',
                                 f'{folder}/none', status=2)
        need('the guest has ended (status shutdown)' in said, said)
    need(len(read_samples(f'{folder}/five')) >= 5, 'less than five')


def protocol(folder):
    """Wrong arguments, a buffer that is full, and commands in no order"""
    with Machine(folder, 'calls.rv64gc', 'rv64,ctr-host=64', *LOG) as machine:
        qmp = links.Qmp(machine.sockets.name)
        for arguments in ({'period': 999}, {'period': 1 << 62},
                          {'period': 1000, 'entries': 0},
                          {'period': 1000, 'entries': 2049},
                          {'period': 1000, 'buffer': 100},
                          {'period': 1000, 'buffer': 1 << 31}):
            answer = qmp.execute('x-riscv-ctr-sample-start', **arguments)
            need('must be from' in answer['error']['desc'], answer)
        for command in 'stop', 'read':
            answer = qmp.execute(f'x-riscv-ctr-sample-{command}')
            need('error' in answer, answer)
        # room for two samples
        need(qmp.execute('x-riscv-ctr-sample-start', period=1000, entries=64,
                         buffer=2 * (48 + 64 * 24)) == {'return': {}}, 'start')
        need('error' in qmp.execute('x-riscv-ctr-sample-start', period=1000),
             'start, twice')
        qmp.command('cont')
        while not qmp.command('query-status')['status'] == 'shutdown':
            pass
        need(qmp.execute('x-riscv-ctr-sample-stop') == {'return': {}}, 'stop')
        got = qmp.command('x-riscv-ctr-sample-read')
        need(got['samples'] >= 2 and got['lost'] >= 5 and not got['left'] and
             not got['running'], f'{got}')
        again = qmp.command('x-riscv-ctr-sample-read')
        need(again['samples'] == 0 and again['data'] == '', 'read twice')


def no_qmp(folder):
    """What answers is no QEMU, or nobody does."""
    done = subprocess.run([RVTRACE, 'ctr-sample'], capture_output=True,
                          check=False, encoding='utf-8', timeout=LIMIT)
    need(done.returncode == 2 and '--qmp ADDRESS' in done.stderr, done.stderr)
    with tempfile.TemporaryDirectory() as sockets, \
         socket.socket(socket.AF_UNIX) as server:
        server.bind(f'{sockets}/s')
        server.listen(1)
        with subprocess.Popen([RVTRACE, 'ctr-sample', '--qmp',
                               f'unix:{sockets}/s'], stderr=subprocess.PIPE,
                              encoding='utf-8') as child:
            peer, _ = server.accept()
            peer.send(b'hello\r\n')
            said = child.communicate(timeout=LIMIT)[1]
            peer.close()
    need(child.returncode == 2 and 'this is no QMP: hello' in said, said)


def main():
    tests = [
        *((f'a whole run, {guest} {cpu}', all_of_it, f'{guest}.{cpu}gc', cpu)
          for guest in ('calls', 'exceptions', 'tables', 'priv')
          for cpu in ('rv64', 'rv32')),
        ("the guest's own records", own_records),
        ('several harts', harts),
        ('privilege levels', modes),
        ('a thread for each hart', threads),
        ('nobody keeps transfers', none_kept),
        ('so many samples', limits),
        ('requests that rvtrace does not make', protocol),
        ('what is no QMP', no_qmp),
    ]
    tap.run(OUT, tests)


main()
