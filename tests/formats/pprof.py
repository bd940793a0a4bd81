"""pprof.py PROFILE JSON - what go tool pprof reads in a profile is what the JSON report says.

Every record is a sample with its verdict, blocks and bytes, lost ones that are not suppressed are
leaked, and the sums of what was allocated are the process's.
"""
import json
import re
import shutil
import subprocess
import sys
from collections import Counter

MOST = 2**63 - 1  # pprof's numbers are signed


def raw(profile):
    words = ["go", "tool", "pprof", "-symbolize=none", "-raw", profile]
    done = subprocess.run(words, capture_output=True, check=False)
    if done.returncode:
        sys.exit("go tool pprof: " + done.stderr.decode("utf-8", "replace"))
    return done.stdout.decode("utf-8")  # strings of protobuf are UTF-8


def samples(text):
    """(values, verdict) of each"""
    found = []
    assert "alloc_objects/count alloc_space/bytes inuse_objects/count inuse_space/bytes[dflt] " \
        "leaked_objects/count leaked_space/bytes" in text
    for line in text[:text.index("\nLocations\n")].split("\n"):
        row = re.fullmatch(r"((?: *\d+){6}): [\d ]+", line)
        label = re.search(r"\bverdict:\[(\w+)\]", line)
        if row:
            found.append([tuple(map(int, row[1].split())), None])
        elif label:
            found[-1][1] = label[1]
    return found


def main():
    if not shutil.which("go"):
        sys.exit(77)
    got = samples(raw(sys.argv[1]))
    report = json.load(open(sys.argv[2], encoding="utf-8"))
    wanted = Counter()
    for process in report["processes"]:
        for record in process["records"]:
            if not record["blocks"]:
                continue  # it grew, and was freed
            living = min(record["blocks"], MOST), min(record["bytes"], MOST)
            leaked = record["verdict"] in ("lost", "indirect") and not record["suppressed_by"]
            wanted[(0, 0) + living + (living if leaked else (0, 0)), record["verdict"]] += 1
    records = Counter((values, verdict) for values, verdict in got if verdict)
    assert records == wanted, (records - wanted, wanted - records)
    assert all(not any(values[2:]) for values, verdict in got if not verdict)
    if "allocations" in sys.argv[3:]:
        for at, key in enumerate(("allocations", "bytes_allocated")):
            told = sum(process["totals"][key] for process in report["processes"])
            assert told and sum(values[at] for values, _ in got) == told, (key, told)


main()
