"""bench/run programs: the cost of libleak and other tools for real programs.

Every run of a program must end as its first run without a tool and print the same output. If it does not,
the tool counts as crashed on this program and is not run on it again. A tool that takes more than
20 times as long as the program alone is run once on this program.
"""
import os, shutil, socket, struct, subprocess, sys, time

import inputs, runs, show, tools
from runs import say

WORK = os.path.join(tools.BUILD, "bench/inputs")
WAIT_SECONDS = 900
SLOW = 20 # times the run without a tool: the tool is run once


OPTIONS = """
    --rounds=N        interleaved rounds: every tool once, then every tool again ... (5)
    --programs=A,B    only these
    --tools=A,B       columns: again, libleak, libleak:OPTION=VALUE[:...], and the peers of tools.py
    --valgrind        also run valgrind
    --scale=F         inputs F times as large (1)
    --output=FILE     file of the results (build/bench/%s.tsv)
    --markdown        print tables in Markdown
"""


# ---- The programs --------------------------------------------------------------------------------------------

class Program:
    """name
    needs       commands that must be installed
    command     words, or a function of the paths of the inputs
    files       inputs, {name: writer}; "{name}" in the command becomes the path
    variables   NAME=VALUE
    output      name of its output file in "{place}"; None: standard output"""

    def __init__(self, name, needs, command, files=None, variables=(), output=None):
        self.name, self.needs, self.words, self.files = name, needs, command, files or {}
        self.variables, self.output = variables, output

    def missing(self):
        return [n for n in self.needs if not shutil.which(n)]

    def command(self, scale):
        paths = {"{%s}" % n: inputs.made(WORK, n, scale, write) for n, write in self.files.items()}
        words = self.words(paths) if callable(self.words) else self.words
        return [paths.get(word, word) for word in words]

    def run(self, tool, argv, place):
        """Returns the results and the output."""
        with runs.Measured(tool.command(argv, place, self.variables), place, WAIT_SECONDS) as measured:
            figures = measured.wait()
        if not self.output:
            return figures, measured.read_output()
        try:
            with open(os.path.join(place, self.output), "rb") as file:
                return figures, file.read()
        except OSError:
            return figures, b""


def compiler_proper(paths):
    """Returns the command of the compiler proper, which the driver g++ would run."""
    said = subprocess.run(["g++", "-###", "-S", "-O1", "-std=c++17", "-o", "-", paths["{tree.cc}"]],
                          stderr=subprocess.PIPE).stderr.decode()
    line = next(l for l in said.splitlines() if "cc1plus" in l.split(" -")[0])
    return [word.strip('"') for word in line.split()]


class Server(Program):
    """redis-server: its CPU time under the load of redis-benchmark, which is not measured. Wall time is that of
    redis-benchmark. The output is the state of the server at the end."""

    LOAD = ("-c", "20", "-P", "16", "-q", "-t", "set,get,incr,lpush,rpush,lpop,sadd,hset,zadd,lrange_100")
    ASKED = (("DBSIZE",), ("LLEN", "mylist"), ("SCARD", "myset"), ("STRLEN", "key:__rand_int__"), ("ZCARD", "myzset"))

    def command(self, scale):
        self.requests = str(int(300000 * scale))
        return ["redis-server", "--port", "0", "--save", "", "--appendonly", "no", "--unixsocket"]

    def run(self, tool, argv, place):
        door = os.path.join(place, "door")
        with runs.Measured(tool.command(argv + [door], place), place, WAIT_SECONDS) as measured:
            seconds, answers = 0, []
            if self.wait_for(door, measured.process):
                begin = time.monotonic()
                load = subprocess.run(["redis-benchmark", "-s", door, "-n", self.requests, *self.LOAD],
                                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                seconds = time.monotonic() - begin
                answers = ["load %d" % load.returncode] + [self.ask(door, *words) for words in self.ASKED]
                self.ask(door, "SHUTDOWN", "NOSAVE")
            figures = measured.wait()
        figures["wall"] = seconds
        return figures, "; ".join(answers).encode()

    @staticmethod
    def wait_for(door, process):
        for _ in range(3000):
            if process.poll() is not None:
                return False
            try:
                with socket.socket(socket.AF_UNIX) as s:
                    s.connect(door)
                    return True
            except OSError:
                time.sleep(0.01)
        return False

    @staticmethod
    def ask(door, *words):
        asked = subprocess.run(["redis-cli", "-s", door, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        return asked.stdout.decode().strip()


JQ = ("[.[] | {id, n: (.tags | length), x: .at.x}] | group_by(.n)"
      " | map({n: .[0].n, c: length, x: (map(.x) | add)})")

PROGRAMS = [
    Program("xmllint", ["xmllint"], ["xmllint", "--xpath", "concat(count(//item), ' ', sum(//price))", "{list.xml}"],
            {"list.xml": inputs.xml}),
    Program("jq", ["jq"], ["jq", "-c", JQ, "{list.json}"], {"list.json": inputs.json}),
    Program("sqlite3", ["sqlite3"], lambda paths: ["sqlite3", "-batch", ":memory:", ".read '%s'" % paths["{rows.sql}"]],
            {"rows.sql": inputs.sql}),
    Program("clang-format", ["clang-format"], ["clang-format", "{wild.cc}"], {"wild.cc": inputs.badly_laid_out}),
    Program("cppcheck", ["cppcheck"],
            ["cppcheck", "--quiet", "--enable=all", "--output-file={place}/findings", "{classes.cc}"],
            {"classes.cc": inputs.ordinary_classes}, output="findings"),
    Program("python3", ["/usr/bin/python3"], ["/usr/bin/python3", "{words.py}"], {"words.py": inputs.python},
            ["PYTHONMALLOC=malloc", "PYTHONHASHSEED=0"]),
    Program("perl", ["perl"], ["perl", "{words.pl}"], {"words.pl": inputs.perl}, ["PERL_HASH_SEED=0"]),
    Program("cc1plus", ["g++"], compiler_proper, {"tree.cc": inputs.templates}),
    Server("redis", ["redis-server", "redis-benchmark", "redis-cli"], None),
]


# ---- Measuring ---------------------------------------------------------------------------------------------------

def census(figures, program, argv):
    """Counts allocations and the peak of live blocks, by which costs are divided."""
    library = tools.built("bench/libcensus.so")
    counter = tools.preloaded("census", "", library, "CENSUS={place}/census")
    with runs.Place() as place:
        program.run(counter, argv, place)
        try:
            with open(os.path.join(place, "census"), "rb") as file:
                allocations, _, peak = struct.unpack("=QQQ", file.read(24))
        except (OSError, struct.error):
            return
    figures.add(program.name, "-", 0, "allocations", allocations)
    figures.add(program.name, "-", 0, "peak_blocks", peak)


def report(figures, program, argv, name):
    """Measures the time of leakreport for the recording of the program, and reads the size of the recording."""
    tool = tools.libleak_tool(name, wrapped=True)
    if tool.missing():
        return
    tool.wrapper = tool.wrapper[:-1] + ["--keep={place}/kept.leak", "--"]
    with runs.Place() as place:
        program.run(tool, argv, place)
        kept = os.path.join(place, "kept.leak")
        if not os.path.exists(kept):
            return
        asked = subprocess.run([tools.built("bench/store"), kept], stdout=subprocess.PIPE)
        for quantity, value in runs.numbers(asked.stdout.decode()).items():
            figures.add(program.name, name, 0, quantity, int(value))
        for round_ in range(3):
            with runs.Measured([tools.built("leakreport"), kept], place, WAIT_SECONDS) as measured:
                read = measured.wait()
            for quantity in ("cpu", "wall", "rss_kb"):
                figures.add(program.name, name, round_ + 1, "report " + quantity, read[quantity])


def measure(figures, program, argv, selected, rounds):
    expected, plain, done_with = None, 0, set()
    for round_ in range(1, rounds + 1):
        say("%-14s round %d:" % (program.name, round_), end="")
        for tool in selected:
            if tool.missing() or tool.name in done_with:
                continue
            with runs.Place() as place:
                figured, output = program.run(tool, argv, place)
            bad = runs.trouble(figured, tool.verdicts)
            if expected is None:
                expected, plain = output, figured["cpu"]
                if bad:
                    raise SystemExit("bench: %s fails without any tool: %s" % (program.name, bad))
            if not bad and not (expected in output if tool.talks else expected == output):
                bad = "other output"
            figures.add(program.name, tool.name, round_, "status", bad or "ok")
            if bad:
                done_with.add(tool.name)
                say("  %s: %s" % (tool.name, bad), end="")
                continue
            for quantity in ("cpu", "wall", "rss_kb"):
                figures.add(program.name, tool.name, round_, quantity, figured[quantity])
            say("  %s %.2f" % (tool.name, figured["cpu"]), end="")
            if figured["cpu"] > SLOW * plain:
                done_with.add(tool.name)
        say("")


def main(words, about=__doc__, programs=PROGRAMS, suite="programs"):
    chosen, flags = runs.options(words, about + OPTIONS % suite, ("--valgrind", "--markdown"), rounds="5", programs="", tools="",
                                 scale="1", output=os.path.join(tools.BUILD, "bench/%s.tsv" % suite))
    runs.scale_warm(float(chosen["scale"]))
    names = [n for n in chosen["tools"].split(",") if n] or tools.defaults()
    if "--valgrind" in flags and "valgrind" not in names:
        names.append("valgrind")
    selected = tools.named(names)
    wanted = [n for n in chosen["programs"].split(",") if n]
    for name in set(wanted) - {p.name for p in programs}:
        raise SystemExit("bench: unknown program: %s (programs: %s)" % (name, ", ".join(p.name for p in programs)))
    figures = runs.Figures(chosen["output"], suite)
    for tool in selected:
        figures.add("-", tool.name, 0, "tool", "-" if tool.missing() else tool.words)
    for program in programs:
        if wanted and program.name not in wanted:
            continue
        if program.missing():
            say("%s: not installed: %s" % (program.name, " ".join(program.missing())))
            figures.add(program.name, "none", 0, "status", "missing")
            continue
        argv = program.command(float(chosen["scale"]))
        census(figures, program, argv)
        for name in names:
            if name.partition(":")[0] == "libleak":
                report(figures, program, argv, name)
        measure(figures, program, argv, selected, int(chosen["rounds"]))
    show.show(figures.rows, "--markdown" in flags)
    print("\nAll single runs: %s" % chosen["output"])


if __name__ == "__main__":
    main(sys.argv[1:])
