// SPDX-License-Identifier: GPL-2.0-or-later

/* Hottest functions */

const COLUMNS = [
    ['Function', f => f.name, 'left'], ['Object', f => f.object, 'left'],
    ['Mode', f => f.mode, 'left'], ['Own', f => f.own, 'share'],
    ['%', f => f.own], ['Total', f => f.total, 'share'],
    ['%', f => f.total], ['Calls', f => f.calls],
];
const functions = data.frames.map((f, frame) => ({
    frame, name: f[0], mode: KINDS[f[1]][0], own: f[3], total: f[4],
    calls: f[5], object: f[2] >= 0 ? data.objects[f[2]] : '',
}));
/* Those that can be in the table */
const listed = functions.slice(0, data.functions);
let sortBy = 3, descending = true, limit = 50, related = -1;

/* What each function has of what is chosen; once for recursive calls */
function measureFunctions() {
    const whole = allChosen(), inside = new Uint32Array(functions.length);
    const path = [];
    functions.forEach((f, i) => {
        f.own = whole ? data.frames[i][3] : 0;
        f.total = whole ? data.frames[i][4] : 0;
        f.calls = whole ? data.frames[i][5] : -1;
    });
    if (whole) {
        return;
    }
    for (const node of nodes) {
        while (path.length > node.level) {
            const left = path.pop();
            inside[left.frame] -= left.frame >= 0 ? 1 : 0;
        }
        path.push(node);
        if (node.frame >= 0) {
            const f = functions[node.frame];
            f.own += node.self;
            f.total += inside[node.frame] ? 0 : node.total;
            inside[node.frame]++;
        }
    }
}

/* Is it of this hart, or of this thread? */
function isOf(row, node) {
    return row.names ? row.names.has(node.thread) :
        !there.has(HART) || node.hart === row.hart;
}

/* By bin, what functions a hart or a thread ran; made when it is asked for */
function functionBins(row) {
    if (row.functions) {
        return row.functions;
    }
    const sums = Array.from({ length: axis.nodeBins }, () => new Map());
    const busy = new Set(functions.filter(f => data.frames[f.frame][1] !==
        GROUP).sort((a, b) => data.frames[b.frame][3] -
                              data.frames[a.frame][3])
        .slice(0, 100).map(f => f.frame));
    for (const node of nodes) {
        if (!isOf(row, node)) {
            continue;
        }
        const thing = busy.has(node.frame) ? node.frame : OTHERS;
        node.own.bins.forEach((bin, i) => sums[bin].set(thing,
            (sums[bin].get(thing) || 0) + node.own.counts[i]));
    }
    row.functions = sums.map(bin => [...bin].map(([thing, n]) =>
        [thing, n, 0]).sort((a, b) => a[1] - b[1]));
    return row.functions;
}

/*
 * Who calls a function and what it calls, by instructions that ran there: of
 * recursive calls, the outermost one counts.
 */
function relations(frame) {
    const callers = new Map(), callees = new Map(), path = [];
    const add = (map, key, n) => map.set(key, (map.get(key) || 0) + n);
    let depth = 0;
    for (const node of nodes) {
        while (path.length > node.level) {
            depth -= path.pop().frame === frame;
        }
        if (node.total && node.frame === frame && !depth) {
            add(callers, node.parent.kind === GROUP ? -1 : node.parent.frame,
                node.total);
        }
        if (node.total && node.parent && node.parent.frame === frame &&
            (depth === 1 || node.frame !== frame)) {
            add(callees, node.frame, node.total);
        }
        path.push(node);
        depth += node.frame === frame;
    }
    const sorted = map => [...map].sort((a, b) => b[1] - a[1]);
    return [sorted(callers), sorted(callees)];
}

function relationList(title, list, all) {
    const box = make('div', 'relation'), table = make('table');
    const body = make('tbody');
    for (const [frame, n] of list.slice(0, 20)) {
        const tr = make('tr'), name = make('td', 'left');
        if (frame >= 0) {
            const link = make('button', 'link', functions[frame].name);
            link.type = 'button';
            link.addEventListener('click', () => chooseFunction(frame));
            name.append(link);
        } else {
            name.textContent = title === 'Callers' ? 'none: it is the first' :
                'others';
        }
        const share = make('td', 'share', group(n));
        share.style.setProperty('--w', percent(n, all));
        tr.append(name, share, make('td', '', percent(n, all)));
        body.append(tr);
    }
    table.append(body);
    box.append(make('h3', '', title + (list.length > 20 ?
        `, 20 of ${list.length}` : '')), list.length ? table :
        make('p', 'hint', 'none'));
    return box;
}

function showRelations() {
    const box = byId('relations'), f = functions[related];
    box.hidden = related < 0;
    if (!f) {
        return;
    }
    const [callers, callees] = relations(related), bar = make('div', 'bar');
    const all = callers.reduce((sum, [, n]) => sum + n, 0);
    const title = make('h3', '', f.name + (f.object ? ' in ' + f.object : ''));
    const button = (text, act, disabled) => {
        const b = make('button', '', text);
        b.type = 'button';
        b.disabled = disabled;
        b.addEventListener('click', act);
        return b;
    };
    bar.append(title, make('span', 'grow'),
        button('Show in call stacks', () => {
            searchFor(f.name);
            byId('flame').scrollIntoView();
        }, false),
        button('Code', () => openCode(f.frame), !codeOf(f.frame)),
        button('Close', () => {
            related = -1;
            showRelations();
            showLink();
        }, false));
    const lists = make('div', 'relations');
    lists.append(relationList('Callers', callers, all),
                 relationList('Callees', callees, all));
    box.replaceChildren(bar, make('p', 'hint',
        `${group(f.own)} own, ${group(f.total)} with what it calls` +
        (f.calls >= 0 ? `, ${group(f.calls)} calls` : '') +
        (all < f.total ? `; ${percent(f.total - all, f.total)} of it ran in ` +
         'stacks that are folded, and is not below' : '')), lists);
}

/* Show who calls it, and what it calls. */
function chooseFunction(frame) {
    related = frame;
    showRelations();
    showLink();
    byId('hot').scrollIntoView({ block: 'start' });
    byId('relations').focus({ preventScroll: true });
}

function searchFor(name) {
    search.value = '^' + name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&') + '$';
    find(search.value);
}

function cells(f) {
    return [f.name, f.object, f.mode, group(f.own),
            percent(f.own, full.total), group(f.total),
            percent(f.total, full.total),
            f.calls < 0 ? '\u2013' : group(f.calls)];
}

function showFunctions() {
    const text = byId('filter').value.toLowerCase();
    const get = COLUMNS[sortBy][1], sign = descending ? -1 : 1;
    const list = listed.filter(f => (f.total || allChosen()) && (!text ||
        (f.name + ' ' + f.object).toLowerCase().includes(text)))
        .sort((a, b) => sign * (get(a) < get(b) ? -1 : get(a) > get(b)));
    const most = COLUMNS.map(([, value]) =>
        listed.reduce((a, f) => Math.max(a, value(f)), 0));
    const rows = list.slice(0, limit).map(f => {
        const tr = make('tr');
        cells(f).forEach((value, i) => {
            const td = make('td', COLUMNS[i][2] || '');
            if (i === 0) {
                const link = make('button', 'link', value);
                link.type = 'button';
                link.title = 'Callers and callees of ' + value;
                link.addEventListener('click', () => {
                    searchFor(f.name);
                    chooseFunction(f.frame);
                });
                td.append(link);
            } else {
                td.textContent = value;
            }
            if (COLUMNS[i][2] === 'share') {
                td.style.setProperty('--w',
                    percent(COLUMNS[i][1](f), most[i]));
            }
            tr.append(td);
        });
        return tr;
    });
    byId('functions').tBodies[0].replaceChildren(...rows);
    const missing = full.total - nodes.reduce((sum, node) => sum +
        (isFunction(node) ? node.self : 0), 0);
    byId('filtered').textContent = `${group(list.length)} of ` +
        `${group(data.allFunctions)} functions` + (allChosen() || !missing ?
        '' : `; ${percent(missing, full.total)} ran in stacks that are ` +
        'folded, and is not here');
    byId('more').hidden = list.length <= limit;
    document.querySelectorAll('#functions th').forEach((th, i) => {
        th.setAttribute('aria-sort', i !== sortBy ? 'none' :
            descending ? 'descending' : 'ascending');
    });
}

function showFunctionTable() {
    const tr = make('tr');
    COLUMNS.forEach(([name, , side], i) => {
        const th = make('th', side === 'left' ? 'left' : '');
        const button = make('button', '', name);
        button.type = 'button';
        button.addEventListener('click', () => {
            descending = sortBy === i ? !descending : i > 2;
            sortBy = i;
            showFunctions();
        });
        th.append(button);
        tr.append(th);
    });
    byId('functions').tHead.append(tr);
    byId('filter').addEventListener('input', showFunctions);
    byId('more').addEventListener('click', () => {
        limit += 200;
        showFunctions();
    });
    followers.push(measureFunctions, showFunctions, showRelations);
    showFunctions();
}
