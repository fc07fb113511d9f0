# SPDX-License-Identifier: GPL-2.0-or-later
#
# Builds and runs a case, and compares.

import array
import os
import re
import resource
import subprocess
import sys
import tempfile

import case as cases
import expected
import program
import scenarios
from symbols import addresses

HERE = os.path.dirname(os.path.realpath(__file__))
TESTS = os.path.dirname(HERE)
BUILD = os.environ.get('RVTRACE_BUILD',
                       os.path.join(os.path.dirname(TESTS), 'build'))
QEMU = os.environ.get('QEMU', f'{BUILD}/qemu-system-riscv64')
RVTRACE = os.environ.get('RVTRACE', f'{BUILD}/rvtrace')
GCC = os.environ.get('CROSS', 'riscv64-linux-gnu-') + 'gcc'
LIMIT = 60
BASE = 0x80000000       # of the guest's memory
FUEL = 3000             # exceptions until a hart leaves what it does
FILE_LIMIT = 1 << 29    # bytes of any file, should a guest not end


class Failure(Exception):
    """What is wrong: kind is one word that a shrunk case must have, too."""

    def __init__(self, kind, text):
        super().__init__(f'{kind}: {text}')
        self.kind = kind


def need(condition, kind, text):
    if not condition:
        raise Failure(kind, text)


def build(case, folder):
    machine = case['machine']
    with open(f'{folder}/program.S', 'w', encoding='ascii') as file:
        file.write(program.Generator(case).generate())
    march = (f'rv{machine["xlen"]}g{"c" if machine["c"] else ""}'
             f'{"v" if machine["v"] else ""}')
    command = [
        GCC, f'-march={march}',
        f'-mabi={"lp64d" if machine["xlen"] == 64 else "ilp32d"}',
        '-mcmodel=medany', '-fno-pic', '-mno-relax', '-nostdlib', '-static',
        '-no-pie',
        f'-Wl,-T,{HERE}/guest.ld', '-Wl,--build-id=none', '-Wl,-z,norelro',
        '-Wl,--no-warn-rwx-segments', f'-I{HERE}',
        f'-DHARTS={machine["harts"]}',
        f'-DFUEL_START={FUEL * machine.get("length", 1)}',
        *(['-DHAS_CTR'] if machine['ctr'] else []),
        *(['-DHAS_H'] if machine['h'] else []),
        *(['-DHAS_ZC'] if machine['zc'] else []),
        *(['-DHAS_ZICF'] if machine['zicfilp'] else []),
        *(['-DNO_TIMER'] if machine['scenario'] in (
            'migrate', 'snapshot', 'gdb', 'breaks') else []),
        '-o', f'{folder}/guest.elf', f'{folder}/program.S', f'{HERE}/runtime.S']
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    need(done.returncode == 0, 'build', done.stderr[-2000:])


def compares_data(machine):
    """Accesses are compared where all that retired is"""
    return 'data=on' in machine['props'] and machine['scenario'] in (
        'plain', 'stop', 'gdb', 'breaks', 'slow', 'migrate', 'ring')


def filter_of(case, folder):
    """The property, and lines for filter.c"""
    return expected.filter_terms(case['machine'].get('filter') or [],
                                 addresses(f'{folder}/guest.elf'),
                                 cases.PRIVILEGES)


def qemu_command(case, folder, steps, number):
    """Everything but the chardevs"""
    machine = case['machine']
    accel = f'tcg,thread={machine["thread"]}'
    if machine['one_insn']:
        accel += ',one-insn-per-tb=on'
    if machine['tb_size']:
        accel += f',tb-size={machine["tb_size"]}'
    kind = 'virt'
    if machine['traced']:
        kind += (',trace=on,trace-autostart=on,trace-modes=baseline,'
                 'trace-sideband=sb')
        if machine['scenario'] not in ('ring', 'poll'):
            kind += ',trace-chardev=tr'
    command = [
        QEMU, '-M', kind + ',memory-backend=ram', '-object',
        'memory-backend-file,id=ram,size=128M,share=on,mem-path='
        f'{folder}/ram{number}',
        '-accel', accel, '-cpu', cases.cpu(machine), '-m', '128M',
        '-smp', str(machine['harts']), '-bios', 'none',
        '-kernel', f'{folder}/guest.elf',
        '-plugin', f'{steps},out={folder}/steps{number},'
        f'thread={"single" if machine["icount"] else machine["thread"]}'
        f'{",data=on" if compares_data(machine) else ""}']
    if machine['icount']:
        command += ['-icount', 'shift=0,sleep=off']
    if machine['log']:
        command += ['-d', 'exec,nochain,int', '-D', f'{folder}/exec.log']
    elif machine['nochain']:
        command += ['-d', 'nochain', '-D', f'{folder}/exec.log']
    for item in machine['props'] * machine['traced']:
        device, _, text = item.rpartition(':')
        command += ['-global', f'{device or "riscv-trace-encoder"}.{text}']
    if machine.get('filter'):
        text = filter_of(case, folder)[0]
        command += ['-global', f'riscv-trace-encoder.filter={text}']
    return command


def limit_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_LIMIT, FILE_LIMIT))


def failure_of(error):
    """A scenario's error as a failure"""
    text = str(error)
    kind = text.partition(':')[0]
    return Failure(kind if kind in ('hang', 'endless', 'guest') else 'qemu',
                   text)


def run_plain(case, folder, steps):
    """No monitor, no events: QEMU as it is"""
    command = qemu_command(case, folder, steps, 0) + [
        '-display', 'none', '-monitor', 'none', '-serial', 'none']
    if case['machine']['traced']:
        command += ['-chardev', f'file,id=tr,path={folder}/trace0',
                    '-chardev', f'file,id=sb,path={folder}/sideband0']
    with open(f'{folder}/command', 'w', encoding='utf-8') as file:
        file.write(' '.join(command) + '\n')
    with open(f'{folder}/log', 'wb') as log, \
            subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log,
                             stderr=log, preexec_fn=limit_files) as process:
        try:
            status = scenarios.wait(process, f'{folder}/steps0')
        except scenarios.Error as error:
            process.kill()
            raise failure_of(error) from None
    with open(f'{folder}/log', encoding='utf-8', errors='replace') as log:
        said = scenarios.without_idle(log.read())
    # exceptions can lead a program back for ever: that is nobody's fault
    need('steps: File too large' not in said, 'endless', said)
    need(status == 0, {7: 'guest', 1: 'refused'}.get(status, 'qemu'),
         f'status {status}: {said[-500:]}')
    need(not said, 'complaint', said[:500])
    return scenarios.Result(
        'all', ['--trace', f'{folder}/trace0', '--sideband',
                f'{folder}/sideband0'], [f'{folder}/steps0'], f'{folder}/ram0')


def run_qemu(case, folder, steps):
    if case['machine']['scenario'] == 'plain':
        return run_plain(case, folder, steps)

    def command_of(number, options):
        if number is None:
            return [QEMU]
        return qemu_command(case, folder, steps, number) + options

    try:
        return scenarios.play(case, folder, command_of)
    except subprocess.TimeoutExpired as error:
        raise Failure('hang', str(error)) from error
    except scenarios.Error as error:
        raise failure_of(error) from error


def decode(options, hart):
    """(status, pcs, what was said) of a hart"""
    done = subprocess.run(
        [RVTRACE, 'decode', *options, '--hart', str(hart), '--emit', 'pc'],
        capture_output=True, text=True, timeout=LIMIT, check=False)
    return (done.returncode,
            array.array('Q', (int(pc, 16) for pc in done.stdout.split())),
            done.stderr)


class History:
    """What a hart did, and whether it is what is decoded: see history.c"""

    def __init__(self, tool, machine, names, folder, hart, steps):
        self.folder = folder
        self.hart = hart
        handlers = ','.join(f'{names[name]:x}' for name in
                            ('m_vector', 's_vector', 'vs_vector'))
        self.command = [tool, '--xlen', str(machine['xlen']),
                        '--handlers', handlers,
                        '--labels', f'{folder}/labels',
                        '--filter', f'{folder}/filter']
        self.emit = 'pc'
        self.compare = ['--compare']
        self.some = machine['software'] or machine['triggers']
        if compares_data(machine):
            self.emit = 'pc,data'
            self.compare += ['--data', 'some' if self.some else 'all']
        # steps.c: nothing reports a rest there
        if machine['scenario'] == 'snapshot' and machine['thread'] == 'single':
            self.command.append('--loaded')
        self.steps = steps

    def run(self, more, stdin=subprocess.DEVNULL):
        """(instructions, what is different)"""
        done = subprocess.run(self.command + more + self.steps, stdin=stdin,
                              capture_output=True, text=True, timeout=LIMIT,
                              check=False)
        need(done.returncode in (0, 1), 'truth', f'hart {self.hart}: '
             f'{done.stderr}')
        count, _, wrong = done.stdout.partition('\n')
        need(not done.returncode or wrong, 'truth', done.stderr)
        count = int(count.split()[0])
        need(count > 20, 'truth', f'hart {self.hart} did {count}')
        return count, done.returncode and wrong

    def retired(self):
        """All pcs"""
        path = f'{self.folder}/retired{self.hart}'
        self.run(['--retired', path])
        pcs = array.array('Q')
        with open(path, 'rb') as file:
            pcs.frombytes(file.read())
        os.unlink(path)
        return pcs

    def check_rest(self, more):
        """All but what is decoded"""
        count, wrong = self.run(more)
        need(not wrong, 'ctr', f'hart {self.hart}: {wrong}')
        return count

    def check_all(self, options, more):
        """Decoded is what retired and was not switched off."""
        with tempfile.TemporaryFile() as said_file:
            with subprocess.Popen(
                    [RVTRACE, 'decode', *options, '--hart', str(self.hart),
                     '--emit', self.emit], stdout=subprocess.PIPE,
                    stderr=said_file) as decoder:
                try:
                    count, wrong = self.run([*self.compare, *more],
                                            decoder.stdout)
                    decoder.stdout.close()
                    status = decoder.wait(LIMIT)
                finally:
                    decoder.kill()
            said_file.seek(0)
            said = said_file.read().decode('utf-8', 'replace')
        if self.some:
            said = re.sub(r'.* data accesses cannot be put to .*\n', '', said)
        need(not wrong, 'no-code' if 'no code known' in said else
             'ctr' if str(wrong).startswith('CTR') else 'differs',
             f'hart {self.hart}: {wrong} {said[:300]}')
        need(status == 0 and not said, 'decoder',
             f'hart {self.hart}: {said[:500]}')
        return count


def check_parts(parts, hart, retired):
    """
    Each reader has a part of it without holes, in order, the one who was
    there first from the beginning, the one who stayed to the end.
    """
    at = 0
    for k, (first, last, options) in enumerate(parts):
        _, decoded, said = decode(options, hart)
        size = len(decoded)
        if not decoded:
            continue
        if last:
            starts = [len(retired) - size]
        elif first:
            starts = [0]
        else:
            starts = [i for i in range(at, len(retired))
                      if retired[i] == decoded[0]]
        start = next((i for i in starts if i >= at and
                      retired[i:i + size] == decoded), None)
        need(start is not None and (not first or start == 0), 'part',
             f'hart {hart}, part {k + 1} of {len(parts)}, {first} {last}: '
             f'{size} instructions that did not retire like that: '
             f'{expected.pieces(decoded, retired, 1)}; {said[:300]}')
        at = start + size


def check_polls(parts, hart, retired):
    """
    Each part is from the beginning, if there was room for it, up to an end that
    is not ahead of the one before; the last one is up to the end of all.
    """
    end = 0
    for k, (first, last, options) in enumerate(parts):
        _, decoded, said = decode(options, hart)
        size = len(decoded)
        if not decoded and not last:
            continue
        if first:
            starts = [0]
        elif last:
            starts = [len(retired) - size]
        else:
            starts = [i for i in range(max(end - size, 0), len(retired))
                      if retired[i] == decoded[0]]
        start = next((i for i in starts if i + size >= end and
                      retired[i:i + size] == decoded), None)
        need(start is not None and (not last or
                                    start + size == len(retired)), 'part',
             f'hart {hart}, poll {k + 1} of {len(parts)}, {first} {last}: '
             f'{size} instructions that did not retire like that: '
             f'{expected.pieces(decoded, retired, 1)}; {said[:300]}')
        end = start + size


def check_pieces(options, hart, retired):
    """Some may be lost, and then that is reported."""
    status, decoded, said = decode([*options, '--strict'], hart)
    wrong = expected.pieces(decoded, retired, len(retired))
    need(not wrong, 'differs', f'hart {hart}: {wrong} {said[:300]}')
    need(status == 1 or decoded == retired, 'silent',
         f'hart {hart}: {len(decoded)} decoded, {len(retired)} retired, '
         'and no loss is reported')


def check_end(options, hart, retired):
    """The last part of what retired"""
    _, decoded, said = decode(options, hart)
    wrong = retired[len(retired) - len(decoded):] != decoded
    need(not wrong, 'differs', f'hart {hart}: {len(decoded)} decoded, which '
         f'are not the last ones of {len(retired)}: {said[:300]}')


def check_trace(result, history, more):
    """Instructions; more: what else history.c is to do"""
    if result.how == 'all':
        return history.check_all(result.options, more)
    count = history.check_rest(more)
    retired = history.retired()
    check = {'parts': check_parts, 'polls': check_polls,
             'pieces': check_pieces, 'end': check_end}[result.how]
    check(result.options, history.hart, retired)
    return count


def check_log(case, folder, pcs):
    """QEMU's own log of the same run, without any plugin's help"""
    with open(f'{folder}/decoded', 'w', encoding='ascii') as file:
        file.writelines(f'0 {pc}\n' for pc in pcs)
    done = subprocess.run(
        [sys.executable, f'{TESTS}/harness/exec_log.py', f'{folder}/exec.log',
         f'{folder}/decoded', str(case['machine']['xlen']), 'no-self'],
        capture_output=True, text=True, timeout=LIMIT, check=False)
    if 'only' not in done.stderr:       # it wants 1000 instructions
        need(done.returncode == 0, 'log', done.stderr[-500:])


def dumps_of(names, hart):
    """Where a hart's copies of its CTR are in memory, see runtime.inc"""
    return names['hart_data'] - BASE + (hart << 15) + 0x1000


def run(case, folder, tools):
    """Instructions compared; raises Failure. tools: where the Makefile put
    them"""
    build(case, folder)
    result = run_qemu(case, folder, f'{tools}/libsteps.so')
    machine = case['machine']
    names = addresses(f'{folder}/guest.elf')
    with_ctr = machine['ctr'] and machine['scenario'] not in ('reset',
                                                              'snapshot')
    for name, lines in (('labels', expected.label_lines(names)),
                        ('filter', filter_of(case, folder)[1])):
        with open(f'{folder}/{name}', 'w', encoding='ascii') as file:
            file.writelines(f'{line}\n' for line in lines)
    prefixes = list(dict.fromkeys(result.steps))
    count = 0
    for hart in range(machine['harts']):
        history = History(f'{tools}/history', machine, names, folder, hart, [
            f'{prefix}.{hart}' for prefix in prefixes
            if os.path.exists(f'{prefix}.{hart}')])
        more = []
        if with_ctr:
            more = ['--records', f'{result.ram}@{dumps_of(names, hart):#x}',
                    *(['--hypervisor'] if machine['h'] else [])]
        if machine['traced']:
            count += check_trace(result, history, more)
        else:
            count += history.check_rest(more)
        if machine['log']:
            check_log(case, folder, [f'{pc:x}' for pc in history.retired()])
    return count
