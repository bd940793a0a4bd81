"""rounds.py [--build=DIR] [--rounds=N] [NAME...] - attaches to real programs under load and detaches again.

Each program checks its own results, and a client sends it requests and checks the answers. Prints for each how long
one of its threads stood still (median and worst, ms), what was refused, and what went wrong: it ended, an answer was
wrong or missing, an answer or a round took longer than 2 s. Names: those of --list; --pid=PID for a process that runs.
docs/ATTACH.md has figures. As root, on a machine where that does no harm.
"""
import argparse
import collections
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import programs

HANG = 2.0  # s
REFUSALS = 20  # without one attach: then no more rounds


class Tally:
    """What came out of the rounds with one program."""

    def __init__(self):
        self.pauses = {"attach": [], "detach": []}
        self.refusals = collections.Counter()
        self.slow = 0

    def note(self, verb, run, seconds):
        found = re.search(r"stood still for ([0-9.]+) ms", run.stdout)
        if found:
            self.pauses[verb].append(float(found[1]))
        else:
            said = run.stderr.strip() or f"status {run.returncode}"
            self.refusals[re.sub(r"^leakctl: .*?\(pid \d+\): ", "", said)] += 1
        self.slow += seconds > HANG + 10 * (not found)
        return bool(found)

    def row(self, verb):
        pauses = self.pauses[verb]
        if not pauses:
            return "-"
        return f"{statistics.median(pauses):.1f}, {max(pauses):.0f}"


def leakctl(options, verb, pid, tally):
    words = [os.path.join(options.build, "leakctl"), verb, str(pid)]
    if verb == "attach":
        words.insert(2, f"--dir={options.stores}")
    begun = time.monotonic()
    run = subprocess.run(words, capture_output=True, text=True, check=False, timeout=120)
    return tally.note(verb, run, time.monotonic() - begun)


def is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as stream:
            return stream.read().rsplit(") ", 1)[1][0] not in "ZX"
    except OSError:
        return False


def rounds_of(options, program, tally):
    """Returns what went wrong."""
    done, faults = 0, []
    while done < options.rounds and not faults:
        for pid in program.pids():
            if leakctl(options, "attach", pid, tally):
                if done % 50 == options.look_at and not options.no_look:
                    subprocess.run([os.path.join(options.build, "leakctl"), "snapshot", f"--dir={options.stores}", str(pid)],
                                   capture_output=True, check=False, timeout=120)
                leakctl(options, "detach", pid, tally)
            time.sleep(options.rest)
            done += 1
            if not is_alive(pid) and not program.may_end(pid):
                status = program.process.poll() if pid == program.process.pid else "?"
                faults.append(f"process {pid} ended in round {done}, status {status}")
            if done >= options.rounds or faults:
                break
        faults += program.faults()
        if sum(tally.refusals.values()) >= REFUSALS and not tally.pauses["attach"]:
            break
    return done, faults


def run_one(options, name):
    program = programs.make(name, options)
    if program is None:
        print(f"| {name} | not installed |", flush=True)
        return True
    tally = Tally()
    try:
        program.start()
        time.sleep(0.3)
        begun = time.monotonic()
        done, faults = rounds_of(options, program, tally)
        took = time.monotonic() - begun
        faults += program.end()
    except (OSError, RuntimeError, subprocess.SubprocessError) as error:
        print(f"  {name}: {error}", flush=True)
        return False
    finally:
        program.kill()
    if tally.slow:
        faults.append(f"{tally.slow} commands took longer than {HANG:.0f} s")
    load = os.getloadavg()[0]
    print(f"| {program.title} | {done} | {tally.row('attach')} | {tally.row('detach')} | {program.answers()} | {load:.0f} |", flush=True)
    print(f"  {name}: {took:.0f} s; wrong: {len(faults)}; refused: {sum(tally.refusals.values())}", flush=True)
    for fault in faults[:10]:
        print(f"    WRONG {fault}", flush=True)
    for said, count in tally.refusals.most_common(5):
        print(f"    refused {count} times: {said}", flush=True)
    return not faults


def main():
    parser = argparse.ArgumentParser(usage=__doc__, add_help=False)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--build", default=os.environ.get("BUILD", "build"))
    parser.add_argument("--rounds", type=int, default=500)
    parser.add_argument("--pid", type=int)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--no-look", action="store_true")
    parser.add_argument("--rest", type=float, default=0, help="seconds between rounds, in which a call with a time limit can end")
    parser.add_argument("--look-at", type=int, default=7, help="the round of each 50 that has a leak check")
    options = parser.parse_args()
    options.stores = tempfile.mkdtemp(prefix="attach-")
    os.chmod(options.stores, 0o777)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    if options.list:
        print("\n".join(programs.NAMES))
        return 0
    try:
        names = ["pid"] if options.pid else options.names or programs.NAMES
        print("| process | rounds | attach: median, worst (ms) | detach | answers, longest (ms) | load |\n|---|---:|---:|---:|---:|---:|")
        return 0 if all([run_one(options, name) for name in names]) else 1
    finally:
        shutil.rmtree(options.stores, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
