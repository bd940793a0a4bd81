"""keys.py ROWS COLUMNS: bash on a terminal of that size. Each line of the standard input is a step: "type TEXT" (C
escapes; Enter is \\r), "see TEXT" waits until the screen has shown TEXT behind what was seen before, "size ROWS
COLUMNS" changes the size. Prints what was shown."""
import fcntl, os, pty, select, struct, sys, termios, time

def resize(rows, columns):
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", int(rows), int(columns), 0, 0))

def read(seconds):
    global shown
    if not select.select([master], [], [], seconds)[0]:
        return True
    try:
        data = os.read(master, 4096)
    except OSError:
        return False
    shown += data
    return bool(data)

steps = sys.stdin.read().splitlines()
pid, master = pty.fork()
if pid == 0:
    os.environ.update(PS1="ready> ", TERM="dumb")
    os.execvp("bash", ["bash", "--norc", "--noprofile", "--noediting", "-i"])
resize(*sys.argv[1:3])
shown, seen = b"", 0
for step in steps:
    verb, _, text = step.partition(" ")
    wanted = text.encode().decode("unicode_escape").encode()
    if verb == "type":
        time.sleep(0.2)
        os.write(master, wanted)
    elif verb == "size":
        resize(*text.split())
    else:
        end = time.time() + 50
        while wanted not in shown[seen:] and time.time() < end and read(1):
            pass
        assert wanted in shown[seen:], (step, shown[seen:].decode())
        seen = shown.index(wanted, seen) + len(wanted)
os.close(master)
os.waitpid(pid, 0)
print(shown.decode())
