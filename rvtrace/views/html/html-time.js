// SPDX-License-Identifier: GPL-2.0-or-later

/* Who ran when */

const axis = data.axis, timed = axis.unit === 'ns';
const binWidth = axis.width * axis.per;
const NOBODY = -1, OTHERS = -2;
const PALETTE = ['#4e79a7', '#f28e2b', '#59a14f', '#e15759', '#76b7b2',
    '#edc948', '#b07aa1', '#ff9da7', '#9c755f', '#1f9ed1', '#86bc25',
    '#d3538f', '#7a5bd1', '#c49c3c', '#2a9d8f', '#e76f51', '#5f7f3a', '#b9a5e0',
    '#3b6fd4', '#a8d36b'];
const NOTES = ['lost', 'begin', 'end', 'mark', 'reset'];
const lanes = byId('lanes'), range = byId('range'), tip = byId('tip');
/* What is drawn of the axis */
const seen = { from: axis.from, to: Math.max(axis.to, axis.from + 1) };
const harts = data.harts.map(readHart);
let colours = new Map(), byFunction = false, cursor = null, drag = null;
const threads = listThreads();
/* What there is a row of: harts, or threads */
let rows = harts;

/* Each bin's [thing, instructions, ns], the largest one last */
function readHart(hart) {
    const tasks = new Reader(hart.tasks), traps = new Reader(hart.traps);
    const times = hart.times ? new Reader(hart.times) : null;
    const bins = Array.from({ length: axis.bins }, () => []), totals = [];
    for (const task of [NOBODY, OTHERS, ...data.tasks.keys()]) {
        const insns = tasks.counts(), ns = times ? times.counts() : null;
        const here = new Map();
        insns.bins.forEach((bin, i) => here.set(bin, [task, insns.counts[i],
                                                      0]));
        ns && ns.bins.forEach((bin, i) => {
            here.set(bin, here.get(bin) || [task, 0, 0]);
            here.get(bin)[2] = ns.counts[i];
        });
        here.forEach((share, bin) => bins[bin].push(share));
        totals.push([task, insns]);
    }
    bins.forEach(bin => bin.sort((a, b) => a[2] - b[2] || a[1] - b[1]));
    return { ...hart, bins, totals: new Map(totals), timed: !!times, tall: 46,
             label: 'hart ' + hart.hart,
             traps: data.traps.map(() => traps.counts()), functions: null };
}

function taskName(i) {
    if (i < 0) {
        return i === NOBODY ? (data.tasks.length ? 'no task' : 'instructions')
            : 'others';
    }
    const [name, process, thread, known] = data.tasks[i];
    return !known ? name : isIdle(i) ? `${name} (idle)` :
        process === thread ? `${name} (${process})` :
        `${name} (${process}/${thread})`;
}

function isIdle(task) {
    // the first one, which boots Linux, becomes one of those: swapper/0
    return !byFunction && task >= 0 && data.tasks[task][3] &&
        data.tasks[task][2] === 0 && data.tasks[task][0].includes('/');
}

function nameOf(thing) {
    return !byFunction ? taskName(thing) : thing >= 0 ?
        data.frames[thing][0] : 'other functions';
}

function colourOf(thing) {
    return thing === OTHERS ? '#9aa2ac' : thing < 0 || isIdle(thing) ?
        getComputedStyle(lanes).getPropertyValue('--idle') :
        colours.get(thing) || '#9aa2ac';
}

/* Where a place of the axis is, in words */
function place(at) {
    if (!timed) {
        return group(at);
    }
    for (const [size, unit] of [[1e9, 's'], [1e6, 'ms'], [1e3, '\u00b5s']]) {
        if (at >= size) {
            return (at / size).toFixed(4) + ' ' + unit;
        }
    }
    return Math.round(at) + ' ns';
}

function long(length) {
    if (!timed) {
        return short(length) + ' instructions';
    }
    for (const [size, unit] of [[1e9, 's'], [1e6, 'ms'], [1e3, '\u00b5s']]) {
        if (length >= size) {
            return (length / size).toPrecision(3) + ' ' + unit;
        }
    }
    return Math.round(length) + ' ns';
}

function shares(row) {
    return byFunction ? functionBins(row) : row.bins;
}

/* How wide a bin of what is drawn is */
function barWidth() {
    return byFunction ? binWidth : axis.width;
}

/*
 * Things that are next to each other get colours that are not: the busiest one
 * chooses first.
 */
function paint() {
    const sums = new Map(), near = new Map();
    const meet = (a, b, n) => {
        const others = near.get(a) || near.set(a, new Map()).get(a);
        others.set(b, (others.get(b) || 0) + n);
    };
    for (const hart of harts) {
        let before = [];
        for (const bin of shares(hart)) {
            const here = bin.slice(-6);
            for (const [thing, n] of bin) {
                sums.set(thing, (sums.get(thing) || 0) + n);
            }
            for (const [thing] of here) {
                for (const [other] of [...before, ...here]) {
                    if (other !== thing) {
                        meet(thing, other, 1);
                        meet(other, thing, 1);
                    }
                }
            }
            before = here;
        }
    }
    colours = new Map();
    const used = PALETTE.map(() => 0);
    for (const [thing] of [...sums].sort((a, b) => b[1] - a[1])) {
        if (thing < 0 || isIdle(thing)) {
            continue;
        }
        const cost = used.map(n => n * 0.01);
        (near.get(thing) || new Map()).forEach((n, other) => {
            const taken = PALETTE.indexOf(colours.get(other));
            cost[taken] += n;
        });
        const best = cost.indexOf(Math.min(...cost));
        used[best]++;
        colours.set(thing, PALETTE[best]);
    }
}

function x(at, width) {
    return (at - seen.from) / (seen.to - seen.from) * width;
}

function prepare(canvas, tall) {
    const ratio = window.devicePixelRatio || 1, width = canvas.clientWidth;
    canvas.width = width * ratio;
    canvas.height = tall * ratio;
    const c = canvas.getContext('2d');
    c.scale(ratio, ratio);
    return [c, width];
}

function drawRow(row) {
    const [c, width] = prepare(row.canvas, row.tall), wide = barWidth();
    const end = timed || row.names ? axis.to : row.insns, list = shares(row);
    const shades = new Map();
    list.forEach((bin, i) => {
        const from = Math.max(axis.start + i * wide, axis.from);
        const to = Math.min(axis.start + (i + 1) * wide, end);
        if (!bin.length || to <= seen.from || from >= seen.to) {
            return;
        }
        const by = row.timed && !byFunction ? 2 : 1;
        const all = bin.reduce((sum, share) => sum + share[by], 0);
        const most = by === 2 || row.names && !timed ?
            Math.max(to - from, all) : all;
        const left = Math.round(x(from, width));
        const right = Math.max(Math.round(x(to, width)), left + 1);
        let y = row.tall;
        for (let j = bin.length; j--;) {
            const tall = bin[j][by] / (most || 1) * row.tall;
            c.globalAlpha = faded(bin[j], row) ? 0.18 : 1;
            if (!shades.has(bin[j][0])) {
                shades.set(bin[j][0], colourOf(bin[j][0]));
            }
            c.fillStyle = shades.get(bin[j][0]);
            c.fillRect(left, y - tall, right - left, tall);
            y -= tall;
        }
    });
    if (!row.names) {
        drawTraps(row);
    }
}

function isChosenTask(task) {
    return (chosen.task < 0 || chosen.task === task) &&
        (chosen.thread < 0 || threads[chosen.thread].tasks.has(task));
}

/* Is a share of a bin none of what is chosen? */
function faded(share, row) {
    const [thing, , , where = row.hart] = share;
    return chosen.hart >= 0 && where !== undefined && where !== chosen.hart ||
        row.names && chosen.thread >= 0 && threads[chosen.thread] !== row ||
        !byFunction && !isChosenTask(thing);
}

function drawTraps(hart) {
    const [c, width] = prepare(hart.trapCanvas, 5);
    const sums = new Float64Array(axis.bins);
    hart.traps.forEach(({ bins, counts }) => bins.forEach((bin, i) => {
        sums[bin] += counts[i];
    }));
    const most = sums.reduce((a, b) => Math.max(a, b), 1);
    sums.forEach((n, i) => {
        const from = x(axis.start + i * axis.width, width);
        const to = x(axis.start + (i + 1) * axis.width, width);
        if (n && to > 0 && from < width) {
            c.fillStyle = `rgba(208, 52, 76, ${0.15 + 0.85 *
                Math.sqrt(n / most)})`;
            c.fillRect(Math.floor(from), 0,
                       Math.max(Math.ceil(to) - Math.floor(from), 1), 5);
        }
    });
}

/* Steps of 1, 2 or 5 that look good on an axis */
function drawAxis() {
    const box = byId('axis'), width = box.clientWidth;
    const rough = (seen.to - seen.from) / Math.max(width / 130, 2);
    const unit = 10 ** Math.floor(Math.log10(rough));
    const step = Math.max([1, 2, 5, 10].find(n => n * unit >= rough) * unit,
                          1);
    box.replaceChildren();
    const [size, name] = !timed ? [1, ''] : [[1e9, ' s'], [1e6, ' ms'],
        [1e3, ' \u00b5s'], [1, ' ns']].find(([n]) => seen.to >= n) || [1, ''];
    const digits = Math.max(0, Math.ceil(-Math.log10(step / size) - 1e-9));
    for (let i = Math.ceil(seen.from / step); i * step <= seen.to; i++) {
        const tick = make('span', '', timed ?
            (i * step / size).toFixed(digits) + name : short(i * step));
        const at = x(i * step, width);
        tick.style.left = at + 'px';
        tick.className = at < 30 ? 'first' : at > width - 40 ? 'last' : '';
        box.append(tick);
    }
}

/*
 * Notes and losses, [from, to, kind, text, hart]. Each hart comes to a note of
 * the guest: the first hart's is shown.
 */
function listMarks() {
    const list = [], open = new Map(), shown = new Map();
    for (const hart of harts) {
        const own = new Map();
        for (const [at, kind, text] of hart.marks) {
            const key = kind + text, number = (own.get(key) || 0) + 1;
            own.set(key, number);
            if (kind && number <= (shown.get(key) || 0)) {
                continue;
            }
            shown.set(key, number);
            const mark = [at, at, kind, text, hart.hart];
            if (kind === 2 && (open.get(text) || []).length) {
                open.get(text).pop()[1] = at;
                continue;
            }
            if (kind === 1) {
                open.set(text, [...open.get(text) || [], mark]);
                mark[1] = axis.to;
            }
            list.push(mark);
        }
    }
    return list;
}

function drawMarks() {
    const lane = byId('marks');
    if (!lane) {
        return;
    }
    const width = lane.clientWidth;
    lane.replaceChildren();
    for (const [from, to, kind, text, hart] of listMarks()) {
        if (to < seen.from || from > seen.to) {
            continue;
        }
        const mark = make('button', 'mark is-' + NOTES[kind],
                          kind === 4 ? 'reset' : kind ? text : '');
        const left = Math.max(x(from, width), 0);
        mark.type = 'button';
        mark.tabIndex = -1;
        mark.style.left = left + 'px';
        if (kind === 1) {
            mark.style.width = Math.max(x(Math.min(to, seen.to), width) - left,
                                        3) + 'px';
        }
        mark.title = (kind ? `${NOTES[kind]} ${text}`.trim() :
                      'lost: ' + text) +
            ` (hart ${hart}, ${place(from)}` +
            (to > from ? ` \u2013 ${place(to)})` : ')');
        mark.addEventListener('click', () => chooseRange(from, to));
        lane.append(mark);
    }
}

function drawRange() {
    const box = byId('selected'), line = byId('cursor');
    const width = byId('axis').clientWidth, left = byId('axis').offsetLeft;
    const from = Math.max(x(axis.start + chosen.from * binWidth, width), 0);
    const to = Math.min(x(axis.start + chosen.to * binWidth, width), width);
    box.hidden = wholeRange() || to <= from;
    box.style.left = left + from + 'px';
    box.style.width = to - from + 'px';
    line.hidden = !cursor || x(cursor.at, width) < 0 ||
        x(cursor.at, width) > width;
    if (cursor) {
        line.style.left = left + x(cursor.at, width) + 'px';
    }
}

function wholeRange() {
    return chosen.from === 0 && chosen.to === axis.nodeBins;
}

function drawTime() {
    rows.forEach(drawRow);
    drawAxis();
    drawMarks();
    drawRange();
}
