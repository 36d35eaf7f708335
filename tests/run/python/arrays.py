#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
NumPy below a line of a loop: the line's loop has the time, and is told what most of it is in.

 * ranks: 2
 * expect: loop=roots routine=roots rank=1 share=0.85 call=MPI_Barrier site_in=main kind=more-time says="most of it inside numpy"
"""
from mpi4py import MPI
import numpy as np


def roots(values, n):
    #! begin roots
    for _ in range(n):
        values = np.sqrt(values * values + 1.0)
    #! end roots
    return values


def main():
    comm = MPI.COMM_WORLD
    values = np.ones(5000)
    n = 2000 if comm.rank == 1 else 200
    for _ in range(40):
        roots(values, n)
        comm.Barrier()


if __name__ == "__main__":
    main()
