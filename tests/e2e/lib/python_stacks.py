"""python_stacks.py LIBRARY FILE - loses one block from each of many kinds of Python frames.

Each block is lost by a C function of its own, lose_0, lose_1 ..., and FILE gets what Python itself says
of the call stack at that moment: for each number a list of [file, line, function].
"""

import asyncio
import contextlib
import ctypes
import functools
import json
import sys
import threading

library = ctypes.CDLL(sys.argv[1])
lock = threading.Lock()
said = []


def name_of(code):
    return getattr(code, "co_qualname", code.co_name)  # since 3.11


def lose():
    with lock:
        number = len(said)
        said.append(None)
    call = getattr(library, "lose_%d" % number)
    frame = sys._getframe(0)
    stack = []
    call(number + 1); line = frame.f_lineno
    while frame:
        stack.append([frame.f_code.co_filename, line, name_of(frame.f_code)])
        frame = frame.f_back
        line = frame and frame.f_lineno
    said[number] = stack


def recurse(depth):
    return recurse(depth - 1) if depth else lose()


def generator():
    yield 1
    lose()
    yield 2


def generator_of_generator():
    yield from generator()


async def inner_coroutine():
    await asyncio.sleep(0)
    lose()


async def coroutine():
    await inner_coroutine()


@functools.lru_cache(None)
def cached(argument):
    lose()
    return argument


@contextlib.contextmanager
def context():
    lose()
    yield


async def numbers():
    for i in range(2):
        await asyncio.sleep(0)
        yield i


async def comprehension():
    return [lose() async for _ in numbers()]


async def task(depth):
    await asyncio.sleep(0)
    return recurse(depth)


async def tasks():
    await asyncio.gather(task(1), task(2))
    await asyncio.get_running_loop().run_in_executor(None, lose)


class Decorated:
    @staticmethod
    def static():
        return {lose() for _ in (1,)}

    @classmethod
    def of_class(cls):
        return {1: lose() for _ in (1,)}

    def __getattr__(self, name):
        return lose()


class Thing:
    def __del__(self):
        lose()

    def __hash__(self):
        return 1

    def __eq__(self, other):
        lose()
        return True

    @property
    def value(self):
        return lose()


def over_lines():
    return (
        1,
        lose(),
        2)


def fails():
    try:
        raise ValueError
    except ValueError:
        lose()
    finally:
        lose()


recurse(0)
recurse(5)
recurse(40)
list(generator())
for _ in generator_of_generator():
    pass
asyncio.run(coroutine())
asyncio.run(comprehension())
asyncio.run(tasks())
Decorated.static()
Decorated.of_class()
Decorated().missing
any(lose() for _ in (1,))
closed = generator()
next(closed)
next(closed)
closed.close()
for size in 3, 30, 300, 3:  # the outer frames of one chain are those of the next one
    recurse(size % 200)
    lose()
for way in lambda: recurse(2), lambda: over_lines(), lambda: recurse(2):
    way()
cached(1)
with context():
    pass
Thing().value
{Thing(): 1}[Thing()]
over_lines()
fails()
[lose() for _ in range(1)]
sorted([3, 1], key=lambda x: lose() or x)
list(map(lambda x: lose(), [1]))
callback = ctypes.CFUNCTYPE(None)
for function in lose, lambda: callback(over_lines)():
    callback(function)()
# Code that is gone when the next one is made, mostly at the same addresses.
for i in range(4):
    exec(compile("def made():\n" + "\n" * i + "    lose()\nmade()\n", "cell %d" % i, "exec"))
exec(compile("def h\u00e9_\u4e2d():\n    lose()\nh\u00e9_\u4e2d()\n", "d\u00e9 \u4e2d \U0001f600.py", "exec"))
threads = [threading.Thread(target=recurse, args=(i,)) for i in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
try:
    import greenlet

    def in_greenlet():
        lose()
        switch_back()
        lose()

    switch_back = greenlet.getcurrent().switch
    other = greenlet.greenlet(in_greenlet)
    other.switch()
    lose()
    other.switch()
except ImportError:
    pass
library.keep_nothing()
with open(sys.argv[2], "w") as out:
    json.dump(said, out)
print("%d stacks said" % len(said))
