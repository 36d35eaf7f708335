#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Transforms of NumPy in a routine without a loop: the routine is named, its line, and what of NumPy that calls.

 * ranks: 2
 * expect: loop=step routine=step rank=1 share=0.85 call=MPI_Barrier site_in=main kind=more-time
 *         says="most of it at line 19, and in"
"""
import numpy as np
from mpi4py import MPI


#! begin step
def step(values):
    values = values / (1.0 + abs(values).max())
    values = values + 0.5

    values = np.fft.ifft(np.fft.fft(values)).real
    return values - values.mean()
#! end step


def main():
    comm = MPI.COMM_WORLD
    values = np.ones(300000 if comm.rank == 1 else 30000)
    for _ in range(30):
        values = step(values)
        comm.Barrier()


if __name__ == "__main__":
    main()
