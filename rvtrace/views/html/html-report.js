// SPDX-License-Identifier: GPL-2.0-or-later
const byId = id => document.getElementById(id);
const data = JSON.parse(byId('data').textContent);
const KINDS = [['group', 215, 6, 14], ['machine', 208, 16, 66],
    ['supervisor', 32, 18, 88], ['user', 110, 34, 48], ['guest', 278, 20, 54],
    ['trap', 350, 8, 66]];
const GROUP = 0, LAYERS = ['hart', 'name', 'process', 'thread', 'privilege'];
const NO_LAYER = 5, OTHERS = -1;

/* An element with a class and text, which is never taken as HTML */
function make(tag, className, text) {
    const e = document.createElement(tag);
    if (className) {
        e.className = className;
    }
    if (text !== undefined) {
        e.textContent = text;
    }
    return e;
}

function group(n) {
    return Math.round(n).toString().replace(/\B(?=(\d{3})+$)/g, ',');
}

function percent(n, all) {
    return (all ? n * 100 / all : 0).toFixed(2) + '%';
}

function short(n) {
    for (const [size, unit] of [[1e12, ' T'], [1e9, ' G'], [1e6, ' M'],
                                [1e3, ' k']]) {
        if (n >= size) {
            return (n / size).toFixed(n >= 10 * size ? 0 : 1) + unit;
        }
    }
    return String(n);
}

/* FNV-1a: the same name has the same colour in every report. */
function hash(name) {
    let h = 2166136261;
    for (let i = 0; i < name.length; i++) {
        h = Math.imul(h ^ name.charCodeAt(i), 16777619);
    }
    return (h ^ h >>> 15) >>> 0;
}

function colour(name, kind) {
    const [, hue, spread, saturation] = KINDS[kind], h = hash(name);
    return `hsl(${(hue - spread + h % (2 * spread + 1) + 360) % 360} ` +
        `${saturation}% calc(var(--light) + ${(h >>> 16) % 9 - 4}%))`;
}

function colourOfTask(i) {
    return i === -1 ? '#98a2ad' : i === OTHERS - 1 ? '#c9ced4' :
        `hsl(${(i * 137.5 + 205) % 360} 58% ${56 + (i % 3) * 7}%)`;
}

function setTheme(theme) {
    document.documentElement.dataset.theme = theme;
}

/* Summary and the trace */

function showSummary() {
    byId('title').textContent = data.title;
    for (const [label, value, note, mood] of data.facts) {
        const fact = make('div', 'fact' + ['', ' good', ' bad'][mood]);
        fact.append(make('span', '', label), make('b', '', value));
        if (note) {
            fact.append(make('small', '', note));
        }
        byId('summary').append(fact);
    }
    for (const section of document.querySelectorAll('main section[id]')) {
        const title = section.querySelector('h2');
        if (title && !section.hidden) {
            const link = make('a', '', title.textContent);
            link.href = '#' + section.id;
            byId('sections').append(link);
        }
    }
}

function showTables() {
    for (const table of data.tables) {
        const t = make('table'), [head, ...rows] = table.rows;
        const tr = make('tr'), body = make('tbody'), thead = make('thead');
        tr.append(...head.map(text => make('th', '', text)));
        thead.append(tr);
        for (const row of rows) {
            const line = make('tr');
            line.append(...row.map(text => make('td', '', text)));
            body.append(line);
        }
        t.append(thead, body);
        const scroll = make('div', 'scroll');
        scroll.append(t);
        byId('tables').append(make('h3', '', table.title), scroll);
    }
    byId('packets').hidden = !data.tables.length;
}

/* Who ran when */

function taskName(i) {
    if (i < 0) {
        return i === -1 ? 'no task' : 'others';
    }
    const [name, process, thread, known] = data.tasks[i];
    return !known ? name : thread === 0 ? `${name} (idle)` :
        process === thread ? `${name} (${process})` :
        `${name} (${process}/${thread})`;
}

function pairs(list) {
    const result = [];
    for (let i = 0; i < list.length; i += 2) {
        result.push([list[i], list[i + 1]]);
    }
    return result;
}

function drawStrip(canvas, strip, all) {
    const ratio = window.devicePixelRatio || 1;
    const width = canvas.clientWidth * ratio, height = 42 * ratio;
    canvas.width = width;
    canvas.height = height;
    const c = canvas.getContext('2d'), scale = width / all;
    strip.buckets.forEach((bucket, i) => {
        const from = i * strip.width;
        const to = Math.min(from + strip.width, strip.insns);
        let y = height;
        for (const [task, n] of pairs(bucket).sort((a, b) => a[0] - b[0])) {
            const h = n / (to - from) * height;
            c.fillStyle = colourOfTask(task);
            c.fillRect(Math.floor(from * scale), y - h,
                       Math.ceil((to - from) * scale) + 1, h + 0.5);
            y -= h;
        }
    });
}

function showStrips() {
    const all = Math.max(...data.strips.map(s => s.insns), 1);
    const totals = new Map(), draws = [];
    byId('who').hidden = !data.strips.length;
    byId('who-hint').textContent = 'Each hart over its own ' + data.unit +
        '; a column has the tasks that ran there, by their shares.';
    for (const strip of data.strips) {
        const row = make('div', 'strip'), canvas = make('canvas');
        row.append(make('label', '', 'hart ' + strip.hart), canvas);
        canvas.setAttribute('role', 'img');
        canvas.setAttribute('aria-label', 'What hart ' + strip.hart + ' ran: ' +
            pairs(strip.totals).sort((a, b) => b[1] - a[1]).slice(0, 5)
            .map(([t, n]) => taskName(t) + ' ' + percent(n, strip.insns))
            .join(', '));
        canvas.addEventListener('mousemove', e => {
            const at = e.offsetX / canvas.clientWidth * all;
            const bucket = strip.buckets[Math.floor(at / strip.width)] || [];
            canvas.title = short(Math.floor(at)) + ': ' +
                pairs(bucket).sort((a, b) => b[1] - a[1])
                .map(([t, n]) => taskName(t) + ' ' + short(n)).join(', ');
        });
        byId('strips').append(row);
        draws.push(() => drawStrip(canvas, strip, all));
        for (const [task, n] of pairs(strip.totals)) {
            totals.set(task, (totals.get(task) || 0) + n);
        }
    }
    const axis = make('div', 'axis');
    for (let i = 0; i <= 4; i++) {
        axis.append(make('span', '', short(Math.round(all * i / 4))));
    }
    byId('strips').append(axis);
    const sum = [...totals.values()].reduce((a, b) => a + b, 0);
    [...totals].sort((a, b) => b[1] - a[1]).slice(0, 24).forEach(([t, n]) => {
        const item = make('span', 'task'), box = make('i');
        box.style.background = colourOfTask(t);
        item.append(box, taskName(t) + ' ' + percent(n, sum));
        byId('legend').append(item);
    });
    const redraw = () => draws.forEach(draw => draw());
    window.addEventListener('resize', redraw);
    redraw();
}
