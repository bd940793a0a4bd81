"""check.py LEAKREPORT SOURCE FOLDER - evaluates the JSON lines of one case; prints those that fail.

p           the report of program "t" (procs: all of them, in the order they started)
of("f")     the records with a function f in their stack, summed: .blocks .bytes .records .kinds
at("f")     that function's first frame: .file .line .module .function; at("f", all=True): every one
line("x")   the line of the source that carries the comment "// x"
user        (function, line) of the user frame of each record
untracked   what was not tracked: {what: count}
ledger      the words of each line of the file "ledger" the case wrote
sig("f")    the signatures of those records, sorted
verdict("f") what became of their blocks: {"lost": (blocks, bytes), …}
one("f")    the record with f in its stack, when there is one; one("f", "lost") of those with that verdict
owner("v")  what the variable v keeps alive
root("f")   where the path to it begins: .cls .function .variable …
under("f", "g") every block of f is indirect, below a lost one of g
wrong       {(type, function that allocated, function that released): count} of the errors; a function is
            the user's, "" where there is none; named(): both have file and line
first("f")  who had freed before what f freed again: (function, line)
lost_total  (blocks, bytes) that are lost or indirect and have a function of the program in their stack
opened("f")  what is still open with a function f in its stack, or bad closes there: {type: count}
names("f")  their names
emulated    another CPU's program, by qemu-user, which cannot copy a process: there are no looks
res("f")    the one such record
of, at, user, sig, named, first and the words after it take a process as process=; the default is p
"""
import glob, json, os, re, subprocess, sys


class Dot(dict):
    __getattr__ = dict.get


def bare(name):
    """A function's name without its arguments, templates and scope."""
    return re.sub(r"[<(].*", "", name or "").split("::")[-1].split(" ")[-1].split(".")[0]


tool, source, folder = sys.argv[1:]
emulated = bool(os.environ.get("EMULATOR"))
if not os.access(tool, os.X_OK):
    print("there is no " + tool)
    sys.exit()
stores = sorted(glob.glob(os.path.join(glob.escape(folder), "store", "*.leak")),
                key=lambda n: [int(w) if w.isdigit() else w for w in re.split(r"(\d+)", n)])
if not stores:
    print("no store was left")
    sys.exit()
done = subprocess.run([*os.environ.get("EMULATOR", "").split(), tool, "--format=json", "--json-frames=inline", *stores],
                      stdout=subprocess.PIPE, stderr=subprocess.PIPE)
try:
    doc = json.loads(done.stdout, object_hook=Dot)
except ValueError as e:
    print("leakreport gave no JSON: %s; status %d, %s" % (e, done.returncode, done.stderr.decode("utf-8", "replace")[:500]))
    sys.exit()
schema = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/schema.json")
if len(done.stdout) < 300000 and os.path.exists(schema):  # every case is a test of the schema, too
    try:
        import jsonschema
        rules = json.load(open(schema))
        error = jsonschema.exceptions.best_match(
            jsonschema.validators.validator_for(rules)(rules).iter_errors(json.loads(done.stdout)))
        if error:
            print("not as docs/schema.json has it: %s at %s" % (error.message[:300], list(error.absolute_path)))
    except ImportError:
        pass
procs = sorted(doc.processes, key=lambda q: q.started or "")
ledger = [l.split() for l in open(os.path.join(folder, "ledger"))] if os.path.exists(os.path.join(folder, "ledger")) else []
own = [q for q in procs if os.path.basename(q.exe or "") == "t"]
p = (own or procs)[0]


def hits(function, process=None):
    return [r for r in (process or p).records
            if any(f.function == function or bare(f.function) == function for f in r.frames)]


def of(function, process=None):
    r = hits(function, process)
    return Dot(records=len(r), blocks=sum(x.blocks for x in r), bytes=sum(x.bytes for x in r),
               kinds=sorted({x.kind for x in r}))


def at(function, process=None, all=False):
    frames = [f for r in hits(function, process) for f in r.frames
              if f.function == function or bare(f.function) == function]
    for f in frames:
        f["base"] = os.path.basename(f.file or "")
    return frames if all else frames[0] if frames else Dot()


def sig(function, process=None):
    return sorted(r.signature for r in hits(function, process))


def verdict(function, process=None):
    found = {}
    for r in hits(function, process):
        blocks, bytes = found.get(r.verdict, (0, 0))
        found[r.verdict] = blocks + r.blocks, bytes + r.bytes
    return {v: sums for v, sums in found.items() if sums[0]}


def resources(function, process=None):
    return [r for r in (process or p).resources if not function or any(bare(f.function) == function for f in r.frames)]


def opened(function="", process=None):
    found = {}
    for r in resources(function, process):
        found[r.type] = found.get(r.type, 0) + r.count
    return found


def names(function="", process=None):
    return sorted(n for r in resources(function, process) for n in r.names)


def res(function, process=None):
    records = resources(function, process)
    if len(records) != 1:
        raise ValueError("%d records of resources have %s" % (len(records), function))
    return records[0]


def one(function, kind=None, process=None):
    records = [r for r in hits(function, process) if r.blocks and kind in (None, r.verdict)]
    if len(records) != 1:
        raise ValueError("%d records of %s are %s" % (len(records), function, kind or "there"))
    return records[0]


def root(function, process=None):
    path = one(function, "reachable", process).path or [Dot()]
    return Dot(path[0], cls=path[0].get("class"))


def under(function, owner, process=None):
    owners = {r.signature for r in hits(owner, process) if r.verdict == "lost"}
    below = [r for r in hits(function, process) if r.blocks and r.verdict != "lost"]
    return bool(below) and all(r.verdict == "indirect" and r.owner in owners for r in below)


def culprit(trace):
    frames = trace.frames if trace else []
    return next((f for f in frames if f.user), Dot())


def misuse(process=None):
    """The errors but for the crash that a wrong release may end in."""
    return [e for e in (process or p).errors if e.type not in ("crash", "stack-overflow")]


def wrongs(process):
    found = {}
    for e in misuse(process):
        key = e.type, bare(culprit(e.allocated).function), bare(culprit(e).function)
        found[key] = found.get(key, 0) + e.count
    return found


def named(process=None):
    """Every place that an error should have has its line, in this source or one beside it."""
    return all(culprit(t).file and culprit(t).line
               for e in misuse(process) for t in [e, e.allocated, e.freed_again and e.freed] if t)


def first(function, process=None):
    found = {(bare(culprit(e.freed).function), culprit(e.freed).line) for e in misuse(process)
             if e.freed_again and bare(culprit(e).function) == function}
    if len(found) != 1:
        raise ValueError("%d double frees by %s" % (len(found), function))
    return found.pop()


def line(mark):
    for n, text in enumerate(open(source, encoding="utf-8", errors="replace"), 1):
        if text.rstrip().endswith("// " + mark):
            return n
    raise KeyError("no line marked // " + mark)


def owner(variable, process=None):
    found = [o for o in (process or p).owners if o.path[0].variable == variable]
    if len(found) != 1:
        raise ValueError("%d owners are called %s" % (len(found), variable))
    return found[0]


wrong = wrongs(p)
user = [(bare(f.function), f.line) for r in p.records for f in r.frames if f.user]
own_lost = [r for r in p.records if r.verdict in ("lost", "indirect") and any(f.user for f in r.frames)]
lost_total = sum(r.blocks for r in own_lost), sum(r.bytes for r in own_lost)
untracked = {u.what: u.count for u in p.coverage.untracked}
notes = " | ".join(json.dumps(n) if not isinstance(n, str) else n for q in procs for n in q.notes)


def show(part, who=""):
    try:
        print("            %s%s = %s" % (who, part, json.dumps(eval(part, globals()))[:300]))
    except Exception:
        pass  # a part of a comprehension says nothing alone


for want in open(os.path.join(folder, "json.want"), encoding="utf-8"):
    want = want.strip()
    try:
        if not eval(want, globals()):
            print("JSON not so: " + want)
            for part in dict.fromkeys(re.findall(r"(?:of|at|sig|verdict|root)\([^()]*\)|\blost_total|\bp(?:\.\w+)+|\[[^][]* for q in procs[^][]*\]|untracked|notes", want)):
                if not re.search(r"\bq\b", part) or part[0] == "[":
                    show(part)
            for q in procs[:8] if re.search(r"\bq\b", want) else []:
                for part in dict.fromkeys(re.findall(r"(?:of|at|verdict)\([^()]*\bq\)|\bq(?:\.\w+)+", want)):
                    show(part, "pid %d: " % q.pid)
    except Exception as e:
        print("JSON %s: %s: %s" % (want, type(e).__name__, e))
