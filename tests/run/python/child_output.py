#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Rank 1 runs another program before each barrier, and reads all that it prints.

 * ranks: 2
 * expect: loop=ask routine=ask rank=1 share=0.8 call=MPI_Barrier site_in=main kind=blocked
 *         says="waiting for another process" next="start that process earlier" next_not=strace
"""
import subprocess

from mpi4py import MPI


def ask():
    #! begin ask
    subprocess.run(["sh", "-c", "sleep 0.1; echo done"], capture_output=True, check=True)
    #! end ask


def main():
    comm = MPI.COMM_WORLD
    for _ in range(12):
        if comm.rank == 1:
            ask()
        comm.Barrier()


if __name__ == "__main__":
    main()
