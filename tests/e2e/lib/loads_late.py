"""loads_late.py EXTENSION LIBRARY - loses blocks, loads the library, and loses some more."""
import ctypes
import json
import sys
import threading

extension = ctypes.CDLL(sys.argv[1])
text = json.dumps([{"number": n, "words": ["word"] * n} for n in range(200)])
extension.lose_some(9)
started, loaded = threading.Event(), threading.Event()


def work():
    before = json.loads(text)
    started.set()
    loaded.wait()
    sums.append(sum(len(item["words"]) for item in before + json.loads(text)))


sums = []
thread = threading.Thread(target=work)
thread.start()
started.wait()
ctypes.CDLL(sys.argv[2])
loaded.set()
thread.join()
extension.lose_some(17)
more = [threading.Thread(target=work) for _ in range(4)]
[t.start() for t in more]
[t.join() for t in more]
import decimal, sqlite3  # plugins that come later
assert sqlite3.connect(":memory:").execute("select 2 + 3").fetchone() == (5,)
assert sums == 5 * [2 * sum(range(200))]
print("17 and %d, every thread" % sum(range(101)))
sys.exit(3)
