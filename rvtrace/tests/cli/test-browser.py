#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Reports and flame graphs in a browser:
# test-browser.py HTML-WRITE [FOLDER [RVTRACE SYNTH-WRITE]]
#
# What they show is the small profile of html-write.c, and with RVTRACE what
# synth-write made: there, a range is compared with --from and --to of other
# views. Pictures are left in FOLDER, for people to look at.

import collections
import os
import re
import struct
import subprocess
import sys
import tempfile

from browser import Browser, find
from flames import Flames
from htmldata import Report as Data

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
                         ['layer-process', False], ['layer-thread', False],
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

    def pixels(self, n, *places):
        """Colours of hart @n, at parts of the width"""
        row = self.b.run('(c => [...c.getContext("2d").getImageData(0, 20, '
                         'c.width, 1).data])(document.querySelectorAll('
                         f'"canvas:not(.trap-lane)")[{n}])')
        pixels = [tuple(row[i:i + 4]) for i in range(0, len(row), 4)]
        return [pixels[int(x * len(pixels))] for x in places]

    def who_ran(self):
        b = self.b
        # hart 0: firmware, sh, the other one, nothing; of 900 instructions
        colours = self.pixels(0, 0.05, 0.2, 0.7, 0.85, 0.93)
        assert colours[1] == colours[2], colours
        assert len(set(colours)) == 3 and colours[3] == colours[4], colours
        colours = self.pixels(1, 0.05, 0.2, 0.98)
        assert colours[0] != colours[1] == colours[2] == (0, 0, 0, 0), colours
        text = b.run('document.getElementById("legend").textContent')
        assert 'sh (10) 60.00%' in text, text
        text = b.run('document.getElementById("traps").textContent')
        assert text == ('Trapsecall from U 2supervisor timer interrupt 1'), \
            text

    def own(self):
        """The table of functions: what each has of its own"""
        return {row[0]: int(row[1].replace(',', '')) for row in self.b.run(
            '[...document.querySelectorAll("#functions tbody tr")].map('
            'r => [r.cells[0].textContent, r.cells[3].textContent])')}

    def frame(self, name):
        """How many instructions the flame graph shows for it"""
        title = self.b.run(f'({box(name)} || {{}}).title')
        return title and int(title.split(': ')[1].split()[0].replace(',', ''))

    def said(self):
        return self.b.run('document.getElementById("range").textContent')

    def drag_range(self):
        """Bins are 16 instructions: 192 to 512 of 900, of both harts"""
        b = self.b
        before = b.run(BOXES)
        canvas = 'document.querySelector("canvas")'
        b.drag(canvas, 200 / 900, 505 / 900)
        assert self.said().endswith('--from 192 --to 512'), self.said()
        # hart 0: main 100 to 200, work 200 to 500, leaf 500 to 700
        assert self.own() == {'work': 300, 'leaf': 12, 'main': 8}, self.own()
        want = {'all': 320, 'sh': 320, 'main': 320, 'work': 312, 'leaf': 12}
        assert {name: self.frame(name) for name in self.names()} == want
        assert 'sh (10) 100.00%' in b.run(
            'document.getElementById("legend").textContent')
        assert 'ecall from U 2' in b.run(
            'document.getElementById("traps").textContent')
        b.screenshot(os.path.join(self.folder, 'report-range.png'))
        b.press('Escape')
        assert b.run(BOXES) == before
        assert not b.run('document.querySelector(".chip")')
        b.drag(canvas, 0.8, 0.99)
        assert set(self.own()) == {SCRIPT}, self.own()
        b.click('document.getElementById("whole")')
        assert b.run(BOXES) == before

    def range_by_keys(self):
        b = self.b
        b.run('document.getElementById("lanes").focus()')
        for _ in range(3):
            b.press('ArrowRight')
        b.press('ArrowRight', 8)
        b.press('ArrowRight', 8)
        assert b.run('document.querySelector(".chip").textContent') \
            .startswith('32 + 48'), b.run(
                'document.querySelector(".chip").textContent')
        # boot 32 to 80; hart 1: main 32 to 50, work to 80
        assert self.own() == {'boot': 48, 'work': 30, 'main': 18}, self.own()
        b.press('Enter')
        b.press('ArrowDown')
        b.press('Enter')
        # hart 1's task
        assert self.own() == {'work': 30, 'main': 18}, self.own()
        b.press('Escape')
        assert len(self.own()) == 5
        b.press('+')
        assert not b.run('document.getElementById("zoom-out").disabled')
        b.press('-')
        b.press('-')
        assert b.run('document.getElementById("zoom-out").disabled')

    def choose(self):
        """A hart, a task, and a note's span, by the mouse"""
        b = self.b
        b.click('document.querySelectorAll("button.hart")[1]')
        assert self.own() == {'work': 50, 'main': 50}, self.own()
        b.click('document.querySelectorAll("button.hart")[1]')
        b.click('[...document.querySelectorAll("#legend .task")].find(t =>'
                't.textContent.startsWith("sh (10)"))')
        assert self.own() == {'work': 300, 'leaf': 200, 'main': 100}
        b.click('document.querySelector(".chip")')
        # sh (10) again, in its lane
        b.click_at('document.querySelector("canvas")', 0.5)
        assert self.own() == {'work': 300, 'leaf': 200, 'main': 100}
        b.press('Escape')
        marks = b.run('[...document.querySelectorAll(".mark")].map(m =>'
                      '[m.className, m.textContent, m.title])')
        assert [m[0] for m in marks] == ['mark is-begin', 'mark is-reset',
                                         'mark is-lost'], marks
        assert marks[0][1] == HOSTILE and '100 \u2013 500' in marks[0][2]
        assert marks[1][1:] == ['reset', 'reset (hart 0, 700)'], marks
        b.click('document.querySelector(".mark.is-begin")')
        # 96 to 512; hart 1: 96 to 100
        assert self.own() == {'work': 304, 'main': 100, 'leaf': 12,
                              'boot': 4}, self.own()

    def tooltip(self):
        b = self.b
        x, y = b.run('(r => [r.x + r.width * 0.3, r.y + 20])(document'
                     '.querySelector("canvas").getBoundingClientRect())')
        b.call('Input.dispatchMouseEvent', type='mouseMoved', x=x, y=y)
        lines = b.run('[...document.getElementById("tip").children].map('
                      'd => d.textContent)')
        assert lines[0] == 'hart 0, 256 + 16', lines
        assert lines[1].startswith('sh (10): 16 instructions'), lines

    def what_ran(self):
        """Colours by function instead of task"""
        b = self.b
        b.click('document.querySelectorAll("#colour-by button")[1]')
        colours = self.pixels(0, 0.05, 0.16, 0.4, 0.7, 0.9)
        assert len(set(colours)) == 5, colours
        b.click('[...document.querySelectorAll("#legend .task")].find(t =>'
                't.textContent.startsWith("work"))')
        assert 'work in prog' in b.run(
            'document.getElementById("relations").textContent')

    def rows(self):
        """The labels of rows"""
        return self.b.run('[...document.querySelectorAll("button.hart")].map('
                          'b => b.textContent)')

    def spans(self):
        """Where each row has something: parts of the width"""
        return self.b.run(
            '[...document.querySelectorAll("canvas")].map(c => { const d = '
            'c.getContext("2d").getImageData(0, c.height - 2, c.width, 1)'
            '.data, x = [...Array(c.width).keys()].filter(i => d[4 * i + 3]);'
            'return [x[0] / c.width, (x[x.length - 1] + 1) / c.width]; })')

    def choose_rows(self, name):
        self.b.click('[...document.querySelectorAll("#rows button")].find('
                     f'b => b.textContent === "{name}")')

    def by_thread(self):
        """Each thread, by its name, in the order of their begin"""
        b = self.b
        assert self.rows() == ['hart 0', 'hart 1'], self.rows()
        self.choose_rows('threads')
        want = [('sh (11)', 0, 100), ('sh (10)', 100, 700),
                (HOSTILE + ' (12)', 700, 850), (HOSTILE + ' (13)', 850, 900)]
        names = [row[0] for row in want]
        assert self.rows() == names, self.rows()
        for ends, (_, *exact) in zip(self.spans(), want):
            assert all(abs(900 * at - end) < 17
                       for at, end in zip(ends, exact)), (ends, exact)
        b.screenshot(os.path.join(self.folder, 'report-threads.png'))
        # one of a process that has another one, by its label and in its row
        for element in ('querySelectorAll("button.hart")',
                        'querySelectorAll("canvas")'):
            b.click_at(f'document.{element}[3]', 0.97)
            assert self.own() == {SCRIPT: 50}, self.own()
            assert b.run('document.querySelector(".chip").textContent') \
                .startswith(HOSTILE)
            b.press('Escape')
        x, y = b.run('(r => [r.x + r.width * 0.3, r.y + 10])(document'
                     '.querySelectorAll("canvas")[1].getBoundingClientRect())')
        b.call('Input.dispatchMouseEvent', type='mouseMoved', x=x, y=y)
        lines = b.run('[...document.getElementById("tip").children].map('
                      'd => d.textContent)')
        assert lines[0] == 'sh (10), 256 + 16', lines
        assert lines[1].endswith('16 instructions, 100.00%, on hart 0'), lines
        # what each ran
        b.click('document.querySelectorAll("#colour-by button")[1]')
        assert self.rows() == names, self.rows()
        b.run('document.getElementById("lanes").focus()')
        for key in ('ArrowRight', 'ArrowDown', 'ArrowDown', 'ArrowDown'):
            b.press(key)
        assert self.said().startswith(HOSTILE + ' (13), 0 + '), self.said()
        self.choose_rows('harts')
        assert self.rows() == ['hart 0', 'hart 1'], self.rows()

    def fragment(self):
        return self.b.run('location.hash')

    def link(self):
        """The address has what is chosen, and leads to it."""
        b = self.b
        assert not self.fragment() and b.run(
            'document.getElementById("link").hidden')
        b.drag('document.querySelector("canvas")', 200 / 900, 505 / 900)
        assert self.fragment() == '#from=192&to=512', self.fragment()
        b.click('document.querySelectorAll("button.hart")[0]')
        self.choose_rows('threads')
        b.click('document.querySelectorAll("button.hart")[1]')
        b.click('[...document.querySelectorAll("#functions .link")]'
                '.find(l => l.textContent === "leaf")')
        # sections are not in the way
        b.click('document.querySelector("#sections a")')
        seen = (self.fragment(), self.own(), self.said(), self.rows(), b.run(
            '[...document.querySelectorAll(".chip, #relations h3")].map(c =>'
            'c.textContent)'))
        assert len(seen[4]) == 6 and 'thread=10%2F10' in seen[0], seen
        assert b.run('document.getElementById("link").href').endswith(seen[0])
        b.open(self.path, seen[0])
        again = (self.fragment(), self.own(), self.said(), self.rows(), b.run(
            '[...document.querySelectorAll(".chip, #relations h3")].map(c =>'
            'c.textContent)'))
        assert again == seen, (seen, again)
        b.press('Escape')
        b.click('[...document.querySelectorAll("#relations button")].find('
                'b => b.textContent === "Close")')
        b.run('scrollTo(0, 0)')
        self.choose_rows('harts')
        assert not self.fragment(), self.fragment()
        # the address of a page that is open already
        b.run('location.hash = "#task=sh+(11/11)"')
        b.resize(1301, 1000)
        assert self.own() == {'work': 50, 'main': 50}, self.own()
        b.resize(1300, 1000)

    def wrong_links(self):
        """What is not here is said, and nothing of a link is believed."""
        b = self.b
        whole = ['boot', 'leaf', 'main', 'work', SCRIPT]
        for link, words in (
                ('from=5ns&to=9ns', '5ns to 9ns'), ('from=9&to=5', '9 to 5'),
                ('from=5000&to=6000', '5000 to 6000'), ('from=7', '7 to null'),
                ('hart=7', 'hart 7'), ('thread=1/1', 'thread 1/1'),
                ('task=' + HOSTILE, HOSTILE), ('function=' + HOSTILE, HOSTILE),
                ('function=work&object=other', 'function work'),
                ('function=sh', 'function sh'),
                ('from=1e9&to=-1&hart=__proto__', 'hart __proto__')):
            b.open(self.path, '#' + link)
            said = b.run('document.getElementById("not-here").textContent')
            assert words in said, (link, said)
            assert sorted(self.own()) == sorted(whole), (link, self.own())
            assert b.run('document.querySelectorAll("img").length') == 0
        # more than there is, and a section
        b.open(self.path, '#from=0&to=99999999999999')
        assert b.run('document.getElementById("not-here").hidden')
        b.open(self.path, '#hot')
        assert b.run('scrollY > 100') and not b.dialogs

    def relations(self):
        b = self.b
        b.click('[...document.querySelectorAll("#functions .link")]'
                '.find(l => l.textContent === "work")')
        table = ('[...document.querySelectorAll(".relation")].map(r =>'
                 '[...r.querySelectorAll("tr")].map(t => [...t.cells].map('
                 'c => c.textContent)))')
        assert b.run(table) == [[['main', '550', '100.00%']],
                                [['leaf', '200', '36.36%']]], b.run(table)
        assert {s[0] for s in b.run(BOXES) if s[3]} == {'work'}
        b.click('document.querySelector(".relation .link")')
        assert b.run(table) == [[['none: it is the first', '700', '100.00%']],
                                [['work', '550', '78.57%']]], b.run(table)
        b.drag('document.querySelector("canvas")', 0.6, 0.7)
        assert b.run(table)[1] == [['work', '112', '100.00%']], b.run(table)

    def to_code(self):
        b = self.b
        b.click('document.getElementById("close-all")')
        b.click(box('main'))
        assert b.run('document.getElementById("to-code").disabled')
        b.click(box('work'))
        b.click('document.getElementById("to-code")')
        assert b.run('document.querySelector("details").open')
        b.click('document.getElementById("to-callers")')
        assert not b.run('document.getElementById("relations").hidden')

    def palette(self):
        """Neighbours have other colours, in the graph and in the lanes"""
        b = self.b
        boxes = b.run('[...document.querySelectorAll("#graph .frame")].map('
                      'b => [b.offsetTop, b.offsetLeft, b.offsetWidth, '
                      'b.style.background])')
        boxes.sort()
        for left, right in zip(boxes, boxes[1:]):
            assert left[0] != right[0] or left[3] != right[3], (left, right)

    def widths(self):
        """Nothing is wider than the window, from 420 pixels on"""
        b = self.b
        for width in (420, 800, 1300, 1920, 2560):
            b.resize(width, 900)
            for rows in ('threads', 'harts'):
                self.choose_rows(rows)
                wide = b.run('document.documentElement.scrollWidth')
                assert wide <= width, (rows, width, wide)
            used = b.run('document.getElementById("graph").offsetWidth')
            assert used > 0.85 * width, (width, used)
            b.screenshot(os.path.join(self.folder, f'report-{width}.png'))
        b.resize(1300, 1000)

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


class Ranges(Report):
    """Tests of a report of a trace: ranges are those of other views."""

    def __init__(self, browser, folder, program, synth):
        super().__init__(browser, folder)
        subprocess.run([synth, '5', '1', '9000', folder], check=True)
        self.program = program
        self.trace = ['--trace', f'{folder}/trace',
                      '--sideband', f'{folder}/sideband']
        self.path = os.path.join(folder, 'synth.html')
        self.rvtrace('html', '-o', self.path)

    def rvtrace(self, command, *args):
        return subprocess.run([self.program, command, *self.trace, *args],
                              check=True, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL).stdout

    def as_reported(self):
        b = self.b
        data = Data(self.path)
        end = data.axis['to']
        for left, right in ((0.1, 0.2), (0.5, 0.85), (0.001, 0.9)):
            b.drag('document.querySelector("canvas")', left, right)
            words = self.said().split()
            start, stop = words[words.index('--from') + 1], words[-1]
            assert abs(int(start) - left * end) <= data.width, words
            assert abs(int(stop) - right * end) <= data.width, words
            while not b.run('document.getElementById("more").hidden'):
                b.click('document.getElementById("more")')
            assert self.table_sums() == self.folded_sums(start, stop)

    def table_sums(self):
        """By name, own and in all, of the table"""
        own, total = collections.Counter(), collections.Counter()
        for row in self.b.run(
                '[...document.querySelectorAll("#functions tbody tr")].map('
                'r => [...r.cells].map(c => c.textContent))'):
            own[row[0]] += int(row[3].replace(',', ''))
            total[row[0]] += int(row[5].replace(',', ''))
        return self.simple(own, total)

    def folded_sums(self, start, stop):
        """The same, of another view"""
        own, total = collections.Counter(), collections.Counter()
        labels = {frame[0] for frame in Data(self.path).data['frames']
                  if frame[1] == 0}
        for line in self.rvtrace('folded', '--from', start, '--to',
                                 stop).decode().splitlines():
            stack, count = line.rsplit(' ', 1)
            frames = [f for f in stack.split(';') if f not in labels]
            own[frames[-1]] += int(count)
            for name in set(frames):
                total[name] += int(count)
        return self.simple(own, total)

    def simple(self, own, total):
        """What is in all is known by name if one function has the name."""
        kinds = collections.Counter(frame[0] for frame in
                                    Data(self.path).data['frames'])
        return +own, {name: n for name, n in total.items() if n and
                      kinds[name] == 1}


def picture(folder):
    """The picture of README.md is there, and so is what makes it."""
    top = os.path.join(os.path.dirname(os.path.realpath(__file__)),
                       *['..'] * 3)
    with open(os.path.join(top, 'README.md'), encoding='utf-8') as f:
        path, = re.findall(r'!\[.*\]\((.*\.png)\)', f.read())
    assert os.path.getsize(os.path.join(top, path)) <= 250000, path
    out = os.path.join(folder, 'picture.png')
    subprocess.run([os.path.join(top, 'scripts', 'picture'),
                    os.path.join(folder, 'report.html'), out],
                   check=True, stdout=subprocess.DEVNULL,
                   env={**os.environ, 'WIDTH': '900', 'HEIGHT': '700'})
    for file, size in ((path, None), (out, (900, 700))):
        with open(os.path.join(top, file), 'rb') as f:
            head = f.read(24)
        assert head[:8] == b'\x89PNG\r\n\x1a\n', file
        got = struct.unpack('>II', head[16:])
        assert size in (None, got), (got, size)


def tests(browser, folder, programs):
    report = Report(browser, folder)
    for name in ('frames', 'search', 'zoom', 'keyboard', 'layers',
                 'upside_down', 'table', 'hostile', 'who_ran', 'code',
                 'theme', 'drag_range', 'range_by_keys', 'choose', 'tooltip',
                 'what_ran', 'by_thread', 'link', 'wrong_links', 'relations',
                 'to_code', 'palette', 'widths'):
        yield f'report: {name}', report, getattr(report, name)
    if programs:
        ranges = Ranges(browser, folder, *programs)
        yield 'report: ranges are as reported', ranges, ranges.as_reported
    yield 'the picture of a report', report, lambda: picture(folder)
    for drawing in ('flames', 'icicle'):
        flames = Flames(browser, folder, drawing, FRAMES)
        for name in ('frames', 'search', 'zoom', 'keyboard', 'keys_search',
                     'in_view'):
            yield f'{drawing}: {name}', flames, getattr(flames, name)


def run(writer, folder, programs):
    subprocess.run([writer, folder], check=True)
    browser = Browser(find())
    number = failed = 0
    try:
        for name, page, test in tests(browser, folder, programs):
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
    programs = [os.path.realpath(path) for path in sys.argv[3:]]
    if not find():
        print('1..0 # SKIP there is no Chromium (package chromium)')
        return
    if len(sys.argv) > 2:
        os.makedirs(sys.argv[2], exist_ok=True)
        sys.exit(1 if run(writer, sys.argv[2], programs) else 0)
    with tempfile.TemporaryDirectory() as folder:
        sys.exit(1 if run(writer, folder, []) else 0)


if __name__ == '__main__':
    main()
