#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Rank 1 runs another program before each barrier, and waits for its end, as a rank does that compiles code.

 * ranks: 2
 * expect: loop=compile routine=compile rank=1 share=0.8 call=MPI_Barrier site_in=main kind=blocked
 *         says="waiting for another process" next="start that process earlier" next_not=strace
"""
import subprocess

from mpi4py import MPI


def compile():
    #! begin compile
    subprocess.run(["sleep", "0.1"], check=True)
    #! end compile


def main():
    comm = MPI.COMM_WORLD
    for _ in range(12):
        if comm.rank == 1:
            compile()
        comm.Barrier()


if __name__ == "__main__":
    main()
