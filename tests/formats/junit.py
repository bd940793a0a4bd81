"""junit.py [NAME FILE...] <DOCUMENT - what python3-junitparser reads: are the counts those of the tests?

The names in the files are what suites are called, when they are files without a folder.
"""
import os, sys, tempfile
from junitparser import Error, Failure, JUnitXml, Skipped
from words import check, names

with tempfile.NamedTemporaryFile() as file:
    file.write(sys.stdin.buffer.read())
    file.flush()
    report = JUnitXml.fromfile(file.name)
sums = dict(tests=0, failures=0, errors=0, skipped=0)
for suite in report:
    got = dict(tests=0, failures=0, errors=0, skipped=0)
    seen = set()
    for case in suite:
        kinds = [type(result) for result in case.result]
        got["tests"] += 1
        got["failures"] += Failure in kinds
        got["errors"] += Error in kinds
        got["skipped"] += Skipped in kinds
        seen.add(case.name)
        for result in case.result:
            check(result.message, "no message")
            check(Skipped in kinds or result.type == "summary" or (result.type and result.text.strip()), "empty")
    check(got == {key: getattr(suite, key) for key in got}, suite.name, "counts", got)
    sums = {key: sums[key] + got[key] for key in got}
check(sums == {key: getattr(report, key) for key in sums}, "the report counts", sums)
for name in names(keep="\t\n\r"):
    check(any(suite.name == name.split("/")[-1] for suite in report), "lost:", ascii(name[:300]))
