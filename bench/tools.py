"""The tools that are compared, one row each: how to run a command under the tool, and whether it is installed.

The command of a tool is that of the program after environment variables or a wrapper. "{place}" in it is a
separate folder, empty before each run and removed after it. This module measures nothing.
"""
import glob, os, shutil, subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.abspath(os.path.join(ROOT, os.environ.get("BUILD", "build")))


def library(name):
    """Returns the path of a shared library, or None."""
    for pattern in ("/usr/lib/*-linux-gnu/", "/usr/lib64/", "/usr/lib/", "/usr/local/lib/"):
        for path in sorted(glob.glob(pattern + name)):
            if "i386" not in path:
                return path
    return None


def built(name):
    path = os.path.join(BUILD, name)
    return path if os.path.exists(path) else None


class Tool:
    """name     on the command line and in tables
    words       description for the legend
    needs       a path, or None when it is not installed
    variables   NAME=VALUE words; {needs} and {place} are filled in
    wrapper     words before the command
    by_default  whether the tool is run without --tools
    verdicts    exit statuses with which the tool may replace 0 of the program
    talks       whether it prints text before and after the output of the program"""

    def __init__(self, name, words, needs="", variables=(), wrapper=(), by_default=True, verdicts=(), talks=False):
        self.name, self.words, self.needs = name, words, needs
        self.variables, self.wrapper = list(variables), list(wrapper)
        self.by_default, self.verdicts, self.talks = by_default, set(verdicts), talks

    def missing(self):
        return self.needs is None

    def command(self, argv, place, variables=()):
        """Returns NAME=VALUE words and the command, for measure."""
        fill = lambda word: word.replace("{needs}", self.needs or "").replace("{place}", place)
        return [fill(word) for word in (*variables, *self.variables, *self.wrapper, *argv)]


def preloaded(name, words, path, *variables, **more):
    return Tool(name, words, path, ["LD_PRELOAD={needs}", *variables], **more)


NONE = Tool("none", "the program as it is")
AGAIN = Tool("again", "a second run without a tool: its difference from 1 is noise")

HEAPTRACK = next(iter(glob.glob("/usr/lib*/heaptrack/libheaptrack_preload.so")), None)
LSAN = library("liblsan.so.0")
TCMALLOC = library("libtcmalloc.so.4")
JEMALLOC = library("libjemalloc.so.2")


def jemalloc(name, words, setting, **more):
    """The profiler of jemalloc, or only the allocator if it was built without profiling."""
    asked = JEMALLOC and subprocess.run(["/bin/sh", "-c", ":"], stderr=subprocess.PIPE,
                                        env={"LD_PRELOAD": JEMALLOC, "MALLOC_CONF": "prof:true"})
    if JEMALLOC and b"Invalid conf" in asked.stderr:
        return preloaded(name, "jemalloc as an allocator only: this build has no profiler", JEMALLOC, **more)
    return preloaded(name, words, JEMALLOC, "MALLOC_CONF=prof_final:true,prof_prefix:{place}/je," + setting, **more)


def peers():
    return [
        preloaded("heaptrack", "heaptrack's library alone, its trace written to a file as it is", HEAPTRACK,
                  "DUMP_HEAPTRACK_OUTPUT={place}/trace"),
        Tool("heaptrack-all", "heaptrack as its users start it: interpreter and compression in parallel count, too",
             shutil.which("heaptrack"), [], ["heaptrack", "-o", "{place}/trace"], talks=True),
        preloaded("lsan", "gcc's LeakSanitizer preloaded, recording only: its scan at exit is switched off", LSAN,
                  "LSAN_OPTIONS=leak_check_at_exit=0"),
        preloaded("gperftools", "tcmalloc with HEAPPROFILE: every allocation, its stack by frame pointers", TCMALLOC,
                  "HEAPPROFILE={place}/profile", "TCMALLOC_STACKTRACE_METHOD=generic_fp"),
        jemalloc("jemalloc", "jemalloc with prof:true, which samples every 512 KiB", "prof:true"),
        # Run only if named with --tools.
        preloaded("forward", "bench/forward.c: only forwards", built("bench/libforward.so"), by_default=False),
        preloaded("lsan-scan", "gcc's LeakSanitizer preloaded, with its scan at exit, without names", LSAN,
                  "LSAN_OPTIONS=symbolize=0:exitcode=0:log_path={place}/lsan", by_default=False),
        preloaded("gperftools-libunwind", "tcmalloc with HEAPPROFILE by default: stacks by libunwind", TCMALLOC,
                  "HEAPPROFILE={place}/profile", by_default=False),
        preloaded("heapcheck", "tcmalloc with HEAPCHECK=normal, which scans at exit", TCMALLOC, "HEAPCHECK=normal",
                  "PPROF_PATH=/bin/false", "HEAP_CHECK_DUMP_DIRECTORY={place}", by_default=False, verdicts=[1]),
        jemalloc("jemalloc-all", "jemalloc with lg_prof_sample:0: every allocation", "prof:true,lg_prof_sample:0",
                 by_default=False),
        Tool("valgrind", "memcheck with --leak-check=full", shutil.which("valgrind"), [],
             ["valgrind", "-q", "--leak-check=full", "--log-file={place}/log", "--"], by_default=False),
    ]


PEERS = peers()


def leakrun():
    """Returns the path of leakrun. It searches ../build, so another build gets a copy in a suitable place."""
    script = os.path.join(ROOT, "scripts/leakrun")
    if os.path.realpath(BUILD) == os.path.realpath(os.path.join(ROOT, "build")):
        return script
    tree = os.path.join(BUILD, "bench/tree")
    os.makedirs(os.path.join(tree, "scripts"), exist_ok=True)
    if not os.path.islink(os.path.join(tree, "build")):
        os.symlink(BUILD, os.path.join(tree, "build"))
    return shutil.copy(script, os.path.join(tree, "scripts"))


def libleak_wrapped(options):
    """leakrun end to end, without the report, whose time is measured separately."""
    pairs = (option.partition("=") for option in options)
    words = ["--%s=%s" % (name.replace("_", "-"), value) for name, _, value in pairs]
    return [leakrun(), "--no-report", *words, "--"]


def libleak_tool(name, wrapped):
    options = [o for o in name.partition(":")[2].split(":") if o]
    words = "leakrun, without the report" if wrapped else "libleak.so preloaded"
    words += ", with %s" % " ".join(options) if options else ", default options"
    if not libleak_knows(options):
        return Tool(name, words, None)
    if wrapped:
        return Tool(name, words, built("libleak.so"), [], libleak_wrapped(options))
    return preloaded(name, words, built("libleak.so"), "LIBLEAK_OPTIONS=" + ":".join(["dir={place}", *options]))


def libleak_knows(options):
    """Whether this libleak accepts all of these options without a message."""
    here = built("libleak.so")
    if not options or not here:
        return True
    said = subprocess.run(["ls"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          env={"PATH": os.environ.get("PATH", ""), "LD_PRELOAD": here,
                               "LIBLEAK_OPTIONS": ":".join(options)})
    return not said.stderr


def named(names, wrapped=True):
    """Returns tools by name; libleak:OPTION=VALUE[:OPTION=VALUE] is libleak with options. "none" is always first."""
    table = {tool.name: tool for tool in [AGAIN, *PEERS]}
    tools = [NONE]
    for name in names:
        if name == "none":
            continue
        if name == "libleak" or name.startswith("libleak:"):
            tools.append(libleak_tool(name, wrapped))
        elif name in table:
            tools.append(table[name])
        else:
            raise SystemExit("bench: unknown tool: %s (tools: none, again, libleak[:OPTION=VALUE...], %s)"
                             % (name, ", ".join(t.name for t in PEERS)))
    return tools


def defaults():
    return ["again", "libleak"] + [tool.name for tool in PEERS if tool.by_default]
