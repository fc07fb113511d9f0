# SPDX-License-Identifier: GPL-2.0-or-later
"""The rows of the table: the machines that are measured."""

import os
from dataclasses import dataclass, field

TOP = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
BUILD = os.environ.get('RVTRACE_BUILD', os.path.join(TOP, 'build'))
OURS = os.environ.get('QEMU', os.path.join(BUILD, 'qemu-system-riscv64'))
STOCK = os.environ.get(
    'QEMU_STOCK', os.path.join(BUILD, 'stock', 'qemu-system-riscv64'))

CTR = ',smctr=on,ssctr=on'
IDLE = 0
RECORDING = 7               # mctrctl.M, .S and .U
NTBREN = RECORDING | 1 << 36
ICOUNT = ['-icount', 'shift=0,sleep=off']
BASELINE = ',trace=on,trace-autostart=on,trace-modes=baseline'
TRACE = BASELINE + ',trace-chardev=tr'


@dataclass(frozen=True)
class Variant:
    """One row. In options, {dir} is the folder of temporary files."""
    name: str
    over: str = None        # the row that the ratios are over
    binary: str = OURS
    cpu: str = ''           # behind -cpu rv64,...
    mctrctl: int = None     # what software writes to it before all else
    filtered: bool = False  # it has each encoder filter by privilege
    machine: str = ''       # behind -M virt
    options: list = field(default_factory=list)
    readers: tuple = ()     # chardevs: sockets of which the bytes are read
    slow: bool = False      # measured once, with a tenth of the work

    def setup(self):
        """What software does first, for the compiler"""
        mctrctl = [] if self.mctrctl is None else \
            [f'-DMCTRCTL={self.mctrctl:#x}']
        return mctrctl + ['-DFILTERED'] * self.filtered


def encoder(**properties):
    """Options that set properties of the encoders"""
    return [option for name, value in properties.items()
            for option in ('-global', 'riscv-trace-encoder.'
                           f'{name.replace("_", "-")}={value}')]


RAM = BASELINE
RAM_ALL = ',trace=on,trace-autostart=on,trace-modes=all'

# "absent" is the machine with CTR absent and trace off
VARIANTS = (
    Variant('absent'),
    Variant('CTR idle', 'absent', cpu=CTR, mctrctl=IDLE),
    Variant('CTR', 'absent', cpu=CTR, mctrctl=RECORDING),
    Variant('CTR, NTBREN', 'absent', cpu=CTR, mctrctl=NTBREN),
    Variant('ctr-host', 'absent', cpu=',ctr-host=4096'),
    Variant('icount', options=ICOUNT),
    Variant('icount, CTR, cycles', 'icount', cpu=CTR, mctrctl=RECORDING,
            options=ICOUNT),
    Variant('stock', binary=STOCK),
    Variant('stock, CTR idle', 'stock', STOCK, cpu=CTR, mctrctl=IDLE),
    Variant('stock, CTR', 'stock', STOCK, cpu=CTR, mctrctl=RECORDING),

    Variant('trace to RAM sink', 'absent', machine=RAM),
    Variant('... all modes', 'absent', machine=RAM_ALL),
    Variant('... a filter', 'absent', machine=RAM, filtered=True),
    Variant('... nothing qualified', 'absent', machine=RAM,
            options=encoder(filter='priv=VU')),
    Variant('... a filter by address', 'absent', machine=RAM,
            options=encoder(filter='pc=0x80000000-0xffffffffffffffff')),
    Variant('... no address qualified', 'absent', machine=RAM,
            options=encoder(filter='pc=0x10000-0x10ffe')),
    Variant('... data trace', 'absent', machine=RAM,
            options=encoder(data_width=64, data='on')),
    Variant('... and CTR', 'absent', cpu=CTR, mctrctl=RECORDING, machine=RAM),
    Variant('trace to /dev/null', 'absent', machine=TRACE,
            options=['-chardev', 'file,path=/dev/null,id=tr']),
    Variant('trace to sockets', 'absent', readers=('tr', 'sb'),
            machine=TRACE + ',trace-sideband=sb'),

    Variant('plugin, inline counter', 'absent',
            options=['-plugin', '{dir}/libblocks.so,inline=on']),
    Variant('plugin, callback', 'absent',
            options=['-plugin', '{dir}/libblocks.so']),
    Variant('-d exec,nochain', 'absent', slow=True,
            options=['-d', 'exec,nochain', '-D', '/dev/null']),
)
