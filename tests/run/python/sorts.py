#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
A function of the interpreter's own has most of the time, and no code of Python below it.

 * ranks: 2
 * expect: loop=order routine=order rank=1 share=0.85 call=MPI_Barrier site_in=main kind=more-time says="in sorted()"
"""
import random

from mpi4py import MPI


#! begin order
def order(values):
    count = len(values)
    values = sorted(values)
    return values[count // 2]
#! end order


def main():
    comm = MPI.COMM_WORLD
    random.seed(7)
    values = [random.random() for _ in range(100000 if comm.rank == 1 else 10000)]
    for _ in range(40):
        order(values)
        comm.Barrier()


if __name__ == "__main__":
    main()
