"""bench/run reports: the cost of each format of leakreport for a program that leaks a lot at many sites.

    --sites=N         leaking call stacks, each with different function names (100000)
    --blocks=N        lost blocks of all call stacks together (1000000)
    --rounds=N        interleaved rounds: every format once, then every format again ... (3)
    --formats=A,B     formats in leakreport --help (all)
    --output=FILE     file of the results (build/bench/reports.tsv)
    --markdown        print tables in Markdown
"""
import math, os, re, subprocess, sys

import runs, show, tools

REPORT = tools.built("leakreport")


def formats():
    words = subprocess.run([REPORT, "--help"], stdout=subprocess.PIPE, check=True).stdout.decode()
    return re.findall(r"^ {6}([a-z-]+)  ", words.partition("\nFormats:\n")[2], re.M)


def program(place, sites, blocks):
    """Generates and compiles a program with that many pairs of functions."""
    inner = max(count for count in range(1, math.isqrt(sites) + 1) if sites % count == 0)
    source = subprocess.run([sys.executable, os.path.join(tools.ROOT, "bench/sites.py"), str(sites // inner), str(inner),
                             str(max(1, blocks // sites))], stdout=subprocess.PIPE, check=True).stdout
    path = os.path.join(place, "sites")
    subprocess.run([os.environ.get("CC", "cc"), "-O1", "-g", "-w", "-x", "c", "-o", path, "-"], input=source, check=True)
    return path


def store(place, figures, sites, blocks):
    path = os.path.join(place, "sites.leak")
    subprocess.run([tools.leakrun(), "--no-report", "--keep=" + path, program(place, sites, blocks)], check=True)
    line = subprocess.run([REPORT, "-q", path], stdout=subprocess.PIPE, check=True).stdout.decode()
    lost = re.search(r" lost=(\d+)/(\d+)/(\d+) ", line)
    figures.add("-", "-", 0, "blocks", lost.group(2))
    figures.add("-", "-", 0, "records", lost.group(3))
    return path


def measure(figures, name, round_, path, place):
    with runs.Measured([REPORT, "--format=" + name, "--top=0", path], place, 600) as run:
        ended = run.wait()
        said = os.path.getsize(run.output)
    figures.add(name, "libleak", round_, "status", runs.trouble(ended) or "ok")
    for quantity in ("cpu", "wall", "rss_kb"):
        figures.add(name, "libleak", round_, quantity, ended[quantity])
    figures.add(name, "libleak", round_, "bytes", said)


def main(words):
    chosen, flags = runs.options(words, __doc__, ("--markdown",), sites="100000", blocks="1000000", rounds="3",
                                 formats=",".join(formats()), output=os.path.join(tools.BUILD, "bench/reports.tsv"))
    figures = runs.Figures(chosen["output"], "reports")
    with runs.Place() as place:
        path = store(place, figures, int(chosen["sites"]), int(chosen["blocks"]))
        for round_ in range(1, int(chosen["rounds"]) + 1):
            for name in chosen["formats"].split(","):
                runs.say("\rround %d  %-20s" % (round_, name), "")
                measure(figures, name, round_, path, place)
    runs.say("\r%40s\r" % "", "")
    show.show(figures.rows, "--markdown" in flags)
    print("\nAll single runs: %s" % chosen["output"])


if __name__ == "__main__":
    main(sys.argv[1:])
