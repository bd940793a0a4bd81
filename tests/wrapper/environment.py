"""environment.py COMMAND -0...: under leakrun the environment has LD_PRELOAD and LIBLEAK_* and else
exactly what it has without, in any order; both are what env -0 prints."""
import subprocess, sys

leakrun, *show = sys.argv[1:]
bare = subprocess.run(show, stdout=subprocess.PIPE, check=True).stdout.split(b"\0")
watched = subprocess.run([leakrun, "-o", "report"] + show, stdout=subprocess.PIPE, check=True).stdout.split(b"\0")
ours = [word for word in watched if word.startswith((b"LD_PRELOAD=", b"LIBLEAK_"))]
rest = [word for word in watched if word not in ours]
assert len(ours) == 2, ours
assert rest == bare, (rest, bare)
