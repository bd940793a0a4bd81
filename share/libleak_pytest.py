"""pytest plugin: a test in whose time blocks were lost fails.

    leakrun -q python3 -m pytest -p libleak_pytest          (this file's folder in PYTHONPATH)

Each test runs between two leak checks; what is lost that was allocated in between counts. Without libleak the plugin says
so once and changes nothing. `--libleak-repeat=N` runs each test N times, and once more, since a dead word
may still hold the last block, and fails it when at least N blocks were lost: caches that a test fills once are no leak then.
"""
import ctypes
import functools
import gc
import inspect

import pytest

_libleak = ctypes.CDLL(None)
_present = hasattr(_libleak, "libleak_moment")
if _present:
    _libleak.libleak_moment.restype = ctypes.c_ulong
    _libleak.libleak_lost_since.argtypes = [ctypes.c_ulong]
    _libleak.libleak_lost_since.restype = ctypes.c_long


def pytest_addoption(parser):
    parser.getgroup("libleak").addoption("--libleak-repeat", type=int, default=1, metavar="N",
                                         help="run each test N times, and fail it when N or more blocks were lost")


def pytest_report_header(config):
    if _present:
        return "libleak: tests that lose blocks fail"
    return "libleak: not loaded: run leakrun python3 -m pytest ..."


def _overwriting(function):
    """The function, and then numbers in the places of those that it has freed.

    A freed number keeps its digits, and an address below 2**30 is one digit. A list that gets the place next, and
    does not fill it, would seem to point to the block.
    """
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        return function

    @functools.wraps(function)
    def run(*values, **named):
        try:
            return function(*values, **named)
        finally:
            list(range(1000, 9000))

    return run


@pytest.hookimpl(hookwrapper=True)
def pytest_pyfunc_call(pyfuncitem):
    if not _present:
        yield
        return
    repeat = max(1, pyfuncitem.config.getoption("--libleak-repeat"))
    gc.collect()
    pyfuncitem.obj = _overwriting(pyfuncitem.obj)
    start = _libleak.libleak_moment()
    outcome = yield
    arguments = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
    for _ in range(repeat if repeat > 1 else 0):
        if outcome.excinfo is None:
            pyfuncitem.obj(**arguments)
    if outcome.excinfo is not None:
        return
    gc.collect()
    lost = _libleak.libleak_lost_since(start) if start else 0
    if lost >= repeat:
        pytest.fail(f"libleak: {lost} block{'s' * (lost != 1)} of this test lost; the report at the end shows where",
                    pytrace=False)
