#!/usr/bin/env python3
"""judge.py SOURCE REPORT WORDS: compares the types of a report with the comments of a source, a line;
--sum FILE: adds up such lines and says whether all is well."""
import json
import os
import re
import sys

LEAST = 95  # per cent of the blocks of one program, over all its builds; a wrong type is never allowed


def wanted_types(source):
    """Line number -> the names that are right; None: the report should have none."""
    wanted = {}
    for number, line in enumerate(open(source), 1):
        found = re.search(r"// TYPE (.*\S)", line)
        if found:
            wanted[number] = [None if name == "none" else name for name in found.group(1).split("|")]
    return wanted


def innermost(record, source, wanted):
    for frame in record["frames"]:
        if frame.get("file") and os.path.basename(frame["file"]) == os.path.basename(source) \
                and frame.get("line") in wanted:
            return frame["line"]
    return None


def lines_of(record, source, wanted):
    """Line -> blocks: one function may allocate in several lines."""
    lines = {line["line"]: line["blocks"] for line in record["lines"] if line["line"] in wanted}
    if sum(lines.values()) == record["blocks"]:
        return lines
    line = innermost(record, source, wanted)
    return {line: record["blocks"]} if line else {}


def judge(source, report, words):
    wanted = wanted_types(source)
    right = typed = total = 0
    bad = []
    for process in report["processes"]:
        for record in process["records"]:
            lines = lines_of(record, source, wanted)
            got = {one["name"]: one["blocks"] for one in record["types"]}
            for line, blocks in sorted(lines.items()):
                names = wanted[line]
                known = [name for name in names if name]
                match = next((name for name in known if got.get(name, 0) >= blocks), None)
                if known and None not in names:
                    total += blocks
                if match:
                    got[match] -= blocks
                    if None not in names:
                        right += blocks
                elif None not in names:
                    bad.append(f"  missed: {os.path.basename(source)}:{line} {names[0]} ({blocks}), {words}")
            if lines:
                for name, blocks in got.items():
                    if blocks > 0:
                        typed += blocks
                        bad.append(f"  WRONG: {os.path.basename(source)}:{min(lines)} {name} ({blocks}), {words}")
    print(f"{os.path.basename(source)}\t{words}\t{right}\t{total}\t{typed}")
    for line in bad:
        print(line)


def add_up(path):
    right = total = wrong = 0
    for line in open(path):
        if line.startswith("  ") or line.startswith("not "):
            print(line, end="")
            continue
        _, _, one, of, bad = line.rstrip("\n").split("\t")
        right, total, wrong = right + int(one), total + int(of), wrong + int(bad)
    share = 100 * right / total if total else 0
    print(f"types: {right} of {total} blocks right ({share:.1f} %), {wrong} wrong")
    return 0 if share >= LEAST and wrong == 0 else 1


if __name__ == "__main__":
    if sys.argv[1] == "--sum":
        sys.exit(add_up(sys.argv[2]))
    judge(sys.argv[1], json.load(open(sys.argv[2])), sys.argv[3])
