// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * Call stacks: a tree of { name, kind, frame, own, total, children, parent },
 * where own has the instructions by bin and total those of what is chosen
 */

function newNode(what, own, parent) {
    const frame = what ? what - 1 >> 3 : -1;
    const layer = what ? what - 1 & 7 : NO_LAYER;
    const name = frame >= 0 ? data.frames[frame][0] : parent ?
        'others, each too small to be shown' : 'all';
    return {
        frame, layer, own, parent, name, total: 0, self: 0, children: [],
        kind: frame < 0 ? GROUP : data.frames[frame][1],
        level: parent ? parent.level + 1 : 0,
        hart: layer === HART ? +name.slice(5) : parent ? parent.hart : -1,
        comm: layer === COMM ? name : parent ? parent.comm : null,
        process: layer === PROCESS ? name : parent ? parent.process : null,
        thread: layer === THREAD ? name : parent ? parent.thread : null,
    };
}

/* All nodes, callers before what they call */
function readTree() {
    const reader = new Reader(data.tree), path = [], list = [];
    while (reader.more) {
        const up = reader.number();
        path.length -= list.length ? up : 0;
        const parent = path[path.length - 1] || null;
        const node = newNode(reader.number(), reader.counts(), parent);
        path.push(node);
        list.push(node);
        if (parent) {
            parent.children.push(node);
        }
    }
    return list;
}

/* Tasks and harts can be chosen if there are layers of them. */
function canChooseTask(task) {
    return (there.has(THREAD) || there.has(PROCESS)) && data.tasks[task][3] ||
        there.has(COMM);
}

/* How the layer of threads calls a task */
function threadName(task) {
    const [name, process, thread, known] = data.tasks[task];
    return known ? `${name} (${process}/${thread})` : name;
}

function isChosen(node) {
    if (chosen.hart >= 0 && there.has(HART) && node.hart !== chosen.hart) {
        return false;
    }
    if (chosen.thread >= 0 && !threads[chosen.thread].names.has(node.thread)) {
        return false;
    }
    if (chosen.task < 0) {
        return true;
    }
    if (there.has(THREAD)) {
        return node.thread === threadName(chosen.task);
    }
    const [name, process, , known] = data.tasks[chosen.task];
    return known && there.has(PROCESS) ? node.process === `${name} (${process})`
        : node.comm === name;
}

/* How much each node has of what is chosen */
function measure() {
    const { from, to } = chosen;
    const any = chosen.hart < 0 && chosen.task < 0 && chosen.thread < 0;
    for (const node of nodes) {
        node.self = any || isChosen(node) ? sumOf(node.own, from, to) : 0;
        node.total = node.self;
    }
    for (let i = nodes.length - 1; i > 0; i--) {
        nodes[i].parent.total += nodes[i].total;
    }
}

/* @tree without the layers that are not shown; equal neighbours are one. */
function withLayers(tree, shown) {
    const root = { ...tree, children: [], parent: null };
    const index = new Map([[root, new Map()]]);
    const todo = [[tree, root]];
    while (todo.length) {
        const [from, to] = todo.pop();
        for (const child of from.children) {
            if (!child.total) {
                continue;
            }
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
const HART = 0, COMM = 1, PROCESS = 2, THREAD = 3, PRIVILEGE = 4;
const nodes = readTree(), full = nodes[0], shown = new Set();
const there = new Set(nodes.map(n => n.layer).filter(l => l !== NO_LAYER));
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

/* @near: the colour of the box on the left, which is to be another one */
function addBox(node, x, width, level, levels, above, near) {
    const box = make('div', 'frame');
    box.style.left = x + 'px';
    box.style.top = (upsideDown ? level : levels - level) * HEIGHT + 'px';
    box.style.width = Math.max(width - 0.5, 0.5) + 'px';
    const own = colour(node.name, node.kind, 0);
    const background = own === near ? colour(node.name, node.kind, 7) : own;
    box.style.background = background;
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
    return background;
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
    // from left to right on each level
    let todo = [[focus, 0]];
    for (let level = above.length; todo.length; level++) {
        const next = [];
        let near = null, end = -1;
        for (const [node, x] of todo) {
            const width = node.total * scale;
            near = addBox(node, x, width, level, levels, false,
                          x - end < 1 ? near : null);
            end = x + width;
            let at = x;
            for (const child of node.children) {
                if (child.total * scale >= 1) {
                    next.push([child, at]);
                }
                at += child.total * scale;
            }
        }
        todo = next;
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

/* A function or a trap, and not a label */
function isFunction(node) {
    return !!node && node.frame >= 0 && node.kind !== GROUP;
}

function point(node, scroll) {
    if (boxes.has(now)) {
        boxes.get(now).classList.remove('now');
    }
    now = node;
    byId('to-callers').disabled = !isFunction(node);
    byId('to-code').disabled = !isFunction(node) || !codeOf(node.frame);
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

/* Where the frame that was zoomed to is now, or what is left of its callers */
function findAgain(old) {
    const path = [];
    for (let n = old; n && n.parent; n = n.parent) {
        path.unshift(n.frame);
    }
    let node = root;
    for (const frame of path) {
        node = node.children.find(n => n.frame === frame) || node;
    }
    return node;
}

function build() {
    const old = focus;
    root = withLayers(full, shown);
    focus = findAgain(old);
    now = null;
    byId('details').textContent = root.total ? '\u00a0' :
        'Nothing ran there.';
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
    } else if (e.key === 'Escape' && focus !== root) {
        zoom(root);
        e.stopPropagation();
    } else {
        return;
    }
    e.preventDefault();
}

function showLayers() {
    LAYERS.forEach((name, layer) => {
        // a single hart, or names where there are no tasks, say nothing
        if (!there.has(layer) || layer === HART && harts.length === 1 ||
            !data.tasks.length && layer !== HART && layer !== PRIVILEGE) {
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
    measure();
    build();
    followers.push(measure, build);
    byId('folded').textContent = data.smallest > 1 ? 'Stacks of less than ' +
        `${group(data.smallest)} instructions, ` +
        percent(data.smallest, full.total, 4) + ' of all, are in "others" of ' +
        'their callers.' : '';
    byId('to-callers').addEventListener('click', () => chooseFunction(
        now.frame));
    byId('to-code').addEventListener('click', () => openCode(now.frame));
    graph.addEventListener('click', e => {
        if (e.target.node) {
            const node = e.target.node;
            zoom(node);
            point(node, false);
            graph.focus({ preventScroll: true });
        }
    });
    graph.addEventListener('mouseover', e => {
        if (e.target.node) {
            byId('details').textContent = describe(e.target.node);
        }
    });
    graph.addEventListener('mouseleave', () => {
        byId('details').textContent = now ? describe(now) : '\u00a0';
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
        } else if (e.key === 'Escape' && !allChosen()) {
            showAll();
        }
    });
}
