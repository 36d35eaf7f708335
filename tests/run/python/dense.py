#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Matrix products of NumPy, in BLAS: the loop that asks for them has the time, and is told what most of it is in.

 * ranks: 2
 * expect: loop=products routine=multiply rank=1 share=0.85 call=MPI_Allreduce|MPI_Allreduce_c site_in=main kind=more-time
 *         says="most of it inside numpy"
"""
import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
from mpi4py import MPI


def multiply(a, n):
    b = a
    #! begin products
    for _ in range(n):
        b = a @ b
    #! end products
    return b


def main():
    comm = MPI.COMM_WORLD
    a = np.full((160, 160), 1.0 / 160)
    total = np.zeros(1)
    for _ in range(30):
        b = multiply(a, 80 if comm.rank == 1 else 8)
        comm.Allreduce(np.array([b.sum()]), total)


if __name__ == "__main__":
    main()
