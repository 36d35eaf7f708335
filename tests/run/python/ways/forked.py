#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Processes that are forked do the work, more of it for rank 1, which sleeps meanwhile."""
import multiprocessing
import sys

from mpi4py import MPI


def relax(n):
    total = 0.0
    for i in range(n):
        total += i * 0.5
    return total


def main():
    comm = MPI.COMM_WORLD
    n = 500000 if comm.rank == 1 else 50000
    with multiprocessing.get_context("fork").Pool(2) as pool:
        for _ in range(5):
            #! begin forked
            total = sum(pool.map(relax, [n] * 4))
            #! end forked
            comm.Barrier()
    sys.stdout.write("rank %d has %s\n" % (comm.rank, total))


if __name__ == "__main__":
    main()
