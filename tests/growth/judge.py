"""judge.py EXPECTED REPORT... - is each scenario called what it is, and nothing else growing?

EXPECTED: lines "name [+]verdict,verdict"; + means that it grows. REPORT: NAME.json of each. Prints a line
for each, as the table in docs/GROWTH.md has them; fails when one is wrong."""
import json
import os
import sys

wrong = 0
for line in open(sys.argv[1]):
    name, wanted = line.split()
    path = os.path.join(sys.argv[2], name + ".json")
    try:
        process = json.load(open(path))["processes"][0]
    except (OSError, ValueError, IndexError) as error:
        print(f"  FAIL  {name}: no report ({error})")
        wrong += 1
        continue
    seen, also = None, []
    for record in process["records"]:
        growth = record["growth"]
        user = next((f["function"] for f in record["frames"] if f["user"]), None)
        if not growth:
            continue
        if user == name:
            seen = growth
        elif growth["verdict"] in ("growing", "slow-consumer"):
            also.append(user)
    grows = wanted.startswith("+")
    verdict = seen["verdict"] if seen else "nothing"
    # A site that does not grow, and of which no block is left, has no record.
    good = verdict in wanted.lstrip("+").split(",") or (not grows and not seen)
    good = good and not also
    wrong += not good
    print(f"{'  ok   ' if good else '  FAIL '} {name:20} {verdict:14}",
          f"{seen['bytes_per_second']:>9} {seen['confidence']:.2f} {seen['reason']}" if seen else "-",
          f"also growing: {also}" if also else "")
sys.exit(wrong != 0)
