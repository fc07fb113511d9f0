# SPDX-License-Identifier: GPL-2.0-or-later
#
# What has to be decoded: what retired, less what software has switched off.

FENCE_I = 0x100f
MUST, MAY, NOT = 1, 2, 3


# E-Trace's privilege of U, S, M, VU and VS (QEMU's number, and 4 for V=1)
PRIVILEGE = {0: 0, 1: 1, 3: 3, 4: 5, 5: 6}


class Software:
    """What the program's labels say of writes to trace registers"""

    def __init__(self, names):
        self.at = {}
        for name, address in names.items():
            words = name.split('_')
            if name.startswith(('trace_off_', 'trace_on_')):
                self.at[address] = ('on', words[1] == 'on')
            elif name.startswith('trace_filter_'):
                self.at[address] = ('mask', int(words[2]))


def physical(pc):
    """Of the program, whatever window it is seen in; not of the boot ROM"""
    return (pc & 0x3fffffff) + 0x80000000 if pc >> 30 else pc


def leads_elsewhere(item):
    """May the instruction be followed by another than the one behind it?"""
    code = item.code
    if item.length == 2:
        code &= 0xffff
        return (code & 3 == 1 and code >> 13 in (1, 5, 6, 7) or
                code & 3 == 2 and code >> 13 in (4, 5))
    return code & 0x7f in (0x63, 0x67, 0x6f) or code & 0x707f == 0x73


def expectation(items, names, tolerant=False):
    """
    [pc, MUST or MAY] of each instruction that has to be, or may be decoded:
    behind the write of a register up to the fence.i, it may be either way.
    The last instruction before a reset or the like may have trapped, which
    nothing tells if no handler has begun: so it may be decoded or not.
    """
    software = Software(names)
    state = {'on': True, 'mask': 0xff}
    settled = True
    out = []
    for i, item in enumerate(items):
        if item.cause is not None:
            continue
        what = software.at.get(physical(item.pc)) if software.at else None
        if what:
            state[what[0]] = what[1]
            settled = False
        after = items[i + 1] if i + 1 < len(items) else None
        broken = after and after.cause is None and not leads_elsewhere(
            item) and after.pc != item.pc + item.length
        if not settled or broken or after is None and tolerant:
            out.append((item.pc, MAY))
        elif state['on'] and state['mask'] >> PRIVILEGE[item.mode] & 1:
            out.append((item.pc, MUST))
        if item.code == FENCE_I:
            settled = True
    return out


def compare(decoded, wanted):
    """None, or what is different"""
    place = 0
    for k, (pc, how) in enumerate(wanted):
        if place < len(decoded) and decoded[place] == pc:
            place += 1
        elif how == MUST:
            return (f'{len(decoded)} decoded, {len(wanted)} expected; decoded '
                    f'{place}: {text(decoded, place)}, expected '
                    f'{text([pc for pc, _ in wanted], k)}')
    if place < len(decoded):
        return (f'{len(decoded) - place} decoded that did not retire: '
                f'{text(decoded, place)}')
    return None


def text(pcs, place):
    before = ' '.join(f'{pc:x}' for pc in pcs[max(place - 3, 0):place])
    return f'{before} >' + ' '.join(f'{pc:x}' for pc in pcs[place:place + 4])


RUN = 12        # instructions that tell a place


def pieces(decoded, retired, gaps):
    """
    Is decoded what retired with parts left out, at most so many? None, or
    what is wrong. Parts at both ends count, too.
    """
    where = {}
    for i, pc in enumerate(retired):
        where.setdefault(pc, []).append(i)
    place = at = holes = 0
    while place < len(decoded):
        if at < len(retired) and retired[at] == decoded[place]:
            at += 1
            place += 1
            continue
        holes += 1
        run = decoded[place:place + RUN]
        at = next((i for i in where.get(decoded[place], ())
                   if i >= at and retired[i:i + len(run)] == run), None)
        if at is None:
            return f'decoded {place} did not retire: {text(decoded, place)}'
    holes += at < len(retired)
    if holes > gaps:
        return f'{holes} gaps, of which {gaps} are told'
    return None
