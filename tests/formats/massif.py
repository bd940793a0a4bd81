"""massif.py [NAME FILE...] <SNAPSHOTS - ms_print draws them, each tree adds up, and names come back.

With JSON REPORT as the only arguments: the last snapshot is what lives, and none is above the peak of the report.
"""
import json, re, subprocess, sys, tempfile
from words import check, names

text = sys.stdin.buffer.read().decode("utf-8")
with tempfile.NamedTemporaryFile(suffix=".massif") as file:
    file.write(text.encode())
    file.flush()
    done = subprocess.run(["ms_print", "--threshold=0", file.name], capture_output=True, check=False)
check(done.returncode == 0 and not done.stderr, done.stderr)
shown = done.stdout.decode("utf-8")
rows = [[int(n.replace(",", "")) for n in line.split()]
        for line in shown.split("\n") if re.match(r" +\d[\d,]*( +[\d,]+){5}$", line)]
check([row[0] for row in rows] == list(range(len(rows))) and [row[1] for row in rows] == sorted(row[1] for row in rows),
      "snapshots", rows)


def add_up(lines):
    """A node has what its calls have, or more."""
    children, bytes_ = re.match(r" *n(\d+): (\d+) ", lines.pop(0)).groups()
    below = sum(add_up(lines) for _ in range(int(children)))
    check(below <= int(bytes_) or below >= 2**63, "more below than above", bytes_, below)
    return int(bytes_)


for size, tree in re.findall(r"mem_heap_B=(\d+)\n(?:.*\n){2}heap_tree=(?:peak|detailed)\n((?: *n\d.*\n)+)", text):
    lines = tree.split("\n")[:-1]
    check(add_up(lines) == int(size) and not lines, "a tree", size, lines)
if sys.argv[1:2] == ["JSON"]:
    process, = json.load(open(sys.argv[2], encoding="utf-8"))["processes"]
    check(rows[-1][2] == process["totals"]["live_bytes"], rows[-1], process["totals"])
    highest, known = max(row[2] for row in rows), process["peak"] or {"bytes": process["totals"]["peak_bytes"]}
    check(highest == known["bytes"] <= process["totals"]["peak_bytes"], "the peak", rows, process["totals"])
else:
    for name in names():
        check(not rows or name.replace("#", "_") in text, "a name did not come back:", ascii(name[:300]))
