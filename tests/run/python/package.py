#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
A loop of an installed package: the line of the program that calls it is named, and told where in the package most of it
is.

 * ranks: 2
 * expect: loop=improve routine=improve rank=1 share=0.85 call=MPI_Barrier site_in=main kind=more-time
 *         says="most of it in loop smooth.py:9-10 in planted_mesh.smooth.smooth()"
"""
import planted_mesh
from mpi4py import MPI


def improve(values, n):
    before = sum(values)
    #! begin improve
    planted_mesh.smooth(values, n)
    #! end improve
    return before - sum(values)


def main():
    comm = MPI.COMM_WORLD
    values = [float(i % 10) for i in range(1000)]
    for _ in range(40):
        improve(values, 200 if comm.rank == 1 else 20)
        comm.Barrier()


if __name__ == "__main__":
    main()
