#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
A reduction of objects by a function of the program's own: its loop is named, though mpi4py calls it for the message.

 * ranks: 2
 * expect: loop=combine routine=combine rank=0 share=0.85 call=MPI_Barrier site_in=main kind=more-time
 *         says_not="objects into messages" next="only rank 0"
"""
from mpi4py import MPI


def combine(a, b):
    total = 0.0
    #! begin combine
    for i in range(200000):
        total += i * 0.5 - total * 0.25
    #! end combine
    return a + b + total


def main():
    comm = MPI.COMM_WORLD
    for _ in range(40):
        comm.reduce(1.0, op=combine, root=0)
        comm.Barrier()


if __name__ == "__main__":
    main()
