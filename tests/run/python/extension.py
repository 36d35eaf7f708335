#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
A loop in an extension module that f2py made of Fortran, with debug information: it is named itself.

 * ranks: 2
 * expect: loop=stencil routine=sweep rank=0 share=0.85 call=MPI_Barrier site_in=main kind=more-time next="extension module planted_sweep"
"""
import numpy as np
import planted_sweep
from mpi4py import MPI


def main():
    comm = MPI.COMM_WORLD
    x = np.linspace(0.0, 1.0, 10000)
    for step in range(40):  # as long as no other step, so that no clock keeps time with them
        planted_sweep.sweep(x, (40 + step) * (10 if comm.rank == 0 else 1))
        comm.Barrier()


if __name__ == "__main__":
    main()
