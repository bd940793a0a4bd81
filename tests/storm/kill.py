"""kill.py PROGRAM LIBRARY LEAKREPORT FOLDER [loose] - see killed_at_any_moment.c.

loose: the program keeps no full ledger; its stores must be whole (killed_in_the_middle_of_change.c).
"""
import glob, json, os, random, signal, struct, subprocess, sys, time

program, library, report, folder = sys.argv[1:5]
loose = sys.argv[5:] == ["loose"]
seed = int(os.environ.get("SEED") or time.time())
kills = int(os.environ.get("KILLS") or 25)
random.seed(seed)
print("seed %d, %d kills" % (seed, kills))


def alone(store):
    """The processes of one store; none when it died being made; a text when it cannot be read."""
    done = subprocess.run([report, "--format=json", store], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode == 2 and b"never got to write" in done.stderr:
        return []
    if done.returncode != 0:
        return ["leakreport ended with %d: %s" % (done.returncode, done.stderr.decode()[:300])]
    return json.loads(done.stdout)["processes"]


def run(limit, pause):
    store, ledger = os.path.join(folder, "store"), os.path.join(folder, "ledger.bin")
    for f in glob.glob(store + "/*"):
        os.remove(f)
    with open(ledger, "wb") as f:
        f.write(bytes(4 * 64))
    p = subprocess.Popen([program, ledger, str(limit)],
                         env=dict(os.environ, LD_PRELOAD=library, LIBLEAK_OPTIONS="dir=" + store))
    if pause is not None:
        time.sleep(pause)
        p.kill()
    p.wait()
    stores = glob.glob(store + "/*.leak")
    if not stores:
        return p.returncode, None, None
    rows = list(struct.iter_unpack("<8Q", open(ledger, "rb").read()))
    if loose:
        return p.returncode, [q for s in stores for q in alone(s)], [r[:4] for r in rows]
    done = subprocess.run([report, "--format=json"] + stores, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode == 2 and b"never got to write" in done.stderr and not any(r[0] for r in rows):
        return p.returncode, None, None  # killed while the store was being made
    if done.returncode != 0:
        return p.returncode, "leakreport ended with %d: %s" % (done.returncode, done.stderr.decode()[:300]), None
    return p.returncode, json.loads(done.stdout)["processes"][0], [r[:4] for r in rows]


def functions(record):
    return [f["function"] for f in record["frames"]]


def compare(p, rows, base):
    for t, (allocs, size, frees, freed) in enumerate(rows):
        mine = [r for r in p["records"] if "worker_%d" % t in functions(r)]
        blocks, bytes_ = sum(r["blocks"] for r in mine), sum(r["bytes"] for r in mine)
        if abs(blocks - (allocs - frees)) > 1 or abs(bytes_ - (size - freed)) > 600:
            yield "worker_%d: store %d blocks %d bytes, ledger %d %d" % (t, blocks, bytes_, allocs - frees, size - freed)
    for key, column in (("allocations", 0), ("frees", 2)):
        more = p["totals"][key] - sum(r[column] for r in rows)
        if p["totals"][key] and not -0 <= more <= base[key] + 4:
            yield "%s: store %d, ledger %d (and up to %d of libc)" % (key, p["totals"][key], p["totals"][key] - more, base[key])


def whole(processes):
    for p in processes:
        if isinstance(p, str):
            yield p
            continue
        name = "pid %d: " % p["pid"]
        if p["totals"]["frees"] > p["totals"]["allocations"]:
            yield name + "%d frees of %d allocations" % (p["totals"]["frees"], p["totals"]["allocations"])
        if any(r["blocks"] <= 0 or r["bytes"] < 0 for r in p["records"]):
            yield name + "a record with no blocks"
        for note in p["notes"]:
            if "damaged" in note:
                yield name + note


if loose:
    bad = seen = read = 0
    for i in range(kills):
        pause = random.uniform(0.005, 0.3)
        code, p, rows = run(-1, pause)
        read += len(p or [])
        seen += p is not None and sum(r[0] for r in rows) > 0
        for wrong in whole(p or []):
            bad += 1
            print("seed %d kill %d after %.4f s: %s" % (seed, i, pause, wrong))
    print("%d of %d kills met the program at work; %d stores read" % (seen, kills, read))
    if not bad and seen * 2 >= kills and read > 3 * kills:
        print("all moments agree")
    sys.exit(bad != 0)

code, p, rows = run(0, None)
base = p["totals"]
bad, seen = 0, 0
code, p, rows = run(20000, None)  # and one that lives: exact
for wrong in compare(p, rows, base):
    bad += 1
    print("undisturbed: " + wrong)
if p["totals"]["allocations"] - base["allocations"] != sum(r[0] for r in rows):
    bad += 1
    print("undisturbed: %d allocations, ledger %d" % (p["totals"]["allocations"] - base["allocations"], sum(r[0] for r in rows)))
for i in range(kills):
    pause = random.uniform(0, 0.02) if i % 5 == 0 else random.uniform(0.01, 0.4)
    code, p, rows = run(-1, pause)
    where = "seed %d kill %d after %.4f s: " % (seed, i, pause)
    if code != -signal.SIGKILL:
        bad += 1
        print(where + "ended with %d before the kill" % code)
    elif isinstance(p, str):
        bad += 1
        print(where + p)
    elif p is not None:
        seen += sum(r[0] for r in rows) > 0
        if p["end"]["how"] not in ("lost", "signal"):
            bad += 1
            print(where + "end is " + p["end"]["how"])
        for wrong in compare(p, rows, base):
            bad += 1
            print(where + wrong)
print("%d of %d kills met the program at work" % (seen, kills))
if not bad and seen * 2 >= kills:
    print("all moments agree")
sys.exit(bad != 0)
