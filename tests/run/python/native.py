#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
A loop in a C library of the program's own, which ctypes calls: it is named itself, with the line of Python as caller.

 * ranks: 2
 * expect: loop=smooth routine=smooth rank=1 share=0.85 call=MPI_Barrier site_in=main kind=more-time
 *         next="rebuild with"
"""
import ctypes
import os

from mpi4py import MPI

library = ctypes.CDLL(os.environ["WHYWAIT_NATIVE"])
library.smooth.restype = ctypes.c_double


def relax(values, n):
    return library.smooth(values, len(values), n)


def main():
    comm = MPI.COMM_WORLD
    values = (ctypes.c_double * 10000)(*range(10000))
    for _ in range(40):
        relax(values, 600 if comm.rank == 1 else 60)
        comm.Barrier()


if __name__ == "__main__":
    main()
