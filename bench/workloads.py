# SPDX-License-Identifier: GPL-2.0-or-later
"""What the machines run while they are measured, and how it is built."""

import os
import subprocess
import sys
from dataclasses import dataclass

HERE = os.path.dirname(os.path.realpath(__file__))
BUILD = os.environ.get('RVTRACE_BUILD',
                       os.path.join(os.path.dirname(HERE), 'build'))
GUEST = os.path.join(BUILD, 'guest')


def once(path, command):
    """Build the file by the command, unless it is there."""
    if not os.path.exists(path):
        done = subprocess.run(command + ['-o', path], stdin=subprocess.DEVNULL,
                              check=False)
        if done.returncode:
            sys.exit(f'cannot be built: {os.path.basename(path)}')
    return path


def guest_compiler(script, setup):
    command = ['riscv64-linux-gnu-gcc', '-g', '-O2', '-march=rv64gc',
               '-mabi=lp64d', '-mcmodel=medany', '-ffreestanding',
               '-nostdlib', '-static', '-fno-pic', '-no-pie', '-Wall', '-Werror',
               '-Wl,--build-id=none', '-Wl,--no-warn-rwx-segments',
               '-Wl,-T,' + os.path.join(HERE, script)]
    return command + setup


def plugin(directory):
    glib = subprocess.run(['pkg-config', '--cflags', '--libs', 'glib-2.0'],
                          stdout=subprocess.PIPE, text=True, check=True)
    return once(os.path.join(directory, 'libblocks.so'),
                ['gcc', '-O2', '-Wall', '-fPIC', '-shared',
                 '-fvisibility=hidden',
                 '-I' + os.path.join(BUILD, 'qemu-stock/include/qemu'),
                 os.path.join(HERE, 'plugin.c')] + glib.stdout.split())


@dataclass(frozen=True)
class Bare:
    """One of the programs of loops.c, with no other software."""
    name: str
    loop: int
    harts: int = 1

    def prepare(self):
        """Nothing that is not built on the way."""

    def arguments(self, directory, setup, percent):
        elf = f'loop{self.loop}-{self.harts}{"".join(setup)}-{percent}.elf'
        elf = once(os.path.join(directory, elf),
                   guest_compiler('loops.ld', setup) +
                   [f'-DLOOP={self.loop}', f'-DHARTS={self.harts}',
                    f'-DPERCENT={percent}', os.path.join(HERE, 'loops.c')])
        return ['-smp', str(self.harts), '-bios', 'none', '-kernel', elf,
                '-serial', 'none']

    def succeeded(self, directory):
        """QEMU's exit status says it."""
        return True


@dataclass(frozen=True)
class Linux:
    """The demo's Linux, from reset to power off; with part of the work, only
    that."""
    name: str
    harts: int = 1

    def prepare(self):
        demo = os.path.join(os.path.dirname(HERE), 'demo/make-guest')
        if subprocess.run([demo], check=False).returncode:
            sys.exit(1)

    def arguments(self, directory, setup, percent):
        opensbi = os.path.join(GUEST, 'fw_dynamic.bin')
        firmware = once(os.path.join(directory, f'firmware{"".join(setup)}.elf'),
                        guest_compiler('firmware.ld', setup) +
                        [f'-DOPENSBI="{opensbi}"',
                         os.path.join(HERE, 'firmware.S')])
        disk = os.path.join(GUEST, 'disk')
        work = 1 if percent == 100 else 0
        return ['-smp', str(self.harts), '-m', '512M', '-bios', firmware,
                '-kernel', os.path.join(GUEST, 'Image'),
                '-initrd', os.path.join(GUEST, 'initrd'),
                '-drive',
                f'file={disk},format=raw,readonly=on,if=none,id=disk',
                '-device', 'virtio-blk-pci,drive=disk', '-no-reboot',
                '-serial', 'file:' + os.path.join(directory, 'console'),
                '-append', f'console=ttyS0 panic=-1 rvtrace.work={work}']

    def succeeded(self, directory):
        with open(os.path.join(directory, 'console'), 'rb') as console:
            return b'rvtrace: finished, status 0,' in console.read()


WORKLOADS = (
    Bare('calls and branches', 0),
    Bare('tight loop', 1),
    Bare('indirect calls', 2),
    Bare('interpreter', 3),
    Bare('4 harts, calls and branches', 0, harts=4),
    Linux('Linux boot and work'),
)
