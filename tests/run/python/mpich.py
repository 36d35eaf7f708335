#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
A program in Python that calls MPICH by ctypes: Debian's mpi4py is of Open MPI alone.

 * ranks: 2
 * expect: loop=halves routine=relax rank=1 share=0.85 call=MPI_Barrier site_in=step kind=more-time
 *         next="on how much data"
"""
import ctypes

mpi = ctypes.CDLL("libmpich.so.12", ctypes.RTLD_GLOBAL)
mpi = ctypes.CDLL(None)  # by its names in the whole process
WORLD = ctypes.c_int(0x44000000)


def relax(n):
    total = 0.0
    #! begin halves
    for i in range(n):
        total = (total + i) * 0.5
    #! end halves
    return total


def step(n):
    relax(n)
    mpi.MPI_Barrier(WORLD)


def main():
    rank = ctypes.c_int()
    mpi.MPI_Init(None, None)
    mpi.MPI_Comm_rank(WORLD, ctypes.byref(rank))
    for _ in range(50):
        step(200000 if rank.value == 1 else 20000)
    mpi.MPI_Finalize()


if __name__ == "__main__":
    main()
