#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Another interpreter of the process runs a loop, which is longer on rank 1. Its frames are not read: the line that has
it run is named."""
import _xxsubinterpreters
import sys

from mpi4py import MPI

CODE = """
def planted_inside(n):
    total = 0.0
    for i in range(n):
        total += i * 0.5 - total * 0.25
planted_inside(%d)
"""


#! begin interpreters
def relax(interpreter, n):
    _xxsubinterpreters.run_string(interpreter, CODE % n)
#! end interpreters


def main():
    comm = MPI.COMM_WORLD
    interpreter = _xxsubinterpreters.create()
    for _ in range(40):
        relax(interpreter, 100000 if comm.rank == 1 else 10000)
        comm.Barrier()
    _xxsubinterpreters.destroy(interpreter)
    sys.stdout.write("rank %d has ended\n" % comm.rank)


if __name__ == "__main__":
    main()
