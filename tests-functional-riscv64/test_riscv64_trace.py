#!/usr/bin/env python3
#
# A traced guest, from reset to the decoded list of its instructions
#
# SPDX-License-Identifier: GPL-2.0-or-later

import os
import struct
import subprocess
from shutil import which

from qemu_test import QemuSystemTest

RESET = 0x80000000
LOOPS = 1000

# 4 bytes each: a loop with a call in it, and how QEMU is ended
PROGRAM = (
    0x3e800513,     # 00:       li    a0, 1000
    0x01c000ef,     # 04: loop: jal   ra, called
    0xfff50513,     # 08:       addi  a0, a0, -1
    0xfe051ce3,     # 0c:       bnez  a0, loop
    0x001002b7,     # 10:       lui   t0, 0x100
    0x00005337,     # 14:       lui   t1, 5
    0x5553031b,     # 18:       addiw t1, t1, 0x555
    0x0062a023,     # 1c:       sw    t1, 0(t0)
    0x00008067,     # 20: called: ret
)


def retired():
    """The addresses of all instructions, in order"""
    yield 0x00
    for _ in range(LOOPS):
        yield from (0x04, 0x20, 0x08, 0x0c)
    yield from (0x10, 0x14, 0x18, 0x1c)


class Riscv64Trace(QemuSystemTest):

    timeout = 60

    def trace(self, *options):
        """The trace in the RAM sink and the sideband, as files"""
        program = self.scratch_file('program')
        trace = self.scratch_file('trace')
        sideband = self.scratch_file('sideband')
        with open(program, 'wb') as file:
            file.write(struct.pack(f'<{len(PROGRAM)}I', *PROGRAM))
        self.set_machine('virt')
        self.vm.add_args('-machine', 'trace=on,trace-sideband=side,'
                         'trace-autostart=on',
                         '-chardev', f'file,id=side,path={sideband}',
                         '-bios', 'none', '-S', '-no-shutdown', '-device',
                         f'loader,file={program},addr={RESET:#x}', *options)
        self.vm.launch()
        # not before QMP listens: the event would be lost
        self.vm.cmd('cont')
        self.vm.event_wait('SHUTDOWN', timeout=30.0)
        self.vm.cmd('x-riscv-trace-save', filename=trace)
        self.vm.shutdown()
        return trace, sideband

    def decode(self, trace, sideband):
        rvtrace = which('rvtrace')
        if not rvtrace:
            self.skipTest('rvtrace is not installed')
        done = subprocess.run(
            [rvtrace, 'decode', '--trace', trace, '--sideband', sideband,
             '--hart', '0', '--emit', 'pc'],
            check=True, capture_output=True, text=True)
        self.assertEqual(done.stderr, '')
        pcs = [int(line, 16) for line in done.stdout.split()]
        # QEMU's own code at reset is before the program
        pcs = pcs[pcs.index(RESET):]
        want = [RESET + pc for pc in retired()]
        # the hart may go on for a moment when it has ended the machine
        self.assertEqual(pcs[:len(want)], want)

    def test_default_modes(self):
        self.decode(*self.trace())

    def test_first_format(self):
        trace, sideband = self.trace(
            '-global', 'riscv-trace-encoder.wire-format=1.1.1')
        self.decode(trace, sideband)

    def test_without_decoder(self):
        trace, _ = self.trace()
        size = os.path.getsize(trace)
        # a loop takes next to nothing, but not nothing
        self.assertGreater(size, 16)
        self.assertLess(size, 4096)


if __name__ == '__main__':
    QemuSystemTest.main()
