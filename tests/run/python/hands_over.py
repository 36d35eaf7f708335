#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Rank 1 awaits a function that a thread of its own runs: the loop of that is the cause, not the sleep.

 * ranks: 2
 * expect: loop=relax routine=relax rank=1 share=0.8 call=MPI_Barrier site_in=main kind=more-time
 *         says_not="another process"
"""
import asyncio
from concurrent.futures import ThreadPoolExecutor

from mpi4py import MPI


def relax(n):
    total = 0.0
    #! begin relax
    for i in range(n):
        total += i * 0.5 - total * 0.25
    #! end relax
    return total


async def step(pool, n):
    return await asyncio.get_running_loop().run_in_executor(pool, relax, n)


def main():
    comm = MPI.COMM_WORLD
    with ThreadPoolExecutor(1) as pool:
        for _ in range(20):
            asyncio.run(step(pool, 400000 if comm.rank == 1 else 20000))
            comm.Barrier()


if __name__ == "__main__":
    main()
