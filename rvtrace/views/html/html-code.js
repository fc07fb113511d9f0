// SPDX-License-Identifier: GPL-2.0-or-later

/* Hot code */

let listings = [];

/* A share of the branches that were taken, as a bar */
function direction(taken, not) {
    const bar = make('i', 'direction');
    bar.style.setProperty('--w', percent(taken, taken + not));
    bar.title = percent(taken, taken + not) + ' taken';
    return bar;
}

function codeRow([line, address, count, text, taken, not, note], most) {
    const row = make('div', 'row' + (line ? ' source' : '') +
                     (count ? '' : ' cold'));
    const last = make('span', 'note');
    row.style.setProperty('--w', percent(count, most));
    if (taken >= 0) {
        last.append(direction(taken, not),
                    `taken ${group(taken)}, not ${group(not)}`);
        // the rest of the note is about something else
        note = (note || '').split('; ').slice(1).join('; ');
        last.append(note ? '; ' + note : '');
    } else if (note) {
        last.append(note.replace(/\b\d{4,}\b/g, group));
    }
    row.append(make('span', '', count ? group(count) : ''),
               make('span', '', line || address), make('span', '', text),
               last);
    return row;
}

/* The listing of a function, if its code is here */
function codeOf(frame) {
    const [name, , object] = data.frames[frame];
    return listings.find(box => box.code.name === name && object >= 0 &&
        box.code.object === data.objects[object]);
}

function openCode(frame) {
    const box = codeOf(frame);
    box.open = true;
    box.scrollIntoView({ block: 'start' });
    box.querySelector('summary').focus({ preventScroll: true });
}

/* Rows are made when they are looked at for the first time. */
function listing(code) {
    const box = make('details'), pre = make('pre');
    const title = make('summary'), most = [0, 0];
    for (const [line, , count] of code.lines) {
        most[line ? 1 : 0] = Math.max(most[line ? 1 : 0], count);
    }
    title.append(make('b', '', code.name), (code.object ? ' in ' +
        code.object : '') + (code.file ? ', ' + code.file : '') + ': ' +
        group(code.insns) + ' ' + data.unit + ', ' +
        percent(code.insns, full.total));
    box.addEventListener('toggle', () => {
        if (box.open && !pre.childElementCount) {
            pre.append(...code.lines.map(l => codeRow(l, most[l[0] ? 1 : 0])));
        }
    });
    box.append(title, pre);
    box.code = code;
    return box;
}

function showCode() {
    const boxes = listings = data.code.map(listing);
    byId('code').hidden = !boxes.length;
    byId('listings').append(...boxes);
    byId('code-kinds').hidden =
        !data.code.some(c => c.lines.some(l => l[0]));
    for (const kind of ['source', 'insns', 'cold']) {
        byId('show-' + kind).addEventListener('change', e =>
            byId('listings').classList.toggle('no-' + kind,
                                              !e.target.checked));
    }
    for (const [id, open] of [['open-all', true], ['close-all', false]]) {
        byId(id).addEventListener('click', () => boxes.forEach(box => {
            box.open = open;
        }));
    }
    if (boxes.length) {
        boxes[0].open = true;
    }
    followers.push(() => {
        byId('code-hint').hidden = allChosen();
    });
}

setTheme(matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' :
         'light');
byId('theme').addEventListener('click', () => setTheme(
    document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark'));
showTables();
measure();
showCode();
byId('who').hidden = !harts.length;
showSummary();
showGraph();
showFunctionTable();
showTime();
followLink();
window.addEventListener('hashchange', followLink);
