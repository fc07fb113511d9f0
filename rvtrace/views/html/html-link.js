// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * What is chosen, in the address of the page: #from=5ns&to=9ns&function=main.
 * What such a link names is looked for, and never taken for anything else.
 */

/* Is the address that the page was opened with no longer needed? */
let followed = false;

function edge(bin) {
    return axis.start + bin * binWidth + (timed ? 'ns' : '');
}

function linkText() {
    const link = new URLSearchParams(), f = functions[related];
    if (!wholeRange()) {
        link.set('from', edge(chosen.from));
        link.set('to', edge(chosen.to));
    }
    if (chosen.hart >= 0) {
        link.set('hart', chosen.hart);
    }
    if (chosen.thread >= 0) {
        link.set('thread', threadKey([...threads[chosen.thread].tasks][0]));
    }
    if (chosen.task >= 0) {
        link.set('task', threadName(chosen.task));
    }
    if (rows !== harts !== beginsWithThreads()) {
        link.set('rows', rows === harts ? 'harts' : 'threads');
    }
    if (f) {
        link.set('function', f.name);
        link.set('object', f.object);
    }
    return link.toString();
}

function showLink() {
    if (!followed) {
        return;
    }
    const text = linkText();
    byId('link').hidden = !text;
    byId('link').href = '#' + text;
    if (text || location.hash.includes('=')) {
        history.replaceState(null, '', text ? '#' + text :
            location.href.split('#')[0]);
    }
}

/* Of "5ns", "1.5ms" or "5": a place of the axis, or NaN */
function placeOf(text) {
    const match = /^(\d{1,18}(?:\.\d{1,9})?)(ns|us|ms|s)?$/.exec(text || '');
    const size = { ns: 1, us: 1e3, ms: 1e6, s: 1e9 };
    return match && !!match[2] === timed ? match[1] * (size[match[2]] || 1) :
        NaN;
}

/* { from, to }, bins, if the link has a range that is here */
function rangeOf(link) {
    const from = placeOf(link.get('from')), to = placeOf(link.get('to'));
    return from < to && to > axis.from && from < axis.to ?
        { from: binAt(from), to: binAt(to - 1) + 1 } : null;
}

function followLink() {
    const link = new URLSearchParams(location.hash.slice(1)), missing = [];
    const find = (name, list, same) => {
        const i = link.has(name) ? list.findIndex(same) : -1;
        if (link.has(name) && i < 0) {
            missing.push(`${name} ${link.get(name)}`);
        }
        return i;
    };
    followed = true;
    if (!harts.length || !location.hash.includes('=')) {
        return;
    }
    const range = rangeOf(link);
    if (!range && (link.has('from') || link.has('to'))) {
        missing.push(`${link.get('from')} to ${link.get('to')}`);
    }
    const hart = find('hart', harts, h => String(h.hart) === link.get('hart'));
    const frame = find('function', functions, f => data.frames[f.frame][1] !==
        GROUP && f.name === link.get('function') &&
        f.object === (link.get('object') || ''));
    const task = find('task', data.tasks,
                      (_, i) => threadName(i) === link.get('task'));
    const thread = canHaveThreads() ? find('thread', threads, t =>
        threadKey([...t.tasks][0]) === link.get('thread')) : -1;
    related = frame;
    Object.assign(chosen, { from: 0, to: axis.nodeBins, ...range, task, thread,
                            hart: hart < 0 ? -1 : harts[hart].hart });
    chooseRows(canHaveThreads() && (link.has('rows') ?
        link.get('rows') === 'threads' : beginsWithThreads()));
    choose({});
    byId('not-here').hidden = !missing.length;
    byId('not-here').textContent = 'The link names what is not in this ' +
        `report: ${missing.join(', ')}.`;
    if (frame >= 0) {
        chooseFunction(frame);
    }
}
