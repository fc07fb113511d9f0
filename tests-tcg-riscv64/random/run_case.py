# SPDX-License-Identifier: GPL-2.0-or-later
#
# Builds and runs a case, and compares.

import os
import resource
import subprocess
import sys

import case as cases
import ctr
import expected
import program
import truth

HERE = os.path.dirname(os.path.realpath(__file__))
TESTS = os.path.dirname(HERE)
BUILD = os.path.join(os.path.dirname(TESTS), 'build')
QEMU = os.environ.get('QEMU', f'{BUILD}/qemu-system-riscv64')
ETRACE = os.environ.get('ETRACE', f'{BUILD}/qemu-etrace')
GCC = os.environ.get('CROSS', 'riscv64-linux-gnu-') + 'gcc'
LIMIT = 60
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
        '-mcmodel=medany', '-fno-pic', '-mno-relax', '-nostdlib', '-static', '-no-pie',
        f'-Wl,-T,{HERE}/guest.ld', '-Wl,--build-id=none', '-Wl,-z,norelro',
        '-Wl,--no-warn-rwx-segments', f'-I{HERE}',
        f'-DHARTS={machine["harts"]}',
        *(['-DHAS_CTR'] if machine['ctr'] else []),
        *(['-DHAS_H'] if machine['h'] else []),
        *(['-DHAS_ZICFILP'] if machine.get('zicfilp') else []),
        '-o', f'{folder}/guest.elf', f'{folder}/program.S', f'{HERE}/runtime.S']
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    need(done.returncode == 0, 'build', done.stderr[-2000:])


def qemu_command(case, folder, steps):
    machine = case['machine']
    accel = f'tcg,thread={machine["thread"]}'
    if machine['one_insn']:
        accel += ',one-insn-per-tb=on'
    if machine['tb_size']:
        accel += f',tb-size={machine["tb_size"]}'
    kind = 'virt'
    if machine['traced']:
        kind += (',trace=on,trace-autostart=on,trace-chardev=tr,'
                 'trace-sideband=sb')
    command = [
        QEMU, '-M', kind + ',memory-backend=ram', '-object',
        f'memory-backend-file,id=ram,size=128M,share=on,mem-path={folder}/ram',
        '-accel', accel, '-cpu', cases.cpu(machine), '-m', '128M',
        '-smp', str(machine['harts']), '-bios', 'none',
        '-kernel', f'{folder}/guest.elf', '-display', 'none',
        '-monitor', 'none', '-serial', 'none',
        '-plugin', f'{steps},out={folder}/steps']
    if machine['icount']:
        command += ['-icount', 'shift=0,sleep=off']
    if machine['log']:
        command += ['-d', 'exec,nochain,int', '-D', f'{folder}/exec.log']
    elif machine['nochain']:
        command += ['-d', 'nochain', '-D', f'{folder}/exec.log']
    for item in machine['props'] * machine['traced']:
        command += ['-global', f'riscv-trace-encoder.{item}']
    return command


def limit_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_LIMIT, FILE_LIMIT))


def run_qemu(case, folder, steps):
    command = qemu_command(case, folder, steps)
    if case['machine']['traced']:
        command += ['-chardev', f'file,id=tr,path={folder}/trace',
                    '-chardev', f'file,id=sb,path={folder}/sideband']
    with open(f'{folder}/command', 'w', encoding='utf-8') as file:
        file.write(' '.join(command) + '\n')
    with open(f'{folder}/log', 'wb') as log:
        try:
            status = subprocess.run(command, stdin=subprocess.DEVNULL,
                                    stdout=log, stderr=log, timeout=LIMIT,
                                    preexec_fn=limit_files,
                                    check=False).returncode
        except subprocess.TimeoutExpired:
            raise Failure('hang', f'QEMU did not end in {LIMIT} s') from None
    with open(f'{folder}/log', encoding='utf-8', errors='replace') as log:
        said = log.read()
    need(status == 0, 'guest' if status == 7 else 'qemu',
         f'status {status}: {said[-500:]}')
    need(not said, 'complaint', said[:500])


def decode(folder, hart, *options):
    """(pcs, what was said) of a hart"""
    done = subprocess.run(
        [ETRACE, 'decode', '--trace', f'{folder}/trace', '--sideband',
         f'{folder}/sideband', '--hart', str(hart), '--emit', 'pc', *options],
        capture_output=True, text=True, timeout=LIMIT, check=False)
    return done.returncode, done.stdout.split(), done.stderr


def symbols(folder):
    done = subprocess.run([GCC[:-3] + 'nm', f'{folder}/guest.elf'],
                          capture_output=True, text=True, check=True)
    fields = (line.split() for line in done.stdout.splitlines())
    return {field[2]: int(field[0], 16) for field in fields
            if len(field) == 3}


def check_decoded(folder, hart, items, names):
    """Decoded is retired"""
    wanted = expected.expectation(items, names)
    need(len(items) > 20, 'truth', f'hart {hart} did {len(items)}')
    status, decoded, said = decode(folder, hart)
    wrong = expected.compare([int(pc, 16) for pc in decoded], wanted)
    need(not wrong, 'no-code' if 'no code known' in said else 'differs',
         f'hart {hart}: {wrong} {said[:300]}')
    need(status == 0 and not said, 'decoder', f'hart {hart}: {said[:500]}')


def check_log(case, folder, pcs):
    """QEMU's own log of the same run, without any plugin's help"""
    with open(f'{folder}/decoded', 'w', encoding='ascii') as file:
        file.writelines(f'0 {pc}\n' for pc in pcs)
    done = subprocess.run(
        [sys.executable, f'{TESTS}/exec_log.py', f'{folder}/exec.log',
         f'{folder}/decoded', str(case['machine']['xlen'])],
        capture_output=True, text=True, timeout=LIMIT, check=False)
    if 'only' not in done.stderr:       # it wants 1000 instructions
        need(done.returncode == 0, 'log', done.stderr[-500:])


def run(case, folder, steps):
    """Instructions compared; raises Failure"""
    build(case, folder)
    run_qemu(case, folder, steps)
    machine = case['machine']
    names = symbols(folder)
    vectors = {names[name] for name in ('m_vector', 's_vector', 'vs_vector')}
    mask = (1 << machine['xlen']) - 1
    count = 0
    for hart in range(machine['harts']):
        items = truth.retired([f'{folder}/steps.{hart}'], mask, vectors)
        count += sum(item.cause is None for item in items)
        if machine['traced']:
            check_decoded(folder, hart, items, names)
        if machine['ctr']:
            ctr.check(items, names, vectors, hart, f'{folder}/ram',
                      machine['h'], need)
        if machine['log']:
            check_log(case, folder, [f'{item.pc:x}' for item in items
                                     if item.cause is None])
    return count
