"""compare.py LEAKREPORT FOLDER [valgrind [row]] - are the lost records of one program's processes lost?

FOLDER/leak/left has the stores, FOLDER/valgrind/left the XML files of the same program under valgrind.
Exit status: 0 nothing is lost, or valgrind says the same; 3 something is lost, and valgrind was
not asked; 1 a false "lost", or a process without a leak check.

Two sites are the same when their first frames below the allocator are: the same object, and the same
function or, where the names differ or are missing, the same place in the page (both tools tell the return
address less one). Libraries lie on page boundaries, so this holds without any symbol.
"""
import collections, glob, html, json, os, re, subprocess, sys

FRAMES = 2  # that must agree

tool, folder = sys.argv[1:3]
asked = "valgrind" in sys.argv[3:]
row = "row" in sys.argv[3:]


def name_of(module):
    return re.sub(r"\.so\b.*", ".so", os.path.basename(module or ""))


def site_of(frames):
    """[(object, function, place in page)] of the first frames; inlined ones share the place of the last."""
    return [(name_of(f["module"]), f["function"], (f["offset"] or 0) & 4095)
            for f in frames if not f["inlined"]][:FRAMES]


def valgrind_sites():
    sites = []
    for path in glob.glob(os.path.join(glob.escape(folder), "valgrind", "left", "*.xml")):
        text = open(path, encoding="utf-8", errors="replace").read()
        for error in re.findall(r"<error>.*?</error>", text, re.S):  # a killed process leaves half a file
            kind = re.search(r"<kind>Leak_(Definitely|Indirectly|Possibly)Lost</kind>", error)
            if not kind:
                continue
            if kind[1] != "Indirectly":
                theirs[kind[1]] += 1
                theirs[kind[1] + " blocks"] += int(re.search(r"<leakedblocks>(\d+)", error)[1])
            if kind[1] == "Possibly":
                continue
            frames = []
            for frame in re.findall(r"<frame>(.*?)</frame>", re.search(r"<stack>.*?</stack>", error, re.S)[0], re.S):
                word = lambda tag: html.unescape((re.search("<%s>(.*?)</%s>" % (tag, tag), frame, re.S) or [0, ""])[1])
                if "vgpreload" in word("obj"):
                    continue
                one = name_of(word("obj")), {word("fn")}, int(word("ip"), 16)
                if frames and frames[-1][2] == one[2]:
                    frames[-1][1].update(one[1])  # inlined
                else:
                    frames.append(one)
            sites.append([(obj, names, ip & 4095) for obj, names, ip in frames[:FRAMES]])
    return sites


def same(ours, theirs):
    return bool(ours) and len(ours) == len(theirs) and all(
        a[0] == b[0] and (a[1] in b[1] or a[2] == b[2]) for a, b in zip(ours, theirs))


theirs = collections.Counter()
ours = collections.Counter()
stores = glob.glob(os.path.join(glob.escape(folder), "leak", "left", "*.leak"))
if not stores:
    sys.exit("no store was left")
done = subprocess.run([tool, "--format=json", "--json-frames=inline", *stores], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
processes = json.loads(done.stdout)["processes"]
sites = valgrind_sites() if asked else []
lost = wrong = looked_at = 0
for p in processes:
    who = "%s (pid %d)" % (" ".join((p["argv"] or [p["exe"] or "?"])[:4])[:80], p["pid"])
    if p["snapshot"] and p["snapshot"]["rung"] != "none":
        looked_at += 1
    elif p["end"]["how"] == "exit":
        print("no look was made: %s%s" % (who, "".join("; %s" % n for n in p["notes"][:2])))
        wrong += 1
    managed = {rule["rule"] for rule in p["suppressed"]["rules"] if rule["managed_by"]}
    for r in p["records"]:
        if r["suppressed_by"] in managed:  # a garbage collector's, without a verdict
            continue
        if r["blocks"] and not r["suppressed_by"]:
            ours[r["verdict"]] += 1
            ours[r["verdict"] + " blocks"] += r["blocks"]
            ours[r["verdict"] + " items"] += not r["owner"]
        if r["verdict"] != "lost" or not r["blocks"]:
            continue
        lost += 1
        if asked and not any(same(site_of(r["frames"]), s) for s in sites):
            wrong += 1
            print("not lost for valgrind: %d bytes in %d blocks, %s%s" % (
                r["bytes"], r["blocks"], "in a ring, " if r["cycle"] else "", who))
            for f in r["frames"][:10]:
                print("    %s  %s+0x%x" % (f["function"] or "?", f["module"] or "?", f["offset"] or 0))
print("%d processes looked at, %d lost records%s" % (
    looked_at, lost, ", %d sites lost for valgrind" % len(sites) if asked else ""))
if row:
    print("lost %d / %d, valgrind %d / %d | possibly lost %d / %d, %d items, valgrind %d / %d" % (
        ours["lost"], ours["lost blocks"], theirs["Definitely"], theirs["Definitely blocks"],
        ours["possible"], ours["possible blocks"], ours["possible items"],
        theirs["Possibly"], theirs["Possibly blocks"]))
sys.exit(1 if wrong else 3 if lost and not asked else 0)
