#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Another interpreter of the process sleeps, for longer on rank 1."""
import os
import sys

from mpi4py import MPI
try:
    import _interpreters as interpreters  # since CPython 3.13
except ModuleNotFoundError:
    import _xxsubinterpreters as interpreters


def step(interpreter, text):
    failure = interpreters.run_string(interpreter, text)  # older ones raise instead
    if failure:
        raise RuntimeError(failure)


def main():
    comm = MPI.COMM_WORLD
    interpreter = interpreters.create()
    folder = os.path.dirname(os.path.abspath(__file__))
    step(interpreter, "import sys; sys.path.insert(0, %r); import inside" % folder)
    for _ in range(24):
        step(interpreter, "inside.nap(%f)" % (0.05 if comm.rank == 1 else 0.001))
        comm.Barrier()
    interpreters.destroy(interpreter)
    sys.stdout.write("rank %d has ended\n" % comm.rank)


if __name__ == "__main__":
    main()
