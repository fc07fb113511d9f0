# SPDX-License-Identifier: GPL-2.0-or-later
"""A headless Chromium, led by the DevTools protocol through a pipe"""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

NAMES = ('chromium', 'chromium-browser', 'google-chrome')


def find():
    """The path of a Chromium, or None"""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """One page; what it complains of is in self.errors."""

    def __init__(self, program, width=1300, height=1000):
        self.folder = tempfile.TemporaryDirectory(
            ignore_cleanup_errors=True)
        to_child, self.out = os.pipe()
        self.inp, from_child = os.pipe()

        def pass_pipes():
            # the protocol's numbers: it reads 3 and writes 4
            read, write = os.dup(to_child), os.dup(from_child)
            os.dup2(read, 3)
            os.dup2(write, 4)

        self.child = subprocess.Popen(
            [program, '--headless', '--no-sandbox', '--disable-gpu',
             '--hide-scrollbars', '--no-first-run', '--disable-extensions',
             '--disable-dev-shm-usage', '--remote-debugging-pipe',
             f'--user-data-dir={self.folder.name}', 'about:blank'],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, close_fds=False, preexec_fn=pass_pipes)
        os.close(to_child)
        os.close(from_child)
        self.buffer = b''
        self.number = 0
        self.session = None
        self.events = []
        self.errors, self.requests, self.dialogs = [], [], []
        self.answer = None
        target = self.call('Target.createTarget',
                           url='about:blank')['targetId']
        self.session = self.call('Target.attachToTarget', targetId=target,
                                 flatten=True)['sessionId']
        for domain in ('Page', 'Runtime', 'Log', 'Network'):
            self.call(f'{domain}.enable')
        self.resize(width, height)

    def close(self):
        self.child.kill()
        self.child.wait()
        os.close(self.out)
        os.close(self.inp)
        self.folder.cleanup()

    def read(self, deadline):
        while b'\0' not in self.buffer:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.inp], [], [], left)[0]:
                raise TimeoutError('the browser does not answer')
            data = os.read(self.inp, 1 << 16)
            if not data:
                raise ConnectionError('the browser has ended')
            self.buffer += data
        text, self.buffer = self.buffer.split(b'\0', 1)
        return json.loads(text)

    def send(self, method, params):
        self.number += 1
        message = {'id': self.number, 'method': method, 'params': params}
        if self.session:
            message['sessionId'] = self.session
        data = json.dumps(message).encode() + b'\0'
        while data:
            data = data[os.write(self.out, data):]
        return self.number

    def note(self, message):
        method, params = message['method'], message.get('params', {})
        self.events.append(method)
        if method == 'Runtime.exceptionThrown':
            self.errors.append(str(params['exceptionDetails']))
        elif method == 'Runtime.consoleAPICalled':
            self.errors.append(str(params['args']))
        elif method == 'Log.entryAdded':
            self.errors.append(params['entry']['text'])
        elif method == 'Network.requestWillBeSent':
            self.requests.append(params['request']['url'])
        elif method == 'Page.javascriptDialogOpening':
            self.dialogs.append((params['type'], params['message']))
            self.send('Page.handleJavaScriptDialog',
                      {'accept': self.answer is not None,
                       'promptText': self.answer or ''})

    def call(self, method, timeout=60, **params):
        number = self.send(method, params)
        deadline = time.monotonic() + timeout
        while True:
            message = self.read(deadline)
            if message.get('id') == number:
                assert 'error' not in message, message
                return message['result']
            if 'method' in message:
                self.note(message)

    def open(self, path, fragment=''):
        """Load a file; forget what was complained of before."""
        if fragment:
            # where only this changes, nothing would be loaded
            self.load('about:blank')
        self.load('file://' + os.path.realpath(path) + fragment)

    def load(self, url):
        self.errors, self.requests, self.dialogs = [], [], []
        self.events = []
        self.call('Page.navigate', url=url)
        deadline = time.monotonic() + 60
        while 'Page.loadEventFired' not in self.events:
            message = self.read(deadline)
            if 'method' in message:
                self.note(message)

    def run(self, expression):
        """The value of a JavaScript expression"""
        result = self.call('Runtime.evaluate', expression=expression,
                           returnByValue=True)
        assert 'exceptionDetails' not in result, result
        return result['result'].get('value')

    def click(self, element):
        """With the mouse, in the middle of what an expression says"""
        self.click_at(element, 0.5)

    def place(self, element, part):
        """Of an element that is scrolled to: @part of its width, the middle"""
        return self.run(f'(e => {{ e.scrollIntoView({{block: "nearest"}});'
                        'const r = e.getBoundingClientRect();'
                        f'return [r.x + r.width * {part}, '
                        f'r.y + r.height / 2]; }})({element})')

    def mouse(self, kind, place, buttons):
        self.call('Input.dispatchMouseEvent', type=kind, x=place[0],
                  y=place[1], button='left', buttons=buttons, clickCount=1)

    def click_at(self, element, part):
        place = self.place(element, part)
        self.mouse('mousePressed', place, 1)
        self.mouse('mouseReleased', place, 0)

    def drag(self, element, start, end):
        """With the mouse, between parts of an element's width"""
        self.mouse('mousePressed', self.place(element, start), 1)
        for part in ((start + end) / 2, end):
            self.mouse('mouseMoved', self.place(element, part), 1)
        self.mouse('mouseReleased', self.place(element, end), 0)

    def resize(self, width, height):
        self.call('Emulation.setDeviceMetricsOverride', width=width,
                  height=height, deviceScaleFactor=1, mobile=False)
        # until the page has seen it, and drawn itself
        self.call('Runtime.evaluate', awaitPromise=True, expression='new '
                  'Promise(done => requestAnimationFrame(() =>'
                  'requestAnimationFrame(done)))')

    def press(self, key, modifiers=0):
        text = {'Enter': '\r'}.get(key, key if len(key) == 1 else '')
        code = {'Enter': 13, 'Escape': 27, 'ArrowLeft': 37, 'ArrowUp': 38,
                'ArrowRight': 39, 'ArrowDown': 40}.get(key, 0)
        for kind in ('keyDown', 'keyUp'):
            self.call('Input.dispatchKeyEvent', type=kind, key=key, text=text
                      if kind == 'keyDown' else '', modifiers=modifiers,
                      windowsVirtualKeyCode=code)

    def type(self, text):
        self.call('Input.insertText', text=text)

    def screenshot(self, path):
        data = self.call('Page.captureScreenshot',
                         captureBeyondViewport=True)['data']
        with open(path, 'wb') as f:
            f.write(base64.b64decode(data))
