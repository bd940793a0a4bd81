"""bench/run looks: the cost of a leak check of a live process, compared with LeakSanitizer and valgrind on the same heap.

    --rounds=N        interleaved rounds: every tool once, then every tool again ... (3)
    --only=A,B        heaps: tree, bush, list, data (all)
    --blocks=A,B      their sizes (100000,1000000)
    --threads=A,B     threads that change the heap meanwhile, one table for each number (0,2)
    --looks=N         leak checks in each run (5)
    --tools=A,B       again, libleak, lsan, valgrind (all)
    --valgrind=N      run valgrind on heaps up to N blocks (1000000), in the first round only
    --output=FILE     file of the results (build/bench/looks.tsv)
    --markdown        print tables in Markdown

Blocks of "data" have 1 KiB, so there is no heap of ten million of them. A hundred blocks of each heap are lost. A run
in which a leak check finds another number has failed.
"""
import glob, os, re, shutil, sys

import micro, runs, show, tools
from runs import say

LIMIT_SECONDS = 900
DATA_MOST = 1000000
LOST = 100


def columns():
    return [
        tools.NONE, tools.AGAIN,
        tools.preloaded("libleak", "libleak_snapshot(), libleak.so preloaded, without its leak checks at exit",
                        tools.built("libleak.so"), "LIBLEAK_OPTIONS=dir={place}:exit_look=off"),
        tools.preloaded("lsan", "__lsan_do_recoverable_leak_check(), gcc's LeakSanitizer preloaded, without names",
                        tools.LSAN, "LSAN_OPTIONS=symbolize=0:exitcode=0:leak_check_at_exit=0:log_path={place}/lsan"),
        tools.Tool("valgrind", "VALGRIND_DO_QUICK_LEAK_CHECK under memcheck, without checking values",
                   shutil.which("valgrind"), [],
                   ["valgrind", "-q", "--undef-value-errors=no", "--leak-check=summary", "--log-file={place}/log", "--"]),
    ]


def found_by_lsan(place):
    """Returns the number of lost blocks of each report in the log."""
    counts = []
    for log in glob.glob(os.path.join(place, "lsan.*")):
        with open(log) as file:
            counts += [int(n) for n in re.findall(r"leaked in (\d+) allocation", file.read())]
    return counts


def run(tool, knobs, place):
    said, bad = micro.run(tool, "looks", knobs, place)
    if bad:
        return said, bad
    most, least = said["lost"], said["lost_least"]
    if tool.name == "lsan":
        counts = found_by_lsan(place)
        most, least = max(counts, default=0), min(counts, default=0) if len(counts) == knobs["looks"] else 0
    watched = tool.name not in ("none", "again")
    return dict(said, found=most), "%d to %d found" % (least, most) if watched and {most, least} != {LOST} else None


def wanted(tool, knobs, blocks, round_, valgrind_most):
    """Whether there is anything to measure: without a tool only if threads change the heap."""
    if tool.name in ("none", "again"):
        return knobs["threads"] > 0
    return tool.name != "valgrind" or (blocks <= valgrind_most and round_ == 1)


def measure(figures, case, knobs, blocks, selected, rounds, valgrind_most):
    say(case, end="")
    failed = set()
    for round_ in range(1, rounds + 1):
        for tool in selected:
            if tool.name in failed or not wanted(tool, knobs, blocks, round_, valgrind_most):
                continue
            with runs.Place() as place:
                said, bad = run(tool, knobs, place)
            figures.add(case, tool.name, round_, "load", "%.1f" % os.getloadavg()[0])
            figures.add(case, tool.name, round_, "status", bad or "ok")
            if bad:
                failed.add(tool.name)
                say("  %s: %s" % (tool.name, bad), end="")
            for quantity, value in (said or {}).items():
                figures.add(case, tool.name, round_, quantity, value)
        say(" %d" % round_, end="")
    say("")


def main(words):
    chosen, flags = runs.options(words, __doc__, ("--markdown",), rounds="3", only="tree,bush,list,data",
                                 blocks="100000,1000000", threads="0,2", looks="5", valgrind="1000000",
                                 tools="again,libleak,lsan,valgrind",
                                 output=os.path.join(tools.BUILD, "bench/looks.tsv"))
    names = ["none"] + chosen["tools"].split(",")
    selected = [tool for tool in columns() if tool.name in names and not tool.missing()]
    figures = runs.Figures(chosen["output"], "looks")
    for tool in selected:
        figures.add("-", tool.name, 0, "tool", tool.words)
    for threads in map(int, chosen["threads"].split(",")):
        for shape in chosen["only"].split(","):
            for blocks in map(int, chosen["blocks"].split(",")):
                if shape == "data" and blocks > DATA_MOST:
                    continue
                case = "%s %s, %s" % (shape, micro.short(blocks), micro.plural(threads, "thread"))
                knobs = {shape: blocks, "threads": threads, "looks": int(chosen["looks"]), "lost": LOST}
                measure(figures, case, knobs, blocks, selected, int(chosen["rounds"]),
                        float(chosen["valgrind"]))
    show.show(figures.rows, "--markdown" in flags)
    print("\nAll single runs: %s" % chosen["output"])


if __name__ == "__main__":
    main(sys.argv[1:])
