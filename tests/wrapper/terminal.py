"""terminal.py LEAKRUN: Ctrl-C on a terminal reaches the program once; leakrun outlives it and ends with
the program's status."""
import os, pty, sys, time

pid, master = pty.fork()
if pid == 0:
    script = "n=0; trap 'n=$((n+1))' INT; echo ready; sleep 0.5; sleep 0.3; echo got=$n; exit 9"
    os.execv(sys.argv[1], [sys.argv[1], "-o", "report", "sh", "-c", script])
seen = b""
sent = False
while True:
    try:
        data = os.read(master, 4096)
    except OSError:
        break
    if not data:
        break
    seen += data
    if b"ready" in seen and not sent:
        time.sleep(0.1)
        os.write(master, b"\x03")
        sent = True
_, status = os.waitpid(pid, 0)
assert os.WIFEXITED(status) and os.WEXITSTATUS(status) == 9, (status, seen)
assert b"got=1" in seen, seen
