# SPDX-License-Identifier: GPL-2.0-or-later
#
# What may be decoded where not all that retired has to be; and the
# program's labels as labels.c reads them, to compare the rest.


def label_lines(names):
    """Of writes to trace and CTR registers: lines as labels.c reads them"""
    for name, address in names.items():
        words = name.split('_')
        if name.startswith(('trace_off_', 'trace_on_')):
            yield f'{address:x} {words[1]}'
        elif name.startswith('trace_filter_'):
            yield f'{address:x} mask {int(words[2]):x}'
        elif name.startswith('trace_range_'):
            first, last, window = (int(word) for word in words[2:5])
            low, high = (names[f'function_{k}'] + ((window - 2) << 30)
                         for k in (first, last))
            yield f'{address:x} range {low:x} {high:x}'
        elif name.startswith('context_'):
            yield f'{address:x} {words[1]} {words[2]}'
        elif name.startswith('other_hgatp_'):
            yield f'{address:x} other-hgatp {words[2]}'
        elif name.startswith('ctr_write_'):
            yield f'{address:x} ctr-write {words[2]} {words[3]}'
        elif name.startswith('ctr_clear_'):
            yield f'{address:x} ctr-clear'
        elif name.startswith('ctr_dump_'):
            yield f'{address:x} ctr-dump {int(words[2]):x}'
        elif name == 'ctr_dumped':
            yield f'{address:x} ctr-dumped'


def filter_terms(terms, names, privileges):
    """
    The encoder's property and lines as filter.c reads them, of a case's terms.
    names: addresses of the program; privileges: the numbers of E-Trace
    """
    places = sorted(names.values())
    places = [at for at in places if 0x80000000 <= at < 0x80200000]
    words, lines = [], []
    for key, *values in terms:
        if key == 'priv':
            words.append(f'priv={values[0]}')
            mask = sum(1 << privileges[level]
                       for level in values[0].split('+'))
            lines.append(f'mask {mask:x}')
        elif key == 'context':
            words.append(f'context={values[0]}')
            lines.append(f'context {values[0]:x}')
        else:
            low, high = (places[int(part * len(places))] +
                         ((values[2] - 2) << 30) for part in values[:2])
            words.append(f'pc={low:#x}-{high:#x}')
            lines.append(f'range {low:x} {high:x}')
    return ';'.join(words), lines


def text(pcs, place):
    before = ' '.join(f'{pc:x}' for pc in pcs[max(place - 3, 0):place])
    return f'{before} >' + ' '.join(f'{pc:x}' for pc in pcs[place:place + 4])


RUN = 12        # instructions that identify a place


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
        return f'{holes} gaps, of which {gaps} are reported'
    return None
