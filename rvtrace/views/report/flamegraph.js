/*
 * The script inside of flame graphs: zoom, search, the window's width
 *
 * Everything that it needs to know is in the drawing: a frame's place and
 * width are those of its rectangle, its name stands in its title.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
(function () {
'use strict';
const NS = 'http://www.w3.org/2000/svg', PAD = 4, CHAR = 6.622;
const svg = document.documentElement;
const byId = id => document.getElementById(id);
const details = byId('details'), matched = byId('matched');
const reset = byId('reset'), search = byId('search');
/* Which way callees are from their callers */
const down = byId('frames').getAttribute('class') === 'icicle' ? -1 : 1;
const frames = [...byId('frames').children].map(g => {
    const rect = g.querySelector('rect');
    const what = g.querySelector('title').textContent;
    return { g, rect, what, text: g.querySelector('text'),
             name: what.slice(0, what.lastIndexOf(' (')),
             insns: parseInt(what.slice(what.lastIndexOf(' (') + 2)
                                 .replace(/,/g, ''), 10),
             x: +rect.getAttribute('x'), y: +rect.getAttribute('y'),
             w: +rect.getAttribute('width'),
             /* as it was drawn */
             drawn: [+rect.getAttribute('x'), +rect.getAttribute('width')],
             height: +rect.getAttribute('height') };
});
const root = frames[0], margin = root.x;
const height = +svg.getAttribute('height');
let zoomed = root;

function place(f, x, w) {
    const room = Math.floor((w - 2 * PAD) / CHAR);
    f.rect.setAttribute('x', x);
    f.rect.setAttribute('width', Math.max(w, 0.1));
    if (room >= 3 && !f.text) {
        f.text = document.createElementNS(NS, 'text');
        f.text.setAttribute('y', f.y + 12);
        f.g.appendChild(f.text);
    }
    if (f.text) {
        f.text.setAttribute('x', x + PAD);
        f.text.textContent = room < 3 ? '' :
            f.name.length <= room ? f.name :
            f.name.slice(0, room - 2) + '..';
    }
}

function zoom(to) {
    zoomed = to;
    const end = to.x + to.w, scale = root.w / to.w, eps = 0.05;
    for (const f of frames) {
        const below = (f.y - to.y) * down > 0 && f.x <= to.x + eps &&
                      f.x + f.w >= end - eps;
        const inside = (f.y - to.y) * down <= 0 && f.x >= to.x - eps &&
                       f.x + f.w <= end + eps;
        f.g.classList.toggle('hidden', !below && !inside);
        f.g.classList.toggle('parent', below);
        if (below) {
            place(f, root.x, root.w);
        } else if (inside) {
            place(f, root.x + (f.x - to.x) * scale, f.w * scale);
        }
    }
    reset.classList.toggle('hidden', to === root);
}

/* The title stays at the top of the window, and details at its bottom. */
function follow() {
    const top = Math.min(Math.max(window.scrollY, 0),
                         Math.max(height - window.innerHeight, 0));
    const bottom = Math.min(top + window.innerHeight - height, 0);
    byId('head').setAttribute('transform', `translate(0 ${top})`);
    byId('foot').setAttribute('transform', `translate(0 ${bottom})`);
}

/* As wide as the window */
function layout() {
    svg.removeAttribute('viewBox');
    svg.setAttribute('width', '100%');
    const width = svg.getBoundingClientRect().width;
    const scale = (width - 2 * margin) / root.drawn[1];
    for (const f of frames) {
        f.x = margin + (f.drawn[0] - margin) * scale;
        f.w = f.drawn[1] * scale;
    }
    for (const e of document.querySelectorAll('.middle')) {
        e.setAttribute('x', width / 2);
    }
    for (const e of document.querySelectorAll('.right')) {
        e.setAttribute('x', width - margin - (e === reset ? 62 : 0));
    }
    zoom(zoomed);
    follow();
}

function find(pattern) {
    let re = null, sum = 0, covered = -1, count = 0;
    try {
        re = pattern ? new RegExp(pattern) : null;
    } catch (e) {
        matched.textContent = 'Not a regular expression';
        return;
    }
    for (const f of frames) {
        f.hit = re !== null && re.test(f.name);
        f.g.classList.toggle('hit', f.hit);
        count += f.hit;
    }
    /* Frames inside of one that matches are counted with it. */
    for (const f of frames.filter(f => f.hit)
                          .sort((a, b) => a.x - b.x ||
                                          (b.y - a.y) * down)) {
        if (f.x + f.w > covered + 0.05) {
            sum += f.insns;
            covered = f.x + f.w;
        }
    }
    search.textContent = re ? 'Clear' : 'Search';
    const share = (sum * 100 / (root.insns || 1)).toFixed(2);
    matched.textContent = re ? `Matched: ${count} frame` +
        `${count === 1 ? '' : 's'}, ${share}%` : ' ';
}

/* Where an arrow key leads to from @f, of what is shown */
function neighbour(f, key) {
    const up = key === 'ArrowUp', sign = up ? -1 : 1;
    const shown = frames.filter(o => o !== f &&
                                     !o.g.classList.contains('hidden'));
    const at = o => +o.rect.getAttribute('x');
    const width = o => +o.rect.getAttribute('width');
    if (key === 'ArrowUp' || key === 'ArrowDown') {
        return shown.filter(o => (o.y - f.y) * sign > 0 &&
                                 Math.abs(o.y - f.y) < 1.5 * f.height &&
                                 at(o) < at(f) + width(f) &&
                                 at(o) + width(o) > at(f))
                    .sort((a, b) => width(b) - width(a))[0];
    }
    const right = key === 'ArrowRight' ? 1 : -1;
    return shown.filter(o => o.y === f.y && (at(o) - at(f)) * right > 0)
                .sort((a, b) => (at(a) - at(b)) * right)[0];
}

function onKey(f, e) {
    if (e.key === 'Enter') {
        zoom(f);
    } else if (e.key === 'Escape') {
        zoom(root);
    } else if (e.key.startsWith('Arrow')) {
        const to = neighbour(f, e.key);
        if (to) {
            to.g.focus();
        }
    } else {
        return;
    }
    e.preventDefault();
}

function ask() {
    const p = prompt('Names that match this regular expression:');
    if (p !== null) {
        find(p);
    }
}

for (const f of frames) {
    f.g.setAttribute('tabindex', f === root ? 0 : -1);
    f.g.addEventListener('click', () => zoom(f));
    f.g.addEventListener('keydown', e => onKey(f, e));
    f.g.addEventListener('focus', () => {
        details.textContent = f.what;
    });
    f.g.addEventListener('mouseover', () => {
        details.textContent = f.what;
    });
    f.g.addEventListener('mouseout', () => {
        details.textContent = ' ';
    });
}
reset.addEventListener('click', () => zoom(root));
search.addEventListener('click', () => {
    search.textContent === 'Clear' ? find('') : ask();
});
window.addEventListener('keydown', e => {
    if (((e.ctrlKey || e.metaKey) && e.key.toLowerCase() === 'f') ||
        e.key === 'F3' || e.key === '/') {
        e.preventDefault();
        ask();
    }
});
window.addEventListener('resize', layout);
window.addEventListener('scroll', follow);
layout();
if (down === 1) {
    window.scrollTo(0, height);
}
})();
