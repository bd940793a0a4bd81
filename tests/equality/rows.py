"""rows.py ROWS_OF [PATH...] - the rows of real objects: how many, and where the unwinder would stop.

Asks ROWS_OF (rows_of.c) for every ELF file below the PATHs (default /usr/lib /usr/bin /usr/sbin), sums, and
looks at the rows that are complex or missing: only where a call instruction lies in such a row can it
stand in the middle of a stack (elsewhere a signal would have to interrupt). Those calls are listed.
"""
import bisect, os, re, subprocess, sys

tool, paths = sys.argv[1], sys.argv[2:] or ["/usr/lib", "/usr/bin", "/usr/sbin"]
files, seen = [], set()
machine = open("/proc/self/exe", "rb").read(20)[18]
for path in paths:
    for folder, _, names in os.walk(path) if os.path.isdir(path) else [(os.path.dirname(path), 0, [os.path.basename(path)])]:
        for name in names:
            full = os.path.join(folder, name)
            try:
                state = os.stat(full)
                with open(full, "rb") as f:
                    head = f.read(20)
            except OSError:
                continue
            if head[:5] == b"\x7fELF\x02" and head[16] in (2, 3) and head[18] == machine and state.st_ino not in seen:
                seen.add(state.st_ino)
                files.append(full)

rows, sums = {}, {}
for i in range(0, len(files), 500):
    out = subprocess.run([tool, *files[i:i + 500]], stdout=subprocess.PIPE).stdout.decode("utf-8", "replace")
    *lines, last = out.splitlines()
    for number, word in re.findall(r"(\d+) (files|functions)", last):
        sums[word] = sums.get(word, 0) + int(number)
    for word, number in re.findall(r"; (\w+) (\d+)", last):
        sums[word] = sums.get(word, 0) + int(number)
    for line in lines:
        path, at, length, rule = line.rsplit(" ", 3)
        rows.setdefault(path, []).append((int(at, 16), int(length)))
print(", ".join("%s %d" % item for item in sums.items()))

shown, finalizers = {}, 0
for path, found in rows.items():
    found.sort()
    starts = [at for at, _ in found]
    spans = []
    for at, length in found:  # near ones in one go of objdump
        if spans and at - spans[-1][1] < 65536:
            spans[-1][1] = at + length
        else:
            spans.append([at, at + length])
    calls = []
    for low, high in spans:
        text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", "--start-address=%d" % low, "--stop-address=%d" % high,
                               path], stdout=subprocess.PIPE).stdout.decode("utf-8", "replace")
        function = "?"
        for line in text.splitlines():
            if re.match(r"[0-9a-f]+ <.*>:", line):
                function = line.split("<", 1)[1][:-2]
            match = re.match(r"\s*([0-9a-f]+):\s+(?:bnd |notrack )?call\S*\s+(.*)", line)
            if match and "<__cxa_finalize@" in match[2]:  # and deregister_tm_clones, called next
                finalizers += "+0x" not in match[2]
            elif match:
                at = int(match[1], 16)
                i = bisect.bisect_right(starts, at) - 1
                if i >= 0 and at < found[i][0] + found[i][1]:
                    calls.append("    %#x  %s  calls %s" % (at, function, match[2]))
    key = (len(found), tuple(calls))
    if not calls or key in shown:  # the same object under another name
        continue
    shown[key] = path
    print("%s: %d complex rows or gaps, %d bytes of code, %d calls in them" % (path, len(found), sum(n for _, n in found), len(calls)))
    for call in calls[:20]:
        print(call)
print("__do_global_dtors_aux, which rows.c knows by its code, in %d objects" % finalizers)
