# SPDX-License-Identifier: GPL-2.0-or-later
#
# What gdb's `bt` says in the past, at many instructions, by rvtrace gdbserver

import re
import subprocess

from tap import LIMIT, need

FRAME = re.compile(r'^#(\d+) +(?:0x([0-9a-f]+) in )?', re.MULTILINE)

# Where a line of the source begins, `bt` does not say the pc.
SCRIPT = '''
set pagination off
set width 0
set osabi none
set remotetimeout 600
set backtrace past-main on
set backtrace past-entry on
target remote | {server}
python
exec(gdb.execute('monitor python', to_string=True))
for number in {moments}:
    # The plugin counts from 1 on.
    gdb.execute(f'monitor goto {{number - 1}}', to_string=True)
    gdb.execute('maintenance flush register-cache', to_string=True)
    print('AT', number)
    frame = gdb.newest_frame()
    for level in range(127):
        if frame:
            print('pc', f'{{frame.pc():x}}', frame.type() == gdb.INLINE_FRAME)
            frame = frame.older()
    print(gdb.execute('bt 127', to_string=True))
end
kill
'''


def backtrace(text):
    """The pcs of what the script prints of one moment"""
    frames = re.findall('^pc ([0-9a-f]+) (True|False)$', text, re.MULTILINE)
    shown = FRAME.findall(text)
    need([int(n) for n, _ in shown] == list(range(len(frames))), text)
    need(all(int(pc, 16) == int(frame[0], 16)
             for (_, pc), frame in zip(shown, frames) if pc), text)
    return [int(pc, 16) for pc, inlined in frames if inlined == 'False']


def backtraces(folder, server, moments, *elf):
    """
    {instruction: pcs of the frames, the innermost first}, of the first hart,
    without inlined functions; gdb reads the file elf, if it is given
    """
    with open(f'{folder}/moments.gdb', 'w', encoding='utf-8') as script:
        script.write(SCRIPT.format(server=' '.join(server), moments=moments))
    done = subprocess.run(['gdb-multiarch', '-nx', '-batch', '-x',
                           f'{folder}/moments.gdb', *elf], check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          encoding='utf-8', timeout=10 * LIMIT)
    with open(f'{folder}/moments.log', 'w', encoding='utf-8') as log:
        log.write(done.stdout)
    need(done.returncode == 0, f'gdb: {done.stdout[-2000:]}')
    parts = [part.partition('\n')
             for part in done.stdout.split('\nAT ')[1:]]
    need([int(number) for number, _, _ in parts] == list(moments),
         f'gdb: {done.stdout[-2000:]}')
    return {int(number): backtrace(text) for number, _, text in parts}
