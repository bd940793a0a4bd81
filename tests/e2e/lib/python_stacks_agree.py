"""python_stacks_agree.py SAID REPORT... - what Python said of its stacks (python_stacks.py) is what each report says.

Compares files, lines and names of all Python frames of each block, and where they stand: the frames of
a run directly on the inner side of the interpreter's C frame, and none of these without a run.
"""

import json
import sys

with open(sys.argv[1]) as file:
    said = json.load(file)


def is_interpreter(names):
    return any(name.startswith("_PyEval_EvalFrameDefault") for name in names)


def physical_frames(frames):
    """("python", frame) or ("C", names), where functions inlined into one C frame are one."""
    names = []
    for frame in frames:
        if frame.get("python"):
            yield "python", frame
            continue
        names.append(frame["function"] or "")
        if not frame["inlined"]:
            yield "C", names
            names = []


def check_places(frames):
    """In a greenlet Python's stack ends before the C stack: frames of the interpreter further out are alone."""
    frames = list(physical_frames(frames))
    last = max(i for i, (kind, _) in enumerate(frames) if kind == "python")
    for i, (kind, what) in enumerate(frames[: last + 2]):
        if kind == "C" and is_interpreter(what) != (i > 0 and frames[i - 1][0] == "python"):
            return False
    return last + 1 < len(frames)


def check_report(path):
    with open(path) as file:
        report = json.load(file)
    found = {}
    for process in report["processes"]:
        for record in process["records"]:
            for frame in record["frames"]:
                if (frame["function"] or "").startswith("lose_"):
                    found[int(frame["function"][5:])] = record["frames"]
                if frame["function"] == "keep_nothing":
                    sys.exit("a block that was freed is reported")
    for number, stack in enumerate(said):
        frames = found.get(number, [])
        seen = [[f["file"], f["line"], f["function"]] for f in frames if f.get("python")]
        if seen != stack:
            sys.exit("block %d: Python said\n%s\nthe report says\n%s" % (number, stack, seen))
        if not check_places(frames):
            sys.exit("block %d: frames stand elsewhere: %s" % (number, list(physical_frames(frames))))
    print("%d stacks agree" % len(said))


for report in sys.argv[2:]:
    check_report(report)
