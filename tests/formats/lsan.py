"""lsan.py [NAME FILE...] <TEXT - is it what LeakSanitizer prints?

With --leaks the leaks are printed, a line each, sorted: direct or indirect, bytes, objects, and the
frames of files that end in .cc. Frames have the form of gcc's and clang's runtimes:
"#1 0x4a5 in f() /a.c:1:2", "(/lib.so+0x1)". The names in the files are functions of frames.
"""
import re, sys
from words import check, names

LEAK = re.compile(r"(Direct|Indirect) leak of (\d+) byte\(s\) in (\d+) object\(s\) allocated from:$")
FRAME = re.compile(r"    #(\d+) 0x[0-9a-f]{12,16}( in (.*?))?( (\S.*?):(\d+)(:\d+)?| \((.*)\+0x[0-9a-f]+\)(?: \(BuildId: \w+\))?)?$")
SUMMARY = re.compile(r"SUMMARY: LeakSanitizer: (\d+) byte\(s\) leaked in (\d+) allocation\(s\)\.$")
OTHER = [r"={65}", r"==-?\d+==ERROR: LeakSanitizer: detected memory leaks", r"-{5,}", "Suppressions used:",
         "  count      bytes template", r" *\d+ +\d+ .+", "", r"==-?\d+==(NOTE|WARNING): libleak: .+"]

print_leaks = "--leaks" in sys.argv and not sys.argv.remove("--leaks")
leaks, frames, seen = [], [], []
listed = [0, 0]
suppressions = headed = False
for line in sys.stdin.buffer.read().decode().split("\n"):
    leak, frame, summary = LEAK.match(line), FRAME.match(line), SUMMARY.match(line)
    suppressions |= line == "Suppressions used:"
    headed |= line.endswith("==ERROR: LeakSanitizer: detected memory leaks")
    if leak:
        frames = []
        leaks.append((leak.groups(), frames))
        listed = [listed[0] + int(leak[2]), listed[1] + int(leak[3])]
    elif frame:
        check(leaks and int(frame[1]) == len(frames), "a frame out of place:", ascii(line[:300]))
        frames.append((frame[3], frame[5], frame[6]))
        seen.append(line)
    elif summary:
        sums = [int(summary[1]), int(summary[2])]
        check(sums == listed or suppressions or not headed, "the summary says", sums, "the leaks are", listed)
        listed, headed = [0, 0], False
        kinds = [words[0] for words, _ in leaks]
        check(kinds == sorted(kinds), "indirect leaks before direct ones")
        if not print_leaks:
            leaks.clear()
    else:
        check(any(re.fullmatch(o, line) for o in OTHER), "no line of LeakSanitizer's:", ascii(line[:300]))
for name in names():
    check(any(re.fullmatch(r"    #\d+ 0x[0-9a-f]+ in " + re.escape(name) + "( .*)?", line) for line in seen),
          "lost:", ascii(name[:300]))
if print_leaks:
    for words, frames in sorted(leaks):
        own = [f"{f[0].split('(')[0]} {f[2]}" for f in frames if f[1] and f[1].endswith(".cc")]
        print(*words, *own)
