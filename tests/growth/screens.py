"""screens.py BUILD PROGRAM EXPECTED FOLDER - what leaktop shows of each scenario in a real terminal.

EXPECTED: as for judge.py. All run at once, each in a folder of its own, and on each looks one leaktop on a
small screen and one on a large one; both are resized meanwhile, to a size that shows other columns, and
back. What grows must be in the first row at every size, with its word and its place; Enter must tell
how fast, within half as much again of what the scenario does. Of what does not grow nothing on the screen may
say "growing" once it has run long enough to know, and its own row must be there when it holds anything.

Nothing is timed: a screen that should come is waited for, and how long a scenario has run is read from the
screen's own first line. Prints a line for each screen, fails when one is wrong."""
import concurrent.futures
import os
import re
import subprocess
import sys
import time

BUILD, PROGRAM, EXPECTED, FOLDER = sys.argv[1:]
HERE = os.path.dirname(os.path.realpath(__file__))
TERMINAL = os.path.join(HERE, "..", "terminal")
SOURCE = os.path.join(HERE, "scenarios.c")
RUN_SECONDS = 600  # they are ended when all was seen
PATIENCE = 120     # seconds for what must come on a machine that does a lot else
KNOWN_AFTER = 14   # seconds after its start a scenario is distinguished from all others; see ./run
SEEN_FOR = 6       # seconds at each size
ROOMY = 110        # columns: from here on a table has the column AGE and whole words
SIZES = [((80, 24), (132, 30)), ((200, 50), (90, 20))]  # and what it is resized to
FACTOR = 1.5

# Bytes a second, from what scenarios.c does. All that grow are here.
RATES = {
    "list_emptied": 1048576,
    "small_steps": 2000 * 64,
    "large_steps": 500000 / 1.5,
    "string_builder": 10 * 32768,
    "threads_lists": 4 * 250000,
    "with_pauses": 1000000 / 2,
    "after_startup": 300 * 1000,
    "slow_consumer": (2000 - 1000) * 512,
    "trimmed_too_little": 2000000 / 2,
    "churn_with_a_leak": 20000 / 20 * 400,
    "torn_down": 1048576,
}
# Of these nothing is there for a part of the time.
EMPTY_AT_TIMES = ("saw_tooth", "single_load", "bursts", "came_and_went", "used_up",
                  "queue_in_balance")
UNITS = {"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9}


class Wrong(Exception):
    pass


def terminal(verb, socket, *words):
    """From the socket's own folder: there is not much room for its path."""
    folder, name = os.path.split(socket)
    done = subprocess.run([TERMINAL, verb, name, *map(str, words)], cwd=folder, capture_output=True,
                          text=True, errors="replace")
    if done.returncode:
        raise Wrong(f"terminal {verb}: {done.stderr.strip()}")
    return done.stdout


def line_of(name):
    """Where the scenario allocates."""
    for number, line in enumerate(open(SOURCE), 1):
        if line.startswith(f"ALLOCATES({name})") or "realloc(" in line and name == "string_builder":
            return number
    raise Wrong(f"{SOURCE} has no {name}")


class Screen:
    """leaktop on one scenario, as a human sees it."""

    def __init__(self, name, size):
        self.name, self.size = name, size
        self.socket = os.path.join(FOLDER, name, f"tmux.{size[0]}")
        self.place = f"scenarios.c:{line_of(name)}"
        terminal("open", self.socket, *size, "C.UTF-8",
                 f"exec {BUILD}/leaktop --dir={FOLDER}/{name} --interval=0.5 scenarios")

    def lines(self):
        return terminal("shown", self.socket).rstrip("\n").split("\n")

    def key(self, *keys):
        terminal("send", self.socket, *keys)

    def resize(self, size):
        self.size = size
        terminal("size", self.socket, *size)

    def close(self):
        try:
            terminal("close", self.socket)
        except Wrong:
            pass  # it has gone by itself, after q

    def until(self, what, holds):
        """Waits until holds(lines), for what; returns what it gave."""
        end = time.monotonic() + PATIENCE
        while True:
            lines = self.lines()
            found = self.is_drawn(lines) and holds(lines)
            if found:
                return found
            if time.monotonic() > end:
                raise Wrong(f"{what}; shown at {self.size[0]}x{self.size[1]}:\n" + "\n".join(lines))
            time.sleep(0.5)

    def is_drawn(self, lines):
        """All of it is there, for this size."""
        roomy = self.size[0] >= ROOMY
        return (len(lines) == self.size[1] and lines[-1].startswith("sort: growth") and
                " TREND " in lines[3] and (" AGE " in lines[3]) == roomy)

    # ---- What grows -----------------------------------------------------------------------------

    def shows_row(self, lines, word):
        """The first row: the word, then the function, then the place, as far as there is room for it."""
        start = lines[3].index(" TREND ") + 1
        trend, function, *place = lines[4][start:].split() + [""]
        room = self.size[0] - lines[3].index("FUNCTION")
        fits = len(self.name) + 1 + len(self.place) <= room
        word = word if self.size[0] >= ROOMY else word[:8]
        return (trend == word and function == self.name and
                (place[0].endswith(self.place) if fits else place == [""]) and
                re.search(r"(^|, )1 growing$", lines[1]))

    def shows_pane(self, lines, place):
        """What Enter shows: how it grew, and its stack with the frame that the row is about."""
        rates = [re.match(r"growing \+([0-9.,]+) (\w+)/s for ", line) for line in lines[5:]]
        rate = next((float(r[1].replace(",", "")) * UNITS[r[2]] for r in rates if r), 0)
        stack = any(re.match(rf"> {self.name} \S*{re.escape(place)}$", line) for line in lines[5:])
        return stack and 1 / FACTOR <= rate / RATES[self.name] <= FACTOR and rate

    def check_growing(self, words, other):
        row = lambda lines: any(self.shows_row(lines, word) for word in words)
        self.until(f"its first row is not {words[0]} {self.name}", row)
        self.key("Enter")
        rate = None
        for size in (None, other, self.size):
            if size:
                self.resize(size)
            rate = self.until(f"Enter does not tell {RATES[self.name]:.0f} B/s and {self.place}",
                              lambda lines: row(lines) and self.shows_pane(lines, self.place))
        return f"{rate:>9.0f}"

    # ---- What does not ---------------------------------------------------------------------------

    def ran(self, lines):
        """Seconds, of the first line: "running for 1 min 5 s"."""
        words = re.search(r"running for (.*?):", lines[0])
        units = {"ms": 0.001, "s": 1, "min": 60, "h": 3600}
        return sum(float(n) * units[u] for n, u in re.findall(r"([0-9.]+) (ms|s|min|h)\b", words[1])) if words else 0

    def see(self, seconds):
        """At no time in so many seconds of the scenario's anything is said to grow."""
        def silent(lines):
            said = [line for line in lines if re.search("growing|slow-con", line)]
            if said != lines[1:2] or not re.search(r"(^|, )0 growing$", lines[1]):
                raise Wrong(f"growing, {self.ran(lines):.0f} s after its start:\n" + "\n".join(lines))
            seen["rows"] |= any(re.search(rf" {self.name}( |$)", line) for line in lines[4:-1])
            return self.ran(lines) >= begin + seconds
        seen = {"rows": False}
        begin = self.until("nothing is shown", self.ran)
        self.until("its time stands still", silent)
        if not seen["rows"] and self.name not in EMPTY_AT_TIMES:
            raise Wrong("its own row was never there:\n" + "\n".join(self.lines()))

    def check_others(self, other):
        self.until("it does not run", lambda lines: self.ran(lines) >= KNOWN_AFTER)
        self.see(SEEN_FOR)
        self.key("Enter")
        for size in (other, self.size):
            self.resize(size)
            self.see(SEEN_FOR)
        return "        -"


def check(name, wanted, sizes):
    """(is it right?, the line to print)"""
    at = f"{sizes[0][0]}x{sizes[0][1]}"
    screen = None
    try:
        screen = Screen(name, sizes[0])
        words = wanted.lstrip("+").split(",")
        told = screen.check_growing(words, sizes[1]) if wanted.startswith("+") else screen.check_others(sizes[1])
        screen.key("q")
        return True, f"  ok    screen of {name:20} at {at:7} {told}"
    except (Wrong, OSError) as error:
        return False, f"  FAIL  screen of {name} at {at}: {error}"
    finally:
        if screen:
            screen.close()


def start(name):
    folder = os.path.join(FOLDER, name)
    os.makedirs(folder, mode=0o700)
    environment = dict(os.environ, LD_PRELOAD=f"{BUILD}/libleak.so", LIBLEAK_DIR=folder)
    return subprocess.Popen([PROGRAM, name, str(RUN_SECONDS)], env=environment, cwd=folder,
                            stdin=subprocess.DEVNULL)


def has_store(name):
    return any(entry.endswith(".leak") for entry in os.listdir(os.path.join(FOLDER, name)))


def main():
    expected = dict(line.split() for line in open(EXPECTED))
    running = [start(name) for name in expected]
    try:
        end = time.monotonic() + PATIENCE
        while not all(map(has_store, expected)) and time.monotonic() < end:
            time.sleep(0.1)
        with concurrent.futures.ThreadPoolExecutor(len(expected) * len(SIZES)) as pool:
            results = [pool.submit(check, name, wanted, sizes)
                       for name, wanted in expected.items() for sizes in SIZES]
            good = True
            for result in results:
                right, line = result.result()
                good &= right
                print(line, flush=True)
    finally:
        for process in running:
            process.kill()
            process.wait()
    return not good


sys.exit(main())
