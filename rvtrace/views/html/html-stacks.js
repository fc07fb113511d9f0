// SPDX-License-Identifier: GPL-2.0-or-later

/* Call stacks: a tree of { name, kind, frame, total, children, parent } */

function newNode(what, total, parent) {
    const frame = what < 0 ? -1 : what >> 3;
    return {
        frame, layer: what < 0 ? NO_LAYER : what & 7, total, parent,
        name: frame < 0 ? 'others, each too small to be shown' :
              data.frames[frame][0],
        kind: frame < 0 ? GROUP : data.frames[frame][1],
        children: [],
    };
}

function readTree() {
    const path = [];
    for (let i = 0; i < data.tree.length; i += 3) {
        const level = data.tree[i], parent = path[level - 1] || null;
        const node = newNode(data.tree[i + 1], data.tree[i + 2], parent);
        path[level] = node;
        if (parent) {
            parent.children.push(node);
        }
    }
    path[0].name = 'all';
    return path[0];
}

/* @tree without the layers that are not shown; equal neighbours are one. */
function withLayers(tree, shown) {
    const root = { ...tree, children: [], parent: null };
    const index = new Map([[root, new Map()]]);
    const todo = [[tree, root]];
    while (todo.length) {
        const [from, to] = todo.pop();
        for (const child of from.children) {
            if (child.layer !== NO_LAYER && !shown.has(child.layer)) {
                todo.push([child, to]);
                continue;
            }
            const same = index.get(to);
            let node = same.get(child.frame);
            if (!node) {
                node = { ...child, total: 0, children: [], parent: to };
                same.set(child.frame, node);
                index.set(node, new Map());
                to.children.push(node);
            }
            node.total += child.total;
            todo.push([child, node]);
        }
    }
    for (const node of index.keys()) {
        node.children.sort((a, b) => (a.frame < 0) - (b.frame < 0) ||
            (a.name < b.name ? -1 : a.name > b.name ? 1 : a.kind - b.kind));
    }
    return root;
}

const HEIGHT = 19;
const graph = byId('graph'), search = byId('search');
const full = readTree(), shown = new Set();
let root, focus, now = null, pattern = null, upsideDown = false, boxes;

function depthBelow(node, scale) {
    let deepest = 0;
    const todo = [[node, 0]];
    while (todo.length) {
        const [n, level] = todo.pop();
        deepest = Math.max(deepest, level);
        for (const child of n.children) {
            if (child.total * scale >= 1) {
                todo.push([child, level + 1]);
            }
        }
    }
    return deepest;
}

function describe(node) {
    const f = data.frames[node.frame];
    const object = f && f[2] >= 0 && data.objects[f[2]];
    return node.name + (object ? ' in ' + object : '') + ': ' +
        group(node.total) + ' ' + data.unit + ', ' +
        percent(node.total, root.total);
}

function addBox(node, x, width, level, levels, above) {
    const box = make('div', 'frame');
    box.style.left = x + 'px';
    box.style.top = (upsideDown ? level : levels - level) * HEIGHT + 'px';
    box.style.width = Math.max(width - 0.5, 0.5) + 'px';
    box.style.background = colour(node.name, node.kind);
    box.classList.toggle('above', above);
    box.classList.toggle('plain', node.frame < 0 && node !== root);
    box.classList.toggle('hit', !!pattern && node.frame >= 0 &&
                                pattern.test(node.name));
    if (width >= 24) {
        box.textContent = node.name;
    } else {
        box.classList.add('thin');
    }
    box.title = describe(node);
    boxes.set(node, box);
    box.node = node;
    graph.append(box);
}

function render() {
    const width = graph.clientWidth, scale = width / (focus.total || 1);
    const above = [];
    for (let n = focus.parent; n; n = n.parent) {
        above.unshift(n);
    }
    const levels = above.length + depthBelow(focus, scale);
    graph.replaceChildren();
    boxes = new Map();
    graph.style.height = (levels + 1) * HEIGHT + 'px';
    above.forEach((n, level) => addBox(n, 0, width, level, levels, true));
    const todo = [[focus, 0, above.length]];
    while (todo.length) {
        const [node, x, level] = todo.pop();
        addBox(node, x, node.total * scale, level, levels, false);
        let at = x;
        for (const child of node.children) {
            if (child.total * scale >= 1) {
                todo.push([child, at, level + 1]);
            }
            at += child.total * scale;
        }
    }
    byId('reset').disabled = focus === root;
    if (!upsideDown) {
        graph.scrollTop = graph.scrollHeight;
    }
    point(boxes.has(now) ? now : null, false);
}

function zoom(node) {
    focus = node;
    render();
}

function point(node, scroll) {
    if (boxes.has(now)) {
        boxes.get(now).classList.remove('now');
    }
    now = node;
    if (node) {
        const box = boxes.get(node);
        box.classList.add('now');
        if (scroll) {
            box.scrollIntoView({ block: 'nearest', inline: 'nearest' });
        }
        byId('details').textContent = describe(node);
    }
}

/* What matches, counted once where it is within itself */
function find(text) {
    let count = 0, sum = 0;
    const names = new Set(), todo = [[root, false]];
    try {
        pattern = text ? new RegExp(text, 'i') : null;
    } catch (e) {
        pattern = null;
        byId('matched').textContent = 'not a regular expression';
        render();
        return;
    }
    while (pattern && todo.length) {
        const [node, inside] = todo.pop();
        const hit = node.frame >= 0 && pattern.test(node.name);
        if (hit) {
            count++;
            names.add(node.name);
            sum += inside ? 0 : node.total;
        }
        for (const child of node.children) {
            todo.push([child, inside || hit]);
        }
    }
    byId('matched').textContent = !pattern ? '' :
        `${group(count)} frame${count === 1 ? '' : 's'}, ` +
        `${group(names.size)} name${names.size === 1 ? '' : 's'}, ` +
        percent(sum, root.total);
    render();
}

function build() {
    root = withLayers(full, shown);
    focus = root;
    now = null;
    byId('details').textContent = '\u00a0';
    find(search.value);
}

/* Where the arrow keys lead to */
function neighbour(key) {
    const outward = upsideDown ? 'ArrowUp' : 'ArrowDown';
    const visible = list => list.filter(n => boxes.has(n));
    if (!now) {
        return focus;
    }
    if (key === outward) {
        return now.parent;
    }
    if (key === 'ArrowLeft' || key === 'ArrowRight') {
        const same = now.parent ? visible(now.parent.children) : [now];
        return same[same.indexOf(now) + (key === 'ArrowLeft' ? -1 : 1)];
    }
    return visible(now.children).sort((a, b) => b.total - a.total)[0];
}

function onKey(e) {
    if (e.key.startsWith('Arrow')) {
        const to = neighbour(e.key);
        if (to && boxes.has(to)) {
            point(to, true);
        }
    } else if (e.key === 'Enter' && now) {
        zoom(now);
    } else if (e.key === 'Escape') {
        zoom(root);
    } else {
        return;
    }
    e.preventDefault();
}

function showLayers() {
    const there = new Set();
    for (let i = 1; i < data.tree.length; i += 3) {
        if (data.tree[i] >= 0 && (data.tree[i] & 7) !== NO_LAYER) {
            there.add(data.tree[i] & 7);
        }
    }
    LAYERS.forEach((name, layer) => {
        if (!there.has(layer)) {
            return;
        }
        const label = make('label'), box = make('input');
        box.type = 'checkbox';
        box.id = 'layer-' + name;
        box.checked = name === 'name' || there.size === 1;
        if (box.checked) {
            shown.add(layer);
        }
        box.addEventListener('change', () => {
            box.checked ? shown.add(layer) : shown.delete(layer);
            build();
        });
        label.append(box, ' ' + name);
        byId('layers').append(label);
    });
    const used = new Set(data.frames.map(f => f[1]));
    KINDS.forEach(([name, hue, , saturation], kind) => {
        if (kind !== GROUP && used.has(kind)) {
            const item = make('span'), box = make('i');
            box.style.background =
                `hsl(${hue} ${saturation}% var(--light))`;
            item.append(box, name);
            byId('kinds').append(item);
        }
    });
}

function showGraph() {
    showLayers();
    build();
    graph.addEventListener('click', e => {
        if (e.target.node) {
            zoom(e.target.node);
            graph.focus({ preventScroll: true });
        }
    });
    graph.addEventListener('mouseover', e => {
        if (e.target.node) {
            byId('details').textContent = describe(e.target.node);
        }
    });
    graph.addEventListener('keydown', onKey);
    byId('reset').addEventListener('click', () => zoom(root));
    byId('flip').addEventListener('click', () => {
        upsideDown = !upsideDown;
        byId('flip').setAttribute('aria-pressed', upsideDown);
        render();
    });
    search.addEventListener('input', () => find(search.value));
    window.addEventListener('resize', render);
    document.addEventListener('keydown', e => {
        if (e.key === '/' && !/INPUT/.test(document.activeElement.tagName)) {
            e.preventDefault();
            search.focus();
        }
    });
}

/* Hottest functions */

const COLUMNS = [
    ['Function', f => f.name, 'left'], ['Object', f => f.object, 'left'],
    ['Mode', f => f.mode, 'left'], ['Own', f => f.own, 'share'],
    ['%', f => f.own], ['Total', f => f.total, 'share'],
    ['%', f => f.total], ['Calls', f => f.calls],
];
const functions = data.frames.slice(0, data.functions).map(f => ({
    name: f[0], mode: KINDS[f[1]][0], own: f[3], total: f[4], calls: f[5],
    object: f[2] >= 0 ? data.objects[f[2]] : '',
}));
let sortBy = 3, descending = true, limit = 50;

function cells(f) {
    return [f.name, f.object, f.mode, group(f.own),
            percent(f.own, full.total), group(f.total),
            percent(f.total, full.total),
            f.calls < 0 ? '\u2013' : group(f.calls)];
}

function showFunctions() {
    const text = byId('filter').value.toLowerCase();
    const get = COLUMNS[sortBy][1], sign = descending ? -1 : 1;
    const list = functions.filter(f => !text ||
        (f.name + ' ' + f.object).toLowerCase().includes(text))
        .sort((a, b) => sign * (get(a) < get(b) ? -1 : get(a) > get(b)));
    const most = COLUMNS.map(([, value]) =>
        functions.reduce((a, f) => Math.max(a, value(f)), 0));
    const rows = list.slice(0, limit).map(f => {
        const tr = make('tr');
        cells(f).forEach((value, i) => {
            const td = make('td', COLUMNS[i][2] || '');
            if (i === 0) {
                const link = make('button', 'link', value);
                link.type = 'button';
                link.title = 'Search in the call stacks: ' + value;
                link.addEventListener('click', () => {
                    search.value = '^' +
                        f.name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&') + '$';
                    find(search.value);
                    byId('flame').scrollIntoView();
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
    byId('filtered').textContent = `${group(list.length)} of ` +
        `${group(data.allFunctions)} functions`;
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
    showFunctions();
}
