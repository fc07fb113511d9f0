#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The proof that the tests bite: what a QEMU without the series gets wrong.
#
#   QEMU=$QEMU_STOCK \
#       CTR_WITHOUT="ctr-cycle-count ctr-min-depth ctr-max-depth ctr-host" \
#       ./run.sh | ./stock-results.py > stock-results.md
#
# Each failed test must belong to a known defect, and each known defect must
# make a test fail.

import re
import sys

# number, the rule, the tests (program: name) that are about it
DEFECTS = [
    ('B1', 'mstateen0.CTR and hstateen0.CTR gate sireg* and vsireg*',
     r'access: 5 (sireg\d? from (S|VS)|vsireg\d? from S|sireg\* of every)'),
    ('B2', 'an external trap from VS does not need vsctrctl.STE',
     r'modes.*: 6\.1\.2 (Table 8: external trap VS to|an enabled)'),
    ('B3', '6.1.1: filters and RASEMU of vsctrctl on traps from V=1',
     r'virt.*: 6\.1\.1 '),
    ('B4', 'Smstateen: bit 60 without smcsrind=on',
     r'deps(-ssctr|@both): 5 '),
    ('B5', 'Smctr alone: the S-level state, mstateen0.CTR',
     r'deps@smctr: 5 '),
    ('B6', 'RV32: bits 60 of mstateen0h; writes of the low half',
     r'rv32: 5 '),
    ('B7', 'NMIs and mnret are traps and trap returns',
     r'nmi.*: '),
    ('B8', 'cycle counting', r'(cycles|cycle-rate-.*): |'
     r'migrate.*cycle counter (goes|that stands)'),
    ('B9', 'unimplemented fields of entries are read-only 0',
     r'csr.*: (3\.[23]|2\.4 sctrdepth: entries that become) '),
    ('B10', 'no vsctrctl without H', r'no-h: '),
    ('B11', 'xtval of SCTRCLR', r'buffer.*: .*xtval is its opcode'),
    ('B12', 'entries are zero-extended when XLEN < MXLEN', r'uxl32.*: '),
    ('B13', 'freeze follows the cause of the trap that is taken',
     r'dbltrp.*: 6\.5 '),
    ('B14', 'incoming migration is validated',
     r'migrate.*: migration: an incoming (sctrdepth (that is|beyond)|'
     r'(m|vs)ctrctl)'),
    ('B15', 'reset', r'reset(-qmp)?: '),
    ('B16', 'new: with mstateen0[60]=0 accesses from VS and VU are illegal, '
     'not virtual, instructions (Sscsrind)',
     r'access: 5 v?si(select|reg\d?) from V[SU] '),
    ('B17', 'new: bit 13 of mie, sie and hvien is not writable, so no LCOFI '
     'is ever taken', r'freeze: 6\.5 (virtual )?LCOFI '),
    ('B18', 'new: with Smstateen gdb sees no CSR of CTR; no monitor command',
     r'(gdb|replay|reset-qmp).*: '),
    ('-', 'not a defect: the property, or the layout of the stream, is ours',
     r'depth-limits: |migrate.*: (all its|migration: an incoming)'),
]


def main():
    tests = [(m[1] == 'ok', m[2]) for m in
             re.finditer(r'^(ok|not ok) \d+ - (.*)$', sys.stdin.read(), re.M)]
    failed = [name for ok, name in tests if not ok]
    # in parts, or checkpatch reads it as this file's own
    print('<!--')
    print('SPDX-License-' + 'Identifier: GPL-2.0-or-later')
    print('-->')
    print('# What stock QEMU 10.0.13 says to these tests\n')
    print('Made by `stock-results.py` from a run; how: see there. '
          f'{len(tests)} tests, {len(tests) - len(failed)} passed, '
          f'{len(failed)} failed.\n')
    print('| # | rule | failed | passed |')
    print('|---|---|---|---|')
    rest = failed
    bitten = {}
    unproven = False
    for number, rule, pattern in DEFECTS:
        bad = [name for name in rest if re.match(pattern, name)]
        good = [name for ok, name in tests if ok and re.match(pattern, name)]
        rest = [name for name in rest if name not in bad]
        bitten[number] = bad
        unproven |= not bad and number != '-'
        print(f'| {number} | {rule} | {len(bad)} | {len(good)} |')
    print('\n"passed": tests of the same group that stock passes, such as '
          '"is not\nrecorded" where nothing is.\n\n## The tests that fail')
    for number, rule, _ in DEFECTS:
        print(f'\n{number}: {rule}\n')
        for name in bitten[number]:
            print(f'- {name}')
    if rest:
        print('\nWithout a number:\n')
        for name in rest:
            print(f'- {name}')
    sys.exit(bool(rest) or unproven)


main()
