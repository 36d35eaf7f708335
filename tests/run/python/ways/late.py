#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""A loop that is longer on rank 1, which then ends as the argument says."""
import os
import sys

from mpi4py import MPI


def relax(n):
    total = 0.0
    #! begin late
    for i in range(n):
        x = i * 0.5
        total += x * x
    #! end late
    return total


def leave(how):
    if how == "exit":
        sys.exit(3)
    if how == "raise":
        raise ValueError("planted")
    if how == "at-once":
        os._exit(5)


def main(how):
    comm = MPI.COMM_WORLD
    for _ in range(40):
        total = relax(100000 if comm.rank == 1 else 10000)
        comm.Barrier()
    sys.stdout.write("rank %d has %s\n" % (comm.rank, total))
    sys.stdout.flush()
    comm.Barrier()
    if comm.rank == 1:
        leave(how)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "")
