// SPDX-License-Identifier: GPL-2.0-or-later
const byId = id => document.getElementById(id);
const data = JSON.parse(byId('data').textContent);
const KINDS = [['group', 215, 6, 14], ['machine', 208, 16, 66],
    ['supervisor', 32, 18, 88], ['user', 110, 34, 48], ['guest', 278, 20, 54],
    ['trap', 350, 8, 66]];
const GROUP = 0, LAYERS = ['hart', 'name', 'process', 'thread', 'privilege'];
const NO_LAYER = 5;
/* What is looked at: bins of call stacks, a hart, a task, a thread; -1: any */
const ANY = { hart: -1, task: -1, thread: -1 };
const chosen = { from: 0, to: data.axis.nodeBins, ...ANY };
const followers = [];

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

function percent(n, all, digits = 2) {
    return (all ? n * 100 / all : 0).toFixed(digits) + '%';
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

/* @lighter: per cent */
function colour(name, kind, lighter) {
    const [, hue, spread, saturation] = KINDS[kind], h = hash(name);
    return `hsl(${(hue - spread + h % (2 * spread + 1) + 360) % 360} ` +
        `${saturation}% calc(var(--light) + ${(h >>> 16) % 9 - 4 + lighter}%))`;
}

/* @changes of what is looked at, which all sections follow */
function choose(changes) {
    Object.assign(chosen, changes);
    followers.forEach(follow => follow());
}

function allChosen() {
    return chosen.from === 0 && chosen.to === data.axis.nodeBins &&
        chosen.hart < 0 && chosen.task < 0 && chosen.thread < 0;
}

/* Packed numbers, as html-pack.h says */
class Reader {
    constructor(base64) {
        const text = atob(base64);
        this.bytes = new Uint8Array(text.length);
        for (let i = 0; i < text.length; i++) {
            this.bytes[i] = text.charCodeAt(i);
        }
        this.pos = 0;
    }
    get more() {
        return this.pos < this.bytes.length;
    }
    number() {
        let value = 0, unit = 1, byte;
        do {
            byte = this.bytes[this.pos++];
            value += (byte & 0x7f) * unit;
            unit *= 128;
        } while (byte > 0x7f);
        return value;
    }
    /* Of a thing: { bins, counts }, those that are not 0 */
    counts() {
        const n = this.number();
        const bins = new Uint16Array(n), counts = new Float64Array(n);
        for (let i = 0, at = 0; i < n; i++, at++) {
            at += this.number();
            bins[i] = at;
            counts[i] = this.number();
        }
        return { bins, counts };
    }
}

/* Of bins @from to @to - 1 */
function sumOf({ bins, counts }, from, to) {
    let sum = 0;
    for (let i = 0; i < bins.length && bins[i] < to; i++) {
        sum += bins[i] >= from ? counts[i] : 0;
    }
    return sum;
}

function setTheme(theme) {
    document.documentElement.dataset.theme = theme;
    followers.forEach(follow => follow());
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
            link.addEventListener('click', e => {
                // the address keeps what is chosen
                e.preventDefault();
                section.scrollIntoView();
            });
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
