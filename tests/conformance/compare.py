"""compare.py LEAKREPORT FOLDER - judges the runs bare/, again/ and leak/ of one program.

The equation, for each process image:  witness.allocs = allocations + nested + boot
where "nested" are calls made while libleak itself was at work in that thread (it lets them through,
so the witness sees them) and "boot" those before it was ready, both counted in the store. No
tolerance; and witness.frees = frees + unknown frees. Nobody is said to release blocks wrongly.  A fork child's account starts with what it inherited: that part is left out.
"""
import collections, difflib, glob, json, os, re, struct, subprocess, sys

tool, folder = sys.argv[1:]
wrong = []
KEPT = 62  # the default of snapshot_signal
CRASHES = (4, 5, 6, 7, 8, 11, 31)  # their default action is ours (crash=on)
ENDINGS = (1, 2, 3, 10, 12, 13, 14, 15, 16, 24, 25, 26, 27, 29, 30, *range(34, 65))  # likewise (fatal_look=on)
KILLERS = sum(1 << (n - 1) for n in CRASHES + ENDINGS)


def read(*names):
    with open(os.path.join(folder, *names), "rb") as f:
        return f.read()


def normal(text):
    """Numbers the kernel hands out: inodes of pipes and sockets."""
    return re.sub(rb"((?:pipe|socket|anon_inode):\[)\d+", rb"\1N", text)


def with_ours(text):
    """What the kernel says of a process that libleak lives in: the signal kept for looks has a handler, and
    so have those that kill, unless the program ignores them."""
    return re.sub(rb"(SigIgn:\t)(\w+)(\s+SigCgt:\t)(\w+)",
                  lambda m: b"%s%s%s%016x" % (m[1], m[2], m[3], int(m[4], 16) | 1 << (KEPT - 1) | KILLERS & ~int(m[2], 16)), text)


def states(run):
    return sorted(normal(read(run, "witness", os.path.basename(n))) for n in glob.glob(os.path.join(folder, run, "witness", "state.*")))


def files(run):
    top = os.path.join(folder, run, "files")
    return {os.path.relpath(os.path.join(d, n), top): open(os.path.join(d, n), "rb").read()
            for d, _, names in os.walk(top) for n in names
            if os.path.isfile(os.path.join(d, n)) and not os.path.islink(os.path.join(d, n))}


def delta(a, b):
    lines = difflib.unified_diff(*(x.decode("utf-8", "backslashreplace").splitlines() for x in (a, b)), lineterm="", n=1)
    return "\n".join("    " + l[:200] for l in list(lines)[2:40])


def differ(what, a, b):
    if a != b:
        wrong.append("%s differs (- without, + with libleak):\n%s" % (what, delta(a, b)))


def look(run):
    return {"status": read(run, "status"), "stdout": read(run, "stdout"), "stderr": read(run, "stderr"),
            "tree of files": read(run, "tree"), "state at exit": b"\n".join(states(run)), **{"file " + k: v for k, v in files(run).items()}}


bare, again, leak = look("bare"), look("again"), look("leak")
for key in sorted(set(bare) | set(leak)):
    if bare.get(key) != again.get(key):
        wrong.append("%s differs between two runs without libleak: the test is no good:\n%s" % (key, delta(bare.get(key) or b"", again.get(key) or b"")))
    else:
        want = bare.get(key, b"(none)")
        differ(key, with_ours(want) if key == "state at exit" else want, leak.get(key, b"(none)"))
if not states("bare"):
    wrong.append("the witness saw no process end")

stores = sorted(glob.glob(os.path.join(folder, "leak", "store", "*.leak")))
counts = collections.defaultdict(list)
for n in glob.glob(os.path.join(folder, "leak", "witness", "count.*")):
    allocs, frees, pid, forked, exe = struct.unpack("<4Q224s", open(n, "rb").read(256))
    counts[pid].append((int(n.rsplit(".", 1)[1]), allocs, forked, exe.rstrip(b"\0").decode(), frees))
total = seen = images = 0
if not os.access(tool, os.X_OK):
    wrong.append("no leakreport")
elif not stores:
    wrong.append("no store was left")
else:
    done = subprocess.run([tool, "--format=json"] + stores, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode:
        wrong.append("leakreport ended with %d: %s" % (done.returncode, done.stderr[:300]))
    else:
        processes = collections.defaultdict(list)
        for p in sorted(json.loads(done.stdout)["processes"], key=lambda p: p["started"]):
            processes[p["pid"]].append(p)
        for pid in sorted(set(processes) | set(counts)):
            # more images of one pid: exec; both lists are in the order of their start
            ours, theirs = processes.get(pid, []), sorted(counts.get(pid, []))
            images += len(theirs)
            mine = freed = 0
            for p in ours:
                mine += p["totals"]["allocations"]
                freed += p["totals"]["frees"] + p["coverage"]["unknown_frees"]
                if p["errors"]:
                    wrong.append("a right program is said to be wrong: %s" % json.dumps(p["errors"])[:2000])
                mine += sum(u["count"] for u in p["coverage"]["untracked"] if u["what"] in ("NESTED", "BOOT"))
            count = sum(t[1] for t in theirs)
            # A child also frees what it inherited: those blocks are left out on our side.
            if not any(t[2] for t in theirs) and freed != sum(t[4] for t in theirs):
                wrong.append("frees of %d %s: libleak %d, witness %d" % (pid, [t[3] for t in theirs], freed, sum(t[4] for t in theirs)))
            total += count
            seen += mine
            if mine != count:
                wrong.append("allocations of %d %s: libleak %d, witness %d; untracked %s" %
                             (pid, [t[3] for t in theirs], mine, count, [p["coverage"]["untracked"] for p in ours]))
if total == 0:
    wrong.append("the witness counted nothing")
for w in wrong:
    print(w)
if not wrong:
    print("%d allocations in %d process images, all seen; output, files, status, descriptors and signals the same" % (total, images))
sys.exit(bool(wrong))
