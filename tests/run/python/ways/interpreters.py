#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Another interpreter of the process runs a loop, which is longer on rank 1."""
import _xxsubinterpreters
import os
import sys

from mpi4py import MPI


def step(interpreter, n):
    _xxsubinterpreters.run_string(interpreter, "inside.relax(%d)" % n)


def main():
    comm = MPI.COMM_WORLD
    interpreter = _xxsubinterpreters.create()
    folder = os.path.dirname(os.path.abspath(__file__))
    _xxsubinterpreters.run_string(interpreter, "import sys; sys.path.insert(0, %r); import inside" % folder)
    for _ in range(40):
        step(interpreter, 100000 if comm.rank == 1 else 10000)
        comm.Barrier()
    _xxsubinterpreters.destroy(interpreter)
    sys.stdout.write("rank %d has ended\n" % comm.rank)


if __name__ == "__main__":
    main()
