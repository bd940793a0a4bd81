"""bench/run micro: the cost of one malloc, one free and one fork, and the memory that libleak adds.

    --rounds=N        interleaved rounds: every tool once, then every tool again ... (3)
    --only=A,B        pairs, live, threads, growth, forks, events
    --tools=A,B       columns: again, forward, libleak, libleak:OPTION=VALUE[:...], and the peers of
                      tools.py; options that this libleak does not have are left out
    --events=N        calls of malloc and free in "events" (100000000)
    --scale=F         F times as many pairs and blocks, for a quick run (1)
    --output=FILE     file of the results (build/bench/micro.tsv)
    --markdown        print tables in Markdown

Not every combination is run. Depth and sites are combined for hot pairs (a block is freed at once), with 1e3 live
blocks; live blocks and sites for random pairs (a random block is freed and its place reused), at depth 20;
threads are run at depth 20 with both.
"""
import glob, os, subprocess, sys

import runs, show, tools
from runs import say

TOOLS = ["again", "forward", "libleak", "libleak:free_stacks=off", "libleak:free_stacks=all",
         "libleak:sample=524288", "libleak:site_stacks=off", "heaptrack", "lsan"]
LIMIT_SECONDS = 900
BLOCKS_PER_WARM_MIB = 1500 # includes the memory of leak checks and of other tools
DEPTH = 20


def program(name):
    return os.path.join(tools.BUILD, "bench", name)


def short(number):
    """1000000 -> 1e6"""
    digits = str(int(number))
    zeros = len(digits) - len(digits.rstrip("0"))
    return "%se%d" % (digits[:-zeros], zeros) if zeros >= 3 else digits


def plural(number, word):
    return "%s %s%s" % (number, word, "" if str(number) == "1" else "s")


# ---- The cases: (name, program, its parameters) ------------------------------------------------------------

def pairs_cases(scale):
    """Depth x sites, hot pairs only."""
    cases = []
    for depth in (4, 16, 20, 64):
        for sites, outer, words in ((1, 0, "one site"), (1000, 0, "1e3 sites"),
                                    (1000, 1, "1e3 sites, outer frames differ")):
            if depth == 4 and outer:
                continue # so few frames are inner and outer ones
            pairs = (1000000 if sites == 1 else 200000) * scale
            cases.append(("depth %d, %s" % (depth, words), "pairs",
                          dict(depth=depth, sites=sites, outer=outer, live=1000, pairs=pairs)))
    return cases


def live_cases(scale):
    """Random pairs among live blocks, with cache misses as in a real program."""
    return [("%s live, %s" % (short(live), "one site" if sites == 1 else "1e3 sites"), "pairs",
             dict(depth=DEPTH, sites=sites, live=live, random=1, pairs=300000 * scale))
            for live in (1000, 1000000 * scale, 10000000 * scale) for sites in (1, 1000)]


def threads_cases(scale):
    """Each of 1, 2, 8 threads does equal work, in many short batches, of which the best one counts."""
    live = 1000000 * scale
    arrangements = (
        ("all on one site", dict(sites=1, live=8000)),
        ("a site each", dict(sites=1, apart=1, live=8000)),
        ("1e3 sites each", dict(sites=1000, apart=1, live=8000)),
        ("1e3 sites each, %s live" % short(live), dict(sites=1000, apart=1, live=live, random=1)))
    return [("%s, %d" % (words, threads), "pairs",
             dict(knobs, depth=DEPTH, threads=threads, spawn=1, pairs=20000, batch_us=2000, batches=200))
            for words, knobs in arrangements for threads in (1, 2, 8)]


def growth_cases(scale):
    """Memory depends on blocks, sites and threads. The calls of the last, largest case are timed."""
    shapes = ((1000, 1, 1), (1000, 1000, 8), (1000000 * scale, 1, 1), (1000000 * scale, 10000, 8),
              (10000000 * scale, 1000, 1))
    cases = []
    for live, sites, threads in shapes:
        words = "%s live, %s, %s" % (short(live), plural(short(sites), "site"), plural(threads, "thread"))
        knobs = dict(live=live, sites=sites, threads=threads, depth=DEPTH, clock=int(len(cases) == len(shapes) - 1))
        cases.append((words, "growth", knobs))
    return cases


def forks_cases(scale):
    live = 1000000 * scale
    return [("%s live" % short(live), "forks", dict(live=live, sites=1000, depth=DEPTH, forks=20))]


# ---- Measuring -------------------------------------------------------------------------------------------------

def run(tool, name, knobs, place):
    """Returns the numbers that the program and the recording file give, or None, and the reason of a failure or None."""
    words = ["%s=%d" % pair for pair in knobs.items()]
    blocks = max(knobs.get(shape, 0) for shape in ("live", "tree", "bush", "list", "data"))
    warm = runs.WARM_MIB + blocks // BLOCKS_PER_WARM_MIB
    with runs.Measured(tool.command([program(name), *words], place), place, LIMIT_SECONDS, warm) as measured:
        bad = runs.trouble(measured.wait())
    said = runs.numbers(measured.read_output().decode())
    if bad or not said:
        return None, bad or "no output"
    for store in glob.glob(os.path.join(place, "**/%s.*.leak" % name), recursive=True)[:1]:
        asked = subprocess.run([program("store"), store], stdout=subprocess.PIPE)
        said.update(runs.numbers(asked.stdout.decode()))
    return said, None


def measure(figures, cases, selected, rounds):
    for case, name, knobs in cases:
        say(case, end="")
        failed = set()
        for round_ in range(1, rounds + 1):
            for tool in selected:
                if tool.name in failed:
                    continue
                with runs.Place() as place:
                    said, bad = run(tool, name, knobs, place)
                figures.add(case, tool.name, round_, "status", bad or "ok")
                if bad:
                    failed.add(tool.name)
                    say("  %s: %s" % (tool.name, bad), end="")
                for quantity, value in (said or {}).items():
                    figures.add(case, tool.name, round_, quantity, value)
            say(" %d" % round_, end="")
        say("")


def events(figures, selected, count, scale):
    """Measures the size of the tool's files after few events and after many. A trace grows with every event, so a
    tenth of them suffices."""
    for tool in selected:
        keeps_trace = tool.name.startswith("heaptrack")
        if not keeps_trace and not tool.name.startswith("libleak"):
            continue
        for number in (count // 100, count // 10 if keeps_trace else count):
            case = "%s events, 1e4 sites" % short(number * scale)
            say("%s %s" % (case, tool.name))
            with runs.Place() as place:
                said, bad = run(tool, "pairs", dict(depth=16, sites=10000, pairs=number * scale / 4, batches=1), place)
                kept = sum(os.stat(os.path.join(d, f)).st_blocks * 512 for d, _, names in os.walk(place) for f in names
                           if f.endswith(".leak") or f.startswith("trace"))
            figures.add(case, tool.name, 1, "status", bad or "ok")
            if not bad:
                figures.add(case, tool.name, 1, "kept", kept)


SUITES = {"pairs": pairs_cases, "live": live_cases, "threads": threads_cases, "growth": growth_cases,
          "forks": forks_cases, "events": None}


def main(words):
    chosen, flags = runs.options(words, __doc__, ("--markdown",), rounds="3", only="", tools="", events="100000000",
                                 scale="1", output=os.path.join(tools.BUILD, "bench/micro.tsv"))
    names = [n for n in chosen["tools"].split(",") if n] or TOOLS
    selected = [tool for tool in tools.named(names, wrapped=False) if not tool.missing()]
    for name in set(names) - {tool.name for tool in selected} - {"none"}:
        say("%s: not installed, or not supported by this libleak" % name)
    only = [n for n in chosen["only"].split(",") if n] or list(SUITES)
    scale = float(chosen["scale"])
    runs.scale_warm(scale)
    figures = runs.Figures(chosen["output"], "micro")
    for tool in selected:
        figures.add("-", tool.name, 0, "tool", tool.words)
    for suite in only:
        if suite not in SUITES:
            raise SystemExit("bench: unknown part: %s (parts: %s)" % (suite, ", ".join(SUITES)))
        figures.suite = suite
        if suite == "events":
            events(figures, selected, int(float(chosen["events"])), scale)
        else:
            measure(figures, SUITES[suite](scale), selected, int(chosen["rounds"]))
    show.show(figures.rows, "--markdown" in flags)
    print("\nAll single runs: %s" % chosen["output"])


if __name__ == "__main__":
    main(sys.argv[1:])
