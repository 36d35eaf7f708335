#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Rank 1 gives work to a pool of processes before each barrier. A thread of the pool reads their results from a pipe, and
wakes the rank.

 * ranks: 2
 * expect: loop=share routine=share rank=1 share=0.8 call=MPI_Barrier site_in=main kind=blocked
 *         says="waiting for another process" next="start that process earlier" next_not=lock
"""
import multiprocessing
import time

from mpi4py import MPI


def work(seconds):
    time.sleep(seconds)
    return seconds


#! begin share
def share(pool):
    return sum(pool.map(work, [0.1, 0.1]))
#! end share


def main():
    comm = MPI.COMM_WORLD
    fork = multiprocessing.get_context("fork")  # other ways import this file, and so begin MPI again
    pool = fork.Pool(2) if comm.rank == 1 else None
    for _ in range(12):
        if pool:
            share(pool)
        comm.Barrier()
    if pool:
        pool.close()
        pool.join()


if __name__ == "__main__":
    main()
