"""folded.py STACKS JSON bytes|blocks - flamegraph.pl draws them, and they add up to the JSON report.

Every line is a stack without spaces and a number, and no stack is there twice.
"""
import json
import os
import re
import subprocess
import sys

FLAMEGRAPH = "/usr/share/perl5/Devel/NYTProf/flamegraph.pl"


def draw(path):
    done = subprocess.run(["perl", FLAMEGRAPH, path], capture_output=True, check=False)
    assert done.returncode == 0 and not done.stderr, done.stderr
    return done.stdout.decode("utf-8")


def main():
    with open(sys.argv[1], encoding="utf-8", newline="\n") as stream:
        text = stream.read()
    unit = sys.argv[3]
    report = json.load(open(sys.argv[2], encoding="utf-8"))
    records = [r for p in report["processes"]
               if not (p["forked"] and p["end"]["how"] == "exec") for r in p["records"]]
    lines = text.split("\n")
    assert lines.pop() == "" and len(text.splitlines()) == len(lines)
    assert all(re.fullmatch(r"[^\s;]+(;[^\s;]+)* [1-9]\d*", line) for line in lines), lines
    assert len({line.rpartition(" ")[0] for line in lines}) == len(lines), "a stack twice"
    got = sum(int(line.rpartition(" ")[2]) for line in lines)
    assert got == sum(r[unit] for r in records), (got, unit)
    deepest = max((line.count(";") for line in lines), default=0)
    assert deepest <= max((len(r["frames"]) for r in records), default=0)
    if not os.path.exists(FLAMEGRAPH):
        sys.exit(77)
    if lines:
        svg = draw(sys.argv[1])
        assert svg.count("<g ") >= deepest, "frames are missing"


main()
