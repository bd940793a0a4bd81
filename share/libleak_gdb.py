"""Commands for gdb, for a program that runs under libleak:

    source /usr/share/libleak/libleak_gdb.py

    libleak block EXPRESSION    the block that contains the address: its type, where it was allocated, what it points to
    libleak who EXPRESSION      why it is still there: the way from a variable, and what points to it
    libleak types               the heap by type
    libleak graph COMMAND ...   any other command of leakgraph(1), as: libleak graph suspects

The first of them makes the program write its heap graph, by a call of libleak_snapshot_graph() in the selected
thread; the next ones read the same file until the program has run on.
"""
import os
import shutil
import subprocess
import tempfile

import gdb

_HERE = os.path.dirname(os.path.realpath(__file__))  # known only while gdb reads this file
_ROOM = 4096  # of the stack, for the file name


class _Graph:
    """The file of the last graph, and of which process it is."""

    def __init__(self):
        self.folder = None
        self.file = None
        gdb.events.cont.connect(lambda event: self.forget())
        gdb.events.exited.connect(lambda event: self.forget())

    def forget(self):
        if self.folder:
            shutil.rmtree(self.folder, ignore_errors=True)
        self.folder = self.file = None

    def write(self):
        folder = tempfile.mkdtemp(prefix="libleak-gdb-")
        file = os.path.join(folder, "heap.lg")
        blocks = _call_snapshot(file)
        self.forget()  # the call made the program run
        self.folder = folder
        if blocks < 0 or not os.path.exists(file):
            self.forget()
            raise gdb.GdbError("the program wrote no heap graph: it is at a place where libleak cannot look, or libleak is off")
        self.file = file

    def get(self):
        if not self.file:
            self.write()
        return self.file


_graph = _Graph()


class _QuietSignals:
    """libleak stops threads by a real-time signal: gdb must pass these on while it calls libleak, then as before."""

    def __enter__(self):
        self.before = {}
        for number in range(34, 65):
            words = gdb.execute(f"info signals SIG{number}", to_string=True).splitlines()[-1].split()
            self.before[number] = [word == "Yes" for word in words[1:4]]
            self.handle(number, False, False, True)

    def __exit__(self, *error):
        for number, (stop, show, give) in self.before.items():
            self.handle(number, stop, show, give)

    @staticmethod
    def handle(number, stop, show, give):
        # "noprint" implies "nostop", "stop" implies "print": in this order
        gdb.execute(f"handle SIG{number} {'print' if show else 'noprint'} {'stop' if stop else 'nostop'} "
                    f"{'pass' if give else 'nopass'}", to_string=True)


def _call_snapshot(file):
    """Calls libleak_snapshot_graph(file). The text lies on the stack: gdb would allocate it from the program's heap."""
    try:
        function = gdb.parse_and_eval("(long)&libleak_snapshot_graph")
    except gdb.error:
        raise gdb.GdbError("this program does not run under libleak, or no process runs") from None
    data = os.fsencode(file) + b"\0"
    frame = gdb.selected_frame()
    gdb.newest_frame().select()
    before = int(gdb.parse_and_eval("(unsigned long)$sp"))
    text = (before - _ROOM) & ~15
    gdb.selected_inferior().write_memory(text, data)
    try:
        gdb.execute(f"set $sp = {text - 256}")
        with _QuietSignals():
            return int(gdb.parse_and_eval(f"((long (*)(const char *)){int(function)})((const char *){text})"))
    finally:
        gdb.newest_frame().select()
        gdb.execute(f"set $sp = {before}")
        if frame.is_valid():
            frame.select()


def _leakgraph():
    for place in ("../../bin/leakgraph", "../build/leakgraph"):
        tool = os.path.join(_HERE, place)
        if os.access(tool, os.X_OK):
            return tool
    return shutil.which("leakgraph") or "leakgraph"


def _show(*words):
    try:
        done = subprocess.run([_leakgraph(), _graph.get(), *words], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    except OSError as error:
        raise gdb.GdbError(f"leakgraph cannot be run: {error.strerror}") from None
    if done.returncode:
        raise gdb.GdbError(done.stderr.decode(errors="replace").strip())
    gdb.write(done.stdout.decode(errors="replace"))


def _address(expression):
    if not expression.strip():
        raise gdb.GdbError("an address is missing")
    return hex(int(gdb.parse_and_eval(f"(unsigned long)({expression})")))


class _Libleak(gdb.Command):
    """Asks libleak about the heap: libleak block, libleak who, libleak types, libleak graph."""

    def __init__(self):
        super().__init__("libleak", gdb.COMMAND_DATA, gdb.COMPLETE_NONE, True)


class _Block(gdb.Command):
    """The block that contains an address: what it is, where it was allocated, what it points to."""

    def __init__(self):
        super().__init__("libleak block", gdb.COMMAND_DATA, gdb.COMPLETE_EXPRESSION)

    def invoke(self, argument, from_tty):
        _show("out", _address(argument))


class _Who(gdb.Command):
    """Why a block is still there: the way from a variable, and what points to it."""

    def __init__(self):
        super().__init__("libleak who", gdb.COMMAND_DATA, gdb.COMPLETE_EXPRESSION)

    def invoke(self, argument, from_tty):
        address = _address(argument)
        _show("path", address)
        gdb.write("\n")
        _show("refs", address)


class _Types(gdb.Command):
    """The heap by type: bytes, blocks, what they hold, what is lost."""

    def __init__(self):
        super().__init__("libleak types", gdb.COMMAND_DATA)

    def invoke(self, argument, from_tty):
        _show("types")


class _Other(gdb.Command):
    """A command of leakgraph(1), as: libleak graph suspects."""

    def __init__(self):
        super().__init__("libleak graph", gdb.COMMAND_DATA)

    def invoke(self, argument, from_tty):
        _show(*gdb.string_to_argv(argument))


for _command in (_Libleak, _Block, _Who, _Types, _Other):
    _command()
