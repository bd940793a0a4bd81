"""watched.py EXPECTED DOCUMENT... - what leaktop says of each scenario while it runs.

EXPECTED: as for judge.py. DOCUMENT: one of leaktop --json of each. What grows is in its first row and
nothing else does; what does not grow is called neither. Prints a line for each, fails when one is wrong."""
import json
import sys

wrong = 0
expected = dict(line.split() for line in open(sys.argv[1]))
for path in sys.argv[2:]:
    try:
        document = json.load(open(path))
    except ValueError as error:
        print(f"  FAIL  {path}: {error}")
        wrong += 1
        continue
    name = document["process"]["argv"][1]
    grows = expected.pop(name).startswith("+")
    first = document["sites"][0] if document["sites"] else {"growth": None, "frames": []}
    user = next((f["function"] for f in first["frames"] if f["user"]), None)
    verdict = first["growth"]["verdict"] if first["growth"] else "-"
    good = document["totals"]["growing"] == grows
    good = good and (not grows or (user == name and verdict in ("growing", "slow-consumer")))
    wrong += not good
    print(f"{'  ok   ' if good else '  FAIL '} leaktop on {name:20} {document['totals']['growing']} {verdict}")
for name in expected:
    print(f"  FAIL  leaktop on {name}: it was not looked at")
    wrong += 1
sys.exit(wrong != 0)
