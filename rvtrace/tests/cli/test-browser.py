#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Reports and flame graphs in a browser: test-browser.py HTML-WRITE [FOLDER]
#
# What they show is the small profile of html-write.c. Pictures are left in
# FOLDER, for people to look at.

import os
import subprocess
import sys
import tempfile

from browser import Browser, find

HOSTILE = '<img src=x onerror=alert(1)>'
SCRIPT = '</script><script>alert(2)</script>'
LIBRARY = 'lib<b>.so'
# name, and instructions of 1000; the outermost one first
FRAMES = {('all', 1000), ('sh', 700), ('main', 700), ('work', 550),
          ('leaf', 200), (HOSTILE, 200), (SCRIPT, 200), ('boot', 100)}

BOXES = '''[...document.querySelectorAll("#graph .frame")].map(b =>
    [b.title.replace(/( in \\S+)?: .*/, ""), b.offsetWidth, b.offsetTop,
     b.classList.contains("hit")])'''
BOX = '[...document.querySelectorAll("#graph .frame")]' \
    '.find(b => b.title.startsWith("%s"))'


def box(name):
    return BOX % name


class Report:
    """Tests of report.html; each begins with the page as it was loaded."""

    def __init__(self, browser, folder):
        self.b = browser
        self.path = os.path.join(folder, 'report.html')
        self.folder = folder

    def names(self):
        return sorted(b[0] for b in self.b.run(BOXES))

    def frames(self):
        width = self.b.run('document.getElementById("graph").clientWidth')
        seen = self.b.run(BOXES)
        assert len(seen) == len(FRAMES), seen
        for name, insns in FRAMES:
            got, = [s for s in seen if s[0] == name]
            assert abs(got[1] - width * insns / 1000) < 3, (got, width)
        top = {name: y for name, _, y, _ in seen}
        assert top['all'] > top['sh'] > top['main'] > top['work'] > top['leaf']
        self.b.screenshot(os.path.join(self.folder, 'report.png'))

    def search(self):
        b = self.b
        b.press('/')
        assert b.run('document.activeElement.id') == 'search'
        b.type('W.rk')
        assert {s[0] for s in b.run(BOXES) if s[3]} == {'work'}
        said = b.run('document.getElementById("matched").textContent')
        assert said == '1 frame, 1 name, 55.00%', said
        b.screenshot(os.path.join(self.folder, 'report-search.png'))
        b.type('|main')
        said = b.run('document.getElementById("matched").textContent')
        # work is within main, and counted once
        assert said == '2 frames, 2 names, 70.00%', said
        b.type('(')
        said = b.run('document.getElementById("matched").textContent')
        assert said == 'not a regular expression', said

    def zoom(self):
        b = self.b
        width = b.run('document.getElementById("graph").clientWidth')
        before = b.run(BOXES)
        b.click(box('work'))
        after = {s[0]: s[1] for s in b.run(BOXES)}
        assert set(after) == {'all', 'sh', 'main', 'work', 'leaf'}, after
        assert abs(after['work'] - width) < 3
        assert abs(after['leaf'] - width * 200 / 550) < 3, after
        b.click('document.getElementById("reset")')
        assert b.run(BOXES) == before

    def keyboard(self):
        b = self.b
        b.run('document.getElementById("graph").focus()')
        said = []
        for key in ('ArrowUp', 'ArrowUp', 'ArrowUp', 'ArrowUp', 'ArrowDown'):
            b.press(key)
            said.append(b.run('document.getElementById("details")'
                              '.textContent'))
        assert [s.split(':')[0] for s in said] == [
            'all', 'sh', 'main in prog', 'work in prog', 'main in prog'], said
        assert said[3] == 'work in prog: 550 instructions, 55.00%'
        b.press('Enter')
        assert self.names() == ['all', 'leaf', 'main', 'sh', 'work']
        b.press('Escape')
        assert len(self.names()) == len(FRAMES)

    def layers(self):
        b = self.b
        there = b.run('[...document.querySelectorAll("#layers input")]'
                      '.map(i => [i.id, i.checked])')
        assert there == [['layer-hart', False], ['layer-name', True],
                         ['layer-process', False],
                         ['layer-privilege', False]], there
        b.click('document.getElementById("layer-hart")')
        assert self.names() == sorted(
            ['all', 'hart 0', 'hart 1', 'sh', 'sh', 'main', 'main', 'work',
             'work', 'leaf', 'boot', HOSTILE, SCRIPT]), self.names()
        b.click('document.getElementById("layer-hart")')
        b.click('document.getElementById("layer-name")')
        b.click('document.getElementById("layer-privilege")')
        assert self.names() == sorted(
            ['all', 'M-mode', 'U-mode', 'main', 'work', 'leaf', 'boot',
             SCRIPT]), self.names()
        b.click('document.getElementById("layer-process")')
        assert {'sh (10)', 'sh (11)', HOSTILE + ' (12)'} < set(self.names())

    def upside_down(self):
        b = self.b
        b.click('document.getElementById("flip")')
        top = {s[0]: s[2] for s in b.run(BOXES)}
        assert top['all'] < top['sh'] < top['main'] < top['work'] < top['leaf']

    def table(self):
        b = self.b
        rows = 'document.querySelectorAll("#functions tbody tr")'
        cells = f'[...{rows}].map(r => [...r.cells].map(c => c.textContent))'
        # calls are edges to the function, taken branches are none
        assert b.run(cells) == [
            ['work', 'prog', 'user', '350', '35.00%', '550', '55.00%', '2'],
            ['leaf', LIBRARY, 'user', '200', '20.00%', '200', '20.00%', '0'],
            [SCRIPT, 'prog', 'user', '200', '20.00%', '200', '20.00%', '0'],
            ['main', 'prog', 'user', '150', '15.00%', '700', '70.00%', '0'],
            ['boot', '', 'machine', '100', '10.00%', '100', '10.00%', '–'],
        ], b.run(cells)
        b.click('document.querySelectorAll("#functions th button")[5]')
        assert [r[0] for r in b.run(cells)][:2] == ['main', 'work']
        assert b.run('document.querySelectorAll("#functions th")[5]'
                     '.getAttribute("aria-sort")') == 'descending'
        b.click('document.querySelectorAll("#functions th button")[0]')
        assert [r[0] for r in b.run(cells)][1:] == ['boot', 'leaf', 'main',
                                                    'work']
        b.run('document.getElementById("filter").focus()')
        b.type('LEA')
        assert [r[0] for r in b.run(cells)] == ['leaf']
        b.click(f'{rows}[0].querySelector("button")')
        assert {s[0] for s in b.run(BOXES) if s[3]} == {'leaf'}

    def hostile(self):
        b = self.b
        assert b.run('document.querySelectorAll("img").length') == 0
        assert b.run('document.scripts.length') == 2
        assert b.run('document.title') == f'ugly {SCRIPT} & names'
        facts = b.run('[...document.querySelectorAll(".fact")]'
                      '.map(f => f.textContent)')
        assert facts == ['Instructions1,000on 2 harts', 'Comparedidentical',
                         'Losses' + HOSTILE + SCRIPT], facts
        assert HOSTILE in b.run('document.getElementById("tables")'
                                '.textContent')
        assert f'{HOSTILE} (12)' in b.run(
            'document.getElementById("legend").textContent')

    def who_ran(self):
        b = self.b

        def colours_at(n, *places):
            """Of a canvas, at parts of its width"""
            row = b.run('(c => [...c.getContext("2d").getImageData(0, 20, '
                        f'c.width, 1).data])(document.querySelectorAll('
                        f'"canvas")[{n}])')
            pixels = [tuple(row[i:i + 4]) for i in range(0, len(row), 4)]
            return [pixels[int(x * len(pixels))] for x in places]

        # hart 0: firmware, sh, the other one, nothing; of 900 instructions
        colours = colours_at(0, 0.05, 0.2, 0.7, 0.85, 0.98)
        assert colours[1] == colours[2], colours
        assert len(set(colours)) == 3 and colours[3] == colours[4], colours
        colours = colours_at(1, 0.05, 0.2, 0.98)
        assert colours[0] != colours[1] == colours[2] == (0, 0, 0, 0), colours
        text = b.run('document.getElementById("legend").textContent')
        assert 'sh (10) 60.00%' in text, text

    def code(self):
        b = self.b
        text = b.run('document.getElementById("listings").textContent')
        assert 'work in prog, w&rk.c: 350 instructions, 35.00%' in text, text
        rows = ('[...document.querySelectorAll("#listings .row")]'
                '.filter(r => r.checkVisibility())')
        cells = f'{rows}.map(r => [...r.children].map(c => c.textContent))'
        source = ['300', '12', 'for (i = 0; i < n; i++) {', '']
        insns = [['100', '1100', 'addi a0,a0,-1', ''],
                 ['100', '1104', 'bnez a0,1100 <work>',
                  'taken 98, not 2; then 3 interrupts'],
                 ['2,000', '1108', 'jal ra,1200 <leaf>', 'calls leaf 2,000']]
        cold = ['', '110c', 'ebreak', '']
        assert b.run(cells) == [source, *insns, cold], b.run(cells)
        bar = 'document.querySelector("#listings .direction")'
        assert b.run(f'{bar}.title') == '98.00% taken'
        b.click('document.getElementById("show-cold")')
        assert b.run(cells) == [source, *insns], b.run(cells)
        b.click('document.getElementById("show-source")')
        assert b.run(cells) == insns, b.run(cells)
        b.click('document.getElementById("show-source")')
        b.click('document.getElementById("show-insns")')
        assert b.run(cells) == [source], b.run(cells)
        b.click('document.getElementById("close-all")')
        assert b.run(cells) == [], b.run(cells)
        b.click('document.getElementById("show-insns")')
        b.click('document.getElementById("open-all")')
        assert b.run(cells) == [source, *insns], b.run(cells)
        b.run('document.getElementById("code").scrollIntoView()')
        b.screenshot(os.path.join(self.folder, 'report-code.png'))

    def theme(self):
        b = self.b
        colour = 'getComputedStyle(document.body).backgroundColor'
        before = b.run(colour)
        b.click('document.getElementById("theme")')
        assert b.run(colour) != before
        b.screenshot(os.path.join(self.folder, 'report-dark.png'))


RECTS = '''[...document.querySelectorAll("#frames > g")]
    .filter(g => !g.classList.contains("hidden")).map(g => [
    g.querySelector("title").textContent.replace(/ \\([^(]*$/, ""),
    +g.querySelector("rect").getAttribute("width"),
    +g.querySelector("rect").getAttribute("y"),
    g.classList.contains("hit")])'''


class Flames:
    """Tests of flames.svg, or of icicle.svg"""

    def __init__(self, browser, folder, name):
        self.b = browser
        self.path = os.path.join(folder, f'{name}.svg')
        self.folder = folder
        self.icicle = name == 'icicle'

    def g(self, name):
        return ('[...document.querySelectorAll("#frames > g")].find(g => g.'
                f'querySelector("title").textContent.startsWith("{name} "))')

    def frames(self):
        seen = self.b.run(RECTS)
        assert len(seen) == len(FRAMES), seen
        for name, insns in FRAMES:
            got, = [s for s in seen if s[0] == name]
            assert abs(got[1] - 976 * insns / 1000) < 1, got
        top = {name: y for name, _, y, _ in seen}
        order = [top[n] for n in ('all', 'sh', 'main', 'work', 'leaf')]
        assert order == sorted(order, reverse=not self.icicle), order
        self.b.screenshot(self.path[:-4] + '.png')

    def search(self):
        b = self.b
        b.answer = 'work|leaf'
        b.click('document.getElementById("search")')
        # the dialog is answered while the next call waits
        assert {s[0] for s in b.run(RECTS) if s[3]} == {'work', 'leaf'}
        said = b.run('document.getElementById("matched").textContent')
        assert said == 'Matched: 2 frames, 55.00%', said
        assert [d[0] for d in b.dialogs] == ['prompt']
        b.dialogs.clear()
        b.answer = None
        b.click('document.getElementById("search")')
        assert not [s for s in b.run(RECTS) if s[3]]

    def zoom(self):
        b = self.b
        before = b.run(RECTS)
        b.click(self.g('work'))
        after = {s[0]: s[1] for s in b.run(RECTS)}
        assert set(after) == {'all', 'sh', 'main', 'work', 'leaf'}, after
        assert abs(after['work'] - 976) < 1
        assert abs(after['leaf'] - 976 * 200 / 550) < 2, after
        b.click('document.getElementById("reset")')
        assert [s[0] for s in b.run(RECTS)] == [s[0] for s in before]

    def keyboard(self):
        b = self.b
        b.run(self.g('all') + '.focus()')
        outward, inward = ('ArrowUp', 'ArrowDown') if self.icicle else \
            ('ArrowDown', 'ArrowUp')
        said = []
        for key in (inward, inward, inward, outward):
            b.press(key)
            said.append(b.run('document.getElementById("details")'
                              '.textContent').split(' ')[0])
        assert said == ['sh', 'main', 'work', 'main'], said
        b.press('Enter')
        assert {s[0] for s in b.run(RECTS)} == {'all', 'sh', 'main', 'work',
                                                'leaf'}
        b.press('Escape')
        assert len(b.run(RECTS)) == len(FRAMES)


def tests(browser, folder):
    report = Report(browser, folder)
    for name in ('frames', 'search', 'zoom', 'keyboard', 'layers',
                 'upside_down', 'table', 'hostile', 'who_ran', 'code',
                 'theme'):
        yield f'report: {name}', report, getattr(report, name)
    for picture in ('flames', 'icicle'):
        flames = Flames(browser, folder, picture)
        for name in ('frames', 'search', 'zoom', 'keyboard'):
            yield f'{picture}: {name}', flames, getattr(flames, name)


def run(writer, folder):
    subprocess.run([writer, folder], check=True)
    browser = Browser(find())
    number = failed = 0
    try:
        for name, page, test in tests(browser, folder):
            number += 1
            try:
                browser.open(page.path)
                test()
                assert not browser.errors, browser.errors
                assert not browser.dialogs, browser.dialogs
                # the file itself, and nothing else
                assert len(browser.requests) == 1, browser.requests
                print(f'ok {number} {name}', flush=True)
            except AssertionError as error:
                failed += 1
                print(f'not ok {number} {name}')
                print('# ' + repr(error)[:1000].replace('\n', ' '),
                      flush=True)
    finally:
        browser.close()
    print(f'1..{number}')
    return failed


def main():
    writer = os.path.realpath(sys.argv[1])
    if not find():
        print('1..0 # SKIP there is no Chromium (package chromium)')
        return
    if len(sys.argv) > 2:
        os.makedirs(sys.argv[2], exist_ok=True)
        sys.exit(1 if run(writer, sys.argv[2]) else 0)
    with tempfile.TemporaryDirectory() as folder:
        sys.exit(1 if run(writer, folder) else 0)


if __name__ == '__main__':
    main()
