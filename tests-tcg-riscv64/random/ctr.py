# SPDX-License-Identifier: GPL-2.0-or-later
#
# A model of Smctr/Ssctr 1.0 that goes by what retired (history.c), and the
# comparison with what the guest copied from the hart. The rules are those of
# ../ctr-random/model.c, where each has its place in the specification.

import struct

U, S, M, VU, VS = 0, 1, 3, 4, 5

(EXCEPTION, INTERRUPT, TRAP_RETURN, NOT_TAKEN, TAKEN) = 1, 2, 3, 4, 5
(INDIRECT_CALL, DIRECT_CALL, INDIRECT_JUMP, DIRECT_JUMP, SWAP, RETURN,
 OTHER_INDIRECT, OTHER_DIRECT) = 8, 9, 10, 11, 12, 13, 14, 15

CTL_U, CTL_S, CTL_M, RASEMU, STE, MTE, BPFRZ = (
    1, 2, 4, 1 << 7, 1 << 8, 1 << 9, 1 << 11)
LCOFIFRZ = 1 << 12
NTBREN = 1 << 36
INHIBIT = {EXCEPTION: 33, INTERRUPT: 34, TRAP_RETURN: 35, TAKEN: 37,
           INDIRECT_CALL: 40, DIRECT_CALL: 41, INDIRECT_JUMP: 42,
           DIRECT_JUMP: 43, SWAP: 44, RETURN: 45, OTHER_INDIRECT: 46,
           OTHER_DIRECT: 47}
FILTERS = sum(1 << bit for bit in INHIBIT.values()) | NTBREN
VSCTRCTL_FIELDS = CTL_U | CTL_S | RASEMU | STE | BPFRZ | LCOFIFRZ | FILTERS
MCTRCTL_FIELDS = VSCTRCTL_FIELDS | CTL_M | MTE
FROZEN = 1 << 31
BREAKPOINT, LCOFI = 3, 13

MCTRCTL, SCTRCTL, VSCTRCTL, SCTRSTATUS, SCTRDEPTH = (
    0x34e, 0x14e, 0x24e, 0x14f, 0x15f)


def is_link(reg):
    return reg in (1, 5)


def jalr_type(rd, rs):
    if rd + rs == 6 and is_link(rd) and is_link(rs):
        return SWAP
    if is_link(rd):
        return INDIRECT_CALL
    if is_link(rs):
        return RETURN
    return INDIRECT_JUMP if rd == 0 else OTHER_INDIRECT


def kind_of(code, length):
    """'branch', a type of jump, TRAP_RETURN or None"""
    if length == 2:
        code &= 0xffff
        top, low = code >> 13, code & 3
        if low == 1 and top == 5:
            return DIRECT_JUMP
        if low == 1 and top >= 6:
            return 'branch'
        if low == 2 and top == 4 and code & 0x7c == 0 and code >> 7 & 31:
            return jalr_type(code >> 12 & 1, code >> 7 & 31)
        if low == 2 and top == 5:
            if code & 0x1c00 == 0:                      # cm.jt, cm.jalt
                return DIRECT_JUMP if code >> 2 & 255 < 32 else DIRECT_CALL
            if code & 0xff03 in (0xbe02, 0xbc02):       # cm.popret, popretz
                return RETURN
        return None
    opcode, rd = code & 0x7f, code >> 7 & 31
    if opcode == 0x63:
        return 'branch'
    if opcode == 0x6f:
        return (DIRECT_CALL if is_link(rd) else
                DIRECT_JUMP if rd == 0 else OTHER_DIRECT)
    if opcode == 0x67:
        return jalr_type(rd, code >> 15 & 31)
    return TRAP_RETURN if code in (0x30200073, 0x10200073) else None


def virtual(mode):
    return mode in (VU, VS)


class Model:
    def __init__(self):
        self.mctrctl = self.vsctrctl = self.wrptr = 0
        self.frozen = False
        self.depth = 16
        self.clear()

    def clear(self):
        self.entries = [(0, 0, 0)] * 256

    def enabled(self, mode):
        ctl = self.vsctrctl if virtual(mode) else self.mctrctl
        return bool(ctl & {U: CTL_U, S: CTL_S, M: CTL_M, VU: CTL_U,
                           VS: CTL_S}[mode])

    def external(self, source, target):
        """Of traps from a mode that is enabled to one that is not"""
        mte, ste = self.mctrctl & MTE, self.mctrctl & STE
        vste = self.vsctrctl & STE
        if source == U:
            return ste if target == S else mte and ste
        if source == S:
            return mte
        if source == VU:
            return (vste if target == VS else ste and vste if target == S
                    else mte and ste and vste)
        return ste if target == S else mte and ste

    def record(self, source, target, kind):
        self.entries[self.wrptr] = (source | 1, target, kind)
        self.wrptr = (self.wrptr + 1) % self.depth

    def transfer(self, kind, source, before, target, after, cause=None):
        ctl = (self.vsctrctl if virtual(before) or virtual(after)
               else self.mctrctl)
        trap = kind in (EXCEPTION, INTERRUPT)
        if trap:
            freeze = self.vsctrctl if after == VS else self.mctrctl
            if (kind == EXCEPTION and cause == BREAKPOINT and freeze & BPFRZ or
                    kind == INTERRUPT and cause == LCOFI and
                    freeze & LCOFIFRZ):
                self.frozen = True
                return
        enabled, enabled_after = self.enabled(before), self.enabled(after)
        if (self.frozen or not enabled and not enabled_after or
                kind == TRAP_RETURN and not enabled):
            return
        if ctl & RASEMU:
            self.emulate(kind, source, target)
            return
        if trap and not enabled_after:
            if self.external(before, after):
                self.record(source, 0, kind)
            return
        if kind == NOT_TAKEN:
            if not ctl & NTBREN:
                return
        elif ctl >> INHIBIT[kind] & 1:
            return
        if trap and not enabled:
            source = 0
        if kind == TRAP_RETURN and not enabled_after:
            target = 0
        self.record(source, target, kind)

    def emulate(self, kind, source, target):
        """RASEMU: calls push, returns pop"""
        top = (self.wrptr - 1) % self.depth
        if kind in (INDIRECT_CALL, DIRECT_CALL):
            self.record(source, target, kind)
        elif kind == RETURN:
            self.wrptr = top
            source, target, kind = self.entries[top]
            self.entries[top] = (source & ~1, target, kind)
        elif kind == SWAP:
            self.entries[top] = (source | 1, target, kind)

    def write(self, csr, value, mode):
        if csr == SCTRCTL and virtual(mode) or csr == VSCTRCTL:
            self.vsctrctl = value & VSCTRCTL_FIELDS
        elif csr == MCTRCTL:
            self.mctrctl = value & MCTRCTL_FIELDS
        elif csr == SCTRCTL:
            hidden = CTL_M | MTE
            self.mctrctl = (self.mctrctl & hidden |
                            value & MCTRCTL_FIELDS & ~hidden)
        elif csr == SCTRSTATUS:
            self.wrptr = value & (self.depth - 1)
            self.frozen = bool(value & FROZEN)
        else:
            self.depth = 16 << value

    def snapshot(self, has_h):
        words = [self.mctrctl, self.mctrctl & ~(CTL_M | MTE),
                 self.vsctrctl if has_h else 0,
                 self.wrptr | FROZEN * self.frozen,
                 (16, 32, 64, 128, 256).index(self.depth)]
        for i in range(32):
            words += (self.entries[(self.wrptr - 1 - i) % self.depth]
                      if i < self.depth else (0, 0, 0))
        return words


class Labels:
    """What the program's labels say of instructions, wherever they run"""

    def __init__(self, names):
        self.writes, self.clears, self.dumps = {}, set(), {}
        for name, address in names.items():
            words = name.split('_')
            if name.startswith('ctr_write_'):
                self.writes[address] = int(words[2], 16), int(words[3], 16)
            elif name.startswith('ctr_clear_'):
                self.clears.add(address)
            elif name.startswith('ctr_dump_'):
                self.dumps[address] = int(words[2])
        self.dumped = names['ctr_dumped']

    def addresses(self):
        return {*self.writes, *self.clears, *self.dumps, self.dumped}


# What history.c writes of each control transfer, and of what has a label
TRANSFER = struct.Struct('<QQIBBBBBB6x')
PC, NEXT, CODE, LENGTH, MODE, IS_TRAP, BEFORE, MODE_AFTER, LABEL = range(9)
TRAP_FOLLOWS, NOTHING_FOLLOWS = 254, 255


def physical(pc):
    """Of the program, whatever window it is seen in; not of the boot ROM"""
    return (pc & 0x3fffffff) + 0x80000000 if pc >> 30 else pc


def with_traps_in_order(items, vectors):
    """
    A trap that hits another handler's first instruction is written down ahead
    of the one that led there: exchange them.
    """
    done = set()
    for i, item in enumerate(items):
        if not item[IS_TRAP]:
            yield item
            continue
        if i in done:
            continue
        chain = [i]
        while items[chain[-1]][PC] in vectors:
            vector = items[chain[-1]][PC]
            inner = next((k for k in range(chain[-1] + 1, len(items))
                          if items[k][IS_TRAP] and k not in done and
                          items[k][NEXT] == vector), None)
            if inner is None:
                break
            chain.append(inner)
        done.update(chain)
        for k in reversed(chain):
            yield items[k]


def snapshots(items, labels, vectors, has_h):
    """What each copy must hold: the last one of each place"""
    model, found, place = Model(), {}, None
    ordered = list(with_traps_in_order(items, vectors))
    ordered.append(None)
    for i, item in enumerate(ordered[:-1]):
        (pc, target, code, length, mode, is_trap, before, mode_after,
         label) = item
        if mode_after == NOTHING_FOLLOWS:
            break
        if is_trap:
            model.transfer(INTERRUPT if length else EXCEPTION, pc, before,
                           target, mode, code)
            continue
        if label:
            where = physical(pc)
            if where in labels.writes:
                model.write(*labels.writes[where], mode)
            elif where in labels.clears:
                model.clear()
            elif where in labels.dumps:
                place = labels.dumps[where]
            elif where == labels.dumped:
                found[place] = model.snapshot(has_h)
        kind = kind_of(code, length)
        if kind is None:
            continue
        if mode_after == TRAP_FOLLOWS:
            after = ordered[i + 1]
            target, mode_after = after[PC], after[BEFORE]
        if kind == 'branch':
            kind = NOT_TAKEN if target == pc + length else TAKEN
        model.transfer(kind, pc, mode, target, mode_after)
    return found


def check(transfers, names, vectors, hart, ram, has_h, need):
    """
    Compares; transfers: the name of history.c's file; need(condition, kind,
    text) as of run_case
    """
    with open(transfers, 'rb') as file:
        items = list(TRANSFER.iter_unpack(file.read()))
    found = snapshots(items, Labels(names), vectors, has_h)
    need(found, 'ctr', f'hart {hart} copied nothing')
    base = names['hart_data'] - 0x80000000 + (hart << 15) + 0x1000
    fields = ['mctrctl', 'sctrctl', 'vsctrctl', 'sctrstatus', 'sctrdepth']
    fields += [f'{name} {i}' for i in range(32)
               for name in ('ctrsource', 'ctrtarget', 'ctrdata')]
    with open(ram, 'rb') as file:
        for place, wanted in found.items():
            file.seek(base + (place << 10))
            words = struct.unpack('<104Q', file.read(832))
            got = [*words[:5], *words[8:]]
            for i, (a, b) in enumerate(zip(got, wanted)):
                if fields[i].startswith('ctrdata'):
                    a &= 15                         # the type
                need(a == b, 'ctr', f'hart {hart}, copy {place}: {fields[i]} '
                     f'is {a:#x} instead of {b:#x}')
