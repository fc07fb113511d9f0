// SPDX-License-Identifier: GPL-2.0-or-later

/* The rows of "Who ran when": one for each hart, or one for each thread */

/* How many threads have a row at first, and how many more each time */
const THREADS = 12, MORE_THREADS = 36;
let shownThreads = THREADS;

/* Who a task is, whatever its name is just now */
function threadKey(task) {
    const [name, process, thread, known] = data.tasks[task];
    return known ? process + '/' + thread : 'name ' + name;
}

/* Short: rows of one process differ in the numbers of its threads. */
function rowName(task) {
    const [name, , thread, known] = data.tasks[task];
    return known ? `${name} (${thread})` : name;
}

/*
 * Threads with what they ran, the busiest first: like harts, but their bins have
 * the hart, too, and there are none where they did not run
 */
function listThreads() {
    const list = new Map();
    for (const hart of harts) {
        hart.bins.forEach((bin, i) => bin.forEach(([task, insns, ns]) => {
            if (task < 0 || isIdle(task)) {
                return;
            }
            const key = threadKey(task);
            const thread = list.get(key) || {
                names: new Set(), tasks: new Set(), bins: [], insns: 0, ns: 0,
                first: i, last: -1, timed: hart.timed, tall: 22,
                functions: null };
            list.set(key, thread);
            thread.names.add(threadName(task));
            thread.tasks.add(task);
            thread.bins[i] = [...thread.bins[i] || [],
                               [task, insns, ns, hart.hart]];
            thread.insns += insns;
            thread.ns += ns;
            thread.first = Math.min(thread.first, i);
            if (i >= thread.last) {
                // the name that it has in the end
                thread.last = i;
                thread.label = rowName(task);
            }
        }));
    }
    return [...list.values()].sort((a, b) => b.ns - a.ns ||
                                   b.insns - a.insns || a.first - b.first);
}

/* Does a trace have nothing but what programs did in user mode? */
function isUserOnly() {
    return data.frames.every(f => ['group', 'user'].includes(KINDS[f[1]][0]));
}

function label(row, choice, title) {
    const button = make('button', 'hart', row.label);
    button.type = 'button';
    button.title = title;
    button.addEventListener('click', () => choose(choice()));
    row.button = button;
    return button;
}

function shareList(list, all) {
    return list.filter(([, n]) => n).sort((a, b) => b[1] - a[1]).slice(0, 5)
        .map(([name, n]) => name + ' ' + percent(n, all)).join(', ');
}

function addHart(hart) {
    hart.trapCanvas = make('canvas', 'trap-lane');
    hart.trapCanvas.hidden = !data.traps.length;
    addRow(hart, label(hart, () => ({ hart: chosen.hart === hart.hart ? -1 :
        hart.hart }), 'Show only this hart'), [hart.trapCanvas],
        `What hart ${hart.hart} ran: ` + shareList([...hart.totals].map(
            ([task, counts]) => [taskName(task), sumOf(counts, 0, axis.bins)]),
            hart.insns));
}

function addThread(thread) {
    const i = threads.indexOf(thread);
    addRow(thread, label(thread, () => ({ thread: chosen.thread === i ? -1 :
        i }), `Show only ${[...thread.names].join(', ')}`), [], `When ${thread.label} ran: ` +
        group(thread.insns) + ' ' + data.unit);
}

function addRow(row, button, below, text) {
    const strip = make('div', 'strip'), lines = make('div', 'lines');
    row.canvas = make('canvas');
    row.canvas.style.height = row.tall + 'px';
    row.canvas.setAttribute('role', 'img');
    row.canvas.setAttribute('aria-label', text);
    lines.append(row.canvas, ...below);
    strip.append(button, lines);
    byId('strips').append(strip);
    followMouse(row);
}

function addMarks() {
    const row = make('div', 'strip'), lane = make('div', 'lines');
    lane.id = 'marks';
    row.append(make('span', 'hart', 'notes'), lane);
    byId('strips').append(row);
}

function addAxis() {
    const row = make('div', 'strip'), box = make('div', 'axis');
    box.id = 'axis';
    row.append(make('span', 'hart', timed ? 'time' : 'instr.'), box);
    byId('strips').append(row);
}

/*
 * Rows of harts, or of the busiest threads and the one that is chosen, in the
 * order of their begin
 */
function chooseRows(byThread) {
    rows = byThread ? threads.filter((_, i) => i < shownThreads ||
        i === chosen.thread).sort((a, b) => a.first - b.first ||
                                  a.last - b.last) : harts;
    cursor = null;
    byId('strips').replaceChildren();
    lanes.classList.toggle('by-thread', byThread);
    if (harts.some(hart => hart.marks.length)) {
        addMarks();
    }
    rows.forEach(byThread ? addThread : addHart);
    addAxis();
    const more = threads.length - rows.length;
    byId('more-threads').hidden = !byThread || more <= 0;
    byId('more-threads').textContent = `${group(more)} more threads`;
    for (const button of byId('rows').children) {
        button.setAttribute('aria-pressed',
            (button.textContent === 'threads') === byThread);
    }
    sayHint();
    sayRange();
    showChosen();
    showLink();
    drawTime();
}

/* Threads cannot be told apart where --layers has none of them. */
function canHaveThreads() {
    return threads.length > 0 && there.has(THREAD);
}

// QEMU's user mode has harts for as many threads as run at a time only.
function beginsWithThreads() {
    return canHaveThreads() && threads.length > 1 && isUserOnly();
}

function showThreadChoice() {
    if (canHaveThreads()) {
        for (const name of ['harts', 'threads']) {
            const button = make('button', '', name);
            button.type = 'button';
            button.title = `A row for each of the ${name}`;
            button.addEventListener('click', () =>
                chooseRows(name === 'threads'));
            byId('rows').append(button);
        }
    }
    byId('more-threads').addEventListener('click', () => {
        shownThreads += MORE_THREADS;
        chooseRows(true);
    });
    chooseRows(beginsWithThreads());
}
