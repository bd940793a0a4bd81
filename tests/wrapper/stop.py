"""stop.py LEAKRUN: a stop of the program stops leakrun in the same way, and both go on together."""
import os, signal, subprocess, sys, time

leakrun = sys.argv[1]


def stopped_by(pid):
    deadline = time.time() + 10
    while time.time() < deadline:
        got, status = os.waitpid(pid, os.WUNTRACED | os.WNOHANG)
        if got and os.WIFSTOPPED(status):
            return os.WSTOPSIG(status)
        assert not got, "ended with wait status %d" % status
        time.sleep(0.02)
    raise AssertionError("leakrun did not stop")


def state(pid):
    return open("/proc/%d/stat" % pid).read().rsplit(")", 1)[1].split()[0]


def start():
    if os.path.exists("pid"):
        os.remove("pid")
    # In a session with a shell's place above it, so that its group is no orphan.
    process = subprocess.Popen(
        [leakrun, "-o", "report", "--force", "sh", "-c", "echo $$ >pid.new; mv pid.new pid; exec sleep 60"],
        preexec_fn=lambda: os.setpgid(0, 0),
    )
    while not os.path.exists("pid"):
        time.sleep(0.02)
    return process.pid, int(open("pid").read())


def until(pid, wanted):
    deadline = time.time() + 10
    while state(pid) not in wanted:
        assert time.time() < deadline, "%d is in state %s, not %s" % (pid, state(pid), wanted)
        time.sleep(0.02)


for sig in signal.SIGSTOP, signal.SIGTSTP:
    watch, program = start()
    if sig == signal.SIGTSTP:
        os.kill(-watch, sig)  # as a terminal would: the whole group
    else:
        os.kill(program, sig)  # the program alone
    assert stopped_by(watch) == sig
    until(program, "T")
    os.kill(watch, signal.SIGCONT)  # leakrun alone: it wakes the program
    until(program, "S")
    until(watch, "S")
    if sig == signal.SIGTSTP:
        os.kill(-watch, sig)  # a second time works as the first
        assert stopped_by(watch) == sig
        os.kill(-watch, signal.SIGCONT)
        until(program, "S")
        until(watch, "S")
    os.kill(watch, signal.SIGTERM)
    _, status = os.waitpid(watch, 0)
    assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGTERM, status
