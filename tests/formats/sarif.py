"""sarif.py SARIF JSON [of N] - a report keeps to SARIF 2.1.0, and has a result for each record and error.

Results that a baseline had and the report has not are left alone.

sarif.schema.json says what SARIF asks of the properties we write. Then: rules exist, the innermost
file is the first location, the stack is whole, and what the JSON report has is there with its numbers and no
more; with N, of so many results some are there, and a notification says how many are not.
"""
import gzip
import json
import os
import re
import sys
from collections import Counter

try:
    import jsonschema
except ImportError:
    sys.exit(77)


def check_result(result, rules):
    assert rules[result["ruleIndex"]]["id"] == result["ruleId"] != "other"
    assert len(result["locations"]) == 1 and "physicalLocation" in result["locations"][0]
    assert not set("{}") & set(result["message"]["text"])
    for flow in result.get("codeFlows", []):
        assert len(flow["threadFlows"]) == 1
    for stack in result["stacks"]:
        assert stack["frames"]


def signatures(process):
    """(rule, signature, suppressed, numbers) of what must be there"""
    records = process["records"]
    for record in records:
        if not record["blocks"]:
            continue  # it grew, and was freed
        held = record["retained"] or {"bytes": None, "blocks": None}
        yield (record["verdict"], record["signature"], record["suppressed_by"],
               (record["bytes"], record["blocks"], record["kind"], held["bytes"], held["blocks"]))
    for resource in process["resources"]:
        yield resource["type"], resource["signature"], None, None


def numbers(result):
    keys = "bytes", "blocks", "kind", "retainedBytes", "retainedBlocks"
    return tuple(map(result["properties"].get, keys)) if "properties" in result else None


def sentence(record):
    """What the message of a record is like: ~ marks an estimate."""
    error = record["error"] or {"bytes": 0, "blocks": 0}
    size = "~[0-9].*" if error["bytes"] else "[0-9].*"
    count = "~[0-9,]+" if error["blocks"] else "{:,}".format(record["blocks"])
    return size + " in " + count + " blocks? .*"


def check_sentences(run, report):
    """By signature: a result says of its bytes and blocks what one record of that name says."""
    wanted = {}
    for process in report["processes"]:
        for record in process["records"]:
            wanted.setdefault((record["verdict"], record["signature"]), []).append(sentence(record))
    for result in run["results"]:
        (name,) = result["partialFingerprints"].values()
        if "properties" in result:
            text = result["message"]["text"]
            assert any(re.fullmatch(one, text, re.S) for one in wanted[result["ruleId"], name]), text


def check_notes(run, report):
    told = [note["level"] for note in run["invocations"][0]["toolExecutionNotifications"]]
    assert told == ["note" for process in report["processes"] for _ in process["notes"]], told


def check_left_out(run, total):
    (note,) = run["invocations"][0]["toolExecutionNotifications"]
    left = int(note["message"]["text"].split()[0].replace(",", ""))
    assert left and len(run["results"]) + left == total, (left, total)
    size = len(gzip.compress(open(sys.argv[1], "rb").read(), 6))
    assert len(run["results"]) == 25000 or 5 << 20 < size, size
    assert size < 10 << 20, size


def main():
    sarif = json.load(open(sys.argv[1], encoding="utf-8"))
    report = json.load(open(sys.argv[2], encoding="utf-8"))
    here = os.path.dirname(os.path.abspath(__file__))
    schema = json.load(open(os.path.join(here, "sarif.schema.json"), encoding="utf-8"))
    jsonschema.Draft7Validator.check_schema(schema)
    (run,) = sarif["runs"]
    if len(sys.argv) > 4:
        check_left_out(run, int(sys.argv[4]))
        del run["results"][100:]  # they are all alike
    jsonschema.Draft7Validator(schema).validate(sarif)
    rules = run["tool"]["driver"]["rules"]
    assert len({rule["id"] for rule in rules}) == len(rules)
    for result in run["results"]:
        check_result(result, rules)
    if len(sys.argv) > 4:
        return
    check_notes(run, report)
    check_sentences(run, report)
    report["processes"] = [p for p in report["processes"] if not (p["forked"] and p["end"]["how"] == "exec")]
    wanted = Counter(key for process in report["processes"] for key in signatures(process))
    got = Counter()
    errors = Counter(e["type"] for process in report["processes"] for e in process["errors"])
    for result in run["results"]:
        if result.get("baselineState") == "absent":
            continue
        if result["ruleId"] in errors:
            errors[result["ruleId"]] -= 1
            continue
        (fingerprint,) = result["partialFingerprints"].values()
        why = [s["justification"] for s in result["suppressions"]]
        assert all((s["kind"], s["status"]) == ("external", "accepted") for s in result["suppressions"])
        key = result["ruleId"], fingerprint, why[0] if why else None, numbers(result)
        got[key] += result["occurrenceCount"]
    assert not any(errors.values()), errors
    assert got == wanted, (got - wanted, wanted - got)


main()
