"""judge.py BUILD STORES [leakplant] - what the processes of our own programs left. Prints each finding; exits 1 when there is one,
or when nothing was seen. Other people's programs (a shell, a compiler) are none of our business, nor is
leakplant, which leaks on purpose, unless it is asked for. A process that was killed has no look: it could give nothing back, and only what it released wrongly counts."""

import glob
import json
import os
import subprocess
import sys

LOST = ("lost", "indirect", "possible")


def report(build, folder):
    # A process that was killed before it could write anything is refused, and the others are read.
    stores = sorted(glob.glob(os.path.join(folder, "*.leak")))
    if not stores:
        sys.exit("no process left a store")
    here = os.path.dirname(os.path.abspath(__file__))
    command = [os.path.join(build, "leakreport"), "--format=json", "--default-suppressions=off",
               "--suppressions=" + os.path.join(here, "others.supp")]
    said = subprocess.run(command + stores, stdout=subprocess.PIPE, stderr=subprocess.PIPE).stdout
    if not said:
        sys.exit("leakreport says nothing of %d stores" % len(stores))
    return json.loads(said)["processes"]


def ours(build, process, planted):
    path = process["exe"] or "" # one that was killed at its start
    return os.path.dirname(path).startswith(build) and (planted or os.path.basename(path) != "leakplant")


def stack(finding):
    return " <- ".join("%s (%s:%s)" % (f["function"], os.path.basename(f["file"] or f["module"] or "?"), f["line"] or "?")
                       for f in finding["frames"][:6])


def findings(process):
    for record in process["records"]:
        if record["verdict"] in LOST:
            yield "%s: %d bytes in %d blocks" % (record["verdict"], record["bytes"], record["blocks"]), record
    for error in process["errors"]:
        yield error["type"], error
    for resource in process["resources"] if process["snapshot"] else ():
        yield "%s left open: %s (%d)" % (resource["type"], resource["name"], resource["count"]), resource


def main(build, folder, planted):
    processes = [p for p in report(build, folder) if ours(build, p, planted)]
    bad = {}
    for process in processes:
        for words, finding in findings(process):
            where = "%s\n    %s" % (words, stack(finding))
            bad[where] = bad.get(where, 0) + 1
    for where, count in bad.items():
        print("%s\n    in %d of %d processes" % (where, count, len(processes)))
    seen = sum(p["totals"]["allocations"] for p in processes)
    looked_at = sum(1 for p in processes if p["snapshot"])
    if not seen or not looked_at:
        sys.exit("%d processes, %d of them looked at, %d allocations: nothing was seen" % (len(processes), looked_at, seen))
    if bad:
        sys.exit(1)


main(os.path.realpath(sys.argv[1]), sys.argv[2], sys.argv[3:] == ["leakplant"])
