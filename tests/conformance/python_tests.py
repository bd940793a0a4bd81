#!/usr/bin/env python3
"""python_tests.py BUILD PYTHON [--seconds=N] [TEST...] - do Python's own tests end the same with libleak?

Runs test files of the test suite that PYTHON has (libpython3-testsuite, or an installation from source), each
without and with libleak.so, and compares the exit status and the result of every test in it. A file that
differs runs both ways once more, because some depend on the time or the load: what differs again is printed,
with the output beside it. Without TEST: every file in the order of names that a seed shuffles, until N seconds
are over.
"""

import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

LIMIT = 180  # seconds for a file
RESULT = re.compile(r"^(\w+ \([\w.]+\)).*?\.\.\. (ok|FAIL|ERROR|skipped|expected failure)", re.M)
LEFT_OUT = {"test_gdb", "test_embed", "test_perf_profiler"}  # hours, or a debugger; or the address space limit


def run(python, test, variables):
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, **{name: value.replace("%d", folder) for name, value in variables.items()})
        command = [python, "-m", "test", "-v", "--timeout", str(LIMIT - 30), test]
        os.mkdir(folder + "/store")
        os.mkdir(folder + "/work")
        try:
            ended = subprocess.run(command, env=environment, cwd=folder + "/work", timeout=LIMIT,
                                   capture_output=True, text=True, errors="replace")
        except subprocess.TimeoutExpired:
            return "timeout", {}, ""
        output = ended.stdout + ended.stderr
        return ended.returncode, dict(RESULT.findall(output)), output


def differences(alone, with_us):
    names = sorted(set(alone[1]) | set(with_us[1]))
    lines = [f"{n}: {alone[1].get(n)} -> {with_us[1].get(n)}" for n in names if alone[1].get(n) != with_us[1].get(n)]
    if alone[0] != with_us[0]:
        lines.append(f"exit status: {alone[0]} -> {with_us[0]}")
    return lines


def main():
    build, python, *tests = sys.argv[1:]
    limit = [int(t.partition("=")[2]) for t in tests if t.startswith("--seconds=")]
    tests = [t for t in tests if not t.startswith("--")]
    with_us = {"LD_PRELOAD": str(pathlib.Path(build).resolve() / "libleak.so"), "LIBLEAK_OPTIONS": "dir=%d/store"}
    if not tests:
        where = subprocess.run([python, "-c", "import test; print(test.__path__[0])"],
                               capture_output=True, text=True, check=True).stdout.strip()
        tests = sorted({p.stem for p in pathlib.Path(where).glob("test_*") if p.suffix in ("", ".py")} - LEFT_OUT)
        random.Random(1).shuffle(tests)
    end = os.times().elapsed + limit[0] if limit else float("inf")
    same = results = 0
    different = []
    for test in tests:
        if os.times().elapsed > end:
            break
        for _ in range(2):
            alone = run(python, test, {})
            found = differences(alone, beside := run(python, test, with_us))
            if not found:
                break
        if found:
            different.append(test)
            pathlib.Path(f"{test}.libleak.out").write_text(beside[2])
            print(f"{test} differs: " + "; ".join(found[:5]), flush=True)
        else:
            same += 1
            results += len(alone[1])
    print(f"{same} files with {results} results are the same, {len(different)} differ: {' '.join(different)}")
    return bool(different)


if __name__ == "__main__":
    sys.exit(main())
