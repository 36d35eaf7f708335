#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
On rank 0 larger sets and dictionaries are filled. Much of that is in the C library, which the interpreter calls.

 * ranks: 2
 * expect: loop=fills routine=index rank=0 share=0.6 call=MPI_Barrier site_in=main says_not=libc
"""
from mpi4py import MPI


#! begin fills
def index(n):
    seen = set(range(n))
    return {i: (i * 7) % n
            for i in range(n)
            if i % 3 in seen}
#! end fills


def main():
    comm = MPI.COMM_WORLD
    n = 200000 if comm.rank == 0 else 20000
    for _ in range(25):
        index(n)
        comm.Barrier()


if __name__ == "__main__":
    main()
