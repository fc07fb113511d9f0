// SPDX-License-Identifier: GPL-2.0-or-later

/* Choosing what is looked at: a range of time, a hart, a task */

function binAt(at) {
    return Math.min(Math.max(Math.floor((at - axis.start) / binWidth), 0),
                    axis.nodeBins - 1);
}

/* The bins that have a part of @from to @to */
function chooseRange(from, to) {
    choose({ from: binAt(Math.min(from, to)),
             to: binAt(Math.max(from, to)) + 1 });
}

function zoomTime(from, to) {
    const least = 4 * axis.width, middle = (from + to) / 2;
    const half = Math.max(to - from, least) / 2;
    seen.from = Math.max(middle - half, axis.from);
    seen.to = Math.min(middle + half, Math.max(axis.to, axis.from + 1));
    byId('zoom-out').disabled = seen.from <= axis.from && seen.to >= axis.to;
    drawTime();
}

function zoomIn() {
    if (wholeRange()) {
        const at = cursor ? cursor.at : (seen.from + seen.to) / 2;
        const part = (seen.to - seen.from) / 4;
        zoomTime(at - part, at + part);
    } else {
        zoomTime(axis.start + chosen.from * binWidth,
                 axis.start + chosen.to * binWidth);
    }
}

function zoomOut() {
    const part = (seen.to - seen.from) / 2;
    const from = seen.from - part, to = seen.to + part;
    zoomTime(Math.max(from, axis.from), Math.min(to, axis.to));
}

function showAll() {
    cursor = null;
    hideTip();
    choose({ from: 0, to: axis.nodeBins, ...ANY });
}

/* What was there, for a tooltip: lines of text */
function describePlace(row, at) {
    const wide = barWidth(), i = Math.floor((at - axis.start) / wide);
    const bin = shares(row)[i] || [], first = axis.start + i * wide;
    const all = bin.reduce((sum, share) => sum + share[1], 0);
    const lines = [`${row.label}, ${place(Math.max(first, axis.from))}` +
        (timed ? ` + ${long(wide)}` : ' + ' + short(wide))];
    for (const [thing, n, ns, where] of bin.slice(-6).reverse()) {
        lines.push(`${nameOf(thing)}: ${short(n)} instructions` +
            (row.timed && !byFunction ? `, ${long(ns)}` :
             `, ${percent(n, all)}`) +
            (where === undefined ? '' : `, on hart ${where}`));
    }
    if (row.names) {
        return lines;
    }
    const from = first, to = first + wide;
    row.traps.forEach((trap, cause) => {
        const n = sumOf(trap, (from - axis.start) / axis.width,
                        (to - axis.start) / axis.width);
        if (n) {
            lines.push(`${data.traps[cause]}: ${group(n)}`);
        }
    });
    for (const [at, kind, text] of row.marks) {
        if (at >= from && at < to) {
            lines.push(text ? `${NOTES[kind]}: ${text}` : NOTES[kind]);
        }
    }
    return lines;
}

function showTip(lines, left, top) {
    tip.replaceChildren(...lines.slice(0, 14).map(line =>
        make('div', '', line)));
    tip.hidden = false;
    tip.style.left = Math.max(Math.min(left + 14, document.documentElement
        .clientWidth - tip.offsetWidth - 6), 4) + 'px';
    tip.style.top = (top + 18 + tip.offsetHeight > window.innerHeight ?
        top - 10 - tip.offsetHeight : top + 18) + 'px';
}

function hideTip() {
    tip.hidden = true;
}

/* The thing that has most of the bin, or that is at @y of the column */
function thingAt(row, at, y) {
    const bin = shares(row)[Math.floor((at - axis.start) / barWidth())] || [];
    if (y === undefined || !bin.length) {
        return bin.length ? bin[bin.length - 1][0] : null;
    }
    const by = row.timed && !byFunction ? 2 : 1;
    let left = (1 - y) * bin.reduce((sum, share) => sum + share[by], 0);
    for (let j = bin.length; j--;) {
        left -= bin[j][by];
        if (left <= 0) {
            return bin[j][0];
        }
    }
    return bin[0][0];
}

function chooseThing(thing) {
    if (thing === null || thing < 0) {
        return;
    }
    if (byFunction) {
        chooseFunction(thing);
    } else if (canChooseTask(thing)) {
        choose({ task: chosen.task === thing ? -1 : thing });
    }
}

function followMouse(row) {
    const canvas = row.canvas;
    const at = e => seen.from + (seen.to - seen.from) * Math.min(Math.max(
        (e.clientX - canvas.getBoundingClientRect().left) /
        canvas.clientWidth, 0), 0.999999);
    canvas.addEventListener('pointerdown', e => {
        if (e.button === 0) {
            drag = { from: at(e), x: e.clientX, moved: false };
            canvas.setPointerCapture(e.pointerId);
        }
    });
    canvas.addEventListener('pointermove', e => {
        const here = at(e);
        if (drag && (drag.moved || Math.abs(e.clientX - drag.x) > 3)) {
            drag.moved = true;
            Object.assign(chosen, { from: binAt(Math.min(drag.from, here)),
                                    to: binAt(Math.max(drag.from, here)) + 1 });
            drawRange();
            sayRange();
            hideTip();
            return;
        }
        showTip(describePlace(row, here), e.clientX, e.clientY);
    });
    canvas.addEventListener('pointerup', e => {
        const from = drag;
        drag = null;
        if (from && from.moved) {
            chooseRange(from.from, at(e));
        } else if (from) {
            const box = canvas.getBoundingClientRect();
            chooseThing(thingAt(row, at(e), row.names ? undefined :
                                (e.clientY - box.top) / box.height));
        }
    });
    canvas.addEventListener('pointercancel', () => {
        drag = null;
    });
    canvas.addEventListener('pointerleave', hideTip);
    canvas.addEventListener('dblclick', zoomIn);
}

function onTimeKey(e) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[e.key];
    if (e.ctrlKey || e.metaKey || e.altKey) {
        return;
    }
    if (!cursor && e.key.startsWith('Arrow')) {
        cursor = { at: seen.from, row: 0, anchor: null };
    } else if (step) {
        const from = cursor.at;
        cursor.at = Math.min(Math.max(axis.start + (binAt(cursor.at) + step) *
            binWidth, axis.from), axis.to);
        cursor.anchor = e.shiftKey ? cursor.anchor ?? from : null;
        if (e.shiftKey) {
            chooseRange(cursor.anchor, cursor.at);
        }
    } else if (e.key === 'ArrowUp' || e.key === 'ArrowDown') {
        cursor.row = (cursor.row + (e.key === 'ArrowUp' ? rows.length - 1 :
            1)) % rows.length;
    } else if (e.key === 'Enter' && cursor) {
        chooseThing(thingAt(rows[cursor.row], cursor.at));
    } else if (e.key === '+' || e.key === '=') {
        zoomIn();
    } else if (e.key === '-') {
        zoomOut();
    } else {
        return;
    }
    e.preventDefault();
    drawRange();
    if (cursor && e.key.startsWith('Arrow')) {
        const row = rows[cursor.row];
        const box = row.canvas.getBoundingClientRect();
        const lines = describePlace(row, cursor.at);
        showTip(lines, box.left + x(cursor.at, box.width), box.bottom - 18);
        range.textContent = lines.join('; ');
    }
}

/* What is chosen, in words, and how the command line says it */
function sayRange() {
    const from = Math.max(axis.start + chosen.from * binWidth, axis.from);
    const to = Math.min(axis.start + chosen.to * binWidth, axis.to);
    let insns = 0;
    for (const hart of harts) {
        if (chosen.hart < 0 || chosen.hart === hart.hart) {
            for (const [task, counts] of hart.totals) {
                insns += isChosenTask(task) ?
                    sumOf(counts, chosen.from * axis.per,
                          chosen.to * axis.per) : 0;
            }
        }
    }
    range.replaceChildren(`${place(from)} \u2013 ${place(to)}: ` +
        (timed ? `${long(to - from)}, ` : '') + `${group(insns)} ${data.unit}`);
    if (!wholeRange() && (timed || !data.selected)) {
        const unit = timed ? 'ns' : '';
        range.append(' ', make('code', '', `--from ${axis.start +
            chosen.from * binWidth}${unit} --to ${axis.start +
            chosen.to * binWidth}${unit}`));
    }
}

/* Something that was chosen, at the top of the page, and how to have all */
function chip(text, without) {
    const button = make('button', 'chip', text + ' \u00d7');
    button.type = 'button';
    button.title = 'Show all again';
    button.addEventListener('click', () => choose(without));
    return button;
}

function showChosen() {
    const chips = [];
    if (!wholeRange()) {
        chips.push(chip(`${place(Math.max(axis.start + chosen.from * binWidth,
            axis.from))} + ${long((chosen.to - chosen.from) * binWidth)}`,
            { from: 0, to: axis.nodeBins }));
    }
    if (chosen.hart >= 0) {
        chips.push(chip('hart ' + chosen.hart, { hart: -1 }));
    }
    if (chosen.thread >= 0) {
        chips.push(chip(threads[chosen.thread].label, { thread: -1 }));
    }
    if (chosen.task >= 0) {
        chips.push(chip(taskName(chosen.task), { task: -1 }));
    }
    byId('chosen').replaceChildren(...chips);
    byId('whole').disabled = allChosen();
    rows.forEach(row => row.button.setAttribute('aria-pressed', row.names ?
        threads[chosen.thread] === row : chosen.hart === row.hart));
}

/* The things that ran most in what is chosen; and its traps */
function showLegend() {
    const sums = new Map(), wide = byFunction ? 1 : axis.per;
    const traps = data.traps.map(() => 0);
    const from = chosen.from * wide, to = chosen.to * wide;
    for (const hart of harts) {
        if (chosen.hart >= 0 && chosen.hart !== hart.hart) {
            continue;
        }
        shares(hart).slice(from, to).forEach(bin => bin.forEach(
            ([thing, n]) => sums.set(thing, (sums.get(thing) || 0) + n)));
        hart.traps.forEach((trap, i) => {
            traps[i] += sumOf(trap, chosen.from * axis.per,
                              chosen.to * axis.per);
        });
    }
    const all = [...sums.values()].reduce((a, b) => a + b, 0);
    const items = [...sums].filter(([, n]) => n).sort((a, b) => b[1] - a[1]);
    byId('legend').replaceChildren(...items.slice(0, 24).map(([thing, n]) => {
        const item = make('button', 'task'), box = make('i');
        box.style.background = colourOf(thing);
        item.type = 'button';
        item.append(box, nameOf(thing) + ' ' + percent(n, all));
        item.disabled = thing < 0 || !byFunction && !canChooseTask(thing);
        item.setAttribute('aria-pressed', !byFunction && thing >= 0 &&
            chosen.task === thing);
        item.addEventListener('click', () => chooseThing(thing));
        return item;
    }));
    if (items.length > 24) {
        byId('legend').append(make('span', '',
                                   `and ${items.length - 24} more`));
    }
    const list = data.traps.map((name, i) => [name, traps[i]])
        .filter(([, n]) => n).sort((a, b) => b[1] - a[1]);
    byId('traps').replaceChildren(...list.length ? [make('b', '', 'Traps')] :
        [], ...list.map(([name, n]) =>
            make('span', '', `${name} ${group(n)}`)));
}

function chooseColours(functions) {
    byFunction = functions;
    paint();
    for (const button of byId('colour-by').children) {
        button.setAttribute('aria-pressed',
            (button.textContent === 'functions') === byFunction);
    }
    byId('who-title').textContent = byFunction ? 'What ran when' :
        'Who ran when';
    drawTime();
    showLegend();
}

function sayHint() {
    const more = harts.reduce((sum, hart) => sum + hart.moreMarks, 0);
    byId('who-hint').textContent = (timed ? 'Virtual time of the machine' :
        'Instructions of each hart (the trace has no times)') +
        '. Drag to choose a range: call stacks and functions follow.' +
        (data.traps.length && rows === harts ? ' Traps are below each hart.' :
         '') +
        (timed && isUserOnly() ? ' While a thread waits in a system call, it ' +
         'is shown as if it ran.' : '') +
        (more ? ` ${group(more)} more notes are not shown.` : '');
}

function showTime() {
    byId('who').hidden = !harts.length;
    if (!harts.length) {
        return;
    }
    if (data.tasks.length) {
        for (const name of ['tasks', 'functions']) {
            const button = make('button', '', name);
            button.type = 'button';
            button.addEventListener('click', () =>
                chooseColours(name === 'functions'));
            byId('colour-by').append(button);
        }
    }
    byId('zoom-in').addEventListener('click', zoomIn);
    byId('zoom-out').addEventListener('click', zoomOut);
    byId('whole').addEventListener('click', showAll);
    lanes.addEventListener('keydown', onTimeKey);
    lanes.addEventListener('blur', hideTip);
    window.addEventListener('resize', drawTime);
    followers.push(sayRange, showChosen, showLegend, drawTime, showLink);
    byFunction = !data.tasks.length;
    showThreadChoice();
    chooseColours(byFunction);
}
