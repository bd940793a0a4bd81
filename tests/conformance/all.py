#!/usr/bin/python3
"""all.py BUILD [OPTION...] - every program of PATH behaves the same with libleak and without it.

Each executable of PATH runs with --version and with --help, and so does each line of the table "tasks", in a
sandbox of its own: without network, capabilities and devices, with a read-only system and an empty /tmp.

    bare       as it is
    preload    with libleak.so preloaded
    leakrun    under leakrun, which writes its report to a file
    again      bare, at another pid; only where preload or leakrun differ from bare, and then three times

Output, exit status and the files left behind (below /tmp, HOME and /dev/shm) are compared exactly. Where only numbers
differ between the bare runs, numbers are not compared. A case is then

    identical  nothing differs
    noisy      bare differs from bare, and what does not is the same under libleak
    differing  what is the same in all bare runs is another under libleak; results stay in BUILD/conformance-all
    explained  differing, and the table "explained" has the reason
    refused    libleak says why it cannot track the program, or it does not end by itself when bare
    errors     identical, but the report says that the program released a block wrongly

Options:
    --only=PATTERN      cases whose name matches this shell pattern (sed, 'x*', '*:--help', 'task:*'), again
    --again=VERDICT     cases that had this verdict, or "all", again; without it a run goes on where the last one ended
    --path=DIRS         instead of $PATH
    --tasks=FILE        instead of the table beside this file
    --under=VARIANTS    preload,leakrun, or one of them
    --limit=SECONDS     longest time of a bare run (10); the others have six times as long
    --jobs=N            cases at a time (2)
    --summary           print the totals of what has run, and all that is not identical
"""
import collections, concurrent.futures, fnmatch, glob, hashlib, json, os, re, shutil, signal, subprocess, sys, threading

HERE = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
VERDICTS = ("identical", "noisy", "refused", "explained", "errors", "differing")
LIMITS = ["prlimit", "--core=0", "--fsize=%d" % (256 << 20), "--data=%d" % (4 << 30)]  # for each process
# In the sandbox the project is /run/libleak, and recordings and reports go to /run/out. A program whose parent is process 1
# may take itself for a daemon, so each has another.
PARENT = ["/usr/bin/timeout", "--foreground", "0"]
LIBRARY = "/run/libleak/build/libleak.so"
PREFIX = {
    "bare": PARENT,
    "again": ["/bin/sh", "-c", '(:); (:); exec "$@"', "sh"] + PARENT,
    "preload": PARENT + ["/usr/bin/env", "LD_PRELOAD=" + LIBRARY, "LIBLEAK_OPTIONS=dir=/run/out"],
    "leakrun": ["/run/libleak/scripts/leakrun", "--format=short", "--show=lost", "--output=/run/out/report", "--"],
}
# What leakrun and the dynamic linker may say: a process goes on and keeps its recording; nothing could be tracked.
MEANT = re.compile(
    rb"^(leakrun: still running: |leakrun: WARNING: nothing was tracked|ERROR: ld.so: object '%b').*\n" % LIBRARY.encode(), re.M)
WRONG = re.compile(r"^.*: (?:(?:mismatched|double|invalid|interior)-free|bad-realloc|(?:size|alignment)-mismatch): .*", re.M)
NUMBER = re.compile(rb"0[xX][0-9a-fA-F]+|\d+(?:\.\d+)?(?:[kKMG]i?B/s)?")


# ---- Cases: name -> command --------------------------------------------------------------------


def programs(path):
    """The executables of the directories, each by the name that a shell finds first."""
    found = {}
    for directory in path.split(":"):
        for name in sorted(os.listdir(directory) if os.path.isdir(directory) else []):
            file = os.path.join(directory, name)
            if os.path.isfile(file) and os.access(file, os.X_OK):
                found.setdefault(name, file)
    return found


def tasks(file):
    """The lines "NAME [NEEDS...]: shell command", and "each WORD...: NAME_{} [NEEDS...]: shell command with {}"."""
    for line in open(file):
        if not line.strip() or line.startswith("#"):
            continue
        lines = [line]
        if line.startswith("each "):
            words, rest = line[len("each "):].split(":", 1)
            lines = [rest.replace("{}", word) for word in words.split()]
        for one in lines:
            names, command = one.split(":", 1)
            yield names.split(), command.strip()


def cases(path, table):
    found = programs(path)
    every = {}
    for (name, *needs), command in tasks(table):
        missing = [need for need in needs or [name] if need not in found]
        every["task:" + name] = None if missing else ["/bin/sh", "-c", command]
    for name, file in found.items():
        for word in ("--version", "--help"):
            every["%s:%s" % (name, word)] = [file, word]
    return every


# ---- One run -----------------------------------------------------------------------------------


class Sandbox:
    """Read-only, and without network, other processes, devices and capabilities; only /tmp and /dev/shm are writable."""

    def __init__(self, build, path):
        options = "--unshare-all --die-with-parent --new-session --cap-drop ALL --hostname sandbox --chdir /tmp/home --clearenv"
        mounts = "--ro-bind / / --dev /dev --proc /proc --tmpfs /var/tmp --tmpfs /run --bind {0}/tmp /tmp --bind {0}/shm /dev/shm"
        self.command = LIMITS + ["bwrap"] + options.split() + mounts.split() + ["--bind", "{0}/out", "/run/out"]
        for place in ("scripts", "docs"):
            self.command += ["--ro-bind", os.path.join(ROOT, place), "/run/libleak/" + place]
        self.command += ["--ro-bind", build, "/run/libleak/build"]
        for directory in path.split(":"):  # programs that stand where another /tmp is mounted
            if os.path.isdir(directory) and os.path.realpath(directory).startswith(("/tmp/", "/var/tmp/", "/run/")):
                self.command += ["--ro-bind", directory, directory]
        self.environment = {"PATH": path, "HOME": "/tmp/home", "LC_ALL": "C.UTF-8", "TZ": "UTC", "TERM": "dumb", "USER": "user"}

    def run(self, folder, variant, command, limit):
        """What a variant of a case shows: {what: bytes}; None if it does not end within the limit."""
        shutil.rmtree(folder, ignore_errors=True)
        for name in ("tmp/home", "shm", "out"):
            os.makedirs(os.path.join(folder, name))
        words = [word.replace("{0}", folder) for word in self.command]
        for setting in self.environment.items():
            words += ["--setenv", *setting]
        with open(folder + "/stdout", "wb") as out, open(folder + "/stderr", "wb") as err:
            process = subprocess.Popen(words + ["--"] + PREFIX[variant] + command, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
            try:
                status = process.wait(limit)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                return None
        stderr = read(folder + "/stderr")
        if b"leakrun: still running" in stderr:
            for recordings in glob.glob(folder + "/shm/libleak-run.*"):
                shutil.rmtree(recordings)
        stdout, stderr = read(folder + "/stdout"), MEANT.sub(b"", stderr)
        return {"status": b"%d" % status, "stdout": stdout, "stderr": stderr, "files": left(folder)}


def read(file):
    with open(file, "rb") as f:
        return f.read()


def left(folder):
    """The files left behind: a line for each, with its kind, mode and content."""
    lines = []
    for top in ("tmp", "shm"):
        for directory, folders, names in os.walk(os.path.join(folder, top)):
            for name in folders + names:
                file = os.path.join(directory, name)
                about = os.lstat(file)
                content = os.readlink(file) if os.path.islink(file) else ""
                if os.path.isfile(file) and not content:
                    content = hashlib.sha256(read(file)).hexdigest()
                lines.append("%s %o %s" % (os.path.relpath(file, folder), about.st_mode, content))
    return "\n".join(sorted(lines)).encode(errors="surrogateescape")


# ---- The verdict -------------------------------------------------------------------------------


def without_numbers(text):
    return NUMBER.sub(b"N", text)


def differences(bare, others):
    """What of the other runs is unlike all bare ones. What is noisy in the bare runs is left out; numbers are, where
    the runs of one sort differ in nothing else."""
    wrong = []
    for what in bare[0]:
        known, values = {run[what] for run in bare}, {run[what] for run in others}
        if len(known) > 1 or len(values) > 1:
            known, values = set(map(without_numbers, known)), set(map(without_numbers, values))
        if len(known) == 1 and values != known:
            wrong.append(what)
    return wrong


def noisy(bare):
    return [what for what in bare[0] if len({without_numbers(run[what]) for run in bare}) > 1]


def errors(folder):
    """The wrong frees that the report of leakrun names."""
    report = read(folder + "/out/report") if os.path.exists(folder + "/out/report") else b""
    return sorted(set(WRONG.findall(report.decode(errors="replace"))))


def refusal(folder, status):
    """Why leakrun does not track the program, or None."""
    said = read(folder + "/stderr").decode(errors="replace")
    if "leakrun: WARNING: nothing was tracked" in said:
        return "nothing was tracked"
    if status in (b"126", b"127") and said.startswith("leakrun: "):
        return said.split(None, 2)[2].split(":")[0].strip()
    return None


def judge(sandbox, folder, command, variants, limit):
    """The verdict of a case, and its reason."""

    def run(variant, number="", times=6):
        return sandbox.run(os.path.join(folder, variant + number), variant, command, limit * times)

    if command is None:
        return "refused", "not installed"
    bare = [run("bare", times=1)]
    if bare[0] is None:
        return "refused", "does not end by itself"
    if bare[0]["stderr"].startswith(b"/usr/bin/timeout: failed to run"):
        return "refused", "cannot be executed: " + bare[0]["stderr"].decode().strip().rsplit(": ", 1)[1]
    refused, reasons = None, []
    for variant in variants:
        others = [run(variant)]
        if variant == "leakrun" and others[0]:
            refused = refusal(folder + "/leakrun", others[0]["status"])
            if refused:
                continue
        if others[0] and differences(bare, others):  # noise may be rare, and so may be what libleak does
            bare += filter(None, [run("again", n) for n in "123"])
            others.append(run(variant, "2"))
        wrong = differences(bare, others) if all(others) else ["does not end"]
        if wrong:
            reasons.append("%s: %s" % (variant, ", ".join(wrong)))
    if reasons:
        return "differing", "; ".join(reasons)
    if refused:
        return "refused", refused
    if errors(folder + "/leakrun"):
        return "errors", "; ".join(errors(folder + "/leakrun"))
    if noisy(bare):
        return "noisy", ", ".join(noisy(bare))
    return "identical", ""


def explanation(name):
    for line in open(os.path.join(HERE, "explained")):
        pattern, _, reason = line.partition(": ")
        if reason and not line.startswith("#") and fnmatch.fnmatch(name, pattern):
            return "explained", reason.strip()
    return None


# ---- The state, and what is printed ------------------------------------------------------------


def load(file):
    """{case: (verdict, reason)}; the last line of a case counts."""
    state = {}
    for line in open(file) if os.path.exists(file) else []:
        name, verdict, reason = json.loads(line)
        state[name] = verdict, reason
    return state


def show(name, verdict, reason):
    print("  %-10s %s%s" % (verdict, name, " (%s)" % reason if reason else ""), flush=True)


def summary(state):
    programs_of = collections.Counter()
    worst = {}
    for name, (verdict, _) in state.items():
        program = name if name.startswith("task:") else name.rsplit(":", 1)[0]
        worst.setdefault(program, set()).add(verdict)
    for verdicts in worst.values():
        programs_of[max(verdicts, key=VERDICTS.index)] += 1
    cases_of = collections.Counter(verdict for verdict, _ in state.values())
    reasons = collections.Counter(re.sub(r"^/\S+ ", "", reason) for verdict, reason in state.values() if verdict == "refused")
    print("conformance-all: %d programs and tasks, %d cases" % (len(worst), len(state)))
    for verdict in VERDICTS:
        print("  %-10s %5d programs and tasks, %5d cases" % (verdict, programs_of[verdict], cases_of[verdict]))
    for reason, count in reasons.most_common():
        print("  refused    %5d cases: %s" % (count, reason))


def main(words):
    options = dict(word[2:].split("=", 1) if "=" in word else (word[2:], "") for word in words if word.startswith("--"))
    unknown = set(options) - {"only", "again", "path", "tasks", "under", "limit", "jobs", "summary"}
    build = [os.path.realpath(word) for word in words if not word.startswith("--")]
    if unknown or len(build) != 1:
        print(__doc__.rstrip(), file=sys.stderr)
        return 2
    path = options.get("path") or os.environ["PATH"]
    work = os.path.join(build[0], "conformance-all")
    os.makedirs(work, exist_ok=True)
    log = os.path.join(work, "state")
    state = load(log)
    if "summary" in options:
        for name, (verdict, reason) in sorted(state.items()):
            if verdict != "identical":
                show(name, verdict, reason)
        summary(state)
        return 0

    every = cases(path, options.get("tasks") or os.path.join(HERE, "tasks"))
    variants = (options.get("under") or "preload,leakrun").split(",")
    again, only = options.get("again"), options.get("only")

    def wanted(name):
        if only and not any(fnmatch.fnmatch(text, only) for text in (name, name.rsplit(":", 1)[0])):
            return False
        if again:
            return name in state and again in ("all", state[name][0])
        return bool(only) or name not in state

    sandbox = Sandbox(build[0], path)
    lock = threading.Lock()

    def do(name):
        folder = os.path.join(work, name.replace("/", "_"))
        verdict, reason = judge(sandbox, folder, every[name], variants, float(options.get("limit") or 10))
        if verdict == "differing":
            verdict, reason = explanation(name) or (verdict, reason)
        if verdict not in ("differing", "errors"):
            shutil.rmtree(folder, ignore_errors=True)
        with lock:
            show(name, verdict, reason)
            state[name] = verdict, reason
            with open(log, "a") as f:
                f.write(json.dumps([name, verdict, reason]) + "\n")

    with concurrent.futures.ThreadPoolExecutor(int(options.get("jobs") or 2)) as pool:
        for done in [pool.submit(do, name) for name in every if wanted(name)]:
            done.result()
    summary(state)
    return 1 if any(verdict == "differing" for verdict, _ in state.values()) else 0


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    sys.exit(main(sys.argv[1:]))
