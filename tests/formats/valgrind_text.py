"""valgrind_text.py [NAME FILE...] <TEXT - is it what Memcheck prints?

Each line is one of its kinds, the sums agree with each other, and ctest's patterns, copied from what
"strings ctest" shows, find as many losses as there are. The names in the files are functions of frames.
"""
import re, sys
from words import check, names

N = r"[\d,]+"
LOSS = N + rf"( \({N} direct, {N} indirect\))? bytes in {N} blocks are (definitely lost|indirectly lost|" \
    rf"possibly lost|still reachable) in loss record {N} of {N}"
KINDS = [
    "", "libleak .*", "Command:.*", "WARNING: .*",
    r"Invalid free\(\) / delete / delete\[\] / realloc\(\)", r"Mismatched free\(\) / delete / delete \[\]",
    r"   (at|by) 0x[0-9A-F]+: .+", " [A-Z0-9a-z].*", LOSS,
    r"Process terminating with default action of signal \d+ \(SIG\w+\)",
    r"FILE DESCRIPTORS: \d+ open at exit besides the inherited ones\.", "Open file descriptor:.*",
    "HEAP SUMMARY:", f"    in use at exit: {N} bytes in {N} blocks",
    f"  total heap usage: {N} allocs, {N} frees, {N} bytes allocated",
    "LEAK SUMMARY:", f" +(definitely lost|indirectly lost|possibly lost|still reachable|suppressed): {N} bytes in {N} blocks",
    "All heap blocks were freed -- no leaks are possible",
    rf"ERROR SUMMARY: {N} errors from {N} contexts \(suppressed: {N} from {N}\)",
]
CTEST = [r"== .*[0-9,]+ bytes in [0-9,]+ blocks are definitely lost in loss record [0-9,]+ of [0-9,]+",
         r"== .*[0-9,]+ \([0-9,]+ direct, [0-9,]+ indirect\) bytes in [0-9,]+ blocks are definitely lost in loss record "
         r"[0-9,]+ of [0-9,]+"]

lines = sys.stdin.buffer.read().decode().split("\n")
check(lines.pop() == "", "the last line has no end")
frame = loss = 0
for line in lines:
    got = re.fullmatch(r"==-?\d+== (.*)", line)
    check(got, "no prefix:", ascii(line))
    check(any(re.fullmatch(kind, got[1]) for kind in KINDS), "no line of Memcheck's:", ascii(line))
    if got[1].startswith("   at "):
        check(not frame, "a stack begins in a stack:", line)
    if got[1].startswith("   by "):
        check(frame, "a stack begins with by:", line)
    frame = got[1].startswith(("   at ", "   by "))
    loss += "are definitely lost" in line and re.fullmatch(LOSS, got[1]) is not None
check(loss == sum(any(re.search(p, line) for p in CTEST) for line in lines), "ctest sees another number")
check(sum("ERROR SUMMARY" in line for line in lines) == len({line.split("==")[1] for line in lines}) or
      "==0==" in lines[0], "a summary for each process")
functions = [line.split(": ", 1)[1] for line in lines if re.match(r"==\d+==    (at|by) ", line)]
for name in names():
    check(any(f == name or f.startswith(name + " (") for f in functions), "lost:", ascii(name[:300]))
