import ctypes
import sys

library = ctypes.CDLL(sys.argv[1])


def call():
    library.lose()


for _ in range(3): call()
print("called 3 times")
