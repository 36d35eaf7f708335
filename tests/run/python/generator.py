#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
A generator whose own loop is longer on one rank; another function asks it for its values.

 * ranks: 2
 * expect: loop=pieces routine=pieces rank=1 share=0.85 call=MPI_Barrier site_in=main kind=more-time
"""
from mpi4py import MPI


def pieces(n):
    for start in range(20):
        total = 0.0
        #! begin pieces
        for i in range(start, n):
            total += i * 0.5 - total * 0.25
        #! end pieces
        yield total


def consume(n):
    return max(pieces(n))


def main():
    comm = MPI.COMM_WORLD
    n = 10000 if comm.rank == 1 else 1000
    for _ in range(50):
        consume(n)
        comm.Barrier()


if __name__ == "__main__":
    main()
