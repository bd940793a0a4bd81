"""csv_rows.py [NAME FILE...] <REPORT - what Python's csv module reads: every row has every column, and names come back.

With JSON REPORT as the only arguments: the rows are the records of that report.
"""
import csv, io, json, sys
from words import all_back, check

NUMBERS = ("bytes", "blocks", "retained_bytes", "line", "pid")
text = sys.stdin.buffer.read().decode("utf-8")
rows = list(csv.DictReader(io.StringIO(text, newline="")))
for row in rows:
    check(None not in row and None not in row.values(), "columns:", row)
    check(all(row[key].isdigit() for key in NUMBERS if row[key]), "a number is none:", row)
    check(not any(value[:1] in "=+-@" for value in row.values() if value), "a spreadsheet would run:", row)
if sys.argv[1:2] == ["JSON"]:
    got = sorted((row["signature"], row["verdict"], int(row["bytes"]), int(row["blocks"])) for row in rows)
    processes = json.load(open(sys.argv[2], encoding="utf-8"))["processes"]
    wanted = sorted((r["signature"], r["verdict"], r["bytes"], r["blocks"]) for p in processes for r in p["records"])
    check(got == wanted, "records:", got, wanted)
elif rows:
    all_back({row["function"] for row in rows})
    all_back({row["module"] for row in rows})
