"""Runs one command under one tool, and writes every result to a file.

A result is a row of tab-separated words:  suite case tool round quantity value.
All tables are made from such files (tables.py), so no measurement is lost.
"""
import os, platform, re, shutil, signal, subprocess, sys, tempfile

from tools import BUILD, ROOT

MEASURE = os.path.join(BUILD, "bench/measure")


def say(words, end="\n"):
    sys.stderr.write(words + end)
    sys.stderr.flush()


def options(words, usage, flags, **defaults):
    """Parses --NAME=VALUE into a dictionary and --FLAG into a set."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143)) # so that temporary folders are removed
    chosen, seen = dict(defaults), set()
    for word in words:
        name, equals, value = word[2:].partition("=")
        if word.startswith("--") and equals and name in chosen:
            chosen[name] = value
        elif word in flags:
            seen.add(word)
        else:
            raise SystemExit("%sbench: unknown option: %s" % (usage, word) if word != "--help" else usage)
    return chosen, seen


# ---- Figures -----------------------------------------------------------------------------------------------

class Figures:
    """The rows of one measurement, written to a file at once and kept for the tables."""

    def __init__(self, path, suite):
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        self.path, self.suite, self.rows = path, suite, []
        self.file = open(path, "w")
        self.file.write("suite\tcase\ttool\tround\tquantity\tvalue\n")
        for name, value in machine().items():
            self.add("-", "-", 0, "machine " + name, value)

    def add(self, case, tool, round_, quantity, value):
        if isinstance(value, float):
            value = "%.6f" % value
        row = (self.suite, case, tool, str(round_), quantity, str(value))
        self.rows.append(row)
        self.file.write("\t".join(row) + "\n")
        self.file.flush()


def read(path):
    with open(path) as file:
        next(file)
        return [tuple(line.rstrip("\n").split("\t")) for line in file]


def machine():
    """Properties of the machine that the results depend on, without host names, because tables are published."""
    def first_line(*command):
        try:
            said = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
            return said.decode().splitlines()[0]
        except (OSError, IndexError):
            return "unknown"
    with open("/proc/cpuinfo") as file:
        model = re.search(r"^model name\s*:\s*(.*)", file.read(), re.M)
    with open("/proc/meminfo") as file:
        memory = int(re.search(r"MemTotal:\s*(\d+)", file.read()).group(1))
    try:
        with open("/etc/os-release") as file:
            system = re.search(r'^PRETTY_NAME="?([^"\n]*)', file.read(), re.M).group(1)
    except (OSError, AttributeError):
        system = "unknown"
    return {
        "cores": os.cpu_count(),
        "processor": "%s (%s)" % (model.group(1) if model else "unknown", platform.machine()),
        "memory": "%d GiB" % round(memory / 1048576),
        "kernel": ".".join(platform.release().split("-")[0].split(".")[:2]),
        "system": system,
        "libc": " ".join(platform.libc_ver()),
        "compiler": first_line(os.environ.get("CC", "cc"), "--version"),
        "libleak": first_line("git", "-C", ROOT, "describe", "--always", "--dirty"),
        "load at the start": "%.1f" % os.getloadavg()[0],
    }


# ---- One run -----------------------------------------------------------------------------------------------

class Place:
    """A folder for the files of one run, in memory if there is space, so that no tool waits for a disk."""

    def __enter__(self):
        memory = "/dev/shm"
        roomy = os.path.isdir(memory) and shutil.disk_usage(memory).free > 4 << 30
        self.path = tempfile.mkdtemp(prefix="bench-", dir=memory if roomy else None)
        return self.path

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)


def numbers(line):
    """Parses name=value words into a dictionary."""
    pairs = (word.split("=", 1) for word in line.split() if "=" in word)
    return {name: float(value) if re.fullmatch(r"-?[\d.]+", value) else value for name, value in pairs}


WARM_MIB = 2048


def scale_warm(scale):
    """Small inputs need little memory."""
    global WARM_MIB
    WARM_MIB = int(WARM_MIB * min(1, scale))


def free_mib():
    with open("/proc/meminfo") as file:
        return int(re.search(r"MemAvailable:\s*(\d+)", file.read()).group(1)) >> 10


class Measured:
    """One command under build/bench/measure: the constructor starts it, wait() returns its results. Its standard
    output is kept. The end of "with" terminates a running command. warm: MiB of memory touched before its start."""

    def __init__(self, words, place, seconds, warm=None):
        warm = WARM_MIB if warm is None else warm
        self.output, self.result = (os.path.join(place, name) for name in ("stdout", "result"))
        self.process = subprocess.Popen([MEASURE, "-t", str(seconds), "-w", str(min(warm, free_mib() // 2)),
                                         "-o", self.output, "-e", os.path.join(place, "stderr"), self.result, *words])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait()

    def wait(self):
        """Returns a dictionary: cpu, wall (seconds), rss_kb, end (exit, signal, timeout), value."""
        if self.process.wait():
            raise SystemExit("bench: measure failed")
        with open(self.result) as file:
            return numbers(file.read())

    def read_output(self):
        with open(self.output, "rb") as file:
            return file.read()


def trouble(figures, verdicts=()):
    """Returns why a run is invalid, or None. An exit status that is the verdict of the tool is valid."""
    if figures["end"] == "exit" and (figures["value"] == 0 or figures["value"] in verdicts):
        return None
    return "%s %d" % (figures["end"], figures["value"])
