#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""A coroutine whose loop is longer on rank 1, while another one takes turns with it."""
import asyncio
import sys

from mpi4py import MPI


async def relax(n):
    total = 0.0
    for start in range(4):
        #! begin coroutine
        for i in range(start, n):
            total += i * 0.5 - total * 0.25
        #! end coroutine
        await asyncio.sleep(0)
    return total


async def other():
    for _ in range(10):
        await asyncio.sleep(0)


async def step(n):
    return await asyncio.gather(relax(n), other())


async def main():
    comm = MPI.COMM_WORLD
    for _ in range(40):
        totals = await step(30000 if comm.rank == 1 else 3000)
        comm.Barrier()
    sys.stdout.write("rank %d has %s\n" % (comm.rank, totals))


if __name__ == "__main__":
    asyncio.run(main())
