#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
One line calls several functions of NumPy. The one that takes most of the time is told, by its name in the line.

 * ranks: 2
 * expect: loop=roots routine=roots rank=1 share=0.85 call=MPI_Barrier site_in=main kind=more-time says="in np.logaddexp()"
 *         says_not=sqrt
"""
from mpi4py import MPI
import numpy as np


def roots(values, n):
    #! begin roots
    for _ in range(n):
        values = np.add(np.logaddexp(values * 0.5, 1.0), np.sqrt(values))
    #! end roots
    return values


def main():
    comm = MPI.COMM_WORLD
    values = np.ones(5000)
    n = 600 if comm.rank == 1 else 60
    for _ in range(16):
        roots(values, n)
        comm.Barrier()


if __name__ == "__main__":
    main()
