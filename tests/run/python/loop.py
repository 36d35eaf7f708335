#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
A loop of plain Python that is longer on one rank.

 * ranks: 2
 * expect: loop=relax routine=relax rank=1 share=0.85 call=MPI_Allreduce|MPI_Allreduce_c site_in=step at=reduce kind=more-time
 *         says_not="not known" next="on how much data"
"""
import array

from mpi4py import MPI


def relax(n):
    total = 0.0
    #! begin relax
    for i in range(n):
        x = i * 0.5
        total += x * x
    #! end relax
    return total


def step(comm, n):
    part, total = array.array("d", [relax(n)]), array.array("d", [0.0])
    #! begin reduce
    comm.Allreduce(part, total)
    #! end reduce
    return total[0]


def main():
    comm = MPI.COMM_WORLD
    n = 200000 if comm.rank == 1 else 20000
    for _ in range(50):
        step(comm, n)


if __name__ == "__main__":
    main()
