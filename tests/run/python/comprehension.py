#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
A comprehension over several lines that is longer on one rank.

 * ranks: 2
 * expect: loop=squares routine=squares rank=0 share=0.85 call=MPI_Barrier site_in=main kind=more-time
"""
from mpi4py import MPI


def squares(n):
    #! begin squares
    return [
        (i * 0.5) ** 2 + i
        for i in range(n)
        if i % 7
    ]
    #! end squares


def main():
    comm = MPI.COMM_WORLD
    n = 150000 if comm.rank == 0 else 15000
    for _ in range(50):
        squares(n)
        comm.Barrier()


if __name__ == "__main__":
    main()
