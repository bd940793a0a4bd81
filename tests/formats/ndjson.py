"""ndjson.py LINES JSON - the lines, put together again, are the JSON report; jq reads each of them."""
import json
import shutil
import subprocess
import sys

PARTS = {"record": "records", "error": "errors", "resource": "resources"}


def main():
    with open(sys.argv[1], encoding="utf-8", newline="\n") as stream:
        lines = [json.loads(line) for line in stream]
    wanted = json.load(open(sys.argv[2], encoding="utf-8"))
    whole = dict(lines[0], processes=[], bytes_escaped=any(one["bytes_escaped"] for one in lines))
    assert whole.pop("line") == "report"
    for one in lines[1:]:
        what, at = one.pop("line"), one.pop("process")
        del one["bytes_escaped"]
        if what == "process":
            assert at == len(whole["processes"])
            whole["processes"].append(dict(one, records=[], errors=[], resources=[]))
        else:
            assert at == len(whole["processes"]) - 1
            whole["processes"][at][PARTS[what]].append(one)
    assert whole == wanted
    if shutil.which("jq"):
        done = subprocess.run(["jq", "-r", ".line", sys.argv[1]], capture_output=True, check=True)
        assert len(done.stdout.split()) == len(lines)


main()
