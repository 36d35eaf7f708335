#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Rank 1 lets a time pass before each barrier, in a loop of events that waits for nothing else.

 * ranks: 2
 * expect: loop=rest routine=main rank=1 share=0.8 call=MPI_Barrier site_in=main kind=blocked says="blocked: asleep"
 *         says_not="until data comes" next="remove the sleep or shorten it"
"""
import asyncio

from mpi4py import MPI


def main():
    comm = MPI.COMM_WORLD
    for _ in range(12):
        if comm.rank == 1:
            #! begin rest
            asyncio.run(asyncio.sleep(0.1))
            #! end rest
        comm.Barrier()


if __name__ == "__main__":
    main()
