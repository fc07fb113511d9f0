# SPDX-License-Identifier: GPL-2.0-or-later
#
# gdb's side of `rvtrace gdbserver`: frames are those that rvtrace knows of,
# since gdb has no stack to read. The server sends this file, for Debian's gdb 13
# or newer:
#
#   python exec(gdb.execute('monitor python', to_string=True))
#
# Some of the server's registers are for this. They are vectors, so that they are
# not shown beside the guest's:
#
#   rvtrace_place           the number of the instruction, that of the frame,
#                           whether registers may be known, for the trace has
#                           data, and which server it is
#   rvtrace_depth           how many frames there are
#   rvtrace_stack0 ...      pcs of the frames, the innermost one first
#
# A frame is known by its rvtrace_place, and what there is at a place is always
# the same. (A packet of our own would do, too, but gdb loses its frames when
# that is sent while it looks for one.)

import gdb
import gdb.unwinder


class RvtraceFrameId:
    """
    What gdb orders frames by. It looks for variables at sp, too, and must find
    nothing there: with 64 bits, no page table leads to such an address.
    """

    def __init__(self, outer, word):
        top = 0x7ffff000 if word.sizeof == 4 else 0x0ffffffffffff000
        self.sp = gdb.Value(top - 16 * outer).cast(word)
        self.pc = gdb.Value(0).cast(word)


class RvtraceUnwinder(gdb.unwinder.Unwinder):
    """The call stack of the hart that gdb has selected"""

    KEPT = 256

    def __init__(self):
        super().__init__('rvtrace')
        self.stacks = {}

    @staticmethod
    def read(pending):
        """Depth and pcs, as far as there are registers for them"""
        depth = int(pending.read_register('rvtrace_depth')[0])
        pcs = []
        for i in range(8):
            if len(pcs) < depth:
                part = pending.read_register(f'rvtrace_stack{i}')
                pcs += [int(part[k]) for k in
                        range(min(depth - len(pcs), 512))]
        return depth, pcs

    def stack(self, pending, server, insn, number):
        """The same of a frame: the innermost one is asked for first."""
        key = server, gdb.selected_thread().num, insn
        if number == 0 and key not in self.stacks:
            if len(self.stacks) == self.KEPT:
                self.stacks.clear()
            self.stacks[key] = self.read(pending)
        return self.stacks[key]

    def __call__(self, pending):
        try:
            place = pending.read_register('rvtrace_place')
            insn, number, data, server = (int(place[i]) for i in range(4))
            depth, pcs = self.stack(pending, server, insn, number)
        except (gdb.error, ValueError, KeyError, AttributeError):
            return None     # another server, or nothing is known
        if number + 1 == len(pcs) and data:
            # gdb would make another frame of it with registers than without.
            pcs = [*pcs, 0]
        if number + 1 >= len(pcs):
            return None     # gdb ends here, without registers
        # Not the type of the pc: gdb 13 must not be asked for that one here.
        of = 'rvtrace_depth' if 'rv32' in pending.architecture().name() else \
            'rvtrace_place'
        word = pending.read_register(of).type.target()
        caller = b''.join(v.to_bytes(8, 'little')
                          for v in (insn, number + 1, data, server))
        info = pending.create_unwind_info(RvtraceFrameId(depth - number, word))
        info.add_saved_register('rvtrace_place',
                                gdb.Value(caller, place.type))
        info.add_saved_register('pc', gdb.Value(pcs[number + 1]).cast(word))
        return info


class RvtraceGoto(gdb.Command):
    """Go to a place in the past: rvtrace-goto PLACE

PLACE is begin, end, the number of an instruction of the selected hart (with k, M
or G behind it or not), or a virtual time (1.5s, 20ms, 7us, 100ns). "monitor when"
says where that hart is."""

    def __init__(self):
        super().__init__('rvtrace-goto', gdb.COMMAND_RUNNING)

    def invoke(self, argument, from_tty):
        try:
            said = gdb.execute(f'monitor goto {argument}', to_string=True)
        except gdb.error as error:      # so does gdb 16
            raise gdb.GdbError(str(error)) from error
        if ': instruction ' not in said:
            raise gdb.GdbError(said.strip())
        gdb.execute('maintenance flush register-cache', to_string=True)
        gdb.execute('frame')


def define_hook(name, does):
    """What gdb does at that moment, unless the user has a hook of that name"""
    try:
        gdb.execute(f'show user hook-{name}', to_string=True)
        return False
    except gdb.error:
        gdb.execute(f'define hook-{name}\n{does}\nend')
        return True


class RvtraceNeedData(gdb.Command):
    """Fail if the trace has no data, with the reason: gdb itself has none."""

    def __init__(self):
        super().__init__('rvtrace-need-data', gdb.COMMAND_OBSCURE)
        for command in 'watch', 'rwatch', 'awatch':
            define_hook(command, 'rvtrace-need-data')

    def invoke(self, argument, from_tty):
        if not int(gdb.parse_and_eval('$rvtrace_place[2]')):
            raise gdb.GdbError(
                'Nothing can be watched: the trace has no data. QEMU traces loads '
                'and stores with\n-global riscv-trace-encoder.data-width=64 '
                '-global riscv-trace-encoder.data=on')


class RvtraceValues:
    """
    What a function has returned, when "finish" has ended. gdb takes a register
    that is not known for 0, so the value is shown only if all registers that
    have it are known. gdb runs hook-stop before it shows anything of a stop.
    """

    def __init__(self):
        self.function = self.caller = None
        gdb.execute('set print finish off')
        gdb.rvtrace_values = self
        # With a hook of the user's, no value is ever shown.
        if define_hook('finish', 'python gdb.rvtrace_values.begin()'):
            define_hook('stop', 'python gdb.rvtrace_values.end()')

    def begin(self):
        """The function of the frame that is selected is about to go on."""
        gdb.execute('set print finish off')
        self.function = None
        try:
            frame = gdb.selected_frame()
            outer = frame.older()
            if outer:
                self.function, self.caller = frame.function(), outer.pc()
        except gdb.error:
            pass            # gdb will say it

    def end(self):
        """The hart has stopped: is it there that the function returned to?"""
        function, self.function = self.function, None
        try:
            if not function or gdb.newest_frame().pc() != self.caller:
                return
            kind = function.type.target().strip_typedefs()
            if kind.code == gdb.TYPE_CODE_VOID:
                return
            unknown = [name for name in self.registers(kind)
                       if not self.is_known(name)]
        except gdb.error:
            return
        if unknown:
            print('What the function returned is in ' + ' and '.join(unknown) +
                  ', not known here.')
        else:
            gdb.execute('set print finish on')

    @staticmethod
    def is_known(name):
        """Of an integer register, or one for floating point, a union"""
        value = gdb.parse_and_eval(f'${name}')
        try:
            float(value['double'] if name[0] == 'f' else value)
        except gdb.error:
            return False
        return True

    def registers(self, kind):
        """
        Those that have a value of that type, see "RISC-V Calling Conventions".
        (If floating point is by software, it is in others. Then fa0 is not
        known, and nothing is shown.)
        """
        word = gdb.parse_and_eval('$sp').type.sizeof
        parts = self.parts(kind)
        if True in parts and len(parts) <= 2:
            return ['fa0', 'fa1'][:sum(parts)] + ['a0'] * (False in parts)
        # What is longer than two registers is in memory, at a0.
        return ['a0', 'a1'][:1 + (word < kind.sizeof <= 2 * word)]

    def parts(self, kind):
        """Is each scalar in it floating point? [False] * 3: there are many"""
        kind = kind.strip_typedefs()
        if kind.code == gdb.TYPE_CODE_COMPLEX:
            return [True] * 2
        if kind.code == gdb.TYPE_CODE_FLT:
            return [kind.sizeof <= 8]
        if kind.code == gdb.TYPE_CODE_ARRAY:
            first, last = kind.range()
            parts = self.parts(kind.target()) * min(last - first + 1, 3)
        elif kind.code == gdb.TYPE_CODE_STRUCT:
            parts = [part for field in kind.fields()
                     for part in self.parts(field.type)]
        else:
            many = kind.code == gdb.TYPE_CODE_UNION
            return [False] * (3 if many else 1)
        return parts if len(parts) <= 2 else [False] * 3


class RvtraceFrames(gdb.Parameter):
    """Whether frames are those that rvtrace knows of

If off, gdb looks for callers by itself, in registers and memory. They may be
known if the trace has data, and those of callers are then, too."""

    set_doc = 'Set whether frames are those that rvtrace knows of.'
    show_doc = 'Show whether frames are those that rvtrace knows of.'

    def __init__(self, unwinder):
        super().__init__('rvtrace-frames', gdb.COMMAND_STACK,
                         gdb.PARAM_BOOLEAN)
        self.unwinder = unwinder

    def use(self, value):
        self.value = value
        self.get_set_string()

    def get_set_string(self):
        self.unwinder.enabled = self.value
        # gdb's need registers, which are not known in callers, and fail.
        gdb.execute('maintenance set dwarf unwinders ' +
                    ('off' if self.value else 'on'))
        gdb.invalidate_cached_frames()
        return ''


def load_libraries():
    """
    Without an operating system (set osabi none), gdb asks for no libraries, but
    finds callers in those that it has.
    """
    loaded = {file.filename for file in gdb.objfiles()}
    for line in gdb.execute('monitor libraries',
                            to_string=True).splitlines():
        bias, _, path = line.partition(' ')
        if bias[:2] == '0x' and path not in loaded:
            quoted = path.replace('\\', '\\\\').replace('"', '\\"')
            try:
                gdb.execute(f'add-symbol-file "{quoted}" -o {bias}',
                            to_string=True)
            except gdb.error:
                pass            # callers are those that rvtrace knows of


def callers_are_lost():
    """
    Does gdb find but a few of a program's callers, since the memory where they
    are is not known? System calls leave it like that, abort() has some.
    """
    said = gdb.execute('monitor bt', to_string=True).splitlines()
    if not [line for line in said if line[:2] == '#0' and ' U-mode ' in line]:
        return False
    frame = gdb.newest_frame()
    found = 1
    lost = False
    try:
        while frame.older():
            frame = frame.older()
            found += 1
        # gdb may end where the program begins.
        lost = frame.unwind_stop_reason() in (
            gdb.FRAME_UNWIND_MEMORY_ERROR, gdb.FRAME_UNWIND_UNAVAILABLE)
    except gdb.error:       # it does not know where the caller goes on
        lost = True
    return lost and found + 2 < int(gdb.parse_and_eval('$rvtrace_depth[0]'))


def choose_frames(frames):
    """Those of gdb, which have variables, if they are as good as ours"""
    if not int(gdb.parse_and_eval('$rvtrace_place[2]')):
        frames.use(True)
        return
    load_libraries()
    frames.use(False)
    if callers_are_lost():
        print('Callers are those that rvtrace knows of: gdb does not find them '
              'here by itself\n(set rvtrace-frames off, where it does, for their '
              'variables).')
        frames.use(True)


def rvtrace_begin():
    """Once for each gdb, however often it connects"""
    unwinder = RvtraceUnwinder()
    gdb.unwinder.register_unwinder(None, unwinder, replace=True)
    RvtraceGoto()
    RvtraceValues()
    RvtraceNeedData()
    gdb.execute('set print entry-values no')
    # Of a kernel without an entry point, gdb would end at any nameless function.
    gdb.execute('set backtrace past-entry on')
    gdb.execute('set backtrace past-main on')
    # The first stack of a long trace takes a while.
    if 0 <= gdb.parameter('remotetimeout') < 600:
        gdb.execute('set remotetimeout 600')
    choose_frames(RvtraceFrames(unwinder))


rvtrace_begin()
