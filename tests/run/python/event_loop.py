#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Rank 1 awaits another program before each barrier, in a loop of events that its own sockets wake up as well.

 * ranks: 2
 * expect: loop=compile routine=main rank=1 share=0.8 call=MPI_Barrier site_in=main kind=blocked
 *         says="waiting for another process" next="start that process earlier"
"""
import asyncio

from mpi4py import MPI


async def compile():
    process = await asyncio.create_subprocess_exec("sleep", "0.1", stdout=asyncio.subprocess.PIPE)
    await process.communicate()


def main():
    comm = MPI.COMM_WORLD
    for _ in range(12):
        if comm.rank == 1:
            #! begin compile
            asyncio.run(compile())
            #! end compile
        comm.Barrier()


if __name__ == "__main__":
    main()
