# SPDX-License-Identifier: GPL-2.0-or-later
"""Flame graphs in a browser"""

import os

RECTS = '''[...document.querySelectorAll("#frames > g")]
    .filter(g => !g.classList.contains("hidden")).map(g => [
    g.querySelector("title").textContent.replace(/ \\([^(]*$/, ""),
    +g.querySelector("rect").getAttribute("width"),
    +g.querySelector("rect").getAttribute("y"),
    g.classList.contains("hit")])'''


class Flames:
    """Tests of flames.svg, or of icicle.svg"""

    def __init__(self, browser, folder, name, frames):
        self.b = browser
        self.wanted = frames
        self.path = os.path.join(folder, f'{name}.svg')
        self.folder = folder
        self.icicle = name == 'icicle'

    def g(self, name):
        return ('[...document.querySelectorAll("#frames > g")].find(g => g.'
                f'querySelector("title").textContent.startsWith("{name} "))')

    def width(self):
        """Of the frames: all of the window, but for margins of 12 pixels"""
        return self.b.run('window.innerWidth') - 24

    def frames(self):
        seen = self.b.run(RECTS)
        wide = self.width()
        assert len(seen) == len(self.wanted), seen
        for name, insns in self.wanted:
            got, = [s for s in seen if s[0] == name]
            assert abs(got[1] - wide * insns / 1000) < 1, (got, wide)
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
        assert abs(after['work'] - self.width()) < 1
        assert abs(after['leaf'] - self.width() * 200 / 550) < 2, after
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
        assert len(b.run(RECTS)) == len(self.wanted)

    def keys_search(self):
        b = self.b
        for key, modifiers in (('f', 2), ('F3', 0), ('/', 0)):
            b.answer = 'leaf'
            b.press(key, modifiers)
            assert {s[0] for s in b.run(RECTS) if s[3]} == {'leaf'}, key
            assert [d[0] for d in b.dialogs] == ['prompt'], key
            b.dialogs.clear()
            b.answer = None
            b.click('document.getElementById("search")')
            assert not [s for s in b.run(RECTS) if s[3]]

    def in_view(self):
        """In a window that is less high, of another width, and dark"""
        b = self.b
        light = b.run('getComputedStyle(document.querySelector(".paper")).fill')
        b.call('Emulation.setEmulatedMedia', features=[
            {'name': 'prefers-color-scheme', 'value': 'dark'}])
        b.resize(700, 150)
        b.open(self.path)
        assert abs(b.run(RECTS)[0][1] - self.width()) < 1
        inside = ('(r => r.top >= 0 && r.bottom <= innerHeight)('
                  '%s.getBoundingClientRect())')
        for element in (self.g('all'), 'document.getElementById("search")',
                        'document.querySelector(".title")'):
            assert b.run(inside % element), element
        assert light != b.run('getComputedStyle(document.querySelector('
                              '".paper")).fill')
        b.resize(1800, 150)
        assert abs(b.run(RECTS)[0][1] - self.width()) < 1
        b.screenshot(self.path[:-4] + '-dark.png')
        b.call('Emulation.setEmulatedMedia', features=[])
        b.resize(1300, 1000)
