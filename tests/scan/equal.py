#!/usr/bin/python3
"""equal.py BUILD [NAME...] - the verdicts of leakctl scan beside those of libleak, in the same process at the
same moment: each program runs under libleak and waits for input; leakctl snapshot, then leakctl scan, then
leakreport core of gcore's file, of the kernel's (where core_pattern is a plain name), and of the first half of
that. Prints a Markdown table (docs/SCAN.md). Exit status 1: scan or a core calls a block lost that libleak does
not.

Blocks of libleak whose verdict the stack gives (runtime) count as reachable; sizes differ by what malloc rounds
up, so blocks are counted.
"""
import glob, json, os, resource, shutil, signal, subprocess, sys, tempfile, time

PROGRAMS = {  # name: command, input
    "bash": (["bash", "--norc"], "f() { a=($(seq 500)); }; f\n"),
    "dash": (["dash"], "a=1\nf() { echo $a; }\nf\n"),
    "bc": (["bc", "-q"], "2^1000\nscale=50\n1/7\n"),
    "dc": (["dc"], "2 1000 ^ p\n"),
    "sqlite3": (["sqlite3"], "create table t(a,b);insert into t values(1,'x');select * from t;\n"),
    "python3": (["/usr/bin/python3", "-ic", "import json,re,collections\nx=[str(i) for i in range(9999)]"], ""),
    "perl": (["perl", "-e", "my %h = map { $_ => [1..5] } 1..3000; <STDIN>"], ""),
    "gawk": (["gawk", '{ for (i = 0; i < 3000; i++) a[i] = $0 i }'], "one\n"),
    "mawk": (["mawk", '{ for (i = 0; i < 3000; i++) a[i] = $0 i }'], "one\n"),
    "sed": (["sed", "s/a/b/g;h;G"], "aaa\nbab\n"),
    "grep": (["grep", "-E", "(a|b)+c?[d-f]*"], "abc\n" * 50),
    "sort": (["sort"], "b\na\n" * 500),
    "jq": (["jq", "."], '{"a":[1,2,{"b":null}]}\n' * 20),
    "m4": (["m4"], "define(`x',`y')x\n"),
    "ed": (["ed"], "a\nhello\n.\n"),
    "gdb": (["gdb", "-q", "-nx"], "print 1\n"),
    "lua": (["lua5.4", "-i"], "t={} for i=1,3000 do t[i]={i} end\n"),
    "tclsh": (["tclsh"], "set a [list 1 2 3]\nproc f {} {return 1}\nf\n"),
    "git": (["git", "cat-file", "--batch"], "HEAD\n"),
    "openssl": (["openssl", "enc", "-aes-128-cbc", "-pass", "pass:a", "-pbkdf2"], "text\n"),
    "xmllint": (["xmllint", "--shell", "/usr/share/xml/iso-codes/iso_3166.xml"], "dir\n"),
    "less": (["less", "-"], "a\n"),
    "nodejs": (["node", "-i"], "x=[1,2,3].map(String)\n"),
    "redis": (["redis-server", "--port", "0", "--save", ""], ""),
    "nginx": (["nginx", "-g", "daemon off;master_process off;error_log stderr;pid /dev/null;", "-p", "."], ""),
    "vim": (["vim", "-u", "NONE", "-es"], "set all\n"),
    "ruby": (["ruby", "-e", "a = (1..2000).map { |i| i.to_s }; gets"], ""),
    "php": (["php", "-r", "$a = range(1, 3000); fgets(STDIN);"], ""),
    "cpp": (["cpp"], "#define X 1\nX\n"),
    "as": (["as", "-o", "/dev/null"], "nop\n" * 30),
    "make": (["make", "-f", "-"], "all:\n\ttrue\n"),
    "bison": (["bison", "-o", "/dev/null", "/dev/stdin"], "%%\na: 'b';\n"),
    "socat": (["socat", "-", "PIPE"], "x\n"),
    "nc": (["nc", "-l", "-p", "0"], ""),
    "ssh-agent": (["ssh-agent", "-D"], ""),
    "gpg": (["gpg", "--no-options", "--list-packets"], ""),
    "tail": (["tail", "-f", "/dev/null"], ""),
    "strace": (["strace", "-o", "/dev/null", "sleep", "100"], ""),
    "valac": (["valac", "--version"], ""),
    "gimp": (["gimp", "--version"], ""),
    "xz": (["xz", "-c"], "text\n"),
    "diff": (["diff", "-", "/etc/passwd"], "x\n"),
    "iconv": (["iconv", "-f", "UTF-16", "-t", "UTF-8"], "xxxx"),
    "tshark": (["tshark", "-r", "-"], ""),
    "clang-format": (["clang-format"], "int main(){}\n"),
    "guile": (["guile", "-q"], "(define x (iota 100))\n"),
    "octave": (["octave-cli", "-q", "--norc"], "x=1:100;\n"),
    "gnuplot": (["gnuplot"], "print 1\n"),
    "psql": (["psql", "--help"], ""),
    "units": (["units", "-q"], ""),
    "gs": (["gs", "-q", "-dNODISPLAY"], "1 1 add ==\n"),
}
ENDINGS = (signal.SIGXCPU, signal.SIGSYS, signal.SIGXFSZ, signal.SIGTRAP, signal.SIGABRT, signal.SIGQUIT, signal.SIGFPE)
WORDS = ("lost", "indirect", "possible", "hidden", "reachable")


def run(*command, **more):
    return subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=120, **more)


def blocks(report):
    return {word: report["summary"][word]["blocks"] for word in WORDS}


def read_core(build, path, part=1.0):
    """The blocks by verdict; None: leakreport refuses the file."""
    if not os.path.exists(path):
        return None
    if part < 1:
        os.truncate(path, int(os.path.getsize(path) * part))
    report = run(build + "/leakreport", "core", "--format=json", path)
    return blocks(json.loads(report.stdout)) if not report.returncode else None


def core_of_gdb(build, folder, pid):
    if not shutil.which("gcore"):
        return None
    path = folder + "/gcore"
    run("gcore", "-o", path, pid)
    found = read_core(build, path + "." + pid)
    os.unlink(path + "." + pid)
    return found


def cores_of_kernel(build, program, folder):
    """Ends the program by a signal that it does not handle. Of the whole file, and of its first half."""
    with open("/proc/%d/status" % program.pid, encoding="utf-8", errors="replace") as stream:
        status = stream.read()
    handled = int(status.split("SigCgt:")[1].split()[0], 16) | int(status.split("SigIgn:")[1].split()[0], 16)
    ending = next((number for number in ENDINGS if not handled >> (number - 1) & 1), None)
    if not ending:
        return None, None
    program.send_signal(ending)
    program.wait(30)
    for path in glob.glob(folder + "/core*"):
        whole, half = read_core(build, path), read_core(build, path, 0.5)
        os.unlink(path)
        return whole, half
    return None, None


def measure(build, folder, name):
    command, text = PROGRAMS[name]
    if not shutil.which(command[0]):
        return None
    environment = dict(os.environ, LD_PRELOAD=build + "/libleak.so", LIBLEAK_DIR=folder,
                       LIBLEAK_OPTIONS="report=none:crash=off:fatal_look=0", HOME=folder, TERM="dumb")
    program = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               env=environment, cwd=folder)
    try:
        resource.prlimit(program.pid, resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        program.stdin.write(text.encode())
        program.stdin.flush()
        time.sleep(float(os.environ.get("SETTLE", "2")))
        if program.poll() is not None:
            return None
        pid = str(program.pid)
        if run(build + "/leakctl", "snapshot", "--dir=" + folder, pid).returncode:
            return None
        scanned = run(build + "/leakctl", "scan", "--format=json", "--show=all", pid)
        if scanned.returncode:
            return scanned.stderr.strip()
        cored = core_of_gdb(build, folder, pid)
        store = glob.glob("%s/*.%s.*.leak" % (folder, pid))
        report = json.loads(run(build + "/leakreport", "--format=json", "--default-suppressions=off", *store).stdout)
        known = blocks(report["processes"][0])
        known["reachable"] += report["processes"][0]["summary"]["runtime"]["blocks"]
        report = json.loads(scanned.stdout)
        kernel, half = cores_of_kernel(build, program, folder)
        return known, blocks(report), (cored, kernel), half, report["look"]
    except (BrokenPipeError, PermissionError, subprocess.TimeoutExpired, json.JSONDecodeError, KeyError, IndexError) as error:
        return repr(error)[:80]
    finally:
        program.send_signal(signal.SIGKILL)
        program.wait()


def cells(counts):
    return "%d + %d / %d / %d / %d" % tuple(counts[word] for word in WORDS) if counts else "-"


def lost(counts):
    return counts["lost"] + counts["indirect"]


def main():
    build, names = os.path.abspath(sys.argv[1]), sys.argv[2:] or list(PROGRAMS)
    equal = total = false = cores = 0
    print("| program | libleak | leakctl scan | gcore's core | kernel's core | half of it | equal | paused (ms) | read (ms) |\n"
          "|---|---|---|---|---|---|---|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            result = measure(build, folder, name)
            if result is None:
                continue
            if isinstance(result, str):
                print("| %s | %s |" % (name, result))
                continue
            known, scan, whole, half, look = result
            as_scan = all(core is None or core == scan for core in whole)
            same = all(known[word] == scan[word] for word in WORDS[:4]) and as_scan
            more = any(core and lost(core) > lost(known) for core in (scan, *whole, half))
            total, equal, false, cores = total + 1, equal + same, false + more, cores + as_scan
            print("| %s | %s | %s | %s | %s | %s | %s | %.1f | %.0f |"
                  % (name, cells(known), cells(scan), *(cells(core) for core in (*whole, half)),
                     "**more lost**" if more else "yes" if same else "cores" if as_scan else "no",
                     look["pause_ms"], look["check_ms"]), flush=True)
    print("\n%d programs, %d equal, %d with cores equal to scan, %d with more lost" % (total, equal, cores, false))
    sys.exit(false > 0)


main()
