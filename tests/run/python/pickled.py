#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
A broadcast of objects: one rank pickles, then the other takes them out, in C code that calls Python code of NumPy as well.
The arrays are made on one rank only, which takes a fifth to a tenth of that time.

 * ranks: 2
 * expect: loop=broadcast routine=main rank=any share=0.7 call=MPI_Bcast|MPI_Bcast_c|MPI_Barrier site_in=main kind=more-time
 *         says="most of it turns objects into messages" next="comm.Send" next_not="on how much data"
"""
import numpy as np
from mpi4py import MPI


def main():
    comm = MPI.COMM_WORLD
    pieces = None
    for _ in range(15):
        comm.Barrier()
        if comm.rank == 0:
            pieces = [np.arange(50.0) for _ in range(8000)]
        comm.Barrier()
        #! begin broadcast
        comm.bcast(pieces, root=0)
        #! end broadcast


if __name__ == "__main__":
    main()
