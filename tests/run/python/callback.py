#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
A function of the program that a loop of NumPy calls: the line that calls NumPy is named, and told which function.

 * ranks: 2
 * expect: loop=table routine=table rank=1 share=0.85 call=MPI_Barrier site_in=main kind=more-time
 *         says="most of it in callback.weigh()"
"""
import numpy as np
from mpi4py import MPI


def weigh(row):
    low, high = row.min(), row.max()
    return (row.sum() - low - high) / (len(row) - 2)


def table(rows):
    data = np.arange(rows * 8.0).reshape(rows, 8) % 17
    #! begin table
    total = np.apply_along_axis(weigh, 1, data).sum()
    #! end table
    return total


def main():
    comm = MPI.COMM_WORLD
    for _ in range(25):
        table(6000 if comm.rank == 1 else 1000)
        comm.Barrier()


if __name__ == "__main__":
    main()
