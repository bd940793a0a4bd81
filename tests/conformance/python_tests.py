#!/usr/bin/env python3
"""python_tests.py BUILD PYTHON [--seconds=N] [--jobs=N] [--limit=N] [--again=VERDICT] [TEST...] - do Python's own tests end the same?

Runs test files of the test suite that PYTHON has (libpython3-testsuite, or an installation from source), each
without and with libleak.so, and compares the exit status and the result of every test in it. A file that
differs runs both ways once more, because some depend on the time or the load. Verdicts:

  same       nothing differs
  differs    both times, and the two runs without libleak are the same: the output is in BUILD/python-tests
  noisy      two runs without libleak differ
  left-out   it runs longer than the limit, or has no tests here, even without libleak

Without TEST: every file that has no verdict yet, in the order of names that a seed shuffles, until N seconds are
over; --again runs those of a verdict once more. Verdicts are kept in BUILD/python-tests/VERSION, a line each.
"""

import argparse
import concurrent.futures
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

RESULT = re.compile(r"^(\w+ \([\w.]+\)).*?\.\.\. (ok|FAIL|ERROR|skipped|expected failure)", re.M)
LEFT_OUT = {"test_gdb", "test_embed", "test_perf_profiler"}  # hours, or a debugger; or the address space limit


def run(python, test, limit, variables):
    """The exit status (or "timeout"), the result of each test, and the output."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        environment = dict(os.environ, **{name: value.replace("%d", folder) for name, value in variables.items()})
        command = [python, "-m", "test", "-v", "--timeout", str(limit - 20), test]
        os.mkdir(folder + "/store")
        os.mkdir(folder + "/work")
        with open(folder + "/out", "w+", errors="replace") as out:
            child = subprocess.Popen(command, env=environment, cwd=folder + "/work", stdin=subprocess.DEVNULL,
                                     stdout=out, stderr=out, start_new_session=True)
            try:
                status = child.wait(limit)
            except subprocess.TimeoutExpired:
                status = "timeout"
                os.killpg(child.pid, 9)
                child.wait()
            out.seek(0)
            output = out.read()
        return status, dict(RESULT.findall(output)), output


def differences(one, other):
    names = sorted(set(one[1]) | set(other[1]))
    lines = [f"{n}: {one[1].get(n)} -> {other[1].get(n)}" for n in names if one[1].get(n) != other[1].get(n)]
    if one[0] != other[0]:
        lines.append(f"exit status: {one[0]} -> {other[0]}")
    return lines


def judge(python, test, limit, with_us):
    """The verdict, the number of results, what differs, and the output of the last run with libleak."""
    alone = run(python, test, limit, {})
    if alone[0] == "timeout" or not alone[1]:
        return "left-out", 0, [], ""
    found = differences(alone, beside := run(python, test, limit, with_us))
    if not found:
        return "same", len(alone[1]), [], ""
    noise = differences(alone, alone := run(python, test, limit, {}))
    found = differences(alone, beside := run(python, test, limit, with_us))
    if not found:
        return "same", len(alone[1]), [], ""
    return "noisy" if noise else "differs", len(alone[1]), found, beside[2]


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("python")
    parser.add_argument("test", nargs="*")
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--limit", type=int, default=120, help="seconds for a file")
    parser.add_argument("--again")
    return parser.parse_intermixed_args()


def tests_of(python):
    where = subprocess.run([python, "-c", "import test; print(test.__path__[0])"],
                           capture_output=True, text=True, check=True).stdout.strip()
    tests = sorted({p.stem for p in pathlib.Path(where).glob("test_*") if p.suffix in ("", ".py")} - LEFT_OUT)
    random.Random(1).shuffle(tests)
    return tests


def main():
    a = arguments()
    version = subprocess.run([a.python, "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
    kept = a.build.resolve() / "python-tests" / version
    kept.parent.mkdir(exist_ok=True)
    lines = kept.read_text().splitlines() if kept.exists() else []
    verdicts = {test: (verdict, int(results)) for test, verdict, results in map(str.split, lines)}
    with_us = {"LD_PRELOAD": str(a.build.resolve() / "libleak.so"), "LIBLEAK_OPTIONS": "dir=%d/store"}
    chosen = a.test or [t for t in tests_of(a.python) if verdicts.get(t, (a.again,))[0] == a.again]
    end = time.monotonic() + a.seconds

    def one(test):
        if time.monotonic() > end:
            return
        verdict, results, found, output = judge(a.python, test, a.limit, with_us)
        verdicts[test] = verdict, results
        with open(kept, "a") as state:
            state.write(f"{test} {verdict} {results}\n")
        if found:
            (kept.parent / f"{test}-{version}.out").write_text(output)
            print(f"{test} {verdict}: " + "; ".join(found[:5]), flush=True)

    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        list(pool.map(one, chosen))
    for verdict in ("same", "noisy", "left-out", "differs"):
        tests = sorted(t for t, v in verdicts.items() if v[0] == verdict)
        names = "" if verdict == "same" else ": " + " ".join(tests)
        print(f"{verdict}: {len(tests)} files with {sum(verdicts[t][1] for t in tests)} results{names}")
    return any(v[0] == "differs" for v in verdicts.values())


if __name__ == "__main__":
    sys.exit(main())
