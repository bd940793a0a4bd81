"""bench/run shapes: the cost of libleak and other tools for programs that do little but allocate, in the shapes of
bench/shapes.c, each with 1, 2 and 8 threads. A case is named SHAPE.THREADS.
"""
import os, sys

import programs, tools

# How often one thread does the work of a shape, so that it takes about 0.3 s without a tool.
TIMES = {"tiny": 4, "arrays": 16, "mixed": 1, "server": 6, "handover": 10, "recursion": 30, "sites": 6, "contexts": 80,
         "strings": 10, "trees": 4}
THREADS = (1, 2, 8)


class Shape(programs.Program):
    def __init__(self, shape, threads):
        super().__init__("%s.%d" % (shape, threads), [], None)
        self.shape, self.threads = shape, threads

    def command(self, scale):
        times = max(1, round(TIMES[self.shape] * scale / (1 if self.threads == 1 else self.threads / 2)))
        return [os.path.join(tools.BUILD, "bench/shapes"), self.shape, "threads=%d" % self.threads, "times=%d" % times]


if __name__ == "__main__":
    programs.main(sys.argv[1:], __doc__, [Shape(s, n) for s in TIMES for n in THREADS], "shapes")
