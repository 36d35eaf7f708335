#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Threads of a pool do the work, more of it on rank 1."""
import sys
from concurrent.futures import ThreadPoolExecutor

from mpi4py import MPI


def piece(n):
    total = 0.0
    #! begin threads
    for i in range(n):
        total += i * 0.5 - total * 0.25
    #! end threads
    return total


def main():
    comm = MPI.COMM_WORLD
    n = 50000 if comm.rank == 1 else 5000
    with ThreadPoolExecutor(2) as pool:
        for _ in range(40):
            total = sum(pool.map(piece, [n, n]))
            comm.Barrier()
    sys.stdout.write("rank %d has %s\n" % (comm.rank, total))


if __name__ == "__main__":
    main()
