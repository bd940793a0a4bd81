"""callgrind.py [NAME FILE...] <PROFILE - callgrind_annotate reads it, its totals are those of the costs, and names come back.

With JSON REPORT as the only arguments: the totals are those of the report, and main has all of them.
"""
import json, re, subprocess, sys, tempfile
from words import all_back, check

text = sys.stdin.buffer.read().decode("utf-8")


def own_costs():
    """The sums of the lines that are not the inclusive costs of a call."""
    sums, call = None, False
    for line in text.split("\n"):
        if re.match(r"\d+( \d+)+$", line) and not call:
            costs = list(map(int, line.split()[1:]))
            sums = [a + b for a, b in zip(sums, costs)] if sums else costs
        call = line.startswith("calls=")
    return sums


def annotate(*options):
    with tempfile.NamedTemporaryFile(suffix=".callgrind") as file:
        file.write(text.encode())
        file.flush()
        done = subprocess.run(["callgrind_annotate", "--threshold=100", "--auto=no", *options, file.name],
                              capture_output=True, check=False)
    check(done.returncode == 0 and not done.stderr, done.stderr)
    return done.stdout.decode("utf-8")


def numbers(line):
    return [int(n.replace(",", "")) for n in re.findall(r"(?<![\d.(])\d[\d,]*(?![\d.]*%)", line)]


events = re.search(r"^events: (.*)$", text, re.M)[1].split()
totals = dict(zip(events, map(int, re.search(r"^totals: (.*)$", text, re.M)[1].split())))
sums = own_costs()
if sums and max(totals.values()) < 2**53:
    check(sums == [totals[event] for event in events], "sums", sums, totals)
    for inclusive in ("no", "yes"):
        shown = annotate("--inclusive=" + inclusive, "--show=" + ",".join(events))
        line, = re.findall(r"^(.*) PROGRAM TOTALS$", shown, re.M)
        check(numbers(line) == [totals[event] for event in events], line, totals)
if sys.argv[1:2] == ["JSON"]:
    process, = json.load(open(sys.argv[2], encoding="utf-8"))["processes"]
    leaked = [r for r in process["records"] if r["verdict"] in ("lost", "indirect") and not r["suppressed_by"]]
    for unit in ("bytes", "blocks"):
        check(totals["Leaked" + unit.title()] == sum(r[unit] for r in leaked), "leaked", totals)
        check(totals["Live" + unit.title()] == process["totals"]["live_" + unit], "live", totals)
        check(totals["Peak" + unit.title()] == (process["peak"] or {unit: 0})[unit], "peak", totals)
    check(totals["AllocatedBytes"] == process["totals"]["bytes_allocated"], "allocated", totals)
    check(totals["AllocatedBlocks"] == process["totals"]["allocations"], "allocated", totals)
    shown = annotate("--inclusive=yes", "--show=LeakedBytes")
    line, = re.findall(r"^(.*):main \[.*$", shown, re.M)
    check(numbers(line)[0] == totals["LeakedBytes"], line)
else:
    all_back({name.partition(" ")[2] for name in re.findall(r"^c?fn=(.*)$", text, re.M)})
    all_back({name.partition(" ")[2] for name in re.findall(r"^c?ob=(.*)$", text, re.M)})
