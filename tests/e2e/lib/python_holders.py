"""python_holders.py LIBRARY [leave] - blocks that objects of Python hold, and blocks whose objects are gone."""

import ctypes
import os
import sys

library = ctypes.CDLL(sys.argv[1])
library.make_held.restype = library.make_lost.restype = ctypes.c_void_p
held = [ctypes.c_void_p(library.make_held()) for _ in range(10)]
lost = [ctypes.c_void_p(library.make_lost()) for _ in range(200)]
del lost
print("made 210 blocks", flush=True)
os._exit(0)  # without the objects being freed
