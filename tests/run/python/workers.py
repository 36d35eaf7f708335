#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
On rank 1 four threads of a pool compute. Python runs one of them at a time.

 * ranks: 2
 * threads: 5
 * expect: loop=adds routine=piece rank=1 share=0.6 call=MPI_Barrier site_in=main says="lock (GIL)"
 *         says_not="has Python's" next="divide this work among processes"
"""
from concurrent.futures import ThreadPoolExecutor

from mpi4py import MPI


def piece(n):
    total = 0.0
    #! begin adds
    for i in range(n):
        total += i * 0.5
    #! end adds
    return total


def main():
    comm = MPI.COMM_WORLD
    with ThreadPoolExecutor(4) as pool:
        for _ in range(30):
            if comm.rank == 1:
                sum(pool.map(piece, [200000] * 4))
            comm.Barrier()


if __name__ == "__main__":
    main()
